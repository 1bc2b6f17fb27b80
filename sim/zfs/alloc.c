#include "sim/zfs/alloc.h"

#include "sim/base/rng.h"

#define METASLAB_BYTES (INT64_C(1) << 29)     /* zfs_vdev_default_ms_shift */
#define METASLAB_MAX_BYTES (INT64_C(1) << 34) /* zfs_vdev_max_ms_shift */
#define METASLABS 200                         /* zfs_vdev_default_ms_count */
#define EMBEDDED_MIN 64                       /* zfs_embedded_slog_min_ms */
#define READY_PER_ALLOCATOR                                                                                \
	3                     /* metaslab_group_alloc_normal: with fewer metaslabs all share one allocator \
			       */
#define SECTOR_BYTES 8192     /* places are multiples of the largest sector, 2^13 */
#define FREE_MIN 0.04         /* metaslab_df_free_pct */
#define SEARCH_BYTES 16777216 /* metaslab_df_max_search */
#define DITTO_SHIFT 3         /* ditto_same_vdev_distance_shift */

double sl_alloc_segment_bytes(double fragmentation)
{
	/* zfs_frag_table: FRAG of a pool whose free segments are all of 512 bytes, 1 KiB, ... 16 MiB. */
	static const double table[] = {1,   1,   0.98, 0.95, 0.9,  0.8, 0.7,  0.6,
				       0.5, 0.4, 0.3,  0.2,  0.15, 0.1, 0.05, 0};
	int n = sizeof(table) / sizeof(table[0]), at = n - 2;
	double share;

	while (at > 1 && table[at] < fragmentation) {
		at--;
	}
	share = (table[at] - fragmentation) / (table[at] - table[at + 1]);
	return (double)(INT64_C(512) << at) * sl_exp((share > 0 ? share : 0) * sl_log(2));
}

int64_t sl_alloc_metaslab_bytes(int64_t top_bytes)
{
	int64_t metaslab = METASLAB_BYTES;

	while (metaslab < METASLAB_MAX_BYTES && top_bytes / metaslab > METASLABS) {
		metaslab *= 2;
	}
	return metaslab;
}

int64_t sl_alloc_embedded_bytes(const struct sl_alloc_config *config, int64_t top_bytes)
{
	int64_t metaslab;

	if (!config->embedded_log) {
		return 0;
	}
	metaslab = sl_alloc_metaslab_bytes(top_bytes);
	return top_bytes / metaslab > EMBEDDED_MIN ? metaslab : 0;
}

static void measure(struct sl_alloc *alloc, int64_t top_bytes)
{
	alloc->top_bytes = top_bytes;
	alloc->metaslab_bytes = sl_alloc_metaslab_bytes(top_bytes);
	alloc->n_metaslabs = top_bytes / alloc->metaslab_bytes;
}

/* On a vdev of few metaslabs all allocators share one, and copies do not find another. */
static int stream_of(const struct sl_alloc *alloc, const struct sl_alloc_config *config,
		     const struct sl_alloc_block *block)
{
	int64_t apart = config->far_copies ? alloc->n_metaslabs >> DITTO_SHIFT : alloc->n_metaslabs - 1;
	unsigned allocators = config->allocators > 1 ? (unsigned)config->allocators : 1;

	if (alloc->n_metaslabs < (int64_t)allocators * READY_PER_ALLOCATOR) {
		allocators = 1;
	}
	return (apart > 1 ? block->copy * SL_ALLOCATORS_MAX : 0) + (int)(block->home % allocators);
}

/* The first metaslab that is as far from the copy before as 0.6.3 asks for one that is empty: one and a half
 * times an eighth of the vdev (metaslab_group_alloc: target_distance). */
static int64_t far_metaslab(const struct sl_alloc *alloc, int copy)
{
	int64_t sixteenths = 3 * alloc->n_metaslabs, unit = 2 << DITTO_SHIFT;

	return copy * ((sixteenths + unit - 1) / unit);
}

/* A stream goes on in a fresh metaslab: the outermost that nobody has had, around when all have been used. */
static void take_metaslab(struct sl_alloc *alloc, const struct sl_alloc_config *config,
			  struct sl_alloc_stream *stream, int copy)
{
	int64_t size = alloc->metaslab_bytes, n = alloc->n_metaslabs, metaslab;
	int64_t first = sl_alloc_embedded_bytes(config, alloc->top_bytes) > 0 ? 1 : 0;

	/* Allocated in the order of metaslabs and never freed. */
	if (config->fragmentation <= 0) {
		first += (int64_t)(config->filled * (double)(n - first));
	}
	if (n <= first + 1) {
		*stream = (struct sl_alloc_stream){first * size, alloc->top_bytes};
		return;
	}
	if (!config->far_copies) {
		metaslab = first + alloc->taken++ % (n - first);
	} else if (stream->end > 0) {
		metaslab = stream->end / size;
	} else {
		metaslab = far_metaslab(alloc, copy);
	}
	metaslab = metaslab >= first && metaslab < n ? metaslab : first + metaslab % (n - first);
	*stream = (struct sl_alloc_stream){metaslab * size, (metaslab + 1) * size};
}

/* In [0, 1): splitmix64 of how many have been drawn. */
static double draw(struct sl_alloc *alloc)
{
	uint64_t x = ++alloc->draws * 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* Moves the cursor to a free segment that holds the block. What is left of a segment is as long as a whole
 * one: nothing is remembered of the exponential distribution. */
static void find_segment(struct sl_alloc *alloc, const struct sl_alloc_config *config,
			 struct sl_alloc_stream *stream, int64_t asize)
{
	double segment = sl_alloc_segment_bytes(config->fragmentation);
	double fits = sl_exp(-(double)asize / segment), apart = segment / (1 - config->filled);
	double skipped, ahead;

	if (config->filled <= 1 - FREE_MIN && draw(alloc) < fits) {
		return;
	}
	/* Geometric; where hardly any segment fits, more than are searched. */
	skipped = fits > 1e-9 ? sl_log(1 - draw(alloc)) / sl_log(1 - fits) : 1e9;
	skipped = 1 + (double)(int64_t)skipped;
	ahead = skipped * apart;
	if (config->filled <= 1 - FREE_MIN && ahead <= SEARCH_BYTES) {
		stream->at += (int64_t)ahead;
	} else {
		stream->at = stream->end - alloc->metaslab_bytes +
			     (int64_t)(draw(alloc) * (double)(alloc->metaslab_bytes - asize));
	}
	stream->at -= stream->at % SECTOR_BYTES;
}

int64_t sl_alloc_place(struct sl_alloc *alloc, const struct sl_alloc_config *config, int64_t top_bytes,
		       const struct sl_alloc_block *block, int64_t asize)
{
	struct sl_alloc_stream *stream;
	int64_t at;

	if (alloc->top_bytes != top_bytes) {
		measure(alloc, top_bytes);
	}
	if (block->log && config->embedded_log && alloc->n_metaslabs > EMBEDDED_MIN) {
		at = alloc->next_log + asize > alloc->metaslab_bytes ? 0 : alloc->next_log;
		alloc->next_log = at + asize;
		return at;
	}
	stream = &alloc->streams[stream_of(alloc, config, block)];
	if (stream->at + asize > stream->end) {
		take_metaslab(alloc, config, stream, block->copy);
	}
	if (config->fragmentation > 0 && alloc->n_metaslabs > 1) {
		find_segment(alloc, config, stream, asize);
		if (stream->at + asize > stream->end) {
			take_metaslab(alloc, config, stream, block->copy);
		}
	}
	at = stream->at;
	stream->at += asize;
	return at;
}
