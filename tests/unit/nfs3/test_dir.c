#include <criterion/criterion.h>
#include <stdio.h>

#include "rig.h"

static uint32_t do_lookup(struct rig *rig, const uint8_t *dir, const void *name, uint32_t size,
			  uint8_t ret[SL_HANDLE_BYTES])
{
	struct msg msg;
	struct sl_xdr_in in;
	uint32_t status;

	nfs_begin(rig, &msg, SL_NFS_LOOKUP, dir);
	put_opaque(&msg, name, size);
	status = rig_status(rig, &msg, &in);
	if (status == 0) {
		get_handle(&in, ret);
		cr_assert(get_post_attr(&in).present);
		cr_assert(get_post_attr(&in).present);
	} else {
		(void)get_post_attr(&in);
	}
	get_end(&in);
	return status;
}

Test(nfs3_dir, lookup)
{
	struct rig rig;
	uint8_t dir[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES], found[SL_HANDLE_BYTES];
	char longest[256];

	rig_init(&rig, NULL);
	memset(longest, 'n', sizeof(longest));
	do_mkdir(&rig, rig.root, "dir", dir);
	do_create(&rig, dir, "file", file);
	cr_assert_eq(do_lookup(&rig, dir, "file", 4, found), 0);
	cr_assert_eq(memcmp(found, file, SL_HANDLE_BYTES), 0);
	cr_assert_eq(do_lookup(&rig, dir, ".", 1, found), 0);
	cr_assert_eq(memcmp(found, dir, SL_HANDLE_BYTES), 0);
	cr_assert_eq(do_lookup(&rig, dir, "..", 2, found), 0);
	cr_assert_eq(memcmp(found, rig.root, SL_HANDLE_BYTES), 0);
	cr_assert_eq(do_lookup(&rig, rig.root, "..", 2, found), 0);
	cr_assert_eq(memcmp(found, rig.root, SL_HANDLE_BYTES), 0);
	cr_assert_eq(do_lookup(&rig, dir, "none", 4, found), SL_NFSERR_NOENT);
	cr_assert_eq(do_lookup(&rig, file, "x", 1, found), SL_NFSERR_NOTDIR);
	cr_assert_eq(do_lookup(&rig, dir, "", 0, found), SL_NFSERR_INVAL);
	cr_assert_eq(do_lookup(&rig, rig.root, "dir/file", 8, found), SL_NFSERR_INVAL);
	cr_assert_eq(do_lookup(&rig, dir, "fi\0le", 5, found), SL_NFSERR_INVAL);
	cr_assert_eq(do_lookup(&rig, dir, longest, 255, found), SL_NFSERR_NOENT);
	cr_assert_eq(do_lookup(&rig, dir, longest, 256, found), SL_NFSERR_NAMETOOLONG);
	rig_fini(&rig);
}

/* Status of a CREATE: how 0, 1 with a size, 2 with a verifier. */
static uint32_t create(struct rig *rig, const char *name, uint32_t how, uint64_t value,
		       uint8_t ret[SL_HANDLE_BYTES])
{
	struct msg msg;
	struct sl_xdr_in in;
	uint32_t status;

	nfs_begin(rig, &msg, SL_NFS_CREATE, rig->root);
	put_name(&msg, name);
	put_u32(&msg, how);
	if (how == 2) {
		put_u64(&msg, value);
	} else {
		put_sattr(&msg, NULL, &value);
	}
	status = rig_status(rig, &msg, &in);
	if (status == 0) {
		cr_assert_eq(sl_xdr_u32(&in), 1);
		get_handle(&in, ret);
		cr_assert(get_post_attr(&in).present);
	}
	cr_assert(get_wcc(&in).present);
	get_end(&in);
	return status;
}

static int64_t ten_us(const struct slow_store *self, const struct sl_store_req *req)
{
	(void)self;
	(void)req;
	return 10 * US;
}

/* RFC 1813 leaves handle and attributes of CREATE, MKDIR and SYMLINK optional. */
Test(nfs3_dir, what_is_gone_before_its_reply_has_neither_handle_nor_attributes)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;

	rig_init(&rig, ten_us);
	nfs_begin(&rig, &msg, SL_NFS_MKDIR, rig.root);
	put_name(&msg, "d");
	put_sattr(&msg, NULL, NULL);
	rig_send(&rig, &msg);
	cr_assert_eq(rig.tree->ops->remove(rig.tree, SL_TREE_ROOT, "d", SL_FT_DIR), 0);
	rig_run(&rig);
	cr_assert(rig_find(&rig, msg.xid, &in));
	in.at += 24;
	cr_assert_eq(sl_xdr_u32(&in), SL_NFS_OK);
	cr_assert_eq(sl_xdr_u32(&in), 0);
	cr_assert(!get_post_attr(&in).present);
	cr_assert(get_wcc(&in).present);
	get_end(&in);
	rig_fini(&rig);
}

