/* "/" and "/tank", the way to the export "/tank/vm". */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "rig.h"

static uint32_t lookup(struct rig *rig, const uint8_t *dir, const char *name, uint8_t ret[SL_HANDLE_BYTES])
{
	struct msg msg;
	struct sl_xdr_in in;
	uint32_t status;

	nfs_begin(rig, &msg, SL_NFS_LOOKUP, dir);
	put_name(&msg, name);
	status = rig_status(rig, &msg, &in);
	if (status == 0) {
		get_handle(&in, ret);
		cr_assert(get_post_attr(&in).present);
	}
	cr_assert(get_post_attr(&in).present);
	get_end(&in);
	return status;
}

/* READDIR from the start: the names and their numbers as "name=number ", with eof. */
static void list(struct rig *rig, const uint8_t *dir, char *ret, size_t size)
{
	struct msg msg;
	struct sl_xdr_in in;
	size_t used = 0;

	nfs_begin(rig, &msg, SL_NFS_READDIR, dir);
	put_u64(&msg, 0);
	put_u64(&msg, 0);
	put_u32(&msg, 4096);
	cr_assert_eq(rig_status(rig, &msg, &in), 0);
	cr_assert(get_post_attr(&in).present);
	(void)sl_xdr_u64(&in);
	while (sl_xdr_u32(&in) == 1) {
		uint64_t fileid = sl_xdr_u64(&in);
		struct sl_xdr_bytes name = sl_xdr_opaque(&in, 255);

		(void)sl_xdr_u64(&in);
		used += (size_t)snprintf(ret + used, size - used, "%.*s=%llx ", (int)name.size,
					 (const char *)name.data, (unsigned long long)fileid);
	}
	cr_assert_eq(sl_xdr_u32(&in), 1); /* eof */
	get_end(&in);
}

Test(nfs3_above, leads_to_the_export_and_holds_nothing_else)
{
	struct rig rig;
	uint8_t root[SL_HANDLE_BYTES], tank[SL_HANDLE_BYTES], found[SL_HANDLE_BYTES];
	struct seen_attr attr;
	char names[256];

	rig_init(&rig, NULL);
	cr_assert_eq(rig_mount(&rig, "/", root), 0);
	cr_assert_eq(rig_mount(&rig, "//tank/", tank), 0);
	list(&rig, root, names, sizeof(names));
	cr_assert_str_eq(names, ".=8000000000000000 ..=8000000000000000 tank=8000000000000001 ");
	list(&rig, tank, names, sizeof(names));
	cr_assert_str_eq(names, ".=8000000000000001 ..=8000000000000000 vm=1 ");
	attr = do_getattr(&rig, root);
	cr_assert_eq(attr.type, SL_FT_DIR);
	cr_assert_eq(attr.mode, 0555);
	cr_assert_eq(attr.uid, 0);
	cr_assert_eq(lookup(&rig, root, "tank", found), 0);
	cr_assert_arr_eq(found, tank, SL_HANDLE_BYTES);
	cr_assert_eq(lookup(&rig, tank, "vm", found), 0);
	cr_assert_arr_eq(found, rig.root, SL_HANDLE_BYTES);
	cr_assert_eq(lookup(&rig, tank, "..", found), 0);
	cr_assert_arr_eq(found, root, SL_HANDLE_BYTES);
	cr_assert_eq(lookup(&rig, tank, ".", found), 0);
	cr_assert_arr_eq(found, tank, SL_HANDLE_BYTES);
	cr_assert_eq(lookup(&rig, root, "..", found), 0);
	cr_assert_arr_eq(found, root, SL_HANDLE_BYTES);
	cr_assert_eq(lookup(&rig, root, "vm", found), SL_NFSERR_NOENT);
	cr_assert_eq(lookup(&rig, root, "tan", found), SL_NFSERR_NOENT);
	cr_assert_eq(lookup(&rig, root, "tankx", found), SL_NFSERR_NOENT);
	cr_assert_eq(rig_mount(&rig, "/tan", found), SL_NFSERR_NOENT);
	cr_assert_eq(rig_mount(&rig, "/tank/v", found), SL_NFSERR_NOENT);
	cr_assert_eq(rig_mount(&rig, "/vm", found), SL_NFSERR_NOENT);
	cr_assert_eq(rig_mount(&rig, "/tank//vm", found), SL_NFSERR_NOENT, "the export is not above itself");
	cr_assert_eq(rig_mount(&rig, "/tank/..", found), SL_NFSERR_NOENT);
	cr_assert_eq(rig_mount(&rig, "tank", found), SL_NFSERR_NOENT);
	/* The export's own root stays its own parent: clients that mount it see no way up. */
	cr_assert_eq(lookup(&rig, rig.root, "..", found), 0);
	cr_assert_arr_eq(found, rig.root, SL_HANDLE_BYTES);
	rig_fini(&rig);
}

