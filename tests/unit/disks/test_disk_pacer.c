/* A disk behind the wall clock; the wall is a virtual loop here. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sim/disks/disk_pacer.h"

#define US 1000
#define MS 1000000

struct bench {
	struct sl_loop *wall;
	struct sl_hist modelled;
	struct sl_disk_pacer *pacer;
	unsigned settled;
};

struct probe {
	struct sl_dev_req req;
	int64_t due_ns;
	unsigned done;
};

static void bench_settled(void *arg)
{
	struct bench *bench = arg;

	bench->settled++;
}

static void bench_init_of(struct bench *bench, const struct sl_dev_spec *spec, double pace,
			  int64_t credit_cap_ns)
{
	struct sl_disk_pacer_config config = {.spec = spec,
					      .name = "s",
					      .seed = 1,
					      .pace = pace,
					      .credit_cap_ns = credit_cap_ns,
					      .settled = bench_settled,
					      .arg = bench};
	struct sl_err err = {0};

	*bench = (struct bench){.wall = sl_loop_new_virtual()};
	cr_assert_eq(sl_hist_init(&bench->modelled), 0);
	config.wall = bench->wall;
	config.modelled = &bench->modelled;
	cr_assert_eq(sl_loop_run_until(bench->wall, 5 * MS, NULL), 0);
	cr_assert_eq(sl_disk_pacer_new(&config, &bench->pacer, &err), 0, "%s", err.msg);
}

/* An SSD that takes 100 us for a write, and 1 ms for a flush. */
static void bench_init(struct bench *bench, double pace, int64_t credit_cap_ns)
{
	struct sl_dev_spec spec = {.name = "s",
				   .kind = SL_DEV_SSD,
				   .capacity_bytes = 1e9,
				   .link_bps = 1e11,
				   .read_ns = 100 * US,
				   .write_ns = 100 * US,
				   .read_bps = 1e11,
				   .ssd_write_bps = 1e11,
				   .buffer_bytes = 1e9,
				   .plp = 1,
				   .flush_ns = 1 * MS};

	bench_init_of(bench, &spec, pace, credit_cap_ns);
}

static void bench_fini(struct bench *bench)
{
	sl_disk_pacer_free(bench->pacer);
	sl_hist_fini(&bench->modelled);
	sl_loop_free(bench->wall);
}

static void bench_at(struct bench *bench, int64_t at_ns)
{
	cr_assert_eq(sl_loop_run_until(bench->wall, at_ns, NULL), 0);
}

static void probe_done(struct sl_timer *timer, int64_t now_ns)
{
	struct probe *probe = sl_container_of(timer, struct probe, req.done);

	probe->done++;
	probe->due_ns = now_ns;
}

static void submit_followed(struct bench *bench, struct probe *probe, struct sl_mark *mark)
{
	*probe = (struct probe){
	    .req = {.done = {.fire = probe_done}, .op = SL_DEV_WRITE, .bytes = 4096, .mark = mark}};
	sl_dev_submit(sl_disk_pacer_dev(bench->pacer), sl_loop_now(bench->wall), &probe->req);
}

static void submit(struct bench *bench, struct probe *probe, enum sl_dev_op op, int64_t credit_ns)
{
	*probe = (struct probe){.req = {.done = {.fire = probe_done}, .op = op, .bytes = 4096}};
	sl_dev_submit(sl_disk_pacer_dev(bench->pacer), sl_loop_now(bench->wall) - credit_ns, &probe->req);
	cr_assert_eq(probe->done, 0);
}

Test(disk_pacer, completes_at_the_modelled_time_dilated)
{
	for (int pace = 1; pace <= 10; pace += 9) {
		struct bench bench;
		struct probe probe;

		bench_init(&bench, pace, 0);
		bench_at(&bench, 6 * MS);
		submit(&bench, &probe, SL_DEV_WRITE, 0);
		bench_at(&bench, 6 * MS + pace * 99 * US);
		cr_assert_eq(probe.done, 0);
		bench_at(&bench, 6 * MS + pace * 101 * US);
		cr_assert_eq(probe.done, 1);
		cr_assert(llabs(probe.due_ns - (6 * MS + pace * 100 * US)) < pace * US);
		cr_assert_eq(bench.modelled.count, 1);
		cr_assert(bench.settled >= 1);
		bench_fini(&bench);
	}
}

Test(disk_pacer, credit_makes_up_for_lateness_up_to_the_cap)
{
	struct bench bench;
	struct probe probe;

	bench_init(&bench, 1, 1 * MS);
	bench_at(&bench, 10 * MS);
	submit(&bench, &probe, SL_DEV_WRITE, 60 * US);
	bench_at(&bench, 10 * MS + 50 * US);
	cr_assert_eq(probe.done, 1);
	cr_assert(llabs(probe.due_ns - (10 * MS + 40 * US)) < US);
	/* More than the cap is cut: a millisecond of credit, so it is due in the past, and completes now. */
	bench_at(&bench, 20 * MS);
	submit(&bench, &probe, SL_DEV_WRITE, 9 * MS);
	sl_disk_pacer_run(bench.pacer);
	cr_assert_eq(probe.done, 1);
	cr_assert(llabs(probe.due_ns - (19 * MS + 100 * US)) < US);
	cr_assert(llabs(sl_disk_pacer_credit_used(bench.pacer) - (1 * MS + 60 * US)) < 2 * US);
	bench_fini(&bench);
}

