/* sloglab-load: the load generator as a program. The only file of loadgen that prints. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "loadgen/program.h"

#define EXIT_INTERRUPTED 130

static volatile sig_atomic_t stop_asked;

static void stop_handler(int signal_number)
{
	(void)signal_number;
	stop_asked = 1;
}

static bool stop_seen(void)
{
	return stop_asked != 0;
}

static void signals_install(void)
{
	struct sigaction action = {.sa_handler = stop_handler};

	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	action.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &action, NULL);
}

struct ticker {
	FILE *out;
	uint32_t threads;
};

/* The shape of sysbench 1.0's line, for which parsers exist. */
static void ticker_print(void *arg, const struct sl_load_sample *sample)
{
	const struct ticker *ticker = arg;
	double seconds = (double)sample->interval_ns / 1e9;

	(void)fprintf(ticker->out, "[ %.0fs ] thds: %u tps: %.2f lat (ms,95%%): %.2f\n",
		      (double)sample->end_ns / 1e9, ticker->threads,
		      seconds > 0 ? (double)sample->requests / seconds : 0, (double)sample->p95_ns / 1e6);
	(void)fflush(ticker->out);
}

static int load_run(const struct program_options *options, struct ticker *ticker,
		    struct sl_load_result *result, struct sl_err *err)
{
	struct sl_load_limits limits = {
	    .time_ns = options->time_ns,
	    .warmup_ns = options->warmup_ns,
	    .interval_ns = options->interval_ns,
	    .stall_ns = options->stall_ns,
	    .stopped = stop_seen,
	    .report = ticker_print,
	    .report_arg = ticker,
	};

	if (options->load == PROGRAM_FILEIO) {
		struct sl_fileio_load load = {
		    .url = options->url,
		    .stages = options->stages,
		    .source = {.mode = options->mode,
			       .files = options->files,
			       .file_bytes = options->total_bytes / options->files,
			       .block_bytes = options->block_bytes,
			       .fsync_every = options->fsync_every,
			       .max_requests = options->max_requests},
		    .threads = options->threads,
		    .unstable = options->unstable,
		    .fsync_end = options->fsync_end,
		    .seed = options->seed,
		    .limits = limits,
		};

		return sl_fileio_load_run(&load, result, err);
	}
	limits.max_requests = options->max_requests;
	return sl_syncwrite_run(&(struct sl_syncwrite_config){.url = options->url,
							      .block_bytes = options->block_bytes,
							      .file_bytes = options->total_bytes,
							      .random = options->random,
							      .unstable = options->unstable,
							      .zero_data = options->zero_data,
							      .depth = options->threads * options->depth,
							      .seed = options->seed,
							      .limits = limits},
				result, err);
}

int main(int argc, char **argv)
{
	struct program_options options;
	struct sl_load_result result;
	struct sl_err err = {0};
	struct ticker ticker;
	FILE *out;
	bool ran;
	int rc;

	program_parse(argc, argv, &options);
	ran = options.load == PROGRAM_SYNCWRITE || (options.stages & SL_FILEIO_RUN);
	out = options.json && strcmp(options.json, "-") == 0 ? stderr : stdout;
	ticker = (struct ticker){.out = out, .threads = options.threads};
	signals_install();
	if (sl_load_result_init(&result) < 0) {
		(void)fprintf(stderr, "sloglab-load: out of memory\n");
		return 1;
	}
	rc = load_run(&options, &ticker, &result, &err);
	if (ran && (rc == 0 || result.requests > 0)) {
		program_summary(out, &options, &result);
	}
	if (rc == 0 && ran && options.json) {
		rc = program_json(&options, &result, &err);
	}
	if (rc == 0 && (fflush(stdout) != 0 || ferror(stdout))) {
		rc = sl_err_set(&err, -EIO, "cannot write to stdout");
	}
	if (rc < 0) {
		(void)fprintf(stderr, "sloglab-load: %s\n", err.msg);
	}
	rc = rc < 0 ? 1 : result.interrupted ? EXIT_INTERRUPTED : 0;
	sl_load_result_fini(&result);
	return rc;
}
