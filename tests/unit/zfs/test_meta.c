/* What a sync writes besides records: counted by hand from spa_sync, and against a pool of 2.1.11. */
#include "sim/zfs/meta.h"

#include "sim/device/kinds.h"
#include "tests/unit/zfs/lib.h"

/* A disk that takes 1 ms for each write and remembers where the small synchronous ones went. */
struct spy {
	struct sl_dev dev;
	int64_t at[16];
	int n;
	uint64_t writes_before_flush;
};

static void spy_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct spy *spy = sl_container_of(dev, struct spy, dev);

	sl_dev_count(dev, req);
	if (req->op == SL_DEV_FLUSH && spy->writes_before_flush == 0) {
		spy->writes_before_flush = dev->stats.writes;
	} else if (req->op == SL_DEV_WRITE && spy->writes_before_flush > 0 && spy->n < 16) {
		spy->at[spy->n++] = req->offset_bytes;
	}
	sl_loop_arm(dev->loop, &req->done, now_ns + MS);
}

static void spy_free(struct sl_dev *dev)
{
	free(sl_container_of(dev, struct spy, dev));
}

static const struct sl_dev_ops spy_ops = {.submit = spy_submit, .free = spy_free};

struct rig {
	struct nas nas;
	struct sl_vdev vdev;
	struct spy *disks[4];
	struct sl_zmeta meta;
	struct bell bell;
};

static void rig_init(struct rig *rig, enum sl_vdev_layout layout, int n, bool old)
{
	struct sl_vdev_config config = {
	    .layout = layout,
	    .ashift = 12,
	    .async_write_min = 10,
	    .flush_honoured = true,
	    .alloc = {.allocators = old ? 1 : 4, .far_copies = old, .embedded_log = !old}};

	nas_init(&rig->nas);
	sl_vdev_init(&rig->vdev, &config, rig->nas.loop, &rig->nas.cpu, NULL);
	for (int i = 0; i < n; i++) {
		rig->disks[i] = calloc(1, sizeof(*rig->disks[i]));
		cr_assert_not_null(rig->disks[i]);
		rig->disks[i]->dev = (struct sl_dev){.ops = &spy_ops, .loop = rig->nas.loop};
		sl_vdev_add_disk(&rig->vdev, &rig->disks[i]->dev, INT64_C(1) << 40);
	}
	sl_zmeta_init(&rig->meta,
		      &(struct sl_zmeta_config){.data = &rig->vdev, .meta = &rig->vdev, .old = old});
}

static void rig_sync(struct rig *rig, uint64_t txg, const struct sl_touched_counts *counts)
{
	rig->bell = bell_make(NULL, "synced");
	sl_zmeta_sync(&rig->meta, sl_loop_now(rig->nas.loop), txg, counts, &rig->bell.timer);
	run_all(rig->nas.loop);
	cr_assert_eq(rig->bell.fired, 1);
}

static void rig_fini(struct rig *rig)
{
	sl_zmeta_fini(&rig->meta);
	sl_vdev_fini(&rig->vdev);
	nas_fini(&rig->nas);
}

/* 156 records of 128 KiB of one file, one behind the other: what a txg of the pool that was counted held. */
static const struct sl_touched_counts stream = {
    .indirect = {1}, .fill = {156.0 / 1024}, .levels = 1, .dnode_blocks = 1, .runs = 1, .metaslabs = 1};

/* Blocks times copies. */
static int copies_of(const struct sl_zmeta_config *config, const struct sl_touched_counts *counts)
{
	struct sl_zmeta_part parts[SL_ZMETA_PARTS_MAX];
	int n = sl_zmeta_plan(config, counts, parts), copies = 0;

	cr_assert_leq(n, SL_ZMETA_PARTS_MAX);
	for (int i = 0; i < n; i++) {
		copies += (int)parts[i].blocks * parts[i].copies;
	}
	return copies;
}

/*
 * Since 0.8. Data set: one indirect block; one block of dnodes, 5 levels above, the root: 8 x 2 copies = 16.
 * MOS, pass 1: 2 blocks of dnodes, the one above, the root; pass 2: log space map, the list of them, the
 * flushed one, the table, the features, 3 blocks of dnodes, 1, 1; pass 3: log space map, 3, 1, 1: 4 + 10 + 6
 * = 20 x 3 copies = 60. 76 in all, as traced in OpenZFS 2.1.11: 16, 12, 30 and 18 blocks of 4 KiB.
 *
 * On a raidz1 of three a copy of 4 KiB is two leaf writes, the indirect block (156 pointers of 50 bytes: 8
 * KiB) three: 74 x 2 + 2 x 3 = 154, and the uberblock in 4 labels of 3 disks: 166, 55.3 a disk. Traced: 55,
 * 50 and 55 after a stream of 161 records; some were joined, as none are here.
 */
Test(meta, a_sync_of_a_stream_writes_as_often_as_a_real_pool)
{
	struct rig rig;
	uint64_t writes = 0;

	rig_init(&rig, SL_VDEV_RAIDZ1, 3, false);
	cr_assert_eq(copies_of(&rig.meta.config, &stream), 76);
	rig_sync(&rig, 1, &stream);
	for (int i = 0; i < 3; i++) {
		const struct sl_dev_stats *stats = &rig.disks[i]->dev.stats;

		cr_assert_float_eq((double)stats->writes, 55.3, 6, "disk %d: %d", i, (int)stats->writes);
		cr_assert_eq(stats->flushes, 2);
		writes += stats->writes;
	}
	cr_assert_eq(writes, 166);
	rig_fini(&rig);
}

