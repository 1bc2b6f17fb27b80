#include <criterion/criterion.h>
#include <errno.h>

#include "rig.h"

/* One header word changed: what must come back. */
static const struct {
	const char *what;
	size_t word; /* after the record mark */
	uint32_t value;
	uint32_t reply[6]; /* from the message type on */
	unsigned words;
} header_cases[] = {
    {"RPC version 3", 2, 3, {1, 1, 0, 2, 2}, 5},
    {"unknown program", 3, 100021, {1, 0, 0, 0, 1}, 5},
    {"NFS version 4", 4, 4, {1, 0, 0, 0, 2, 3}, 6},
    {"NFS version 2", 4, 2, {1, 0, 0, 0, 2, 3}, 6},
    {"procedure 22", 5, 22, {1, 0, 0, 0, 3}, 5},
    {"procedure 2^32-1", 5, UINT32_MAX, {1, 0, 0, 0, 3}, 5},
    {"credential of kerberos", 6, 6, {1, 1, 1, 1}, 4},
    {"AUTH_SYS without a body", 6, 1, {1, 1, 1, 1}, 4},
    {"credential longer than the record", 7, 400, {1, 1, 1, 1}, 4},
    {"credential too long", 7, 404, {1, 1, 1, 1}, 4},
    {"credential of 4 GiB", 7, UINT32_MAX, {1, 1, 1, 1}, 4},
    {"verifier longer than the record", 9, 8, {1, 1, 1, 3}, 4},
    {"verifier of 4 GiB", 9, UINT32_MAX, {1, 1, 1, 3}, 4},
};

Test(nfs3_rpc, header_errors_are_told)
{
	struct rig rig;

	rig_init(&rig, NULL);
	rig.no_credentials = true;
	for (size_t i = 0; i < sizeof(header_cases) / sizeof(header_cases[0]); i++) {
		struct msg msg;
		struct sl_xdr_in in;
		uint32_t xid;

		call_begin(&rig, &msg, SL_PROG_NFS, 3, SL_NFS_NULL);
		xid = msg.xid;
		sl_put_be32(sl_buf_head(&msg.buf) + 4 + 4 * header_cases[i].word, header_cases[i].value);
		rig_send(&rig, &msg);
		rig_run(&rig);
		cr_assert(rig_find(&rig, xid, &in), "%s", header_cases[i].what);
		(void)sl_xdr_u32(&in);
		for (unsigned w = 0; w < header_cases[i].words; w++) {
			cr_assert_eq(sl_xdr_u32(&in), header_cases[i].reply[w], "%s word %u",
				     header_cases[i].what, w);
		}
		cr_assert(!in.bad);
	}
	cr_assert_eq(sl_nfs3_stats(rig.srv)->refused, sizeof(header_cases) / sizeof(header_cases[0]));
	cr_assert_eq(sl_nfs3_stats(rig.srv)->garbage, 0);
	rig_fini(&rig);
}

Test(nfs3_rpc, what_is_no_call_gets_no_answer)
{
	struct rig rig;

	rig_init(&rig, NULL);
	for (size_t size = 0; size < 24; size++) {
		struct msg msg;

		call_begin(&rig, &msg, SL_PROG_NFS, 3, SL_NFS_NULL);
		msg.buf.tail = msg.buf.head + 4 + size;
		rig_send(&rig, &msg);
	}
	for (uint32_t type = 1; type < 4; type++) {
		struct msg msg;

		call_begin(&rig, &msg, SL_PROG_NFS, 3, SL_NFS_NULL);
		sl_put_be32(sl_buf_head(&msg.buf) + 8, type);
		rig_send(&rig, &msg);
	}
	rig_run(&rig);
	cr_assert_eq(rig_replies(&rig), 0);
	cr_assert_eq(rig.outputs, 0);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->garbage, 24 + 3);
	rig_fini(&rig);
}

static void auth_sys_begin(struct rig *rig, struct msg *msg, uint32_t machine, uint32_t groups, uint32_t body)
{
	memset(msg, 0, sizeof(*msg));
	msg->xid = rig->next_xid++;
	put_u32(msg, 0);
	put_u32(msg, msg->xid);
	put_u32(msg, 0);
	put_u32(msg, 2);
	put_u32(msg, SL_PROG_NFS);
	put_u32(msg, 3);
	put_u32(msg, SL_NFS_NULL);
	put_u32(msg, 1);
	put_u32(msg, body);
	put_u32(msg, 77); /* stamp */
	for (put_u32(msg, machine); machine > 0; machine -= 4) {
		put_u32(msg, 0x61616161);
	}
	put_u32(msg, 1001);
	put_u32(msg, 1002);
	for (put_u32(msg, groups); groups > 0; groups--) {
		put_u32(msg, groups);
	}
	put_u64(msg, 0);
}

