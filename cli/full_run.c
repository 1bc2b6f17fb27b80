#include "cli/full_run.h"

#include <errno.h>
#include <unistd.h>

#include "cli/progress.h"
#include "sim/base/signals.h"

#define CUTS 1000

static int full_explain(const struct sl_session *session, const struct sl_full_options *o,
			struct sl_full *full, struct sl_err *err)
{
	struct sl_progress progress;
	struct sl_explain_options options = {.variants = o->variants->index,
					     .n_variants = o->variants->n,
					     .workloads = o->workloads->index,
					     .n_workloads = o->workloads->n,
					     .seed = o->seed,
					     .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN),
					     .progress = sl_progress_step,
					     .progress_arg = &progress,
					     .stopped = sl_signals_stopped};
	int rc;

	sl_progress_start(&progress, stderr, "cells explained");
	rc = sl_explain_run(session->sc, &options, &full->explain, err);
	sl_progress_end(&progress);
	return rc;
}

static int full_powercut(const struct sl_session *session, const struct sl_full_options *o,
			 struct sl_full *full, struct sl_err *err)
{
	struct sl_progress progress;
	struct sl_powercut_options options = {.variants = o->variants->index,
					      .n_variants = o->variants->n,
					      .workloads = o->workloads->index,
					      .n_workloads = o->workloads->n,
					      .seed = o->seed,
					      .when = SL_WHEN_RANDOM,
					      .n_random = CUTS,
					      .client = -1,
					      .progress = sl_progress_step,
					      .progress_arg = &progress,
					      .stopped = sl_signals_stopped};
	int rc;

	sl_progress_start(&progress, stderr, "cells cut");
	rc = sl_powercut_run(session->sc, &options, &full->powercut, err);
	sl_progress_end(&progress);
	return rc;
}

static int full_advise(const struct sl_session *session, const struct sl_full_options *o,
		       struct sl_full *full, struct sl_err *err)
{
	struct sl_progress progress;
	struct sl_advise_options options = {.base_variant = o->variants->n > 0 ? o->variants->index[0] : 0,
					    .workloads = o->workloads->index,
					    .n_workloads = o->workloads->n,
					    .seed = o->seed,
					    .progress = sl_progress_step,
					    .progress_arg = &progress,
					    .stopped = sl_signals_stopped};
	int rc = sl_session_open(&full->shelf, o->name, NULL, err);

	rc = rc < 0 ? rc : sl_drives_all(&full->drives, &session->paths, o->name, err);
	if (rc < 0) {
		return rc;
	}
	options.drives = full->drives.list;
	options.n_drives = full->drives.n;
	sl_progress_start(&progress, stderr, "runs for advice");
	rc = sl_advise_run(session->sc, full->shelf.sc, &options, &full->advice, err);
	sl_progress_end(&progress);
	return rc;
}

int sl_full_run(const struct sl_session *session, const struct sl_full_options *options, struct sl_full *ret,
		struct sl_err *err)
{
	int (*const steps[])(const struct sl_session *, const struct sl_full_options *, struct sl_full *,
			     struct sl_err *) = {full_explain, full_powercut, full_advise};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int rc = steps[i](session, options, ret, err);

		if (rc < 0) {
			return rc;
		}
		if (sl_signals_stopped()) {
			return sl_err_set(err, -EINTR, "interrupted: no files were written");
		}
	}
	return 0;
}
