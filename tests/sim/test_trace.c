/* The trace of a whole cell: valid Chrome JSON, every layer in it. */
#include "tests/sim/lib.h"

#include <jansson.h>

#define REQUESTS 1200 /* more than 5 s of the box's time: a txg syncs */

static json_t *trace_of(const char *variant, const char *workload)
{
	struct sl_scenario *sc = load_b3n();
	struct sl_workload load = *sl_scenario_workload(sc, sl_scenario_find_workload(sc, workload));
	struct sl_trace *trace = sl_trace_new(1000000);
	struct sl_measure measure;
	struct sl_err err = {0};
	struct sl_box box;
	json_error_t bad;
	FILE *file = tmpfile();
	json_t *json;

	cr_assert_not_null(file);
	load.max_requests = REQUESTS;
	cr_assert_eq(sl_scenario_box(sc, sl_scenario_find_variant(sc, variant), &box, &err), 0, "%s",
		     err.msg);
	cr_assert_eq(
	    sl_stack_run(&box, &load, &(struct sl_stack_setup){.seed = 1, .trace = trace}, &measure, &err), 0,
	    "%s", err.msg);
	cr_assert_eq(sl_trace_dropped(trace), 0);
	cr_assert_eq(sl_trace_write(trace, variant, file, &err), 0, "%s", err.msg);
	rewind(file);
	json = json_loadf(file, 0, &bad);
	cr_assert_not_null(json, "line %d: %s", bad.line, bad.text);
	(void)fclose(file);
	sl_trace_free(trace);
	sl_scenario_free(sc);
	return json;
}

/* Complete events of `layer`; all events must be of a known shape. */
static int count(const json_t *trace, const char *layer)
{
	const json_t *events = json_object_get(trace, "traceEvents");
	int n = 0;

	cr_assert(json_is_array(events));
	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);
		const char *phase = json_string_value(json_object_get(event, "ph"));

		if (strchr("Me", phase[0])) {
			continue;
		}
		cr_assert(strchr("Xb", phase[0]), "%s", phase);
		cr_assert(json_number_value(json_object_get(event, "ts")) >= 0);
		cr_assert(phase[0] == 'b' || json_number_value(json_object_get(event, "dur")) >= 0);
		n += strcmp(json_string_value(json_object_get(event, "cat")), layer) == 0;
	}
	return n;
}

/* The importers' rules: on one thread, complete events nest; an asynchronous event ends once, not before it
 * begins, under the category, name and id that it began with. Events come in the order of their time. */
static void check_importable(const json_t *trace, int *ret_lanes)
{
	const json_t *events = json_object_get(trace, "traceEvents"), *open;
	double lane_end[256] = {0};
	json_t *begun = json_object();
	size_t ended = 0;

	*ret_lanes = 0;
	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);
		const char *phase = json_string_value(json_object_get(event, "ph"));
		int tid = (int)json_integer_value(json_object_get(event, "tid"));
		double ts = json_number_value(json_object_get(event, "ts"));
		const char *id = json_string_value(json_object_get(event, "id"));

		if (phase[0] == 'X') {
			cr_assert(tid > 0 && tid < 256);
			/* Times are printed in us with three digits: 1e-6 is rounding. */
			cr_assert(ts >= lane_end[tid] - 1e-6, "lane %d: %f begins before %f", tid, ts,
				  lane_end[tid]);
			lane_end[tid] = ts + json_number_value(json_object_get(event, "dur"));
			*ret_lanes = tid > *ret_lanes ? tid : *ret_lanes;
		} else if (phase[0] == 'b') {
			cr_assert_null(json_object_get(begun, id), "id %s twice", id);
			json_object_set(begun, id, (json_t *)(uintptr_t)event);
		} else if (phase[0] == 'e') {
			open = json_object_get(begun, id);
			cr_assert_not_null(open, "id %s ends and never began", id);
			cr_assert(ts >= json_number_value(json_object_get(open, "ts")));
			cr_assert(json_equal(json_object_get(open, "cat"), json_object_get(event, "cat")));
			cr_assert(json_equal(json_object_get(open, "name"), json_object_get(event, "name")));
			ended++;
		}
	}
	cr_assert_eq(ended, json_object_size(begun), "some never ended");
	json_decref(begun);
}

Test(trace, threads_vcpus_and_disks_have_a_lane_each_and_nothing_overlaps_in_it)
{
	json_t *trace = trace_of("s3500", "oltp2");
	int lanes;

	check_importable(trace, &lanes);
	/* 2 threads of the guest, 2 + 2 vCPUs, 3 disks and the log device, InnoDB's log, jbd2, the txg sync,
	 * and from 1 to as many nfsd threads as the box has, 8. */
	cr_assert(lanes >= 2 + 4 + 4 + 3 + 1 && lanes <= 2 + 4 + 4 + 3 + 8, "%d lanes", lanes);
	json_decref(trace);
}

/* Spans of a run, all of them or those of its first two seconds. */
static struct sl_trace *spans_of(bool first_only)
{
	struct sl_scenario *sc = load_b3n();
	struct sl_workload load = *sl_scenario_workload(sc, sl_scenario_find_workload(sc, "oltp2"));
	struct sl_trace *trace = sl_trace_new(1000000);
	struct sl_measure measure;
	struct sl_err err = {0};
	struct sl_box box;

	load.max_requests = REQUESTS;
	if (first_only) {
		sl_trace_first(trace, 2000000000);
	}
	cr_assert_eq(sl_scenario_box(sc, 0, &box, &err), 0, "%s", err.msg);
	cr_assert_eq(
	    sl_stack_run(&box, &load, &(struct sl_stack_setup){.seed = 1, .trace = trace}, &measure, &err), 0,
	    "%s", err.msg);
	sl_scenario_free(sc);
	return trace;
}

Test(trace, the_first_two_seconds_are_complete)
{
	struct sl_trace *all = spans_of(false), *first = spans_of(true);
	uint32_t n = 0;

	cr_assert_eq(sl_trace_dropped(all), 0);
	cr_assert_eq(sl_trace_dropped(first), 0);
	cr_assert_eq(sl_trace_until(first), 2000000000);
	for (uint32_t i = 0; i < sl_trace_count(all); i++) {
		const struct sl_span *span = sl_trace_get(all, i);

		if (span->start_ns < 2000000000) {
			cr_assert(n < sl_trace_count(first));
			cr_assert_eq(memcmp(span, sl_trace_get(first, n), sizeof(*span)), 0, "span %u", n);
			n++;
		}
	}
	cr_assert(n > 1000);
	cr_assert_eq(n, sl_trace_count(first));
	sl_trace_free(all);
	sl_trace_free(first);
}

Test(trace, a_cell_with_a_slog_shows_every_layer)
{
	static const char *const layers[] = {"guest",    "InnoDB",    "ext4", "jbd2", "hypervisor",
					     "network",  "nfsd",      "ZFS",  "ZIL",  "log vdev",
					     "txg sync", "data vdev", "disk"};
	json_t *trace = trace_of("s3500", "oltp2");

	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		cr_assert(count(trace, layers[i]) > 0, "no span of %s", layers[i]);
	}
	cr_assert_eq(count(trace, "guest"), REQUESTS);
	json_decref(trace);
}

Test(trace, fileio_shows_its_reads_and_syncs)
{
	json_t *trace = trace_of("none", "rndrw");

	cr_assert(count(trace, "guest") > REQUESTS / 2);
	cr_assert_eq(count(trace, "InnoDB"), 0);
	cr_assert_eq(count(trace, "log vdev"), 0);
	cr_assert(count(trace, "data vdev") > 0);
	json_decref(trace);
}
