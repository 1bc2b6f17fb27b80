/* The SSD with a flash translation layer behind its buffer, through the disk seam. */
#include "tests/unit/device/lib.h"

#include <errno.h>
#include <math.h>

#include "sim/base/rng.h"
#include "sim/device/ssd.h"

/* 64 MB usable of 80 MiB of NAND; a die programs 16 KiB in 1 ms. */
static struct sl_dev_spec flash(bool plp)
{
	return (struct sl_dev_spec){
	    .kind = SL_DEV_SSD,
	    .capacity_bytes = 64e6,
	    .link_bps = 600e6,
	    .read_ns = 50e3,
	    .write_ns = 65e3,
	    .read_bps = 500e6,
	    .ssd_write_bps = 400e6,
	    .plp = plp,
	    .flush_ns = 50e3,
	    .buffer_bytes = 1 << 20,
	    .endurance_bytes = 1e9,
	    .raw_bytes = 80 << 20,
	    .die_bytes = 20 << 20,
	    .channels = 2,
	    .channel_bps = 200e6,
	    .superblock_bytes = 256 << 10,
	    .program_bytes = 16 << 10,
	    .program_ns = 1e6,
	    .page_read_ns = 75e3,
	    .erase_ns = 3e6,
	    .ssd_queue_depth = 32,
	    .map_extent_bytes = 65536,
	};
}

Test(ftl_ssd, the_buffer_absorbs_a_burst)
{
	struct sl_dev_spec spec = flash(true);
	struct bench bench = bench_new(&spec);

	for (int i = 0; i < 16; i++) {
		cr_assert_eq(io(&bench, SL_DEV_WRITE, i * 32768, 32768), 65000 + 54613);
	}
	bench_free(&bench);
}

Test(ftl_ssd, a_long_stream_is_as_fast_as_the_dies)
{
	struct sl_dev_spec spec = flash(true);
	struct bench bench = bench_new(&spec);
	int64_t start_ns = sl_loop_now(bench.loop), took_ns;

	for (int64_t at = 0; at < 60000; at += 60) {
		io(&bench, SL_DEV_WRITE, at * 1000 / 4096 * 4096, 60 << 10);
	}
	took_ns = sl_loop_now(bench.loop) - start_ns;
	/* Four dies, 16 KiB per ms each: 65.5 MB/s, less than path, channels and link. */
	cr_assert(fabs((double)took_ns / (61.44e6 / 65.536e6 * 1e9) - 1) < 0.1, "%lld", (long long)took_ns);
	bench_free(&bench);
}

Test(ftl_ssd, a_flush_programs_what_is_not_protected)
{
	struct sl_dev_spec safe = flash(true), volatile_cache = flash(false);
	struct bench a = bench_new(&safe), b = bench_new(&volatile_cache);
	struct sl_ssd_report report;

	io(&a, SL_DEV_WRITE, 0, 4096);
	cr_assert_eq(io(&a, SL_DEV_FLUSH, 0, 0), 50000);
	cr_assert_eq(io(&b, SL_DEV_FLUSH, 0, 0), 50000);
	io(&b, SL_DEV_WRITE, 0, 4096);
	/* A unit over path and channel, 1 ms of program: the 50 us are less than that. */
	cr_assert_eq(io(&b, SL_DEV_FLUSH, 0, 0), 4 * 10240 + 4 * 20480 + 1000000);
	cr_assert(sl_ssd_report(b.disk, &report));
	cr_assert_eq(report.write_amplification, 4);
	cr_assert(sl_ssd_report(a.disk, &report));
	cr_assert_eq(report.write_amplification, 1);
	bench_free(&a);
	bench_free(&b);
}

/* NVMe: the drive itself does it. */
Test(ftl_ssd, fua_costs_a_flush_without_protection)
{
	struct sl_dev_spec safe = flash(true), volatile_cache = flash(false);
	int64_t took_ns[2];

	safe.interface = volatile_cache.interface = SL_IF_NVME;
	for (int i = 0; i < 2; i++) {
		struct bench bench = bench_new(i == 0 ? &safe : &volatile_cache);
		struct request request = {
		    .req = {.done.fire = request_done, .op = SL_DEV_WRITE, .bytes = 4096, .fua = true}};

		sl_dev_submit(bench.disk, 0, &request.req);
		run_all(bench.loop);
		took_ns[i] = request.done_ns;
		bench_free(&bench);
	}
	cr_assert_eq(took_ns[0], 65000 + 6827);
	cr_assert(took_ns[1] > took_ns[0] + 1000000 + 50000, "%lld", (long long)took_ns[1]);
}

