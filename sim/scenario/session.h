/* What run and fit have in common: a scenario found, loaded and adjusted; words resolved to indices. */
#ifndef SL_SCENARIO_SESSION_H
#define SL_SCENARIO_SESSION_H

#include "sim/base/options.h"
#include "sim/scenario/paths.h"
#include "sim/scenario/scenario.h"

struct sl_session {
	struct sl_paths paths;
	struct sl_scenario *sc; /* owned */
	bool sets_log;          /* --set pool.log: of every variant */
};

/* Indices into the scenario, in its order and without repetition. Release index with free(), after errors
 * too. */
struct sl_chosen {
	int n;
	int *index; /* owned; NULL when nothing was asked for: all */
};

/* Finds and loads `name` and applies each of `sets` ("KEY=VALUE"). Release with sl_session_close, also after
 * an error. */
int sl_session_open(struct sl_session *s, const char *name, const struct sl_words *sets, struct sl_err *err);
void sl_session_close(struct sl_session *s);

/* Comma-separated names of variants / workloads; unknown ones are -EINVAL with a suggestion. */
int sl_session_variants(const struct sl_session *s, const char *option, const struct sl_words *names,
			struct sl_chosen *ret, struct sl_err *err);
int sl_session_workloads(const struct sl_session *s, const char *option, const struct sl_words *names,
			 struct sl_chosen *ret, struct sl_err *err);

/* Adds a variant for each of `logs`: the first variant without a log device (else the first) with
 * pool.log set to it, named after it, and puts it among those chosen. -EINVAL and others with a message. */
int sl_session_logs(struct sl_session *s, const struct sl_words *logs, struct sl_chosen *chosen,
		    struct sl_err *err);

#endif
