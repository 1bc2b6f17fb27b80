#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "loadgen/program.h"
#include "sim/base/json.h"

#define SATURATED 0.95 /* a share of CPU time above it leaves the load no room */
#define WARNINGS_MAX 3

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static bool is_oltp(const struct program *program)
{
	return strcmp(program->load, "oltp") == 0;
}

/* Share of the time that the generator's threads used their CPU; the loads on NFS have one thread. */
static double own_busy(const struct program *program)
{
	const struct sl_load_result *result = &program->result;
	double threads =
	    is_oltp(program) || strcmp(program->load, "audit") == 0 ? (double)program->threads : 1;

	return result->elapsed_ns > 0 ? (double)result->cpu_ns / (double)result->elapsed_ns / threads : 0;
}

/* What the reader of the figures must know. Returns how many. */
static int warnings(const struct program *program, const char *ret[WARNINGS_MAX])
{
	const struct sl_load_result *result = &program->result;
	int n = 0;

	if (own_busy(program) > SATURATED) {
		ret[n++] = "the generator was saturated: its own CPU limits the rate";
	}
	if (result->machine_busy > SATURATED) {
		ret[n++] = "all CPUs of this machine were busy: what runs on it, generator included, waited "
			   "for them";
	}
	if (result->queue.count > 0 && result->queued > program->threads) {
		ret[n++] =
		    "the server did not keep up with the arrival rate: requests were queueing at the end";
	}
	return n;
}

static void latency_print(const struct program *program, const char *name, const struct sl_hist *latency)
{
	(void)fprintf(program->out,
		      "%-22s min %.3f  avg %.3f  p50 %.3f  p95 %.3f  p99 %.3f  p99.9 %.3f  max %.3f\n", name,
		      ms(latency->min), sl_hist_mean(latency) / 1e6, ms(sl_hist_quantile(latency, 0.5)),
		      ms(sl_hist_quantile(latency, 0.95)), ms(sl_hist_quantile(latency, 0.99)),
		      ms(sl_hist_quantile(latency, 0.999)), ms(latency->max));
}

static void operations_print(const struct program *program)
{
	const struct sl_load_result *result = &program->result;
	double seconds = (double)result->elapsed_ns / 1e9;
	uint64_t bytes = result->bytes[SL_LOAD_READ] + result->bytes[SL_LOAD_WRITE];
	uint64_t all = result->ops[SL_LOAD_READ] + result->ops[SL_LOAD_WRITE] + result->ops[SL_LOAD_OTHER];

	if (is_oltp(program)) {
		(void)fprintf(program->out, "Transactions:          %" PRIu64 " (%.2f per sec.)\n",
			      result->requests, sl_load_result_rate(result));
		(void)fprintf(program->out,
			      "Statements:            %" PRIu64 " (%.2f per sec.): %" PRIu64 " read, %" PRIu64
			      " write, %" PRIu64 " other\n",
			      all, seconds > 0 ? (double)all / seconds : 0, result->ops[SL_LOAD_READ],
			      result->ops[SL_LOAD_WRITE], result->ops[SL_LOAD_OTHER]);
		(void)fprintf(program->out, "Ignored errors:        %" PRIu64 "\n", result->errors);
		return;
	}
	(void)fprintf(program->out,
		      "Operations performed:  %" PRIu64 " Read, %" PRIu64 " Write, %" PRIu64 " %s\n",
		      result->ops[SL_LOAD_READ], result->ops[SL_LOAD_WRITE], result->ops[SL_LOAD_OTHER],
		      strcmp(program->load, "fileio") == 0 ? "Fsync" : "Other");
	(void)fprintf(program->out, "Throughput:            %.2f requests/s, %.3f MiB/s\n",
		      sl_load_result_rate(result), seconds > 0 ? (double)bytes / seconds / 1048576 : 0);
}

void program_summary(const struct program *program)
{
	const struct sl_load_result *result = &program->result;
	const char *warning[WARNINGS_MAX];
	int n = warnings(program, warning);

	operations_print(program);
	(void)fprintf(program->out, "Time measured:         %.4f s%s\n", (double)result->elapsed_ns / 1e9,
		      result->interrupted ? " (interrupted)" : "");
	latency_print(program, "Latency (ms):", &result->latency);
	if (result->queue.count > 0) {
		latency_print(program, "  of it queueing (ms):", &result->queue);
	}
	if (result->null_ns > 0) {
		(void)fprintf(program->out, "NULL call round trip:  %" PRId64 " ns\n", result->null_ns);
	}
	if (result->requests > 0) {
		(void)fprintf(
		    program->out, "Own CPU:               %.1f %%; %.1f us per request, %.1f us of it user\n",
		    100 * own_busy(program), (double)result->cpu_ns / 1e3 / (double)result->requests,
		    (double)result->user_ns / 1e3 / (double)result->requests);
	}
	for (int i = 0; i < n; i++) {
		(void)fprintf(program->out, "Warning: %s\n", warning[i]);
	}
}

void program_ticker(void *arg, const struct sl_load_sample *sample)
{
	const struct program *program = arg;
	double seconds = (double)sample->interval_ns / 1e9;
	double per = seconds > 0 ? 1 / seconds : 0;
	double read = (double)sample->ops[SL_LOAD_READ] * per;
	double write = (double)sample->ops[SL_LOAD_WRITE] * per;
	double other = (double)sample->ops[SL_LOAD_OTHER] * per;

	/* The shape of sysbench 1.0's line, for which parsers exist. */
	(void)fprintf(program->out, "[ %.0fs ] thds: %" PRIu64 " tps: %.2f ", (double)sample->end_ns / 1e9,
		      program->threads, (double)sample->requests * per);
	if (is_oltp(program)) {
		(void)fprintf(
		    program->out,
		    "qps: %.2f (r/w/o: %.2f/%.2f/%.2f) lat (ms,95%%): %.2f err/s: %.2f reconn/s: 0.00\n",
		    read + write + other, read, write, other, (double)sample->p95_ns / 1e6,
		    (double)sample->errors * per);
	} else {
		(void)fprintf(program->out, "lat (ms,95%%): %.2f\n", (double)sample->p95_ns / 1e6);
	}
	(void)fflush(program->out);
}

