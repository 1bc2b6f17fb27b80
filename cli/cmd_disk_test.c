/* `sloglab disk test`: sync-write latency by size, random requests by depth, saturation; of models or of a
 * real disk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/disk.h"
#include "cli/disk_measure.h"
#include "cli/disk_saturate.h"
#include "cli/disk_save.h"
#include "loadgen/real_disk.h"
#include "sim/base/out.h"
#include "sim/base/signals.h"
#include "sim/base/units.h"
#include "sim/report/disk_curve.h"
#include "sim/scenario/paths.h"

#define MINUTES_DEFAULT 60
#define RATE_BYTES 1048576
#define RATE_DEPTH 4

struct test {
	struct sl_words names;
	bool saturate, destroy_ok;
	uint64_t minutes, time_ms, seed;
	const char *csv, *json, *svg, *file, *nbd, *size, *state, *save;
	int64_t size_bytes;
	struct sl_disk_list list;
};

static int test_parse(struct test *test, const struct sl_command *self, int argc, char **argv,
		      struct sl_err *err)
{
	const struct sl_option options[] = {
	    {"saturate", NULL, "4 KiB random writes at depth 32 over time: how an SSD becomes steady",
	     SL_OPT_FLAG, &test->saturate, 0, 0},
	    {"minutes", "N", "with --saturate: minutes of the drive's time (default 60)", SL_OPT_NUMBER,
	     &test->minutes, 1, 10000},
	    {"state", "WORD", "with --saturate: fresh (default), full or steady at the start", SL_OPT_TEXT,
	     &test->state, 0, 0},
	    {"seed", "N", "of the random places (default 1)", SL_OPT_NUMBER, &test->seed, 0, INT64_MAX},
	    {"file", "PATH", "measure a real file or block device; a new file is removed afterwards",
	     SL_OPT_TEXT, &test->file, 0, 0},
	    {"nbd", "URI", "measure an NBD export", SL_OPT_TEXT, &test->nbd, 0, 0},
	    {"size", "SIZE",
	     "with --file, --nbd: range that is used (default: all, at most 1 GiB; new file 256 MiB)",
	     SL_OPT_TEXT, &test->size, 0, 0},
	    {"time", "MS", "with --file, --nbd: milliseconds of each measurement (default 1000)",
	     SL_OPT_NUMBER, &test->time_ms, 1, 600000},
	    {"yes-destroy-data", NULL, "overwrite what exists", SL_OPT_FLAG, &test->destroy_ok, 0, 0},
	    {"save", "NAME",
	     "with --file, --nbd: write the drive as ./catalogue/NAME.yaml, to be used as NAME", SL_OPT_TEXT,
	     &test->save, 0, 0},
	    {"csv", "FILE", "write the figures as CSV", SL_OPT_TEXT, &test->csv, 0, 0},
	    {"json", "FILE", "write the figures as JSON", SL_OPT_TEXT, &test->json, 0, 0},
	    {"svg", "FILE", "with --saturate: draw the curve", SL_OPT_TEXT, &test->svg, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	bool help;
	int rc;

	test->time_ms = 1000;
	test->seed = 1;
	rc = sl_options_parse(options, argc, argv, &test->names, &help, err);
	if (rc == 0 && help) {
		printf("usage: sloglab %s %s\n%s\n\n", self->name, self->args, self->summary);
		sl_options_print(options, stdout);
		return 1;
	}
	return rc;
}

static int check_files(const struct test *test, struct sl_err *err)
{
	const char *files[] = {test->csv, test->json, test->svg};
	int on_stdout = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i] && sl_out_check(files[i], err) < 0) {
			return err->code;
		}
		on_stdout += files[i] && sl_out_is_stdout(files[i]);
	}
	return on_stdout > 1
		   ? sl_err_set(err, -EINVAL, "only one of --csv, --json and --svg can go to stdout")
		   : 0;
}

static int read_size(struct test *test, struct sl_err *err)
{
	double bytes;

	if (sl_units_parse(test->size, SL_UNIT_BYTES, &bytes, err) < 0) {
		return sl_err_wrap(err, "--size");
	}
	if (bytes < 8388608 || bytes > 1e15) {
		return sl_err_set(err, -EINVAL, "--size: %s is out of range; write 8MiB to 1000TB",
				  test->size);
	}
	test->size_bytes = (int64_t)bytes;
	return 0;
}

static int test_check(struct test *test, struct sl_err *err)
{
	int targets = (test->names.n > 0) + (test->file != NULL) + (test->nbd != NULL);

	if (targets != 1) {
		return sl_err_set(
		    err, -EINVAL,
		    targets ? "disk test: name devices, or --file, or --nbd; not several of them"
			    : "disk test: name missing; see sloglab disk list, or give --file or --nbd");
	}
	for (int i = 0; i < test->names.n; i++) {
		if (strchr(test->names.word[i], '/')) {
			return sl_err_set(err, -EINVAL,
					  "disk test: %.200s is a path; a real disk or file is measured with "
					  "--file %.200s",
					  test->names.word[i], test->names.word[i]);
		}
	}
	if (test->names.n == 0 && test->saturate) {
		return sl_err_set(err, -EINVAL, "--saturate: works with devices of the catalogue only");
	}
	if (test->names.n > 0 && (test->size || test->destroy_ok || test->save)) {
		return sl_err_set(err, -EINVAL, "%s: works with --file and --nbd only",
				  test->size         ? "--size"
				  : test->destroy_ok ? "--yes-destroy-data"
						     : "--save");
	}
	if (test->save && sl_disk_save_check(test->save, err) < 0) {
		return err->code;
	}
	if (!test->saturate && (test->svg || test->state || test->minutes)) {
		return sl_err_set(err, -EINVAL, "%s: works with --saturate only",
				  test->svg     ? "--svg"
				  : test->state ? "--state"
						: "--minutes");
	}
	if (test->saturate && test->names.n > SL_DISK_CURVES_MAX) {
		return sl_err_set(err, -EINVAL, "--saturate: at most %d devices at a time",
				  SL_DISK_CURVES_MAX);
	}
	if (test->size && read_size(test, err) < 0) {
		return err->code;
	}
	return check_files(test, err);
}

/* What a catalogue file needs beyond the table. */
static int measure_rates(struct sl_real_disk *disk, struct sl_disk_figures *figures, struct sl_err *err)
{
	double reads = 0, writes = 0;
	int rc = sl_real_disk_iops(disk, false, RATE_BYTES, RATE_DEPTH, &reads, err);

	rc = rc == 0 ? sl_real_disk_iops(disk, true, RATE_BYTES, RATE_DEPTH, &writes, err) : rc;
	figures->read_bps = reads * RATE_BYTES;
	figures->write_bps = writes * RATE_BYTES;
	return rc;
}

