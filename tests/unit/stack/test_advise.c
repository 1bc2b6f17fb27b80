/* What advise tries, what it leaves out and says so, and what the box alone tells of a cut. */
#include <stdlib.h>
#include <string.h>

#include "sim/stack/advise.h"
#include "tests/unit/stack/lib.h"

static struct sl_advice advise(const struct sl_scenario *sc, struct sl_scenario *shelf,
			       const struct sl_advise_options *options)
{
	struct sl_advice advice;
	struct sl_err err = {0};

	cr_assert_eq(sl_advise_run(sc, shelf, options, &advice, &err), 0, "%s", err.msg);
	return advice;
}

static bool has_candidate(const struct sl_advice *advice, const char *name)
{
	for (int i = 0; i < advice->n_candidates; i++) {
		if (strcmp(advice->candidates[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

static bool has_note(const struct sl_advice *advice, const char *part)
{
	for (int i = 0; i < advice->n_notes; i++) {
		if (strstr(advice->notes[i], part)) {
			return true;
		}
	}
	return false;
}

/* Short runs: what is tried matters here, not what it gives. */
static struct sl_scenario *load_short(void)
{
	static const char text[] =
	    "format: sloglab-scenario/1\n"
	    "title: short\n"
	    "host: {hypervisor: esxi, nic: e1000}\n"
	    "pool: {data: {layout: raidz1, disks: [hdd-7200-desktop x 3]}, log: intel-dc-s3500-80}\n"
	    "workloads: {w: {kind: syncwrite, block: 16KiB, pattern: random, max_requests: 20}}\n";
	char path[] = "advise-XXXXXX";
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	cr_assert(file != NULL);
	cr_assert(fputs(text, file) >= 0);
	cr_assert_eq(fclose(file), 0);
	cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s", err.msg);
	remove(path);
	return sc;
}

Test(advise, tries_every_change_that_costs_nothing_and_each_drive_three_ways)
{
	static const char *const drives[] = {"intel-dc-s3700-100", "intel-dc-s3500-80"};
	static const char *const tried[] = {"as it is",
					    "sync=always",
					    "sync=disabled",
					    "logbias=throughput",
					    "recordsize=16K",
					    "nfsd threads 8 -> 16",
					    "nfsd threads 8 -> 32",
					    "guest vCPUs 2 -> 4",
					    "storage VM vCPUs 2 -> 4",
					    "NIC e1000 -> vmxnet3",
					    "no SLOG",
					    "mirrors in place of raidz",
					    "intel-dc-s3700-100",
					    "mirror of 2 x intel-dc-s3700-100",
					    "stripe of 2 x intel-dc-s3700-100",
					    "mirror of 2 x intel-dc-s3500-80",
					    "stripe of 2 x intel-dc-s3500-80"};
	struct sl_scenario *sc = load_short(), *shelf = load_short();
	struct sl_advise_options options = {.drives = drives, .n_drives = 2, .repeat = 2, .seed = 1};
	struct sl_advice advice = advise(sc, shelf, &options);

	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
		cr_assert(has_candidate(&advice, tried[i]), "%s", tried[i]);
	}
	cr_assert(!has_candidate(&advice, "sync=standard"));
	cr_assert(!has_candidate(&advice, "intel-dc-s3500-80"), "it is the base");
	cr_assert_eq(advice.n_notes, 0, "%s", advice.notes[0]);
	cr_assert_eq(advice.n_tables, 1);
	for (int i = 0; i < advice.tables[0].n_rows; i++) {
		const struct sl_candidate *c = &advice.candidates[advice.tables[0].rows[i].candidate];

		/* One S3500 is there already: a pair of them costs one more. */
		if (strcmp(c->name, "mirror of 2 x intel-dc-s3500-80") == 0) {
			cr_assert_eq(c->n_drives, 1);
			cr_assert_float_eq(c->price_usd, advice.drives[1].spec.price_usd, 1e-9);
		}
		cr_assert_eq(advice.tables[0].rows[i].n_samples, 2);
	}
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

Test(advise, says_what_it_leaves_out_and_goes_on)
{
	static const char *const drives[] = {"intel-dc-s3501-80",  "null",    "hdd-7200-desktop",
					     "intel-dc-s3700-100", "a drive", "intel-dc-s3500-80 x 2"};
	struct sl_scenario *sc = load_short(), *shelf = load_short();
	struct sl_advise_options options = {
	    .drives = drives, .n_drives = 6, .named = true, .repeat = 1, .seed = 1};
	struct sl_advice advice = advise(sc, shelf, &options);

	cr_assert_eq(advice.n_drives, 1);
	cr_assert(has_note(&advice, "did you mean 'intel-dc-s3500-80'"), "%s", advice.notes[0]);
	cr_assert(has_note(&advice, "left out: null: it is the control of experiments"));
	cr_assert(has_note(&advice, "left out: hdd-7200-desktop: a hard disk"));
	cr_assert(has_note(&advice, "'a drive'"));
	cr_assert(has_note(&advice, "intel-dc-s3500-80 x 2: is not the name of one drive"));
	cr_assert(has_candidate(&advice, "intel-dc-s3700-100"));
	cr_assert_eq(advice.n_tables, 1);
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

Test(advise, an_empty_list_compares_what_costs_nothing)
{
	struct sl_scenario *sc = load_short(), *shelf = load_short();
	struct sl_advise_options options = {.repeat = 1, .seed = 1};
	struct sl_advice advice = advise(sc, shelf, &options);

	cr_assert(has_note(&advice, "no drive to try, the list is empty"));
	cr_assert_eq(advice.n_tables, 1);
	cr_assert(strncmp(advice.tables[0].verdict, "Buy nothing: no drive was tried", 31) == 0, "%s",
		  advice.tables[0].verdict);
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

Test(advise, a_budget_leaves_out_what_is_dearer_and_what_has_no_price)
{
	static const char *const drives[] = {"intel-dc-s3500-80", "intel-dc-s3700-100", "intel-dc-s3700-200"};
	struct sl_scenario *sc = load("quick"), *shelf = load("quick");
	const int workloads[] = {workload(sc, "rnd16k")};
	struct sl_advise_options options = {.drives = drives,
					    .n_drives = 3,
					    .workloads = workloads,
					    .n_workloads = 1,
					    .budget_usd = 150,
					    .repeat = 1,
					    .seed = 1};
	struct sl_advice advice;

	cr_assert_eq(sl_scenario_set(sc, "nas.memory", "1GiB", "test", NULL), 0);
	advice = advise(sc, shelf, &options);
	cr_assert(has_candidate(&advice, "intel-dc-s3500-80"));
	cr_assert(!has_candidate(&advice, "mirror of 2 x intel-dc-s3500-80"), "$226");
	cr_assert(!has_candidate(&advice, "intel-dc-s3700-100"));
	cr_assert(has_note(&advice, "intel-dc-s3700-100: $203 is above the budget of $150"));
	cr_assert(has_note(&advice, "intel-dc-s3700-200: the catalogue has no price"));
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

struct watcher {
	int last, calls, total;
};

static bool watch(void *arg, int done, int total)
{
	struct watcher *watcher = arg;

	watcher->calls++;
	watcher->total = total;
	return done < watcher->last;
}

Test(advise, ctrl_c_leaves_no_half_table)
{
	struct sl_scenario *sc = load_short(), *shelf = load_short();
	struct watcher watcher = {.last = 4};
	struct sl_advise_options options = {
	    .repeat = 1, .seed = 1, .progress = watch, .progress_arg = &watcher};
	struct sl_advice advice = advise(sc, shelf, &options);

	cr_assert_eq(watcher.calls, 4);
	cr_assert_eq(watcher.total, advice.n_candidates);
	cr_assert(advice.stopped);
	cr_assert_eq(advice.n_tables, 0);
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

/* The hook of whoever knows more about cuts than the box tells. */
static void loses_everything(void *arg, const struct sl_box *box, const struct sl_measure *measure,
			     struct sl_advice_loss *ret)
{
	int *calls = arg;

	cr_assert(box->n_data == 3 || box->n_data == 1);
	cr_assert(measure->operations > 0);
	(*calls)++;
	*ret = (struct sl_advice_loss){.seconds = box->n_log > 0 ? 7 : 0, .why = "test"};
}

Test(advise, the_loss_hook_decides_what_is_unsafe)
{
	static const char *const drives[] = {"intel-dc-s3500-80"};
	struct sl_scenario *sc = load_short(), *shelf = load_short();
	int calls = 0;
	struct sl_advise_options options = {.drives = drives,
					    .n_drives = 1,
					    .repeat = 1,
					    .seed = 1,
					    .loss = loses_everything,
					    .loss_arg = &calls};
	struct sl_advice advice;
	int seen = 0;

	cr_assert_eq(sl_scenario_set(sc, "pool.log", "none", "test", NULL), 0);
	advice = advise(sc, shelf, &options);
	for (int i = 0; i < advice.tables[0].n_rows; i++) {
		const struct sl_advice_row *row = &advice.tables[0].rows[i];

		if (advice.candidates[row->candidate].change == SL_CHANGE_PURCHASE) {
			cr_assert(row->unsafe);
			cr_assert_str_eq(row->loss.why, "test");
			seen++;
		}
	}
	cr_assert(calls >= advice.tables[0].n_rows);
	cr_assert_eq(seen, 3);
	cr_assert_eq(advice.tables[0].best_purchase, -1, "what loses more than the base is never advised");
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

static const struct sl_dev_spec safe = {.name = "safe", .kind = SL_DEV_SSD, .plp = 1};
static const struct sl_dev_spec bare = {
    .name = "bare", .kind = SL_DEV_SSD, .buffer_bytes = 5e8, .ssd_write_bps = 1e9};
static const struct sl_dev_spec ram = {.name = "ram", .kind = SL_DEV_NVRAM};
static const struct sl_dev_spec disk = {
    .name = "disk", .kind = SL_DEV_HDD, .write_cache = 1, .cache_bytes = 6e7, .write_bps = 3e7};
static const struct sl_dev_spec safe_and_bare = {
    .name = "mixed", .kind = SL_DEV_MIRROR, .n_members = 2, .members = {&safe, &bare}};
static const struct sl_dev_spec bare_twice = {.name = "bare twice",
					      .kind = SL_DEV_MIRROR,
					      .n_members = 2,
					      .members = {&bare, &bare},
					      .buffer_bytes = 5e8,
					      .ssd_write_bps = 1e9};

Test(advise, the_box_tells_which_layer_forgets_what_it_acknowledged)
{
	const struct {
		int sync, log_flush, data_flush;
		const struct sl_dev_spec *log;
		double seconds;
		const char *why;
	} rows[] = {
	    {SL_SYNC_STANDARD, SL_FLUSH_HONOURED, SL_FLUSH_HONOURED, NULL, 0, ""},
	    {SL_SYNC_STANDARD, SL_FLUSH_HONOURED, SL_FLUSH_IGNORED, NULL, 2,
	     "disk: volatile write cache, flush ignored"},
	    {SL_SYNC_DISABLED, SL_FLUSH_HONOURED, SL_FLUSH_HONOURED, &safe, 10,
	     "ZFS: sync=disabled acknowledges from memory"},
	    {SL_SYNC_STANDARD, SL_FLUSH_IGNORED, SL_FLUSH_IGNORED, &safe, 0, ""},
	    {SL_SYNC_ALWAYS, SL_FLUSH_HONOURED, SL_FLUSH_HONOURED, &bare, 0, ""},
	    {SL_SYNC_STANDARD, SL_FLUSH_IGNORED, SL_FLUSH_HONOURED, &bare, 0.5,
	     "bare: no power-loss protection, flush ignored"},
	    {SL_SYNC_STANDARD, SL_FLUSH_HONOURED, SL_FLUSH_HONOURED, &ram, 10, "ram: volatile memory"},
	    {SL_SYNC_STANDARD, SL_FLUSH_IGNORED, SL_FLUSH_HONOURED, &safe_and_bare, 0, ""},
	    {SL_SYNC_STANDARD, SL_FLUSH_IGNORED, SL_FLUSH_HONOURED, &bare_twice, 0.5,
	     "bare twice: no power-loss protection, flush ignored"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_box box = {.sync = rows[i].sync,
				     .log_flush = rows[i].log_flush,
				     .data_flush = rows[i].data_flush,
				     .txg_timeout_ns = 5e9,
				     .n_data = 1,
				     .data = {disk},
				     .n_log = rows[i].log != NULL};
		struct sl_advice_loss loss;

		if (rows[i].log) {
			box.log[0] = *rows[i].log;
		}
		sl_advice_loss_known(NULL, &box, NULL, &loss);
		cr_assert_float_eq(loss.seconds, rows[i].seconds, 1e-9, "row %zu: %f", i, loss.seconds);
		cr_assert_str_eq(loss.why, rows[i].why);
	}
}
