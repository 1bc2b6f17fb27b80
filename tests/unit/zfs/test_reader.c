/* Reads of a pool's records from hard disks: where they lie, what is read ahead, who waits for what. */
#include "sim/zfs/pool.h"

#include "sim/base/rng.h"
#include "tests/unit/zfs/lib.h"

#define TERA 1e12
#define RECORD (128 * KIB)
#define DATA INT64_C(200000000000)

struct rig {
	struct nas nas;
	struct sl_box box;
	struct sl_pool *pool;
	struct sl_store *store;
	int64_t left; /* of a run of reads */
	struct sl_store_req read;
	int64_t end_ns;
};

/* 7200 rpm, 150 MB/s, seeks of 1, 8.5 and 16 ms, 16 segments of 4 MiB. */
static struct sl_dev_spec disk_7200rpm(void)
{
	return (struct sl_dev_spec){.kind = SL_DEV_HDD,
				    .capacity_bytes = 2 * TERA,
				    .link_bps = 600e6,
				    .rpm = 7200,
				    .seek_track_ns = 1e6,
				    .seek_avg_ns = 8.5e6,
				    .seek_full_ns = 16e6,
				    .media_bps = 150e6,
				    .write_cache = 1,
				    .cache_bytes = 64 << 20,
				    .write_ack_ns = 0.2e6,
				    .write_bps = 150e6,
				    .command_ns = 0.1e6,
				    .ncq_depth = 32,
				    .read_segments = 16,
				    .flush_honoured = 1};
}

/* Six of them, CPU at no cost; 70 % of the memory is ARC. */
static struct rig *rig_of(enum sl_zil_generation zil, int layout, int vdevs, double memory_bytes,
			  int64_t working_set_bytes)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct sl_pool_env env = {.seed = 1, .working_set_bytes = working_set_bytes};
	struct sl_err err = {0};
	struct sl_box *box;

	cr_assert_not_null(rig);
	nas_init(&rig->nas);
	env.loop = rig->nas.loop;
	env.cpu = &rig->nas.cpu;
	box = &rig->box;
	box->zil = zil;
	box->data_layout = layout;
	box->data_vdevs = vdevs;
	box->data_flush = box->log_flush = SL_FLUSH_HONOURED;
	box->ashift = 12;
	box->recordsize_bytes = (double)RECORD;
	box->compress_ratio = 1;
	box->zfs_copy_bps = 1e15;
	box->nas_memory_bytes = memory_bytes;
	box->txg_timeout_ns = (double)(5 * SEC);
	box->n_data = 6;
	for (int i = 0; i < box->n_data; i++) {
		box->data[i] = disk_7200rpm();
	}
	cr_assert_eq(sl_pool_new(box, &env, &rig->pool, &err), 0, "%s", err.msg);
	rig->store = sl_pool_store(rig->pool);
	return rig;
}

/* Raidz2, 2.1, 10 GB of memory and 200 of data. */
static struct rig *rig_new(void)
{
	return rig_of(SL_ZIL_21, SL_LAYOUT_RAIDZ2, 1, 10e9, DATA);
}

static void rig_free(struct rig *rig)
{
	sl_pool_free(rig->pool);
	nas_fini(&rig->nas);
	free(rig);
}

static void next_read(struct sl_timer *timer, int64_t now_ns)
{
	struct rig *rig = sl_container_of(timer, struct rig, read.done);

	rig->end_ns = now_ns;
	rig->read.offset_bytes += rig->read.bytes;
	rig->left -= rig->read.bytes;
	if (rig->left > 0) {
		sl_store_submit(rig->store, now_ns, &rig->read);
	}
}

/* Reads `total` bytes of a file from `offset` on, one READ of `bytes` after the other. MB/s. */
static double stream(struct rig *rig, uint64_t file, int64_t offset, uint32_t bytes, int64_t total)
{
	int64_t start_ns = sl_loop_now(rig->nas.loop);

	rig->read = (struct sl_store_req){.done.fire = next_read,
					  .op = SL_STORE_READ,
					  .bytes = bytes,
					  .file = file,
					  .offset_bytes = offset};
	rig->left = total;
	sl_store_submit(rig->store, start_ns, &rig->read);
	run_all(rig->nas.loop);
	return (double)total * 1e3 / (double)(rig->end_ns - start_ns);
}

