/*
 * The audit after a cut: which acknowledged writes are gone. A pure function of the record, the time of the
 * cut, how far it reaches and what else breaks: what is volatile vanishes, the pool is imported, its log
 * replayed, clients that survive send again what they still have; then the ledger is compared.
 */
#ifndef SL_STACK_AUDIT_H
#define SL_STACK_AUDIT_H

#include "sim/hyp/resend.h"
#include "sim/stack/record.h"
#include "sim/zfs/import.h"

enum sl_radius {
	SL_RADIUS_BOX,     /* the whole box loses its power: acknowledged is what a program was promised */
	SL_RADIUS_STORAGE, /* the storage VM crashes alone: acknowledged is what the hypervisor was answered
			    */
	SL_RADIUS_NONE     /* nothing but the fault of the log device */
};

enum sl_fault {
	SL_FAULT_NONE,
	SL_FAULT_SLOG,       /* the log devices do not come back after the cut */
	SL_FAULT_SLOG_SIDE,  /* of each mirror among them one side does not: the better one */
	SL_FAULT_SLOG_PULLED /* they are pulled while the box is running (params.log.fail_at) */
};

/* Who answers for a lost write. */
enum sl_cause {
	SL_CAUSE_NONE,
	SL_CAUSE_DISABLED,    /* sync=disabled: asked for */
	SL_CAUSE_CLIENT,      /* the client forgot what was only unstable, and lived on: libnfs */
	SL_CAUSE_LIAR,        /* a disk answered a flush that it did not do */
	SL_CAUSE_UNREACHED,   /* a disk's cache that flushes do not reach */
	SL_CAUSE_MEMORY,      /* a log device that forgets */
	SL_CAUSE_UNFLUSHED,   /* the ZIL did not flush */
	SL_CAUSE_EARLY,       /* the ZIL acknowledged before the block was written */
	SL_CAUSE_LOG_LOST,    /* the only copy was on the log device */
	SL_CAUSE_DISK_CACHE,  /* the virtual disk answered the guest's flush and sent none (cache=unsafe) */
	SL_CAUSE_UNEXPLAINED, /* none of these: the model has a bug, and nobody is blamed for it */
	SL_CAUSES
};

struct sl_audit_options {
	enum sl_radius radius;
	enum sl_fault fault;
	enum sl_nfs_client client;
	bool local;  /* the program runs on the storage machine: it dies with it */
	bool direct; /* it speaks NFS by itself: there is no virtual disk in between */
	bool served; /* a real server: whoever asked outlives the cut; acknowledged is what was called stable
		      */
};

/* Rides along a run: the cuts come in the order of their times, each while the record says how things stood
 * then. */
struct sl_audit {
	const struct sl_box *box; /* borrowed, as the record */
	struct sl_record *record;
	struct sl_audit_options options;
	struct sl_import import; /* of cuts before the log devices die, or of all */
	struct sl_import pulled; /* of those after it */
	int64_t pulled_ns;       /* when they do; SL_NEVER */
	/* Set by the caller: told of each write that a cut takes, acknowledged or not. NULL: nobody asks. */
	void (*gone)(void *arg, uint32_t write);
	void *arg;
};

struct sl_outcome {
	int64_t at_ns;
	uint64_t acknowledged; /* writes, up to the cut */
	uint64_t lost;
	int64_t lost_bytes;
	int64_t window_ns; /* age of the oldest lost one at the cut */
	uint64_t resent;   /* answered, gone, and sent again by the client */
	struct sl_imported imported;
	enum sl_cause cause;        /* of the oldest lost one */
	char disk[SL_DEV_NAME_MAX]; /* that answers for it, "" = none */
	bool on_log;                /* it is a log device */
};

/* Before the run of `record`. */
void sl_audit_init(struct sl_audit *audit, const struct sl_box *box, struct sl_record *record,
		   const struct sl_audit_options *options);

/* Cuts at `at_ns`, not before the cut of the last call: what happened at that instant had happened. */
void sl_audit_cut(struct sl_audit *audit, int64_t at_ns, struct sl_outcome *ret);

/* Drops from the record what no cut at now_ns or later can take. */
void sl_audit_forget(struct sl_audit *audit, int64_t now_ns);

/* Writes that those outside the reach of the cut took for durable, so far. */
uint64_t sl_audit_acknowledged(const struct sl_audit *audit);

/* The layer that lied, in plain words: "hdd-7200-desktop acknowledged a flush that it did not do". */
void sl_outcome_why(const struct sl_outcome *outcome, char *buf, size_t size);

/* "box", "storage", "none" */
const char *sl_radius_name(enum sl_radius radius);
/* "sync-disabled", "client", ... for machines */
const char *sl_cause_name(enum sl_cause cause);

#endif
