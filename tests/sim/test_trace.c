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

		if (strcmp(phase, "X") != 0) {
			cr_assert_str_eq(phase, "M");
			continue;
		}
		cr_assert(json_number_value(json_object_get(event, "ts")) >= 0);
		cr_assert(json_number_value(json_object_get(event, "dur")) >= 0);
		n += strcmp(json_string_value(json_object_get(event, "cat")), layer) == 0;
	}
	return n;
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
