/* Names for what is there already: RENAME, LINK, SYMLINK, READLINK; MKNOD is refused. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "rig.h"

static uint32_t do_rename(struct rig *rig, const uint8_t *from_dir, const char *from, const uint8_t *to_dir,
			  const char *to)
{
	struct msg msg;
	struct sl_xdr_in in;
	uint32_t status;

	nfs_begin(rig, &msg, SL_NFS_RENAME, from_dir);
	put_name(&msg, from);
	put_opaque(&msg, to_dir, SL_HANDLE_BYTES);
	put_name(&msg, to);
	status = rig_status(rig, &msg, &in);
	(void)get_wcc(&in);
	(void)get_wcc(&in);
	get_end(&in);
	return status;
}

static uint32_t do_link(struct rig *rig, const uint8_t *file, const uint8_t *dir, const char *name)
{
	struct msg msg;
	struct sl_xdr_in in;
	uint32_t status;

	nfs_begin(rig, &msg, SL_NFS_LINK, file);
	put_opaque(&msg, dir, SL_HANDLE_BYTES);
	put_name(&msg, name);
	status = rig_status(rig, &msg, &in);
	cr_assert(get_post_attr(&in).present);
	cr_assert(get_wcc(&in).present);
	get_end(&in);
	return status;
}

/* LOOKUP; the file number, 0 when there is no such name. */
static uint64_t number_of(struct rig *rig, const uint8_t *dir, const char *name)
{
	struct msg msg;
	struct sl_xdr_in in;
	uint8_t handle[SL_HANDLE_BYTES];

	nfs_begin(rig, &msg, SL_NFS_LOOKUP, dir);
	put_name(&msg, name);
	if (rig_status(rig, &msg, &in) != 0) {
		return 0;
	}
	get_handle(&in, handle);
	return get_post_attr(&in).fileid;
}

Test(nfs3_link, rename_moves_a_name_and_replaces_what_had_it)
{
	struct rig rig;
	uint8_t dir[SL_HANDLE_BYTES], sub[SL_HANDLE_BYTES], one[SL_HANDLE_BYTES], two[SL_HANDLE_BYTES];
	uint64_t number;
	struct msg msg;

	rig_init(&rig, NULL);
	do_mkdir(&rig, rig.root, "dir", dir);
	do_mkdir(&rig, dir, "sub", sub);
	do_create(&rig, rig.root, "one", one);
	do_create(&rig, dir, "two", two);
	number = number_of(&rig, rig.root, "one");
	cr_assert_eq(do_rename(&rig, rig.root, "one", dir, "two"), 0);
	cr_assert_eq(number_of(&rig, rig.root, "one"), 0);
	cr_assert_eq(number_of(&rig, dir, "two"), number);
	/* What was replaced is gone; what moved keeps its handle. */
	nfs_begin(&rig, &msg, SL_NFS_GETATTR, two);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_STALE);
	cr_assert_eq(do_getattr(&rig, one).fileid, number);
	/* A folder moves with what is in it, and ".." follows. */
	cr_assert_eq(do_rename(&rig, dir, "sub", rig.root, "moved"), 0);
	cr_assert_eq(number_of(&rig, sub, ".."), SL_TREE_ROOT);
	cr_assert_eq(do_getattr(&rig, dir).nlink, 2);
	cr_assert_eq(do_getattr(&rig, rig.root).nlink, 4);
	cr_assert_eq(do_rename(&rig, rig.root, "dir", sub, "dir"), 0);
	cr_assert_eq(do_rename(&rig, sub, "dir", rig.root, "moved"), SL_NFSERR_NOTEMPTY);
	rig_fini(&rig);
}

Test(nfs3_link, renames_that_make_no_sense_are_refused)
{
	struct rig rig;
	uint8_t dir[SL_HANDLE_BYTES], sub[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES], full[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	do_mkdir(&rig, rig.root, "dir", dir);
	do_mkdir(&rig, dir, "sub", sub);
	do_mkdir(&rig, rig.root, "full", full);
	do_create(&rig, full, "x", file);
	do_create(&rig, rig.root, "file", file);
	cr_assert_eq(do_rename(&rig, rig.root, "none", rig.root, "y"), SL_NFSERR_NOENT);
	cr_assert_eq(do_rename(&rig, rig.root, "file", rig.root, "dir"), SL_NFSERR_ISDIR);
	cr_assert_eq(do_rename(&rig, rig.root, "dir", rig.root, "file"), SL_NFSERR_NOTDIR);
	cr_assert_eq(do_rename(&rig, rig.root, "dir", rig.root, "full"), SL_NFSERR_NOTEMPTY);
	cr_assert_eq(do_rename(&rig, rig.root, "dir", dir, "self"), SL_NFSERR_INVAL);
	cr_assert_eq(do_rename(&rig, rig.root, "dir", sub, "below"), SL_NFSERR_INVAL);
	cr_assert_eq(do_rename(&rig, rig.root, ".", rig.root, "y"), SL_NFSERR_INVAL);
	cr_assert_eq(do_rename(&rig, rig.root, "file", rig.root, ".."), SL_NFSERR_INVAL);
	cr_assert_eq(do_rename(&rig, file, "x", rig.root, "y"), SL_NFSERR_NOTDIR);
	cr_assert_eq(do_rename(&rig, rig.root, "file", rig.root, "a/b"), SL_NFSERR_INVAL);
	cr_assert_eq(do_rename(&rig, rig.root, "file", rig.root, "file"), 0);
	cr_assert(number_of(&rig, rig.root, "file") != 0);
	rig_fini(&rig);
}

Test(nfs3_link, a_file_lives_as_long_as_one_of_its_names)
{
	struct rig rig;
	struct msg msg;
	uint8_t dir[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES];
	uint64_t number;

	rig_init(&rig, NULL);
	do_mkdir(&rig, rig.root, "dir", dir);
	do_create(&rig, rig.root, "a", file);
	number = number_of(&rig, rig.root, "a");
	cr_assert_eq(do_link(&rig, file, dir, "b"), 0);
	cr_assert_eq(do_getattr(&rig, file).nlink, 2);
	cr_assert_eq(do_link(&rig, file, dir, "b"), SL_NFSERR_EXIST);
	cr_assert_eq(do_link(&rig, dir, rig.root, "c"), SL_NFSERR_ISDIR);
	/* Both names are the same file: nothing happens, and both stay. */
	cr_assert_eq(do_rename(&rig, rig.root, "a", dir, "b"), 0);
	cr_assert_eq(number_of(&rig, rig.root, "a"), number);
	nfs_begin(&rig, &msg, SL_NFS_REMOVE, rig.root);
	put_name(&msg, "a");
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	cr_assert_eq(do_getattr(&rig, file).nlink, 1);
	cr_assert_eq(number_of(&rig, dir, "b"), number);
	nfs_begin(&rig, &msg, SL_NFS_REMOVE, dir);
	put_name(&msg, "b");
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	nfs_begin(&rig, &msg, SL_NFS_GETATTR, file);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_STALE);
	rig_fini(&rig);
}

