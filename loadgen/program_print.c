#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "loadgen/program.h"
#include "sim/base/json.h"

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

void program_summary(FILE *out, const struct program_options *options, const struct sl_load_result *result)
{
	const struct sl_hist *latency = &result->latency;
	double seconds = (double)result->elapsed_ns / 1e9;
	double bytes = (double)(result->bytes[SL_LOAD_READ] + result->bytes[SL_LOAD_WRITE]);

	(void)fprintf(out, "Operations performed:  %" PRIu64 " Read, %" PRIu64 " Write, %" PRIu64 " %s\n",
		      result->ops[SL_LOAD_READ], result->ops[SL_LOAD_WRITE], result->ops[SL_LOAD_FSYNC],
		      options->load == PROGRAM_FILEIO ? "Fsync" : "Other");
	(void)fprintf(out, "Throughput:            %.2f requests/s, %.3f MiB/s\n",
		      sl_load_result_rate(result), seconds > 0 ? bytes / seconds / 1048576 : 0);
	(void)fprintf(out, "Time measured:         %.4f s%s\n", seconds,
		      result->interrupted ? " (interrupted)" : "");
	(void)fprintf(
	    out,
	    "Latency (ms):          min %.3f  avg %.3f  p50 %.3f  p95 %.3f  p99 %.3f  p99.9 %.3f  max %.3f\n",
	    ms(latency->min), sl_hist_mean(latency) / 1e6, ms(sl_hist_quantile(latency, 0.5)),
	    ms(sl_hist_quantile(latency, 0.95)), ms(sl_hist_quantile(latency, 0.99)),
	    ms(sl_hist_quantile(latency, 0.999)), ms(latency->max));
	(void)fprintf(out, "NULL call round trip:  %" PRId64 " ns\n", result->null_ns);
	if (result->elapsed_ns > 0) {
		(void)fprintf(out, "Own CPU:               %.1f %%\n",
			      100 * (double)result->cpu_ns / (double)result->elapsed_ns);
	}
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

static json_t *samples_json(const struct sl_load_result *result)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < result->sample_count; i++) {
		const struct sl_load_sample *sample = &result->samples[i];

		json_array_append_new(
		    all, json_pack("{s:I, s:I, s:I, s:I}", "end_ns", (json_int_t)sample->end_ns,
				   "interval_ns", (json_int_t)sample->interval_ns, "operations",
				   (json_int_t)sample->requests, "p95_ns", (json_int_t)sample->p95_ns));
	}
	return all;
}

int program_json(const struct program_options *options, const struct sl_load_result *result,
		 struct sl_err *err)
{
	json_t *doc = json_pack(
	    "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:I, s:I, s:{s:I, s:I, s:I}, s:{s:I, s:I}, s:o, s:I, "
	    "s:I, s:b, s:o}",
	    "schema", "sloglab-load/1", "load", options->load == PROGRAM_FILEIO ? "fileio" : "syncwrite",
	    "version", SL_VERSION, "stable", options->unstable ? "unstable_commit" : "file_sync", "threads",
	    (json_int_t)options->threads, "block_bytes", (json_int_t)options->block_bytes, "seed",
	    (json_int_t)options->seed, "rate", sl_json_figure(sl_load_result_rate(result)), "operations",
	    (json_int_t)result->requests, "elapsed_ns", (json_int_t)result->elapsed_ns, "by_kind", "read",
	    (json_int_t)result->ops[SL_LOAD_READ], "write", (json_int_t)result->ops[SL_LOAD_WRITE], "fsync",
	    (json_int_t)result->ops[SL_LOAD_FSYNC], "bytes", "read", (json_int_t)result->bytes[SL_LOAD_READ],
	    "write", (json_int_t)result->bytes[SL_LOAD_WRITE], "latency_ns", latency_json(&result->latency),
	    "null_call_ns", (json_int_t)result->null_ns, "cpu_ns", (json_int_t)result->cpu_ns, "interrupted",
	    (int)result->interrupted, "samples", samples_json(result));
	int rc;

	if (!doc) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	if (strcmp(options->json, "-") == 0) {
		rc = sl_json_write(doc, stdout, err);
	} else {
		rc = sl_json_write_file(doc, options->json, err);
	}
	json_decref(doc);
	return rc;
}
