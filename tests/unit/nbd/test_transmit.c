/* Requests and replies. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

/* A simple reply with this cookie and error, and nothing behind it. */
static void expect_simple(struct rig *rig, uint64_t cookie, uint32_t error)
{
	uint64_t got;

	cr_assert_eq(rig_simple(rig, &got), error);
	cr_assert_eq(got, cookie);
	cr_assert_eq(rig_left(rig), 0);
	cr_assert_eq(rig->error, 0);
}

static void run_and_take(struct rig *rig)
{
	rig_run(rig);
	rig_take(rig);
}

Test(transmit, what_is_written_is_read_after_the_modelled_time)
{
	struct rig rig;
	uint64_t cookie;

	rig_init(&rig, 60 * US);
	rig_open(&rig, "alpha");
	rig_request(&rig, SL_NBD_CMD_WRITE, SL_NBD_FLAG_FUA, 0x1122334455667788u, 1000, 8);
	cr_assert_eq(rig.dev[0].submitted, 0);
	rig_input(&rig, "payl", 4);
	rig_input(&rig, "oad!", 4);
	cr_assert_eq(rig.dev[0].submitted, 1);
	/* The model sees whole sectors. */
	cr_assert_eq(rig.dev[0].last.offset_bytes, 512);
	cr_assert_eq(rig.dev[0].last.bytes, 512);
	cr_assert(rig.dev[0].last.fua);
	/* Nothing has happened to the contents yet. */
	cr_assert_eq(rig.ram[0].bytes[1000], 0);
	cr_assert_eq(rig_left(&rig), 0);
	run_and_take(&rig);
	cr_assert_eq(sl_loop_now(rig.loop), 60 * US);
	cr_assert(rig.ram[0].last_fua);
	expect_simple(&rig, 0x1122334455667788u, 0);
	rig_request(&rig, SL_NBD_CMD_READ, 0, 2, 1002, 4);
	run_and_take(&rig);
	cr_assert_eq(rig_simple(&rig, &cookie), 0);
	cr_assert_eq(memcmp(rig_bytes(&rig, 4), "yloa", 4), 0);
	cr_assert_eq(rig.completions, 2);
	cr_assert_eq(rig.due_ns, 120 * US);
	cr_assert_eq(sl_nbd_stats(rig.nbd, 0)->bytes_written, 8);
	cr_assert_eq(sl_nbd_stats(rig.nbd, 0)->reads, 1);
	rig_fini(&rig);
}

Test(transmit, credit_counts_as_an_earlier_arrival)
{
	struct rig rig;
	uint8_t head[28];

	rig_init(&rig, 60 * US);
	rig_open(&rig, "alpha");
	cr_assert_eq(sl_loop_run_until(rig.loop, 500 * US, NULL), 0);
	sl_nbd_put32(
	    sl_nbd_put64(sl_nbd_put64(sl_nbd_put32(sl_nbd_put32(head, SL_NBD_REQUEST_MAGIC), 0), 1), 0), 512);
	cr_assert_eq(sl_nbd_conn_input(rig.conn, 400 * US, head, sizeof(head)), 0);
	cr_assert_eq(rig.dev[0].last_now_ns, 400 * US);
	rig_run(&rig);
	/* Could not leave before it came. */
	cr_assert_eq(rig.ready_ns, 500 * US);
	rig_fini(&rig);
}

Test(transmit, flush_trim_and_zeroes_reach_the_image)
{
	struct rig rig;

	rig_init(&rig, US);
	rig_open(&rig, "beta");
	memset(rig.ram[1].bytes, 'x', RIG_SIZE);
	rig_request(&rig, SL_NBD_CMD_FLUSH, 0, 1, 0, 0);
	cr_assert_eq(rig.dev[1].last.op, SL_DEV_FLUSH);
	run_and_take(&rig);
	expect_simple(&rig, 1, 0);
	cr_assert_eq(rig.ram[1].flushes, 1);
	cr_assert_eq(rig.ram[1].last_mark, 1);
	rig_request(&rig, SL_NBD_CMD_TRIM, 0, 2, 4096, 4096);
	cr_assert_eq(rig.dev[1].last.bytes, 512); /* a command without data */
	run_and_take(&rig);
	expect_simple(&rig, 2, 0);
	cr_assert_eq(rig.ram[1].bytes[4095], 'x');
	cr_assert_eq(rig.ram[1].bytes[4096], 0);
	cr_assert_eq(rig.ram[1].bytes[8191], 0);
	cr_assert_eq(rig.ram[1].bytes[8192], 'x');
	cr_assert(!rig.ram[1].last_keep);
	rig_request(&rig, SL_NBD_CMD_WRITE_ZEROES, SL_NBD_FLAG_NO_HOLE | SL_NBD_FLAG_FUA, 3, 0, 1024);
	cr_assert_eq(rig.dev[1].last.bytes, 1024);
	run_and_take(&rig);
	expect_simple(&rig, 3, 0);
	cr_assert(rig.ram[1].last_keep);
	cr_assert(rig.ram[1].last_fua);
	cr_assert_eq(rig.ram[1].last_mark, 3);
	rig_fini(&rig);
}

