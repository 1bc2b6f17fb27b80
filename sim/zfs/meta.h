/*
 * What the sync of a txg writes besides records (spa_sync), as named parts in rounds: the files' indirect
 * blocks, the data set's dnodes, the indirect blocks above them and its root; then the pool's own objects
 * (MOS) in the same shape, a round for each pass until nothing changes any more; then, between two flushes,
 * the uberblock into the four labels of each disk of up to three top-level vdevs. A block's checksum stands
 * in the one above it, but that one needs only it, not the block on the disk (ZIO_WAIT_READY in
 * zio_write_compress): a round goes out together, the next one when it is on the disks (zio_wait in
 * dsl_pool_sync). The MOS is written three times, other metadata twice (dmu_write_policy), each copy
 * somewhere else. A data set has all its levels of dnodes from the start, the MOS as many as it needs
 * (dmu_objset_create_impl).
 *
 * Passes: what a pass allocates has to be noted in space maps, which the next one writes. From pass 2 on a
 * block of this txg that keeps its size is rewritten where it is (zfs_sync_pass_rewrite) and allocates
 * nothing. Since 0.8 a change goes to one log space map, whose size in sectors stays: three passes, as
 * counted in OpenZFS 2.1.11. In 0.6.3 each metaslab has a space map, whose size changes by 512 bytes before
 * sectors are rounded: four (assumed).
 * Not modelled: labels themselves (only when the configuration changes), who uses how much (of files that
 * grow: a second round of the data set), snapshots, deduplication; the first round waits for the records.
 */
#ifndef SL_ZFS_META_H
#define SL_ZFS_META_H

#include "sim/base/slab.h"
#include "sim/zfs/history.h"
#include "sim/zfs/touched.h"
#include "sim/zfs/vdev.h"

#define SL_ZMETA_PARTS_MAX 96
#define SL_ZMETA_PLACES (3 * SL_ALLOC_COPIES) /* of a part, remembered for later passes */

struct sl_zmeta_config {
	struct sl_vdev *data; /* whose uberblocks and flushes */
	struct sl_vdev *meta; /* where metadata goes: the special vdevs, or the same */
	bool old;             /* the format of 0.6.3: indirect blocks of 16 KiB, a space map per metaslab */
};

/* `blocks` of `bytes` each, each in `copies`. */
struct sl_zmeta_part {
	const char *name; /* static */
	uint32_t blocks;
	int64_t bytes;
	int copies;
	bool more; /* the next part goes out together with this one: the same round */
	int again; /* number of the earlier part + 1 whose places are written again, as far as they go; 0 =
		      none */
};

struct sl_zmeta_place {
	int top;
	int64_t offset_bytes;
};

struct sl_zmeta {
	struct sl_zmeta_config config;
	struct sl_history *history; /* borrowed, may be NULL: set by the caller */
	struct sl_timer *done;      /* of the caller, borrowed: fires when all is on the disks */
	uint64_t txg;
	struct sl_zmeta_part parts[SL_ZMETA_PARTS_MAX];
	struct sl_zmeta_place places[SL_ZMETA_PARTS_MAX][SL_ZMETA_PLACES];
	int n_parts, issue; /* part `issue` is being issued ... */
	uint32_t issued;    /* ... and so many of its writes have been */
	uint32_t in_flight;
	int step, flushing; /* private */
	struct sl_slab ios;
	struct sl_vdev_io flush, meta_flush;
	void (*on_progress)(void *arg, int64_t now_ns); /* a write is done; NULL = nobody asks */
	void *arg;
};

/* What a sync of `counts` writes, uberblocks apart, in `parts` with room for SL_ZMETA_PARTS_MAX. Returns how
 * many parts there are. */
int sl_zmeta_plan(const struct sl_zmeta_config *config, const struct sl_touched_counts *counts,
		  struct sl_zmeta_part *parts);

void sl_zmeta_init(struct sl_zmeta *meta, const struct sl_zmeta_config *config);
void sl_zmeta_fini(struct sl_zmeta *meta);

/* The records of `txg` are on their disks: writes the rest. `done` fires at the end; one sync at a time. */
void sl_zmeta_sync(struct sl_zmeta *meta, int64_t now_ns, uint64_t txg,
		   const struct sl_touched_counts *counts, struct sl_timer *done);

#endif
