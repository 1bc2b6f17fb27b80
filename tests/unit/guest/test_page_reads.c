/* Buffered reads over a server that takes 1 ms for each call. */
#include "tests/unit/guest/lib.h"

static const struct sl_ext4_config read_ahead = {.tick_ns = TICK, .read_ahead_bytes = 128 * KIB};

/* Reads blocks one after the other until `left` is 0. */
struct reader {
	struct sl_page_read req;
	struct guest *guest;
	int64_t block, at, step;
	int left;
	int64_t end_ns;
};

static void reader_go(struct reader *reader, int64_t now_ns)
{
	struct sl_page_reads *reads = &reader->guest->fs.reads;

	while (reader->left > 0) {
		int64_t start = reader->at;

		reader->left--;
		reader->at += reader->step;
		if (sl_page_read_hits(reads, 0, start, start + reader->block)) {
			continue;
		}
		reader->req.start = start;
		reader->req.end = start + reader->block;
		if (!sl_page_read_start(reads, now_ns, &reader->req)) {
			return;
		}
	}
	reader->end_ns = now_ns;
}

static void reader_done(struct sl_timer *timer, int64_t now_ns)
{
	struct reader *reader = sl_container_of(timer, struct reader, req.done);

	reader->end_ns = now_ns;
	reader_go(reader, now_ns);
}

static struct reader read_blocks(struct guest *guest, int64_t at, int64_t step, int64_t block, int n)
{
	struct reader reader = {
	    .req.done.fire = reader_done, .guest = guest, .at = at, .step = step, .block = block, .left = n};

	reader_go(&reader, sl_loop_now(guest->loop));
	run_all(guest->loop);
	cr_assert_eq(reader.left, 0);
	return reader;
}

/*
 * 4 MiB in reads of 8 KiB: windows of 16, 32, 64 and then 128 KiB. A reader that finds one here comes to the
 * mark of the next at once and asks for the one behind it, so that two are on their way: 256 KiB each ms, 16
 * ms and 2 for the beginning. 512 round trips would be 512.
 */
Test(page_reads, a_stream_has_its_next_window_on_the_way)
{
	struct guest *guest = guest_with(SL_CLIENT_LIBNFS, 1, 64 * MIB, read_ahead);
	struct reader reader;

	guest->server.notes = NULL;
	reader = read_blocks(guest, 0, 8 * KIB, 8 * KIB, 512);
	cr_assert(reader.end_ns >= 16 * MS && reader.end_ns <= 19 * MS, "%.1f ms",
		  (double)reader.end_ns / 1e6);
	/* Nothing twice, and at most two windows more than was read. */
	cr_assert(guest->server.calls <= 4 + 34 * (int)(128 * KIB / guest->hyp.max_io_bytes), "%d",
		  guest->server.calls);
	cr_assert_eq(sl_page_read_hits(&guest->fs.reads, 0, 4 * MIB - 8 * KIB, 4 * MIB), true);
	guest_free(guest);
}

Test(page_reads, random_reads_are_one_request_each_and_leave_nothing_behind)
{
	struct guest *guest = guest_with(SL_CLIENT_LIBNFS, 1, 64 * MIB, read_ahead);
	struct reader reader = read_blocks(guest, 60 * MIB, -MIB, 16 * KIB, 20);

	cr_assert_eq(reader.end_ns, 20 * MS);
	cr_assert_eq(guest->server.calls, 20);
	cr_assert_eq(notes_count(&guest->notes, "READ 16K"), 20);
	cr_assert(!sl_page_read_hits(&guest->fs.reads, 0, 60 * MIB, 60 * MIB + 16 * KIB));
	guest_free(guest);
}

/* Without it each of them is a round trip, sequential or not. */
Test(page_reads, without_read_ahead_a_stream_is_as_slow_as_random_reads)
{
	struct guest *guest =
	    guest_with(SL_CLIENT_LIBNFS, 1, 64 * MIB, (struct sl_ext4_config){.tick_ns = TICK});
	struct reader reader = read_blocks(guest, 0, 8 * KIB, 8 * KIB, 20);

	cr_assert_eq(reader.end_ns, 20 * MS);
	guest_free(guest);
}

Test(page_reads, nothing_is_read_beyond_the_end_of_the_file)
{
	struct guest *guest = guest_with(SL_CLIENT_LIBNFS, 1, 64 * KIB, read_ahead);

	read_blocks(guest, 0, 8 * KIB, 8 * KIB, 8);
	notes_expect(&guest->notes, "[0ms] READ 16K\n"
				    "[1ms] READ 32K\n"
				    "[1ms] READ 16K\n");
	guest_free(guest);
}
