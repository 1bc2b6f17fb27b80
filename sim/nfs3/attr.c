#include "sim/nfs3/attr.h"

#include <errno.h>

#include "sim/nfs3/handle.h"

#define DIR_MODE 0755 /* of a directory whose mode the client leaves open */

#define STICKY 01000u
#define HANDLE_MAX 64u /* NFS3_FHSIZE */
#define NS_PER_S 1000000000
#define FSID 0x736c6f67u /* one file system */

static const struct {
	int error;
	uint32_t status;
} status_table[] = {
    {0, SL_NFS_OK},
    {EPERM, SL_NFSERR_PERM},
    {ENOENT, SL_NFSERR_NOENT},
    {EIO, SL_NFSERR_IO},
    {EACCES, SL_NFSERR_ACCES},
    {EEXIST, SL_NFSERR_EXIST},
    {ENOTDIR, SL_NFSERR_NOTDIR},
    {EISDIR, SL_NFSERR_ISDIR},
    {EINVAL, SL_NFSERR_INVAL},
    {EFBIG, SL_NFSERR_FBIG},
    {ENOSPC, SL_NFSERR_NOSPC},
    {EROFS, SL_NFSERR_ROFS},
    {EMLINK, SL_NFSERR_MLINK},
    {EDQUOT, SL_NFSERR_DQUOT},
    {ENAMETOOLONG, SL_NFSERR_NAMETOOLONG},
    {ENOTEMPTY, SL_NFSERR_NOTEMPTY},
    {ESTALE, SL_NFSERR_STALE},
    {EBADF, SL_NFSERR_BADHANDLE},
};

uint32_t sl_nfs_status(int rc)
{
	size_t i;

	for (i = 0; i < sizeof(status_table) / sizeof(status_table[0]); i++) {
		if (status_table[i].error == -rc) {
			return status_table[i].status;
		}
	}
	return SL_NFSERR_SERVERFAULT;
}

struct sl_xdr_bytes sl_nfs_handle_decode(struct sl_xdr_in *in)
{
	return sl_xdr_opaque(in, HANDLE_MAX);
}

uint32_t sl_nfs_open(struct sl_nfs3 *srv, struct sl_xdr_bytes handle, struct sl_attr *ret)
{
	struct sl_tree *tree = srv->config.tree;
	uint64_t ino, generation;
	int rc = sl_handle_open(srv->config.handle_key, handle.data, handle.size, &ino, &generation);

	if (rc < 0) {
		return sl_nfs_status(rc);
	}
	rc = tree->ops->getattr(tree, ino, ret);
	/* A handle made by us names something that existed. */
	if (rc == -ENOENT || (rc == 0 && ret->generation != generation)) {
		rc = -ESTALE;
	}
	return sl_nfs_status(rc);
}

uint32_t sl_nfs_open_dir(struct sl_nfs3_call *call, struct sl_xdr_bytes handle, unsigned want,
			 struct sl_nfs3_object *ret)
{
	struct sl_attr attr = {0};
	uint32_t status = sl_nfs_open(call->srv, handle, &attr);

	if (status != SL_NFS_OK) {
		return status;
	}
	sl_nfs_object_set(ret, &attr);
	if (attr.type != SL_FT_DIR) {
		return SL_NFSERR_NOTDIR;
	}
	return sl_cred_may(call->cred, &attr, want) ? SL_NFS_OK : SL_NFSERR_ACCES;
}

void sl_nfs_object_set(struct sl_nfs3_object *object, const struct sl_attr *attr)
{
	object->ino = attr->ino;
	object->size_bytes = attr->size_bytes;
	object->mtime_ns = attr->mtime_ns;
	object->ctime_ns = attr->ctime_ns;
}

bool sl_nfs_may_write(const struct sl_nfs3_call *call, const struct sl_attr *attr)
{
	return sl_cred_owns(call->cred, attr) || sl_cred_may(call->cred, attr, SL_MAY_WRITE);
}

uint32_t sl_nfs_writable(const struct sl_nfs3 *srv)
{
	return srv->config.read_only ? SL_NFSERR_ROFS : SL_NFS_OK;
}

uint32_t sl_nfs_may_take(struct sl_nfs3_call *call, uint64_t dir, const char *name)
{
	struct sl_tree *tree = call->srv->config.tree;
	struct sl_attr of_dir, of_child;
	uint64_t child;

	if (tree->ops->getattr(tree, dir, &of_dir) < 0 || !(of_dir.mode & STICKY) ||
	    sl_cred_owns(call->cred, &of_dir) || tree->ops->lookup(tree, dir, name, &child) < 0 ||
	    tree->ops->getattr(tree, child, &of_child) < 0) {
		return SL_NFS_OK;
	}
	return sl_cred_owns(call->cred, &of_child) ? SL_NFS_OK : SL_NFSERR_PERM;
}

