/* MOUNT v3 (RFC 1813, appendix I). Answered at once: it takes no part in I/O. */
#include "sim/nfs3/attr.h"
#include "sim/nfs3/procs.h"

#define PATH_MAX_BYTES SL_MOUNTS_PATH_MAX

enum {
	AUTH_NONE = 0,
	AUTH_SYS = 1
};

/* What of `path` lies below the export ("" is the export itself), or NULL when it is elsewhere. libnfs mounts
 * nfs://host/file by asking for "": that is the root when the root is what we export. */
static const char *below_export(const struct sl_nfs3 *srv, const char *path)
{
	size_t size = strlen(srv->export_path);

	if (size == 1) {
		return path[0] == '/' || path[0] == '\0' ? path : NULL;
	}
	if (strncmp(path, srv->export_path, size) != 0 || (path[size] != '/' && path[size] != '\0')) {
		return NULL;
	}
	return path + size;
}

/* Walks the components of `path` (cut up in place) from the root; call->object.ino is where it arrives. */
static uint32_t path_walk(struct sl_nfs3 *srv, struct sl_nfs3_call *call, char *path)
{
	struct sl_tree *tree = srv->config.tree;
	char *save, *name;
	int rc = 0;

	call->object.ino = SL_TREE_ROOT;
	for (name = strtok_r(path, "/", &save); rc == 0 && name; name = strtok_r(NULL, "/", &save)) {
		if (strcmp(name, "..") == 0) {
			return SL_NFSERR_ACCES;
		}
		if (strlen(name) > SL_TREE_NAME_MAX) {
			return SL_NFSERR_NAMETOOLONG;
		}
		if (strcmp(name, ".") != 0) {
			rc = tree->ops->lookup(tree, call->object.ino, name, &call->object.ino);
		}
	}
	return sl_nfs_status(rc);
}

static uint32_t mnt_open(struct sl_nfs3 *srv, struct sl_nfs3_call *call, const char *path)
{
	struct sl_tree *tree = srv->config.tree;
	char rest[PATH_MAX_BYTES + 1];
	const char *below = below_export(srv, path);
	struct sl_attr attr;
	uint32_t status;

	if (!below) {
		return SL_NFSERR_NOENT;
	}
	memcpy(rest, below, strlen(below) + 1);
	status = path_walk(srv, call, rest);
	if (status == SL_NFS_OK) {
		status = sl_nfs_status(tree->ops->getattr(tree, call->object.ino, &attr));
	}
	return status == SL_NFS_OK && attr.type != SL_FT_DIR ? SL_NFSERR_NOTDIR : status;
}

static bool mnt_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_xdr_bytes bytes = sl_xdr_opaque(in, PATH_MAX_BYTES);
	char path[PATH_MAX_BYTES + 1];

	if (in->bad) {
		return false;
	}
	memcpy(path, bytes.data, bytes.size);
	path[bytes.size] = '\0';
	call->status = strlen(path) == bytes.size ? mnt_open(srv, call, path) : SL_NFSERR_INVAL;
	if (call->status == SL_NFS_OK) {
		sl_mounts_add(&srv->mounts, call->conn->address, path);
	}
	return true;
}

static void mnt_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_attr attr;

	if (call->status == SL_NFS_OK) {
		call->status = sl_nfs_status(tree->ops->getattr(tree, call->object.ino, &attr));
	}
	sl_xdr_put_u32(out, call->status);
	if (call->status == SL_NFS_OK) {
		sl_nfs_handle_encode(srv, out, &attr);
		sl_xdr_put_u32(out, 2); /* flavors */
		sl_xdr_put_u32(out, AUTH_SYS);
		sl_xdr_put_u32(out, AUTH_NONE);
	}
}

static bool umnt_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	struct sl_xdr_bytes bytes = sl_xdr_opaque(in, PATH_MAX_BYTES);
	char path[PATH_MAX_BYTES + 1];

	if (in->bad) {
		return false;
	}
	memcpy(path, bytes.data, bytes.size);
	path[bytes.size] = '\0';
	sl_mounts_remove(&srv->mounts, call->conn->address, path);
	return true;
}

static bool umntall_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	(void)in;
	sl_mounts_remove(&srv->mounts, call->conn->address, NULL);
	return true;
}

static void void_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	(void)srv;
	(void)call;
	(void)out;
}

static bool dump_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	(void)in;
	/* At most: three words and two paddings each. */
	for (uint32_t i = 0; i < srv->mounts.count; i++) {
		call->bulk_bytes += 20 + SL_MOUNTS_ADDRESS_MAX + (uint32_t)strlen(srv->mounts.list[i].path);
	}
	return true;
}

static void dump_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	(void)call;
	for (uint32_t i = 0; i < srv->mounts.count; i++) {
		const struct sl_mount *mount = &srv->mounts.list[i];

		sl_xdr_put_u32(out, 1);
		sl_xdr_put_opaque(out, mount->address, (uint32_t)strlen(mount->address));
		sl_xdr_put_opaque(out, mount->path, (uint32_t)strlen(mount->path));
	}
	sl_xdr_put_u32(out, 0);
}

static uint32_t export_bytes(const struct sl_nfs3 *srv)
{
	return (uint32_t)strlen(srv->export_path);
}

static bool export_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	(void)in;
	call->bulk_bytes = export_bytes(srv);
	return true;
}

/* One export, for everybody. */
static void export_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	(void)call;
	sl_xdr_put_u32(out, 1);
	sl_xdr_put_opaque(out, srv->export_path, export_bytes(srv));
	sl_xdr_put_u32(out, 0); /* groups */
	sl_xdr_put_u32(out, 0); /* end of the list */
}

const struct sl_nfs3_proc sl_mount_mnt = {.start = mnt_start, .encode = mnt_encode};
const struct sl_nfs3_proc sl_mount_dump = {.start = dump_start, .encode = dump_encode};
const struct sl_nfs3_proc sl_mount_umnt = {.start = umnt_start, .encode = void_encode};
const struct sl_nfs3_proc sl_mount_umntall = {.start = umntall_start, .encode = void_encode};
const struct sl_nfs3_proc sl_mount_export = {.start = export_start, .encode = export_encode};
