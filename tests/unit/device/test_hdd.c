/* The hard disk: seeks, the turning platter, the write cache and its destaging. */
#include "sim/base/rng.h"
#include "sim/device/media.h"
#include "tests/unit/device/lib.h"

#define TURN (10 * MS)
#define TRACK INT64_C(1000000)      /* passes under the head in one turn */
#define TERA INT64_C(1000000000000) /* the whole stroke */
#define TRANSFER_4K 40960           /* at 100 MB/s */

/* The seek over `distance`: the shortest access among targets all around the track, which waits for nothing.
 */
static int64_t seek_of(int64_t distance)
{
	struct sl_dev_spec spec = disk_6000rpm(false);
	int64_t least = INT64_MAX;

	for (int i = 0; i < 100; i++) {
		struct bench bench = bench_new(&spec);
		int64_t took = io(&bench, SL_DEV_READ, distance + i * TRACK / 100, 0);

		least = took < least ? took : least;
		bench_free(&bench);
	}
	return least;
}

Test(hdd, seeks_follow_the_square_root_to_a_third_of_the_stroke_and_a_line_from_there)
{
	static const struct {
		int64_t distance, seek_ns;
	} points[] = {
	    {TERA / 12, 4500 * US}, /* 1 + 7 x sqrt(1/4) */
	    {TERA / 3, 8 * MS},     /* the average of the data sheet */
	    {TERA * 2 / 3, 12 * MS},
	    {TERA - TRACK, 16 * MS},
	};

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		int64_t seek = seek_of(points[i].distance);

		cr_assert(llabs(seek - points[i].seek_ns) <= TURN / 100, "point %zu: %lld", i,
			  (long long)seek);
	}
}

Test(hdd, a_small_random_access_takes_the_seek_and_half_a_turn_on_average)
{
	struct sl_dev_spec spec = disk_6000rpm(false);
	struct bench bench = bench_new(&spec);
	struct sl_rng rng;
	double mean_ns;

	/* Always a third of the stroke away, at any angle. */
	sl_rng_init(&rng, 1, "angles");
	for (int i = 0; i < 2000; i++) {
		io(&bench, SL_DEV_READ, (i % 2 ? 0 : TERA / 3) + (int64_t)sl_rng_below(&rng, TRACK), 0);
	}
	mean_ns = (double)sl_loop_now(bench.loop) / 2000;
	cr_assert_float_eq(mean_ns, 13e6, 0.3e6, "%f", mean_ns);
	cr_assert_eq(bench.disk->stats.busy_ns, sl_loop_now(bench.loop));
	bench_free(&bench);
}

Test(hdd, without_a_cache_a_sequential_synchronous_stream_pays_one_turn_per_write)
{
	struct sl_dev_spec spec = disk_6000rpm(false);
	struct bench bench = bench_new(&spec);

	io(&bench, SL_DEV_WRITE, 0, 4096);
	for (int64_t i = 1; i < 50; i++) {
		int64_t took, expected = TURN - 100 * US + TRANSFER_4K;

		pause_for(&bench, 100 * US); /* the next sector has passed the head */
		took = io(&bench, SL_DEV_WRITE, i * 4096, 4096);
		cr_assert(llabs(took - expected) <= 2, "write %d: %lld", (int)i, (long long)took);
	}
	bench_free(&bench);
}

Test(hdd, a_stream_without_pauses_loses_no_turn)
{
	struct sl_dev_spec spec = disk_6000rpm(false);
	struct bench bench = bench_new(&spec);
	struct request requests[50];
	int64_t apart;

	for (int i = 0; i < 50; i++) {
		request_submit(&bench, &requests[i], SL_DEV_WRITE, i * 4096, 4096);
	}
	run_all(bench.loop);
	/* A rounding of 1 ns to the wrong side of the sector would cost a turn. */
	apart = requests[49].done_ns - requests[0].done_ns;
	cr_assert(apart < 49 * TRANSFER_4K + TURN / 2, "%lld", (long long)apart);
	bench_free(&bench);
}

Test(hdd, the_cache_acknowledges_early_and_a_flush_waits_for_the_platter)
{
	struct sl_dev_spec spec = disk_6000rpm(true);
	struct bench bench = bench_new(&spec);
	int64_t ack_ns = 200 * US + 32 * US; /* overhead, 4 KiB at 128 MB/s */

	cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), 0);
	cr_assert_eq(io(&bench, SL_DEV_WRITE, TERA / 2, 4096), ack_ns);
	/* The seek over half the stroke (10 ms) began when the write came; then at most a turn, and the
	 * transfer. */
	io(&bench, SL_DEV_FLUSH, 0, 0);
	cr_assert(sl_loop_now(bench.loop) >= 10 * MS + TRANSFER_4K);
	cr_assert(sl_loop_now(bench.loop) <= 10 * MS + TURN + TRANSFER_4K);
	cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), 0);
	bench_free(&bench);
}

