/*
 * Buffered reads: what a read waits for, and what read-ahead has brought. Pages that a stream has read stay;
 * a random read leaves nothing behind: which of them an earlier one left in memory is a matter of chance, and
 * the reader's to know. Nothing is ever dropped, as nobody comes back to it: a stream passes once, and memory
 * that it would overflow has forgotten a page long before its turn comes again (LRU).
 */
#ifndef SL_GUEST_PAGE_READS_H
#define SL_GUEST_PAGE_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/slab.h"
#include "sim/hyp/hyp.h"

struct sl_read_file; /* private */

struct sl_page_reads_config {
	struct sl_hyp *disk;      /* borrowed */
	int64_t start, stride;    /* file n begins at byte start + n * stride of the disk */
	int64_t read_ahead_bytes; /* read_ahead_kb; 0 = nothing is read ahead */
};

struct sl_page_reads {
	struct sl_page_reads_config config;
	struct sl_read_file *files;
	uint32_t n_files;
	struct sl_slab ios;
};

/* Embedded; `done` fires. */
struct sl_page_read {
	struct sl_timer done;
	uint32_t file;
	bool zero;          /* the file holds zero bytes */
	int64_t start, end; /* bytes of the file */
	uint64_t tag;
	struct sl_page_read *next; /* private from here on */
	bool random;
};

/* 0 or -ENOMEM. */
int sl_page_reads_init(struct sl_page_reads *reads, const struct sl_page_reads_config *config,
		       uint32_t n_files);
void sl_page_reads_fini(struct sl_page_reads *reads);

/* Does a read find all it wants, and nothing to read ahead? Then it is done with it. */
bool sl_page_read_hits(struct sl_page_reads *reads, uint32_t file, int64_t start, int64_t end);

/* Starts a read. true: there is nothing to wait for, done does not fire. */
bool sl_page_read_start(struct sl_page_reads *reads, int64_t now_ns, struct sl_page_read *req);

#endif