Test(disk_pacer, a_closed_loop_with_late_replies_keeps_its_rate)
{
	struct bench bench;
	struct probe probe = {.due_ns = 10 * MS};
	int64_t at_ns = 10 * MS;

	bench_init(&bench, 1, 5 * MS);
	bench_at(&bench, at_ns);
	for (int i = 0; i < 200; i++) {
		submit(&bench, &probe, SL_DEV_WRITE, at_ns - probe.due_ns);
		probe.due_ns = at_ns;
		at_ns += 150 * US; /* each reply is noticed late */
		at_ns = i % 2 ? at_ns : at_ns - 100 * US;
		bench_at(&bench, at_ns);
		if (!probe.done) {
			at_ns += 60 * US;
			bench_at(&bench, at_ns);
		}
		cr_assert_eq(probe.done, 1, "request %d", i);
	}
	/* 200 requests of 100 us each, as if nothing had been late. */
	cr_assert(llabs(probe.due_ns - (10 * MS + 200 * 100 * US)) < 200 * US);
	bench_fini(&bench);
}

Test(disk_pacer, without_latency_requests_complete_at_once)
{
	struct bench bench;
	struct probe probe, timed;

	bench_init(&bench, 1, 0);
	bench_at(&bench, 6 * MS);
	sl_disk_pacer_latency(bench.pacer, false);
	submit(&bench, &probe, SL_DEV_FLUSH, 0);
	sl_disk_pacer_run(bench.pacer);
	cr_assert_eq(probe.done, 1);
	cr_assert_eq(probe.due_ns, 6 * MS);
	cr_assert_eq(bench.modelled.count, 0);
	sl_disk_pacer_latency(bench.pacer, true);
	submit(&bench, &timed, SL_DEV_FLUSH, 0);
	sl_disk_pacer_run(bench.pacer);
	cr_assert_eq(timed.done, 0);
	bench_at(&bench, 8 * MS);
	cr_assert_eq(timed.done, 1);
	bench_fini(&bench);
}

Test(disk_pacer, a_change_of_pace_counts_from_now_on)
{
	struct bench bench;
	struct probe probe;

	bench_init(&bench, 1, 0);
	bench_at(&bench, 6 * MS);
	submit(&bench, &probe, SL_DEV_FLUSH, 0);
	bench_at(&bench, 6 * MS + 500 * US);
	sl_disk_pacer_set_pace(bench.pacer, 4); /* half of the flush is left: 2 ms */
	bench_at(&bench, 8 * MS + 490 * US);
	cr_assert_eq(probe.done, 0);
	bench_at(&bench, 8 * MS + 510 * US);
	cr_assert_eq(probe.done, 1);
	bench_fini(&bench);
}

Test(disk_pacer, a_power_cut_drops_what_is_in_service)
{
	struct bench bench;
	struct probe probes[40], after;

	bench_init(&bench, 1, 1 * MS);
	bench_at(&bench, 6 * MS);
	for (int i = 0; i < 40; i++) {
		submit(&bench, &probes[i], i % 2 ? SL_DEV_WRITE : SL_DEV_FLUSH, 0);
	}
	sl_disk_pacer_drop(bench.pacer);
	bench_at(&bench, 20 * MS);
	for (int i = 0; i < 40; i++) {
		cr_assert_eq(probes[i].done, 0);
	}
	submit(&bench, &after, SL_DEV_WRITE, 0);
	bench_at(&bench, 20 * MS + 101 * US);
	cr_assert_eq(after.done, 1);
	cr_assert(llabs(after.due_ns - (20 * MS + 100 * US)) < US);
	bench_fini(&bench);
}

/* A hard disk whose idle mechanism takes milliseconds for what its cache has taken in less than one. */
static struct sl_dev_spec hard_disk(void)
{
	return (struct sl_dev_spec){.name = "h",
				    .kind = SL_DEV_HDD,
				    .capacity_bytes = 1e12,
				    .link_bps = 300e6,
				    .rpm = 7200,
				    .seek_track_ns = 1 * MS,
				    .seek_avg_ns = 8 * MS,
				    .seek_full_ns = 16 * MS,
				    .media_bps = 150e6,
				    .write_cache = 1,
				    .cache_bytes = 32 << 20,
				    .write_ack_ns = 200 * US,
				    .write_bps = 150e6,
				    .command_ns = 100 * US,
				    .ncq_depth = 32,
				    .flush_honoured = 1};
}

Test(disk_pacer, an_idle_disk_goes_on_dilated_and_tells_in_the_marks)
{
	for (int pace = 1; pace <= 10; pace += 9) {
		const struct sl_dev_spec spec = hard_disk();
		struct sl_slab pool;
		struct probe probe, late;
		struct sl_mark *mark;
		struct bench bench;
		int64_t reached_ns;

		bench_init_of(&bench, &spec, pace, 1 * MS);
		sl_slab_init(&pool, sizeof(struct sl_mark));
		mark = sl_mark_new(&pool);
		bench_at(&bench, 10 * MS);
		submit_followed(&bench, &probe, mark);
		bench_at(&bench, 10 * MS + pace * 300 * US);
		cr_assert_eq(probe.done, 1);
		/* At rest the model stays the credit cap behind, and a late request still gets its credit. */
		bench_at(&bench, 10 * MS + (int64_t)pace * 40 * MS);
		reached_ns = sl_disk_pacer_reached(bench.pacer, false);
		cr_assert(llabs(reached_ns - ((5 + 40 * pace - 1) * (int64_t)MS / pace)) < US);
		cr_assert(mark->safe_ns > mark->done_ns && mark->safe_ns < reached_ns);
		submit(&bench, &late, SL_DEV_WRITE, 1 * MS);
		cr_assert(sl_disk_pacer_credit_used(bench.pacer) >= 1 * MS - US);
		reached_ns = sl_disk_pacer_reached(bench.pacer, true);
		cr_assert(llabs(reached_ns - (5 + 40 * pace) * (int64_t)MS / pace) < US, "the present");
		sl_slab_fini(&pool);
		bench_fini(&bench);
	}
}