static struct sl_pool_stats stats_of(const struct rig *rig)
{
	struct sl_pool_stats stats;

	sl_pool_stats(rig->pool, sl_loop_now(rig->nas.loop), &stats);
	return stats;
}

/*
 * A10: six disks, raidz2: a record is four columns of 32 KiB, the next record lies behind it on the same
 * disks, so a stream is read at the rate of four media: 4 x 150 = 600 MB/s. A reader who waits for each READ
 * gets that less the start of the stream, whatever the size of his READs and the generation.
 */
Test(reader, a_stream_is_read_at_the_rate_of_the_data_disks)
{
	static const uint32_t sizes[] = {8192, 65536, 131072, 1048576};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int zil = SL_ZIL_2014; zil <= SL_ZIL_23; zil++) {
			struct rig *rig =
			    rig_of((enum sl_zil_generation)zil, SL_LAYOUT_RAIDZ2, 1, 10e9, DATA);
			double rate = stream(rig, 1, 0, sizes[i], 500 * MIB);

			cr_assert(rate > 0.85 * 600 && rate <= 600, "%u bytes, generation %d: %.0f MB/s",
				  (unsigned)sizes[i], zil, rate);
			rig_free(rig);
		}
	}
}

/* One READ of `bytes` at `offset`; ms. */
static double one(struct rig *rig, int64_t offset, uint32_t bytes)
{
	return (double)bytes / 1e3 / stream(rig, 1, offset, bytes, bytes);
}

/*
 * A random READ of 8 KiB takes a whole record, from four disks of which the last counts: a seek, the longest
 * of four waits for the platter (4/5 of a turn, 6.7 ms), 0.1 ms of the drive's electronics and 32 KiB at
 * 150 MB/s, 0.2 ms. Seeks within the first half of the stroke: 1 + 7.5 x E sqrt(3 d) = 1 + 7.5 x 0.65, 5.9
 * ms. 12.9 ms, 77/s.
 */
Test(reader, a_random_read_is_a_seek_and_a_rotation)
{
	struct rig *rig = rig_new();
	struct sl_rng rng;
	double sum_ms = 0, misses;

	sl_rng_init(&rng, 1, "offsets");
	for (int i = 0; i < 1000; i++) {
		sum_ms += one(rig, (int64_t)sl_rng_below(&rng, 1000000) * RECORD, 8192);
	}
	/* 7 of 200 GB are in memory; nothing was read ahead. */
	misses = (double)stats_of(rig).arc_misses;
	cr_assert_float_eq(misses, 965, 25, "%.0f", misses);
	cr_assert_eq(stats_of(rig).data.bytes_read, (int64_t)misses * RECORD);
	cr_assert_float_eq(sum_ms / misses, 13.0, 0.7, "%.2f ms", sum_ms / misses);
	rig_free(rig);
}

/* A READ of 1 MiB touches its eight records at once: one seek (at most 8.5 + 3.75 ms for half the stroke) and
 * one turn, not eight, and 1.75 ms for 1 MiB at 600 MB/s. */
Test(reader, a_read_touches_all_its_records_side_by_side)
{
	struct rig *rig = rig_new();
	double took_ms = one(rig, 1000 * RECORD, MIB);

	cr_assert_eq(stats_of(rig).data.bytes_read, MIB);
	cr_assert(took_ms > 1.75 && took_ms < 12.25 + 8.33 + 0.1 + 1.75, "%.2f ms", took_ms);
	rig_free(rig);
}

