/* READDIR and READDIRPLUS: the entries are read when the call is done, straight into the reply. */
#include "sim/nfs3/attr.h"
#include "sim/nfs3/handle.h"
#include "sim/nfs3/procs.h"

#define REPLY_BYTES_MAX 65536u /* answered at most, whatever the client allows; FSINFO's dtpref */

#define HEAD_BYTES (SL_POST_ATTR_BYTES + 8u) /* attributes, verifier */
#define TAIL_BYTES 8u                        /* end of the list, eof */
#define PLUS_BYTES (SL_POST_ATTR_BYTES + SL_POST_HANDLE_BYTES)

/* Cookies of "." and ".."; those of the tree follow. */
#define COOKIE_SELF 1u
#define COOKIE_PARENT 2u

/* Where an entry goes and what room is left. */
struct fill {
	struct sl_nfs3 *srv;
	struct sl_xdr_out *out;
	uint32_t left_bytes;     /* of the whole reply */
	uint32_t dir_left_bytes; /* READDIRPLUS: of names, numbers and cookies */
	bool plus, full;
	uint32_t entries;
};

static void plus_encode(const struct fill *fill, uint64_t ino)
{
	struct sl_tree *tree = fill->srv->config.tree;
	struct sl_attr attr;

	if (tree->ops->getattr(tree, ino, &attr) < 0) {
		sl_xdr_put_u32(fill->out, 0);
		sl_xdr_put_u32(fill->out, 0);
		return;
	}
	sl_xdr_put_u32(fill->out, 1);
	sl_nfs_fattr_encode(fill->out, &attr);
	sl_xdr_put_u32(fill->out, 1);
	sl_nfs_handle_encode(fill->srv, fill->out, &attr);
}

static bool entry_encode(void *arg, const char *name, uint64_t ino, uint64_t cookie)
{
	struct fill *fill = arg;
	uint32_t name_bytes = (uint32_t)strlen(name);
	uint32_t dir_bytes = 8 + 4 + name_bytes + sl_xdr_pad(name_bytes) + 8;
	uint32_t bytes = 4 + dir_bytes + (fill->plus ? PLUS_BYTES : 0);

	if (bytes > fill->left_bytes || dir_bytes > fill->dir_left_bytes) {
		fill->full = true;
		return false;
	}
	fill->left_bytes -= bytes;
	fill->dir_left_bytes -= dir_bytes;
	fill->entries++;
	sl_xdr_put_u32(fill->out, 1);
	sl_xdr_put_u64(fill->out, ino);
	sl_xdr_put_opaque(fill->out, name, name_bytes);
	sl_xdr_put_u64(fill->out, cookie);
	if (fill->plus) {
		plus_encode(fill, ino);
	}
	return true;
}

static bool tree_entry_encode(void *arg, const char *name, uint64_t ino, uint64_t cookie)
{
	return entry_encode(arg, name, ino, cookie + COOKIE_PARENT);
}

/* "." and "..", as far as the client has not had them. False when the reply is full. */
static bool dots_encode(struct fill *fill, uint64_t dir, uint64_t cookie)
{
	struct sl_tree *tree = fill->srv->config.tree;
	uint64_t parent = dir;

	(void)tree->ops->lookup(tree, dir, "..", &parent);
	return (cookie >= COOKIE_SELF || entry_encode(fill, ".", dir, COOKIE_SELF)) &&
	       (cookie >= COOKIE_PARENT || entry_encode(fill, "..", parent, COOKIE_PARENT));
}

static uint32_t list_encode(struct sl_nfs3_call *call, struct fill *fill)
{
	struct sl_tree *tree = fill->srv->config.tree;
	uint64_t cookie = call->offset > COOKIE_PARENT ? call->offset - COOKIE_PARENT : 0;
	uint32_t status = SL_NFS_OK;

	if (dots_encode(fill, call->object.ino, call->offset)) {
		status = sl_nfs_status(
		    tree->ops->readdir(tree, call->object.ino, cookie, tree_entry_encode, fill));
	}
	return status == SL_NFS_OK && fill->full && fill->entries == 0 ? SL_NFSERR_TOOSMALL : status;
}

static bool readdir_any(struct sl_nfs3_call *call, struct sl_xdr_in *in, bool plus)
{
	struct sl_xdr_bytes handle = sl_nfs_handle_decode(in);
	uint64_t cookie = sl_xdr_u64(in);
	uint64_t verifier = sl_xdr_u64(in);
	uint32_t dir_bytes = plus ? sl_xdr_u32(in) : UINT32_MAX;
	uint32_t count = sl_xdr_u32(in);

	if (in->bad) {
		return false;
	}
	call->status = sl_nfs_open_dir(call, handle, SL_MAY_READ, &call->object);
	/* Cookies are good for ever, so that the only verifier we give is 0. */
	if (call->status == SL_NFS_OK && verifier != 0) {
		call->status = SL_NFSERR_BAD_COOKIE;
	}
	if (call->status == SL_NFS_OK && count < HEAD_BYTES + TAIL_BYTES) {
		call->status = SL_NFSERR_TOOSMALL;
	}
	if (call->status == SL_NFS_OK) {
		call->offset = cookie;
		call->dir_bytes = dir_bytes;
		call->count = count < REPLY_BYTES_MAX ? count : REPLY_BYTES_MAX;
		call->bulk_bytes = call->count;
	}
	return true;
}

static void entries_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out, bool plus)
{
	uint8_t *start = out->at;
	struct fill fill = {.srv = srv, .out = out, .plus = plus, .dir_left_bytes = call->dir_bytes};

	if (call->status == SL_NFS_OK) {
		fill.left_bytes = call->count - HEAD_BYTES - TAIL_BYTES;
		sl_xdr_put_u32(out, SL_NFS_OK);
		sl_nfs_post_attr_encode(srv, out, call->object.ino);
		sl_xdr_put_u64(out, 0);
		call->status = list_encode(call, &fill);
	}
	if (call->status != SL_NFS_OK) {
		out->at = start;
		sl_xdr_put_u32(out, call->status);
		sl_nfs_post_attr_encode(srv, out, call->object.ino);
		return;
	}
	sl_xdr_put_u32(out, 0);
	sl_xdr_put_u32(out, !fill.full);
}

static bool readdir_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	(void)srv;
	return readdir_any(call, in, false);
}

static void readdir_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	entries_encode(srv, call, out, false);
}

static bool readdirplus_start(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in)
{
	(void)srv;
	return readdir_any(call, in, true);
}

static void readdirplus_encode(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	entries_encode(srv, call, out, true);
}

_Static_assert(SL_POST_HANDLE_BYTES == 4 + 4 + SL_HANDLE_BYTES, "room for the handle of an entry");

const struct sl_nfs3_proc sl_nfs_readdir = {
    .start = readdir_start, .encode = readdir_encode, .timed = true, .op = SL_STORE_GETATTR};
const struct sl_nfs3_proc sl_nfs_readdirplus = {
    .start = readdirplus_start, .encode = readdirplus_encode, .timed = true, .op = SL_STORE_GETATTR};
