/*
 * A class of vdevs (the data disks, or the log disks): layout, allocation, and what a block costs each leaf.
 * A class is one or more top-level vdevs of the same shape; each block goes to one of them, in turn. Stripe:
 * every disk is a top-level vdev. Mirror: a block goes to all disks of the vdev, done at the slowest. Raidz:
 * columns and parity, see raidz.h; every column is one leaf I/O. Encryption below the vdevs (GELI) is paid
 * per leaf I/O on the storage VM's CPUs. Each disk has four labels of 256 KiB, two at its start and two at
 * its end, the upper half of each a ring of uberblocks; blocks lie between them.
 *
 * A disk can die: what it has in flight is lost with it, later blocks go to other top-level vdevs, and a
 * block fails when its vdev has lost more disks than its layout forgives.
 */
#ifndef SL_ZFS_VDEV_H
#define SL_ZFS_VDEV_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/cpu.h"
#include "sim/base/slab.h"
#include "sim/base/trace.h"
#include "sim/device/device.h"
#include "sim/zfs/alloc.h"
#include "sim/zfs/queue.h"

#define SL_VDEV_DISKS_MAX 32
#define SL_VDEV_DISK_MIN (INT64_C(64) << 20)        /* SPA_MINDEVSIZE */
#define SL_VDEV_UBERBLOCK_RING (INT64_C(128) << 10) /* VDEV_UBERBLOCK_RING */

enum sl_vdev_layout {
	SL_VDEV_STRIPE,
	SL_VDEV_MIRROR,
	SL_VDEV_RAIDZ1,
	SL_VDEV_RAIDZ2,
	SL_VDEV_RAIDZ3
};

struct sl_vdev_config {
	enum sl_vdev_layout layout;
	int tops;       /* top-level vdevs that share the disks evenly; 0 = one; a stripe has one per disk */
	bool fastwrite; /* up to 2.1, log blocks: to the vdev with the fewest bytes on their way */
	bool is_log;    /* for the marks: these are log vdevs */
	struct sl_alloc_config alloc;
	const char *layer; /* static, for the trace: "data disks" */
	int ashift;
	int async_write_min;  /* zfs_vdev_async_write_min_active; 0 = 1 */
	int64_t join_bytes;   /* zfs_vdev_aggregation_limit; 0 = nothing is joined */
	bool join_sync;       /* of synchronous requests, too */
	bool flush_honoured;  /* false: a flush is answered at once and reaches nothing */
	int64_t leaf_cpu_ns;  /* CPU per leaf I/O (GELI), reads and writes */
	double leaf_cpu_bps;  /* and per byte; 0 = none */
	double parity_bps;    /* raidz: parity computation; 0 = free */
	int64_t flush_cpu_ns; /* CPU of a flush to one disk */
};

/* Owned by the caller, embedded; must live until `done` fires. */
struct sl_vdev_io {
	struct sl_timer done;
	enum sl_dev_op op;
	bool log;      /* a log block: goes to the embedded log where the vdev has one */
	bool async;    /* of the asynchronous class: nobody waits for it */
	bool label;    /* an uberblock, into the ring of each of the four labels of each disk of `top` */
	uint8_t copy;  /* which copy of the block this is: 0, 1, 2 */
	unsigned home; /* blocks of the same lie side by side: hash of object and level */
	int64_t bytes; /* physical size of the block, before parity */
	int64_t offset_bytes; /* from sl_vdev_alloc, within the top-level vdev; of a label: within its ring */
	int top;              /* from sl_vdev_alloc: the top-level vdev; of a label: the caller's */
	uint64_t tag;
	struct sl_mark *mark; /* WRITE: notes when a cut no longer takes it; NULL = nobody asks */
	int error;         /* at completion: 0, or -EIO when too many disks were lost; flushes never fail */
	int waiting, lost; /* private: leaf I/Os outstanding, and lost */
	int64_t start_ns;
};

