#include "sim/zfs/touched.h"

#define DNODES_SHIFT 5 /* of 512 bytes in a block of 16 KiB: DNODE_BLOCK_SHIFT - DNODE_SHIFT */

#define FILES_PER_METASLAB 1024 /* that are smaller than a metaslab; assumed */

/* Kinds of keys behind the levels. */
enum {
	KEY_DNODE = SL_TOUCHED_LEVELS,
	KEY_METASLAB
};

/* Spreads (kind, file, index) over 64 bits. */
static uint64_t key_of(unsigned kind, uint64_t file, uint64_t index)
{
	return ((file << 40 ^ index) * 0x9e3779b97f4a7c15ULL) ^ ((uint64_t)kind << 60);
}

void sl_touched_init(struct sl_touched *touched, const struct sl_touched_config *config)
{
	*touched = (struct sl_touched){
	    .config = *config, .last_file = UINT64_MAX, .last_record = UINT64_MAX, .last_dnodes = UINT64_MAX};
}

void sl_touched_fini(struct sl_touched *touched)
{
	sl_keyset_fini(&touched->keys);
}

/* Levels of indirect blocks that a file of so many records needs: a dnode points to one block by itself. */
static int levels_of(const struct sl_touched *touched)
{
	int levels = 0;

	for (uint64_t top = touched->top_record; top > 0 && levels < SL_TOUCHED_LEVELS;
	     top >>= touched->config.pointer_shift) {
		levels++;
	}
	return levels;
}

/* From the record upwards, as long as a block was clean so far. How many levels there are is known when the
 * txg closes: files grow. */
static void touch_indirect(struct sl_touched *touched, uint64_t file, uint64_t record)
{
	uint64_t index = record;

	for (int level = 0; level < SL_TOUCHED_LEVELS; level++) {
		index >>= touched->config.pointer_shift;
		if (!sl_keyset_add(&touched->keys, key_of((unsigned)level, file, index))) {
			break;
		}
		touched->counts.indirect[level]++;
	}
}

/* Files were written one after the other: a large one lies in metaslabs of its own, small ones share one. */
static void touch_metaslab(struct sl_touched *touched, uint64_t file, uint64_t record)
{
	const struct sl_touched_config *config = &touched->config;
	uint64_t at = record * config->recordsize_bytes / (uint64_t)config->metaslab_bytes;

	if (at == 0) {
		file /= FILES_PER_METASLAB;
	}
	if (sl_keyset_add(&touched->keys, key_of(KEY_METASLAB, file, at))) {
		touched->counts.metaslabs++;
	}
}

void sl_touched_record(struct sl_touched *touched, uint64_t file, uint64_t record)
{
	unsigned shift = touched->config.pointer_shift;
	bool same_file = file == touched->last_file;
	bool follows = same_file && record == touched->last_record + 1;

	touched->top_record = record > touched->top_record ? record : touched->top_record;
	if (!follows) {
		touched->counts.runs++;
	}
	if (!same_file) {
		sl_touched_dnode(touched, file);
	}
	/* A stream stays in its block for hundreds of records. */
	if (!follows || (record >> shift) != (touched->last_record >> shift)) {
		touch_indirect(touched, file, record);
		touch_metaslab(touched, file, record);
	}
	touched->last_file = file;
	touched->last_record = record;
}

void sl_touched_dnode(struct sl_touched *touched, uint64_t file)
{
	uint64_t block = file >> DNODES_SHIFT;

	if (block != touched->last_dnodes && sl_keyset_add(&touched->keys, key_of(KEY_DNODE, 0, block))) {
		touched->counts.dnode_blocks++;
	}
	touched->last_dnodes = block;
}

void sl_touched_take(struct sl_touched *touched, struct sl_touched_counts *ret)
{
	double records = (double)touched->top_record + 1;
	double pointers = (double)(UINT64_C(1) << touched->config.pointer_shift);

	*ret = touched->counts;
	ret->levels = levels_of(touched);
	for (int level = ret->levels; level < SL_TOUCHED_LEVELS; level++) {
		ret->indirect[level] = 0;
	}
	/* The lower level fills blocks of this one, but for the last; what it has less than one block is not
	 * full. */
	for (int level = 0; level < ret->levels; level++) {
		ret->fill[level] = records < pointers ? records / pointers : 1;
		records = records < pointers ? 1 : records / pointers;
	}
	touched->counts = (struct sl_touched_counts){0};
	touched->last_file = touched->last_record = touched->last_dnodes = UINT64_MAX;
	sl_keyset_clear(&touched->keys);
}
