/* Procedures on the file system, and NULL. */
#include "sim/nfs3/attr.h"
#include "sim/nfs3/procs.h"

#define DIR_PREFERRED 65536u
#define IO_MULTIPLE 4096u
#define FSF_LINK 1u
#define FSF_SYMLINK 2u
#define FSF_HOMOGENEOUS 8u
#define FSF_CANSETTIME 16u

/* Any object of the file system will do. */
static bool fs_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_xdr_bytes handle = sl_nfs_handle_decode(in);
	struct sl_attr attr;

	if (in->bad) {
		return false;
	}
	call->status = sl_nfs_open(srv, handle, &attr);
	call->object.ino = call->status == SL_NFS_OK ? attr.ino : 0;
	return true;
}

static void null_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	(void)srv;
	(void)call;
	(void)out;
}

static void fsstat_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_fsstat stat;

	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_status(tree->ops->fsstat(tree, &stat));
	}
	sl_xdr_put_u32(out, call->status);
	sl_nfs_post_attr_encode(srv, out, call->object.ino);
	if (call->status != SL_NFS_OK) {
		return;
	}
	sl_xdr_put_u64(out, stat.total_bytes);
	sl_xdr_put_u64(out, stat.free_bytes);
	sl_xdr_put_u64(out, stat.free_bytes); /* available to the caller */
	sl_xdr_put_u64(out, stat.total_files);
	sl_xdr_put_u64(out, stat.free_files);
	sl_xdr_put_u64(out, stat.free_files);
	sl_xdr_put_u32(out, 0); /* invarsec: changes at any time */
}

static void fsinfo_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	sl_xdr_put_u32(out, call->status);
	sl_nfs_post_attr_encode(srv, out, call->object.ino);
	if (call->status != SL_NFS_OK) {
		return;
	}
	sl_xdr_put_u32(out, SL_NFS3_MAX_IO); /* rtmax, rtpref, rtmult */
	sl_xdr_put_u32(out, SL_NFS3_MAX_IO);
	sl_xdr_put_u32(out, IO_MULTIPLE);
	sl_xdr_put_u32(out, SL_NFS3_MAX_IO); /* wtmax, wtpref, wtmult */
	sl_xdr_put_u32(out, SL_NFS3_MAX_IO);
	sl_xdr_put_u32(out, IO_MULTIPLE);
	sl_xdr_put_u32(out, DIR_PREFERRED);
	sl_xdr_put_u64(out, INT64_MAX); /* maxfilesize */
	sl_nfs_time_encode(out, 1);     /* time_delta: 1 ns */
	sl_xdr_put_u32(out, FSF_LINK | FSF_SYMLINK | FSF_HOMOGENEOUS | FSF_CANSETTIME);
}

static void pathconf_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	sl_xdr_put_u32(out, call->status);
	sl_nfs_post_attr_encode(srv, out, call->object.ino);
	if (call->status != SL_NFS_OK) {
		return;
	}
	sl_xdr_put_u32(out, SL_TREE_LINKS_MAX);
	sl_xdr_put_u32(out, SL_TREE_NAME_MAX);
	sl_xdr_put_u32(out, 1); /* no_trunc */
	sl_xdr_put_u32(out, 1); /* chown_restricted */
	sl_xdr_put_u32(out, 0); /* case_insensitive */
	sl_xdr_put_u32(out, 1); /* case_preserving */
}

const struct sl_nfs3_proc sl_nfs_null = {.encode = null_encode};
const struct sl_nfs3_proc sl_nfs_fsstat = {
    .start = fs_start, .encode = fsstat_encode, .timed = true, .op = SL_STORE_GETATTR};
const struct sl_nfs3_proc sl_nfs_fsinfo = {
    .start = fs_start, .encode = fsinfo_encode, .timed = true, .op = SL_STORE_GETATTR};
const struct sl_nfs3_proc sl_nfs_pathconf = {
    .start = fs_start, .encode = pathconf_encode, .timed = true, .op = SL_STORE_GETATTR};
