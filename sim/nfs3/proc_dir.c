/* Procedures on names in a directory. */
#include <errno.h>

#include "sim/nfs3/attr.h"
#include "sim/nfs3/procs.h"

#define NS_PER_S 1000000000

enum {
	CREATE_UNCHECKED = 0,
	CREATE_GUARDED = 1,
	CREATE_EXCLUSIVE = 2
};

#define MAY_CHANGE (SL_MAY_WRITE | SL_MAY_EXECUTE) /* the names of a directory */

/* For procedures that change names: sets call->object.ino and call->status. */
static void change_open(struct sl_nfs3_call *call, const struct sl_nfs_dirop *args,
			char name[SL_TREE_NAME_MAX + 1])
{
	call->status = sl_nfs_dirop_open(call, args, MAY_CHANGE, &call->object, name);
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_writable(call->srv);
	}
}

static bool lookup_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_tree *tree = srv->config.tree;
	char name[SL_TREE_NAME_MAX + 1];
	struct sl_nfs_dirop args;

	sl_nfs_dirop_decode(in, &args);
	if (in->bad) {
		return false;
	}
	call->status = sl_nfs_dirop_open(call, &args, SL_MAY_EXECUTE, &call->object, name);
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_status(tree->ops->lookup(tree, call->object.ino, name, &call->child));
	}
	return true;
}

static void lookup_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_attr attr;

	if (call->status == SL_NFS_OK && tree->ops->getattr(tree, call->child, &attr) < 0) {
		call->status = SL_NFSERR_NOENT; /* removed while the call was in service */
	}
	sl_xdr_put_u32(out, call->status);
	if (call->status == SL_NFS_OK) {
		sl_nfs_handle_encode(srv, out, &attr);
		sl_xdr_put_u32(out, 1);
		sl_nfs_fattr_encode(out, &attr);
	}
	sl_nfs_post_attr_encode(srv, out, call->object.ino);
}

/* The verifier of an exclusive CREATE lives in the file's times until the client sets them: a retry finds it
 * there, after a restart too. */
static void verifier_set(uint64_t verifier, struct sl_setattr *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->mask = SL_SET_ATIME | SL_SET_MTIME | SL_SET_MODE;
	ret->mode = 0600;
	ret->atime_ns = (int64_t)(verifier >> 32) * NS_PER_S;
	ret->mtime_ns = (int64_t)(verifier & UINT32_MAX) * NS_PER_S;
}

/* CREATE of a name that exists: fine when unchecked (the size is applied), or when an exclusive one is
 * repeated. */
static uint32_t create_again(struct sl_nfs3 *srv, struct sl_nfs3_call *call, const char *name, uint32_t how,
			     const struct sl_setattr *set)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_setattr size = *set;
	struct sl_attr attr;
	int rc = tree->ops->lookup(tree, call->object.ino, name, &call->child);

	rc = rc < 0 ? rc : tree->ops->getattr(tree, call->child, &attr);
	if (rc < 0) {
		return sl_nfs_status(rc);
	}
	if (attr.type != SL_FT_REG || how == CREATE_GUARDED) {
		return SL_NFSERR_EXIST;
	}
	if (how == CREATE_EXCLUSIVE) {
		return attr.atime_ns == set->atime_ns && attr.mtime_ns == set->mtime_ns ? SL_NFS_OK
											: SL_NFSERR_EXIST;
	}
	size.mask &= SL_SET_SIZE;
	if (size.mask && !sl_nfs_may_write(call, &attr)) {
		return SL_NFSERR_ACCES;
	}
	return size.mask ? sl_nfs_status(tree->ops->setattr(tree, call->child, &size, NULL)) : SL_NFS_OK;
}

static bool create_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_tree *tree = srv->config.tree;
	char name[SL_TREE_NAME_MAX + 1];
	struct sl_setattr set;
	struct sl_nfs_dirop args;
	uint32_t how;
	int rc;

	sl_nfs_dirop_decode(in, &args);
	how = sl_xdr_enum(in, CREATE_EXCLUSIVE);
	if (how == CREATE_EXCLUSIVE) {
		verifier_set(sl_xdr_u64(in), &set);
	} else {
		sl_nfs_sattr_decode(srv, in, &set);
	}
	if (in->bad) {
		return false;
	}
	change_open(call, &args, name);
	if (call->status == SL_NFS_OK && sl_nfs_name_is_dots(name)) {
		call->status = SL_NFSERR_EXIST;
	}
	if (call->status == SL_NFS_OK) {
		sl_nfs_owner_default(call, SL_FT_REG, &set);
		rc = tree->ops->create(tree, call->object.ino, name, SL_FT_REG, &set, &call->child);
		call->status = rc == -EEXIST ? create_again(srv, call, name, how, &set) : sl_nfs_status(rc);
	}
	return true;
}

static bool mkdir_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_tree *tree = srv->config.tree;
	char name[SL_TREE_NAME_MAX + 1];
	struct sl_setattr set;
	struct sl_nfs_dirop args;

	sl_nfs_dirop_decode(in, &args);
	sl_nfs_sattr_decode(srv, in, &set);
	if (in->bad) {
		return false;
	}
	change_open(call, &args, name);
	if (call->status == SL_NFS_OK && sl_nfs_name_is_dots(name)) {
		call->status = SL_NFSERR_EXIST;
	}
	if (call->status == SL_NFS_OK) {
		set.mask &= ~(uint32_t)SL_SET_SIZE;
		sl_nfs_owner_default(call, SL_FT_DIR, &set);
		call->status = sl_nfs_status(
		    tree->ops->create(tree, call->object.ino, name, SL_FT_DIR, &set, &call->child));
	}
	return true;
}

static bool remove_any(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in,
		       enum sl_ftype type)
{
	struct sl_tree *tree = srv->config.tree;
	char name[SL_TREE_NAME_MAX + 1];
	struct sl_nfs_dirop args;

	sl_nfs_dirop_decode(in, &args);
	if (in->bad) {
		return false;
	}
	change_open(call, &args, name);
	if (call->status == SL_NFS_OK && sl_nfs_name_is_dots(name)) {
		call->status = SL_NFSERR_INVAL;
	}
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_may_take(call, call->object.ino, name);
	}
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_status(tree->ops->remove(tree, call->object.ino, name, type));
	}
	return true;
}

static bool remove_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	return remove_any(srv, call, in, SL_FT_REG);
}

static bool rmdir_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	return remove_any(srv, call, in, SL_FT_DIR);
}

const struct sl_nfs3_proc sl_nfs_lookup = {
    .start = lookup_start, .encode = lookup_encode, .timed = true, .op = SL_STORE_GETATTR};
const struct sl_nfs3_proc sl_nfs_create = {.changes = true,
					   .once = true,
					   .start = create_start,
					   .encode = sl_nfs_created_encode,
					   .timed = true,
					   .op = SL_STORE_META};
const struct sl_nfs3_proc sl_nfs_mkdir = {.changes = true,
					  .once = true,
					  .start = mkdir_start,
					  .encode = sl_nfs_created_encode,
					  .timed = true,
					  .op = SL_STORE_META};
const struct sl_nfs3_proc sl_nfs_remove = {.changes = true,
					   .once = true,
					   .start = remove_start,
					   .encode = sl_nfs_wcc_result_encode,
					   .timed = true,
					   .op = SL_STORE_META};
const struct sl_nfs3_proc sl_nfs_rmdir = {.changes = true,
					  .once = true,
					  .start = rmdir_start,
					  .encode = sl_nfs_wcc_result_encode,
					  .timed = true,
					  .op = SL_STORE_META};
