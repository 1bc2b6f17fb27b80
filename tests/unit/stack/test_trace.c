/* The spans of an operation: each layer's lies in that of the layer above. */
#include "tests/unit/stack/lib.h"

#define TRANSACTIONS 20

static int count(const struct sl_trace *trace, const char *layer)
{
	int n = 0;

	for (uint32_t i = 0; i < sl_trace_count(trace); i++) {
		n += strcmp(sl_trace_get(trace, i)->layer, layer) == 0;
	}
	return n;
}

/* Is there a span of `layer` for the same operation around `inner`? */
static bool is_inside(const struct sl_trace *trace, const struct sl_span *inner, const char *layer)
{
	for (uint32_t i = 0; i < sl_trace_count(trace); i++) {
		const struct sl_span *outer = sl_trace_get(trace, i);

		if (outer->op == inner->op && strcmp(outer->layer, layer) == 0 &&
		    outer->start_ns <= inner->start_ns && outer->end_ns >= inner->end_ns) {
			return true;
		}
	}
	return false;
}

static struct sl_trace *trace_of(const char *variant_name, const char *workload_name)
{
	struct sl_trace *trace = sl_trace_new(100000);
	struct sl_scenario *sc = load("b3n-2014");
	struct sl_workload load = *sl_scenario_workload(sc, workload(sc, workload_name));
	struct sl_measure measure;
	struct sl_err err = {0};
	struct sl_box box;

	load.threads = 1;
	load.max_requests = TRANSACTIONS;
	cr_assert_eq(sl_scenario_box(sc, variant(sc, variant_name), &box, &err), 0, "%s", err.msg);
	cr_assert_eq(
	    sl_stack_run(&box, &load, &(struct sl_stack_setup){.seed = 1, .trace = trace}, &measure, &err), 0,
	    "%s", err.msg);
	cr_assert_eq(measure.operations, TRANSACTIONS);
	sl_scenario_free(sc);
	return trace;
}

Test(trace, each_layer_works_inside_the_one_above)
{
	static const struct {
		const char *inner, *outer;
	} seams[] = {
	    {"InnoDB", "guest"},       {"ext4", "InnoDB"},     {"jbd2", "ext4"}, {"hypervisor", "ext4"},
	    {"network", "hypervisor"}, {"nfsd", "hypervisor"}, {"ZFS", "nfsd"},  {"ZIL", "ZFS"},
	    {"log vdev", "ZIL"},       {"disk", "log vdev"}};
	struct sl_trace *trace = trace_of("s3500", "oltp2");

	for (size_t i = 0; i < sizeof(seams) / sizeof(seams[0]); i++) {
		cr_assert(count(trace, seams[i].inner) >= TRANSACTIONS, "%s: %d spans", seams[i].inner,
			  count(trace, seams[i].inner));
		for (uint32_t s = 0; s < sl_trace_count(trace); s++) {
			const struct sl_span *span = sl_trace_get(trace, s);

			if (strcmp(span->layer, seams[i].inner) == 0) {
				cr_assert(is_inside(trace, span, seams[i].outer),
					  "%s %s of operation %lu is in no %s", span->layer, span->name,
					  (unsigned long)span->op, seams[i].outer);
			}
		}
	}
	sl_trace_free(trace);
}

Test(trace, a_transaction_makes_three_serial_nfs_calls_one_after_the_other)
{
	struct sl_trace *trace = trace_of("s3500", "oltp2");
	int64_t end_ns = 0;

	cr_assert_eq(count(trace, "guest"), TRANSACTIONS);
	cr_assert_eq(count(trace, "hypervisor"), 3 * TRANSACTIONS);
	cr_assert_eq(count(trace, "network"), 6 * TRANSACTIONS);
	for (uint32_t i = 0; i < sl_trace_count(trace); i++) {
		const struct sl_span *span = sl_trace_get(trace, i);

		if (strcmp(span->layer, "hypervisor") == 0) {
			cr_assert(span->start_ns >= end_ns);
			end_ns = span->end_ns;
		}
	}
	sl_trace_free(trace);
}

Test(trace, without_a_log_device_the_log_goes_to_the_data_disks)
{
	struct sl_trace *trace = trace_of("none", "oltp2");

	cr_assert_eq(count(trace, "log vdev"), 0);
	cr_assert(count(trace, "data vdev") >= 3 * TRANSACTIONS);
	sl_trace_free(trace);
}
