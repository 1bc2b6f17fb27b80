/* The restart, step by step, on a history made by hand. */
#include <criterion/criterion.h>

#include "sim/zfs/import.h"

static const struct sl_cut power = {0};

struct past {
	struct sl_ledger ledger;
	struct sl_history history;
};

static void past_init(struct past *past)
{
	sl_ledger_init(&past->ledger, 1000);
	sl_history_init(&past->history, &past->ledger);
}

static void past_fini(struct past *past)
{
	sl_history_fini(&past->history);
	sl_ledger_fini(&past->ledger);
}

/* A write of `txg` in log block `block`, which is safe at safe_ns. */
static void logged(struct past *past, uint64_t txg, uint32_t block, int64_t safe_ns)
{
	uint32_t write = sl_history_arrived(&past->history, (uint32_t)past->history.writes.end + 1, txg);

	sl_history_packed(&past->history, block, write, txg);
	sl_mark_safe(sl_history_block_mark(&past->history, block), safe_ns);
}

static const struct sl_history_write *write_at(const struct past *past, uint64_t number)
{
	return sl_ring_at(&past->history.writes, number);
}

static struct sl_imported play(const struct past *past, const struct sl_cut *cut, int64_t at_ns)
{
	struct sl_imported imported;
	struct sl_import import;

	sl_import_init(&import, &past->history, cut);
	sl_import_play(&import, at_ns, &imported);
	return imported;
}

Test(import, replay_stops_at_the_first_block_that_is_not_there)
{
	struct past past;
	struct sl_imported imported;

	past_init(&past);
	logged(&past, 1, 0, 10);
	logged(&past, 1, 1, 40); /* late */
	logged(&past, 1, 2, 20);
	imported = play(&past, &power, 30);
	cr_assert_eq(imported.first, 0);
	cr_assert_eq(imported.stop, 1);
	cr_assert(sl_imported_has(&imported, write_at(&past, 0)));
	cr_assert(!sl_imported_has(&imported, write_at(&past, 2)), "it is there, but behind a hole");
	imported = play(&past, &power, 40);
	cr_assert_eq(imported.stop, 3);
	cr_assert_eq(imported.records, 3);
	past_fini(&past);
}

Test(import, synced_txg_needs_no_log_and_moves_the_head_of_the_chain)
{
	struct past past;
	struct sl_imported imported;

	past_init(&past);
	logged(&past, 1, 0, SL_NEVER); /* never on its device */
	logged(&past, 2, 1, 20);
	sl_mark_safe(sl_history_txg_mark(&past.history, 1), 25);
	sl_history_synced(&past.history, 1, 30);
	imported = play(&past, &power, 29);
	cr_assert_eq(imported.txg, 0);
	cr_assert_eq(imported.stop, 0, "all hangs on block 0");
	imported = play(&past, &power, 30);
	cr_assert_eq(imported.txg, 1);
	cr_assert_eq(imported.first, 1);
	cr_assert_eq(imported.stop, 2);
	cr_assert(sl_imported_has(&imported, write_at(&past, 0)));
	cr_assert(sl_imported_has(&imported, write_at(&past, 1)));
	past_fini(&past);
}

/* Disks that lie: ZFS believes a txg that is not there, and the log of before it is still in its place. */
Test(import, txg_that_is_not_on_the_disks_is_rolled_back_and_its_log_replayed)
{
	struct past past;
	struct sl_mark *mark;
	struct sl_imported imported;

	past_init(&past);
	logged(&past, 1, 0, 10);
	logged(&past, 2, 1, 20);
	mark = sl_history_txg_mark(&past.history, 1);
	sl_mark_at_risk(mark, 15, SL_RISK_LIAR);
	mark->safe_ns = 60;
	sl_history_synced(&past.history, 1, 30);
	sl_mark_safe(sl_history_txg_mark(&past.history, 2), 40);
	sl_history_synced(&past.history, 2, 50);
	imported = play(&past, &power, 55);
	cr_assert_eq(imported.believed, 2);
	cr_assert_eq(imported.txg, 0, "2 is whole, but builds on 1");
	cr_assert_eq(imported.first, 0);
	cr_assert_eq(imported.stop, 2);
	imported = play(&past, &power, 60);
	cr_assert_eq(imported.txg, 2);
	/* Disks that keep their power keep what is done. */
	imported = play(&past, &(struct sl_cut){.powered = true}, 55);
	cr_assert_eq(imported.txg, 2);
	past_fini(&past);
}

