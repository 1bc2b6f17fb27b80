/* What a flash translation layer must obey: write amplification, scaling, determinism. */
#include "tests/sim/ssd_lib.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/device/ftl.h"

/* Lambert's W, the branch through 0, for -1/e < z < 0. */
static double lambert(double z)
{
	double w = z;

	for (int i = 0; i < 200; i++) {
		w -= (w * exp(w) - z) / (exp(w) * (w + 1));
	}
	return w;
}

/* Xiang and Kurkoski, arXiv 1110.4245: greedy collection, uniform writes. */
static double formula(double alpha)
{
	return alpha / (alpha + lambert(-alpha * exp(-alpha)));
}

static double simulated(double fill)
{
	struct sl_ftl_config config = {
	    .dies = 1,
	    .channels = 1,
	    .superblocks = 2048,
	    .superblock_pages = 256,
	    .unit_pages = 4,
	    .buffer_units = 64,
	    .pool_low = 2,
	    .pool_high = 2,
	    .map_extent_pages = 1,
	};
	struct sl_ftl_counters n;
	struct sl_ftl *ftl = NULL;
	struct sl_err err = {0};

	config.logical_pages = (int64_t)(fill * 2048 * 256);
	cr_assert_eq(sl_ftl_new(&config, &ftl, &err), 0, "%s", err.msg);
	sl_ftl_fill(ftl, 0, config.logical_pages);
	sl_ftl_churn(ftl, 1, (uint32_t)config.logical_pages, 5 * config.logical_pages, NULL);
	sl_ftl_forget_counters(ftl);
	sl_ftl_churn(ftl, 2, (uint32_t)config.logical_pages, 2 * config.logical_pages, NULL);
	n = sl_ftl_counters(ftl);
	sl_ftl_free(ftl);
	return 1 + (double)n.moved_pages / (double)n.host_pages;
}

Test(ssd_physics, write_amplification_follows_the_formula)
{
	static const double fills[] = {0.60, 0.70, 0.78, 0.85, 0.90};

	for (int i = 0; i < 5; i++) {
		double wa = simulated(fills[i]), want = formula(1 / fills[i]);

		cr_log_info("fill %.2f: write amplification %.3f, formula %.3f (%+.1f %%)", fills[i], wa,
			    want, 100 * (wa / want - 1));
		within(wa, want, 0.03, "write amplification");
	}
}

/* A 64th or a 256th of the drive behaves like a 32nd; bench/ftl_bench compares with the whole. */
Test(ssd_physics, a_part_of_the_drive_ages_like_the_whole)
{
	struct sl_dev_spec spec = drive("intel-dc-s3700-200");
	struct sl_ssd_load load = {.duration_ns = 100 * MINUTE, .sample_ns = 10 * MINUTE, .scale = 32};
	struct sl_ssd_curve fine = saturate(&spec, &load);

	cr_assert_eq(fine.iops.n, 10);
	for (load.scale = 64; load.scale <= 256; load.scale *= 4) {
		struct sl_ssd_curve coarse = saturate(&spec, &load);

		for (int i = 0; i < 10; i++) {
			within(coarse.iops.rate[i], fine.iops.rate[i], 0.035, "IOPS");
			within(coarse.samples[i].latency_ns, fine.samples[i].latency_ns, 0.035, "latency");
		}
		within((double)coarse.fill_ns, (double)fine.fill_ns, 0.01, "fill time");
		within(coarse.report.write_amplification, fine.report.write_amplification, 0.03,
		       "write amplification");
		within((double)coarse.report.bytes_written, (double)fine.report.bytes_written, 0.02, "bytes");
		sl_ssd_curve_free(&coarse);
	}
	sl_ssd_curve_free(&fine);
}

static bool stop_later(void *ctx, int64_t at_ns)
{
	int *asked = ctx;

	cr_assert_eq(at_ns, ++*asked * MINUTE);
	return *asked < 3;
}

/* The first n samples of two curves agree to the bit. */
static bool same_samples(const struct sl_ssd_curve *a, const struct sl_ssd_curve *b, int n)
{
	for (int i = 0; i < n; i++) {
		const struct sl_ssd_sample *x = &a->samples[i], *y = &b->samples[i];

		if (x->end_ns != y->end_ns || a->iops.rate[i] != b->iops.rate[i] ||
		    x->latency_ns != y->latency_ns || x->write_amplification != y->write_amplification) {
			return false;
		}
	}
	return true;
}