Test(transmit, refusals_have_the_protocols_codes)
{
	static const struct {
		uint32_t command, flags;
		uint64_t offset;
		uint32_t bytes, code;
	} cases[] = {
	    {SL_NBD_CMD_READ, 0, RIG_SIZE, 1, SL_NBD_EINVAL},
	    {SL_NBD_CMD_READ, 0, RIG_SIZE - 1, 2, SL_NBD_EINVAL},
	    {SL_NBD_CMD_READ, 0, UINT64_MAX, 2, SL_NBD_EINVAL},
	    {SL_NBD_CMD_READ, 0, INT64_MAX, 0xffffffffu, SL_NBD_EINVAL},
	    {SL_NBD_CMD_READ, 0, 0, 0, SL_NBD_EINVAL},
	    {SL_NBD_CMD_READ, 0, 0, 0xffffffffu, SL_NBD_EINVAL},
	    {SL_NBD_CMD_READ, SL_NBD_FLAG_DF, 0, 512, SL_NBD_EINVAL}, /* no structured replies */
	    {SL_NBD_CMD_READ, 0x8000, 0, 512, SL_NBD_EINVAL},
	    {SL_NBD_CMD_WRITE, 0, RIG_SIZE, 64, SL_NBD_ENOSPC},
	    {SL_NBD_CMD_WRITE, SL_NBD_FLAG_NO_HOLE, 0, 64, SL_NBD_EINVAL},
	    {SL_NBD_CMD_WRITE, 0, 0, 0, SL_NBD_EINVAL},
	    {SL_NBD_CMD_TRIM, 0, RIG_SIZE, 512, SL_NBD_EINVAL},
	    {SL_NBD_CMD_TRIM, SL_NBD_FLAG_NO_HOLE, 0, 512, SL_NBD_EINVAL},
	    {SL_NBD_CMD_WRITE_ZEROES, 0, 1, RIG_SIZE, SL_NBD_ENOSPC},
	    {SL_NBD_CMD_BLOCK_STATUS, 0, 0, 512, SL_NBD_EINVAL}, /* no context chosen */
	    {5, 0, 0, 512, SL_NBD_EINVAL},                       /* CACHE */
	    {8, 0, 0, 512, SL_NBD_EINVAL},                       /* RESIZE */
	    {0xffff, 0, 0, 512, SL_NBD_EINVAL},
	};
	static const uint8_t data[64];
	struct rig rig;

	rig_init(&rig, US);
	rig_open(&rig, "alpha");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_request(&rig, cases[i].command, cases[i].flags, i, cases[i].offset, cases[i].bytes);
		if (cases[i].command == SL_NBD_CMD_WRITE) {
			cr_assert_eq(rig_left(&rig), cases[i].bytes ? 0 : 16);
			rig_input(&rig, data, cases[i].bytes);
		}
		expect_simple(&rig, i, cases[i].code);
	}
	cr_assert_eq(rig.dev[0].submitted, 0);
	cr_assert_eq(sl_nbd_stats(rig.nbd, 0)->errors, sizeof(cases) / sizeof(cases[0]));
	rig_request(&rig, SL_NBD_CMD_READ, 0, 99, 0, 512);
	run_and_take(&rig);
	cr_assert_eq(rig_left(&rig), 16 + 512);
	rig_fini(&rig);
}

