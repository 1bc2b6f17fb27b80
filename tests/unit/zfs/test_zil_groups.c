/*
 * Who shares a log block with whom, worked out from module/zfs/zil.c of OpenZFS 2.1.11 and 2.3.4. The log is
 * a SATA drive without capacitors: a write takes 50 us, a flush 3 ms and runs alone, one that finds nothing
 * written takes 50 us. The log was used by one writer before, whose blocks took 3.05 ms: an open block waits
 * 5 % of that, 152.5 us (2.3: 10 %). Now n writers of 4 KiB (a record of 4288 B) come 5 us apart, and think
 * 10 us between two writes.
 */
#include <math.h>

#include "sim/base/hist.h"
#include "tests/unit/zfs/serial_disk.h"

#define WRITE_NS (50 * US)
#define FLUSH_NS (3000 * US)
#define APART_NS (5 * US)
#define THINK_NS (10 * US)
#define WARM_NS (100 * MS)
#define RUN_NS (1100 * MS)
#define WRITERS_MAX 32

struct writer {
	struct rig *rig;
	struct sl_zil_waiter waiter;
	struct event start;
};

static void writer_write(void *arg, int64_t now_ns)
{
	struct writer *writer = arg;

	log_write(writer->rig, 1, 4096, 0, true);
	sl_zil_commit(&writer->rig->zil, now_ns, 1, &writer->waiter);
}

static void writer_done(struct sl_timer *timer, int64_t now_ns)
{
	struct writer *writer = sl_container_of(timer, struct writer, waiter.done);

	event_at(&writer->start, writer->rig->nas.loop, now_ns + THINK_NS, writer_write, writer);
}

/* What the log had done at some time. */
struct mark {
	struct event event;
	struct rig *rig;
	uint64_t commits, blocks;
	int64_t bytes;
};

static void mark_set(void *arg, int64_t now_ns)
{
	struct mark *mark = arg;

	mark->commits = mark->rig->zil.commits;
	mark->blocks = mark->rig->zil.blocks;
	mark->bytes = mark->rig->zil.log_bytes;
	if (now_ns == RUN_NS) {
		sl_loop_stop(mark->rig->nas.loop);
	}
}

struct shares {
	double records_per_block, kib_per_record, rate;
};

/* One second, after the beginning. */
static struct shares run_writers(enum sl_zil_generation generation, int n)
{
	struct rig *rig = serial_rig(generation, WRITE_NS, FLUSH_NS);
	struct writer *writers = calloc(WRITERS_MAX, sizeof(*writers));
	struct mark from = {.rig = rig}, to = {.rig = rig};
	struct shares shares;
	double records;

	cr_assert(writers && n <= WRITERS_MAX);
	serial_of(rig)->clean_ns = WRITE_NS;
	rig->zil.lwb_latency_ns = WRITE_NS + FLUSH_NS;
	for (int i = 0; i < n; i++) {
		writers[i] = (struct writer){.rig = rig, .waiter.done.fire = writer_done};
		event_at(&writers[i].start, rig->nas.loop, i * APART_NS, writer_write, &writers[i]);
	}
	event_at(&from.event, rig->nas.loop, WARM_NS, mark_set, &from);
	event_at(&to.event, rig->nas.loop, RUN_NS, mark_set, &to);
	run_all(rig->nas.loop);
	records = (double)(to.commits - from.commits);
	shares = (struct shares){.records_per_block = records / (double)(to.blocks - from.blocks),
				 .kib_per_record = (double)(to.bytes - from.bytes) / 1024 / records,
				 .rate = records * 1e9 / (RUN_NS - WARM_NS)};
	free(writers);
	rig_free(rig);
	return shares;
}

/*
 * 2.1, from the start:
 * - 1: alone, 50 us + 3 ms + 152.5 us + 10 us: 311/s, 8 KiB (192 + 4288 B).
 * - 2: both in the first block, 12 KiB for 8768 B: sized for one record of a burst, it takes two.
 * - 4: the third finds it full and sends it out; the next block takes him and the fourth, and waits 152.5 us
 * for more. Its write comes into the first flush and is held: two pairs take turns, each for a write and a
 * flush.
 * - 8: so do the first two and the six others, 12 + 28 KiB.
 * - 16: two, eight (36 KiB: the size after three records) and six. The second block, full at 50 us, is
 * written before the first flush begins (at 100 us, when no write is in flight), which covers it: its own
 * flush takes 50 us, and its eight are back in time for the block of the first two. From then on ten and six
 * take turns: 44 + 28 KiB.
 */
