/*
 * Eight boxes, and what must be advised for each, written down before it was run. Drives to buy: a small one
 * that wears out at each of these loads (45 TB), and one that lasts (20.5 PB). The reasons, by hand:
 *
 * - good-slog: one writer waits for one step after another, a log write of the best drive is a tenth of it,
 * and no other CPU or thread could take a share of one request: nothing.
 * - cached: 128 MiB in a guest of 1 GiB: no request leaves the guest: nothing.
 * - arc-too-small: 10 GiB where the storage VM keeps 0.7 x 8 GiB = 5.6: more than two of five reads wait 8 ms
 * and more for a disk, all others well below 1 ms. 0.7 x 16 GiB = 11.2 hold everything: memory, more than 3
 * times.
 * - guest-too-small: 1.07 GiB where the guest keeps 0.6 GiB: two of five reads go through hypervisor and NFS,
 *   some 100 us against 10; with 2 GiB it keeps 1.2: memory of the guest, and not of the storage VM, which
 * has all.
 * - raidz-reads: 500 GiB, next to nothing is cached; every read needs all data disks of the one vdev, so that
 * the pool reads as often as one disk; in three pairs six disks read each for itself: mirror pairs, more than
 * 2 times.
 * - journal-4k, -64k: each write waits for a rotation (8.3 ms) or its part: a SLOG, the one that lasts. At
 * 2000 writes a second of 8 KiB of log, 1.4 TB a day, 45 TB are gone in a month. Nobody says that a journal
 * can be started again: sync=disabled is not advised.
 * - copy-64k: the same load with restartable: yes: nothing, sync=disabled.
 */
#include <string.h>

#include "sim/stack/advise.h"
#include "tests/sim/lib.h"

static const struct {
	const char *box, *advised; /* name of the row; NULL = nothing */
	double least_gain;
} boxes[] = {
    {"good-slog", NULL, 0},
    {"cached", NULL, 0},
    {"arc-too-small", "storage VM memory x2", 3},
    {"guest-too-small", "guest memory x2", 1.5},
    {"raidz-reads", "mirrors in place of raidz", 2},
    {"journal-4k", "optane-p4800x-375", 5},
    {"journal-64k", "optane-p4800x-375", 5},
    {"copy-64k", "sync=disabled", 5},
};

static struct sl_scenario *load_box(const char *name)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	char path[512];

	(void)snprintf(path, sizeof(path), SL_SOURCE_DIR "/tests/sim/advise/box-%s.yaml", name);
	cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s", err.msg);
	return sc;
}

/* Nothing that its own table marks as dead within the years or unsafe is named. */
static void assert_names_nothing_bad(const struct sl_advice *advice, const struct sl_advice_table *table)
{
	const char *advised =
	    table->advised >= 0 ? advice->candidates[table->rows[table->advised].candidate].name : "";

	for (int i = 0; i < table->n_rows; i++) {
		const struct sl_advice_row *row = &table->rows[i];
		const char *name = advice->candidates[row->candidate].name;

		if ((row->life == SL_LIFE_SHORT || row->unsafe) && !strstr(advised, name)) {
			cr_assert_null(strstr(table->verdict, name), "%s is named in: %s", name,
				       table->verdict);
		}
	}
	cr_assert(table->advised < 0 ||
		  (table->rows[table->advised].life != SL_LIFE_SHORT && !table->rows[table->advised].unsafe));
}

Test(advise_boxes, each_is_advised_what_was_written_down_before)
{
	static const char *const drives[] = {"intel-dc-s3500-80", "optane-p4800x-375"};

	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		struct sl_scenario *sc = load_box(boxes[i].box), *shelf = load_box(boxes[i].box);
		struct sl_advise_options options = {.drives = drives, .n_drives = 2, .repeat = 2, .seed = 1};
		const struct sl_advice_table *table;
		struct sl_advice advice;
		struct sl_err err = {0};

		cr_assert_eq(sl_advise_run(sc, shelf, &options, &advice, &err), 0, "%s", err.msg);
		cr_assert_eq(advice.n_tables, 1);
		table = &advice.tables[0];
		assert_names_nothing_bad(&advice, table);
		if (boxes[i].advised) {
			cr_expect(table->advised == sl_advice_find(&advice, table, boxes[i].advised),
				  "%s: %s", boxes[i].box, table->verdict);
			cr_expect(table->advised >= 0 &&
				      table->rows[table->advised].paired.ratio > boxes[i].least_gain,
				  "%s: %s", boxes[i].box, table->verdict);
		} else {
			cr_expect_eq(table->advised, -1, "%s: %s", boxes[i].box, table->verdict);
		}
		cr_expect_eq(strncmp(table->verdict, "Buy nothing", 11) == 0,
			     table->advised < 0 || table->advised != table->best_purchase, "%s: %s",
			     boxes[i].box, table->verdict);
		sl_advice_fini(&advice);
		sl_scenario_free(sc);
		sl_scenario_free(shelf);
	}
}
