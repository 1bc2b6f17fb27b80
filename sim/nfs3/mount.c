/* MOUNT v3 (RFC 1813, appendix I). Answered at once: it takes no part in I/O. */
#include <stdio.h>
#include <string.h>

#include "sim/nfs3/above.h"
#include "sim/nfs3/attr.h"
#include "sim/nfs3/procs.h"

#define PATH_MAX_BYTES SL_MOUNTS_PATH_MAX
#define LINKS_MAX 40 /* as Linux: more are a ring */

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

/* On the way along a path. Symbolic links are followed, but never out of the export. */
struct walk {
	char rest[SL_TREE_TARGET_MAX + PATH_MAX_BYTES + 2]; /* still to go */
	uint64_t ino;                                       /* here */
	int links;                                          /* followed */
};

/* Cuts the first component off `rest`; false when there is none. Too long a name is cut off at its limit + 1.
 */
static bool component_take(struct walk *walk, char ret[SL_TREE_NAME_MAX + 2])
{
	size_t from = strspn(walk->rest, "/"), size = strcspn(walk->rest + from, "/");

	(void)snprintf(ret, SL_TREE_NAME_MAX + 2, "%.*s", (int)size, walk->rest + from);
	memmove(walk->rest, walk->rest + from + size, strlen(walk->rest + from + size) + 1);
	return size > 0;
}

/* What the link says comes before the rest of the way. */
static uint32_t link_follow(struct sl_nfs3 *srv, struct walk *walk, uint64_t link)
{
	struct sl_tree *tree = srv->config.tree;
	char target[SL_TREE_TARGET_MAX + 1];
	const char *path = target;
	int rc = tree->ops->readlink(tree, link, target);
	size_t at;

	if (rc < 0 || ++walk->links > LINKS_MAX) {
		return rc < 0 ? sl_nfs_status(rc) : SL_NFSERR_INVAL;
	}
	if (target[0] == '/') {
		path = below_export(srv, target);
		walk->ino = SL_TREE_ROOT;
	}
	if (!path || strlen(path) + 1 + strlen(walk->rest) >= sizeof(walk->rest)) {
		return path ? SL_NFSERR_NAMETOOLONG : SL_NFSERR_NOENT;
	}
	at = strlen(path);
	memmove(walk->rest + at + 1, walk->rest, strlen(walk->rest) + 1);
	memcpy(walk->rest, path, at);
	walk->rest[at] = '/';
	return SL_NFS_OK;
}

static uint32_t step(struct sl_nfs3 *srv, struct walk *walk, const char *name)
{
	struct sl_tree *tree = srv->config.tree;
	struct sl_attr attr;
	uint64_t next = 0;
	int rc = tree->ops->lookup(tree, walk->ino, name, &next);

	rc = rc < 0 ? rc : tree->ops->getattr(tree, next, &attr);
	if (rc == 0 && attr.type == SL_FT_LNK) {
		return link_follow(srv, walk, next);
	}
	walk->ino = next;
	return sl_nfs_status(rc);
}

/* Walks the components of `path` from the root; call->object.ino is where it arrives. A client says no "..":
 * in a link it is the parent, and the root's is the root. */
static uint32_t path_walk(struct sl_nfs3 *srv, struct sl_nfs3_call *call, const char *path)
{
	struct walk walk = {.ino = SL_TREE_ROOT};
	char name[SL_TREE_NAME_MAX + 2];
	uint32_t status = SL_NFS_OK;

	(void)snprintf(walk.rest, sizeof(walk.rest), "%s", path);
	while (status == SL_NFS_OK && component_take(&walk, name)) {
		if (strlen(name) > SL_TREE_NAME_MAX) {
			status = SL_NFSERR_NAMETOOLONG;
		} else if (walk.links == 0 && strcmp(name, "..") == 0) {
			status = SL_NFSERR_ACCES;
		} else if (strcmp(name, ".") != 0) {
			status = step(srv, &walk, name);
		}
	}
	call->object.ino = walk.ino;
	return status;
}

static uint32_t mnt_open(struct sl_nfs3 *srv, struct sl_nfs3_call *call, const char *path)
{
	struct sl_tree *tree = srv->config.tree;
	const char *below = below_export(srv, path);
	struct sl_attr attr;
	uint32_t status;

	if (!below) {
		call->object.ino = sl_above_find(tree, path);
		return call->object.ino != 0 ? SL_NFS_OK : SL_NFSERR_NOENT;
	}
	status = path_walk(srv, call, below);
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
