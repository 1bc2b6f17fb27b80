/* What a hard disk gains by choosing: queued requests, zones, measured seeks, the track buffer, the cache's
 * sweep. */
#include "tests/unit/device/rig_disk.h"

#define MS INT64_C(1000000)
#define TERA INT64_C(1000000000000)

static struct sl_dev_spec nearline(void)
{
	return (struct sl_dev_spec){
	    .kind = SL_DEV_HDD,
	    .capacity_bytes = 2e12,
	    .rpm = 7200,
	    .seek_track_ns = 1e6,
	    .seek_avg_ns = 8.5e6,
	    .seek_full_ns = 16e6,
	    .media_bps = 175e6,
	    .media_inner_bps = 83e6,
	    .cache_bytes = 64 << 20,
	    .write_ack_ns = 0.2e6,
	    .write_bps = 150e6,
	    .link_bps = 600e6,
	    .command_ns = 0.1e6,
	    .ncq_depth = 32,
	    .read_segments = 16,
	    .flush_honoured = 1,
	};
}

static double random_reads(const struct sl_dev_spec *spec, int depth)
{
	struct rig *rig = malloc(sizeof(*rig));
	double rate;

	cr_assert_not_null(rig);
	rig_open(rig, spec);
	rig_random(rig, SL_DEV_READ, TERA, 4096, depth, 200);
	rate = rig_random(rig, SL_DEV_READ, TERA, 4096, depth, 1500);
	rig_close(rig);
	free(rig);
	return rate;
}

Test(hdd_queue, random_reads_gain_by_depth_only_where_the_drive_reorders)
{
	struct sl_dev_spec spec = nearline();
	double alone = random_reads(&spec, 1), deep = random_reads(&spec, 32), in_order;

	/* 1 / (mean seek within half the stroke, about 5.5 ms, + half a turn of 4.2 ms). */
	cr_assert(alone > 80 && alone < 110, "%g", alone);
	cr_assert(deep > 1.7 * alone && deep < 3.2 * alone, "%g of %g", deep, alone);
	spec.ncq_depth = 1;
	in_order = random_reads(&spec, 32);
	cr_assert(in_order < 1.1 * alone, "%g of %g", in_order, alone);
}

Test(hdd_queue, deeper_queues_never_lose)
{
	struct sl_dev_spec spec = nearline();
	double before = 0;

	for (int depth = 1; depth <= 32; depth *= 2) {
		double rate = random_reads(&spec, depth);

		cr_assert(rate > 0.98 * before, "depth %d: %g after %g", depth, rate, before);
		before = rate;
	}
}

/* MB/s of a sequential read of 64 MB at `offset`. */
static double sequential_rate(struct rig *rig, int64_t offset)
{
	int64_t start_ns = sl_loop_now(rig->loop);

	for (int i = 0; i < 64; i++) {
		rig_one(rig, SL_DEV_READ, offset + i * 1000000, 1000000);
	}
	return 64e9 / (double)(sl_loop_now(rig->loop) - start_ns);
}

Test(hdd_queue, the_outer_zone_is_the_fastest)
{
	struct sl_dev_spec spec = nearline();
	struct rig *rig = malloc(sizeof(*rig));
	double outer, middle, inner;

	rig_open(rig, &spec);
	outer = sequential_rate(rig, 0);
	middle = sequential_rate(rig, TERA * 8 / 10);
	inner = sequential_rate(rig, 2 * TERA - 100000000);
	cr_assert(outer > 150 && outer <= 175, "%g", outer);
	cr_assert(inner > 75 && inner <= 90, "%g", inner);
	cr_assert(middle < outer && middle > inner, "%g", middle);
	rig_close(rig);
	free(rig);
}

Test(hdd_queue, the_track_buffer_reads_on_while_idle)
{
	struct sl_dev_spec spec = nearline();
	struct rig *rig = malloc(sizeof(*rig));
	int64_t next, old, far;

	rig_open(rig, &spec);
	rig_one(rig, SL_DEV_READ, TERA, 4096);
	rig_pause(rig, 5 * MS);
	next = rig_one(rig, SL_DEV_READ, TERA + 4096, 4096);
	cr_assert_eq(next, 100000, "%lld", (long long)next); /* the controller alone */
	far = rig_one(rig, SL_DEV_READ, TERA / 2, 4096);
	cr_assert(far > 5 * MS);
	old = rig_one(rig, SL_DEV_READ, TERA, 4096); /* still in its segment */
	cr_assert_eq(old, 100000);
	/* What was overwritten is not served from there. */
	rig_one(rig, SL_DEV_WRITE, TERA, 4096);
	old = rig_one(rig, SL_DEV_READ, TERA, 4096);
	cr_assert(old > 1 * MS, "%lld", (long long)old);
	rig_close(rig);
	free(rig);
}

