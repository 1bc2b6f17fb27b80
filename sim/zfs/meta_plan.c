/* Which blocks the sync of a txg writes besides records: see meta.h. */
#include "sim/zfs/meta.h"

#define USER_COPIES 2          /* of metadata with copies=1: dmu_write_policy */
#define MOS_COPIES 3           /* spa_max_replication */
#define DNODE_BLOCK_BYTES 4096 /* of 16 KiB: 4.0 times smaller in published zdb -bb listings */
#define POINTER_BYTES 50       /* of 128: 46 and 58 per pointer in published zdb -bb listings */
#define DNODE_LEVELS 5 /* of a data set, over DN_MAX_OBJECT = 2^48 dnodes: indirect blocks of 128 KiB ... */
#define DNODE_LEVELS_OLD 6 /* ... and of 16 KiB */
#define MOS_LEVELS 1       /* as many as its objects need (dmu_objset_create_impl): 97 to 12,288 of them */
#define SPACE_MAP_BYTES 131072 /* zfs_log_sm_blksz */
#define SPACE_MAP_OLD 4096     /* SPACE_MAP_BLOCKSHIFT */
#define ENTRY_BYTES 16         /* two words for each segment of a log space map */
#define ENTRY_OLD 8            /* one word */
#define DNODES_PER_BLOCK 32
#define ACTIVE_METASLABS SL_ALLOC_COPIES /* 0.6.3: one for each copy */

struct plan {
	struct sl_zmeta_part *parts;
	int n;
	int64_t sector, pointers;
};

/* Together with the parts that come next: see end_round. */
static void add(struct plan *plan, const char *name, uint32_t blocks, int64_t bytes, int copies)
{
	if (blocks > 0) {
		bytes = (bytes + plan->sector - 1) / plan->sector * plan->sector;
		plan->parts[plan->n++] = (struct sl_zmeta_part){name, blocks, bytes, copies, .more = true};
	}
}

/* What has been added since the last round goes out together, and the next round when that is on the disks.
 */
static void end_round(struct plan *plan)
{
	plan->parts[plan->n - 1].more = false;
}

/* Dnodes, what is above them, and the root of an object set (dmu_objset_sync): the end of a round. Returns
 * the number of its first part. */
static int add_objset(struct plan *plan, const char *name, uint32_t dnode_blocks, int copies, int levels)
{
	uint32_t blocks = dnode_blocks;
	int first = plan->n;

	add(plan, name, blocks, DNODE_BLOCK_BYTES, copies);
	for (int level = 0; level < levels; level++) {
		blocks = (uint32_t)((blocks + plan->pointers - 1) / plan->pointers);
		add(plan, "dnodes' indirect", blocks, plan->sector, copies);
	}
	add(plan, "objset", 1, plan->sector, copies);
	end_round(plan);
	return first;
}

static int add_mos_objset(struct plan *plan, const char *name, uint32_t dnode_blocks)
{
	return add_objset(plan, name, dnode_blocks, MOS_COPIES, MOS_LEVELS);
}

/* The same in a later pass: what it has in common with the one before stays where it is. */
static int add_mos_again(struct plan *plan, const char *name, uint32_t dnode_blocks, int before)
{
	int first = add_mos_objset(plan, name, dnode_blocks);

	for (int i = first; i < plan->n; i++) {
		plan->parts[i].again = before + i - first + 1;
	}
	return first;
}

/* What the data set itself writes, in the first pass. */
static void add_dataset(struct plan *plan, const struct sl_touched_counts *counts, bool old)
{
	for (int level = 0; level < counts->levels; level++) {
		double bytes = counts->fill[level] * (double)(plan->pointers * POINTER_BYTES);

		add(plan, "indirect", counts->indirect[level], (int64_t)bytes + 1, USER_COPIES);
	}
	(void)add_objset(plan, "dnodes", counts->dnode_blocks, USER_COPIES,
			 old ? DNODE_LEVELS_OLD : DNODE_LEVELS);
}

