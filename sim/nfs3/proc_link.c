/* Procedures that give a thing another name, or a name another thing: RENAME, LINK, SYMLINK, READLINK; and
 * MKNOD, which is refused. */
#include "sim/nfs3/attr.h"
#include "sim/nfs3/procs.h"

#define MAY_CHANGE (SL_MAY_WRITE | SL_MAY_EXECUTE) /* the names of a directory */

enum { /* ftype3, beside those that a tree knows */
	TYPE_BLK = 3,
	TYPE_CHR = 4,
	TYPE_SOCK = 6,
	TYPE_FIFO = 7
};

static bool rename_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_tree *tree = srv->config.tree;
	char from[SL_TREE_NAME_MAX + 1], to[SL_TREE_NAME_MAX + 1];
	struct sl_nfs_dirop from_args, to_args;

	sl_nfs_dirop_decode(in, &from_args);
	sl_nfs_dirop_decode(in, &to_args);
	if (in->bad) {
		return false;
	}
	call->status = sl_nfs_dirop_open(call, &from_args, MAY_CHANGE, &call->object, from);
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_dirop_open(call, &to_args, MAY_CHANGE, &call->to, to);
	}
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_writable(srv);
	}
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_may_take(call, call->object.ino, from);
	}
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_may_take(call, call->to.ino, to);
	}
	if (call->status == SL_NFS_OK) {
		call->status =
		    sl_nfs_status(tree->ops->rename(tree, call->object.ino, from, call->to.ino, to));
	}
	return true;
}

static void rename_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	sl_nfs_settle(srv, call);
	sl_xdr_put_u32(out, call->status);
	sl_nfs_wcc_encode(out, &call->object);
	sl_nfs_wcc_encode(out, &call->to);
}

static bool link_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_xdr_bytes handle = sl_nfs_handle_decode(in);
	char name[SL_TREE_NAME_MAX + 1];
	struct sl_nfs_dirop args;
	struct sl_attr attr;

	sl_nfs_dirop_decode(in, &args);
	if (in->bad) {
		return false;
	}
	call->status = sl_nfs_open(srv, handle, &attr);
	if (call->status == SL_NFS_OK) {
		call->child = attr.ino;
		call->status = sl_nfs_dirop_open(call, &args, MAY_CHANGE, &call->object, name);
	}
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_writable(srv);
	}
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_status(tree->ops->link(tree, call->child, call->object.ino, name));
	}
	return true;
}

static void link_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	sl_nfs_settle(srv, call);
	sl_xdr_put_u32(out, call->status);
	sl_nfs_post_attr_encode(srv, out, call->child);
	sl_nfs_wcc_encode(out, &call->object);
}

/* nfspath3 into a C string: OK, NAMETOOLONG, or INVAL (empty, NUL inside). It is never followed here. */
static uint32_t target_take(struct sl_xdr_bytes bytes, char ret[SL_TREE_TARGET_MAX + 1])
{
	if (bytes.size > SL_TREE_TARGET_MAX) {
		return SL_NFSERR_NAMETOOLONG;
	}
	if (bytes.size == 0 || memchr(bytes.data, '\0', bytes.size)) {
		return SL_NFSERR_INVAL;
	}
	memcpy(ret, bytes.data, bytes.size);
	ret[bytes.size] = '\0';
	return SL_NFS_OK;
}

static bool symlink_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_tree *tree = srv->config.tree;
	char name[SL_TREE_NAME_MAX + 1], target[SL_TREE_TARGET_MAX + 1];
	struct sl_nfs_dirop args;
	struct sl_xdr_bytes path;
	struct sl_setattr set;

	sl_nfs_dirop_decode(in, &args);
	(void)sl_nfs_sattr_decode(srv, in, &set);
	path = sl_xdr_opaque(in, SL_NFS3_MAX_RECORD);
	if (in->bad) {
		return false;
	}
	call->status = sl_nfs_dirop_open(call, &args, MAY_CHANGE, &call->object, name);
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_writable(srv);
	}
	if (call->status == SL_NFS_OK) {
		call->status = target_take(path, target);
	}
	if (call->status == SL_NFS_OK) {
		set.mask &= ~(uint32_t)SL_SET_SIZE;
		sl_nfs_owner_default(call, SL_FT_LNK, &set);
		call->status = sl_nfs_status(
		    tree->ops->symlink(tree, call->object.ino, name, target, &set, &call->child));
	}
	return true;
}

static bool readlink_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_xdr_bytes handle = sl_nfs_handle_decode(in);
	struct sl_attr attr;

	if (in->bad) {
		return false;
	}
	call->status = sl_nfs_open(srv, handle, &attr);
	if (call->status == SL_NFS_OK) {
		call->object.ino = attr.ino;
		call->status = attr.type == SL_FT_LNK ? SL_NFS_OK : SL_NFSERR_INVAL;
		call->bulk_bytes = SL_TREE_TARGET_MAX + 1;
	}
	return true;
}

static void readlink_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	struct sl_tree *tree = srv->config.tree;
	char target[SL_TREE_TARGET_MAX + 1];

	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_status(tree->ops->readlink(tree, call->object.ino, target));
	}
	sl_xdr_put_u32(out, call->status);
	sl_nfs_post_attr_encode(srv, out, call->object.ino);
	if (call->status == SL_NFS_OK) {
		sl_xdr_put_opaque(out, target, (uint32_t)strlen(target));
	}
}

/* A datastore holds no devices, sockets or pipes; other types have procedures of their own. */
static bool mknod_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	char name[SL_TREE_NAME_MAX + 1];
	struct sl_nfs_dirop args;
	struct sl_setattr set;
	uint32_t type;

	sl_nfs_dirop_decode(in, &args);
	type = sl_xdr_u32(in);
	if (type == TYPE_BLK || type == TYPE_CHR || type == TYPE_SOCK || type == TYPE_FIFO) {
		(void)sl_nfs_sattr_decode(srv, in, &set);
	}
	if (type == TYPE_BLK || type == TYPE_CHR) {
		(void)sl_xdr_u64(in);
	}
	if (in->bad) {
		return false;
	}
	call->status = sl_nfs_dirop_open(call, &args, MAY_CHANGE, &call->object, name);
	if (call->status == SL_NFS_OK) {
		bool known = type >= TYPE_BLK && type <= TYPE_FIFO && type != SL_FT_LNK;

		call->status = known ? SL_NFSERR_NOTSUPP : SL_NFSERR_BADTYPE;
	}
	return true;
}

const struct sl_nfs3_proc sl_nfs_rename = {.changes = true,
					   .once = true,
					   .start = rename_start,
					   .encode = rename_encode,
					   .timed = true,
					   .op = SL_STORE_META};
const struct sl_nfs3_proc sl_nfs_link = {.changes = true,
					 .once = true,
					 .start = link_start,
					 .encode = link_encode,
					 .timed = true,
					 .op = SL_STORE_META};
const struct sl_nfs3_proc sl_nfs_symlink = {.changes = true,
					    .once = true,
					    .start = symlink_start,
					    .encode = sl_nfs_created_encode,
					    .timed = true,
					    .op = SL_STORE_META};
const struct sl_nfs3_proc sl_nfs_readlink = {
    .start = readlink_start, .encode = readlink_encode, .timed = true, .op = SL_STORE_GETATTR};
const struct sl_nfs3_proc sl_nfs_mknod = {.changes = true,
					  .start = mknod_start,
					  .encode = sl_nfs_wcc_result_encode,
					  .timed = true,
					  .op = SL_STORE_GETATTR};
