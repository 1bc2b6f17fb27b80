/* Procedures on one file: attributes, data, COMMIT. */
#include "sim/nfs3/attr.h"
#include "sim/nfs3/procs.h"

#define ACCESS_READ 1u
#define ACCESS_LOOKUP 2u
#define ACCESS_MODIFY 4u
#define ACCESS_EXTEND 8u
#define ACCESS_DELETE 16u
#define ACCESS_EXECUTE 32u

#define READ_HEAD_BYTES (4 + SL_POST_ATTR_BYTES + 12) /* READ3res before the data */

/* Opens the object and notes it for the attributes of the reply. */
static void object_open(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_bytes handle,
			struct sl_attr *ret)
{
	call->status = sl_nfs_open(srv, handle, ret);
	if (call->status == SL_NFS_OK) {
		sl_nfs_object_set(&call->object, ret);
	}
}

/* The same for procedures on data: only files have any, and the caller must be allowed to read or write it.
 */
static void file_open(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_bytes handle,
		      unsigned want, struct sl_attr *ret)
{
	bool may;

	object_open(srv, call, handle, ret);
	if (call->status != SL_NFS_OK) {
		return;
	}
	if (ret->type != SL_FT_REG) {
		call->status = ret->type == SL_FT_DIR ? SL_NFSERR_ISDIR : SL_NFSERR_INVAL;
		return;
	}
	if (want == SL_MAY_WRITE) {
		may = sl_nfs_may_write(call, ret);
		call->status = sl_nfs_writable(srv);
	} else {
		/* A client that executes a file reads it. */
		may = sl_cred_owns(call->cred, ret) || sl_cred_may(call->cred, ret, SL_MAY_READ) ||
		      sl_cred_may(call->cred, ret, SL_MAY_EXECUTE);
	}
	call->status = may ? call->status : SL_NFSERR_ACCES;
}

static bool getattr_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_xdr_bytes handle = sl_nfs_handle_decode(in);
	struct sl_attr attr;

	if (in->bad) {
		return false;
	}
	object_open(srv, call, handle, &attr);
	return true;
}

static void getattr_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_attr attr;

	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_status(tree->ops->getattr(tree, call->object.ino, &attr));
	}
	sl_xdr_put_u32(out, call->status);
	if (call->status == SL_NFS_OK) {
		sl_nfs_fattr_encode(out, &attr);
	}
}

/* Whose change is it? Root's any; the owner's all but a new owner, and a group only of his own; who may write
 * the file may cut it, and set its times to now. */
static uint32_t setattr_check(const struct sl_nfs3_call *call, const struct sl_attr *attr,
			      const struct sl_setattr *set, bool times_given)
{
	const struct sl_cred *cred = call->cred;
	bool owns = sl_cred_owns(cred, attr);

	if (cred->uid == 0) {
		return SL_NFS_OK;
	}
	if ((set->mask & SL_SET_UID) && set->uid != attr->uid) {
		return SL_NFSERR_PERM;
	}
	if ((set->mask & SL_SET_GID) && set->gid != attr->gid &&
	    (!owns || !sl_cred_in_group(cred, set->gid))) {
		return SL_NFSERR_PERM;
	}
	if (!owns && ((set->mask & SL_SET_MODE) || times_given)) {
		return SL_NFSERR_PERM;
	}
	return owns || set->mask == 0 || sl_cred_may(cred, attr, SL_MAY_WRITE) ? SL_NFS_OK : SL_NFSERR_ACCES;
}

/* What a change of size, owner or group takes of the mode besides what was asked for. */
static void setattr_privileges(const struct sl_nfs3_call *call, const struct sl_attr *attr,
			       struct sl_setattr *set)
{
	uint32_t mode = (set->mask & SL_SET_MODE) ? set->mode : attr->mode;
	uint32_t gid = (set->mask & SL_SET_GID) ? set->gid : attr->gid;
	uint32_t left = mode;

	if ((set->mask & (SL_SET_UID | SL_SET_GID)) && attr->type == SL_FT_REG) {
		left = sl_cred_mode_given(mode);
	} else if (set->mask & SL_SET_SIZE) {
		left = sl_cred_mode_written(call->cred, mode);
	}
	/* setgid is for members of the group to give. */
	if ((set->mask & SL_SET_MODE) && call->cred->uid != 0 && !sl_cred_in_group(call->cred, gid)) {
		left &= ~SL_MODE_SETGID;
	}
	if (left != mode) {
		set->mask |= SL_SET_MODE;
		set->mode = left;
	}
}

