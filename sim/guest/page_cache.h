/*
 * The guest's page cache and its write-back (Linux: mm/page-writeback.c, fs/fs-writeback.c).
 *
 * Written data is dirty until it is on the disk. Above `background` bytes the flusher writes until dirty data
 * is below it again; every `interval` it writes the files whose first change is older than `expire`. It goes
 * through a file in its order and leaves it for the next one after 4 MiB; pages that adjoin are one request,
 * as large as the disk takes. Above `limit` bytes writers wait, first come, first served
 * (balance_dirty_pages): they go on at the rate at which write-back makes room; what is being written counts
 * there until the disk has it. fsync writes what is dirty and waits for all that is on its way.
 */
#ifndef SL_GUEST_PAGE_CACHE_H
#define SL_GUEST_PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/cpu.h"
#include "sim/base/loop.h"
#include "sim/base/slab.h"
#include "sim/guest/extents.h"
#include "sim/hyp/hyp.h"

#define SL_PAGE 4096

struct sl_page_cache_config {
	struct sl_loop *loop; /* all borrowed */
	struct sl_cpu *cpu;
	struct sl_hyp *disk;
	int64_t start, stride;                 /* file n begins at byte start + n * stride of the disk */
	int64_t block_cpu_ns;                  /* CPU per block request */
	int64_t background_bytes, limit_bytes; /* of dirty data */
	int64_t interval_ns, expire_ns;        /* interval 0: nothing is written because of its age */
	int64_t requests;                      /* that the flusher has in flight */
};

/* Waits for its turn to write, or for a file to be written; embedded, `done` fires. */
struct sl_page_cache_waiter {
	struct sl_timer done;
	struct sl_page_cache_waiter *next; /* private from here on */
	uint64_t batch;
};

struct sl_cached_file; /* private */

struct sl_file_list { /* private */
	struct sl_cached_file *first, *last;
};

struct sl_page_cache {
	struct sl_page_cache_config config;
	struct sl_cached_file *files;
	uint32_t n_files;
	int64_t dirty_bytes;   /* of all files, those on their way to the disk included */
	int64_t writing_bytes; /* the latter */
	struct sl_slab ios, batches;
	struct sl_page_cache_waiter *throttled, **throttled_end;
	/* The flusher. */
	struct sl_file_list dirtied;             /* by the time of the first change */
	struct sl_file_list written;             /* being written, in turn */
	struct cache_io *plugged, **plugged_end; /* taken, not sent yet */
	struct sl_cpu_job job;
	struct sl_timer tick;
	int64_t in_flight, turn_bytes;
	bool busy, periodic;     /* busy: its job runs; periodic: until `written` is empty */
	uint64_t flusher_writes; /* counter */
};

/* 0 or -ENOMEM. */
int sl_page_cache_init(struct sl_page_cache *cache, const struct sl_page_cache_config *config,
		       uint32_t n_files);
void sl_page_cache_fini(struct sl_page_cache *cache);

/* The first `bytes` of the file are written over and over: the server has them in memory. */
void sl_page_cache_set_hot(struct sl_page_cache *cache, uint32_t file, int64_t bytes);

/* Pages become dirty. Returns how many bytes of them were not. */
int64_t sl_page_cache_write(struct sl_page_cache *cache, uint32_t file, int64_t start, int64_t end,
			    bool zero);

/* Must a writer wait before it goes on? Then waiter->done fires when it may. */
bool sl_page_cache_is_full(const struct sl_page_cache *cache);
void sl_page_cache_throttle(struct sl_page_cache *cache, struct sl_page_cache_waiter *waiter);

/* Requests that a sync of the file would send now, 64-bit as it may be many. */
int64_t sl_page_cache_requests(const struct sl_page_cache *cache, uint32_t file);

/* Is the file neither dirty nor being written? */
bool sl_page_cache_is_clean(const struct sl_page_cache *cache, uint32_t file);

/* Writes what is dirty of the file and waits for all that is on its way, whoever sent it
 * (file_write_and_wait_range). true: there was nothing to wait for, done does not fire. */
bool sl_page_cache_sync(struct sl_page_cache *cache, int64_t now_ns, uint32_t file, uint64_t tag,
			struct sl_page_cache_waiter *waiter);

/* The file's data is durable as far as `waiter` waited for it: also what another sync, or nobody yet, had it
 * written for. */
void sl_page_cache_promise(struct sl_page_cache *cache, int64_t now_ns, uint32_t file,
			   const struct sl_page_cache_waiter *waiter);

/* A transfer past the cache (O_DIRECT). Embedded; `done` fires, never from inside sl_page_cache_direct. */
struct sl_page_cache_direct {
	struct sl_timer done;
	uint32_t file;
	bool write, zero;
	int64_t offset, bytes; /* multiples of a disk's sector */
	uint64_t tag;
	uint32_t parts; /* private from here on */
	struct sl_page_cache *cache;
	struct sl_cpu_job job;
};

void sl_page_cache_direct(struct sl_page_cache *cache, int64_t now_ns, struct sl_page_cache_direct *req);

/* Position of a file's byte on the disk. */
int64_t sl_page_cache_position(const struct sl_page_cache *cache, uint32_t file, int64_t offset);

#endif