/* A call on a directory and a name: REMOVE, RMDIR. */
static uint32_t on_name(struct rig *rig, uint32_t procedure, const uint8_t *dir, const char *name)
{
	struct msg msg;
	struct sl_xdr_in in;

	nfs_begin(rig, &msg, procedure, dir);
	put_name(&msg, name);
	return rig_status(rig, &msg, &in);
}

/* By root too, whom no mode keeps out. */
Test(nfs3_above, cannot_be_changed)
{
	struct rig rig;
	uint8_t tank[SL_HANDLE_BYTES], file[SL_HANDLE_BYTES];
	const uint8_t *rename_dirs[][2] = {{rig.root, tank}, {tank, rig.root}};
	uint32_t mode = 0777;
	struct msg msg;
	struct sl_xdr_in in;
	char names[256];

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "file", file);
	cr_assert_eq(rig_mount(&rig, "/tank", tank), 0);
	nfs_begin(&rig, &msg, SL_NFS_CREATE, tank);
	put_name(&msg, "new");
	put_u32(&msg, 1);
	put_sattr(&msg, NULL, NULL);
	cr_assert_eq(rig_status(&rig, &msg, &in), SL_NFSERR_ROFS);
	nfs_begin(&rig, &msg, SL_NFS_MKDIR, tank);
	put_name(&msg, "new");
	put_sattr(&msg, NULL, NULL);
	cr_assert_eq(rig_status(&rig, &msg, &in), SL_NFSERR_ROFS);
	nfs_begin(&rig, &msg, SL_NFS_SYMLINK, tank);
	put_name(&msg, "new");
	put_sattr(&msg, NULL, NULL);
	put_name(&msg, "target");
	cr_assert_eq(rig_status(&rig, &msg, &in), SL_NFSERR_ROFS);
	nfs_begin(&rig, &msg, SL_NFS_SETATTR, tank);
	put_sattr(&msg, &mode, NULL);
	put_u32(&msg, 0); /* guard */
	cr_assert_eq(rig_status(&rig, &msg, &in), SL_NFSERR_ROFS);
	cr_assert_eq(on_name(&rig, SL_NFS_RMDIR, tank, "vm"), SL_NFSERR_ROFS);
	cr_assert_eq(on_name(&rig, SL_NFS_REMOVE, tank, "vm"), SL_NFSERR_ROFS);
	for (size_t i = 0; i < 2; i++) {
		nfs_begin(&rig, &msg, SL_NFS_RENAME, rename_dirs[i][0]);
		put_name(&msg, "file");
		put_opaque(&msg, rename_dirs[i][1], SL_HANDLE_BYTES);
		put_name(&msg, "vm");
		cr_assert_eq(rig_status(&rig, &msg, &in), SL_NFSERR_ROFS);
	}
	nfs_begin(&rig, &msg, SL_NFS_LINK, file);
	put_opaque(&msg, tank, SL_HANDLE_BYTES);
	put_name(&msg, "new");
	cr_assert_eq(rig_status(&rig, &msg, &in), SL_NFSERR_ROFS);
	list(&rig, tank, names, sizeof(names));
	cr_assert_str_eq(names, ".=8000000000000001 ..=8000000000000000 vm=1 ");
	rig_fini(&rig);
}

/* The handle of a level outlives a restart; one of a level that another export does not have is stale. */
Test(nfs3_above, handles_are_those_of_the_export_in_force)
{
	struct rig rig;
	uint8_t tank[SL_HANDLE_BYTES];
	struct msg msg;
	struct sl_xdr_in in;

	rig_init(&rig, NULL);
	cr_assert_eq(rig_mount(&rig, "/tank", tank), 0);
	rig_restart(&rig);
	cr_assert_eq(do_getattr(&rig, tank).type, SL_FT_DIR);
	rig.config.tree = rig.tree;
	rig.config.export_path = "/vm";
	rig_restart(&rig);
	nfs_begin(&rig, &msg, SL_NFS_GETATTR, tank);
	cr_assert_eq(rig_status(&rig, &msg, &in), SL_NFSERR_STALE);
	rig_fini(&rig);
}

Test(nfs3_above, a_root_export_has_nothing_above)
{
	struct rig rig;
	uint8_t handle[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	rig.config.export_path = "/";
	rig_restart(&rig);
	cr_assert_eq(rig_mount(&rig, "/", handle), 0);
	cr_assert_arr_eq(handle, rig.root, SL_HANDLE_BYTES);
	rig_fini(&rig);
}
