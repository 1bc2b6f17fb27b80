#include "sim/stack/audit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Do those who were answered outlive the cut? */
static bool survives(const struct sl_audit *audit)
{
	return audit->options.radius != SL_RADIUS_BOX && !audit->options.local;
}

/* When those outside the reach of the cut took the write for durable. */
static int64_t acknowledged_ns(const struct sl_audit *audit, const struct sl_ledger_write *write)
{
	if (audit->options.served) {
		return write->committed_ns;
	}
	return survives(audit) ? write->replied_ns : write->promised_ns;
}

uint64_t sl_audit_acknowledged(const struct sl_audit *audit)
{
	const struct sl_ledger *ledger = &audit->record->ledger;

	if (audit->options.served) {
		return ledger->n_committed;
	}
	return survives(audit) ? ledger->n_replied : ledger->n_promised;
}

void sl_audit_init(struct sl_audit *audit, const struct sl_box *box, struct sl_record *record,
		   const struct sl_audit_options *options)
{
	struct sl_cut cut = {.powered = options->radius != SL_RADIUS_BOX,
			     .log_lost = options->fault == SL_FAULT_SLOG,
			     .one_side_out = options->fault == SL_FAULT_SLOG_SIDE};

	*audit = (struct sl_audit){.box = box, .record = record, .options = *options, .pulled_ns = SL_NEVER};
	if (box->log_fail_at_ns > 0 && box->n_log > 0) {
		audit->pulled_ns = (int64_t)box->log_fail_at_ns;
	}
	sl_import_init(&audit->import, &record->history, &cut);
	cut.log_lost = true;
	sl_import_init(&audit->pulled, &record->history, &cut);
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
	const struct sl_ledger_write *write = sl_ledger_at(&audit->record->ledger, lost->id);

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

void sl_audit_cut(struct sl_audit *audit, int64_t at_ns, struct sl_outcome *ret)
{
	const struct sl_ring *writes = &audit->record->history.writes;
	const struct sl_ledger *ledger = &audit->record->ledger;
	struct sl_import *import = at_ns >= audit->pulled_ns ? &audit->pulled : &audit->import;
	const struct sl_history_write *oldest = NULL;
	bool client_lives = audit->options.radius == SL_RADIUS_STORAGE && !audit->options.local;
	int64_t oldest_ns = SL_NEVER;

	*ret = (struct sl_outcome){.at_ns = at_ns, .acknowledged = sl_audit_acknowledged(audit)};
	sl_record_catch_up(audit->record);
	sl_import_play(import, at_ns, &ret->imported);
	for (uint64_t i = import->present; i < writes->end; i++) {
		const struct sl_history_write *write = sl_ring_at(writes, i);
		const struct sl_ledger_write *entry;
		int64_t acked_ns;

		if (is_there(audit, ret, write)) {
			continue;
		}
		if (audit->gone) {
			audit->gone(audit->arg, write->id);
		}
		entry = sl_ledger_at(ledger, write->id);
		acked_ns = acknowledged_ns(audit, entry);
		if (acked_ns > at_ns) {
			continue;
		}
		if (client_lives && sl_nfs_client_resends(audit->options.client, entry, at_ns)) {
			ret->resent += entry->weight;
			continue;
		}
		ret->lost += entry->weight;
		ret->lost_bytes += (int64_t)entry->bytes * entry->weight;
		if (acked_ns < oldest_ns) {
			oldest = write;
			oldest_ns = acked_ns;
		}
	}
	if (oldest) {
		ret->window_ns = at_ns - oldest_ns;
		blame(audit, import, oldest, ret);
	}
}

void sl_audit_forget(struct sl_audit *audit, int64_t now_ns)
{
	struct sl_history *history = &audit->record->history;
	struct sl_ledger *ledger = &audit->record->ledger;
	struct sl_imported imported, pulled;
	const struct sl_history_write *write;

	sl_import_play(now_ns < audit->pulled_ns ? &audit->import : &audit->pulled, now_ns, &imported);
	if (now_ns < audit->pulled_ns && audit->pulled_ns != SL_NEVER) {
		/* What is still to come takes more. */
		sl_import_play(&audit->pulled, now_ns, &pulled);
		imported.txg = pulled.txg < imported.txg ? pulled.txg : imported.txg;
		imported.stop = pulled.stop < imported.stop ? pulled.stop : imported.stop;
	}
	while ((write = sl_ring_at(&history->writes, history->writes.first)) != NULL &&
	       sl_imported_has(&imported, write) && sl_ledger_at(ledger, write->id)->replied_ns <= now_ns) {
		sl_ledger_forget(ledger, write->id);
		sl_ring_drop(&history->writes, history->writes.first + 1);
	}
	sl_history_forget(history, imported.stop, imported.txg);
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
