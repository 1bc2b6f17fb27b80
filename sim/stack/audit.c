#include "sim/stack/audit.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When those outside the reach of the cut took the write for durable. */
static int64_t acknowledged_ns(const struct sl_audit *audit, const struct sl_ledger_write *write)
{
	bool survives = audit->options.radius != SL_RADIUS_BOX && !audit->options.local;

	return survives ? write->replied_ns : write->promised_ns;
}

static int by_time(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static int list_acknowledged(struct sl_audit *audit)
{
	const struct sl_ledger *ledger = &audit->record->ledger;

	audit->acked_ns = calloc(ledger->n_writes + 1, sizeof(*audit->acked_ns));
	audit->sorted_ns = calloc(ledger->n_writes + 1, sizeof(*audit->sorted_ns));
	if (!audit->acked_ns || !audit->sorted_ns) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < ledger->n_writes; i++) {
		audit->sorted_ns[i] = audit->acked_ns[i] = acknowledged_ns(audit, &ledger->writes[i]);
	}
	qsort(audit->sorted_ns, ledger->n_writes, sizeof(*audit->sorted_ns), by_time);
	return 0;
}

int sl_audit_init(struct sl_audit *audit, const struct sl_box *box, const struct sl_record *record,
		  const struct sl_audit_options *options, struct sl_err *err)
{
	struct sl_cut cut = {.powered = options->radius != SL_RADIUS_BOX,
			     .log_lost = options->fault == SL_FAULT_SLOG,
			     .one_side_out = options->fault == SL_FAULT_SLOG_SIDE};
	int rc;

	*audit = (struct sl_audit){.box = box, .record = record, .options = *options, .pulled_ns = SL_NEVER};
	if (box->log_fail_at_ns > 0 && box->n_log > 0) {
		audit->pulled_ns = (int64_t)box->log_fail_at_ns;
	}
	rc = sl_import_init(&audit->import, &record->history, &cut);
	if (rc == 0 && audit->pulled_ns != SL_NEVER) {
		cut.log_lost = true;
		rc = sl_import_init(&audit->pulled, &record->history, &cut);
	}
	rc = rc == 0 ? list_acknowledged(audit) : rc;
	return rc == 0 ? 0 : sl_err_set(err, rc, "power cut: out of memory");
}

void sl_audit_fini(struct sl_audit *audit)
{
	sl_import_fini(&audit->import);
	sl_import_fini(&audit->pulled);
	free(audit->acked_ns);
	free(audit->sorted_ns);
	audit->acked_ns = audit->sorted_ns = NULL;
}

