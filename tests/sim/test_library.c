/* Every ready scenario teaches what it says: its questions are asked, and each answer is as it expects. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/lib.h"

#define LIBRARY SL_SOURCE_DIR "/scenarios"

static int is_yaml(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static struct sl_scenario *load_ready(const char *file)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	char path[512];

	(void)snprintf(path, sizeof(path), LIBRARY "/%s", file);
	cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s", err.msg);
	return sc;
}

/* How many of the questions expect something; each answer is compared. */
static int check_questions(const struct sl_scenario *sc)
{
	int expected = 0;

	for (int i = 0; i < sl_scenario_questions(sc); i++) {
		const struct sl_question *q = sl_scenario_question(sc, i);
		const char *workload = sl_scenario_workload(sc, q->workload)->name;
		double rate[2];

		if (q->expect_max <= 0) {
			continue;
		}
		for (int k = 0; k < 2; k++) {
			rate[k] = rate_of(sc, sl_scenario_variant_name(sc, q->variants[k]), workload);
		}
		cr_expect(sl_question_holds(q, rate[0], rate[1]),
			  "%s: %s\n%s: %g -> %g is %.3gx, not %gx to %gx", sl_scenario_name(sc), q->ask,
			  workload, rate[0], rate[1], rate[1] / rate[0], q->expect_min, q->expect_max);
		expected++;
	}
	return expected;
}

Test(library, every_ready_scenario_teaches_what_it_says)
{
	struct dirent **entries;
	int n = scandir(LIBRARY, &entries, is_yaml, alphasort), lessons = 0;

	cr_assert(n > 0);
	for (int i = 0; i < n; i++) {
		struct sl_scenario *sc = load_ready(entries[i]->d_name);
		int expected = check_questions(sc);

		cr_expect(strlen(sl_scenario_teaches(sc)) > 100, "%s: no paragraph `teaches`",
			  entries[i]->d_name);
		/* Published benchmarks are checked against what was published. */
		lessons += expected > 0;
		sl_scenario_free(sc);
		free(entries[i]);
	}
	free(entries);
	cr_assert(lessons >= 10, "only %d scenarios expect anything of their box", lessons);
}
