#include "sim/scenario/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/suggest.h"

struct catalogue {
	const char *option; /* for messages */
	int n;
	const char *(*name)(const struct sl_scenario *sc, int index);
};

static const char *workload_name(const struct sl_scenario *sc, int index)
{
	return sl_scenario_workload(sc, index)->name;
}

static int session_set(struct sl_session *s, const char *word, struct sl_err *err)
{
	const char *equals = strchr(word, '=');
	char *key;
	int rc;

	if (!equals || equals == word) {
		return sl_err_set(err, -EINVAL,
				  "--set: \"%.80s\" is not KEY=VALUE, e.g. --set guests.vcpus=4", word);
	}
	key = strndup(word, (size_t)(equals - word));
	if (!key) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = sl_scenario_set(s->sc, key, equals + 1, "--set", err);
	s->sets_log |= strcmp(key, "pool.log") == 0;
	free(key);
	return rc;
}

static int name_unknown(const struct sl_scenario *sc, const struct catalogue *c, const char *typed,
			struct sl_err *err)
{
	const char *words[SL_WORDS_MAX];
	char known[256] = "";
	const char *near;
	int n;

	for (n = 0; n < c->n && n < SL_WORDS_MAX; n++) {
		size_t used = strlen(known);

		words[n] = c->name(sc, n);
		snprintf(known + used, sizeof(known) - used, "%s%s", n ? ", " : "", words[n]);
	}
	near = sl_suggest(typed, words, n);
	if (near) {
		return sl_err_set(err, -EINVAL, "--%s: \"%.60s\" is not in the scenario; did you mean %s?",
				  c->option, typed, near);
	}
	return sl_err_set(err, -EINVAL, "--%s: \"%.60s\" is not in the scenario; it has %s", c->option, typed,
			  known);
}

/* Marks in `wanted` the names of one comma-separated list. */
static int names_mark(const struct sl_scenario *sc, const struct catalogue *c, const char *list, bool *wanted,
		      struct sl_err *err)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		char typed[64];
		int i;

		snprintf(typed, sizeof(typed), "%.*s", (int)(length < 63 ? length : 63), list);
		for (i = 0; i < c->n && strcmp(c->name(sc, i), typed) != 0; i++) {
		}
		if (i == c->n) {
			return name_unknown(sc, c, typed, err);
		}
		wanted[i] = true;
		list += length;
		list += *list == ',';
	}
	return 0;
}

static int names_wanted(const struct sl_scenario *sc, const struct catalogue *c, const struct sl_words *names,
			bool *wanted, struct sl_err *err)
{
	for (int i = 0; i < names->n; i++) {
		int rc;

		if (names->word[i][0] == '\0') {
			return sl_err_set(err, -EINVAL, "--%s: empty name; give names as in --%s A,B",
					  c->option, c->option);
		}
		rc = names_mark(sc, c, names->word[i], wanted, err);
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

static int names_choose(const struct sl_scenario *sc, const struct catalogue *c, const struct sl_words *names,
			struct sl_chosen *ret, struct sl_err *err)
{
	bool *wanted;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (names->n == 0) {
		return 0;
	}
	wanted = calloc((size_t)c->n + 1, sizeof(*wanted));
	ret->index = calloc((size_t)c->n + 1, sizeof(*ret->index));
	if (!wanted || !ret->index) {
		free(wanted);
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = names_wanted(sc, c, names, wanted, err);
	for (int i = 0; rc == 0 && i < c->n; i++) {
		if (wanted[i]) {
			ret->index[ret->n++] = i;
		}
	}
	free(wanted);
	return rc;
}

int sl_session_open(struct sl_session *s, const char *name, const struct sl_words *sets, struct sl_err *err)
{
	char path[PATH_MAX];
	int rc;

	memset(s, 0, sizeof(*s));
	rc = sl_paths_find(&s->paths, err);
	if (rc == 0) {
		rc = sl_paths_scenario(&s->paths, name, path, err);
	}
	if (rc == 0) {
		rc = sl_scenario_load(path, s->paths.data, &s->sc, err);
	}
	for (int i = 0; rc == 0 && sets && i < sets->n; i++) {
		rc = session_set(s, sets->word[i], err);
	}
	return rc;
}

void sl_session_close(struct sl_session *s)
{
	sl_scenario_free(s->sc);
	s->sc = NULL;
}

/* The first variant without a log device, else the first. */
static int control_of(const struct sl_scenario *sc)
{
	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		struct sl_box box;

		if (sl_scenario_box(sc, v, &box, NULL) == 0 && box.n_log == 0) {
			return v;
		}
	}
	return 0;
}

/* "intel-dc-s3700-100 x 2" becomes a name without spaces; brackets and commas of a list, too. */
static void log_name(const char *log, char *buf, size_t size)
{
	size_t at = 0;

	for (; *log && at + 1 < size; log++) {
		if (*log != ' ' && *log != ',') {
			buf[at++] = *log;
		} else if (at > 0 && buf[at - 1] != '-') {
			buf[at++] = '-';
		}
	}
	buf[at] = '\0';
}

static int chosen_add(struct sl_chosen *chosen, int index)
{
	int *grown;

	if (chosen->n == 0) { /* all are */
		return 0;
	}
	grown = realloc(chosen->index, (size_t)(chosen->n + 1) * sizeof(*grown));
	if (!grown) {
		return -ENOMEM;
	}
	grown[chosen->n++] = index;
	chosen->index = grown;
	return 0;
}

int sl_session_logs(struct sl_session *s, const struct sl_words *logs, struct sl_chosen *chosen,
		    struct sl_err *err)
{
	int control = control_of(s->sc);

	if (logs->n > 0 && s->sets_log) {
		return sl_err_set(err, -EINVAL,
				  "--log: --set pool.log gives every variant another log device; use one of "
				  "them");
	}
	for (int i = 0; i < logs->n; i++) {
		char name[64];
		int at;

		log_name(logs->word[i], name, sizeof(name));
		at = sl_scenario_variant_add(s->sc, name, control, "pool.log", logs->word[i], "--log", err);
		if (at < 0) {
			return at;
		}
		if (chosen && chosen_add(chosen, at) < 0) {
			return sl_err_set(err, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

int sl_session_variants(const struct sl_session *s, const char *option, const struct sl_words *names,
			struct sl_chosen *ret, struct sl_err *err)
{
	struct catalogue c = {option, sl_scenario_variants(s->sc), sl_scenario_variant_name};

	return names_choose(s->sc, &c, names, ret, err);
}

int sl_session_workloads(const struct sl_session *s, const char *option, const struct sl_words *names,
			 struct sl_chosen *ret, struct sl_err *err)
{
	struct catalogue c = {option, sl_scenario_workloads(s->sc), workload_name};

	return names_choose(s->sc, &c, names, ret, err);
}
