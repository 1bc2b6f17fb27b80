/*
 * The flash translation layer against its goals of speed and memory: 4 KiB uniform random overwrites of a
 * full 200 GB drive at steady state, depth 32, beside the machine's rate of independent random
 * read-modify-writes over an array as large as the map; then the published saturation of the fresh drive, not
 * scaled. CPU time. With an argument, the scale for the drive (1: whole).
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "sim/base/rng.h"
#include "sim/device/ssd.h"
#include "sim/scenario/scenario.h"

#define DRIVE "intel-dc-s3700-200"
#define MINUTE INT64_C(60000000000)
#define TOUCHES 50000000

static double cpu_seconds(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) != 0) {
		abort();
	}
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double peak_mb(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0) {
		abort();
	}
	return (double)usage.ru_maxrss * 1024 / 1e6;
}

/* Random increments of 32-bit words of an array with huge pages, none waiting for another: per second. */
static double touch_rate(uint64_t words)
{
	size_t bytes = words * sizeof(uint32_t);
	uint32_t *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sl_rng rng;
	double start;

	if (array == MAP_FAILED) {
		abort();
	}
	(void)madvise(array, bytes, MADV_HUGEPAGE);
	for (uint64_t i = 0; i < words; i++) {
		array[i] = (uint32_t)i;
	}
	sl_rng_init(&rng, 1, "touch");
	start = cpu_seconds();
	for (int i = 0; i < TOUCHES; i++) {
		array[sl_rng_below(&rng, words)]++;
	}
	start = cpu_seconds() - start;
	(void)munmap(array, bytes);
	return TOUCHES / start;
}

struct phase {
	double started; /* CPU time when the first sample was complete: preparation is over */
};

static bool note_start(void *ctx, int64_t at_ns)
{
	struct phase *phase = ctx;

	(void)at_ns;
	if (phase->started == 0) {
		phase->started = cpu_seconds();
	}
	return true;
}

static struct sl_ssd_curve run(const struct sl_dev_spec *spec, const struct sl_ssd_load *load)
{
	struct sl_ssd_curve curve;
	struct sl_err err = {0};

	if (sl_ssd_saturate(spec, load, &curve, &err)) {
		(void)fprintf(stderr, "ftl_bench: %s\n", err.msg);
		exit(1);
	}
	return curve;
}

static void steady(const struct sl_dev_spec *spec, uint32_t scale)
{
	struct phase phase = {0};
	struct sl_ssd_load load = {.duration_ns = 30 * MINUTE,
				   .sample_ns = MINUTE,
				   .scale = scale,
				   .seed = 1,
				   .state = SL_SSD_STEADY,
				   .progress = note_start,
				   .ctx = &phase};
	struct sl_ssd_curve curve = run(spec, &load);
	double seconds = cpu_seconds() - phase.started,
	       writes = (double)curve.writes * (curve.iops.n - 1) / curve.iops.n;
	double touches = touch_rate((uint64_t)(spec->capacity_bytes / 4096 / scale));

	printf("steady state, 4 KiB, depth 32: %.1f M writes per CPU second (goal 15), write amplification "
	       "%.3f\n",
	       writes / seconds / 1e6, curve.report.write_amplification);
	printf("independent random read-modify-writes: %.1f M/s; ratio %.2f (goal 0.20)\n", touches / 1e6,
	       writes / seconds / touches);
	printf("flash model: %.0f MB, %.2f bytes per page of NAND (goal 8)\n",
	       (double)curve.memory_bytes / 1e6,
	       (double)curve.memory_bytes * scale / (spec->raw_bytes / 4096));
	sl_ssd_curve_free(&curve);
}

static void saturation(const struct sl_dev_spec *spec, uint32_t scale)
{
	struct sl_ssd_load load = {
	    .duration_ns = 300 * MINUTE, .sample_ns = MINUTE, .scale = scale, .seed = 1};
	double seconds = cpu_seconds();
	struct sl_ssd_curve curve = run(spec, &load);

	printf(
	    "saturation, 300 min: %.0f M writes in %.1f CPU s (goal 60 for 580 M), peak %.0f MB (goal 700)\n",
	    (double)curve.writes / 1e6, cpu_seconds() - seconds, peak_mb());
	printf("fresh %.0f IOPS, last ten minutes %.0f IOPS\n", sl_series_mean(&curve.iops, 0, 10 * MINUTE),
	       sl_series_mean(&curve.iops, 290 * MINUTE, 300 * MINUTE));
	sl_ssd_curve_free(&curve);
}

int main(int argc, char **argv)
{
	uint32_t scale = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	const struct sl_dev_spec *spec;
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	if (sl_scenario_load_device(DRIVE, SL_SOURCE_DIR "/sim/scenario", &sc, &spec, &err)) {
		(void)fprintf(stderr, "ftl_bench: %s\n", err.msg);
		return 1;
	}
	saturation(spec, scale);
	steady(spec, scale);
	sl_scenario_free(sc);
	return 0;
}
