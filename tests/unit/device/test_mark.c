#include <criterion/criterion.h>

#include "sim/device/device.h"
#include "tests/unit/device/lib.h"

#define HALF_MS INT64_C(500000)

static const struct sl_cut whole = {0}, powered = {.powered = true};

static struct sl_dev_spec ssd(bool plp)
{
	return (struct sl_dev_spec){.kind = SL_DEV_SSD,
				    .capacity_bytes = 1e11,
				    .link_bps = 600e6,
				    .read_ns = 50e3,
				    .write_ns = 30e3,
				    .read_bps = 500e6,
				    .ssd_write_bps = 300e6,
				    .plp = plp,
				    .flush_ns = 1e6,
				    .buffer_bytes = 1 << 20};
}

static struct sl_dev_spec lying_ssd(void)
{
	struct sl_dev_spec spec = ssd(false);

	spec.flush_ignored = 1;
	return spec;
}

static struct sl_dev_spec hdd(bool honest)
{
	return (struct sl_dev_spec){.kind = SL_DEV_HDD,
				    .capacity_bytes = 1e12,
				    .link_bps = 300e6,
				    .rpm = 7200,
				    .seek_track_ns = 1e6,
				    .seek_avg_ns = 8.5e6,
				    .seek_full_ns = 18e6,
				    .media_bps = 150e6,
				    .write_cache = 1,
				    .cache_bytes = 32 << 20,
				    .write_ack_ns = 200e3,
				    .write_bps = 150e6,
				    .command_ns = 100e3,
				    .ncq_depth = 32,
				    .flush_honoured = honest};
}

/* Writes 4 KiB at `offset` and waits for its end. */
static struct sl_mark *write_marked(struct bench *bench, struct sl_slab *pool, int64_t offset)
{
	struct request request = {.req = {.done.fire = request_done,
					  .op = SL_DEV_WRITE,
					  .offset_bytes = offset,
					  .bytes = 4096,
					  .mark = sl_mark_new(pool)},
				  .done_ns = -1};

	sl_dev_submit(bench->disk, sl_loop_now(bench->loop), &request.req);
	while (request.done_ns < 0) {
		cr_assert_eq(sl_loop_run_until(bench->loop, sl_loop_next_due(bench->loop), NULL), 0);
	}
	return request.req.mark;
}

Test(mark, tells_when_a_cut_no_longer_takes_a_write)
{
	const struct sl_dev_spec safe = ssd(true), volatile_ssd = ssd(false), disk = hdd(true),
				 liar = hdd(false), null_disk = {.kind = SL_DEV_NULL}, ssd_liar = lying_ssd();
	const struct {
		const char *what;
		const struct sl_dev_spec *spec;
		bool at_once, after_flush; /* safe when done; safe when the flush is done */
		enum sl_risk risk;
	} cases[] = {{"null", &null_disk, true, true, SL_RISK_NONE},
		     {"SSD with PLP", &safe, true, true, SL_RISK_NONE},
		     {"SSD without", &volatile_ssd, false, true, SL_RISK_CACHE},
		     {"SSD that lies", &ssd_liar, false, false, SL_RISK_LIAR},
		     {"disk", &disk, false, true, SL_RISK_CACHE},
		     {"disk that lies", &liar, false, false, SL_RISK_LIAR}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench = bench_new(cases[i].spec);
		struct sl_slab pool;
		struct sl_mark *mark;
		int64_t done_ns, flushed_ns;

		sl_slab_init(&pool, sizeof(struct sl_mark));
		mark = write_marked(&bench, &pool, 0);
		done_ns = sl_loop_now(bench.loop);
		flushed_ns = done_ns + io(&bench, SL_DEV_FLUSH, 0, 0);
		cr_assert_eq(sl_mark_kept_ns(mark, &powered), done_ns, "%s", cases[i].what);
		cr_assert_eq(sl_mark_kept_ns(mark, &whole) <= done_ns, cases[i].at_once, "%s", cases[i].what);
		cr_assert_eq(sl_mark_kept_ns(mark, &whole) <= flushed_ns, cases[i].after_flush, "%s",
			     cases[i].what);
		cr_assert_eq(mark->risk, cases[i].risk, "%s", cases[i].what);
		sl_slab_fini(&pool);
		bench_free(&bench);
	}
}