Test(nfs3_rpc, auth_sys_is_checked)
{
	struct rig rig;
	struct msg msg;

	rig_init(&rig, NULL);
	auth_sys_begin(&rig, &msg, 8, 16, 20 + 8 + 64);
	(void)rig_call(&rig, &msg);
	auth_sys_begin(&rig, &msg, 252, 16, 20 + 252 + 64);
	(void)rig_call(&rig, &msg);
	/* 17 groups; a name of 256 bytes; a body with a word too many or too few */
	auth_sys_begin(&rig, &msg, 8, 17, 20 + 8 + 68);
	rig_send(&rig, &msg);
	auth_sys_begin(&rig, &msg, 256, 0, 20 + 256);
	rig_send(&rig, &msg);
	auth_sys_begin(&rig, &msg, 8, 2, 20 + 8 + 12);
	rig_send(&rig, &msg);
	auth_sys_begin(&rig, &msg, 8, 2, 20 + 8 + 4);
	rig_send(&rig, &msg);
	rig_run(&rig);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->refused, 4);
	rig_fini(&rig);
}

/* Every NFS procedure with arguments, cut off after each word: GARBAGE_ARGS, and nothing done. */
Test(nfs3_rpc, cut_off_arguments_are_garbage)
{
	static const uint32_t arg_words[] = {
	    [SL_NFS_GETATTR] = 7,  [SL_NFS_SETATTR] = 15, [SL_NFS_LOOKUP] = 9,   [SL_NFS_ACCESS] = 8,
	    [SL_NFS_READ] = 10,    [SL_NFS_WRITE] = 12,   [SL_NFS_CREATE] = 16,  [SL_NFS_MKDIR] = 15,
	    [SL_NFS_REMOVE] = 9,   [SL_NFS_RMDIR] = 9,    [SL_NFS_READDIR] = 12, [SL_NFS_READDIRPLUS] = 13,
	    [SL_NFS_FSSTAT] = 7,   [SL_NFS_FSINFO] = 7,   [SL_NFS_PATHCONF] = 7, [SL_NFS_COMMIT] = 10,
	    [SL_NFS_READLINK] = 7, [SL_NFS_SYMLINK] = 16, [SL_NFS_RENAME] = 9,   [SL_NFS_LINK] = 9,
	    [SL_NFS_MKNOD] = 10,
	};
	struct rig rig;
	uint64_t garbage = 0;

	rig_init(&rig, NULL);
	rig.no_credentials = true;
	for (uint32_t proc = 0; proc < sizeof(arg_words) / sizeof(arg_words[0]); proc++) {
		for (uint32_t words = 0; words < arg_words[proc]; words++) {
			struct msg msg;
			struct sl_xdr_in in;
			uint32_t xid;

			nfs_begin(&rig, &msg, proc, rig.root);
			put_u32(&msg, 1);
			for (int i = 0; i < 12; i++) {
				put_u32(&msg, i == 0 ? 0x61000000 : 0);
			}
			msg.buf.tail = msg.buf.head + 44 + (size_t)4 * words;
			xid = msg.xid;
			rig_send(&rig, &msg);
			rig_run(&rig);
			cr_assert(rig_find(&rig, xid, &in));
			in.at += 20;
			cr_assert_eq(sl_xdr_u32(&in), 4, "procedure %u, %u words", proc, words);
			get_end(&in);
			cr_assert_eq(sl_nfs3_stats(rig.srv)->garbage, ++garbage);
		}
	}
	cr_assert_eq(do_getattr(&rig, rig.root).nlink, 2);
	rig_fini(&rig);
}

/* Values no enumeration, boolean or time has. */
Test(nfs3_rpc, impossible_values_are_garbage)
{
	struct rig rig;
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	nfs_begin(&rig, &msg, SL_NFS_WRITE, file); /* stable_how 3 */
	put_u64(&msg, 0);
	put_u32(&msg, 1);
	put_u32(&msg, 3);
	put_opaque(&msg, "x", 1);
	rig_send(&rig, &msg);
	nfs_begin(&rig, &msg, SL_NFS_CREATE, rig.root); /* createmode 3 */
	put_name(&msg, "g");
	put_u32(&msg, 3);
	put_sattr(&msg, NULL, NULL);
	rig_send(&rig, &msg);
	nfs_begin(&rig, &msg, SL_NFS_SETATTR, file); /* boolean 2 */
	put_u32(&msg, 2);
	for (int i = 0; i < 12; i++) {
		put_u32(&msg, 0);
	}
	rig_send(&rig, &msg);
	nfs_begin(&rig, &msg, SL_NFS_SETATTR, file); /* a second of 10^9 + 1 ns */
	put_u64(&msg, 0);
	put_u64(&msg, 0);
	put_u32(&msg, 0);
	put_u32(&msg, 2);
	put_u32(&msg, 5);
	put_u32(&msg, 1000000000);
	put_u32(&msg, 0);
	rig_send(&rig, &msg);
	nfs_begin(&rig, &msg, SL_NFS_LOOKUP, rig.root); /* a name of 4 GiB */
	put_u32(&msg, UINT32_MAX);
	put_u64(&msg, 0);
	rig_send(&rig, &msg);
	call_begin(&rig, &msg, SL_PROG_NFS, 3, SL_NFS_GETATTR); /* a handle of 2 GiB (kills libnfs) */
	put_u32(&msg, 0x80000000u);
	put_u64(&msg, 0);
	rig_send(&rig, &msg);
	rig_run(&rig);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->garbage, 6);
	cr_assert_eq(do_getattr(&rig, file).size, 0);
	rig_fini(&rig);
}