static bool setattr_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_xdr_bytes handle = sl_nfs_handle_decode(in);
	struct sl_setattr set;
	struct sl_attr attr;
	bool guarded, times_given;
	int64_t guard_ns = 0;

	times_given = sl_nfs_sattr_decode(srv, in, &set);
	guarded = sl_xdr_enum(in, 1) != 0;
	if (guarded) {
		guard_ns = sl_nfs_time_decode(in);
	}
	if (in->bad) {
		return false;
	}
	object_open(srv, call, handle, &attr);
	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_writable(srv);
	}
	if (call->status == SL_NFS_OK) {
		call->status = setattr_check(call, &attr, &set, times_given);
	}
	if (call->status == SL_NFS_OK && guarded && attr.ctime_ns != guard_ns) {
		call->status = SL_NFSERR_NOT_SYNC;
	}
	if (call->status == SL_NFS_OK) {
		setattr_privileges(call, &attr, &set);
		call->status = sl_nfs_status(tree->ops->setattr(tree, call->object.ino, &set, NULL));
	}
	return true;
}

/* What of ACCESS's bits the caller may. Clients ask for a file's owner too: he may read and write it whatever
 * its mode, but is told what the mode says. */
static uint32_t access_granted(const struct sl_nfs3_call *call, const struct sl_attr *attr)
{
	bool read = sl_cred_may(call->cred, attr, SL_MAY_READ);
	bool write = sl_cred_may(call->cred, attr, SL_MAY_WRITE) && !call->srv->config.read_only;
	bool execute = sl_cred_may(call->cred, attr, SL_MAY_EXECUTE);
	uint32_t granted = read ? ACCESS_READ : 0;

	if (attr->type == SL_FT_DIR) {
		granted |= execute ? ACCESS_LOOKUP : 0;
		granted |= write && execute ? ACCESS_DELETE : 0;
	} else {
		granted |= execute ? ACCESS_EXECUTE : 0;
	}
	return granted | (write ? ACCESS_MODIFY | ACCESS_EXTEND : 0);
}

static bool access_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_xdr_bytes handle = sl_nfs_handle_decode(in);
	struct sl_attr attr = {0};
	uint32_t wanted = sl_xdr_u32(in);

	if (in->bad) {
		return false;
	}
	object_open(srv, call, handle, &attr);
	if (call->status == SL_NFS_OK) {
		call->access = wanted & access_granted(call, &attr);
	}
	return true;
}

static void access_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	sl_xdr_put_u32(out, call->status);
	sl_nfs_post_attr_encode(srv, out, call->object.ino);
	if (call->status == SL_NFS_OK) {
		sl_xdr_put_u32(out, call->access);
	}
}

static bool read_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_xdr_bytes handle = sl_nfs_handle_decode(in);
	uint64_t offset = sl_xdr_u64(in);
	uint32_t count = sl_xdr_u32(in);
	struct sl_attr attr;

	if (in->bad) {
		return false;
	}
	count = count < SL_NFS3_MAX_IO ? count : SL_NFS3_MAX_IO;
	file_open(srv, call, handle, SL_MAY_READ, &attr);
	if (call->status == SL_NFS_OK && offset > (uint64_t)INT64_MAX - count) {
		call->status = SL_NFSERR_INVAL;
	}
	if (call->status == SL_NFS_OK) {
		call->offset = offset;
		call->count = count;
		call->bulk_bytes = count + sl_xdr_pad(count);
		call->req.offset_bytes = (int64_t)offset;
		call->req.bytes = count;
		call->req.op = count > 0 ? SL_STORE_READ : SL_STORE_GETATTR;
	}
	return true;
}

/* The data goes from the tree to its place in the reply; the head is written when its length is known. */
static void read_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	struct sl_tree *tree = srv->config.tree;
	uint32_t bytes = 0;
	bool eof = false;

	if (call->status == SL_NFS_OK &&
	    out->end - out->at < (ptrdiff_t)(READ_HEAD_BYTES + call->bulk_bytes)) {
		out->bad = true;
		return;
	}
	if (call->status == SL_NFS_OK) {
		call->status =
		    sl_nfs_status(tree->ops->read(tree, call->object.ino, call->offset,
						  out->at + READ_HEAD_BYTES, call->count, &bytes, &eof));
	}
	sl_xdr_put_u32(out, call->status);
	if (call->status != SL_NFS_OK) {
		sl_nfs_post_attr_encode(srv, out, call->object.ino);
		return;
	}
	srv->stats.reads++;
	sl_nfs_post_attr_encode(srv, out, call->object.ino);
	sl_xdr_put_u32(out, bytes);
	sl_xdr_put_u32(out, eof);
	sl_xdr_put_u32(out, bytes);
	memset(out->at + bytes, 0, sl_xdr_pad(bytes));
	out->at += bytes + sl_xdr_pad(bytes);
}

/* All zero: a hole under compression. Ordinary data is told apart by its first bytes. */
static bool all_zero(const uint8_t *data, uint32_t size)
{
	return size == 0 || (data[0] == 0 && memcmp(data, data + 1, size - 1) == 0);
}

static uint32_t write_check(const struct sl_xdr_bytes *data, uint64_t offset, uint32_t count)
{
	if (count != data->size || count > SL_NFS3_MAX_IO) {
		return SL_NFSERR_INVAL;
	}
	return offset > (uint64_t)INT64_MAX - count ? SL_NFSERR_FBIG : SL_NFS_OK;
}

