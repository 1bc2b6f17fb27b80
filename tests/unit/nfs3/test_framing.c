#include <criterion/criterion.h>
#include <errno.h>

#include "rig.h"

static void script_add(struct sl_buf *script, struct msg *msg)
{
	call_end(msg);
	cr_assert_eq(sl_buf_append(script, sl_buf_head(&msg->buf), sl_buf_size(&msg->buf)), 0);
	sl_buf_fini(&msg->buf);
}

/* A short session: create, write, garbage, read, list, an unknown program. */
static void script_make(struct rig *rig, struct sl_buf *ret)
{
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];

	sl_handle_make(rig->config.handle_key, SL_TREE_ROOT + 1, 1, file);
	memset(ret, 0, sizeof(*ret));
	nfs_begin(rig, &msg, SL_NFS_CREATE, rig->root);
	put_name(&msg, "f");
	put_u32(&msg, 1);
	put_sattr(&msg, NULL, NULL);
	script_add(ret, &msg);
	nfs_begin(rig, &msg, SL_NFS_WRITE, file);
	put_write(&msg, 5, SL_FILE_SYNC, "some bytes of data", 18);
	script_add(ret, &msg);
	call_begin(rig, &msg, SL_PROG_NFS, 3, SL_NFS_GETATTR);
	script_add(ret, &msg);
	nfs_begin(rig, &msg, SL_NFS_READ, file);
	put_u64(&msg, 0);
	put_u32(&msg, 64);
	script_add(ret, &msg);
	nfs_begin(rig, &msg, SL_NFS_READDIRPLUS, rig->root);
	put_u64(&msg, 0);
	put_u64(&msg, 0);
	put_u32(&msg, 512);
	put_u32(&msg, 1024);
	script_add(ret, &msg);
	call_begin(rig, &msg, 200000, 3, 0);
	script_add(ret, &msg);
}

static void feed(struct rig *rig, const uint8_t *bytes, size_t size)
{
	cr_assert_eq(sl_nfs3_conn_input(rig->conn, 0, bytes, size), 0);
}

/* Feeds `script` in pieces of `step` bytes, the first of `first`; returns the replies. */
static struct sl_buf replay(const struct sl_buf *script, size_t first, size_t step)
{
	struct rig rig;
	struct sl_buf got;
	size_t at = first, size = sl_buf_size(script);

	rig_init(&rig, NULL);
	feed(&rig, sl_buf_head(script), first);
	for (; at < size; at += step) {
		feed(&rig, sl_buf_head(script) + at, step < size - at ? step : size - at);
	}
	rig_run(&rig);
	got = rig.got;
	memset(&rig.got, 0, sizeof(rig.got));
	rig_fini(&rig);
	return got;
}

static void check_same(const struct sl_buf *expected, struct sl_buf *got, size_t which)
{
	cr_assert_eq(sl_buf_size(got), sl_buf_size(expected), "case %zu", which);
	cr_assert_eq(memcmp(sl_buf_head(got), sl_buf_head(expected), sl_buf_size(got)), 0, "case %zu", which);
	sl_buf_fini(got);
}

static void script_init(struct sl_buf *ret_script, struct sl_buf *ret_expected)
{
	struct rig rig;

	rig_init(&rig, NULL);
	script_make(&rig, ret_script);
	rig_fini(&rig);
	*ret_expected = replay(ret_script, sl_buf_size(ret_script), 1);
	cr_assert(sl_buf_size(ret_expected) > 500);
}

Test(nfs3_framing, split_anywhere_gives_the_same_replies)
{
	struct sl_buf script, expected, got;
	size_t size;

	script_init(&script, &expected);
	size = sl_buf_size(&script);
	for (size_t at = 0; at <= size; at++) {
		got = replay(&script, at, size);
		check_same(&expected, &got, at);
	}
	for (size_t step = 1; step < 70; step++) {
		got = replay(&script, 0, step);
		check_same(&expected, &got, step);
	}
	sl_buf_fini(&script);
	sl_buf_fini(&expected);
}

