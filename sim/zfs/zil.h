/*
 * The ZFS intent log, in three generations that differ in how log blocks (lwbs) are issued. Common to all: a
 * write record is 192 bytes + data, each block starts with a 192-byte chain header; asynchronous changes go
 * out when their own file is committed, synchronous ones with any commit; what a txg has synced needs no log.
 *
 * 2014 (0.6.3, FreeNAS 9.2, illumos; zil_2014.c): one commit batch in flight. A commit that finds the writer
 * busy waits; when the writer is done, everything queued is one batch: records are packed into log blocks,
 * all blocks are written, the touched vdevs are flushed, everybody is woken. So the group size is the number
 * of arrivals during the batch before. Facts:
 * - block sizes come in buckets of 4, 12, 36 and 128 KiB, chosen when the block before is issued, from the
 * bytes of the present batch, never below the largest of the last 16 choices;
 * - on a log device only the used part of a block is written (rounded to 4 KiB); on raidz the whole block is;
 *
 * In all of them writes of 32 KiB and more are indirect without a log device, and all with logbias=throughput
 * (zil_log.c): the data goes to its final place, the log gets the header. A record that is in place is not
 * written again, neither for the next such write to it nor with its txg, unless it changes again (placed.h).
 *
 * 2.1 and 2.3 (zil_lwb.c): blocks are issued back to back, several in flight, completed in order. An open
 * block that is not full waits for company: 5 % (2.1) or 10 % (2.3) of the mean block latency; a lone writer
 * does not wait in 2.3, and in 2.1 only when that would be less than 5 us or the block is nearly full. Up to
 * 2.1 whoever commits while another sends out a block waits, and shares the next with all who do. A block
 * without waiters leaves its flush to the next, since 2.2 only to one that is on its way. Sizes (zil_size.c)
 * follow from what all committers have logged since a block last went out before it was full: so the more
 * committers, the more records in a block.
 *
 * Log devices can die, and fill up (zil_space.h). Blocks go to the log vdevs while one of them works and has
 * room, then to the data vdevs. A commit
 * whose block was lost has failed: its caller waits for the txgs instead (zil_commit: txg_wait_synced).
 */
#ifndef SL_ZFS_ZIL_H
#define SL_ZFS_ZIL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/cpu.h"
#include "sim/base/loop.h"
#include "sim/base/slab.h"
#include "sim/base/trace.h"
#include "sim/device/jitter.h"
#include "sim/zfs/history.h"
#include "sim/zfs/placed.h"
#include "sim/zfs/throttle.h"
#include "sim/zfs/txg.h"
#include "sim/zfs/vdev.h"
#include "sim/zfs/zil_space.h"

#define SL_ZIL_PREV_BLOCKS 16
#define SL_ZIL_BURSTS 8 /* remembered by the size prediction of 2.3 */

enum sl_zil_generation { /* in the order of the scenario's words */
	SL_ZIL_2014,
	SL_ZIL_20, /* 0.8 and 2.0 */
	SL_ZIL_21,
	SL_ZIL_22, /* up to 2.2.3 */
	SL_ZIL_23, /* from 2.2.4 on */
	SL_ZIL_24
};

/* A rule of the log that is broken on purpose, to see what it is there for. */
enum sl_zil_broken {
	SL_ZIL_INTACT,
	SL_ZIL_NO_FLUSH,  /* the log devices are never flushed (zil_nocacheflush) */
	SL_ZIL_EARLY_ACK, /* commits return when their block is on its way, not when it is there */
	SL_ZIL_UNORDERED  /* 2.1 and 2.3: commits return without waiting for the blocks before theirs */
};

struct sl_zil_config {
	enum sl_zil_generation generation;
	enum sl_zil_broken broken;
	struct sl_history *history; /* borrowed, may be NULL */
	struct sl_vdev *log; /* where log blocks go while one of them works: log vdevs, or as without any */
	struct sl_vdev
	    *special;         /* where they go next: special vdevs since 2.4 (zil_special_is_slog), or NULL */
	struct sl_vdev *data; /* and at last */
	struct sl_vdev *records; /* where indirect writes go */
	const struct sl_txg
	    *txg; /* borrowed: what is dirty limits asynchronous writes; NULL = nothing does */
	struct sl_placed *placed; /* borrowed: records that are in place already; NULL = none ever are */
	struct sl_throttle
	    *throttle; /* borrowed: what comes too late for its txg waits there; NULL = nowhere */
	bool has_slog;
	bool throughput;              /* logbias=throughput */
	int64_t commit_cpu_ns;        /* per batch (2014) or block */
	int64_t commit_delay_ns;      /* and what it waits for threads to take over, on no CPU */
	double delay_p99, delay_p999; /* its percentiles over its median; up to 1 = always the same */
	uint64_t seed;
	int64_t lone_latency_ns; /* 2.1 and later: of the blocks of one writer, who used the log before */
	int64_t indirect_cpu_ns; /* per record written in place */
	double copy_bps;         /* copying data into log blocks */
	double crypt_bps;        /* 2.1 and 2.3: encrypting log blocks (native encryption); 0 = none */
	uint64_t bulk_bytes; /* zil_slog_bulk: what a burst has beyond is written to the log without haste */
	uint32_t recordsize_bytes;
	double compress_ratio; /* of records written in place */
};

/* A change of a file, as it comes to the log. */
struct sl_zil_change {
	uint64_t file;
	uint64_t txg; /* that will make it stable anyway */
	int64_t offset_bytes;
	uint32_t bytes; /* of data; meta: of the record */
	bool meta;      /* of names or attributes */
	bool hole;      /* its data is all zero under compression: nothing is stored of it in place */
	uint32_t write; /* in the history */
};

