/* One thing changed in the box of b3n-2014, and what must follow from it. */
#include "tests/sim/lib.h"

/* The text of `key` as resolved for variant number `v`; it lives until that key changes. */
static const char *text_of(const struct sl_scenario *sc, int v, const char *key)
{
	struct sl_param param;

	for (int i = 0; i < sl_scenario_params(sc); i++) {
		cr_assert_eq(sl_scenario_param(sc, v, i, &param), 0);
		if (strcmp(param.key, key) == 0) {
			return param.text;
		}
	}
	cr_assert_fail("no key %s", key);
	return "";
}

/* b3n-2014 with `key` overridden in every variant; in that of `variant` it must have had another value. */
static struct sl_scenario *changed(const char *key, const char *value, const char *variant)
{
	struct sl_scenario *sc = load_b3n();
	struct sl_err err = {0};
	int v = sl_scenario_find_variant(sc, variant);
	char before[128];

	cr_assert(v >= 0, "no variant %s", variant);
	(void)snprintf(before, sizeof(before), "%s", text_of(sc, v, key));
	cr_assert_eq(sl_scenario_set(sc, key, value, "test", &err), 0, "%s", err.msg);
	cr_assert_str_neq(text_of(sc, v, key), before, "%s: %s changes nothing", key, value);
	return sc;
}

Test(ablation, disks_that_honour_flushes_make_every_cell_without_a_slog_several_times_slower)
{
	/*
	 * A commit is a turn, 8.33 ms. Three in a row for each log sync, which serves at most all threads: 2
	 * and 4 per 25 ms. Of 100 random writes to 128 files 128 (1 - (127/128)^100) = 69.6 files get one
	 * each, of the 40 of rndrw 34.5: 100 requests take 580 and 287 ms at least.
	 */
	static const double most[] = {80, 160, 348, 172};
	struct sl_scenario *real = load_b3n(), *honest = changed("pool.data.flush", "honoured", "none");

	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		double before = rate_of(real, "none", workloads[i]),
		       after = rate_of(honest, "none", workloads[i]);

		cr_assert(before >= 2 * after, "%s: %.1f -> %.1f", workloads[i], before, after);
		cr_assert(after > 0 && after <= most[i], "%s: %.1f", workloads[i], after);
	}
	sl_scenario_free(real);
	sl_scenario_free(honest);
}

Test(ablation, four_vcpus_lift_four_threads)
{
	struct sl_scenario *real = load_b3n(), *wide = changed("guests.vcpus", "4", "s3500");
	double before = rate_of(real, "s3500", "oltp4"), after = rate_of(wide, "s3500", "oltp4");

	cr_assert(after >= 1.15 * before, "%.1f -> %.1f", before, after);
	/* Two threads had a vCPU each already. */
	before = rate_of(real, "s3500", "oltp2");
	after = rate_of(wide, "s3500", "oltp2");
	cr_assert(fabs(after / before - 1) < 0.02, "%.1f -> %.1f", before, after);
	sl_scenario_free(real);
	sl_scenario_free(wide);
}

Test(ablation, with_sync_disabled_a_slog_is_worth_nothing)
{
	struct sl_scenario *sc = changed("pool.sync", "disabled", "s3500"), *real = load_b3n();

	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		double none = rate_of(sc, "none", workloads[i]), slog = rate_of(sc, "s3500", workloads[i]);

		cr_assert(fabs(slog / none - 1) <= 0.01, "%s: %.1f, %.1f", workloads[i], none, slog);
		cr_assert(none > rate_of(real, "s3500", workloads[i]), "%s: no faster than with a SLOG",
			  workloads[i]);
	}
	sl_scenario_free(sc);
	sl_scenario_free(real);
}

Test(ablation, a_slog_without_any_latency_adds_only_a_little)
{
	struct sl_scenario *real = load_b3n(), *ideal = changed("pool.log", "null", "s3500");

	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		double before = rate_of(real, "s3500", workloads[i]),
		       after = rate_of(ideal, "s3500", workloads[i]);

		cr_assert(after >= before && after <= 1.15 * before, "%s: %.1f -> %.1f", workloads[i], before,
			  after);
	}
	sl_scenario_free(real);
	sl_scenario_free(ideal);
}

/* Every software cost is in the path: without it the workload that feels it is faster. */
Test(ablation, each_cost_taken_away_makes_its_workload_faster)
{
	static const struct {
		const char *key, *value, *variant, *workload;
	} costs[] = {
	    {"params.guest.oltp_cpu", "1ms", "s3500", "oltp2"},
	    {"params.guest.switch_cpu", "0us", "s3500", "oltp4"},
	    {"params.guest.block_cpu", "0us", "s3500", "rndwr"},
	    {"params.guest.file_cpu", "0us", "s3500", "rndrw"},
	    {"params.hyp.op_delay", "0us", "s3500", "oltp2"},
	    {"params.nic.rx_frame", "0us", "s3500-e1000", "rndwr"},
	    {"params.nfsd.op_cpu", "0us", "s3500", "rndwr"},
	    {"params.nfsd.byte_rate", "1000GB/s", "s3500", "rndwr"},
	    {"params.zil.commit_cpu", "0us", "s3500", "rndwr"},
	    {"params.zfs.record_cpu", "0us", "s3500", "rndwr"},
	    {"params.zfs.sync_cpu", "0us", "s3500", "rndwr"},
	    {"params.crypto.io_cpu", "0us", "none", "rndwr"},
	    {"params.crypto.rate", "1000GB/s", "none", "rndwr"},
	    {"params.raidz.parity_rate", "1000GB/s", "none", "rndwr"},
	    {"params.data.write_ack", "1us", "none", "rndwr"},
	    {"params.data.write_rate", "1000MB/s", "none", "rndwr"},
	    {"nas.vcpus", "8", "s3500", "rndwr"},
	};
	struct sl_scenario *real = load_b3n();

	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		struct sl_scenario *sc = changed(costs[i].key, costs[i].value, costs[i].variant);
		double before = rate_of(real, costs[i].variant, costs[i].workload);
		double after = rate_of(sc, costs[i].variant, costs[i].workload);

		cr_assert(after > before, "%s: %s, %s/%s: %.3f -> %.3f", costs[i].key, costs[i].value,
			  costs[i].variant, costs[i].workload, before, after);
		sl_scenario_free(sc);
	}
	sl_scenario_free(real);
}

/* sync=always changes nothing for ESXi, which asks for stable writes anyway. */
Test(ablation, sync_always_is_what_esxi_does_already)
{
	struct sl_scenario *real = load_b3n(), *always = changed("pool.sync", "always", "s3500");

	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		cr_assert_eq(rate_of(real, "s3500", workloads[i]), rate_of(always, "s3500", workloads[i]),
			     "%s", workloads[i]);
	}
	sl_scenario_free(real);
	sl_scenario_free(always);
}
