/* wcc_data: what an object was before a call, and after it, with nothing in between. */
#include <criterion/criterion.h>

#include "rig.h"

/* Each look at the clock is a second later. */
static int64_t ticking(void *arg)
{
	int64_t *seconds = arg;

	return ++*seconds * INT64_C(1000000000);
}

static void is_before(const struct seen_attr *was, const struct seen_before *before, const char *what)
{
	cr_expect(before->present, "%s", what);
	cr_expect_eq(before->size, was->size, "%s", what);
	cr_expect_eq(before->mtime_ns, was->mtime_ns, "%s", what);
	cr_expect_eq(before->ctime_ns, was->ctime_ns, "%s", what);
}

static void is_after(const struct seen_attr *is, const struct seen_attr *after, const char *what)
{
	cr_expect(after->present, "%s", what);
	cr_expect_eq(after->size, is->size, "%s", what);
	cr_expect_eq(after->nlink, is->nlink, "%s", what);
	cr_expect_eq(after->mtime_ns, is->mtime_ns, "%s", what);
	cr_expect_eq(after->ctime_ns, is->ctime_ns, "%s", what);
}

/* What comes behind the status of these procedures, up to wcc_data of `object`. */
enum reply_head {
	HEAD_NONE,
	HEAD_ATTR,  /* LINK */
	HEAD_CHILD, /* CREATE, MKDIR, SYMLINK */
};

/* Sends the call; its wcc_data is what GETATTR says of `object` before and after. */
static void check(struct rig *rig, struct msg *msg, const uint8_t *object, enum reply_head head,
		  const char *what)
{
	struct seen_attr was = do_getattr(rig, object), is, after;
	struct seen_before before;
	uint8_t child[SL_HANDLE_BYTES];
	struct sl_xdr_in in;

	cr_expect_eq(rig_status(rig, msg, &in), 0, "%s", what);
	if (head == HEAD_CHILD) {
		cr_assert_eq(sl_xdr_u32(&in), 1);
		get_handle(&in, child);
	}
	if (head != HEAD_NONE) {
		(void)get_post_attr(&in);
	}
	after = get_wcc_both(&in, &before);
	is = do_getattr(rig, object);
	is_before(&was, &before, what);
	is_after(&is, &after, what);
	cr_expect(before.ctime_ns < after.ctime_ns, "%s: nothing changed", what);
}

Test(wcc, of_a_directory_whose_names_change)
{
	struct rig rig;
	struct msg msg;
	int64_t seconds = 1000;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	rig.tree->wall_ns = ticking;
	rig.tree->wall_arg = &seconds;
	do_create(&rig, rig.root, "f", file);

	nfs_begin(&rig, &msg, SL_NFS_CREATE, rig.root);
	put_name(&msg, "g");
	put_u32(&msg, 0);
	put_sattr(&msg, NULL, NULL);
	check(&rig, &msg, rig.root, HEAD_CHILD, "CREATE");
	nfs_begin(&rig, &msg, SL_NFS_MKDIR, rig.root);
	put_name(&msg, "d");
	put_sattr(&msg, NULL, NULL);
	check(&rig, &msg, rig.root, HEAD_CHILD, "MKDIR");
	nfs_begin(&rig, &msg, SL_NFS_SYMLINK, rig.root);
	put_name(&msg, "s");
	put_sattr(&msg, NULL, NULL);
	put_name(&msg, "target");
	check(&rig, &msg, rig.root, HEAD_CHILD, "SYMLINK");
	nfs_begin(&rig, &msg, SL_NFS_LINK, file);
	put_opaque(&msg, rig.root, SL_HANDLE_BYTES);
	put_name(&msg, "l");
	check(&rig, &msg, rig.root, HEAD_ATTR, "LINK");
	nfs_begin(&rig, &msg, SL_NFS_REMOVE, rig.root);
	put_name(&msg, "g");
	check(&rig, &msg, rig.root, HEAD_NONE, "REMOVE");
	nfs_begin(&rig, &msg, SL_NFS_RMDIR, rig.root);
	put_name(&msg, "d");
	check(&rig, &msg, rig.root, HEAD_NONE, "RMDIR");
	rig_fini(&rig);
}

Test(wcc, of_both_directories_of_a_rename)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	struct seen_attr from, to, after_from, after_to;
	struct seen_before before_from, before_to;
	int64_t seconds = 1000;
	uint8_t dir[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	rig.tree->wall_ns = ticking;
	rig.tree->wall_arg = &seconds;
	do_mkdir(&rig, rig.root, "d", dir);
	do_create(&rig, rig.root, "f", file);
	from = do_getattr(&rig, rig.root);
	to = do_getattr(&rig, dir);
	nfs_begin(&rig, &msg, SL_NFS_RENAME, rig.root);
	put_name(&msg, "f");
	put_opaque(&msg, dir, SL_HANDLE_BYTES);
	put_name(&msg, "f");
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	after_from = get_wcc_both(&in, &before_from);
	after_to = get_wcc_both(&in, &before_to);
	get_end(&in);
	is_before(&from, &before_from, "from");
	is_before(&to, &before_to, "to");
	from = do_getattr(&rig, rig.root);
	to = do_getattr(&rig, dir);
	is_after(&from, &after_from, "from");
	is_after(&to, &after_to, "to");
	rig_fini(&rig);
}