Test(transmit, a_write_too_large_is_passed_over_without_memory_for_it)
{
	static const uint8_t data[1 << 20];
	struct rig rig;

	rig_init(&rig, US);
	rig_open(&rig, "alpha");
	rig_request(&rig, SL_NBD_CMD_WRITE, 0, 1, 0, SL_NBD_MAX_IO + 1);
	for (int i = 0; i < 32; i++) {
		cr_assert(!sl_nbd_conn_busy(rig.conn));
		rig_input(&rig, data, sizeof(data));
	}
	cr_assert_eq(rig_left(&rig), 0);
	rig_input(&rig, data, 1);
	expect_simple(&rig, 1, SL_NBD_EINVAL);
	rig_fini(&rig);
}

Test(transmit, errors_of_the_image_and_a_failed_disk_are_told)
{
	static const struct {
		int rc;
		uint32_t code;
	} cases[] = {
	    {-EIO, SL_NBD_EIO}, {-ENOSPC, SL_NBD_ENOSPC}, {-EBADF, SL_NBD_EIO}, {-ENOMEM, SL_NBD_ENOMEM}};
	struct rig rig;

	rig_init(&rig, US);
	rig_open(&rig, "alpha");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig.ram[0].fail = cases[i].rc;
		rig_request(&rig, SL_NBD_CMD_READ, 0, i, 0, 512);
		run_and_take(&rig);
		expect_simple(&rig, i, cases[i].code);
		rig_request(&rig, SL_NBD_CMD_FLUSH, 0, i, 0, 0);
		run_and_take(&rig);
		expect_simple(&rig, i, cases[i].code);
	}
	rig.ram[0].fail = 0;
	sl_nbd_fail(rig.nbd, 0, true);
	rig_request(&rig, SL_NBD_CMD_WRITE, 0, 9, 0, 4);
	rig_input(&rig, "lost", 4);
	run_and_take(&rig);
	expect_simple(&rig, 9, SL_NBD_EIO);
	cr_assert_eq(rig.ram[0].bytes[0], 0);
	sl_nbd_fail(rig.nbd, 0, false);
	rig_request(&rig, SL_NBD_CMD_FLUSH, 0, 10, 0, 0);
	run_and_take(&rig);
	expect_simple(&rig, 10, 0);
	rig_fini(&rig);
}

/* Structured replies and base:allocation on alpha. */
static void open_structured(struct rig *rig)
{
	rig_hello(rig, 3);
	rig_option(rig, SL_NBD_OPT_STRUCTURED_REPLY, "", 0);
	rig_contexts(rig, SL_NBD_OPT_SET_META_CONTEXT, "alpha", "base:allocation");
	rig_go(rig, SL_NBD_OPT_GO, "alpha", NULL);
	cr_assert_eq(sl_nbd_conn_export(rig->conn), 0);
	rig->at = rig->got_bytes;
}

static void expect_chunk(struct rig *rig, uint32_t type, uint64_t cookie, uint32_t bytes)
{
	cr_assert_eq(rig_u32(rig), SL_NBD_CHUNK_MAGIC);
	cr_assert_eq(rig_u16(rig), SL_NBD_CHUNK_DONE);
	cr_assert_eq(rig_u16(rig), type);
	cr_assert_eq(rig_u64(rig), cookie);
	cr_assert_eq(rig_u32(rig), bytes);
	cr_assert_eq(rig_left(rig), bytes);
}