Test(ssd_physics, same_seed_same_curve_and_it_can_be_stopped)
{
	struct sl_dev_spec spec = drive("intel-dc-s3700-100");
	int asked = 0;
	struct sl_ssd_load load = {
	    .duration_ns = 20 * MINUTE, .sample_ns = MINUTE, .scale = 64, .state = SL_SSD_FULL, .seed = 5};
	struct sl_ssd_curve a = saturate(&spec, &load), b = saturate(&spec, &load), other, stopped;

	load.seed = 6;
	other = saturate(&spec, &load);
	cr_assert(same_samples(&a, &b, a.iops.n));
	cr_assert(!same_samples(&a, &other, a.iops.n));
	load.progress = stop_later;
	load.ctx = &asked;
	stopped = saturate(&spec, &load);
	cr_assert(stopped.stopped && stopped.iops.n == 3 && asked == 3);
	cr_assert(same_samples(&stopped, &other, 3));
	sl_ssd_curve_free(&a);
	sl_ssd_curve_free(&b);
	sl_ssd_curve_free(&other);
	sl_ssd_curve_free(&stopped);
}

static bool stop_at_once(void)
{
	return true;
}

/* Not only between two samples: while the drive is brought to its state, and within a sample. */
Test(ssd_physics, stopped_in_the_midst_there_is_no_curve)
{
	static const enum sl_ssd_state states[] = {SL_SSD_STEADY, SL_SSD_FRESH};
	struct sl_dev_spec spec = drive("intel-dc-s3700-100");

	for (int i = 0; i < 2; i++) {
		struct sl_ssd_load load = {.duration_ns = 20 * MINUTE,
					   .sample_ns = 20 * MINUTE,
					   .scale = 64,
					   .state = states[i],
					   .seed = 5,
					   .stopped = stop_at_once};
		struct sl_ssd_curve curve;
		struct sl_err err = {0};

		cr_assert_eq(sl_ssd_saturate(&spec, &load, &curve, &err), -EINTR);
		cr_assert_str_eq(err.msg, "interrupted");
		cr_assert_null(curve.samples);
	}
}

/* Once its dies are what limits it a drive takes as many bytes in large blocks as in small ones. */
Test(ssd_physics, large_blocks_bring_as_many_bytes_as_small_ones)
{
	struct sl_dev_spec spec = drive("intel-dc-s3700-100");
	struct sl_ssd_load load = {.duration_ns = 5 * MINUTE, .sample_ns = MINUTE, .scale = 256};
	struct sl_ssd_curve small = saturate(&spec, &load), large;

	load.block_bytes = 65536;
	large = saturate(&spec, &load);
	cr_assert_eq(large.block_bytes, 65536);
	cr_assert_eq(large.report.bytes_written, (int64_t)large.writes * 65536 * 256);
	within((double)large.report.bytes_written, (double)small.report.bytes_written, 0.05, "bytes");
	sl_ssd_curve_free(&small);
	sl_ssd_curve_free(&large);
}

Test(ssd_physics, impossible_loads_are_refused)
{
	struct sl_dev_spec spec = drive("intel-dc-s3700-100");
	static const struct sl_ssd_load loads[] = {
	    {.duration_ns = 0},
	    {.duration_ns = -MINUTE, .sample_ns = MINUTE},
	    {.duration_ns = MINUTE, .sample_ns = -MINUTE},
	    {.duration_ns = MINUTE, .block_bytes = 1000},
	    {.duration_ns = MINUTE, .block_bytes = 1 << 20},
	    {.duration_ns = MINUTE, .depth = -1},
	    {.duration_ns = MINUTE, .scale = 3},
	    {.duration_ns = MINUTE, .scale = 8192},
	    {.duration_ns = MINUTE, .span_bytes = 4096},
	    {.duration_ns = MINUTE, .span_bytes = INT64_C(200000000000)},
	    {.duration_ns = MINUTE, .sample_ns = 2 * MINUTE},
	    {.duration_ns = 1000 * MINUTE, .sample_ns = 1000},
	};

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		struct sl_ssd_curve curve;
		struct sl_err err = {0};

		cr_assert_eq(sl_ssd_saturate(&spec, &loads[i], &curve, &err), -EINVAL, "load %zu", i);
		cr_assert(err.msg[0] != '\0' && !curve.samples);
	}
}

Test(ssd_physics, a_state_file_saves_the_preparation)
{
	struct sl_dev_spec spec = drive("intel-dc-s3700-100");
	char path[64];
	struct sl_ssd_load load = {.duration_ns = 5 * MINUTE,
				   .sample_ns = MINUTE,
				   .scale = 256,
				   .state = SL_SSD_STEADY,
				   .state_file = path};
	struct sl_ssd_curve first, second;
	struct sl_err err = {0};

	(void)snprintf(path, sizeof(path), "ssd-state-%ld.tmp", (long)getpid());
	first = saturate(&spec, &load);
	second = saturate(&spec, &load);
	cr_assert(same_samples(&first, &second, first.iops.n));
	sl_ssd_curve_free(&first);
	sl_ssd_curve_free(&second);
	load.state = SL_SSD_FULL;
	cr_assert_eq(sl_ssd_saturate(&spec, &load, &first, &err), -EINVAL);
	cr_assert(strstr(err.msg, path) != NULL, "%s", err.msg);
	cr_assert_eq(unlink(path), 0);
}