Test(nfs3_dir, create_modes)
{
	struct rig rig;
	uint8_t one[SL_HANDLE_BYTES], two[SL_HANDLE_BYTES], dir[SL_HANDLE_BYTES];
	uint32_t i;

	rig_init(&rig, NULL);
	cr_assert_eq(create(&rig, "f", 0, 100, one), 0);
	cr_assert_eq(do_getattr(&rig, one).size, 100);
	cr_assert_eq(create(&rig, "f", 0, 7, two), 0);
	cr_assert_eq(memcmp(one, two, SL_HANDLE_BYTES), 0);
	cr_assert_eq(do_getattr(&rig, one).size, 7);
	cr_assert_eq(create(&rig, "f", 1, 0, two), SL_NFSERR_EXIST);
	cr_assert_eq(do_getattr(&rig, one).size, 7);
	cr_assert_eq(create(&rig, "f", 2, 0xabcd, two), SL_NFSERR_EXIST);
	cr_assert_eq(create(&rig, "huge", 1, UINT64_MAX, two), SL_NFSERR_FBIG);
	cr_assert_eq(do_lookup(&rig, rig.root, "huge", 4, two), SL_NFSERR_NOENT);
	/* A retry of an exclusive CREATE is the same file, after a restart too; another client's is refused.
	 */
	cr_assert_eq(create(&rig, "x", 2, 0xfedcba9876543210u, one), 0);
	cr_assert_eq(create(&rig, "x", 2, 0xfedcba9876543210u, two), 0);
	cr_assert_eq(memcmp(one, two, SL_HANDLE_BYTES), 0);
	cr_assert_eq(create(&rig, "x", 2, 0xfedcba9876543211u, two), SL_NFSERR_EXIST);
	rig_restart(&rig);
	cr_assert_eq(create(&rig, "x", 2, 0xfedcba9876543210u, two), 0);
	do_mkdir(&rig, rig.root, "d", dir);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(create(&rig, "d", i, 0, two), SL_NFSERR_EXIST);
		cr_assert_eq(create(&rig, ".", i, 0, two), SL_NFSERR_EXIST);
		cr_assert_eq(create(&rig, "..", i, 0, two), SL_NFSERR_EXIST);
		cr_assert_eq(create(&rig, "a/b", i, 0, two), SL_NFSERR_INVAL);
	}
	rig_fini(&rig);
}

static uint32_t on_name(struct rig *rig, uint32_t procedure, const uint8_t *dir, const char *name)
{
	struct msg msg;
	struct sl_xdr_in in;
	uint32_t status;

	nfs_begin(rig, &msg, procedure, dir);
	put_name(&msg, name);
	if (procedure == SL_NFS_MKDIR) {
		put_sattr(&msg, NULL, NULL);
	}
	status = rig_status(rig, &msg, &in);
	if (procedure != SL_NFS_MKDIR || status != 0) {
		cr_assert(get_wcc(&in).present);
		get_end(&in);
	}
	return status;
}

