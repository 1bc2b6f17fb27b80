/*
 * InnoDB: pages that are read, redo log with group commit, and the flushing of dirty pages.
 *
 * A statement finds its pages in the buffer pool or reads them, one after the other
 * (sim/guest/buffer_pool.h); read-ahead does not come into it: it wants 56 pages of an extent in order, a
 * range of 100 rows has two or three.
 *
 * A commit is durable when the log is written and synced up to its LSN. One write + fsync is in flight at a
 * time; a committer whose LSN is not covered waits, and the first to wake writes for all that queued
 * meanwhile. Pages are flushed oldest change first, in batches of 64: doublewrite buffer (1 MiB, sequential)
 * + fsync, then the pages + fsync. How many, by XtraDB's "estimate" rule of 5.5 (srv0srv.c), once a second:
 * nothing while the checkpoint age is below a quarter of its maximum; else n^2 x redo / sum(maximum - age of
 * page) pages, of those as old as the redo of one second; every ten seconds a tenth of io_capacity, and all
 * of it while more than innodb_max_dirty_pages_pct of the pool is dirty. Without limit when the age passes
 * 7/8 of the maximum; user threads stall at the maximum. A page that is still dirty when it has come to the
 * end of the LRU list is flushed for the page that needs its place (buf_flush_LRU); readers wait while a
 * batch of them is due. Not modelled: binlog, neighbour flushing, row locks.
 */
#ifndef SL_GUEST_INNODB_H
#define SL_GUEST_INNODB_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/guest/buffer_pool.h"
#include "sim/guest/dirty_pages.h"
#include "sim/guest/ext4.h"
#include "sim/workload/oltp.h"

enum { /* files of the file system */
	SL_INNODB_LOG,
	SL_INNODB_DATA,
	SL_INNODB_FILES
};
#define SL_INNODB_DOUBLEWRITE_BYTES (INT64_C(2) << 20) /* at the start of the data file */

/*
 * innodb_flush_log_at_trx_commit. With 0 and 2 a commit waits for nothing, and the log is synced once a
 * second: the client is told "committed" for what a cut of the power takes. It asked for that, so nothing is
 * promised here and the audit finds nothing broken; only an fsync is a promise.
 */
enum sl_flush_log {
	SL_FLUSH_LOG_LAZY,
	SL_FLUSH_LOG_SYNC,
	SL_FLUSH_LOG_WRITE /* into the guest's page cache at each commit */
};

struct sl_innodb_config {
	struct sl_loop *loop;   /* borrowed */
	struct sl_trace *trace; /* borrowed, may be NULL */
	struct sl_ext4 *fs;     /* borrowed; files 0 and 1 are used */
	struct sl_buffer_pool_config pool;
	int64_t redo_bytes;     /* per transaction */
	int64_t log_bytes;      /* size of the redo log */
	double io_capacity;     /* pages per second */
	double max_dirty_share; /* innodb_max_dirty_pages_pct */
	bool datasync;          /* 10.x syncs with fdatasync, 5.5 with fsync */
	bool no_doublewrite;    /* innodb_doublewrite=OFF */
	enum sl_flush_log flush_at_commit;
	uint64_t seed;
};

/* A transaction in the database, embedded in a client; `done` fires when the commit is durable (or, of begin
 * and of make_room, when it may go on). */
struct sl_innodb_waiter {
	struct sl_timer done;
	struct sl_innodb_waiter *next; /* private */
	int64_t lsn;
	uint64_t tag;
	int statement;         /* that sl_innodb_next_read has come to; the number of them at the end */
	uint32_t cached_reads; /* pages found in the guest's page cache since the last call */
	/* Private: pages of the statement, see innodb_read.c. */
	int step, steps, strip;
	uint32_t leaf;
	uint32_t buffered; /* statements whose index page is changed in the change buffer, a bit each */
};

struct sl_innodb {
	struct sl_innodb_config config;
	int64_t lsn, flushed_lsn, syncing_lsn, writing_lsn, log_start_ns;
	bool log_busy;
	struct sl_innodb_waiter *waiters, **waiters_tail, *stalled;
	struct sl_ext4_fsync log_sync, page_sync;
	struct sl_buffer_pool pool;
	struct sl_dirty_pages
	    dirty[2]; /* pages that are used so often that they stay; pages that pass through */
	struct sl_innodb_waiter *no_room; /* readers that wait for a clean page */
	uint32_t batch[64];
	uint32_t n_batch, wanted; /* pages the flusher still owes */
	int64_t batch_lsn;        /* oldest change in the batch being flushed */
	bool flushing, batch_written;
	struct sl_timer second;
	int64_t last_second_lsn;
	uint32_t seconds;
	uint64_t txns, log_syncs, pages_flushed, page_reads; /* counters */
};

/* Size the file system's files must have. */
int64_t sl_innodb_file_bytes(const struct sl_innodb_config *config);

/* The pool of such a database; log_txns is set here. */
void sl_innodb_init_pool(struct sl_buffer_pool *pool, const struct sl_innodb_config *config);

void sl_innodb_init(struct sl_innodb *db, const struct sl_innodb_config *config);
void sl_innodb_fini(struct sl_innodb *db);

/* Before a transaction's first change: true = go on, false = stalled until waiter->done. */
bool sl_innodb_begin(struct sl_innodb *db, struct sl_innodb_waiter *waiter);

/*
 * The next page that the statements of `txn` wait for: its place in the data file, SL_INNODB_NO_READ when all
 * are done. Between two calls the statements up to waiter->statement, and waiter->cached_reads, have cost
 * their CPU.
 */
#define SL_INNODB_NO_READ (-1)
int64_t sl_innodb_next_read(struct sl_innodb *db, const struct sl_oltp_txn *txn,
			    struct sl_innodb_waiter *waiter);

/* Before a page is read: true = there is a clean page to replace, false = wait for waiter->done. */
bool sl_innodb_make_room(struct sl_innodb *db, int64_t now_ns, struct sl_innodb_waiter *waiter);

/* Applies the writes of `txn` and makes it durable as far as the settings want it; fires waiter->done. */
void sl_innodb_commit(struct sl_innodb *db, int64_t now_ns, const struct sl_oltp_txn *txn,
		      struct sl_innodb_waiter *waiter);

/* Private to the files of InnoDB: number and place of a page. */
static inline uint32_t sl_innodb_leaf(const struct sl_innodb *db, uint32_t row)
{
	return sl_row_page(&db->pool.leaf_of, row);
}

static inline uint32_t sl_innodb_index_page(const struct sl_innodb *db, uint32_t row)
{
	return db->pool.leaf_pages + sl_row_page(&db->pool.index_of, row);
}

int64_t sl_innodb_page_offset(uint32_t page);

#endif
