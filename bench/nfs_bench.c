/*
 * One line of figures of an NFS server that runs: 4 KiB FILE_SYNC writes through one libnfs connection, and
 * the CPU time the server process spent on each. Run by nfs_bench.sh, which starts the servers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "loadgen/syncwrite.h"

#define WARM_NS 500000000
#define TIME_NS 4000000000
#define FILE_BYTES (2u << 20) /* FSAL_MEM keeps no more of a file */

static int64_t clock_of(clockid_t clock)
{
	struct timespec ts = {0};

	(void)clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Everything the process has spent between the two readings is counted against the writes of the same time,
 * so there is no warm-up inside the measured run: a first short one warms up. */
static int load(const char *url, uint32_t depth, int64_t time_ns, struct sl_load_result *result)
{
	struct sl_err err = {0};
	struct sl_syncwrite_config config = {.url = url,
					     .block_bytes = 4096,
					     .file_bytes = FILE_BYTES,
					     .depth = depth,
					     .null_calls = 1,
					     .limits = {.time_ns = time_ns}};

	if (sl_load_result_init(result) < 0 || sl_syncwrite_run(&config, result, &err) < 0) {
		(void)fprintf(stderr, "nfs_bench: %s\n", err.msg);
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sl_load_result warm, result;
	int64_t before_ns, cpu_ns;
	clockid_t clock;

	if (argc != 5 || clock_getcpuclockid((pid_t)strtol(argv[3], NULL, 10), &clock) != 0) {
		(void)fprintf(stderr, "usage: %s LABEL URL SERVER-PID DEPTH\n", argv[0]);
		return 2;
	}
	if (load(argv[2], (uint32_t)strtoul(argv[4], NULL, 10), WARM_NS, &warm) < 0) {
		return 1;
	}
	before_ns = clock_of(clock);
	if (load(argv[2], (uint32_t)strtoul(argv[4], NULL, 10), TIME_NS, &result) < 0) {
		return 1;
	}
	cpu_ns = clock_of(clock) - before_ns;
	/* label depth writes/s server-us/write client-us/write p50-us */
	printf("%s %s %.0f %.3f %.3f %.1f\n", argv[1], argv[4], sl_load_result_rate(&result),
	       (double)cpu_ns / 1e3 / (double)result.requests,
	       (double)result.cpu_ns / 1e3 / (double)result.requests,
	       (double)sl_hist_quantile(&result.latency, 0.5) / 1e3);
	sl_load_result_fini(&warm);
	sl_load_result_fini(&result);
	return 0;
}