void sl_nfs_dirop_decode(struct sl_xdr_in *in, struct sl_nfs_dirop *ret)
{
	ret->handle = sl_nfs_handle_decode(in);
	/* Any length that fits the record: too long a name is a status, not garbage. */
	ret->name = sl_xdr_opaque(in, SL_NFS3_MAX_RECORD);
}

uint32_t sl_nfs_dirop_open(struct sl_nfs3_call *call, const struct sl_nfs_dirop *args, unsigned want,
			   struct sl_nfs3_object *ret_dir, char name[SL_TREE_NAME_MAX + 1])
{
	uint32_t status = sl_nfs_open_dir(call, args->handle, want, ret_dir);

	return status == SL_NFS_OK ? sl_nfs_name(args->name, name) : status;
}

/* setgid where it means something to whoever asks: as inode_init_owner of Linux does. */
static void setgid_default(const struct sl_cred *cred, enum sl_ftype type, bool inherited,
			   struct sl_setattr *set)
{
	if (type == SL_FT_DIR && inherited) {
		set->mode = ((set->mask & SL_SET_MODE) ? set->mode : DIR_MODE) | SL_MODE_SETGID;
		set->mask |= SL_SET_MODE;
	} else if (type == SL_FT_REG && (set->mask & SL_SET_MODE) && cred->uid != 0 &&
		   !sl_cred_in_group(cred, set->gid)) {
		set->mode &= ~SL_MODE_SETGID;
	}
}

void sl_nfs_owner_default(const struct sl_nfs3_call *call, enum sl_ftype type, struct sl_setattr *set)
{
	struct sl_tree *tree = call->srv->config.tree;
	const struct sl_cred *cred = call->cred;
	struct sl_attr dir;
	bool inherited =
	    tree->ops->getattr(tree, call->object.ino, &dir) == 0 && (dir.mode & SL_MODE_SETGID) != 0;

	if (!(set->mask & SL_SET_UID) || cred->uid != 0) {
		set->uid = cred->uid;
	}
	if (!(set->mask & SL_SET_GID) || (cred->uid != 0 && !sl_cred_in_group(cred, set->gid))) {
		set->gid = inherited ? dir.gid : cred->gid;
	}
	set->mask |= SL_SET_UID | SL_SET_GID;
	setgid_default(cred, type, inherited, set);
}

void sl_nfs_settle(struct sl_nfs3 *srv, struct sl_nfs3_call *call)
{
	struct sl_tree *tree = srv->config.tree;

	if (tree->settles && call->status == SL_NFS_OK) {
		call->status = sl_nfs_status(tree->ops->settle(tree));
	}
}

void sl_nfs_created_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_attr attr;

	sl_nfs_settle(srv, call);
	sl_xdr_put_u32(out, call->status);
	if (call->status == SL_NFS_OK && tree->ops->getattr(tree, call->child, &attr) == 0) {
		sl_xdr_put_u32(out, 1);
		sl_nfs_handle_encode(srv, out, &attr);
		sl_xdr_put_u32(out, 1);
		sl_nfs_fattr_encode(out, &attr);
	} else if (call->status == SL_NFS_OK) {
		/* Created, and removed by another call since. */
		sl_xdr_put_u32(out, 0);
		sl_xdr_put_u32(out, 0);
	}
	sl_nfs_wcc_encode(out, &call->object);
}

uint32_t sl_nfs_name(struct sl_xdr_bytes bytes, char ret[SL_TREE_NAME_MAX + 1])
{
	if (bytes.size > SL_TREE_NAME_MAX) {
		return SL_NFSERR_NAMETOOLONG;
	}
	if (bytes.size == 0 || memchr(bytes.data, '/', bytes.size) || memchr(bytes.data, '\0', bytes.size)) {
		return SL_NFSERR_INVAL;
	}
	memcpy(ret, bytes.data, bytes.size);
	ret[bytes.size] = '\0';
	return SL_NFS_OK;
}

bool sl_nfs_name_is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

int64_t sl_nfs_time_decode(struct sl_xdr_in *in)
{
	int64_t seconds = sl_xdr_u32(in);
	int64_t ns = sl_xdr_u32(in);

	if (ns >= NS_PER_S) {
		in->bad = true;
		return 0;
	}
	return seconds * NS_PER_S + ns;
}