Test(nfs3_dir, mkdir_remove_rmdir)
{
	struct rig rig;
	uint8_t dir[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	do_mkdir(&rig, rig.root, "dir", dir);
	do_create(&rig, dir, "file", file);
	cr_assert_eq(do_getattr(&rig, rig.root).nlink, 3);
	cr_assert_eq(on_name(&rig, SL_NFS_MKDIR, rig.root, "dir"), SL_NFSERR_EXIST);
	cr_assert_eq(on_name(&rig, SL_NFS_MKDIR, rig.root, ".."), SL_NFSERR_EXIST);
	cr_assert_eq(on_name(&rig, SL_NFS_MKDIR, file, "x"), SL_NFSERR_NOTDIR);
	cr_assert_eq(on_name(&rig, SL_NFS_RMDIR, rig.root, "dir"), SL_NFSERR_NOTEMPTY);
	cr_assert_eq(on_name(&rig, SL_NFS_REMOVE, rig.root, "dir"), SL_NFSERR_ISDIR);
	cr_assert_eq(on_name(&rig, SL_NFS_RMDIR, dir, "file"), SL_NFSERR_NOTDIR);
	cr_assert_eq(on_name(&rig, SL_NFS_REMOVE, dir, ".."), SL_NFSERR_INVAL);
	cr_assert_eq(on_name(&rig, SL_NFS_RMDIR, dir, "."), SL_NFSERR_INVAL);
	cr_assert_eq(on_name(&rig, SL_NFS_REMOVE, dir, "none"), SL_NFSERR_NOENT);
	cr_assert_eq(on_name(&rig, SL_NFS_REMOVE, dir, "file"), 0);
	cr_assert_eq(on_name(&rig, SL_NFS_RMDIR, rig.root, "dir"), 0);
	cr_assert_eq(do_getattr(&rig, rig.root).nlink, 2);
	rig_fini(&rig);
}

#define FILES 150

struct walk {
	unsigned seen[FILES];
	unsigned entries, calls, dots;
	uint64_t cookie;
	bool eof;
};

static void walk_entry(struct sl_xdr_in *in, struct walk *walk, bool plus)
{
	uint64_t fileid = sl_xdr_u64(in);
	struct sl_xdr_bytes name = sl_xdr_opaque(in, 255);
	uint8_t handle[SL_HANDLE_BYTES];
	unsigned number = 0;
	bool dots = name.data[0] == '.';

	for (uint32_t i = 1; !dots && i < name.size; i++) {
		number = 10 * number + (unsigned)(name.data[i] - '0');
	}
	cr_assert(dots || number < FILES);
	if (dots) {
		walk->dots += name.size; /* "." and "..": 1 + 2 */
		cr_assert_eq(fileid, SL_TREE_ROOT);
	} else {
		walk->seen[number]++;
	}
	walk->entries++;
	walk->cookie = sl_xdr_u64(in);
	if (plus) {
		cr_assert_eq(get_post_attr(in).fileid, fileid);
		cr_assert_eq(sl_xdr_u32(in), 1);
		get_handle(in, handle);
	}
}

/* One READDIR or READDIRPLUS; its status. The result, status excepted, keeps to the size that was allowed. */
static uint32_t walk_step(struct rig *rig, struct walk *walk, bool plus, uint32_t dir_bytes, uint32_t bytes)
{
	struct msg msg;
	struct sl_xdr_in in;
	uint32_t status;

	nfs_begin(rig, &msg, plus ? SL_NFS_READDIRPLUS : SL_NFS_READDIR, rig->root);
	put_u64(&msg, walk->cookie);
	put_u64(&msg, 0);
	if (plus) {
		put_u32(&msg, dir_bytes);
	}
	put_u32(&msg, bytes);
	status = rig_status(rig, &msg, &in);
	walk->calls++;
	if (status != 0) {
		cr_assert(get_post_attr(&in).present);
		get_end(&in);
		return status;
	}
	cr_assert((size_t)(in.end - in.at) <= bytes);
	cr_assert(get_post_attr(&in).present);
	cr_assert_eq(sl_xdr_u64(&in), 0);
	while (sl_xdr_u32(&in)) {
		walk_entry(&in, walk, plus);
	}
	walk->eof = sl_xdr_u32(&in) != 0;
	get_end(&in);
	return 0;
}

Test(nfs3_dir, listings_of_every_size_show_each_entry_once)
{
	static const uint32_t sizes[] = {136, 200, 512, 1000, 4096, 65536, UINT32_MAX};
	struct rig rig;
	uint8_t handle[SL_HANDLE_BYTES];
	char name[16];

	rig_init(&rig, NULL);
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		do_create(&rig, rig.root, name, handle);
	}
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct walk walk = {0};
		bool plus = i % 2 != 0;
		uint32_t bytes = sizes[i / 2] + (plus && sizes[i / 2] < 4096 ? 120 : 0);

		while (!walk.eof) {
			unsigned before = walk.entries;

			cr_assert_eq(walk_step(&rig, &walk, plus, 256, bytes), 0);
			cr_assert(walk.eof || walk.entries > before);
		}
		cr_assert_eq(walk.entries, FILES + 2);
		cr_assert_eq(walk.dots, 3);
		for (unsigned f = 0; f < FILES; f++) {
			cr_assert_eq(walk.seen[f], 1, "entry %u", f);
		}
		/* dircount caps READDIRPLUS; a large READDIR takes one call. */
		cr_assert(!plus || walk.calls > FILES / 16);
		cr_assert(plus || bytes < 65536 || walk.calls == 1);
	}
	rig_fini(&rig);
}

