/* The manual knows every key of the tables, with its default. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/scenario/lib.h"

/* The manual's text without the escapes of roff. */
static char *read_manual(void)
{
	FILE *file = fopen(SL_SOURCE_DIR "/docs/man/sloglab-scenario.5", "rb");
	char *text = calloc(1, 262144);
	size_t size, to = 0;

	cr_assert(file && text);
	size = fread(text, 1, 262143, file);
	fclose(file);
	cr_assert(size > 1000 && size < 262143);
	for (size_t from = 0; from < size; from++) {
		if (text[from] == '\\' && (text[from + 1] == '-' || text[from + 1] == '&')) {
			from += text[from + 1] == '&';
			continue;
		}
		text[to++] = text[from];
	}
	text[to] = '\0';
	return text;
}

/* Does "default DFLT" stand in the line, as a whole word? */
static bool says_default(const char *line, const char *dflt)
{
	char want[96];
	const char *at;

	(void)snprintf(want, sizeof(want), "default %s", dflt);
	at = strstr(line, want);
	return at && (at[strlen(want)] == ' ' || at[strlen(want)] == '\0');
}

/* The line ".It Cm KEY ..." that also states the default, or "required". Two kinds may share a key. */
static bool has_entry(const char *manual, const char *key, const char *dflt)
{
	char head[160];

	(void)snprintf(head, sizeof(head), ".It Cm %s ", key);
	for (const char *at = manual; (at = strstr(at, head)) != NULL; at++) {
		char line[512];

		(void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		if (dflt[0] == '\0' ? strstr(line, "required") != NULL : says_default(line, dflt)) {
			return true;
		}
	}
	return false;
}

static void check_table(const char *manual, struct sl_schema table)
{
	for (int i = 0; i < table.n; i++) {
		const struct sl_schema_row *row = &table.rows[i];

		cr_expect(has_entry(manual, row->key, row->dflt),
			  "sloglab-scenario(5) lacks '.It Cm %s ... %s'", row->key, row->dflt);
		cr_expect(strlen(row->help) > 0, "%s has no help", row->key);
	}
}

Test(scenario_manual, has_every_key)
{
	char *manual = read_manual();

	check_table(manual, sl_schema_keys());
	check_table(manual, sl_schema_workload());
	check_table(manual, sl_schema_figures());
	cr_assert(has_entry(manual, "nas.vcpus", "2"));
	cr_assert_not(has_entry(manual, "nas.vcpu", "2"));
	cr_assert_not(has_entry(manual, "nas.vcpus", "77"));
	free(manual);
}

Test(scenario_manual, example_loads)
{
	char *manual = read_manual();
	char *example = strstr(manual, ".Bd -literal -offset indent\nformat: sloglab-scenario/1\n");
	struct sl_scenario *sc;
	char *end;

	cr_assert_not_null(example);
	example = strchr(example, '\n') + 1;
	end = strstr(example, ".Ed\n");
	cr_assert_not_null(end);
	*end = '\0';
	sc = load_text(example);
	cr_assert_eq(sl_scenario_variants(sc), 4);
	sl_scenario_free(sc);
	free(manual);
}
