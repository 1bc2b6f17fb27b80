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
					    "stripe of 2 x intel-dc-s3500-80",
					    "L2ARC on intel-dc-s3500-80"};
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
	cr_assert(has_note(&advice,
			   "left out by the budget of $150: 1 drive above it, pairs of 1 more, and 1 "
			   "without a price in the catalogue"));
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

static const struct sl_candidate *candidate(const struct sl_advice *advice, const char *name)
{
	for (int i = 0; i < advice->n_candidates; i++) {
		if (strcmp(advice->candidates[i].name, name) == 0) {
			return &advice->candidates[i];
		}
	}
	cr_assert_fail("no candidate %s", name);
	return NULL;
}

/* Three disks are one mirror of three; of five two pairs are made, and one is a spare. A single disk, and
 * what is a mirror or a stripe already, are not rebuilt. */
Test(advise, mirrors_in_place_of_raidz_use_the_same_disks)
{
	static const struct {
		const char *layout, *disks;
		int n_data, vdevs; /* of the mirrors; 0: they are not tried */
	} cases[] = {
	    {"raidz1", "[hdd-7200-desktop x 3]", 3, 1}, {"raidz1", "[hdd-7200-desktop x 4]", 4, 2},
	    {"raidz2", "[hdd-7200-desktop x 5]", 4, 2}, {"mirror", "[hdd-7200-desktop x 2]", 0, 0},
	    {"stripe", "[hdd-7200-desktop x 3]", 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc = load_short(), *shelf = load_short();
		struct sl_advise_options options = {.repeat = 1, .seed = 1};
		struct sl_err err = {0};
		struct sl_advice advice;

		/* Any number of disks can be a stripe. */
		cr_assert_eq(sl_scenario_set(sc, "pool.data.layout", "stripe", "test", &err), 0, "%s",
			     err.msg);
		cr_assert_eq(sl_scenario_set(sc, "pool.data.disks", cases[i].disks, "test", &err), 0, "%s",
			     err.msg);
		cr_assert_eq(sl_scenario_set(sc, "pool.data.layout", cases[i].layout, "test", &err), 0, "%s",
			     err.msg);
		advice = advise(sc, shelf, &options);
		cr_assert_eq(has_candidate(&advice, "mirrors in place of raidz"), cases[i].vdevs > 0, "%s",
			     cases[i].disks);
		if (cases[i].vdevs > 0) {
			const struct sl_box *box = &candidate(&advice, "mirrors in place of raidz")->box;

			cr_assert_eq(box->data_layout, SL_LAYOUT_MIRROR);
			cr_assert_eq(box->n_data, cases[i].n_data, "%s: %d", cases[i].disks, box->n_data);
			cr_assert_eq((int)box->data_vdevs, cases[i].vdevs, "%s", cases[i].disks);
		}
		sl_advice_fini(&advice);
		sl_scenario_free(sc);
		sl_scenario_free(shelf);
	}
}

/* The box has a mirror of two: to put them side by side nothing is bought, and one alone is no purchase. */
Test(advise, the_members_of_a_mirror_are_owned)
{
	static const char *const drives[] = {"intel-dc-s3500-80"};
	struct sl_scenario *sc = load_short(), *shelf = load_short();
	struct sl_advise_options options = {.drives = drives, .n_drives = 1, .repeat = 1, .seed = 1};
	struct sl_err err = {0};
	struct sl_advice advice;

	cr_assert_eq(sl_scenario_set(sc, "pool.log", "{mirror: [intel-dc-s3500-80 x 2]}", "test", &err), 0,
		     "%s", err.msg);
	advice = advise(sc, shelf, &options);
	cr_assert_eq(candidate(&advice, "stripe of 2 x intel-dc-s3500-80")->n_drives, 0);
	cr_assert_eq(candidate(&advice, "intel-dc-s3500-80")->n_drives, 0);
	cr_assert(!has_candidate(&advice, "mirror of 2 x intel-dc-s3500-80"), "it is the base");
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

/* A log device that forgets: fast, and never advised. */
Test(advise, what_loses_more_than_the_base_is_unsafe)
{
	static const char *const drives[] = {"ramdisk-8"};
	struct sl_scenario *sc = load_short(), *shelf = load_short();
	struct sl_advise_options options = {.drives = drives, .n_drives = 1, .repeat = 1, .seed = 1};
	struct sl_advice advice;
	int seen = 0;

	cr_assert_eq(sl_scenario_set(sc, "pool.log", "none", "test", NULL), 0);
	advice = advise(sc, shelf, &options);
	for (int i = 0; i < advice.tables[0].n_rows; i++) {
		const struct sl_advice_row *row = &advice.tables[0].rows[i];

		const struct sl_candidate *c = &advice.candidates[row->candidate];

		if (c->change == SL_CHANGE_PURCHASE && c->box.n_log > 0) { /* an L2ARC loses nothing */
			cr_assert(row->unsafe);
			cr_assert(strstr(row->measure.loss.why, "ramdisk-8 is volatile memory") != NULL);
			seen++;
		}
	}
	cr_assert_eq(seen, 3);
	cr_assert_eq(advice.tables[0].best_purchase, -1, "what loses more than the base is never advised");
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

Test(advise, losses_within_a_factor_of_two_are_equal)
{
	const struct {
		double a, b;
		bool more;
	} cases[] = {
	    {0, 0, false}, {1e-6, 0, true}, {0.019, 0.01, false}, {0.021, 0.01, true}, {1, 5, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sl_loss a = {.seconds = cases[i].a}, b = {.seconds = cases[i].b};

		cr_assert_eq(sl_loss_is_more(&a, &b), cases[i].more, "case %zu", i);
	}
	cr_assert_eq(sl_loss_class(&(struct sl_loss){.seconds = 0}), 0);
	cr_assert(sl_loss_class(&(struct sl_loss){.seconds = 0.009}) <
		  sl_loss_class(&(struct sl_loss){.seconds = 5.5}));
}