Test(transmit, block_status_and_reads_in_chunks)
{
	struct rig rig;

	rig_init(&rig, US);
	open_structured(&rig);
	rig.ram[0].hole_bytes = 65536;
	rig.ram[0].bytes[70000] = 'q';
	rig_request(&rig, SL_NBD_CMD_BLOCK_STATUS, 0, 1, 4096, 100000);
	run_and_take(&rig);
	expect_chunk(&rig, SL_NBD_CHUNK_BLOCK_STATUS, 1, 20);
	cr_assert_eq(rig_u32(&rig), 1);
	cr_assert_eq(rig_u32(&rig), 61440);
	cr_assert_eq(rig_u32(&rig), 3);
	cr_assert_eq(rig_u32(&rig), 100000 - 61440);
	cr_assert_eq(rig_u32(&rig), 0);
	rig_request(&rig, SL_NBD_CMD_BLOCK_STATUS, SL_NBD_FLAG_REQ_ONE, 2, 4096, 100000);
	run_and_take(&rig);
	expect_chunk(&rig, SL_NBD_CHUNK_BLOCK_STATUS, 2, 12);
	rig_bytes(&rig, 12);
	rig_request(&rig, SL_NBD_CMD_READ, SL_NBD_FLAG_DF, 3, 69999, 3);
	run_and_take(&rig);
	expect_chunk(&rig, SL_NBD_CHUNK_OFFSET_DATA, 3, 11);
	cr_assert_eq(rig_u64(&rig), 69999);
	cr_assert_eq(memcmp(rig_bytes(&rig, 3), "\0q\0", 3), 0);
	rig.ram[0].fail = -EIO;
	rig_request(&rig, SL_NBD_CMD_READ, 0, 4, 0, 4096);
	run_and_take(&rig);
	expect_chunk(&rig, SL_NBD_CHUNK_ERROR, 4, 6);
	cr_assert_eq(rig_u32(&rig), SL_NBD_EIO);
	rig_fini(&rig);
}

Test(transmit, goodbye_ends_after_the_replies)
{
	struct rig rig;

	rig_init(&rig, US);
	rig_open(&rig, "alpha");
	rig_request(&rig, SL_NBD_CMD_READ, 0, 1, 0, 16);
	rig_request(&rig, SL_NBD_CMD_DISC, 0, 2, 0, 0);
	rig_request(&rig, SL_NBD_CMD_READ, 0, 3, 0, 16);
	cr_assert(sl_nbd_conn_ended(rig.conn));
	cr_assert(!sl_nbd_conn_idle(rig.conn));
	run_and_take(&rig);
	cr_assert_eq(rig_left(&rig), 32);
	cr_assert(sl_nbd_conn_idle(rig.conn));
	cr_assert_eq(rig.dev[0].submitted, 1);
	rig_fini(&rig);
}

Test(transmit, a_client_gone_in_mid_request_leaves_nothing)
{
	struct rig rig;

	rig_init(&rig, US);
	rig_open(&rig, "alpha");
	rig_request(&rig, SL_NBD_CMD_WRITE, 0, 1, 0, 4);
	rig_input(&rig, "done", 4);
	rig_request(&rig, SL_NBD_CMD_READ, 0, 2, 0, 4096);
	rig_request(&rig, SL_NBD_CMD_WRITE, 0, 3, 512, 1 << 20);
	rig_input(&rig, "half", 4);
	rig_connect(&rig); /* frees the old one */
	rig_run(&rig);
	/* The disk has done what it was given whole. */
	cr_assert_eq(memcmp(rig.ram[0].bytes, "done", 4), 0);
	cr_assert_eq(rig.ram[0].bytes[512], 0);
	cr_assert_eq(rig.completions, 0);
	rig_fini(&rig);
}

Test(transmit, a_client_that_takes_no_replies_is_left_waiting)
{
	static const uint8_t data[4096];
	struct rig rig;
	unsigned sent = 0;

	rig_init(&rig, US);
	rig_open(&rig, "alpha");
	rig.hold = true;
	while (!sl_nbd_conn_busy(rig.conn)) {
		rig_request(&rig, SL_NBD_CMD_WRITE, 0, sent++, 0, sizeof(data));
		rig_input(&rig, data, sizeof(data));
		rig_run(&rig);
		cr_assert(sent < 100000);
	}
	/* Ten more are kept, and wait. */
	for (int i = 0; i < 10; i++) {
		rig_request(&rig, SL_NBD_CMD_WRITE, 0, sent++, 0, sizeof(data));
		rig_input(&rig, data, sizeof(data));
	}
	rig_run(&rig);
	cr_assert_eq(rig.dev[0].submitted, sent - 10);
	rig.hold = false;
	rig_take(&rig);
	run_and_take(&rig);
	cr_assert_eq(rig.dev[0].submitted, sent);
	cr_assert_eq(rig_left(&rig), 16 * sent);
	for (unsigned i = 0; i < sent; i++) {
		uint64_t cookie;

		cr_assert_eq(rig_simple(&rig, &cookie), 0);
		cr_assert_eq(cookie, i);
	}
	rig_fini(&rig);
}