Test(hdd, extents_of_one_track_are_destaged_in_one_turn)
{
	struct sl_dev_spec spec = disk_6000rpm(true);
	struct bench bench = bench_new(&spec);

	/* The first reaches the track, the others lie 100 KB apart on it. */
	for (int i = 0; i < 5; i++) {
		io(&bench, SL_DEV_WRITE, TERA / 2 + i * (4096 + 100000), 4096);
	}
	io(&bench, SL_DEV_FLUSH, 0, 0);
	cr_assert(sl_loop_now(bench.loop) <= 10 * MS + 2 * TURN, "%lld", (long long)sl_loop_now(bench.loop));
	bench_free(&bench);
}

Test(hdd, a_full_cache_takes_random_writes_no_faster_than_they_are_destaged)
{
	struct sl_dev_spec spec = disk_6000rpm(true);
	struct bench bench = bench_new(&spec);
	struct sl_rng rng;
	int64_t full_ns = 0;

	sl_rng_init(&rng, 1, "offsets");
	for (int i = 0; i < 300; i++) {
		int64_t took =
		    io(&bench, SL_DEV_WRITE, (int64_t)sl_rng_below(&rng, TERA / 4096) * 4096, 4096);

		if (i < 16) { /* 16 x 4 KiB fit; what is destaged meanwhile makes room */
			cr_assert_eq(took, 232 * US, "write %d", i);
		}
		full_ns = i < 100 ? sl_loop_now(bench.loop) : full_ns;
	}
	/* Sorted among 16: shorter seeks than the 13 ms of a random access, but far from none. */
	full_ns = (sl_loop_now(bench.loop) - full_ns) / 200;
	cr_assert(full_ns > 3 * MS && full_ns < 11 * MS, "%lld", (long long)full_ns);
	bench_free(&bench);
}

Test(hdd, fua_goes_past_the_cache)
{
	struct sl_dev_spec spec = disk_6000rpm(true);
	struct bench bench = bench_new(&spec);
	struct request request = {.req = {.done.fire = request_done,
					  .op = SL_DEV_WRITE,
					  .fua = true,
					  .offset_bytes = TERA / 2,
					  .bytes = 4096}};

	sl_dev_submit(bench.disk, 0, &request.req);
	run_all(bench.loop);
	cr_assert(request.done_ns > 8 * MS, "%lld", (long long)request.done_ns);
	cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), 0);
	bench_free(&bench);
}

Test(hdd, a_read_goes_before_destaging_and_delays_it)
{
	struct sl_dev_spec spec = disk_6000rpm(true);
	struct bench plain = bench_new(&spec), read = bench_new(&spec);
	int64_t read_ns;

	/* The first extent is on its way when the read comes, the second waits for it. */
	for (int i = 1; i <= 2; i++) {
		io(&plain, SL_DEV_WRITE, TERA / 4 * i, 4096);
		io(&read, SL_DEV_WRITE, TERA / 4 * i, 4096);
	}
	io(&plain, SL_DEV_FLUSH, 0, 0);
	io(&read, SL_DEV_READ, TERA / 3, 4096);
	read_ns = sl_loop_now(read.loop);
	cr_assert(read_ns < sl_loop_now(plain.loop) + 8 * MS);
	io(&read, SL_DEV_FLUSH, 0, 0);
	cr_assert(sl_loop_now(read.loop) > read_ns + 4 * MS);
	cr_assert(sl_loop_now(read.loop) > sl_loop_now(plain.loop) + 2 * MS);
	bench_free(&plain);
	bench_free(&read);
}

/* Sectors of 4 KiB: half of one is read, comes around again after a turn of 10 ms, and is written; so is one
 * and a half. Whole ones are just written. */
Test(hdd, a_part_of_a_sector_costs_a_turn)
{
	static const struct {
		int64_t offset, bytes;
		bool turn;
	} rows[] = {{4096, 4096, false}, {4096, 2048, true}, {2048, 4096, true}, {8192, 12288, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t took[2];

		for (int big = 0; big <= 1; big++) {
			struct sl_dev_spec spec = disk_6000rpm(false);
			struct bench bench;

			spec.sector_bytes = big ? 4096 : 512;
			bench = bench_new(&spec);
			took[big] = io(&bench, SL_DEV_WRITE, rows[i].offset, rows[i].bytes);
			bench_free(&bench);
		}
		cr_assert_eq(took[1] - took[0], rows[i].turn ? TURN : 0, "row %zu: %lld", i,
			     (long long)(took[1] - took[0]));
	}
}

/* All tracks of all zones start at one angle: from time 0 the head waits for the first sector of each zone
 * equally long, and for one a quarter of the track further a quarter of a turn more. */
Test(hdd, tracks_of_all_zones_start_at_the_same_angle)
{
	struct sl_dev_spec spec = disk_6000rpm(false);
	struct sl_media media;
	int64_t start, quarter;

	spec.media_inner_bps = 50e6;
	sl_media_init(&media, &spec);
	media.phase_ns = TURN / 2;
	cr_assert(media.n_zones > 1);
	for (int i = 0; i < media.n_zones; i++) {
		start = media.zones[i].start_bytes;
		quarter = start + media.zones[i].track_bytes / 4;
		cr_expect_eq(sl_media_position_ns(&media, 0, start, start, false), TURN / 2, "zone %d", i);
		cr_expect(llabs(sl_media_position_ns(&media, 0, quarter, quarter, false) - 3 * TURN / 4) <
			      100,
			  "zone %d", i);
	}
}