/* A program that others may run as its owner is not that program any more. */
static uint32_t written_privileges(struct sl_tree *tree, const struct sl_nfs3_call *call,
				   const struct sl_attr *attr)
{
	struct sl_setattr set = {.mask = SL_SET_MODE, .mode = sl_cred_mode_written(call->cred, attr->mode)};

	return set.mode == attr->mode ? SL_NFS_OK
				      : sl_nfs_status(tree->ops->setattr(tree, call->object.ino, &set, NULL));
}

static bool write_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_xdr_bytes handle = sl_nfs_handle_decode(in);
	uint64_t offset = sl_xdr_u64(in);
	uint32_t count = sl_xdr_u32(in);
	enum sl_stable stable = (enum sl_stable)sl_xdr_enum(in, SL_FILE_SYNC);
	struct sl_xdr_bytes data = sl_xdr_opaque(in, SL_NFS3_MAX_RECORD);
	struct sl_attr attr;

	if (in->bad) {
		return false;
	}
	file_open(srv, call, handle, SL_MAY_WRITE, &attr);
	if (call->status == SL_NFS_OK) {
		call->status = write_check(&data, offset, count);
	}
	if (call->status == SL_NFS_OK) {
		call->status =
		    sl_nfs_status(tree->ops->write(tree, call->object.ino, offset, data.data, count,
						   srv->config.sync_disabled ? SL_UNSTABLE : stable));
	}
	if (call->status == SL_NFS_OK && count > 0) {
		call->status = written_privileges(tree, call, &attr);
	}
	if (call->status == SL_NFS_OK) {
		call->count = count;
		call->asked = stable;
		call->req.stable = stable;
		call->req.offset_bytes = (int64_t)offset;
		call->req.bytes = count;
		call->req.zero = all_zero(data.data, count);
		call->req.op = count > 0 ? SL_STORE_WRITE : SL_STORE_GETATTR;
	}
	return true;
}

static void write_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	struct sl_tree *tree = srv->config.tree;

	/* A store that gives more than was asked for is taken at its word: so must the bytes be. */
	if (call->status == SL_NFS_OK && call->asked == SL_UNSTABLE && call->req.stable != SL_UNSTABLE &&
	    !srv->config.sync_disabled) {
		call->status = sl_nfs_status(tree->ops->commit(tree, call->object.ino));
	}
	if (call->req.stable != SL_UNSTABLE) {
		sl_nfs_settle(srv, call);
	}
	sl_xdr_put_u32(out, call->status);
	sl_nfs_wcc_encode(out, &call->object);
	if (call->status != SL_NFS_OK) {
		return;
	}
	srv->stats.writes++;
	sl_xdr_put_u32(out, call->count);
	sl_xdr_put_u32(out, call->req.stable);
	sl_xdr_put_u64(out, srv->config.write_verifier);
}

static bool commit_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_xdr_bytes handle = sl_nfs_handle_decode(in);

	struct sl_attr attr;

	(void)sl_xdr_u64(in); /* offset and count: the whole file is committed, which RFC 1813 allows */
	(void)sl_xdr_u32(in);
	if (in->bad) {
		return false;
	}
	file_open(srv, call, handle, SL_MAY_WRITE, &attr);
	if (call->status == SL_NFS_OK && !srv->config.sync_disabled) {
		call->status = sl_nfs_status(tree->ops->commit(tree, call->object.ino));
	}
	return true;
}

static void commit_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	sl_nfs_settle(srv, call);
	sl_xdr_put_u32(out, call->status);
	sl_nfs_wcc_encode(out, &call->object);
	if (call->status == SL_NFS_OK) {
		srv->stats.commits++;
		sl_xdr_put_u64(out, srv->config.write_verifier);
	}
}

const struct sl_nfs3_proc sl_nfs_getattr = {
    .start = getattr_start, .encode = getattr_encode, .timed = true, .op = SL_STORE_GETATTR};
const struct sl_nfs3_proc sl_nfs_setattr = {.changes = true,
					    .once = true,
					    .start = setattr_start,
					    .encode = sl_nfs_wcc_result_encode,
					    .timed = true,
					    .op = SL_STORE_META};
const struct sl_nfs3_proc sl_nfs_access = {
    .start = access_start, .encode = access_encode, .timed = true, .op = SL_STORE_GETATTR};
const struct sl_nfs3_proc sl_nfs_read = {
    .start = read_start, .encode = read_encode, .timed = true, .op = SL_STORE_READ};
const struct sl_nfs3_proc sl_nfs_write = {
    .changes = true, .start = write_start, .encode = write_encode, .timed = true, .op = SL_STORE_WRITE};
const struct sl_nfs3_proc sl_nfs_commit = {
    .changes = true, .start = commit_start, .encode = commit_encode, .timed = true, .op = SL_STORE_COMMIT};