Test(wcc, of_a_file)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	struct seen_attr was, after;
	struct seen_before before;
	int64_t seconds = 1000;
	uint64_t size = 7;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	rig.tree->wall_ns = ticking;
	rig.tree->wall_arg = &seconds;
	do_create(&rig, rig.root, "f", file);

	nfs_begin(&rig, &msg, SL_NFS_WRITE, file);
	put_write(&msg, 0, SL_FILE_SYNC, "twelve bytes", 12);
	check(&rig, &msg, file, HEAD_NONE, "WRITE");
	nfs_begin(&rig, &msg, SL_NFS_SETATTR, file);
	put_sattr(&msg, NULL, &size);
	put_u32(&msg, 0);
	check(&rig, &msg, file, HEAD_NONE, "SETATTR");
	/* COMMIT changes nothing that it tells. */
	was = do_getattr(&rig, file);
	nfs_begin(&rig, &msg, SL_NFS_COMMIT, file);
	put_u64(&msg, 0);
	put_u32(&msg, 0);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	after = get_wcc_both(&in, &before);
	is_before(&was, &before, "COMMIT");
	is_after(&was, &after, "COMMIT");
	rig_fini(&rig);
}

/* A call that is refused changes nothing, and says so; of a bad handle nothing is known. */
Test(wcc, of_calls_that_fail)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	struct seen_attr was, after;
	struct seen_before before;
	uint8_t wrong[SL_HANDLE_BYTES] = {0};

	rig_init(&rig, NULL);
	was = do_getattr(&rig, rig.root);
	nfs_begin(&rig, &msg, SL_NFS_MKNOD, rig.root);
	put_name(&msg, "pipe");
	put_u32(&msg, 7);
	put_sattr(&msg, NULL, NULL);
	cr_assert_eq(rig_status(&rig, &msg, &in), SL_NFSERR_NOTSUPP);
	after = get_wcc_both(&in, &before);
	get_end(&in);
	is_before(&was, &before, "MKNOD");
	is_after(&was, &after, "MKNOD");

	nfs_begin(&rig, &msg, SL_NFS_REMOVE, wrong);
	put_name(&msg, "f");
	cr_assert_neq(rig_status(&rig, &msg, &in), 0);
	after = get_wcc_both(&in, &before);
	get_end(&in);
	cr_assert(!before.present);
	cr_assert(!after.present);
	rig_fini(&rig);
}

/* What goes to the head of the file takes longest. */
static int64_t first_is_slow(const struct slow_store *self, const struct sl_store_req *req)
{
	(void)self;
	return req->offset_bytes == 0 ? 100 * US : 10 * US;
}

static struct seen_attr wcc_of(struct rig *rig, uint32_t xid, struct seen_before *ret)
{
	struct sl_xdr_in in;

	cr_assert(rig_find(rig, xid, &in));
	for (int i = 0; i < 6; i++) {
		(void)sl_xdr_u32(&in); /* xid, reply, accepted, verifier, success */
	}
	cr_assert_eq(sl_xdr_u32(&in), 0);
	return get_wcc_both(&in, ret);
}

/* Two WRITEs in service at once: what the first was told is the file before the second, although its reply
 * leaves after it. A client that joins them sees no gap, so nobody else wrote. */
Test(wcc, of_calls_that_overlap_is_a_chain)
{
	struct rig rig;
	struct msg first, second;
	struct seen_attr one, two;
	struct seen_before before_one, before_two;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, first_is_slow);
	do_create(&rig, rig.root, "f", file);
	nfs_begin(&rig, &first, SL_NFS_WRITE, file);
	put_write(&first, 0, SL_FILE_SYNC, "1234", 4);
	nfs_begin(&rig, &second, SL_NFS_WRITE, file);
	put_write(&second, 4, SL_FILE_SYNC, "5678", 4);
	rig_send(&rig, &first);
	rig_send(&rig, &second);
	rig_run(&rig);
	one = wcc_of(&rig, first.xid, &before_one);
	two = wcc_of(&rig, second.xid, &before_two);
	cr_assert_eq(before_one.size, 0);
	cr_assert_eq(one.size, 4);
	is_before(&one, &before_two, "second");
	cr_assert_eq(two.size, 8);
	rig_fini(&rig);
}