static json_t *latency_json(const struct sl_hist *latency)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "min", json_integer(latency->min), "mean",
			 sl_json_figure(sl_hist_mean(latency)), "p50",
			 json_integer(sl_hist_quantile(latency, 0.5)), "p95",
			 json_integer(sl_hist_quantile(latency, 0.95)), "p99",
			 json_integer(sl_hist_quantile(latency, 0.99)), "p999",
			 json_integer(sl_hist_quantile(latency, 0.999)), "max", json_integer(latency->max));
}

/* All latencies, to the 0.8 % of the histogram. */
static json_t *histogram_json(const struct sl_hist *latency)
{
	json_t *values = json_array(), *counts = json_array();

	for (size_t i = 0; i < SL_HIST_BUCKETS; i++) {
		if (latency->buckets[i] > 0) {
			json_array_append_new(values, json_integer(sl_hist_value(i)));
			json_array_append_new(counts, json_integer(latency->buckets[i]));
		}
	}
	return json_pack("{s:o, s:o}", "value_ns", values, "count", counts);
}

static json_t *samples_json(const struct program *program)
{
	const struct sl_load_result *result = &program->result;
	json_t *all = json_array();

	for (uint32_t i = 0; i < result->sample_count; i++) {
		const struct sl_load_sample *sample = &result->samples[i];

		json_array_append_new(
		    all, json_pack("{s:I, s:I, s:I, s:I, s:I}", "end_ns", (json_int_t)sample->end_ns,
				   "interval_ns", (json_int_t)sample->interval_ns, "operations",
				   (json_int_t)sample->requests, "errors", (json_int_t)sample->errors,
				   "p95_ns", (json_int_t)sample->p95_ns));
	}
	return all;
}

static json_t *warnings_json(const struct program *program)
{
	const char *warning[WARNINGS_MAX];
	int n = warnings(program, warning);
	json_t *all = json_array();

	for (int i = 0; i < n; i++) {
		json_array_append_new(all, json_string(warning[i]));
	}
	return all;
}

static json_t *measured_json(const struct program *program)
{
	const struct sl_load_result *result = &program->result;
	json_t *doc = json_pack(
	    "{s:o, s:I, s:I, s:I, s:{s:I, s:I, s:I}, s:{s:I, s:I}, s:o, s:I, s:I, s:I, s:o, s:b, s:o}",
	    "rate", sl_json_figure(sl_load_result_rate(result)), "operations", (json_int_t)result->requests,
	    "errors", (json_int_t)result->errors, "elapsed_ns", (json_int_t)result->elapsed_ns, "by_kind",
	    "read", (json_int_t)result->ops[SL_LOAD_READ], "write", (json_int_t)result->ops[SL_LOAD_WRITE],
	    is_oltp(program) ? "other" : "fsync", (json_int_t)result->ops[SL_LOAD_OTHER], "bytes", "read",
	    (json_int_t)result->bytes[SL_LOAD_READ], "write", (json_int_t)result->bytes[SL_LOAD_WRITE],
	    "latency_ns", latency_json(&result->latency), "null_call_ns", (json_int_t)result->null_ns,
	    "cpu_ns", (json_int_t)result->cpu_ns, "user_cpu_ns", (json_int_t)result->user_ns, "machine_busy",
	    result->machine_busy < 0 ? json_null() : sl_json_figure(result->machine_busy), "interrupted",
	    (int)result->interrupted, "warnings", warnings_json(program));

	if (doc && result->queue.count > 0) {
		json_object_set_new(doc, "queue_ns", latency_json(&result->queue));
		json_object_set_new(doc, "queued", json_integer((json_int_t)result->queued));
	}
	if (doc) {
		json_object_set_new(doc, "cpu_wait_ns",
				    result->cpu_wait_ns < 0 ? json_null()
							    : json_integer((json_int_t)result->cpu_wait_ns));
	}
	return doc;
}

json_t *program_json_head(const struct program *program)
{
	return json_pack("{s:s, s:s, s:s}", "schema", "sloglab-load/1", "load", program->load, "version",
			 SL_VERSION);
}

int program_json_write(const struct program *program, const json_t *doc, struct sl_err *err)
{
	if (strcmp(program->json, "-") == 0) {
		return sl_json_write(doc, stdout, err);
	}
	return sl_json_write_file(doc, program->json, err);
}

int program_json(const struct program *program, json_t *about, const char *error, struct sl_err *err)
{
	json_t *doc = program_json_head(program);
	json_t *measured = measured_json(program);
	int rc;

	json_object_update(doc, about);
	json_object_set_new(doc, "threads", json_integer((json_int_t)program->threads));
	json_object_set_new(doc, "seed", json_integer((json_int_t)program->seed));
	json_object_update(doc, measured);
	json_object_set_new(doc, "error", error ? json_string(error) : json_null());
	json_object_set_new(doc, "samples", samples_json(program));
	json_object_set_new(doc, "histogram", histogram_json(&program->result.latency));
	if (!doc || !about || !measured) {
		rc = sl_err_set(err, -ENOMEM, "out of memory");
	} else {
		rc = program_json_write(program, doc, err);
	}
	json_decref(measured);
	json_decref(doc);
	return rc;
}
