/* Published figures with units and metrics. */
#include <errno.h>

#include "sim/scenario/metric.h"
#include "tests/unit/scenario/lib.h"

#define KINDS                                                                                                \
	"format: sloglab-scenario/1\ntitle: test\npool: {data: {layout: stripe, disks: [null]}}\n"           \
	"workloads: {o: {kind: oltp}, f: {kind: fileio, block: 16KiB}, s: {kind: syncwrite}, d: {kind: "     \
	"disk}, t: {kind: fileio, metric: throughput}, l: {of: f, metric: p99}}\nvariants: {a: {}, b: {}}\n" \
	"published: "

Test(published, a_figure_says_what_its_workload_reports)
{
	static const struct {
		const char *text, *workload, *name, *unit;
		double first, second; /* of variants a and b; 0 = none */
	} cases[] = {
	    /* plain numbers are in the workload's own unit */
	    {"{a: {o: {value: 188}}}", "o", "transaction_rate", "TPS", 188, 0},
	    {"{a: {o: {value: 188/s}}}", "o", "transaction_rate", "TPS", 188, 0},
	    {"{a: {t: {value: 12.5}}}", "t", "throughput", "MB/s", 12.5, 0},
	    {"{a: {l: {value: 14}}}", "l", "latency_p99", "ms", 14, 0},
	    /* a unit chooses the metric, and the first one is shown: 285.212672 MB are 272 MiB */
	    {"{a: {f: {value: 272MB/s}}}", "f", "throughput", "MB/s", 272, 0},
	    {"{a: {s: {value: 272 MiB/s}}, b: {s: {value: 285.212672 MB/s}}}", "s", "throughput", "MiB/s",
	     272, 272},
	    {"{a: {d: {value: 88MB/s}}}", "d", "throughput", "MB/s", 88, 0},
	    {"{a: {f: {value: 3.1 ms}}, b: {f: {value: 4}}}", "f", "latency_mean", "ms", 3.1, 4},
	    {"{a: {o: {value: 0.0031s}}}", "o", "latency_mean", "s", 0.0031, 0},
	    {"{a: {t: {value: 4.5MiB/s}}}", "t", "throughput", "MiB/s", 4.5, 0},
	    /* a metric does, too */
	    {"{a: {o: {value: 850us, metric: p99}}, b: {o: {value: 2 ms, metric: p99}}}", "o", "latency_p99",
	     "us", 850, 2000},
	    {"{a: {s: {value: 12, metric: p95}}}", "s", "latency_p95", "ms", 12, 0},
	    {"{a: {d: {metric: mib, value: 94.37184MB/s}}}", "d", "mib_rate", "MB/s", 94.37184, 0},
	    {"{a: {f: {value: 77, metric: p999}}}", "f", "latency_p999", "ms", 77, 0},
	    {"{a: {f: {value: 9, metric: max, role: predict}}}", "f", "latency_max", "ms", 9, 0},
	    {"{a: {f: {value: 8, metric: p50}}}", "f", "latency_p50", "ms", 8, 0},
	    {"{a: {f: {value: 613, metric: rate}}}", "f", "request_rate", "requests/s", 613, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct sl_scenario *sc;
		const struct sl_published *first, *second;
		struct sl_metric metric;
		int w;

		(void)snprintf(text, sizeof(text), KINDS "%s\n", cases[i].text);
		sc = load_text(text);
		w = sl_scenario_find_workload(sc, cases[i].workload);
		metric = sl_metric_of(sl_scenario_workload(sc, w));
		first = sl_scenario_published(sc, 0, w);
		second = sl_scenario_published(sc, 1, w);
		cr_assert_str_eq(metric.name, cases[i].name, "%s", cases[i].text);
		cr_assert_str_eq(metric.unit, cases[i].unit, "%s", cases[i].text);
		cr_assert_float_eq(first->value, cases[i].first, 1e-9, "%s: %.12g", cases[i].text,
				   first->value);
		cr_assert_eq(second != NULL, cases[i].second > 0);
		cr_assert(!second || second->value - cases[i].second < 1e-9, "%s", cases[i].text);
		sl_scenario_free(sc);
	}
}

Test(published, figures_of_two_metrics_do_not_share_a_workload)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	    {"{a: {o: {value: 5MB/s}}}", "t.yaml:6:28: value: '5MB/s' is no figure of workload 'o'"},
	    {"{a: {f: {value: 613}}, b: {f: {value: 10MB/s}}}",
	     "t.yaml:6:50: value: '10MB/s' is of another metric than 'f' reports, which is in requests/s; "
	     "add "
	     "a look at its run to workloads: {of: f, metric: ...}"},
	    {"{a: {t: {value: 3ms}}}", "'3ms' is of another metric than 't' reports, which is in MB/s"},
	    {"{a: {f: {value: 3ms, metric: throughput}}}", "'3ms' is no figure of workload 'f'"},
	    {"{a: {f: {value: 3, metric: p98}}}", "metric: 'p98' is not known; write rate"},
	    {"{a: {f: {value: 3, metric: iostat_kib}}}", "'3' is no figure of workload 'f'"},
	    {"{a: {f: {value: 3 apples}}}", "value: '3 apples' is no figure; write a number, such as 188"},
	    {"{a: {f: {value: 0MB/s}}}", "value: '0MB/s': out of range"},
	    {"{a: {f: {metric: p99}}}", "f: 'value' is missing"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc = NULL;
		struct sl_err err = {0};
		char text[1024];

		(void)snprintf(text, sizeof(text), KINDS "%s\n", cases[i].text);
		cr_assert_eq(sl_scenario_load_buffer(text, strlen(text), "t.yaml", DATA_DIR, &sc, &err),
			     -EINVAL, "%s", cases[i].text);
		cr_assert_not_null(strstr(err.msg, cases[i].message), "got  %s\nwant %s", err.msg,
				   cases[i].message);
	}
}
