/* Whether a rate lasts: made series, and a pool that takes its first seconds into memory. */
#include "sim/stack/steady.h"
#include "tests/unit/stack/lib.h"

#define S INT64_C(1000000000)
#define TXG (5 * S)

/* Steps of 0.1 s: `first` for from_s seconds, then in a straight line from `second` to `third` at end_s. */
static struct sl_measure made(double first, double from_s, double second, double third, double end_s)
{
	struct sl_measure m = {.series = {.step_ns = S / 10, .n = (int)(end_s * 10)}};

	for (int i = 0; i < m.series.n; i++) {
		double t = (i + 0.5) / 10;

		m.series.rate[i] =
		    t < from_s ? first : second + (third - second) * (t - from_s) / (end_s - from_s);
		m.rate += m.series.rate[i] / m.series.n;
	}
	m.elapsed_ns = (int64_t)(end_s * 1e9);
	return m;
}

Test(steady, the_last_third_is_compared_with_the_middle_one)
{
	static const struct {
		double first, from_s, second, third, end_s;
		bool known, steady;
		double drift, rate;
	} rows[] = {
	    {0, 0, 100, 100, 60, true, true, 0, 100},
	    {200, 10, 100, 100, 60, true, true, 0, 100}, /* the burst is in the first third */
	    {0, 0, 100, 100, 14, false, false, 0, 0},    /* within three transaction groups */
	    /* 200 - 100 t/60: 150 in the middle third, 116.67 in the last, -22.2 %; the batches of 5 s
	     * are 8.33 apart, 10.76 about their mean; 2.447 sqrt(2 x 10.76^2 / 4) = 18.6, 12.4 % of 150: it
	     * drifts */
	    {0, 0, 200, 100, 60, true, false, -0.2222, 116.667},
	    {0, 0, 100, 96, 60, true, true, -0.0136, 97.333}, /* no 5 % */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_measure m =
		    made(rows[i].first, rows[i].from_s, rows[i].second, rows[i].third, rows[i].end_s);
		struct sl_steady s;

		sl_steady_of(&m, TXG, &s);
		cr_assert_eq(s.known, rows[i].known, "row %zu", i);
		cr_assert_eq(s.steady, rows[i].steady, "row %zu", i);
		cr_assert_float_eq(s.drift, rows[i].drift, 1e-3, "row %zu: %g", i, s.drift);
		cr_assert_float_eq(s.rate, rows[i].rate, 0.01, "row %zu: %g", i, s.rate);
	}
}

/* 50 and 150 by turns, each for 2.5 s: two thirds that differ by chance only, with batches of a whole cycle.
 */
Test(steady, stop_and_go_is_no_drift)
{
	struct sl_measure m = made(0, 0, 100, 100, 61);
	struct sl_steady s;

	for (int i = 0; i < m.series.n; i++) {
		m.series.rate[i] = i / 25 % 2 ? 150 : 50;
	}
	sl_steady_of(&m, TXG, &s);
	cr_assert(s.known && s.steady, "drift %g, noise %g", s.drift, s.noise);
	cr_assert_float_eq(s.rate, 100, 2);
}

#define BOX                                                                                         \
	"format: sloglab-scenario/1\ntitle: t\nnas: {vcpus: 4, memory: 8GiB, zil: 2.1}\n"           \
	"pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, log: intel-dc-p3700-400}\n"  \
	"workloads: {w: {kind: syncwrite, block: 128KiB, depth: 8, max_time: 5s, max_requests: 0, " \
	"file_total: "                                                                              \
	"20GiB}, one: {kind: syncwrite, max_requests: 40000, max_time: 20s}}\n"

/*
 * 128 KiB at 8 in flight: the SLOG takes some thousand a second. Of the pool a mirror's disk writes 150 MB/s
 * at its outer zone at most: 150e6 / 131072 = 1144 records a second, metadata and head moves not counted.
 * What is beyond that in five seconds is in memory.
 */
Test(steady, five_seconds_measure_the_memory_and_say_so)
{
	struct sl_scenario *sc = load_text(BOX);
	struct sl_run_options options = {.repeat = 1, .seed = 1};
	struct sl_result brief, lasting;
	struct sl_err err = {0};
	const double disk = 150e6 / 131072;

	cr_assert_eq(sl_result_run(sc, &options, &brief, &err), 0, "%s", err.msg);
	options.steady = true;
	cr_assert_eq(sl_result_run(sc, &options, &lasting, &err), 0, "%s", err.msg);
	cr_assert(lasting.cells[0].value > 0.6 * disk && lasting.cells[0].value < disk, "%g of %g",
		  lasting.cells[0].value, disk);
	cr_assert(brief.cells[0].value > 1.7 * lasting.cells[0].value, "%g against %g", brief.cells[0].value,
		  lasting.cells[0].value);
	cr_assert_not_null(strstr(brief.cells[0].warning, "not the rate that lasts: "), "%s",
			   brief.cells[0].warning);
	cr_assert_not_null(strstr(brief.cells[0].warning, "set max_time: 60s and max_requests: 0"));
	cr_assert_str_eq(lasting.cells[0].warning, "");
	/* One at a time is far below both: steady from the start, and nothing is said. */
	cr_assert_str_eq(brief.cells[1].warning, "", "%s", brief.cells[1].warning);
	cr_assert_float_eq(lasting.cells[1].value / brief.cells[1].value, 1, 0.02);
	sl_result_fini(&brief);
	sl_result_fini(&lasting);
	sl_scenario_free(sc);
}
