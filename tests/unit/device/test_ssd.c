/* The SSD: latency, link, write buffer, and what a flush costs with and without power-loss protection. */
#include <errno.h>

#include "sim/device/iops.h"
#include "sim/device/ssd.h"
#include "tests/unit/device/lib.h"

/* The figures of a DC S3500, and the same without its capacitors. */
static struct sl_dev_spec s3500(bool plp)
{
	return (struct sl_dev_spec){
	    .kind = SL_DEV_SSD,
	    .capacity_bytes = 80e9,
	    .link_bps = 600e6,
	    .read_ns = 50e3,
	    .write_ns = 65e3,
	    .read_bps = 340e6,
	    .ssd_write_bps = 100e6,
	    .plp = plp,
	    .flush_ns = 50e3,
	    .buffer_bytes = 8 << 20,
	};
}

Test(ssd, one_request_takes_its_latency_and_its_transfer)
{
	struct sl_dev_spec spec = s3500(true);
	struct bench bench = bench_new(&spec);

	cr_assert_eq(io(&bench, SL_DEV_WRITE, 0, 4096), 65000 + 6827); /* 4096 B at 600 MB/s */
	cr_assert_eq(io(&bench, SL_DEV_READ, 0, 4096), 50000 + 12047); /* at 340 MB/s */
	cr_assert_eq(io(&bench, SL_DEV_READ, 0, 131072), 50000 + 385506);
	cr_assert_eq(bench.disk->stats.writes, 1);
	cr_assert_eq(bench.disk->stats.reads, 2);
	cr_assert_eq(bench.disk->stats.bytes_read, 4096 + 131072);
	bench_free(&bench);
}

Test(ssd, latencies_overlap_the_link_does_not)
{
	struct sl_dev_spec spec = s3500(true);
	struct bench bench = bench_new(&spec);
	struct request a, b, c;

	request_submit(&bench, &a, SL_DEV_WRITE, 0, 65536);
	request_submit(&bench, &b, SL_DEV_WRITE, 0, 65536);
	request_submit(&bench, &c, SL_DEV_WRITE, 0, 65536);
	run_all(bench.loop);
	cr_assert_eq(a.done_ns, 109227 + 65000);
	cr_assert_eq(b.done_ns, 2 * 109227 + 65000);
	cr_assert_eq(c.done_ns, 3 * 109227 + 65000);
	cr_assert_eq(bench.disk->stats.busy_ns, c.done_ns);
	bench_free(&bench);
}

Test(ssd, with_power_loss_protection_a_flush_is_a_command)
{
	struct sl_dev_spec spec = s3500(true);
	struct bench bench = bench_new(&spec);

	cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), 50000);
	io(&bench, SL_DEV_WRITE, 0, MIB);
	cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), 50000);
	bench_free(&bench);
}

Test(ssd, without_it_a_flush_waits_until_the_buffer_is_empty)
{
	struct sl_dev_spec spec = s3500(false);
	struct bench bench = bench_new(&spec);
	int64_t written_ns, drained_ns = 10485760; /* 1 MiB at 100 MB/s */

	written_ns = io(&bench, SL_DEV_WRITE, 0, MIB);
	cr_assert_eq(written_ns, 1747627 + 65000);
	cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), drained_ns - written_ns + 50000);
	cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), 50000);
	bench_free(&bench);
}

/*
 * By hand: of a flush of 2 ms 0.7 ms are a program. 4 KiB are in the buffer after 6827 + 65000 ns: the flush
 * takes the 2 ms. 4 MiB reach the buffer in 6990507 ns, as they would the flash in 41943040: they are
 * programmed by then, and 1.3 ms follow. With nothing written since, a flush is a command of 65 us. With
 * capacitors all three take 2 ms.
 */