/* One record for the log (itx). */
struct sl_zil_itx {
	uint64_t file, txg;
	uint64_t record; /* of the file; in place */
	uint32_t bytes;  /* of data that goes into the log */
	bool copied;     /* WR_COPIED: the data is in the record, which is not split over blocks */
	bool indirect;   /* WR_INDIRECT: the data goes to its final place */
	bool hole;
	uint32_t write; /* in the history */
	struct sl_zil_waiter
	    *waiter; /* 2.1 and later: no record, but a commit of all before it (TX_COMMIT) */
};

/* Embedded in the caller's request; `done` fires when everything logged before the commit is stable, or with
 * `failed` when a log block was lost: then it is stable only once the txgs are (sl_txg_wait). */
struct sl_zil_waiter {
	struct sl_timer done;
	bool failed;
	struct sl_zil_waiter *next; /* private */
	uint64_t tag;
};

/* Flushes of the vdevs that a batch or block wrote to, side by side. */
struct sl_zil_flush {
	struct sl_timer done;
	struct sl_vdev_io log, data, other;
	int left; /* private */
};

struct sl_zil_list { /* growable */
	struct sl_zil_itx *items;
	uint32_t count, room;
};

/* 2.1 and 2.3: what the sizes of log blocks follow. A burst is what is logged, by all committers, until a
 * block goes out before it is full. */
struct sl_zil_burst {
	uint64_t size;       /* zl_cur_used, zl_cur_size; headers included */
	uint64_t left;       /* 2.3: of it, not yet in blocks (zl_cur_left) */
	uint32_t largest;    /* 2.3: of it, what cannot be split (zl_cur_max) */
	uint32_t next_bytes; /* size of the next block; 0 = there was no block yet */
	uint32_t optimal[SL_ZIL_BURSTS], least[SL_ZIL_BURSTS]; /* 2.3: first blocks of bursts before */
	uint32_t at;                                           /* the last of them */
	uint32_t parallel; /* 2.3: bursts for which company is expected (zl_parallel) */
};

/* 2.1 and later: a commit list on its way into blocks (zl_issuer_lock is held). */
struct sl_zil_walk {
	bool active, alone;       /* alone: nothing was in flight when it began */
	struct sl_zil_list list;  /* what was synchronous when it began ... */
	uint32_t at;              /* ... and the next of it */
	struct sl_throttled late; /* which is at the write throttle: ... */
	bool entering, let_in;    /* ... on its way there, and through */
};

struct sl_zil {
	struct sl_zil_config config;
	struct sl_loop *loop;
	struct sl_cpu *cpu;
	struct sl_trace *trace;
	struct sl_jitter jitter; /* of hand-offs */
	struct sl_zil_list sync,
	    async; /* sync: goes out with the next batch; async: when its file is committed */
	struct sl_zil_waiter *queued, **queued_tail; /* for the next batch */
	struct sl_zil_waiter *batch;                 /* of the batch in flight */
	struct sl_vdev *target;                      /* where the batch's blocks go */
	bool busy, failed;                           /* failed: the batch lost a block */
	struct sl_cpu_job job;
	struct sl_timer hand_off; /* after the job */
	struct sl_slab ios;
	int outstanding;
	struct sl_zil_flush flush;
	uint32_t block_bytes, block_used; /* of the open log block */
	uint32_t prev_blocks[SL_ZIL_PREV_BLOCKS];
	uint32_t prev_at;
	uint64_t batch_txg;     /* of the batch's records, the last */
	uint64_t batch_bytes;   /* logged so far in this batch (zl_cur_used) */
	uint32_t *block_writes; /* sizes of the batch's block writes */
	uint32_t n_blocks, block_room, n_indirect;
	uint64_t tag;
	int64_t batch_start_ns, busy_ns;
	/* 2.1 and 2.3 */
	struct sl_zil_lwb *oldest, *newest; /* in the order of the chain; the newest may be open */
	struct sl_slab lwbs, wakes;
	struct sl_zil_walk walk;
	uint64_t synced_txg;    /* the last */
	int64_t lwb_latency_ns; /* zl_last_lwb_latency */
	struct sl_zil_burst burst;
	bool advancing;
	int issuing;      /* up to 2.1: blocks on whose account zl_issuer_lock is held */
	int n_committers; /* in the list, waiting for that lock */
	/* Counters; a batch is a block in 2.1 and 2.3. The open block is number `blocks` of the chain. */
	uint64_t batches, commits, blocks, indirect;
	uint64_t failures;                                        /* commits whose log block was lost */
	struct sl_zil_space log_space, all_space, embedded_space; /* on the log devices; anywhere; embedded */
	struct sl_zil_space
	    wrlog;         /* data of writes that went into log records, on disk with no txg yet (dp_wrlog) */
	int64_t log_bytes; /* written to the log */
};

/* Borrows everything but its own memory. */
void sl_zil_init(struct sl_zil *zil, const struct sl_zil_config *config, struct sl_loop *loop,
		 struct sl_cpu *cpu, struct sl_trace *trace);
void sl_zil_fini(struct sl_zil *zil);

/* Logs a change; `sync` changes go out with any commit, the others when their own file is committed. */
void sl_zil_log(struct sl_zil *zil, const struct sl_zil_change *change, bool sync);

/* Makes everything logged so far for `file` (and all synchronous changes) stable, then fires waiter->done. */
void sl_zil_commit(struct sl_zil *zil, int64_t now_ns, uint64_t file, struct sl_zil_waiter *waiter);

/* A txg is on disk: its changes need no log any more. */
void sl_zil_synced(struct sl_zil *zil, uint64_t txg);

#endif