static int test_real(struct test *test, struct sl_err *err)
{
	struct sl_real_disk_options options = {.size_bytes = test->size_bytes,
					       .destroy_ok = test->destroy_ok,
					       .time_ns = (int64_t)test->time_ms * 1000000,
					       .stopped = sl_signals_stopped};
	struct sl_disk_figures *figures = &test->list.disks[0];
	struct sl_real_disk *disk = NULL;
	int rc = test->file ? sl_real_file_open(test->file, &options, &disk, err)
			    : sl_real_nbd_open(test->nbd, &options, &disk, err);

	figures->real = true;
	(void)snprintf(figures->name, sizeof(figures->name), "%s", test->file ? test->file : test->nbd);
	for (int i = 0; rc == 0 && i < SL_DISK_SIZES; i++) {
		rc = sl_real_disk_sync(disk, sl_disk_size(i), &figures->sync_ns[i], err);
	}
	for (int i = 0; rc == 0 && i < SL_DISK_DEPTHS; i++) {
		rc = sl_real_disk_iops(disk, false, SL_DISK_BLOCK, sl_disk_depth(i), &figures->read_iops[i],
				       err);
		rc = rc == 0 ? sl_real_disk_iops(disk, true, SL_DISK_BLOCK, sl_disk_depth(i),
						 &figures->write_iops[i], err)
			     : rc;
	}
	rc = rc == 0 && test->save ? measure_rates(disk, figures, err) : rc;
	if (rc == 0) {
		(void)snprintf(figures->note, sizeof(figures->note), "%s", sl_real_disk_note(disk));
		figures->bytes = sl_real_disk_bytes(disk);
	}
	sl_real_disk_close(disk);
	test->list.n = rc == 0;
	return rc;
}

