/*
 * Transaction groups: what is dirty, and writing it out every zfs_txg_timeout. One txg is open, at most one
 * is syncing. Syncing costs CPU per record, on several threads, and, for records that are not all zero,
 * writes to the data vdevs, 1 to 10 at a time per disk depending on how much is dirty; both overlap (see
 * txg_sync.c). Then come labels and flushes. All-zero records become holes under compression: CPU only.
 */
#ifndef SL_ZFS_TXG_H
#define SL_ZFS_TXG_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/cpu.h"
#include "sim/base/slab.h"
#include "sim/base/trace.h"
#include "sim/zfs/history.h"
#include "sim/zfs/keyset.h"
#include "sim/zfs/meta.h"
#include "sim/zfs/placed.h"
#include "sim/zfs/touched.h"
#include "sim/zfs/vdev.h"

struct sl_txg_config {
	struct sl_vdev *data;      /* where records go */
	struct sl_vdev *meta;      /* where metadata goes: the special vdevs, or the same */
	int64_t timeout_ns;        /* zfs_txg_timeout */
	int async_write_min;       /* zfs_vdev_async_write_min_active */
	uint32_t feeders, workers; /* sync threads, when as many files are dirty; issue threads */
	int64_t issue_cpu_ns;      /* CPU of a sync thread per record */
	int64_t record_cpu_ns;     /* CPU of an issue thread per record that is written ... */
	int64_t hole_cpu_ns;       /* ... and per record that turns out to be all zero */
	uint32_t recordsize_bytes;
	int64_t stored_bytes;     /* what is written of a record that is not all zero */
	bool old;                 /* metadata in the format of 0.6.3, see meta.h */
	int64_t metaslab_bytes;   /* of records that one metaslab holds */
	bool holes;               /* compression is on: zero records cost no write */
	int64_t dirty_max_bytes;  /* zfs_dirty_data_max */
	int64_t dirty_sync_bytes; /* dirty data that starts a sync before the timeout */
};

/* Embedded in a request that waits for txgs (txg_wait_synced); `done` fires when they are on disk. */
struct sl_txg_waiter {
	struct sl_timer done;
	struct sl_txg_waiter *next; /* private */
	uint64_t txg;
};

/* What a txg has to write. */
struct sl_txg_work {
	uint32_t records, holes; /* records that are written, and that are all zero */
	uint32_t placed;         /* of the records, in place already, by the log */
	uint32_t dnodes;         /* blocks of dnodes */
	uint32_t files;          /* that the records belong to */
	int64_t bytes;           /* dirty, in whole records */
};

/* Records between two stages of a sync. */
struct sl_txg_lot {
	uint32_t records, holes;
};

/* The syncing txg. Private to txg_sync.c. */
struct sl_txg_sync {
	struct sl_txg_work work;
	struct sl_txg_lot dirty, fed;     /* for the sync threads, and for the issue threads */
	uint32_t worked;                  /* records to be written */
	uint32_t feeding, working;        /* threads that have something to do */
	uint32_t feeders;                 /* sync threads */
	uint32_t in_flight;               /* blocks */
	uint32_t records_left;            /* records and holes that are not done yet */
	struct sl_touched_counts touched; /* metadata that the records drag along */
	struct sl_zmeta meta;
	struct sl_timer meta_done;
	struct sl_slab ios, slices;
};

struct sl_txg {
	struct sl_txg_config config;
	struct sl_loop *loop;
	struct sl_cpu *cpu;
	struct sl_trace *trace;
	void (*on_synced)(void *arg, uint64_t txg, int64_t opened_until_ns, int64_t now_ns);
	void (*on_progress)(void *arg,
			    int64_t now_ns); /* a part of the syncing txg is written; may be NULL */
	void *arg;
	struct sl_history *history; /* borrowed, may be NULL */
	uint64_t open;              /* number of the open txg */
	struct sl_keyset dirty;
	struct sl_placed placed;      /* of the dirty records */
	uint64_t last_file;           /* that a record was dirtied of */
	struct sl_touched touched;    /* what they drag along */
	struct sl_txg_work dirty_now; /* of the open txg; its bytes are dirty_bytes */
	int64_t dirty_bytes;
	struct sl_timer timer;
	bool syncing, timer_missed;
	int64_t sync_start_ns, closed_ns; /* of the syncing txg */
	struct sl_txg_sync sync;
	struct sl_txg_waiter *waiters;
	uint64_t wanted; /* txgs up to this one sync without delay: somebody waits */
	uint64_t synced; /* counter */
};

void sl_txg_init(struct sl_txg *txg, const struct sl_txg_config *config, struct sl_loop *loop,
		 struct sl_cpu *cpu, struct sl_trace *trace);
void sl_txg_fini(struct sl_txg *txg);

/* What a write finds: records that were clean in this txg, and those of them that it covers in part, at most
 * its first and its last: they must be read unless they are in memory. */
struct sl_txg_touch {
	uint32_t fresh, partial;
};

/* Marks the records of a write dirty. */
struct sl_txg_touch sl_txg_dirty(struct sl_txg *txg, int64_t now_ns, uint64_t file, int64_t offset,
				 uint32_t bytes, bool zero);

/* Marks the dnode of `file` dirty: a change of names or attributes. */
void sl_txg_dirty_dnode(struct sl_txg *txg, int64_t now_ns, uint64_t file);

/* Bytes that are dirty: of the open txg, and what is left of the syncing one. */
int64_t sl_txg_unsynced(const struct sl_txg *txg);

/* Asynchronous writes that may be active at one disk, of whatever class, now: few while little is dirty, so
 * that synchronous ones find short queues (vdev_queue_max_async_writes). */
int sl_txg_async_limit(const struct sl_txg *txg);

/* The open txg has enough in it for whatever reason: it syncs as soon as none does (txg_kick). */
void sl_txg_kick(struct sl_txg *txg, int64_t now_ns);

/* Waits for everything written so far, as a failed commit does: for the open txg and the two after it, which
 * follow each other without delay (TXG_DEFER_SIZE). */
void sl_txg_wait(struct sl_txg *txg, int64_t now_ns, struct sl_txg_waiter *waiter);

/* Records a range touches. */
uint32_t sl_txg_records(const struct sl_txg *txg, int64_t offset, uint32_t bytes);

#endif
