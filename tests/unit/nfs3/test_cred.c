/* Whose call is it, and may he: squash rules, permissions, a read-only export. */
#include <criterion/criterion.h>

#include "rig.h"

static uint32_t status_of(struct rig *rig, struct msg *msg)
{
	return rig_status(rig, msg, NULL);
}

static uint32_t try_create(struct rig *rig, const uint8_t *dir, const char *name)
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_CREATE, dir);
	put_name(&msg, name);
	put_u32(&msg, 0);
	put_sattr(&msg, NULL, NULL);
	return status_of(rig, &msg);
}

static uint32_t try_write(struct rig *rig, const uint8_t *file)
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_WRITE, file);
	put_write(&msg, 0, SL_FILE_SYNC, "data", 4);
	return status_of(rig, &msg);
}

static uint32_t try_read(struct rig *rig, const uint8_t *file)
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_READ, file);
	put_u64(&msg, 0);
	put_u32(&msg, 4);
	return status_of(rig, &msg);
}

static uint32_t try_chmod(struct rig *rig, const uint8_t *file, uint32_t mode)
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_SETATTR, file);
	put_sattr(&msg, &mode, NULL);
	put_u32(&msg, 0);
	return status_of(rig, &msg);
}

static uint32_t try_chown(struct rig *rig, const uint8_t *file, uint32_t uid)
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_SETATTR, file);
	put_u32(&msg, 0);
	put_u32(&msg, 1);
	put_u32(&msg, uid);
	for (int i = 0; i < 5; i++) {
		put_u32(&msg, 0);
	}
	return status_of(rig, &msg);
}

static uint32_t try_remove(struct rig *rig, const uint8_t *dir, const char *name)
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_REMOVE, dir);
	put_name(&msg, name);
	return status_of(rig, &msg);
}

static void become(struct rig *rig, uint32_t uid, uint32_t gid, uint32_t group)
{
	rig->uid = uid;
	rig->gid = gid;
	rig->group = group;
}

Test(nfs3_cred, squash_decides_who_owns_a_new_file)
{
	static const struct {
		enum sl_nfs3_squash squash;
		uint32_t anon, uid;
		bool no_credentials;
		uint32_t owner;
	} cases[] = {
	    {SL_NFS3_SQUASH_NONE, 0, 0, false, 0},     {SL_NFS3_SQUASH_NONE, 0, 1000, false, 1000},
	    {SL_NFS3_SQUASH_NONE, 0, 0, true, 65534},  {SL_NFS3_SQUASH_ROOT, 0, 0, false, 65534},
	    {SL_NFS3_SQUASH_ROOT, 99, 0, false, 99},   {SL_NFS3_SQUASH_ROOT, 99, 1000, false, 1000},
	    {SL_NFS3_SQUASH_ALL, 99, 1000, false, 99}, {SL_NFS3_SQUASH_ALL, 0, 0, false, 65534},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;
		uint8_t file[SL_HANDLE_BYTES];

		rig_init(&rig, NULL);
		rig.config.squash = cases[i].squash;
		rig.config.anon_uid = cases[i].anon;
		rig.config.anon_gid = cases[i].anon;
		rig_restart(&rig);
		become(&rig, cases[i].uid, cases[i].uid, 0);
		rig.no_credentials = cases[i].no_credentials;
		do_create(&rig, rig.root, "f", file);
		cr_assert_eq(do_getattr(&rig, file).uid, cases[i].owner, "case %zu", i);
		cr_assert_eq(do_getattr(&rig, file).gid, cases[i].owner, "case %zu", i);
		rig_fini(&rig);
	}
}

