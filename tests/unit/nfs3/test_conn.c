#include <criterion/criterion.h>
#include <errno.h>

#include "rig.h"

#define MIB (UINT64_C(1) << 20)

/* Later calls are done earlier: 1000 us, 999 us, ... after they came. */
static int64_t countdown(const struct slow_store *self, const struct sl_store_req *req)
{
	(void)req;
	return (int64_t)(1001 - self->submitted) * US;
}

static int64_t ten_us(const struct slow_store *self, const struct sl_store_req *req)
{
	(void)self;
	(void)req;
	return 10 * US;
}

static void send_getattr(struct rig *rig)
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_GETATTR, rig->root);
	rig_send(rig, &msg);
}

static void run_until(struct rig *rig, int64_t until_ns)
{
	cr_assert_eq(sl_loop_run_until(rig->loop, until_ns, NULL), 0);
}

Test(nfs3_conn, replies_leave_when_the_store_says_so)
{
	struct rig rig;
	const uint8_t *at;

	rig_init(&rig, countdown);
	for (int i = 0; i < 10; i++) {
		send_getattr(&rig);
	}
	cr_assert_eq(sl_nfs3_in_service(rig.srv), 10);
	run_until(&rig, 990 * US);
	cr_assert_eq(rig_replies(&rig), 0);
	rig_run(&rig);
	cr_assert_eq(rig_replies(&rig), 10);
	cr_assert_eq(rig.outputs, 10);
	cr_assert_eq(sl_nfs3_in_service(rig.srv), 0);
	at = sl_buf_head(&rig.got);
	for (uint32_t i = 0; i < 10; i++) {
		cr_assert_eq(sl_be32(at + 4), 1009 - i);
		at += 4 + (sl_be32(at) & 0x7fffffffu);
	}
	rig_fini(&rig);
}

Test(nfs3_conn, replies_of_one_instant_leave_together)
{
	struct rig rig;

	rig_init(&rig, NULL);
	for (int i = 0; i < 32; i++) {
		send_getattr(&rig);
	}
	cr_assert_eq(rig.outputs, 0);
	rig_run(&rig);
	cr_assert_eq(rig.outputs, 1);
	cr_assert_eq(rig_replies(&rig), 32);
	rig_fini(&rig);
}

static struct sl_buf many_calls(struct rig *rig, unsigned count, uint32_t procedure)
{
	struct sl_buf all = {0};
	struct msg msg;

	for (unsigned i = 0; i < count; i++) {
		nfs_begin(rig, &msg, procedure, rig->root);
		call_end(&msg);
		cr_assert_eq(sl_buf_append(&all, sl_buf_head(&msg.buf), sl_buf_size(&msg.buf)), 0);
		sl_buf_fini(&msg.buf);
	}
	return all;
}

Test(nfs3_conn, calls_in_flight_are_capped)
{
	struct rig rig;
	struct sl_buf calls;

	rig_init(&rig, ten_us);
	rig.config.max_in_flight = 4;
	rig_restart(&rig);
	calls = many_calls(&rig, 22, SL_NFS_GETATTR);
	/* All but the last byte: what is left undecoded includes half a record. */
	cr_assert_eq(sl_nfs3_conn_input(rig.conn, 0, sl_buf_head(&calls), sl_buf_size(&calls) - 1), 0);
	cr_assert_eq(sl_nfs3_in_service(rig.srv), 4);
	cr_assert(sl_nfs3_conn_busy(rig.conn));
	run_until(&rig, 10 * US);
	cr_assert_eq(rig_replies(&rig), 4);
	cr_assert_eq(sl_nfs3_in_service(rig.srv), 4);
	run_until(&rig, 20 * US);
	cr_assert_eq(rig_replies(&rig), 8);
	cr_assert_eq(sl_nfs3_conn_input(rig.conn, 0, sl_buf_head(&calls) + sl_buf_size(&calls) - 1, 1), 0);
	rig_run(&rig);
	cr_assert_eq(rig_replies(&rig), 22);
	cr_assert_eq(sl_loop_now(rig.loop), 60 * US);
	cr_assert(!sl_nfs3_conn_busy(rig.conn));
	sl_buf_fini(&calls);
	rig_fini(&rig);
}