Test(ftl_ssd, flushes_have_two_times)
{
	struct sl_dev_spec spec = flash(true);
	struct bench bench;
	int slow = 0;

	spec.flush_slow_ns = 1e6;
	spec.flush_slow_share = 0.3;
	bench = bench_new(&spec);
	for (int i = 0; i < 2000; i++) {
		int64_t took_ns = io(&bench, SL_DEV_FLUSH, 0, 0);

		cr_assert(took_ns == 50000 || took_ns == 1000000);
		slow += took_ns == 1000000;
	}
	cr_assert(slow > 540 && slow < 660, "%d of 2000", slow);
	bench_free(&bench);
}

Test(ftl_ssd, beyond_the_queue_commands_wait)
{
	struct sl_dev_spec spec = flash(true);
	struct request requests[3];
	struct bench bench;

	spec.ssd_queue_depth = 2;
	bench = bench_new(&spec);
	for (int i = 0; i < 3; i++) {
		request_submit(&bench, &requests[i], SL_DEV_WRITE, i * 4096, 4096);
	}
	run_all(bench.loop);
	cr_assert_eq(requests[0].done_ns, 6827 + 65000);
	cr_assert_eq(requests[1].done_ns, 2 * 6827 + 65000);
	cr_assert_eq(requests[2].done_ns, requests[0].done_ns + 6827 + 65000);
	bench_free(&bench);
}

Test(ftl_ssd, a_full_drive_writes_more_than_it_is_given)
{
	struct sl_dev_spec spec = flash(true);
	struct bench bench = bench_new(&spec);
	struct sl_err err = {0};
	struct sl_ssd_report report;
	struct sl_rng rng;

	cr_assert_eq(sl_ssd_prepare(bench.disk, SL_SSD_STEADY, 1, NULL, &err), 0, "%s", err.msg);
	cr_assert(sl_ssd_report(bench.disk, &report));
	cr_assert_eq(report.used_bytes, 64000000 / 4096 * 4096);
	cr_assert_eq(report.write_amplification, 1);
	sl_rng_init(&rng, 1, "test");
	for (int i = 0; i < 15625; i++) {
		/* Without a pause: what collects in the idle time costs as much, but shows elsewhere. */
		io(&bench, SL_DEV_WRITE, (int64_t)sl_rng_below(&rng, 15625) * 4096, 4096);
	}
	cr_assert(sl_ssd_report(bench.disk, &report));
	cr_assert(report.write_amplification > 1.7 && report.write_amplification < 3, "%g",
		  report.write_amplification);
	cr_assert_float_eq(report.endurance_used, 0.064, 1e-6);
	cr_assert(report.wear_max >= report.wear_mean && report.erases > 0);
	sl_ssd_trim(bench.disk, 0, 32000000);
	cr_assert(sl_ssd_report(bench.disk, &report));
	cr_assert_eq(report.used_bytes, 64000000 / 4096 * 4096 - 32000000 / 4096 * 4096);
	bench_free(&bench);
}

Test(ftl_ssd, without_nand_figures_it_never_ages)
{
	struct sl_dev_spec spec = flash(true);
	struct sl_ssd_load load = {.duration_ns = 1000000000};
	struct sl_ssd_report report;
	struct sl_ssd_curve curve;
	struct sl_err err = {0};
	struct bench bench;

	spec.raw_bytes = 0;
	bench = bench_new(&spec);
	io(&bench, SL_DEV_WRITE, 0, 4096);
	cr_assert_eq(sl_ssd_prepare(bench.disk, SL_SSD_FULL, 1, NULL, &err), 0);
	cr_assert(sl_ssd_report(bench.disk, &report));
	cr_assert(!report.has_ftl && report.write_amplification == 1 && report.bytes_written == 4096);
	cr_assert_eq(sl_ssd_saturate(&spec, &load, &curve, &err), -EINVAL);
	bench_free(&bench);
}

Test(ftl_ssd, contradictory_figures_are_refused)
{
	struct sl_loop *loop = sl_loop_new_virtual();

	for (int i = 0; i < 3; i++) {
		struct sl_dev_spec spec = flash(true);
		struct sl_dev *disk = NULL;
		struct sl_err err = {0};

		if (i == 0) {
			spec.raw_bytes = 60e6;
		} else if (i == 1) {
			spec.raw_bytes = 65e6;
		} else {
			spec.die_bytes = 1 << 20;
		}
		cr_assert_eq(sl_dev_new(&spec, loop, 1, "d", &disk, &err), -EINVAL, "case %d", i);
		cr_assert(err.msg[0] != '\0' && !disk);
	}
	sl_loop_free(loop);
}
