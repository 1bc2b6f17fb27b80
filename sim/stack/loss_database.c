/* What a cut takes from a database that tells its clients "committed" before its log is on the disk. */
#include <stdio.h>
#include <string.h>

#include "sim/guest/innodb.h"
#include "sim/stack/result.h"

#define LOG_SYNC_S 1.0 /* innodb_flush_log_at_timeout */

void sl_loss_add_database(const struct sl_box *box, const struct sl_workload *workload,
			  struct sl_measure *measure)
{
	struct sl_loss *loss = &measure->loss;

	size_t said = strlen(loss->why);

	if (workload->kind != SL_WL_OLTP || box->flush_log_at_commit == SL_FLUSH_LOG_SYNC || !loss->known) {
		return;
	}
	/* On top of what the log that was synced loses below. */
	loss->seconds += LOG_SYNC_S;
	loss->writes += (uint64_t)(measure->rate * LOG_SYNC_S);
	loss->bytes += (int64_t)(measure->rate * LOG_SYNC_S * box->redo_bytes);
	(void)snprintf(loss->why + said, sizeof(loss->why) - said,
		       "%sthe database syncs its log once a second (guests.flush_log_at_commit: %d)",
		       said > 0 ? ", and " : "", (int)box->flush_log_at_commit);
}