/*
 * Passes of the MOS since 0.8. Pass 1: the data set and its directory, and the directories of root and $MOS,
 * are in two blocks of dnodes. Pass 2: the log space map of this txg, the list of these maps, the one
 * metaslab that is flushed (zfs_min_metaslabs_to_flush) and the table of when they were, and how many objects
 * use the features of space maps; the dnodes of these, of $MOS, and of the space maps of all metaslabs that
 * changed (their histograms). Pass 3: what pass 2 allocated, in the same places. As traced in OpenZFS 2.1.11:
 * docs/decisions/0024.
 */
static void add_mos(struct plan *plan, const struct sl_touched_counts *counts)
{
	int64_t log_bytes = (int64_t)counts->runs * ENTRY_BYTES;
	uint32_t full = (uint32_t)(log_bytes / SPACE_MAP_BYTES);
	int before = add_mos_objset(plan, "MOS dnodes, pass 1", 2), log_map;

	add(plan, "log space map", full, SPACE_MAP_BYTES, MOS_COPIES);
	log_map = plan->n;
	add(plan, "log space map", 1, log_bytes % SPACE_MAP_BYTES + 1, MOS_COPIES);
	add(plan, "list of log space maps", 1, plan->sector, MOS_COPIES);
	add(plan, "flushed space map", 1, plan->sector, MOS_COPIES);
	add(plan, "table of flushes", 1, plan->sector, MOS_COPIES);
	add(plan, "counts of features", 1, plan->sector, MOS_COPIES);
	before = add_mos_again(plan, "MOS dnodes, pass 2", 3 + counts->metaslabs / DNODES_PER_BLOCK, before);
	add(plan, "log space map, pass 3", 1, log_bytes % SPACE_MAP_BYTES + 1, MOS_COPIES);
	plan->parts[plan->n - 1].again = log_map + 1;
	(void)add_mos_again(plan, "MOS dnodes, pass 3", 3, before);
}

/* One space map per metaslab: its last block and, as it has more than one, the block that points to it. */
static void add_space_maps(struct plan *plan, const char *name, uint32_t maps, uint32_t blocks)
{
	add(plan, name, blocks > maps ? blocks : maps, SPACE_MAP_OLD, MOS_COPIES);
	add(plan, "space maps' indirect", maps, plan->sector, MOS_COPIES);
}

/*
 * Passes of 0.6.3. Pass 1 also frees what the last txg put off (its dnode). Pass 2: the space map of every
 * metaslab where something was allocated or freed, and what is freed from now on goes to a list
 * (zfs_sync_pass_deferred_free). Passes 3 and 4: what pass 2 and 3 allocated.
 */
static void add_mos_old(struct plan *plan, const struct sl_touched_counts *counts)
{
	uint32_t maps = counts->metaslabs + ACTIVE_METASLABS;
	uint32_t blocks = (uint32_t)((int64_t)counts->runs * ENTRY_OLD / SPACE_MAP_OLD) + maps;
	int before = add_mos_objset(plan, "MOS dnodes, pass 1", 3);

	add(plan, "deferred frees", 1, plan->sector, MOS_COPIES);
	add_space_maps(plan, "space maps", maps, blocks);
	before = add_mos_again(plan, "MOS dnodes, pass 2", 3 + maps / DNODES_PER_BLOCK, before);
	for (int pass = 3; pass <= 4; pass++) {
		add(plan, "deferred frees", 1, plan->sector, MOS_COPIES);
		add_space_maps(plan, "space maps, again", ACTIVE_METASLABS, ACTIVE_METASLABS);
		before = add_mos_again(plan, "MOS dnodes, again", 3, before);
	}
}

int sl_zmeta_plan(const struct sl_zmeta_config *config, const struct sl_touched_counts *counts,
		  struct sl_zmeta_part *parts)
{
	struct plan plan = {.parts = parts,
			    .sector = INT64_C(1) << config->meta->config.ashift,
			    .pointers = config->old ? 128 : 1024};

	add_dataset(&plan, counts, config->old);
	if (config->old) {
		add_mos_old(&plan, counts);
	} else {
		add_mos(&plan, counts);
	}
	return plan.n;
}