/* In 5 ms at some 130 MB/s it comes 650 kB far; the segment keeps that when the head is called elsewhere. */
Test(hdd_queue, what_was_read_on_is_kept_when_the_head_goes_elsewhere)
{
	struct sl_dev_spec spec = nearline();
	struct rig *rig = malloc(sizeof(*rig));

	rig_open(rig, &spec);
	rig_one(rig, SL_DEV_READ, TERA, 4096);
	rig_pause(rig, 5 * MS);
	cr_assert(rig_one(rig, SL_DEV_READ, TERA / 2, 4096) > 5 * MS);
	cr_assert_eq(rig_one(rig, SL_DEV_READ, TERA + 262144, 4096), 100000); /* the controller alone */
	cr_assert(rig_one(rig, SL_DEV_READ, TERA + 1048576, 4096) > 1 * MS);
	rig_close(rig);
	free(rig);
}

/* While a read of 2 MB goes on behind the one before (TERA is in a zone of about 130 MB/s: 15 ms) the head is
 * nowhere else: a read of another place, sent at the same time, ends a seek over a quarter of the stroke and
 * more later, however well both know where they want to go. */
Test(hdd_queue, a_mechanism_that_reads_on_serves_nobody_else)
{
	struct sl_dev_spec spec = nearline();
	struct rig *rig = malloc(sizeof(*rig));
	struct rig_op *on, *far;

	rig_open(rig, &spec);
	rig_one(rig, SL_DEV_READ, TERA, 4096);
	on = rig_send(rig, SL_DEV_READ, TERA + 4096, 2000000);
	far = rig_send(rig, SL_DEV_READ, TERA / 2, 4096);
	rig_drain(rig);
	cr_assert(on->done_ns - on->from_ns > 14 * MS && on->done_ns - on->from_ns < 17 * MS, "%lld",
		  (long long)(on->done_ns - on->from_ns));
	cr_assert(far->done_ns - on->done_ns > 6 * MS, "%lld", (long long)(far->done_ns - on->done_ns));
	rig_close(rig);
	free(rig);
}

/* A segment is 4 MiB (64 MiB / 16): after a pause it holds these and no more. The next 4 MB come from the
 * platter. */
Test(hdd_queue, the_track_buffer_reads_on_as_far_as_its_segment_goes)
{
	struct sl_dev_spec spec = nearline();
	struct rig *rig = malloc(sizeof(*rig));
	int64_t held, beyond;

	rig_open(rig, &spec);
	rig_one(rig, SL_DEV_READ, TERA, 4096);
	rig_pause(rig, 1000 * MS);
	held = rig_one(rig, SL_DEV_READ, TERA + 4096, 4 << 20);
	cr_assert_eq(held, 100000, "%lld", (long long)held);
	beyond = rig_one(rig, SL_DEV_READ, TERA + 4096 + (4 << 20), 4000000);
	cr_assert(beyond > 29 * MS && beyond < 45 * MS, "%lld", (long long)beyond); /* and up to a turn */
	rig_close(rig);
	free(rig);
}

/* Requests of 128 KiB, three of them in flight, as a pool reads ahead: the rate of the zone (175 MB/s). */
Test(hdd_queue, a_stream_of_queued_reads_runs_at_the_rate_of_the_medium)
{
	struct sl_dev_spec spec = nearline();
	struct rig *rig = malloc(sizeof(*rig));
	int64_t start_ns, sent = 0;
	double rate;

	rig_open(rig, &spec);
	rig_one(rig, SL_DEV_READ, 0, 4096);
	start_ns = sl_loop_now(rig->loop);
	while (sent < 1000) {
		while (rig->running < 3) {
			rig_send(rig, SL_DEV_READ, 4096 + sent++ * 131072, 131072);
		}
		cr_assert_eq(sl_loop_run_until(rig->loop, sl_loop_next_due(rig->loop), NULL), 0);
	}
	rig_drain(rig);
	rate = (double)sent * 131072e3 / (double)(sl_loop_now(rig->loop) - start_ns);
	cr_assert(rate > 0.97 * 172 && rate < 175, "%g MB/s", rate);
	rig_close(rig);
	free(rig);
}

