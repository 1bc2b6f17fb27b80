/* The write throttle: its curve by hand, one writer after the other, and the wall at the maximum. */
#include "sim/zfs/throttle.h"
#include "tests/unit/zfs/lib.h"

#define MAX (1000 * 128 * KIB) /* zfs_dirty_data_max: 1000 records */

struct rig {
	struct nas nas;
	struct sl_vdev data;
	struct sl_txg txg;
	struct sl_throttle throttle;
};

static struct rig *rig_new(int dirty_records)
{
	static const char *const names[] = {"disk"};
	struct rig *rig = calloc(1, sizeof(*rig));
	struct sl_txg_config config = {.timeout_ns = 1000 * SEC,
				       .recordsize_bytes = 128 * KIB,
				       .old = true,
				       .metaslab_bytes = 1024 * MIB,
				       .async_write_min = 1,
				       .stored_bytes = 128 * KIB,
				       .feeders = 1,
				       .workers = 1,
				       .dirty_max_bytes = MAX,
				       .dirty_sync_bytes = INT64_MAX};

	cr_assert_not_null(rig);
	nas_init(&rig->nas);
	vdev_of_disks(&rig->data, &rig->nas, SL_VDEV_STRIPE, names, 1);
	((struct fake_disk *)(void *)rig->data.disks[0])->notes = NULL;
	config.data = config.meta = &rig->data;
	sl_txg_init(&rig->txg, &config, rig->nas.loop, &rig->nas.cpu, NULL);
	sl_throttle_init(&rig->throttle, rig->nas.loop, &rig->txg, NULL);
	for (int i = 0; i < dirty_records; i++) {
		sl_txg_dirty(&rig->txg, 0, 1, i * 128 * KIB, 1, false);
	}
	return rig;
}

static void rig_free(struct rig *rig)
{
	sl_txg_fini(&rig->txg);
	sl_vdev_fini(&rig->data);
	nas_fini(&rig->nas);
	free(rig);
}

struct write {
	struct sl_throttled entry;
	int64_t at_ns;
};

static void let_in(struct sl_timer *timer, int64_t now_ns)
{
	sl_container_of(timer, struct write, entry.go)->at_ns = now_ns;
}

static struct write write_new(void)
{
	return (struct write){.entry.go.fire = let_in, .at_ns = -1};
}

/* 500 us x (dirty - 60 %) / (max - dirty), at most 100 ms. */
Test(throttle, the_delay_follows_the_curve)
{
	static const struct {
		int records;
		int64_t delay_us;
	} rows[] = {{0, 0},      {600, 0},    {700, 500 * 100 / 300}, {800, 500},
		    {900, 1500}, {950, 3500}, {990, 19500},           {999, 100000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig *rig = rig_new(rows[i].records);
		struct write first = write_new(), second = write_new();

		sl_throttle_enter(&rig->throttle, 0, &first.entry);
		sl_throttle_enter(&rig->throttle, 0, &second.entry);
		cr_assert_eq(sl_loop_run_until(rig->nas.loop, SEC, NULL), 0);
		cr_assert_eq(first.at_ns / US, rows[i].delay_us, "%d records: %lld", rows[i].records,
			     (long long)first.at_ns);
		cr_assert_eq(second.at_ns, 2 * first.at_ns); /* one after the other */
		rig_free(rig);
	}
}

/*
 * 999 of 1000 records are dirty, and stay so (the txg closes after 1000 s): 100 ms from one to the next. The
 * crowd goes at 100, 200 and 300 ms, who comes at 250 ms behind it at 400.
 */
Test(throttle, newcomers_do_not_pass_those_who_wait)
{
	struct rig *rig = rig_new(999);
	struct write crowd[3] = {write_new(), write_new(), write_new()}, newcomer = write_new();

	for (int i = 0; i < 3; i++) {
		sl_throttle_enter(&rig->throttle, 0, &crowd[i].entry);
	}
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, 250 * MS, NULL), 0);
	sl_throttle_enter(&rig->throttle, 250 * MS, &newcomer.entry);
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, SEC, NULL), 0);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(crowd[i].at_ns, (i + 1) * 100 * MS);
	}
	cr_assert_eq(newcomer.at_ns, 400 * MS);
	rig_free(rig);
}

/* Ten wait at the maximum. The txg is written: nothing is dirty, and they go in the order they came. */
struct ordered {
	struct sl_throttled entry;
	int number, *next;
};

static void in_order(struct sl_timer *timer, int64_t now_ns)
{
	struct ordered *write = sl_container_of(timer, struct ordered, entry.go);

	(void)now_ns;
	cr_assert_eq(write->number, *write->next);
	(*write->next)++;
}

Test(throttle, those_who_were_blocked_go_in_the_order_they_came)
{
	struct rig *rig = rig_new(1000);
	struct ordered writes[10];
	int next = 0;

	for (int i = 0; i < 10; i++) {
		writes[i] = (struct ordered){.entry.go.fire = in_order, .number = i, .next = &next};
		sl_throttle_enter(&rig->throttle, i * MS, &writes[i].entry);
	}
	cr_assert_eq(next, 0);
	run_all(rig->nas.loop);
	sl_throttle_progress(&rig->throttle, sl_loop_now(rig->nas.loop));
	cr_assert_eq(next, 10);
	rig_free(rig);
}

Test(throttle, at_the_maximum_writers_wait_for_the_txg)
{
	struct rig *rig = rig_new(1000);
	struct write write = write_new();

	sl_throttle_enter(&rig->throttle, 0, &write.entry);
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, SEC, NULL), 0);
	sl_throttle_progress(&rig->throttle, SEC); /* nothing has changed */
	cr_assert_eq(write.at_ns, -1);
	run_all(rig->nas.loop); /* the txg is synced */
	sl_throttle_progress(&rig->throttle, sl_loop_now(rig->nas.loop));
	cr_assert_eq(write.at_ns, sl_loop_now(rig->nas.loop));
	rig_free(rig);
}

/* zfs_wrlog_data_max is twice zfs_dirty_data_max: the same curve for what is in the log, here with nothing
 * dirty; 1600 records are 80 % of 2000. At the maximum the longest delay, and nobody blocks. */
Test(throttle, what_is_in_the_log_delays_too)
{
	static const struct {
		int records;
		int64_t delay_us;
	} rows[] = {{1200, 0}, {1600, 500}, {1800, 1500}, {2000, 100000}, {3000, 100000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig *rig = rig_new(0);
		struct sl_zil_space wrlog = {0};
		struct write write = write_new();

		sl_zil_space_take(&wrlog, 1, rows[i].records * 128 * KIB);
		rig->throttle.wrlog = &wrlog;
		sl_throttle_enter(&rig->throttle, 0, &write.entry);
		cr_assert_eq(sl_loop_run_until(rig->nas.loop, SEC, NULL), 0);
		cr_assert_eq(write.at_ns / US, rows[i].delay_us, "%d records: %lld", rows[i].records,
			     (long long)write.at_ns);
		rig_free(rig);
	}
}
