/*
 * A ZFS pool behind an NFS server, as a timed store: records, ZIL, txg, ARC and L2ARC, data, log, special and
 * cache vdevs, on the CPUs of the storage VM. sl_nfsd puts the server's threads in front of it.
 */
#ifndef SL_ZFS_POOL_H
#define SL_ZFS_POOL_H

#include "sim/base/cpu.h"
#include "sim/base/trace.h"
#include "sim/box/box.h"
#include "sim/store/store.h"
#include "sim/zfs/zil.h"

struct sl_pool;

/* What a pool has done so far. */
struct sl_pool_stats {
	uint64_t zil_commits, zil_batches, zil_blocks, zil_indirect, txgs;
	uint64_t zil_failures; /* commits whose log block died with its device: they waited for txgs */
	uint64_t arc_hits, l2arc_hits, arc_misses; /* reads of records that are no holes */
	int64_t log_bytes;                         /* written to the log */
	int64_t log_peak_bytes, log_room_bytes;    /* log devices: in use at most, and what they hold */
	int64_t log_need_bytes; /* of log blocks in use at most, wherever: what log devices would need */
	/* Requests to the log devices as iostat counts them: a flush is a write of no bytes. */
	uint64_t log_requests;
	int64_t data_bytes; /* written to all data disks together, log blocks included where they go there */
	struct sl_dev_stats data, log; /* of all their disks together */
	int64_t dirty_bytes;           /* of the open txg, now */
	double throttle_utilisation;   /* share of time in which the write throttle held somebody back */
	double zil_utilisation, log_utilisation, data_utilisation, special_utilisation, cache_utilisation;
};

/* What a pool lives on; pointers are borrowed. */
struct sl_pool_env {
	struct sl_loop *loop;
	struct sl_cpu *cpu;     /* the storage VM's */
	struct sl_trace *trace; /* may be NULL */
	uint64_t seed;
	struct sl_history *history; /* what a cut of the power needs to know; may be NULL */
	enum sl_zil_broken broken;
	int64_t working_set_bytes; /* data that is read: decides the ARC's hit rate; 0 = fits */
};

/* Builds the pool of `box`. Errors: -EINVAL, -ENOMEM. */
int sl_pool_new(const struct sl_box *box, const struct sl_pool_env *env, struct sl_pool **ret,
		struct sl_err *err);
/* Data that the ARC of such a box keeps, before compression. */
double sl_pool_arc_bytes(const struct sl_box *box);

void sl_pool_free(struct sl_pool *pool);

/* The pool as a store; belongs to the pool, whose `free` it shares. */
struct sl_store *sl_pool_store(struct sl_pool *pool);

/* Log device `device` (its place in pool.log) dies for good; side >= 0: only that side of a mirror. Commits
 * in flight on it fail over to txgs; later ones use the other log devices, or the data vdevs when none is
 * left. Errors: -EINVAL: no such device or side, or dead already. */
int sl_pool_fail_log(struct sl_pool *pool, int64_t now_ns, int device, int side);
/* Has that device died? A mirror that lost a side has not. */
bool sl_pool_log_dead(const struct sl_pool *pool, int device);

/* What disks have done by now without anybody waiting for it is noted in the marks of the history. */
void sl_pool_catch_up(struct sl_pool *pool);

void sl_pool_stats(const struct sl_pool *pool, int64_t now_ns, struct sl_pool_stats *ret);

#endif