static int test_models(struct test *test, const char *data_dir, struct sl_err *err)
{
	int rc = 0;

	while (rc == 0 && test->list.n < test->names.n) {
		const struct sl_dev_spec *spec;
		struct sl_scenario *sc;

		rc = sl_scenario_load_device(test->names.word[test->list.n], data_dir, &sc, &spec, err);
		if (rc == 0) {
			rc = sl_disk_measure(spec, test->seed, &test->list.disks[test->list.n], err);
			sl_scenario_free(sc);
			test->list.n += rc == 0;
		}
	}
	return rc;
}

static int test_write(struct test *test, struct sl_err *err)
{
	bool on_stdout =
	    (test->csv && sl_out_is_stdout(test->csv)) || (test->json && sl_out_is_stdout(test->json));
	int rc = 0;

	for (int i = 0; i < test->list.n; i++) {
		FILE *out = on_stdout ? stderr : stdout;

		fputs(i ? "\n" : "", out);
		sl_disk_figures_print(&test->list.disks[i], out);
	}
	if (test->csv) {
		rc = sl_out_write(test->csv, sl_disk_figures_csv, &test->list, err);
	}
	if (rc == 0 && test->json) {
		rc = sl_out_write(test->json, sl_disk_figures_json, &test->list, err);
	}
	return rc;
}

static int test_figures(struct test *test, const char *data_dir, struct sl_err *err)
{
	int rc;

	test->list.disks = calloc(SL_WORDS_MAX, sizeof(*test->list.disks));
	if (!test->list.disks) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = test->names.n > 0 ? test_models(test, data_dir, err) : test_real(test, err);
	rc = rc == 0 ? test_write(test, err) : rc;
	if (rc == 0 && test->save) {
		rc = sl_disk_save(&test->list.disks[0], test->save, data_dir, err);
	}
	free(test->list.disks);
	return rc;
}

static int test_curves(const struct test *test, const char *data_dir, struct sl_err *err)
{
	struct sl_disk_curve_options options = {.minutes = test->minutes ? test->minutes : MINUTES_DEFAULT,
						.seed = test->seed,
						.state = test->state,
						.csv = test->csv,
						.json = test->json,
						.svg = test->svg,
						.data_dir = data_dir};

	return sl_disk_curves_run(&test->names, &options, err);
}

int sl_cmd_disk_test(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct test test = {.list.n = 0};
	struct sl_paths paths;
	int rc = test_parse(&test, self, argc, argv, err);

	if (rc > 0) {
		return SL_EXIT_OK;
	}
	if (rc < 0 || test_check(&test, err) < 0 || sl_paths_find(&paths, err) < 0) {
		return SL_EXIT_USAGE;
	}
	rc = test.saturate ? test_curves(&test, paths.data, err) : test_figures(&test, paths.data, err);
	if (rc == -EINTR || sl_signals_stopped()) {
		sl_err_set(err, -EINTR, "interrupted: no files were written");
		return SL_EXIT_INTERRUPTED;
	}
	if (rc == -EINVAL || rc == -ENOENT || rc == -EEXIST || rc == -EPERM) {
		return SL_EXIT_USAGE;
	}
	return rc < 0 ? SL_EXIT_FAILED : SL_EXIT_OK;
}