Test(mark, disk_that_lies_destages_in_its_own_time)
{
	const struct sl_dev_spec spec = hdd(false);
	struct bench bench = bench_new(&spec);
	struct sl_slab pool;
	struct sl_mark *first, *again;

	sl_slab_init(&pool, sizeof(struct sl_mark));
	first = write_marked(&bench, &pool, 1 << 20);
	again = write_marked(&bench, &pool, 1 << 20); /* the same place, while the first is on its way */
	pause_for(&bench, INT64_C(100000000));
	io(&bench, SL_DEV_READ, 0, 4096); /* brings the mechanism up to date */
	cr_assert(first->safe_ns > first->done_ns);
	cr_assert(again->safe_ns > first->safe_ns && again->safe_ns < sl_loop_now(bench.loop));
	sl_slab_fini(&pool);
	bench_free(&bench);
}

Test(mark, ssd_buffer_is_pushed_out_by_later_writes)
{
	const struct sl_dev_spec spec = ssd(false);
	struct bench bench = bench_new(&spec);
	struct sl_slab pool;
	struct sl_mark *mark;

	sl_slab_init(&pool, sizeof(struct sl_mark));
	mark = write_marked(&bench, &pool, 0);
	io(&bench, SL_DEV_WRITE, 4096, (1 << 20) - 4096);
	cr_assert_eq(mark->safe_ns, SL_NEVER);
	io(&bench, SL_DEV_WRITE, 1 << 20, 8192);
	cr_assert(mark->safe_ns <= sl_loop_now(bench.loop));
	sl_slab_fini(&pool);
	bench_free(&bench);
}

Test(mark, mirror_needs_one_side_and_a_stripe_all)
{
	const struct sl_dev_spec good = ssd(true), bad = ssd(false);
	struct sl_dev_spec mirror = {.kind = SL_DEV_MIRROR, .n_members = 2, .members = {&good, &bad}};
	const struct sl_cut one_out = {.one_side_out = true};
	struct bench bench = bench_new(&mirror);
	struct sl_slab pool;
	struct sl_mark *mark;

	sl_slab_init(&pool, sizeof(struct sl_mark));
	mark = write_marked(&bench, &pool, 0);
	mark->log = true;
	cr_assert(sl_mark_kept_ns(mark, &whole) <= sl_loop_now(bench.loop), "the side with PLP has it");
	cr_assert_eq(sl_mark_kept_ns(mark, &one_out), SL_NEVER, "without that side it is lost");
	bench_free(&bench);
	mirror.kind = SL_DEV_STRIPE;
	mirror.chunk_bytes = 4096;
	bench = bench_new(&mirror);
	mark = write_marked(&bench, &pool, 2048); /* on both */
	cr_assert_eq(mark->n, 2);
	cr_assert_eq(sl_mark_kept_ns(mark, &whole), SL_NEVER);
	cr_assert_eq(sl_mark_culprit(mark, &whole, sl_loop_now(bench.loop) + HALF_MS)->risk, SL_RISK_CACHE);
	sl_slab_fini(&pool);
	bench_free(&bench);
}

Test(mark, idle_disk_tells_when_it_is_asked)
{
	const struct sl_dev_spec disk = hdd(true);
	const struct sl_dev_spec mirror = {.kind = SL_DEV_MIRROR, .n_members = 2, .members = {&disk, &disk}};
	const struct sl_dev_spec stripe = {
	    .kind = SL_DEV_STRIPE, .n_members = 2, .members = {&disk, &mirror}, .chunk_bytes = 4096};
	const struct sl_dev_spec *kinds[] = {&disk, &mirror, &stripe};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct bench bench = bench_new(kinds[i]);
		struct sl_slab pool;
		struct sl_mark *marks[3];
		int64_t asked_ns;

		sl_slab_init(&pool, sizeof(struct sl_mark));
		for (int k = 0; k < 3; k++) {
			marks[k] = write_marked(&bench, &pool, INT64_C(2048) + (k << 20));
		}
		pause_for(&bench, INT64_C(100000000));
		cr_assert_eq(sl_mark_kept_ns(marks[2], &whole), SL_NEVER, "kind %zu", i);
		cr_assert(!sl_mark_is_settled(marks[2]));
		asked_ns = sl_loop_now(bench.loop);
		sl_dev_catch_up(bench.disk, asked_ns);
		for (int k = 0; k < 3; k++) {
			cr_assert(sl_mark_kept_ns(marks[k], &whole) < asked_ns, "kind %zu", i);
			cr_assert(sl_mark_is_settled(marks[k]));
			sl_mark_free(marks[k]);
		}
		sl_slab_fini(&pool);
		bench_free(&bench);
	}
}

