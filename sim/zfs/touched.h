/*
 * Which metadata the dirty records of a txg drag along. A record's new address goes into its indirect block
 * of level 1, that one's into level 2, and so on: each block that is touched is written once per txg,
 * however many of its pointers change. So a sequential writer touches one for hundreds of records, and one
 * that jumps touches one for each, until all of a file are dirty. The old place of an overwritten record is
 * freed: an entry in a space map, one for each run of neighbours, in each metaslab where that file lies.
 */
#ifndef SL_ZFS_TOUCHED_H
#define SL_ZFS_TOUCHED_H

#include "sim/zfs/keyset.h"

#define SL_TOUCHED_LEVELS 6

struct sl_touched_config {
	uint32_t recordsize_bytes;
	uint32_t pointer_shift; /* log2 of the block pointers in an indirect block: indblkshift - 7 */
	int64_t metaslab_bytes; /* of a file's data that one metaslab holds */
};

/* Of one txg. */
struct sl_touched_counts {
	uint32_t indirect[SL_TOUCHED_LEVELS]; /* blocks of level 1, 2, ... */
	double fill[SL_TOUCHED_LEVELS];       /* share of their pointers that are in use, about */
	int levels;                           /* of indirect blocks that the files have */
	uint32_t dnode_blocks;                /* of DNODE_BLOCK_SIZE, that hold the changed files' dnodes */
	uint32_t runs;                        /* of records that lie side by side: freed segments */
	uint32_t metaslabs;                   /* in which they lie */
};

struct sl_touched {
	struct sl_touched_config config;
	struct sl_keyset keys;
	struct sl_touched_counts counts;
	uint64_t last_file, last_record; /* of the latest call; UINT64_MAX: none in this txg */
	uint64_t last_dnodes;            /* the same: its block of dnodes */
	uint64_t top_record;             /* highest index of a record so far */
};

void sl_touched_init(struct sl_touched *touched, const struct sl_touched_config *config);
void sl_touched_fini(struct sl_touched *touched);

/* Record `record` of `file` became dirty in the open txg: its dnode and its indirect blocks do too. */
void sl_touched_record(struct sl_touched *touched, uint64_t file, uint64_t record);

/* The dnode of `file` became dirty: a name, a size, a time. */
void sl_touched_dnode(struct sl_touched *touched, uint64_t file);

/* The txg closes: hands over what it has touched and starts anew. */
void sl_touched_take(struct sl_touched *touched, struct sl_touched_counts *ret);

#endif