/* How many of the sorted times are not later. */
static uint64_t count_until(const int64_t *sorted_ns, uint64_t n, int64_t at_ns)
{
	uint64_t low = 0, high = n;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (sorted_ns[middle] <= at_ns) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* First arrival of a txg after `txg`: txgs rise with the arrivals. */
static uint32_t first_after(const struct sl_history *history, uint64_t txg)
{
	uint32_t low = 0, high = history->n_writes;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (history->writes[middle].txg <= txg) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static void name_disk(const struct sl_audit *audit, const struct sl_mark *disk, struct sl_outcome *ret)
{
	const struct sl_dev_spec *specs = disk->log ? audit->box->log : audit->box->data;
	int n = disk->log ? audit->box->n_log : audit->box->n_data;

	ret->on_log = disk->log;
	if (disk->disk >= 0 && disk->disk < n) {
		memcpy(ret->disk, specs[disk->disk].name, sizeof(ret->disk));
	}
}

/* The server never said that the write is stable: who above it did? */
static enum sl_cause cause_above(const struct sl_audit *audit)
{
	const struct sl_audit_options *options = &audit->options;
	bool forgets = options->radius == SL_RADIUS_STORAGE && options->client == SL_CLIENT_LIBNFS;

	if (audit->box->disk_cache == SL_CACHE_UNSAFE && audit->box->client != SL_CLIENT_ESXI &&
	    !options->direct) {
		return SL_CAUSE_DISK_CACHE;
	}
	return forgets ? SL_CAUSE_CLIENT : SL_CAUSE_UNEXPLAINED;
}

/* A disk did not have what was said to be stable. `synced`: said by a txg, not by the ZIL. */
static enum sl_cause cause_of_disk(const struct sl_mark *disk, const struct sl_cut *cut, bool synced)
{
	if (cut->log_lost && disk->log) {
		return SL_CAUSE_LOG_LOST;
	}
	switch ((enum sl_risk)disk->risk) {
	case SL_RISK_MEMORY:
		return SL_CAUSE_MEMORY;
	case SL_RISK_LIAR:
		return SL_CAUSE_LIAR;
	case SL_RISK_CACHE:
		return disk->unreached ? SL_CAUSE_UNREACHED
		       : synced        ? SL_CAUSE_UNEXPLAINED /* txgs flush */
				       : SL_CAUSE_UNFLUSHED;
	case SL_RISK_NONE:
		break;
	}
	/* Safe where it was: only that side did not come back. */
	return cut->one_side_out && disk->log ? SL_CAUSE_LOG_LOST : SL_CAUSE_UNEXPLAINED;
}

/* The server said that the write is stable: the chain of log blocks broke before it, or its txg, which was
 * taken for synced, is not there. */
static enum sl_cause cause_below(const struct sl_audit *audit, const struct sl_import *import,
				 const struct sl_history_write *lost, struct sl_outcome *ret)
{
	bool logged = lost->block != SL_HISTORY_UNLOGGED, synced = !logged;
	const struct sl_mark *disk;

	if (audit->box->sync == SL_SYNC_DISABLED) {
		return SL_CAUSE_DISABLED;
	}
	disk = logged ? sl_import_culprit(import, &ret->imported, ret->at_ns)
		      : sl_import_txg_culprit(import, &ret->imported, ret->at_ns);
	if (disk) {
		name_disk(audit, disk, ret);
		return cause_of_disk(disk, &import->cut, synced);
	}
	return logged ? SL_CAUSE_EARLY : SL_CAUSE_UNEXPLAINED;
}

static void blame(const struct sl_audit *audit, const struct sl_import *import,
		  const struct sl_history_write *lost, struct sl_outcome *ret)
{
	const struct sl_ledger_write *write = &audit->record->ledger.writes[lost->id - 1];

	ret->cause =
	    write->committed_ns > ret->at_ns ? cause_above(audit) : cause_below(audit, import, lost, ret);
	assert(ret->cause != SL_CAUSE_UNEXPLAINED);
}

static bool is_there(const struct sl_audit *audit, const struct sl_outcome *outcome,
		     const struct sl_history_write *write)
{
	/* Without a cut the memory of the storage VM has what has arrived. */
	return audit->options.radius == SL_RADIUS_NONE || sl_imported_has(&outcome->imported, write);
}

void sl_audit_cut(const struct sl_audit *audit, int64_t at_ns, struct sl_outcome *ret)
{
	const struct sl_history *history = &audit->record->history;
	const struct sl_ledger *ledger = &audit->record->ledger;
	const struct sl_import *import = at_ns >= audit->pulled_ns ? &audit->pulled : &audit->import;
	const struct sl_history_write *oldest = NULL;
	bool survives = audit->options.radius == SL_RADIUS_STORAGE && !audit->options.local;
	uint32_t end;

	*ret = (struct sl_outcome){.at_ns = at_ns};
	ret->acknowledged = count_until(audit->sorted_ns, ledger->n_writes, at_ns);
	sl_import_play(import, at_ns, &ret->imported);
	/* What has arrived is in the syncing txg or in the open one, at most two after the last synced. */
	end = first_after(history, ret->imported.believed + 2);
	for (uint32_t i = first_after(history, ret->imported.txg); i < end; i++) {
		const struct sl_history_write *write = &history->writes[i];
		const struct sl_ledger_write *entry = &ledger->writes[write->id - 1];

		if (audit->acked_ns[write->id - 1] > at_ns || is_there(audit, ret, write)) {
			continue;
		}
		if (survives && sl_nfs_client_resends(audit->options.client, entry, at_ns)) {
			ret->resent++;
			continue;
		}
		ret->lost++;
		ret->lost_bytes += entry->bytes;
		if (!oldest || audit->acked_ns[write->id - 1] < audit->acked_ns[oldest->id - 1]) {
			oldest = write;
		}
	}
	if (oldest) {
		ret->window_ns = at_ns - audit->acked_ns[oldest->id - 1];
		blame(audit, import, oldest, ret);
	}
}

void sl_outcome_why(const struct sl_outcome *outcome, char *buf, size_t size)
{
	const char *disk = outcome->disk[0] ? outcome->disk : "a disk";
	const char *key = outcome->on_log ? "pool.log_flush" : "pool.data.flush";

	switch (outcome->cause) {
	case SL_CAUSE_NONE:
	case SL_CAUSES:
		(void)snprintf(buf, size, "nobody lied");
		break;
	case SL_CAUSE_DISABLED:
		(void)snprintf(buf, size, "asked for by sync=disabled");
		break;
	case SL_CAUSE_CLIENT:
		(void)snprintf(
		    buf, size,
		    "libnfs does not compare the write verifier: it forgets UNSTABLE data and takes "
		    "the next COMMIT for good");
		break;
	case SL_CAUSE_LIAR:
		(void)snprintf(buf, size, "%s acknowledged a flush that it did not do", disk);
		break;
	case SL_CAUSE_UNREACHED:
		(void)snprintf(buf, size,
			       "%s kept it in its volatile cache: flushes do not reach it (%s: ignored)",
			       disk, key);
		break;
	case SL_CAUSE_MEMORY:
		(void)snprintf(buf, size, "%s is volatile memory", disk);
		break;
	case SL_CAUSE_UNFLUSHED:
		(void)snprintf(buf, size, "the ZIL acknowledged without flushing %s", disk);
		break;
	case SL_CAUSE_EARLY:
		(void)snprintf(buf, size, "the ZIL acknowledged before the chain of log blocks was written");
		break;
	case SL_CAUSE_LOG_LOST:
		(void)snprintf(buf, size, "%s did not come back: what only the log held is gone", disk);
		break;
	case SL_CAUSE_DISK_CACHE:
		(void)snprintf(buf, size,
			       "the virtual disk answered the guest's flushes and sent none "
			       "(guests.disk_cache: unsafe)");
		break;
	case SL_CAUSE_UNEXPLAINED:
		(void)snprintf(buf, size,
			       "unexplained: nothing in this box is known to forget; please report it");
		break;
	}
}

const char *sl_radius_name(enum sl_radius radius)
{
	static const char *const names[] = {"box", "storage", "none"};

	return names[radius];
}

const char *sl_cause_name(enum sl_cause cause)
{
	static const char *const names[SL_CAUSES] = {"none",      "sync-disabled", "client",     "liar",
						     "unreached", "memory",        "unflushed",  "early",
						     "log-lost",  "disk-cache",    "unexplained"};

	return names[cause];
}