Test(zil_groups, committers_of_2_1_stay_with_whom_they_met)
{
	static const struct {
		int writers;
		double records_per_block, kib_per_record, rate;
	} cases[] = {
	    {1, 1, 8, 1e6 / 3212.5}, {2, 2, 6, 2e6 / 3212.5},   {4, 2, 6, 4e6 / 6100},
	    {8, 4, 5, 8e6 / 6100},   {16, 8, 4.5, 16e6 / 6100},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shares got = run_writers(SL_ZIL_21, cases[i].writers);

		cr_expect_float_eq(got.records_per_block, cases[i].records_per_block,
				   0.01 * cases[i].records_per_block, "%d writers: %g", cases[i].writers,
				   got.records_per_block);
		cr_expect_float_eq(got.kib_per_record, cases[i].kib_per_record, 0.05, "%d writers: %g KiB",
				   cases[i].writers, got.kib_per_record);
		cr_expect_float_eq(got.rate, cases[i].rate, 0.01 * cases[i].rate, "%d writers: %g/s",
				   cases[i].writers, got.rate);
	}
}

/*
 * The batches of 2014 are the first writer and all the others in turn: n records for two writes and flushes.
 * Two flushes are the most that anyone waits for in 2.1 and 2.3, too: what is written when one begins is
 * covered by it, and its own flush then finds nothing.
 */
Test(zil_groups, newer_logs_are_not_slower_than_that_of_2014)
{
	static const enum sl_zil_generation newer[] = {SL_ZIL_20, SL_ZIL_21, SL_ZIL_22, SL_ZIL_23, SL_ZIL_24};

	for (int n = 4; n <= WRITERS_MAX; n *= 2) {
		struct shares old = run_writers(SL_ZIL_2014, n);

		cr_expect_float_eq(old.rate, n * 1e6 / 6100, 0.01 * old.rate, "%d writers: %g/s", n,
				   old.rate);
		for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
			struct shares got = run_writers(newer[i], n);

			cr_expect(got.rate > 0.97 * old.rate, "generation %d, %d writers: %g/s, 2014 %g/s",
				  newer[i], n, got.rate, old.rate);
		}
	}
}

/*
 * zl_issuer_lock: up to 2.1 the committer that sends out a block holds it for that, 100 us of CPU here, and
 * who comes meanwhile waits; the first to get it then takes the records of all (zil_get_commit_list), and the
 * others find themselves in a block (zil_commit_writer). Since 2.2 the lock is given back before: each finds
 * nothing open, as nothing is waited for yet (no block was ever measured), and takes a block of his own.
 */
Test(zil_groups, who_waits_for_the_issuer_shares_the_next_block)
{
	static const enum sl_zil_generation generations[] = {SL_ZIL_20, SL_ZIL_21, SL_ZIL_22, SL_ZIL_23};
	static const uint64_t blocks[] = {2, 2, 4, 4};

	for (int i = 0; i < 4; i++) {
		struct rig *rig = rig_new_of(true, generations[i]);
		struct commit commits[4];

		rig->zil.config.commit_cpu_ns = 100 * US;
		for (int n = 0; n < 4; n++) {
			commits[n] = (struct commit){.rig = rig, .bytes = 512};
			event_at(&commits[n].start, rig->nas.loop, n * 30 * US, commit_start, &commits[n]);
		}
		run_all(rig->nas.loop);
		for (int n = 0; n < 4; n++) {
			cr_assert(commits[n].done);
		}
		cr_expect_eq(rig->zil.blocks, blocks[i], "generation %d: %llu blocks", generations[i],
			     (unsigned long long)rig->zil.blocks);
		rig_free(rig);
	}
}

/* Work of others, on a CPU of its own or not. */
static void nothing(struct sl_timer *timer, int64_t now_ns)
{
	(void)timer;
	(void)now_ns;
}

/*
 * zil_commit_waiter_timeout: who wakes to send out his block needs a CPU first. Blocks took 2 ms: a's waits
 * 0.1 ms for company (5 %), then it goes out, and c at 0.3 ms has one of its own. With 3 other jobs on the
 * one CPU a waits for their share of 4 x 0.1 ms, 0.3 ms, and c is in time; the block's own 0.1 ms of work are
 * over at 0.5 ms.
 */
