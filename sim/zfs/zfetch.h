/*
 * The predictive prefetcher (dmu_zfetch.c): which records a file's reader will want next. Reads that follow
 * each other make a stream, up to 8 per file; with every access of a stream its read-ahead grows, from the
 * size of the access on. Up to 2.1.5 the distance doubles until it is as large as it gets; since then it
 * doubles to 4 MiB and goes on by an eighth whenever a read came too late. A pure predictor: the reader of
 * the pool (reader.h) issues what it asks for. Not modelled: strides and backward reads of 2014, accesses
 * stored for later of 2.3, indirect blocks.
 */
#ifndef SL_ZFS_ZFETCH_H
#define SL_ZFS_ZFETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/slab.h"

#define SL_ZFETCH_STREAMS 8 /* zfetch_max_streams */

struct sl_zfetch_config {
	int64_t record_bytes;
	int64_t double_bytes; /* zfetch_min_distance: so far the distance doubles */
	int64_t max_bytes;    /* zfetch_max_distance */
	int64_t keep_bytes;   /* what a stream has passed that is still in memory */
	bool unhit_give_way;  /* since 2.1.6: a stream that was never hit makes room for a new one at once */
};

/* Records of one stream. */
struct sl_zfetch_stream {
	uint64_t first, next, end; /* first read, expected next, and asked for up to here */
	int64_t distance_bytes;    /* of the read-ahead; 0 = not hit yet */
	int64_t used_ns;
	bool late; /* a record came after its reader */
};

struct sl_zfetch_file;

struct sl_zfetch {
	struct sl_zfetch_config config;
	struct sl_zfetch_file **slots; /* open addressing by file */
	uint32_t room, count;          /* room: a power of two */
	struct sl_slab files;
};

/* What to make of one access. */
struct sl_zfetch_plan {
	bool sequential;               /* of a stream */
	uint64_t held_first, held_end; /* records that the stream has brought before, or has on their way */
	uint64_t first, end;           /* to read ahead */
};

void sl_zfetch_init(struct sl_zfetch *zfetch, const struct sl_zfetch_config *config);
void sl_zfetch_fini(struct sl_zfetch *zfetch);

/* A read of `n` > 0 records from `first` on. */
struct sl_zfetch_plan sl_zfetch_access(struct sl_zfetch *zfetch, int64_t now_ns, uint64_t file,
				       uint64_t first, uint64_t n);

/* A record that was read ahead is there. */
void sl_zfetch_arrived(struct sl_zfetch *zfetch, uint64_t file, uint64_t record);

#endif
