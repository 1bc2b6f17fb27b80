/* What a cut takes, for every result: cuts all over the run, and where sync=disabled loses most; the worst
 * counts. */
#include <math.h>
#include <stdio.h>

#include "sim/stack/cuts.h"

#define WRITES_MAX 65536u /* followed at a time */
#define CUTS_PER_TXG 64
#define CUTS_SO_FAR \
	32 /* of a young run: the next cut is after a part of its age, so that short ones have some */
#define LEAST_GAP_NS 1e5
#define GOLDEN 0.6180339887498949

struct losses {
	struct sl_outcome worst;
	struct sl_loss *loss;
	double at_ns, gap_ns;
	uint64_t n;
};

/* Gaps differ, each from half to one and a half of what is due: no workload is in step with them. */
static int64_t next_cut(void *arg)
{
	struct losses *losses = arg;
	double turns = (double)++losses->n * GOLDEN, gap_ns = losses->at_ns / CUTS_SO_FAR;

	gap_ns = gap_ns < LEAST_GAP_NS ? LEAST_GAP_NS : gap_ns;
	gap_ns = gap_ns > losses->gap_ns ? losses->gap_ns : gap_ns;
	losses->at_ns += gap_ns * (0.5 + turns - floor(turns));
	return (int64_t)losses->at_ns;
}

static void add_cut(void *arg, const struct sl_outcome *cut)
{
	struct losses *losses = arg;
	struct sl_loss *loss = losses->loss;

	loss->writes = cut->lost > loss->writes ? cut->lost : loss->writes;
	loss->bytes = cut->lost_bytes > loss->bytes ? cut->lost_bytes : loss->bytes;
	losses->worst = cut->window_ns > losses->worst.window_ns ? *cut : losses->worst;
}

int sl_stack_run_loss(const struct sl_box *box, const struct sl_workload *workload,
		      const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_err *err)
{
	bool direct = workload->kind == SL_WL_SYNCWRITE;
	const struct sl_audit_options options = {.radius = SL_RADIUS_BOX,
						 .client = sl_nfs_client_of(box),
						 .local = direct && workload->access == SL_ACCESS_LOCAL,
						 .direct = direct};
	struct sl_loss loss = {.known = true};
	struct losses losses = {.loss = &loss, .gap_ns = box->txg_timeout_ns / CUTS_PER_TXG};
	struct sl_cuts cuts;
	int rc;

	if (workload->kind == SL_WL_DISK) { /* no pool that could promise anything */
		return sl_stack_run(box, workload, setup, ret, err);
	}
	sl_cuts_init(&cuts, WRITES_MAX);
	cuts.next = next_cut;
	cuts.cut = add_cut;
	cuts.before_sync = true;
	cuts.arg = &losses;
	rc = sl_cuts_run(&cuts, box, workload, setup, &options, ret, err);
	if (rc == 0) {
		loss.seconds = (double)losses.worst.window_ns / 1e9;
		loss.at_least = loss.writes > 0 && sl_cuts_too_short(box, cuts.record.end_ns);
		if (loss.writes > 0) {
			sl_outcome_why(&losses.worst, loss.why, sizeof(loss.why));
		}
		ret->loss = loss;
	}
	sl_cuts_fini(&cuts);
	return rc;
}

bool sl_loss_is_more(const struct sl_loss *a, const struct sl_loss *b)
{
	return a->seconds > 2 * b->seconds;
}

int sl_loss_class(const struct sl_loss *loss)
{
	static const double decades[] = {0, 1e-3, 1e-2, 1e-1, 1, 10};
	int class = 0;

	for (size_t i = 0; i < sizeof(decades) / sizeof(decades[0]); i++) {
		class += loss->seconds > decades[i];
	}
	return class;
}