Test(hdd_queue, a_measured_curve_replaces_the_three_figures)
{
	struct sl_dev_spec spec = nearline();
	double slow = random_reads(&spec, 1), fast;

	spec.n_seek_points = 2;
	spec.seek_points[0] = (struct sl_seek_point){0.0001, 0.3e6};
	spec.seek_points[1] = (struct sl_seek_point){1, 2e6};
	fast = random_reads(&spec, 1);
	/* Half a turn, about 1 ms of seek and 0.1 ms of the controller. */
	cr_assert(fast > 165 && fast < 205 && slow < 110, "%g %g", fast, slow);
}

Test(hdd_queue, a_full_write_cache_gains_by_its_sweep)
{
	struct sl_dev_spec spec = nearline();
	struct rig *rig = malloc(sizeof(*rig));
	double uncached, cached;

	rig_open(rig, &spec);
	uncached = rig_random(rig, SL_DEV_WRITE, TERA, 4096, 1, 500);
	rig_close(rig);
	spec.write_cache = 1;
	spec.cache_bytes = 4 << 20; /* 1024 writes */
	rig_open(rig, &spec);
	rig_random(rig, SL_DEV_WRITE, TERA, 4096, 1, 1100);
	cached = rig_random(rig, SL_DEV_WRITE, TERA, 4096, 1, 1000);
	cr_assert(cached > 1.8 * uncached && cached < 5 * uncached, "%g of %g", cached, uncached);
	rig_close(rig);
	free(rig);
}

Test(hdd_queue, a_flush_is_answered_at_once_where_the_disk_ignores_it)
{
	struct sl_dev_spec spec = nearline();
	struct rig *rig = malloc(sizeof(*rig));

	spec.write_cache = 1;
	spec.flush_honoured = 0;
	rig_open(rig, &spec);
	rig_one(rig, SL_DEV_WRITE, TERA, 4096);
	cr_assert_eq(rig_one(rig, SL_DEV_FLUSH, 0, 0), 0);
	rig_close(rig);
	free(rig);
}

/* On SATA the writes are held until the flush is done, and the next flush goes before them: it promises
 * nothing of writes that were not done when it was asked for. One that comes when they are in the cache waits
 * for 200 places, each some milliseconds apart. */
Test(hdd_queue, a_flush_does_not_wait_for_what_comes_after_it)
{
	struct sl_dev_spec spec = nearline();
	struct rig *rig = malloc(sizeof(*rig));
	struct rig_op *flush, *next, *late;

	spec.write_cache = 1;
	rig_open(rig, &spec);
	rig_send(rig, SL_DEV_WRITE, TERA / 8, 4096);
	rig_pause(rig, MS);
	flush = rig_send(rig, SL_DEV_FLUSH, 0, 0);
	for (int i = 0; i < 200; i++) {
		rig_send(rig, SL_DEV_WRITE, TERA / 8 + (i + 1) * 8000000000, 4096);
	}
	next = rig_send(rig, SL_DEV_FLUSH, 0, 0);
	rig_pause(rig, 100 * MS);
	late = rig_send(rig, SL_DEV_FLUSH, 0, 0);
	rig_drain(rig);
	cr_assert(flush->done_ns < 60 * MS, "%lld", (long long)flush->done_ns);
	cr_assert(next->done_ns < 61 * MS, "%lld", (long long)next->done_ns);
	cr_assert(late->done_ns > 200 * MS, "%lld", (long long)late->done_ns);
	rig_close(rig);
	free(rig);
}

Test(hdd_queue, the_same_seed_gives_the_same_bits)
{
	struct sl_dev_spec spec = nearline();
	int64_t ends[2];

	for (int i = 0; i < 2; i++) {
		struct rig *rig = malloc(sizeof(*rig));

		rig_open(rig, &spec);
		rig_random(rig, SL_DEV_WRITE, TERA, 16384, 16, 500);
		ends[i] = sl_loop_now(rig->loop);
		rig_close(rig);
		free(rig);
	}
	cr_assert_eq(ends[0], ends[1]);
}