Test(nfs3_dir, listing_errors)
{
	struct rig rig;
	struct msg msg;
	struct walk walk = {0};
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	walk.cookie = 2; /* behind "." and ".." */
	cr_assert_eq(walk_step(&rig, &walk, false, 0, 104), 0);
	cr_assert(walk.eof);
	cr_assert_eq(walk_step(&rig, &walk, false, 0, 103), SL_NFSERR_TOOSMALL);
	walk.cookie = 0;
	cr_assert_eq(walk_step(&rig, &walk, false, 0, 104), SL_NFSERR_TOOSMALL);
	do_create(&rig, rig.root, "f1", file);
	cr_assert_eq(walk_step(&rig, &walk, false, 0, 0), SL_NFSERR_TOOSMALL);
	cr_assert_eq(walk_step(&rig, &walk, true, 8, 4096), SL_NFSERR_TOOSMALL);
	cr_assert_eq(walk_step(&rig, &walk, true, 4096, 200), SL_NFSERR_TOOSMALL);
	walk.cookie = UINT64_MAX;
	cr_assert_eq(walk_step(&rig, &walk, false, 0, 4096), 0);
	cr_assert(walk.eof);
	nfs_begin(&rig, &msg, SL_NFS_READDIR, rig.root); /* a verifier we never gave */
	put_u64(&msg, 0);
	put_u64(&msg, 5);
	put_u32(&msg, 4096);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_BAD_COOKIE);
	nfs_begin(&rig, &msg, SL_NFS_READDIR, file);
	put_u64(&msg, 0);
	put_u64(&msg, 0);
	put_u32(&msg, 4096);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_NOTDIR);
	rig_fini(&rig);
}

/* What comes and goes between two calls may show or not; what stays shows once. */
Test(nfs3_dir, a_listing_goes_on_while_the_directory_changes)
{
	struct rig rig;
	struct walk walk = {0};
	uint8_t handle[SL_HANDLE_BYTES];
	char name[16];

	rig_init(&rig, NULL);
	for (unsigned i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		do_create(&rig, rig.root, name, handle);
	}
	for (unsigned step = 0; !walk.eof; step++) {
		cr_assert_eq(walk_step(&rig, &walk, false, 0, 400), 0);
		/* Every third of the old ones goes, the one the cookie stands on among them. */
		snprintf(name, sizeof(name), "f%u", 3 * step);
		cr_assert_eq(on_name(&rig, SL_NFS_REMOVE, rig.root, name), 0);
		snprintf(name, sizeof(name), "f%u", 60 + step % 90);
		do_create(&rig, rig.root, name, handle);
		cr_assert(step < 20);
	}
	for (unsigned i = 0; i < 60; i++) {
		cr_assert(i % 3 == 0 ? walk.seen[i] <= 1 : walk.seen[i] == 1, "f%u %u times", i,
			  walk.seen[i]);
	}
	rig_fini(&rig);
}

Test(nfs3_dir, file_system)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	uint64_t total, avail, files, free_files;

	rig_init(&rig, NULL);
	nfs_begin(&rig, &msg, SL_NFS_FSSTAT, rig.root);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	cr_assert(get_post_attr(&in).present);
	total = sl_xdr_u64(&in);
	avail = sl_xdr_u64(&in);
	cr_assert_eq(total, 64u << 20);
	cr_assert(avail < total && avail > total / 2);
	cr_assert_eq(sl_xdr_u64(&in), avail);
	files = sl_xdr_u64(&in);
	free_files = sl_xdr_u64(&in);
	cr_assert_eq(files, free_files + 1); /* the root */
	cr_assert_eq(sl_xdr_u64(&in), free_files);
	cr_assert_eq(sl_xdr_u32(&in), 0); /* it may change at any time */
	get_end(&in);
	nfs_begin(&rig, &msg, SL_NFS_FSINFO, rig.root);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	cr_assert(get_post_attr(&in).present);
	for (int i = 0; i < 2; i++) { /* READ, then WRITE: largest, preferred, multiple of */
		cr_assert_eq(sl_xdr_u32(&in), SL_NFS3_MAX_IO);
		cr_assert_eq(sl_xdr_u32(&in), SL_NFS3_MAX_IO);
		cr_assert_eq(sl_xdr_u32(&in), 4096);
	}
	cr_assert_eq(sl_xdr_u32(&in), 65536); /* READDIR */
	cr_assert_eq(sl_xdr_u64(&in), INT64_MAX);
	cr_assert_eq(sl_xdr_u64(&in), 1);
	cr_assert_eq(sl_xdr_u32(&in), 1 | 2 | 8 | 16);
	get_end(&in);
	nfs_begin(&rig, &msg, SL_NFS_PATHCONF, rig.root);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	cr_assert(get_post_attr(&in).present);
	cr_assert_eq(sl_xdr_u32(&in), SL_TREE_LINKS_MAX);
	cr_assert_eq(sl_xdr_u32(&in), 255);
	cr_assert_eq(sl_xdr_u32(&in), 1); /* longer names are refused, not cut */
	cr_assert_eq(sl_xdr_u32(&in), 1); /* root alone gives files away */
	cr_assert_eq(sl_xdr_u32(&in), 0); /* "a" is not "A" */
	cr_assert_eq(sl_xdr_u32(&in), 1); /* and stays "a" */
	get_end(&in);
	rig_fini(&rig);
}
