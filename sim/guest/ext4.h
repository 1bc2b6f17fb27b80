/*
 * The guest's page cache, ext4 (data=ordered) and jbd2 over its virtual disk.
 *
 * Writes stay in the page cache until write-back or fsync takes them. fsync(file): write the file's dirty
 * ranges, all at once, and wait, also for what another fsync has on its way; then, if the inode changed in a
 * transaction that is not committed, have the journal commit it and wait: descriptor + metadata blocks, then
 * the commit record (with a flush before and after where the disk has a cache); else, and after a commit
 * whose flush had begun before the data was there, only flush. So an fsync is up to three serial round trips.
 * An overwrite changes nothing but mtime, and that only once per tick of the guest's clock. One transaction
 * holds the inodes of all files written since the last commit: the first fsync of a sysbench round commits
 * for all. What nobody syncs is committed when the transaction is 5 s old.
 */
#ifndef SL_GUEST_EXT4_H
#define SL_GUEST_EXT4_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/cpu.h"
#include "sim/base/loop.h"
#include "sim/base/trace.h"
#include "sim/guest/page_cache.h"
#include "sim/guest/page_reads.h"
#include "sim/hyp/hyp.h"

/* Embedded; `done` fires when the file is durable as far as the guest can tell. */
struct sl_ext4_fsync {
	struct sl_timer done;
	uint32_t file;
	bool datasync; /* fdatasync: changed time stamps alone need no journal commit */
	uint64_t tag;
	struct sl_page_cache_waiter data; /* private from here on: for the file's data to be written */
	uint64_t tid;                     /* transaction that must be committed */
	bool barrier;                     /* no commit's flush covers the data: one of its own follows */
	struct sl_ext4 *fs;
	struct sl_ext4_fsync *next; /* waits for the journal */
	struct sl_cpu_job job;
	struct sl_hyp_req flush;
	int64_t start_ns;
};

struct sl_ext4_file; /* private */

struct sl_ext4_config {
	struct sl_loop *loop; /* all borrowed */
	struct sl_cpu *cpu;
	struct sl_hyp *disk;
	struct sl_trace *trace;
	int64_t block_cpu_ns;                      /* CPU per block request */
	int64_t tick_ns;                           /* granularity of mtime */
	int64_t cache_bytes;                       /* free and file pages: what may be dirty in part */
	int64_t background_percent, limit_percent; /* of them; 0 = no limit */
	int64_t writeback_interval_ns, expire_ns;  /* interval 0: age does not matter */
	int64_t requests;                          /* that the flusher has in flight; 0 = no limit */
	int64_t commit_interval_ns;                /* of jbd2; 0 = only when somebody waits for it */
	int64_t read_ahead_bytes;                  /* at most; 0 = none */
};

struct sl_ext4 {
	struct sl_ext4_config config;
	struct sl_page_cache cache;
	struct sl_page_reads reads;
	struct sl_ext4_file *files;
	/* jbd2 */
	uint64_t running, committed;    /* transaction ids */
	bool committing, commit_wanted; /* of the running transaction, once the present commit is done */
	uint32_t running_blocks;        /* metadata blocks in the running transaction */
	int64_t running_since_ns;       /* when it got the first of them */
	struct sl_timer commit_timer;
	struct sl_ext4_fsync *waiters;
	struct sl_hyp_req journal;
	struct sl_cpu_job journal_job;
	int journal_step;
	int64_t journal_at, journal_start_ns;
	uint64_t journal_tag;
	uint64_t *table_tid; /* per inode-table block: transaction that has it */
	uint64_t commits;    /* counter */
};

/* n_files files of file_bytes each, laid out one after the other. 0 or -ENOMEM. */
int sl_ext4_init(struct sl_ext4 *fs, const struct sl_ext4_config *config, uint32_t n_files,
		 int64_t file_bytes);
void sl_ext4_fini(struct sl_ext4 *fs);

/* A buffered write: costs nothing here (the caller pays the system call's CPU). Returns how many bytes became
 * dirty that were not. Whoever can wait looks at sl_page_cache_is_full(&fs->cache) then. */
int64_t sl_ext4_write(struct sl_ext4 *fs, int64_t now_ns, uint32_t file, int64_t offset, int64_t bytes,
		      bool zero);

/* The first `bytes` of a file are written over and over: the server has them in memory. */
void sl_ext4_set_hot(struct sl_ext4 *fs, uint32_t file, int64_t bytes);

/* Reads or writes past the page cache (O_DIRECT); fires req->done, never from inside. Pays the CPU of its
 * block requests, not that of the system call. A write is durable with the file's next fsync. */
void sl_ext4_direct(struct sl_ext4 *fs, int64_t now_ns, struct sl_page_cache_direct *req);

/* true when an fsync would find nothing to write, commit or flush. */
bool sl_ext4_is_clean(const struct sl_ext4 *fs, uint32_t file);

/* Starts an fsync; fires req->done, never from inside. */
void sl_ext4_fsync(struct sl_ext4 *fs, int64_t now_ns, struct sl_ext4_fsync *req);

/* Position of a file's byte on the virtual disk. */
int64_t sl_ext4_position(const struct sl_ext4 *fs, uint32_t file, int64_t offset);

#endif