/* Two READs of the halves of a record, at the same time: one read of it, and both end together. */
Test(reader, a_record_on_its_way_is_read_once)
{
	struct rig *rig = rig_new(), other = {.store = rig->store};

	other.nas.loop = rig->nas.loop;
	for (int i = 0; i < 2; i++) {
		struct rig *reader = i ? &other : rig;

		reader->left = 64 << 10;
		reader->read = (struct sl_store_req){.done.fire = next_read,
						     .op = SL_STORE_READ,
						     .bytes = 64 << 10,
						     .file = 1,
						     .offset_bytes = 77 * RECORD + i * (64 << 10)};
		sl_store_submit(rig->store, 0, &reader->read);
	}
	run_all(rig->nas.loop);
	cr_assert_eq(stats_of(rig).data.bytes_read, RECORD);
	cr_assert_eq(rig->end_ns, other.end_ns);
	cr_assert_eq(stats_of(rig).arc_misses, 1);
	cr_assert_eq(stats_of(rig).arc_hits, 1);
	rig_free(rig);
}

/* What was read ahead is a hit, and is read once: of 100 MiB the first two READs miss. The reader is faster
 * than the disks, so the distance grows, up to 64 MiB. The second pass over a file larger than the ARC finds
 * nothing of the first. */
Test(reader, a_pass_finds_what_was_read_ahead_and_nothing_of_the_pass_before)
{
	struct rig *rig = rig_of(SL_ZIL_21, SL_LAYOUT_RAIDZ2, 1, 100e6, DATA);
	int64_t read;

	stream(rig, 1, 0, RECORD, 100 * MIB);
	cr_assert_eq(stats_of(rig).arc_misses, 2);
	cr_assert_eq(stats_of(rig).arc_hits, 800 - 2);
	read = stats_of(rig).data.bytes_read;
	cr_assert(read > 110 * MIB && read <= 164 * MIB, "%.1f MiB", (double)read / (double)MIB);
	stream(rig, 1, 0, RECORD, 100 * MIB);
	cr_assert_eq(stats_of(rig).arc_misses, 4);
	rig_free(rig);
}

/* What is read ahead waits in the queues of the disks, three requests at each at most, and joins there:
 * columns of 32 KiB become requests of up to 128 KiB (2014) or 1 MiB (since 0.8, on disks that rotate). */
Test(reader, what_is_read_ahead_joins_in_the_queues)
{
	for (int zil = SL_ZIL_2014; zil <= SL_ZIL_21; zil++) {
		struct rig *rig = rig_of((enum sl_zil_generation)zil, SL_LAYOUT_RAIDZ2, 1, 10e9, DATA);
		double mean;

		stream(rig, 1, 0, MIB, 500 * MIB);
		mean = (double)stats_of(rig).data.bytes_read / (double)stats_of(rig).data.reads / 1024;
		cr_assert(zil == SL_ZIL_2014 ? mean > 64 && mean <= 128 : mean > 256 && mean <= 1024,
			  "%.0f KiB", mean);
		rig_free(rig);
	}
}

/* Three mirrored pairs: a file lies on all of them by turns, 1 MiB and more on each (metaslab_aliquot), and
 * what is read ahead keeps them busy together. Each vdev reads a record from one side, the sides by turns: 3
 * x 150 MB/s at least, and at most 6 x 150. */
Test(reader, a_stream_runs_over_all_mirrors)
{
	struct rig *rig = rig_of(SL_ZIL_23, SL_LAYOUT_MIRROR, 3, 10e9, DATA);
	double rate = stream(rig, 1, 0, 1 << 20, 500 * MIB);

	cr_assert(rate > 0.7 * 450 && rate < 900, "%.0f MB/s", rate);
	rig_free(rig);
}

Test(reader, a_file_that_fits_into_memory_needs_no_disk)
{
	struct rig *rig = rig_of(SL_ZIL_21, SL_LAYOUT_RAIDZ2, 1, 10e9, INT64_C(5000000000));

	stream(rig, 1, 0, 1 << 20, 100 * MIB);
	cr_assert(rig->end_ns < US); /* the copy */
	cr_assert_eq(stats_of(rig).data.bytes_read, 0);
	rig_free(rig);
}