Test(import, block_with_data_in_place_needs_that_too)
{
	struct past past;

	past_init(&past);
	logged(&past, 1, 0, 10);
	sl_mark_safe(sl_history_block_mark(&past.history, 0), 50);
	cr_assert_eq(play(&past, &power, 49).stop, 0);
	cr_assert_eq(play(&past, &power, 50).stop, 1);
	past_fini(&past);
}

Test(import, lost_log_takes_its_blocks_and_the_culprit_is_named)
{
	const struct sl_cut lost = {.log_lost = true};
	struct past past;
	struct sl_imported imported;
	struct sl_import import;
	struct sl_mark *mark;

	past_init(&past);
	logged(&past, 1, 0, 10);
	mark = sl_history_block_mark(&past.history, 1);
	mark->log = true;
	mark->disk = 3;
	sl_mark_safe(mark, 20);
	sl_history_packed(&past.history, 1, 0, 1);
	sl_import_init(&import, &past.history, &lost);
	sl_import_play(&import, 30, &imported);
	cr_assert_eq(imported.stop, 1);
	cr_assert_eq(sl_import_culprit(&import, &imported, 30), mark);
	cr_assert_null(sl_import_culprit(&import, &imported, 19), "not written yet: nobody's fault");
	past_fini(&past);
}

/* What is forgotten changes nothing for later cuts. Txg 1 is synced at 30, its blocks are 0 and 1; block 2 is
 * there at 40, block 3 at 60. */
Test(import, what_is_forgotten_is_not_missed_later)
{
	struct sl_imported whole, rest;
	struct sl_import import;
	struct past past;

	past_init(&past);
	logged(&past, 1, 0, 10);
	logged(&past, 1, 1, 20);
	logged(&past, 2, 2, 40);
	logged(&past, 2, 3, 60);
	sl_mark_safe(sl_history_txg_mark(&past.history, 1), 25);
	sl_history_synced(&past.history, 1, 30);
	whole = play(&past, &power, 50);
	sl_import_init(&import, &past.history, &power);
	sl_import_play(&import, 45, &rest);
	sl_history_forget(&past.history, rest.stop, rest.txg);
	cr_assert_null(sl_ring_at(&past.history.blocks, 2), "it is there for good");
	cr_assert_not_null(sl_ring_at(&past.history.blocks, 3));
	sl_import_play(&import, 50, &rest);
	cr_assert_eq(rest.txg, 1);
	cr_assert_eq(rest.first, whole.first);
	cr_assert_eq(rest.stop, whole.stop);
	cr_assert_eq(rest.records, whole.records);
	cr_assert_eq(rest.first, 2);
	cr_assert_eq(rest.stop, 3);
	cr_assert_eq(rest.records, 1);
	sl_import_play(&import, 60, &rest);
	cr_assert_eq(rest.records, 2);
	past_fini(&past);
}

/* A block that is open when its txgs are synced may still get records of later ones. */
Test(import, open_block_is_waited_for)
{
	struct sl_imported imported;
	struct sl_import import;
	struct past past;

	past_init(&past);
	sl_history_packed(&past.history, 0, sl_history_arrived(&past.history, 1, 1), 1);
	sl_mark_safe(sl_history_txg_mark(&past.history, 1), 25);
	sl_history_synced(&past.history, 1, 30);
	sl_import_init(&import, &past.history, &power);
	sl_import_play(&import, 40, &imported);
	cr_assert_eq(imported.records, 0);
	sl_history_forget(&past.history, import.stop, imported.txg);
	logged(&past, 2, 0, 70);
	sl_import_play(&import, 50, &imported);
	cr_assert(!sl_imported_has(&imported, write_at(&past, 1)));
	sl_import_play(&import, 70, &imported);
	cr_assert(sl_imported_has(&imported, write_at(&past, 1)));
	cr_assert_eq(imported.records, 2, "the block is read as a whole");
	past_fini(&past);
}

Test(import, nobody_asks)
{
	cr_assert_eq(sl_history_arrived(NULL, 1, 1), 0);
	cr_assert_null(sl_history_block_mark(NULL, 0));
	cr_assert_null(sl_history_txg_mark(NULL, 0));
	sl_history_packed(NULL, 0, 0, 1);
	sl_history_synced(NULL, 1, 1);
}