/* Whoever asks between requests must not change when these are done. */
Test(mark, asking_changes_no_times)
{
	const struct sl_dev_spec disk = hdd(true);
	int64_t ends_ns[2];

	for (int ask = 0; ask < 2; ask++) {
		struct bench bench = bench_new(&disk);

		for (int k = 0; k < 200; k++) {
			io(&bench, k % 5 ? SL_DEV_WRITE : SL_DEV_READ, (k * INT64_C(7919) % 4001) << 20,
			   4096);
			for (int n = 0; n < 5; n++) {
				pause_for(&bench, k * INT64_C(10007));
				if (ask) {
					sl_dev_catch_up(bench.disk, sl_loop_now(bench.loop));
				}
			}
		}
		io(&bench, SL_DEV_FLUSH, 0, 0);
		ends_ns[ask] = sl_loop_now(bench.loop);
		bench_free(&bench);
	}
	cr_assert_eq(ends_ns[0], ends_ns[1]);
}

/* A txg of two neighbouring writes that went to the disk as one, and a write of another txg that joined them:
 * the leader is needed until the other has been let go, too. */
Test(mark, is_free_when_no_disk_and_no_other_mark_needs_it)
{
	struct sl_mark *txg, *other, *leader, *follower, *stranger;
	struct sl_slab pool;

	sl_slab_init(&pool, sizeof(struct sl_mark));
	txg = sl_mark_new(&pool);
	other = sl_mark_new(&pool);
	leader = sl_mark_part(txg);
	follower = sl_mark_part(txg);
	stranger = sl_mark_part(other);
	sl_mark_join(follower, leader);
	sl_mark_join(stranger, leader);
	sl_mark_abandon(txg);
	cr_assert(!sl_mark_is_settled(txg), "the disk will still note in it");
	sl_mark_safe(leader, 5);
	cr_assert(!sl_mark_is_settled(txg), "and the stranger shares its fate");
	cr_assert_eq(sl_mark_kept_ns(other, &whole), 5);
	sl_mark_abandon(other);
	cr_assert(sl_mark_is_settled(txg));
	cr_assert(sl_mark_is_settled(other));
	sl_mark_free(other);
	sl_mark_free(txg);
	/* What is let go before it is joined needs nobody. */
	other = sl_mark_new(&pool);
	leader = sl_mark_new(&pool);
	sl_mark_abandon(other);
	sl_mark_join(other, leader);
	cr_assert(sl_mark_is_settled(other));
	cr_assert_eq(leader->joiners, 0);
	sl_slab_fini(&pool);
}

/* A drive whose cache outlives a cut and one that ignores the flush are equally fast (30 us, no program) and
 * differ in what a cut takes: nothing, and all that the buffer may still hold. */
Test(mark, a_cache_that_survives_is_not_a_flush_that_is_ignored)
{
	struct sl_dev_spec specs[2] = {ssd(true), lying_ssd()};

	for (int lies = 0; lies < 2; lies++) {
		struct bench bench;
		struct sl_slab pool;
		struct sl_mark *mark;

		specs[lies].flush_ns = lies ? 1e6 : 30e3;
		bench = bench_new(&specs[lies]);
		sl_slab_init(&pool, sizeof(struct sl_mark));
		mark = write_marked(&bench, &pool, 0);
		cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), 30000);
		cr_assert_eq(sl_mark_kept_ns(mark, &whole) == SL_NEVER, lies);
		sl_slab_fini(&pool);
		bench_free(&bench);
	}
}
