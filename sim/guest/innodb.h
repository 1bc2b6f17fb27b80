/*
 * InnoDB's durable side (5.5): redo log with group commit, and the flushing of dirty pages.
 *
 * A commit is durable when the log is written and synced up to its LSN. One write + fsync is in flight at a
 * time; a committer whose LSN is not covered waits, and the first to wake writes for all that queued
 * meanwhile. Pages are flushed oldest change first, in batches of 64: doublewrite buffer (1 MiB, sequential)
 * + fsync, then the pages + fsync. How many, by XtraDB's "estimate" rule of 5.5 (srv0srv.c), once a second:
 * nothing while the checkpoint age is below a quarter of its maximum; else n^2 x redo / sum(maximum - age of
 * page) pages, of those as old as the redo of one second; every ten seconds a tenth of io_capacity. Without
 * limit when the age passes 7/8 of the maximum; user threads stall at the maximum. Not modelled: binlog,
 * buffer-pool misses (the table fits in guest memory), neighbour flushing, row locks.
 */
#ifndef SL_GUEST_INNODB_H
#define SL_GUEST_INNODB_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/guest/ext4.h"
#include "sim/workload/oltp.h"

#define SL_INNODB_FILES 2 /* of the file system: redo log, table space */

struct sl_innodb_config {
	struct sl_loop *loop;   /* borrowed */
	struct sl_trace *trace; /* borrowed, may be NULL */
	struct sl_ext4 *fs;     /* borrowed; files 0 and 1 are used */
	uint32_t rows;
	int64_t row_bytes, redo_bytes; /* table space per row, redo per transaction */
	int64_t log_bytes;             /* size of the redo log */
	double io_capacity;            /* pages per second */
	bool datasync;                 /* 10.x syncs with fdatasync, 5.5 with fsync */
};

/* Embedded in a client; `done` fires when the commit is durable (or, of begin, when it may go on). */
struct sl_innodb_waiter {
	struct sl_timer done;
	struct sl_innodb_waiter *next; /* private */
	int64_t lsn;
	uint64_t tag;
};

struct sl_innodb {
	struct sl_innodb_config config;
	int64_t lsn, flushed_lsn, writing_lsn, log_start_ns;
	bool log_busy;
	struct sl_innodb_waiter *waiters, **waiters_tail, *stalled;
	struct sl_ext4_fsync log_sync, page_sync;
	uint32_t leaf_pages, index_pages, pages;
	uint8_t *dirty;  /* per page */
	uint32_t *queue; /* dirty pages, oldest change first: ring of `pages` + 1 */
	int64_t *queue_lsn;
	uint32_t head, tail;
	uint32_t batch[64];
	uint32_t n_batch, wanted; /* pages the flusher still owes */
	int64_t batch_lsn;        /* oldest change in the batch being flushed */
	bool flushing, batch_written;
	struct sl_timer second;
	int64_t last_second_lsn;
	int64_t lsn_sum; /* of the first changes of all queued pages */
	uint32_t seconds;
	uint64_t txns, log_syncs, pages_flushed; /* counters */
};

/* Size the file system's files must have. */
int64_t sl_innodb_file_bytes(const struct sl_innodb_config *config);

/* 0 or -ENOMEM. */
int sl_innodb_init(struct sl_innodb *db, const struct sl_innodb_config *config);
void sl_innodb_fini(struct sl_innodb *db);

/* Before a transaction's first change: true = go on, false = stalled until waiter->done. */
bool sl_innodb_begin(struct sl_innodb *db, struct sl_innodb_waiter *waiter);

/* Applies the writes of `txn` and makes it durable; fires waiter->done. */
void sl_innodb_commit(struct sl_innodb *db, int64_t now_ns, const struct sl_oltp_txn *txn,
		      struct sl_innodb_waiter *waiter);

#endif