struct sl_vdev {
	struct sl_vdev_config config;
	struct sl_loop *loop;                    /* borrowed */
	struct sl_cpu *cpu;                      /* borrowed: the storage VM's */
	struct sl_trace *trace;                  /* borrowed, may be NULL */
	int n_disks, n_tops, width;              /* width: disks in each top-level vdev */
	struct sl_dev *disks[SL_VDEV_DISKS_MAX]; /* owned */
	struct sl_queue_limits limits;           /* of the queues */
	struct sl_queue queues[SL_VDEV_DISKS_MAX];
	bool touched[SL_VDEV_DISKS_MAX]; /* written since the last flush */
	int flushing[SL_VDEV_DISKS_MAX]; /* flushes under way: what they cover is not there yet */
	bool dead[SL_VDEV_DISKS_MAX];
	int n_dead;                               /* disks of these */
	int64_t done_ns[SL_VDEV_DISKS_MAX];       /* latest completion of a disk, for the trace */
	struct sl_alloc alloc[SL_VDEV_DISKS_MAX]; /* of a top-level vdev */
	int64_t pending_bytes[SL_VDEV_DISKS_MAX]; /* of a top-level vdev: allocated, not yet written */
	int read_rotor[SL_VDEV_DISKS_MAX];        /* of a mirror: whose turn it is */
	int64_t disk_bytes;                       /* of the smallest */
	int rotor;                                /* next top-level vdev */
	struct sl_slab leaves;
	int64_t busy_from_ns, busy_ns; /* time with I/O outstanding */
	int outstanding;
};

/* Disks are added next; the vdev owns them. */
void sl_vdev_init(struct sl_vdev *vdev, const struct sl_vdev_config *config, struct sl_loop *loop,
		  struct sl_cpu *cpu, struct sl_trace *trace);
/* Takes the disk, of SL_VDEV_DISK_MIN bytes at least. */
void sl_vdev_add_disk(struct sl_vdev *vdev, struct sl_dev *disk, int64_t capacity_bytes);
void sl_vdev_fini(struct sl_vdev *vdev);

/* How many asynchronous writes may be active at a disk from now on: grows with the dirty data. */
void sl_vdev_limit_async_writes(struct sl_vdev *vdev, int limit);

/* Top-level vdevs, and disks in each. */
static inline int sl_vdev_tops(const struct sl_vdev *vdev)
{
	return vdev->n_tops;
}

static inline int sl_vdev_width(const struct sl_vdev *vdev)
{
	return vdev->width;
}

/* Parity disks in each: 0 unless raidz. */
static inline int sl_vdev_parity(const struct sl_vdev *vdev)
{
	return vdev->config.layout < SL_VDEV_RAIDZ1 ? 0 : 1 + (int)vdev->config.layout - SL_VDEV_RAIDZ1;
}

/* Bytes one top-level vdev can allocate. */
int64_t sl_vdev_top_bytes(const struct sl_vdev *vdev);

/* Bytes of an uberblock: a sector, 1 KiB to 8 KiB (VDEV_UBERBLOCK_SHIFT). Each of the rings is 128 KiB. */
int64_t sl_vdev_uberblock_bytes(const struct sl_vdev *vdev);

/* Size of the embedded log of one top-level vdev, its first metaslab; 0 = it has none: too old, or too small
 * (zfs_embedded_slog_min_ms). */
int64_t sl_vdev_embedded_bytes(const struct sl_vdev *vdev);

/* Bytes a block of `bytes` occupies, parity and padding included. */
int64_t sl_vdev_asize(const struct sl_vdev *vdev, int64_t bytes);

/* Finds the next free place for io->bytes: top-level vdevs that work take turns, see alloc.h for each. Submit
 * it at the same instant. */
void sl_vdev_alloc(struct sl_vdev *vdev, struct sl_vdev_io *io);

/* Can any top-level vdev still take blocks? */
bool sl_vdev_works(const struct sl_vdev *vdev);

/* Disk `disk` dies for good: what it has in flight ends in its own time, as lost. side >= 0: only that side
 * of a disk that is a mirror. Errors: -EINVAL: no such disk or side, or dead already. */
int sl_vdev_fail_disk(struct sl_vdev *vdev, int64_t now_ns, int disk, int side);

/* Fires io->done when all leaf I/Os are done; at once, from inside this call, for a flush that reaches no
 * disk. */
void sl_vdev_submit(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io);

/* See sl_dev_catch_up. */
void sl_vdev_catch_up(struct sl_vdev *vdev, int64_t now_ns);

/* Share of time with I/O outstanding since time 0. */
double sl_vdev_utilisation(const struct sl_vdev *vdev, int64_t now_ns);

/* Sum over all disks, parity and copies included. */
void sl_vdev_totals(const struct sl_vdev *vdev, struct sl_dev_stats *ret);

#endif