Test(nfs3_cred, modes_are_kept)
{
	struct rig rig;
	uint8_t dir[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	become(&rig, 1000, 100, 0);
	do_mkdir(&rig, rig.root, "dir", dir);
	do_create(&rig, dir, "f", file);
	cr_assert_eq(try_chmod(&rig, file, 0640), 0);
	cr_assert_eq(try_write(&rig, file), 0);
	/* His group reads. A further group is as good as the first. */
	become(&rig, 1001, 100, 0);
	cr_assert_eq(try_read(&rig, file), 0);
	cr_assert_eq(try_write(&rig, file), SL_NFSERR_ACCES);
	become(&rig, 1001, 7, 100);
	cr_assert_eq(try_read(&rig, file), 0);
	/* Others do not, nor change the names of a folder that is not theirs. */
	become(&rig, 1001, 7, 8);
	cr_assert_eq(try_read(&rig, file), SL_NFSERR_ACCES);
	cr_assert_eq(try_create(&rig, dir, "g"), SL_NFSERR_ACCES);
	cr_assert_eq(try_remove(&rig, dir, "f"), SL_NFSERR_ACCES);
	cr_assert_eq(try_chmod(&rig, file, 0666), SL_NFSERR_PERM);
	cr_assert_eq(try_chown(&rig, file, 1001), SL_NFSERR_PERM);
	/* Only root gives files away; an owner writes whatever the mode says: he may have it open. */
	become(&rig, 1000, 100, 0);
	cr_assert_eq(try_chown(&rig, file, 1001), SL_NFSERR_PERM);
	cr_assert_eq(try_chmod(&rig, file, 0400), 0);
	cr_assert_eq(try_write(&rig, file), 0);
	become(&rig, 0, 0, 0);
	cr_assert_eq(try_write(&rig, file), 0);
	cr_assert_eq(try_chown(&rig, file, 1001), 0);
	rig_fini(&rig);
}

static uint32_t mode_of(struct rig *rig, const uint8_t *file)
{
	return do_getattr(rig, file).mode;
}

static uint32_t try_cut(struct rig *rig, const uint8_t *file)
{
	uint64_t size = 0;
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_SETATTR, file);
	put_sattr(&msg, NULL, &size);
	put_u32(&msg, 0);
	return status_of(rig, &msg);
}

/* What runs as its owner must be what its owner made. Root may; setgid without the group's x bit gives nobody
 * anything. */
Test(nfs3_cred, setuid_does_not_outlive_a_change_by_others)
{
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	become(&rig, 1000, 100, 0);
	do_create(&rig, rig.root, "f", file);
	cr_assert_eq(try_chmod(&rig, file, 06777), 0);
	cr_assert_eq(mode_of(&rig, file), 06777);
	become(&rig, 1001, 7, 8);
	cr_assert_eq(try_write(&rig, file), 0);
	cr_assert_eq(mode_of(&rig, file), 0777);

	become(&rig, 1000, 100, 0);
	cr_assert_eq(try_chmod(&rig, file, 06767), 0);
	cr_assert_eq(try_write(&rig, file), 0);
	cr_assert_eq(mode_of(&rig, file), 02767, "the owner's write too; no x for the group");
	cr_assert_eq(try_chmod(&rig, file, 06777), 0);
	cr_assert_eq(try_cut(&rig, file), 0);
	cr_assert_eq(mode_of(&rig, file), 0777);

	cr_assert_eq(try_chmod(&rig, file, 06777), 0);
	become(&rig, 0, 0, 0);
	cr_assert_eq(try_write(&rig, file), 0);
	cr_assert_eq(mode_of(&rig, file), 06777);
	cr_assert_eq(try_chown(&rig, file, 1001), 0);
	cr_assert_eq(mode_of(&rig, file), 0777, "given away, by root as well");

	become(&rig, 1001, 7, 8);
	cr_assert_eq(try_chmod(&rig, file, 02755), 0);
	cr_assert_eq(mode_of(&rig, file), 0755, "not a member of its group");
	rig_fini(&rig);
}