Test(ssd, a_flush_takes_what_is_in_the_buffer)
{
	static const int64_t size[] = {4096, INT64_C(4) << 20, 0};
	static const int64_t bare_ns[] = {2000000, 41943040 - (6990507 + 65000) + 1300000, 65000};

	for (int plp = 0; plp < 2; plp++) {
		struct sl_dev_spec spec = s3500(plp);

		spec.flush_ns = 2e6;
		spec.program_ns = 0.7e6;
		for (int i = 0; i < 3; i++) {
			struct bench bench = bench_new(&spec);
			int64_t took_ns;

			if (size[i] > 0) {
				io(&bench, SL_DEV_WRITE, 0, size[i]);
			}
			took_ns = io(&bench, SL_DEV_FLUSH, 0, 0);
			cr_assert_eq(took_ns, plp ? 2000000 : bare_ns[i], "%d: %lld", i, (long long)took_ns);
			bench_free(&bench);
		}
	}
}

/* 1 MiB is in the buffer after 1747627 + 65000 ns, and programmed after 10485760. The kernel makes a write
 * and a flush (50 us) of it on SATA; on NVMe the drive does it, with capacitors at no cost. */
Test(ssd, a_write_with_fua)
{
	static const struct {
		enum sl_interface interface;
		bool plp;
		int64_t done_ns;
		uint64_t flushes;
	} cases[] = {{SL_IF_SATA, true, 1747627 + 65000 + 50000, 1},
		     {SL_IF_SATA, false, 10485760 + 50000, 1},
		     {SL_IF_NVME, true, 1747627 + 65000, 0},
		     {SL_IF_NVME, false, 10485760 + 50000, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_dev_spec spec = s3500(cases[i].plp);
		struct bench bench;
		struct request request = {
		    .req = {.done.fire = request_done, .op = SL_DEV_WRITE, .fua = true, .bytes = MIB}};

		spec.interface = cases[i].interface;
		bench = bench_new(&spec);
		sl_dev_submit(bench.disk, 0, &request.req);
		run_all(bench.loop);
		cr_assert_eq(request.done_ns, cases[i].done_ns, "case %zu: %lld", i,
			     (long long)request.done_ns);
		cr_assert_eq(bench.disk->stats.flushes, cases[i].flushes);
		bench_free(&bench);
	}
}

Test(ssd, a_burst_goes_at_link_rate_and_a_stream_at_the_rate_of_the_flash)
{
	struct sl_dev_spec spec = s3500(true);
	struct bench bench = bench_new(&spec);
	int64_t first_ns, last_ns = 0;

	first_ns = io(&bench, SL_DEV_WRITE, 0, 131072);
	for (int i = 1; i < 512; i++) {
		last_ns = io(&bench, SL_DEV_WRITE, i * 131072, 131072);
	}
	cr_assert_eq(first_ns, 218453 + 65000);
	cr_assert_eq(last_ns, 1310720); /* 128 KiB at 100 MB/s */
	/* 64 MiB at 100 MB/s, but for the 8 MiB that are still in the buffer. */
	cr_assert_eq(sl_loop_now(bench.loop), 671088640 - 83886080 + 65000);
	bench_free(&bench);
}

Test(ssd, an_idle_second_empties_the_buffer)
{
	struct sl_dev_spec spec = s3500(true);
	struct bench bench = bench_new(&spec);

	for (int i = 0; i < 512; i++) {
		io(&bench, SL_DEV_WRITE, i * 131072, 131072);
	}
	pause_for(&bench, SEC);
	cr_assert_eq(io(&bench, SL_DEV_WRITE, 0, 131072), 218453 + 65000);
	bench_free(&bench);
}

Test(ssd, figures_that_must_be_known_are_asked_for)
{
	struct sl_dev_spec spec = {.kind = SL_DEV_SSD, .link_bps = 1, .read_bps = 1};
	struct sl_loop *loop = sl_loop_new_virtual();
	struct sl_dev *disk = NULL;
	struct sl_err err = {0};

	cr_assert(sl_dev_new(&spec, loop, 1, "log0", &disk, &err) < 0);
	cr_assert_str_eq(err.msg, "disk log0: read_rate, write_rate and link_rate must be known");
	cr_assert_null(disk);
	spec.kind = SL_DEV_HDD;
	cr_assert(sl_dev_new(&spec, loop, 1, "data0", &disk, &err) < 0);
	cr_assert_str_eq(err.msg, "disk data0: rpm, media_rate and capacity must be known");
	sl_loop_free(loop);
}

Test(ssd, the_null_disk_takes_no_time_but_completes_later)
{
	struct sl_dev_spec spec = {.kind = SL_DEV_NULL};
	struct bench bench = bench_new(&spec);

	cr_assert_eq(io(&bench, SL_DEV_WRITE, 0, MIB), 0);
	cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), 0);
	cr_assert_eq(bench.disk->stats.flushes, 1);
	sl_dev_free(NULL);
	bench_free(&bench);
}