/*
 * 0.6.3. Data set: 1 + 1 + 6 + 1 = 9 x 2 copies = 18. MOS, pass 1: 3 + 1 + 1 = 5; pass 2: deferred frees, the
 * space maps of 4 metaslabs (three for copies, one with frees; 4 blocks), what points to them 4, 3 + 1 + 1:
 * 14; pass 3 and 4: 1 + 3 + 3 + 3 + 1 + 1 = 12 each. 43 x 3 = 129. 147 in all.
 */
Test(meta, of_old_each_metaslab_has_a_space_map)
{
	struct sl_touched_counts counts = stream;
	struct rig rig;

	counts.fill[0] = 1;
	rig_init(&rig, SL_VDEV_MIRROR, 2, true);
	cr_assert_eq(copies_of(&rig.meta.config, &counts), 147);
	rig_sync(&rig, 1, &counts);
	cr_assert_eq(rig.disks[0]->dev.stats.writes, 147 + 4);
	/* 100 metaslabs more with 51,200 frees of 8 bytes: 100 blocks of 4 KiB for them beside one for each
	 * metaslab, what points to them, and 3 blocks of dnodes (107 / 32): + (200 + 100 + 3) x 3. */
	counts.metaslabs = 101;
	counts.runs = 51200;
	cr_assert_eq(copies_of(&rig.meta.config, &counts), 147 + 303 * 3);
	rig_fini(&rig);
}

/*
 * The levels of an object set go out together, a pass of the MOS when the round before is on the disks, then
 * flush, uberblock, flush. A disk takes up to ten at a time, 1 ms each: data set 16 writes, passes 12, 30 and
 * 18: 2 + 2 + 3 + 2 ms, and 3.
 */
Test(meta, levels_go_out_together_and_passes_wait_for_each_other)
{
	struct rig rig;

	rig_init(&rig, SL_VDEV_MIRROR, 1, false);
	rig_sync(&rig, 1, &stream);
	cr_assert_eq(rig.bell.at_ns, 12 * MS, "%lld", (long long)rig.bell.at_ns);
	rig_fini(&rig);
}

/*
 * The ring of label n is the upper half of its 256 KiB; a txg has its place in it: 4 KiB x (txg mod 32). On 1
 * TiB: 128 KiB, 384 KiB, and the same from 512 KiB before the end. Txg 37: 20 KiB further.
 */
Test(meta, an_uberblock_goes_to_both_ends_of_a_disk_between_two_flushes)
{
	const int64_t end = INT64_C(1) << 40;
	const int64_t expected[] = {128 * KIB, 384 * KIB, end - 384 * KIB, end - 128 * KIB};
	struct rig rig;

	rig_init(&rig, SL_VDEV_MIRROR, 2, false);
	rig_sync(&rig, 37, &stream);
	for (int i = 0; i < 2; i++) {
		const struct spy *spy = rig.disks[i];

		cr_assert_eq(spy->n, 4);
		cr_assert_eq(spy->writes_before_flush, 76);
		cr_assert_eq(spy->dev.stats.flushes, 2);
		for (int label = 0; label < 4; label++) {
			cr_assert_eq(spy->at[label], expected[label] + 20 * KIB, "%lld",
				     (long long)spy->at[label]);
		}
	}
	rig_fini(&rig);
}

/* SPA_SYNC_MIN_VDEVS: three of four disks get it, another three next time. */
Test(meta, three_top_level_vdevs_get_an_uberblock)
{
	struct rig rig;

	rig_init(&rig, SL_VDEV_STRIPE, 4, false);
	rig_sync(&rig, 4, &stream); /* 0, 1, 2 */
	cr_assert_eq(rig.disks[2]->n, 4);
	cr_assert_eq(rig.disks[3]->n, 0);
	rig_fini(&rig);
}

/* 50,000 records of 4 KiB at random in 20 GiB, format of 0.6.3 (see test_touched.c): 28,876 blocks of 6400
 * bytes (128 x 50): 8 KiB, twice. A stream of them: 391. */
Test(meta, records_at_random_write_their_indirect_blocks)
{
	struct sl_touched_counts counts = {.indirect = {28876, 320, 3, 1},
					   .fill = {1, 1, 1, 0.02},
					   .levels = 4,
					   .dnode_blocks = 1,
					   .runs = 50000,
					   .metaslabs = 20};
	struct sl_zmeta_part parts[SL_ZMETA_PARTS_MAX];
	struct rig rig;

	rig_init(&rig, SL_VDEV_MIRROR, 1, true);
	cr_assert_gt(sl_zmeta_plan(&rig.meta.config, &counts, parts), 4);
	cr_assert_eq(parts[0].blocks, 28876);
	cr_assert_eq(parts[0].bytes, 8 * KIB);
	cr_assert_eq(parts[0].copies, 2);
	cr_assert_eq(parts[3].bytes, 4 * KIB);
	rig_fini(&rig);
}
