/* What a cut takes, for every result: cuts evenly over the run, the worst counts. */
#include <stdio.h>

#include "sim/stack/audit.h"

#define WRITES_MAX 60000u /* followed: a minute of a busy box; a run that is longer goes on unrecorded */
#define CUTS 499          /* a prime: no workload is in step with it */

static int worst_cut(const struct sl_box *box, const struct sl_record *record, bool local, bool direct,
		     struct sl_loss *ret, struct sl_err *err)
{
	const struct sl_audit_options options = {
	    .radius = SL_RADIUS_BOX, .client = sl_nfs_client_of(box), .local = local, .direct = direct};
	struct sl_outcome worst = {0};
	struct sl_audit audit;
	int rc = sl_audit_init(&audit, box, record, &options, err);

	*ret = (struct sl_loss){.known = rc == 0};
	for (int i = 1; rc == 0 && i <= CUTS; i++) {
		struct sl_outcome cut;

		sl_audit_cut(&audit, record->end_ns / (CUTS + 1) * i, &cut);
		ret->writes = cut.lost > ret->writes ? cut.lost : ret->writes;
		ret->bytes = cut.lost_bytes > ret->bytes ? cut.lost_bytes : ret->bytes;
		worst = cut.window_ns > worst.window_ns ? cut : worst;
	}
	ret->seconds = (double)worst.window_ns / 1e9;
	if (ret->writes > 0) {
		sl_outcome_why(&worst, ret->why, sizeof(ret->why));
	}
	sl_audit_fini(&audit);
	return rc;
}

int sl_stack_run_loss(const struct sl_box *box, const struct sl_workload *workload,
		      const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_err *err)
{
	bool local = workload->kind == SL_WL_SYNCWRITE && workload->access == SL_ACCESS_LOCAL;
	struct sl_record record;
	int rc;

	if (workload->kind == SL_WL_DISK) { /* no pool that could promise anything */
		return sl_stack_run(box, workload, setup, ret, err);
	}
	sl_record_init(&record, WRITES_MAX);
	rc = sl_stack_record(box, workload, setup, &record, ret, err);
	if (rc == 0) {
		rc = worst_cut(box, &record, local, workload->kind == SL_WL_SYNCWRITE, &ret->loss, err);
	}
	sl_record_fini(&record);
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
