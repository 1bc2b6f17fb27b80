/* Records whose txg is syncing when they are to be written in place: they are written beside it, and wait. */
#include "sim/zfs/throttle.h"
#include "tests/unit/zfs/zil_rig.h"

#define DIRTY 800 /* of 1000 records: (800 - 600) / (1000 - 800) x 500 us = 500 us from one to the next */

/* A log without a device of its own whose open txg is KEEP + 1, and a pool that is dirty enough to throttle.
 */
struct late_rig {
	struct rig *rig;
	struct sl_txg txg;
	struct sl_throttle throttle;
};

static void late_new(struct late_rig *late, enum sl_zil_generation generation, bool throttled)
{
	struct rig *rig = rig_new_of(false, generation);
	struct sl_txg_config config = {.data = &rig->slog,
				       .meta = &rig->slog,
				       .timeout_ns = 1000 * SEC,
				       .recordsize_bytes = 128 * KIB,
				       .metaslab_bytes = 1024 * MIB,
				       .async_write_min = 1,
				       .stored_bytes = 128 * KIB,
				       .feeders = 1,
				       .workers = 1,
				       .dirty_max_bytes = 1000 * 128 * KIB,
				       .dirty_sync_bytes = INT64_MAX};

	late->rig = rig;
	rig->placed.txg = KEEP + 1;
	sl_txg_init(&late->txg, &config, rig->nas.loop, &rig->nas.cpu, NULL);
	sl_throttle_init(&late->throttle, rig->nas.loop, &late->txg, NULL);
	for (int i = 0; i < DIRTY; i++) {
		sl_txg_dirty(&late->txg, 0, 1, i * 128 * KIB, 1, false);
	}
	rig->zil.config.throttle = throttled ? &late->throttle : NULL;
}

static void late_free(struct late_rig *late)
{
	sl_txg_fini(&late->txg);
	rig_free(late->rig);
}

/* Writes of whole records 0 .. n - 1, which nobody has committed. */
static void write_records(struct rig *rig, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		log_write(rig, 1, (uint32_t)(128 * KIB), i, false);
	}
}

static void run_to(struct rig *rig, int64_t at_ns)
{
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, at_ns, NULL), 0);
}

/* Three records at the throttle take 1.5 ms, then the block and the records go out: 1 ms, and the flush. */
Test(zil_late, each_record_of_the_syncing_txg_waits_at_the_throttle_of_2_1)
{
	struct late_rig late;
	struct commit commit = {0};

	late_new(&late, SL_ZIL_21, true);
	commit.rig = late.rig;
	write_records(late.rig, 3);
	commit_start(&commit, 0);
	run_to(late.rig, 1499 * US);
	cr_assert_eq(late.rig->zil.blocks, 0);
	run_to(late.rig, 10 * MS);
	cr_assert(commit.done);
	cr_assert_eq(late.rig->zil.indirect, 3);
	late_free(&late);
}

/* Since 2.2 they do not wait (TXG_NOTHROTTLE): all are under way at once. */
Test(zil_late, since_2_2_they_do_not_wait)
{
	struct late_rig late;
	struct commit commit = {0};

	late_new(&late, SL_ZIL_23, false);
	commit.rig = late.rig;
	write_records(late.rig, 3);
	commit_start(&commit, 0);
	cr_assert_eq(late.rig->zil.blocks, 1);
	cr_assert_eq(late.rig->zil.indirect, 3);
	run_to(late.rig, 10 * MS);
	cr_assert(commit.done);
	late_free(&late);
}

/* After 0.5 ms the first of four is let in, and the second is at the throttle: it goes at 1 ms. At 0.8 ms
 * their txg is on disk: the other two are left out. */
Test(zil_late, what_the_txg_has_synced_meanwhile_is_left_out)
{
	struct late_rig late;
	struct commit commit = {0};

	late_new(&late, SL_ZIL_21, true);
	commit.rig = late.rig;
	write_records(late.rig, 4);
	commit_start(&commit, 0);
	run_to(late.rig, 800 * US);
	sl_zil_synced(&late.rig->zil, KEEP);
	run_to(late.rig, 10 * MS);
	cr_assert(commit.done);
	cr_assert_eq(late.rig->zil.indirect, 2);
	late_free(&late);
}

/* Another commit comes at 0.2 ms, for a small write: it waits for the first's list
 * (zl_issuer_lock), which ends at 1 ms. */
Test(zil_late, other_commits_wait_for_the_list)
{
	struct late_rig late;
	struct commit commit = {0}, other = {0};

	late_new(&late, SL_ZIL_21, true);
	commit.rig = other.rig = late.rig;
	write_records(late.rig, 2);
	commit_start(&commit, 0);
	run_to(late.rig, 200 * US);
	other.bytes = 1024;
	commit_start(&other, 200 * US);
	run_to(late.rig, 999 * US);
	cr_assert_eq(late.rig->zil.blocks, 0);
	run_to(late.rig, 10 * MS);
	cr_assert(commit.done && other.done);
	late_free(&late);
}

/* A record of the open txg is not late: nothing waits, however dirty the pool. */
Test(zil_late, records_of_the_open_txg_do_not_wait)
{
	struct late_rig late;
	struct commit commit = {0};

	late_new(&late, SL_ZIL_21, true);
	late.rig->placed.txg = KEEP;
	commit.rig = late.rig;
	write_records(late.rig, 3);
	commit_start(&commit, 0);
	cr_assert_eq(late.rig->zil.blocks, 1);
	run_to(late.rig, 10 * MS);
	cr_assert(commit.done);
	late_free(&late);
}