Test(nfs3_conn, left_over_input_can_end_the_stream)
{
	struct rig rig;
	struct sl_buf calls;

	rig_init(&rig, ten_us);
	rig.config.max_in_flight = 2;
	rig_restart(&rig);
	calls = many_calls(&rig, 3, SL_NFS_GETATTR);
	cr_assert_eq(sl_buf_append(&calls, "\xff\xff\xff\xff", 4), 0);
	cr_assert_eq(sl_nfs3_conn_input(rig.conn, 0, sl_buf_head(&calls), sl_buf_size(&calls)), 0);
	cr_assert_eq(sl_nfs3_conn_error(rig.conn), 0);
	rig_run(&rig);
	cr_assert_eq(sl_nfs3_conn_error(rig.conn), -EPROTO);
	cr_assert(!sl_nfs3_conn_busy(rig.conn));
	cr_assert_eq(rig_replies(&rig), 3);
	cr_assert_eq(sl_nfs3_conn_input(rig.conn, 0, "", 0), -EPROTO);
	sl_buf_fini(&calls);
	rig_fini(&rig);
}

Test(nfs3_conn, a_slow_reader_bounds_the_output)
{
	static uint8_t data[MIB];
	struct rig rig;
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];
	const uint8_t *bytes;
	unsigned served = 0;
	size_t size;

	rig_init(&rig, ten_us);
	do_create(&rig, rig.root, "f", file);
	nfs_begin(&rig, &msg, SL_NFS_WRITE, file);
	put_write(&msg, 0, SL_FILE_SYNC, data, MIB);
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	sl_buf_consume(&rig.got, SIZE_MAX);
	rig.hold_output = true;
	for (int i = 0; i < 20; i++) {
		nfs_begin(&rig, &msg, SL_NFS_READ, file);
		put_u64(&msg, 0);
		put_u32(&msg, MIB);
		rig_send(&rig, &msg);
	}
	for (; served < 20; served++) {
		cr_assert(sl_nfs3_in_service(rig.srv) <= 4);
		cr_assert(served > 12 || sl_nfs3_conn_busy(rig.conn));
		rig_run(&rig);
		size = sl_nfs3_conn_output(rig.conn, &bytes);
		cr_assert(size > MIB);
		cr_assert(size < 5 * MIB);
		/* One reply is sent, in two parts. */
		size = 4 + (sl_be32(bytes) & 0x7fffffffu);
		sl_nfs3_conn_consume(rig.conn, 3);
		(void)sl_nfs3_conn_output(rig.conn, &bytes);
		sl_nfs3_conn_consume(rig.conn, size - 3);
	}
	cr_assert_eq(sl_nfs3_conn_output(rig.conn, &bytes), 0);
	cr_assert(!sl_nfs3_conn_busy(rig.conn));
	rig_fini(&rig);
}

static void no_output(void *arg)
{
	(void)arg;
}

/* Two hundred others that might do the same: 64 MiB shared by 201 is less than a READ of 1 MiB, so one reply
 * is waited for, where a lone client may have four and one more. */
Test(nfs3_conn, many_that_do_not_read_hold_no_more_than_a_few)
{
	struct sl_nfs3_conn *others[200];
	struct rig rig;
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];
	const uint8_t *bytes;
	size_t size;

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	nfs_begin(&rig, &msg, SL_NFS_WRITE, file);
	put_write(&msg, MIB - 4, SL_FILE_SYNC, "last", 4);
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	sl_buf_consume(&rig.got, SIZE_MAX);
	for (int i = 0; i < 200; i++) {
		others[i] = sl_nfs3_conn_new(rig.srv, no_output, NULL);
		cr_assert_not_null(others[i]);
	}
	rig.hold_output = true;
	for (int i = 0; i < 20; i++) {
		nfs_begin(&rig, &msg, SL_NFS_READ, file);
		put_u64(&msg, 0);
		put_u32(&msg, MIB);
		rig_send(&rig, &msg);
	}
	rig_run(&rig);
	size = sl_nfs3_conn_output(rig.conn, &bytes);
	cr_assert(size > MIB && size < 2 * MIB, "%zu", size);
	for (int i = 0; i < 200; i++) {
		sl_nfs3_conn_free(others[i]);
	}
	rig_fini(&rig);
}