Test(transmit, a_client_that_holds_much_may_finish_its_request)
{
	static const uint8_t data[1 << 20];
	struct rig rig;

	rig_init(&rig, US);
	rig_open(&rig, "alpha");
	for (unsigned i = 0; i < 32; i++) {
		cr_assert(!sl_nbd_conn_busy(rig.conn));
		rig_request(&rig, SL_NBD_CMD_WRITE, 0, i, 0, sizeof(data));
		cr_assert(!sl_nbd_conn_busy(rig.conn));
		rig_input(&rig, data, sizeof(data));
		cr_assert_eq(rig.dev[0].submitted, i + 1);
	}
	cr_assert(sl_nbd_conn_busy(rig.conn));
	run_and_take(&rig);
	cr_assert(!sl_nbd_conn_busy(rig.conn));
	rig_fini(&rig);
}

struct lost {
	unsigned count;
	int64_t bytes;
	bool fua;
	uint8_t first;
};

static void lost_note(void *arg, const struct sl_disk_change *change, const void *buf)
{
	struct lost *lost = arg;

	lost->count++;
	lost->bytes += change->bytes;
	lost->fua |= change->fua;
	lost->first = *(const uint8_t *)buf;
}

Test(transmit, a_cut_forgets_what_is_in_service_and_tells_of_writes)
{
	struct lost lost = {0};
	struct rig rig;

	rig_init(&rig, US);
	rig_open(&rig, "alpha");
	/* The model must forget too: one that is never asked to run does. */
	rig_request(&rig, SL_NBD_CMD_WRITE, SL_NBD_FLAG_FUA, 1, 0, 4);
	rig_input(&rig, "gone", 4);
	rig_request(&rig, SL_NBD_CMD_READ, 0, 2, 0, 4096);
	rig_request(&rig, SL_NBD_CMD_FLUSH, 0, 2, 0, 0);
	sl_nbd_cut(rig.nbd, 0, lost_note, &lost);
	cr_assert_eq(lost.count, 1);
	cr_assert_eq(lost.bytes, 4);
	cr_assert(lost.fua);
	cr_assert_eq(lost.first, 'g');
	cr_assert_eq(rig.ram[0].forgot, 1);
	sl_nbd_conn_free(rig.conn);
	rig.conn = NULL;
	sl_nbd_free(rig.nbd);
	sl_loop_free(rig.loop);
	ram_image_fini(&rig.ram[0]);
	ram_image_fini(&rig.ram[1]);
	free(rig.got);
}

Test(transmit, every_change_has_a_fate_that_comes_back_once)
{
	struct rig rig;

	rig_init(&rig, US);
	rig_open(&rig, "alpha");
	rig_request(&rig, SL_NBD_CMD_WRITE, 0, 1, 0, 4);
	rig_input(&rig, "here", 4);
	cr_assert_eq(rig.dev[0].last.mark, &rig.ram[0].fate, "the model notes in it");
	rig_request(&rig, SL_NBD_CMD_TRIM, 0, 2, 0, 4096);
	rig_request(&rig, SL_NBD_CMD_WRITE_ZEROES, 0, 3, 0, 4096);
	rig_request(&rig, SL_NBD_CMD_READ, 0, 4, 0, 512);
	rig_request(&rig, SL_NBD_CMD_FLUSH, 0, 5, 0, 0);
	cr_assert_null(rig.dev[0].last.mark);
	rig_run(&rig);
	cr_assert_eq(rig.ram[0].followed, 3);
	cr_assert_eq(rig.ram[0].done, 3);
	cr_assert_eq(rig.ram[0].forgot, 0);
	sl_nbd_fail(rig.nbd, 0, true);
	rig_request(&rig, SL_NBD_CMD_TRIM, 0, 6, 0, 4096);
	rig_run(&rig);
	cr_assert_eq(rig.ram[0].forgot, 1, "the disk failed");
	sl_nbd_fail(rig.nbd, 0, false);
	rig_request(&rig, SL_NBD_CMD_TRIM, 0, 7, 0, 4096);
	sl_nbd_conn_free(rig.conn);
	rig.conn = NULL;
	rig_run(&rig);
	cr_assert_eq(rig.ram[0].done, 4, "the client has gone");
	cr_assert_eq(rig.ram[0].followed, 5);
	rig_fini(&rig);
}