static void put_fragment(struct sl_buf *out, const uint8_t *bytes, size_t size, bool last)
{
	uint8_t mark[4];

	sl_put_be32(mark, (last ? 0x80000000u : 0) | (uint32_t)size);
	cr_assert_eq(sl_buf_append(out, mark, 4), 0);
	cr_assert_eq(sl_buf_append(out, bytes, size), 0);
}

/* The same records in fragments of at most `piece` bytes, with empty ones between. */
static struct sl_buf fragment(const struct sl_buf *script, size_t piece, bool empty)
{
	struct sl_buf out = {0};
	const uint8_t *at = sl_buf_head(script), *end = at + sl_buf_size(script);

	while (at < end) {
		size_t left = sl_be32(at) & 0x7fffffffu;

		for (at += 4; left > piece; left -= piece) {
			put_fragment(&out, at, piece, false);
			if (empty) {
				put_fragment(&out, at, 0, false);
			}
			at += piece;
		}
		put_fragment(&out, at, left, !empty);
		if (empty) {
			put_fragment(&out, at, 0, true);
		}
		at += left;
	}
	return out;
}

Test(nfs3_framing, fragments_make_the_same_record)
{
	struct sl_buf script, expected, got, pieces;

	script_init(&script, &expected);
	for (size_t piece = 1; piece < 90; piece += 3) {
		pieces = fragment(&script, piece, piece % 2 == 0);
		got = replay(&pieces, sl_buf_size(&pieces), 1);
		check_same(&expected, &got, piece);
		got = replay(&pieces, 0, 7);
		check_same(&expected, &got, piece);
		sl_buf_fini(&pieces);
	}
	sl_buf_fini(&script);
	sl_buf_fini(&expected);
}

Test(nfs3_framing, records_beyond_the_limit_end_the_stream)
{
	static uint8_t filler[65536];
	struct rig rig;
	uint8_t mark[4];
	size_t sent;
	int rc = 0;

	rig_init(&rig, NULL);
	sl_put_be32(mark, 0x80000000u | (SL_NFS3_MAX_RECORD + 1));
	cr_assert_eq(sl_nfs3_conn_input(rig.conn, 0, mark, 4), -EPROTO);
	cr_assert_eq(sl_nfs3_conn_error(rig.conn), -EPROTO);
	cr_assert_eq(sl_nfs3_conn_input(rig.conn, 0, mark, 0), -EPROTO);
	rig_restart(&rig);
	cr_assert_eq(sl_nfs3_conn_input(rig.conn, 0, "GET / HTTP/1.1\r\n\r\n", 18), -EPROTO);
	rig_restart(&rig);
	/* Many fragments that are small, but too much together. */
	sl_put_be32(mark, sizeof(filler));
	for (sent = 0; rc == 0 && sent < (size_t)2 * SL_NFS3_MAX_RECORD; sent += sizeof(filler)) {
		rc = sl_nfs3_conn_input(rig.conn, 0, mark, 4);
		rc = rc == 0 ? sl_nfs3_conn_input(rig.conn, 0, filler, sizeof(filler)) : rc;
	}
	cr_assert_eq(rc, -EPROTO);
	cr_assert(sent <= SL_NFS3_MAX_RECORD + sizeof(filler));
	/* The largest that is allowed: not a call, but no reason to hang up. */
	rig_restart(&rig);
	memset(filler, 0x11, sizeof(filler));
	sl_put_be32(mark, 0x80000000u | SL_NFS3_MAX_RECORD);
	cr_assert_eq(sl_nfs3_conn_input(rig.conn, 0, mark, 4), 0);
	for (sent = 0; sent < SL_NFS3_MAX_RECORD; sent += 4096) {
		cr_assert_eq(sl_nfs3_conn_input(rig.conn, 0, filler, 4096), 0);
	}
	cr_assert_eq(do_getattr(&rig, rig.root).nlink, 2);
	rig_fini(&rig);
}