Test(nfs3_conn, a_flood_of_null_calls_is_bounded_too)
{
	struct rig rig;
	struct sl_buf calls;
	const uint8_t *bytes;
	size_t size, total = 0;
	int rc;

	rig_init(&rig, NULL);
	calls = many_calls(&rig, 100000, SL_NFS_NULL);
	rig.hold_output = true;
	for (int i = 0; i < 2; i++) {
		rc = sl_nfs3_conn_input(rig.conn, 0, sl_buf_head(&calls), sl_buf_size(&calls));
		cr_assert_eq(rc, 0);
	}
	cr_assert(sl_nfs3_conn_busy(rig.conn));
	do {
		size = sl_nfs3_conn_output(rig.conn, &bytes);
		cr_assert(size < 5 * MIB);
		total += size;
		sl_nfs3_conn_consume(rig.conn, size);
	} while (size > 0);
	cr_assert_eq(total, (size_t)200000 * 28);
	/* A caller that never looks at busy is stopped in the end. */
	for (int i = 0; rc == 0 && i < 10; i++) {
		rc = sl_nfs3_conn_input(rig.conn, 0, sl_buf_head(&calls), sl_buf_size(&calls));
	}
	cr_assert_eq(rc, -ENOMEM);
	sl_buf_fini(&calls);
	rig_fini(&rig);
}

/* Hang up after each number of replies; the calls in service end, the writes are in the tree. */
Test(nfs3_conn, freed_with_calls_in_service)
{
	for (int64_t replies = 0; replies <= 6; replies++) {
		struct rig rig;
		struct msg msg;
		uint8_t file[SL_HANDLE_BYTES];
		struct sl_attr attr;

		rig_init(&rig, countdown);
		do_create(&rig, rig.root, "f", file);
		for (uint64_t i = 0; i < 5; i++) {
			nfs_begin(&rig, &msg, SL_NFS_WRITE, file);
			put_write(&msg, i, SL_UNSTABLE, "x", 1);
			rig_send(&rig, &msg);
		}
		sl_buf_consume(&rig.got, SIZE_MAX);
		run_until(&rig, sl_loop_now(rig.loop) + (994 + replies) * US);
		sl_nfs3_conn_free(rig.conn);
		rig.conn = NULL;
		cr_assert_eq(rig_replies(&rig), replies < 5 ? (unsigned)replies : 5);
		rig_run(&rig);
		cr_assert_eq(sl_nfs3_in_service(rig.srv), 0);
		cr_assert_eq(rig_replies(&rig), replies < 5 ? (unsigned)replies : 5);
		cr_assert_eq(rig.tree->ops->getattr(rig.tree, 2, &attr), 0);
		cr_assert_eq(attr.size_bytes, 5);
		rig_fini(&rig);
	}
}

Test(nfs3_conn, freed_with_a_reply_to_tell_of)
{
	struct rig rig;
	struct msg msg;

	rig_init(&rig, NULL);
	call_begin(&rig, &msg, SL_PROG_NFS, 3, SL_NFS_NULL);
	rig_send(&rig, &msg);
	sl_nfs3_conn_free(rig.conn);
	rig.conn = NULL;
	rig_run(&rig);
	cr_assert_eq(rig.outputs, 0);
	rig_fini(&rig);
}

Test(nfs3_conn, freed_by_its_own_output)
{
	struct rig rig;

	rig_init(&rig, countdown);
	rig.free_in_output = true;
	for (int i = 0; i < 5; i++) {
		send_getattr(&rig);
	}
	rig_run(&rig);
	cr_assert_eq(rig.outputs, 1);
	cr_assert_eq(rig.conn, NULL);
	cr_assert_eq(sl_nfs3_in_service(rig.srv), 0);
	rig_fini(&rig);
}

Test(nfs3_conn, server_freed_with_calls_in_service)
{
	struct rig rig;

	rig_init(&rig, countdown);
	for (int i = 0; i < 5; i++) {
		send_getattr(&rig);
	}
	sl_nfs3_conn_free(rig.conn);
	sl_nfs3_free(rig.srv);
	rig.conn = NULL;
	rig.srv = NULL;
	rig_run(&rig);
	cr_assert_eq(sl_loop_now(rig.loop), 1000 * US);
	rig_fini(&rig);
}

static void count_output(void *arg)
{
	++*(unsigned *)arg;
}

Test(nfs3_conn, one_bad_client_does_not_disturb_another)
{
	struct rig rig;
	unsigned outputs = 0;
	struct sl_nfs3_conn *other;

	rig_init(&rig, ten_us);
	other = sl_nfs3_conn_new(rig.srv, count_output, &outputs);
	send_getattr(&rig);
	cr_assert_eq(sl_nfs3_conn_input(other, 0, "\x7f\xff\xff\xff", 4), -EPROTO);
	sl_nfs3_conn_free(other);
	rig_run(&rig);
	cr_assert_eq(rig_replies(&rig), 1);
	cr_assert_eq(outputs, 0);
	rig_fini(&rig);
}