static uint32_t do_symlink(struct rig *rig, const char *name, const void *target, uint32_t size,
			   uint8_t ret[SL_HANDLE_BYTES])
{
	struct msg msg;
	struct sl_xdr_in in;
	uint32_t status;

	nfs_begin(rig, &msg, SL_NFS_SYMLINK, rig->root);
	put_name(&msg, name);
	put_sattr(&msg, NULL, NULL);
	put_opaque(&msg, target, size);
	status = rig_status(rig, &msg, &in);
	if (status == 0) {
		cr_assert_eq(sl_xdr_u32(&in), 1);
		get_handle(&in, ret);
		cr_assert_eq(get_post_attr(&in).type, SL_FT_LNK);
	}
	cr_assert(get_wcc(&in).present);
	get_end(&in);
	return status;
}

/* A target is data: out of the export, absolute or a loop, nobody follows it here. */
Test(nfs3_link, symbolic_links_are_kept_and_followed_by_none_but_mount)
{
	static char longest[4096];
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	struct sl_xdr_bytes target;
	uint8_t link[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	memset(longest, 'x', sizeof(longest));
	cr_assert_eq(do_symlink(&rig, "l", "../../etc/passwd", 16, link), 0);
	nfs_begin(&rig, &msg, SL_NFS_READLINK, link);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	cr_assert_eq(get_post_attr(&in).size, 16);
	target = sl_xdr_opaque(&in, 4096);
	cr_assert_eq(target.size, 16);
	cr_assert_eq(memcmp(target.data, "../../etc/passwd", 16), 0);
	get_end(&in);
	cr_assert_eq(number_of(&rig, link, "x"), 0);
	cr_assert_eq(do_symlink(&rig, "l", "again", 5, file), SL_NFSERR_EXIST);
	cr_assert_eq(do_symlink(&rig, "e", "", 0, file), SL_NFSERR_INVAL);
	cr_assert_eq(do_symlink(&rig, "n", "a\0b", 3, file), SL_NFSERR_INVAL);
	cr_assert_eq(do_symlink(&rig, "m", longest, 4095, file), 0);
	cr_assert_eq(do_symlink(&rig, "o", longest, 4096, file), SL_NFSERR_NAMETOOLONG);
	nfs_begin(&rig, &msg, SL_NFS_WRITE, link);
	put_write(&msg, 0, SL_FILE_SYNC, "x", 1);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_INVAL);
	do_create(&rig, rig.root, "f", file);
	nfs_begin(&rig, &msg, SL_NFS_READLINK, file);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_INVAL);
	/* MOUNT, which does follow, finds nothing of the host's. */
	call_begin(&rig, &msg, SL_PROG_MOUNT, 3, SL_MOUNT_MNT);
	put_name(&msg, "/tank/vm/l");
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_NOENT);
	rig_fini(&rig);
}

Test(nfs3_link, devices_are_refused)
{
	/* ftype3: block device, character device, socket, pipe; those of other procedures; none at all. */
	static const uint32_t types[] = {3, 4, 6, 7, 1, 2, 5, 8, 99};
	struct rig rig;

	rig_init(&rig, NULL);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct msg msg;
		struct sl_xdr_in in;

		nfs_begin(&rig, &msg, SL_NFS_MKNOD, rig.root);
		put_name(&msg, "dev");
		put_u32(&msg, types[i]);
		if (i < 4) {
			put_sattr(&msg, NULL, NULL);
		}
		if (i < 2) {
			put_u64(&msg, 0);
		}
		cr_assert_eq(rig_status(&rig, &msg, &in), i < 4 ? SL_NFSERR_NOTSUPP : SL_NFSERR_BADTYPE);
		cr_assert(get_wcc(&in).present);
		get_end(&in);
	}
	cr_assert_eq(number_of(&rig, rig.root, "dev"), 0);
	rig_fini(&rig);
}