void sl_nfs_time_encode(struct sl_xdr_out *out, int64_t time_ns)
{
	int64_t ns = time_ns > 0 ? time_ns : 0;

	sl_xdr_put_u32(out, (uint32_t)(ns / NS_PER_S));
	sl_xdr_put_u32(out, (uint32_t)(ns % NS_PER_S));
}

/* set_atime, set_mtime: 0 = leave, 1 = server's time, 2 = client's time */
static bool time_set_decode(struct sl_nfs3 *srv, struct sl_xdr_in *in, struct sl_setattr *set, uint32_t bit,
			    int64_t *ret)
{
	struct sl_tree *tree = srv->config.tree;
	uint32_t how = sl_xdr_enum(in, 2);

	if (how == 2) {
		*ret = sl_nfs_time_decode(in);
	} else if (how == 1 && tree->wall_ns) {
		*ret = tree->wall_ns(tree->wall_arg);
	}
	set->mask |= how != 0 ? bit : 0;
	return how == 2;
}

static void u32_set_decode(struct sl_xdr_in *in, struct sl_setattr *set, uint32_t bit, uint32_t *ret)
{
	if (sl_xdr_enum(in, 1) != 0) {
		*ret = sl_xdr_u32(in);
		set->mask |= bit;
	}
}

bool sl_nfs_sattr_decode(struct sl_nfs3 *srv, struct sl_xdr_in *in, struct sl_setattr *ret)
{
	bool atime_given;

	memset(ret, 0, sizeof(*ret));
	u32_set_decode(in, ret, SL_SET_MODE, &ret->mode);
	u32_set_decode(in, ret, SL_SET_UID, &ret->uid);
	u32_set_decode(in, ret, SL_SET_GID, &ret->gid);
	if (sl_xdr_enum(in, 1) != 0) {
		ret->size_bytes = sl_xdr_u64(in);
		ret->mask |= SL_SET_SIZE;
	}
	atime_given = time_set_decode(srv, in, ret, SL_SET_ATIME, &ret->atime_ns);
	return time_set_decode(srv, in, ret, SL_SET_MTIME, &ret->mtime_ns) || atime_given;
}

void sl_nfs_fattr_encode(struct sl_xdr_out *out, const struct sl_attr *attr)
{
	sl_xdr_put_u32(out, attr->type);
	sl_xdr_put_u32(out, attr->mode);
	sl_xdr_put_u32(out, attr->nlink);
	sl_xdr_put_u32(out, attr->uid);
	sl_xdr_put_u32(out, attr->gid);
	sl_xdr_put_u64(out, attr->size_bytes);
	sl_xdr_put_u64(out, attr->used_bytes);
	sl_xdr_put_u64(out, 0); /* rdev */
	sl_xdr_put_u64(out, FSID);
	sl_xdr_put_u64(out, attr->ino);
	sl_nfs_time_encode(out, attr->atime_ns);
	sl_nfs_time_encode(out, attr->mtime_ns);
	sl_nfs_time_encode(out, attr->ctime_ns);
}

void sl_nfs_post_attr_encode(struct sl_nfs3 *srv, struct sl_xdr_out *out, uint64_t ino)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_attr attr;
	bool present = ino != 0 && tree->ops->getattr(tree, ino, &attr) == 0;

	sl_xdr_put_u32(out, present);
	if (present) {
		sl_nfs_fattr_encode(out, &attr);
	}
}

void sl_nfs_wcc_encode(struct sl_xdr_out *out, const struct sl_nfs3_object *object)
{
	sl_xdr_put_u32(out, object->seen);
	if (object->seen) {
		sl_xdr_put_u64(out, object->size_bytes);
		sl_nfs_time_encode(out, object->mtime_ns);
		sl_nfs_time_encode(out, object->ctime_ns);
	}
	sl_xdr_put_u32(out, object->seen);
	if (object->seen) {
		sl_nfs_fattr_encode(out, &object->after);
	}
}

void sl_nfs_handle_encode(struct sl_nfs3 *srv, struct sl_xdr_out *out, const struct sl_attr *attr)
{
	uint8_t handle[SL_HANDLE_BYTES];

	sl_handle_make(srv->config.handle_key, attr->ino, attr->generation, handle);
	sl_xdr_put_opaque(out, handle, sizeof(handle));
}

void sl_nfs_wcc_result_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	sl_nfs_settle(srv, call);
	sl_xdr_put_u32(out, call->status);
	sl_nfs_wcc_encode(out, &call->object);
}