/* Random 4 KiB reads a second of a drive of 16 dies that answers in 50 us (and 8192 ns on the link), 75,000
 * at most. */
static double reads_per_second(int depth)
{
	struct sl_dev_spec spec = s3500(true);
	struct sl_iops_load load = {
	    .block_bytes = 4096, .depth = depth, .duration_ns = SEC, .requests = UINT64_MAX, .seed = 1};
	struct sl_err err = {0};
	double rate = 0;

	spec.read_bps = 500e6;
	spec.capacity_bytes = 16 * (double)(INT64_C(8) << 30);
	spec.die_bytes = (double)(INT64_C(8) << 30);
	spec.page_read_ns = 75e3;
	spec.read_iops = 75000;
	cr_assert_eq(sl_dev_iops(&spec, &load, &rate, &err), 0, "%s", err.msg);
	return rate;
}

/*
 * By hand: one reader: 1 / 58.2 us = 17,183 a second. Four: they would be four times as many, but of 16 dies
 * one that another read has is met now and then, 16 x 4 / (16 + 3) = 3.37 at a time at most: from 57,900
 * (times at random) to 68,700 (none ever met). 32: the controller's 75,000.
 */
Test(ssd, reads_meet_on_dies_and_at_the_controller)
{
	double four = reads_per_second(4);

	cr_assert_float_eq(reads_per_second(1), 17183, 20);
	cr_assert(four > 57000 && four < 66500, "%f", four);
	cr_assert_float_eq(reads_per_second(32), 75000, 100);
}

/* Large random reads of few dies are slower than a stream, which is read ahead: eight units of 16 KiB on 2
 * dies are sensed in at least 4 x 50 us, one of them within the latency: 50 + 262 + 150 us or more; then 50 +
 * 262. */
Test(ssd, a_large_random_read_waits_for_its_dies)
{
	struct sl_dev_spec spec = s3500(true);
	struct bench bench;
	int64_t random_ns;

	spec.read_bps = 500e6;
	spec.die_bytes = 40e9;
	spec.page_read_ns = 75e3;
	bench = bench_new(&spec);
	random_ns = io(&bench, SL_DEV_READ, 1 << 20, 131072);
	cr_assert(random_ns >= 50000 + 262144 + 150000, "%lld", (long long)random_ns);
	cr_assert_eq(io(&bench, SL_DEV_READ, (1 << 20) + 131072, 131072), 50000 + 262144);
	bench_free(&bench);
}

Test(ssd, what_is_no_ssd_has_no_report_and_is_never_full)
{
	struct sl_dev_spec disk = disk_6000rpm(true);
	struct bench bench = bench_new(&disk);
	struct sl_ssd_report report;
	struct sl_err err = {0};

	cr_assert(!sl_ssd_report(bench.disk, &report));
	cr_assert_eq(sl_ssd_prepare(bench.disk, SL_SSD_FULL, 1, NULL, &err), -EINVAL);
	cr_assert_str_eq(err.msg, "only SSDs are fresh, full or steady");
	sl_ssd_trim(bench.disk, 0, 4096); /* nothing happens */
	bench_free(&bench);
}