Test(nfs3_cred, a_setgid_directory_hands_on_its_group)
{
	struct rig rig;
	uint8_t dir[SL_HANDLE_BYTES], below[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	become(&rig, 1000, 50, 0);
	do_mkdir(&rig, rig.root, "shared", dir);
	cr_assert_eq(try_chmod(&rig, dir, 02777), 0);
	become(&rig, 1001, 7, 8);
	do_create(&rig, dir, "f", file);
	cr_assert_eq(do_getattr(&rig, file).gid, 50);
	cr_assert_eq(do_getattr(&rig, file).uid, 1001);
	do_mkdir(&rig, dir, "below", below);
	cr_assert_eq(do_getattr(&rig, below).gid, 50);
	cr_assert_eq(mode_of(&rig, below) & 02000, 02000);
	do_create(&rig, below, "g", file);
	cr_assert_eq(do_getattr(&rig, file).gid, 50);
	rig_fini(&rig);
}

/* CREATE with the mode 2755 in a directory of group 50: the mode of what is made. */
static uint32_t setgid_file(struct rig *rig, const uint8_t *dir, const char *name)
{
	uint32_t mode = 02755;
	struct msg msg;
	struct sl_xdr_in in;
	uint8_t file[SL_HANDLE_BYTES];

	nfs_begin(rig, &msg, SL_NFS_CREATE, dir);
	put_name(&msg, name);
	put_u32(&msg, 0);
	put_sattr(&msg, &mode, NULL);
	cr_assert_eq(rig_status(rig, &msg, &in), 0);
	cr_assert_eq(sl_xdr_u32(&in), 1);
	get_handle(&in, file);
	cr_assert_eq(do_getattr(rig, file).gid, 50);
	return mode_of(rig, file);
}

/* As inode_init_owner of Linux does. */
Test(nfs3_cred, setgid_of_a_new_file_is_for_root_and_members_of_its_group)
{
	struct rig rig;
	uint8_t dir[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	become(&rig, 1000, 50, 0);
	do_mkdir(&rig, rig.root, "shared", dir);
	cr_assert_eq(try_chmod(&rig, dir, 02777), 0);
	cr_assert_eq(setgid_file(&rig, dir, "of a member"), 02755);
	become(&rig, 1001, 7, 50);
	cr_assert_eq(setgid_file(&rig, dir, "of one whose second group it is"), 02755);
	become(&rig, 1001, 7, 8);
	cr_assert_eq(setgid_file(&rig, dir, "of a stranger"), 0755);
	become(&rig, 0, 0, 0);
	cr_assert_eq(setgid_file(&rig, dir, "of root"), 02755);
	rig_fini(&rig);
}

Test(nfs3_cred, a_sticky_directory_protects_its_names)
{
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	cr_assert_eq(try_chmod(&rig, rig.root, 01777), 0);
	become(&rig, 1000, 100, 0);
	do_create(&rig, rig.root, "mine", file);
	become(&rig, 1001, 100, 0);
	cr_assert_eq(try_remove(&rig, rig.root, "mine"), SL_NFSERR_PERM);
	cr_assert_eq(try_remove(&rig, rig.root, "none"), SL_NFSERR_NOENT);
	become(&rig, 1000, 100, 0);
	cr_assert_eq(try_remove(&rig, rig.root, "mine"), 0);
	rig_fini(&rig);
}

Test(nfs3_cred, a_read_only_export_changes_nothing)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	rig.config.read_only = true;
	rig_restart(&rig);
	cr_assert_eq(try_read(&rig, file), 0);
	cr_assert_eq(try_write(&rig, file), SL_NFSERR_ROFS);
	cr_assert_eq(try_create(&rig, rig.root, "g"), SL_NFSERR_ROFS);
	cr_assert_eq(try_remove(&rig, rig.root, "f"), SL_NFSERR_ROFS);
	cr_assert_eq(try_chmod(&rig, file, 0), SL_NFSERR_ROFS);
	nfs_begin(&rig, &msg, SL_NFS_RENAME, rig.root);
	put_name(&msg, "f");
	put_opaque(&msg, rig.root, SL_HANDLE_BYTES);
	put_name(&msg, "g");
	cr_assert_eq(status_of(&rig, &msg), SL_NFSERR_ROFS);
	nfs_begin(&rig, &msg, SL_NFS_LINK, file);
	put_opaque(&msg, rig.root, SL_HANDLE_BYTES);
	put_name(&msg, "g");
	cr_assert_eq(status_of(&rig, &msg), SL_NFSERR_ROFS);
	nfs_begin(&rig, &msg, SL_NFS_ACCESS, file);
	put_u32(&msg, 63);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	(void)get_post_attr(&in);
	cr_assert_eq(sl_xdr_u32(&in), 1);
	rig_fini(&rig);
}