Test(zil_groups, a_block_is_open_until_somebody_has_a_cpu_to_send_it_out)
{
	for (int others = 0; others <= 3; others += 3) {
		struct rig *rig = rig_new_of(true, SL_ZIL_21);
		struct sl_cpu_job jobs[3];
		struct commit a = {.rig = rig, .bytes = 1024}, c = {.rig = rig, .bytes = 1024};

		sl_cpu_init(&rig->nas.cpu, rig->nas.loop, 1);
		rig->zil.config.commit_cpu_ns = 100 * US;
		rig->zil.lwb_latency_ns = 2 * MS;
		for (int i = 0; i < others; i++) {
			jobs[i].done.fire = nothing;
			sl_cpu_run(&rig->nas.cpu, 0, &jobs[i], 10 * MS);
		}
		event_at(&a.start, rig->nas.loop, 0, commit_start, &a);
		event_at(&c.start, rig->nas.loop, 300 * US, commit_start, &c);
		run_all(rig->nas.loop);
		cr_assert(a.done && c.done);
		if (others) {
			notes_expect(&rig->nas.notes, "[0.5ms] log write 4K\n"
						      "[1.5ms] log flush\n");
		} else {
			notes_expect(&rig->nas.notes, "[0.2ms] log write 4K\n"
						      "[0.5ms] log write 4K\n"
						      "[1.2ms] log flush\n"
						      "[1.5ms] log flush\n");
		}
		rig_free(rig);
	}
}

/* Hand-offs of 1 ms on average vary as asked: 2 and 3 times the median at the 99th and the 99.9th percentile.
 * Their times are those of lone commits, whose write and flush take 1.5 ms. */
Test(zil_groups, hand_offs_vary_about_their_mean)
{
	enum {
		N = 20000
	};
	struct rig *rig = rig_new_of(true, SL_ZIL_23);
	struct sl_hist hist;
	double sum = 0, p50, p99, p999;

	cr_assert_eq(sl_hist_init(&hist), 0);
	rig->zil.config.commit_delay_ns = MS;
	sl_jitter_init(&rig->zil.jitter, 2, 3, 1, "test");
	for (int i = 0; i < N; i++) {
		int64_t start_ns = sl_loop_now(rig->nas.loop), took_ns;

		notes_clear(&rig->nas.notes);
		commit_write(rig, 1024);
		took_ns = sl_loop_now(rig->nas.loop) - start_ns - 1500 * US;
		sum += (double)took_ns;
		sl_hist_add(&hist, took_ns);
	}
	cr_expect_float_eq(sum / N, MS, 0.02 * MS, "%g", sum / N);
	p50 = (double)sl_hist_quantile(&hist, 0.5);
	p99 = (double)sl_hist_quantile(&hist, 0.99);
	p999 = (double)sl_hist_quantile(&hist, 0.999);
	cr_expect_float_eq(p99 / p50, 2, 0.1, "%g", p99 / p50);
	cr_expect_float_eq(p999 / p50, 3, 0.3, "%g", p999 / p50);
	sl_hist_fini(&hist);
	rig_free(rig);
}

/* lwb_issued_timestamp is taken when the block is on its way, after what that costs: 1 ms of write and 0.5 ms
 * of flush are averaged, not the 100 us of CPU before. A quarter of it in 2.1, an eighth since 2.2. */
Test(zil_groups, the_time_of_a_block_begins_when_it_is_on_its_way)
{
	static const enum sl_zil_generation generations[] = {SL_ZIL_21, SL_ZIL_23};
	static const int64_t expected[] = {1500 * US / 4, 1500 * US / 8};

	for (int i = 0; i < 2; i++) {
		struct rig *rig = rig_new_of(true, generations[i]);

		rig->zil.config.commit_cpu_ns = 100 * US;
		commit_write(rig, 1024);
		cr_assert_eq(rig->zil.lwb_latency_ns, expected[i], "%lld",
			     (long long)rig->zil.lwb_latency_ns);
		rig_free(rig);
	}
}

/* zil_lwb_write_done since 2.2: a flush is left to the next block only when that is on its way. Of two writes
 * of 100 KiB each takes a block; the second stays open for company for 10 % of 30 ms. (2.1: zil_lwb,
 * a_flush_is_left_to_an_open_block_too.) */
Test(zil_groups, no_flush_is_left_to_an_open_block_since_2_2)
{
	struct rig *rig = rig_new_of(true, SL_ZIL_23);

	rig->zil.lwb_latency_ns = 30 * MS;
	rig->zil.burst.parallel = 8;
	for (int i = 0; i < 2; i++) {
		log_write(rig, 1, 100 * KIB, (uint64_t)i, true);
	}
	commit_now(rig);
	notes_expect(&rig->nas.notes, "[0ms] log write 104K\n"
				      "[1ms] log flush\n"
				      "[3ms] log write 104K\n"
				      "[4ms] log flush\n");
	rig_free(rig);
}
