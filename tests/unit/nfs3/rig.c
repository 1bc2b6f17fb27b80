#include "rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void slow_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	struct slow_store *self = sl_container_of(store, struct slow_store, base);

	self->last = *req;
	self->submitted++;
	if (self->promote) {
		req->stable = SL_FILE_SYNC;
	}
	sl_loop_arm(self->loop, &req->done, now_ns + self->delay_ns(self, req));
}

static void slow_free(struct sl_store *store)
{
	(void)store;
}

static const struct sl_store_ops slow_ops = {.submit = slow_submit, .free = slow_free};

static void rig_output(void *arg)
{
	struct rig *rig = arg;
	const uint8_t *bytes;
	size_t size;

	rig->outputs++;
	if (rig->free_in_output) {
		sl_nfs3_conn_free(rig->conn);
		rig->conn = NULL;
	} else if (!rig->hold_output) {
		size = sl_nfs3_conn_output(rig->conn, &bytes);
		cr_assert_eq(sl_buf_append(&rig->got, bytes, size), 0);
		sl_nfs3_conn_consume(rig->conn, size);
	}
}

static void rig_serve(struct rig *rig)
{
	struct sl_err err = {0};

	cr_assert_eq(sl_nfs3_new(&rig->config, &rig->srv, &err), 0, "%s", err.msg);
	rig->conn = sl_nfs3_conn_new(rig->srv, rig_output, rig);
	cr_assert_neq(rig->conn, NULL);
}

void rig_init(struct rig *rig, int64_t (*delay_ns)(const struct slow_store *, const struct sl_store_req *))
{
	memset(rig, 0, sizeof(*rig));
	rig->loop = sl_loop_new_virtual();
	rig->tree = sl_tree_new_ram(64u << 20);
	rig->null = sl_store_new_null(rig->loop);
	rig->slow.base.ops = &slow_ops;
	rig->slow.loop = rig->loop;
	rig->slow.delay_ns = delay_ns;
	rig->config = (struct sl_nfs3_config){
	    .loop = rig->loop,
	    .tree = rig->tree,
	    .store = delay_ns ? &rig->slow.base : rig->null,
	    .export_path = "/tank/vm/",
	    .nfs_port = 2049,
	    .mount_port = 20048,
	    .portmap_port = 111,
	    .write_verifier = 0x1122334455667788u,
	    .handle_key = "fifteen letters",
	};
	rig->next_xid = 1000;
	sl_handle_make(rig->config.handle_key, SL_TREE_ROOT, 1, rig->root);
	rig_serve(rig);
}

void rig_restart(struct rig *rig)
{
	sl_nfs3_conn_free(rig->conn);
	sl_nfs3_free(rig->srv);
	rig_serve(rig);
}

void rig_reconnect(struct rig *rig)
{
	sl_nfs3_conn_free(rig->conn);
	rig->conn = sl_nfs3_conn_new(rig->srv, rig_output, rig);
	cr_assert_neq(rig->conn, NULL);
}

void rig_fini(struct rig *rig)
{
	sl_nfs3_conn_free(rig->conn);
	sl_nfs3_free(rig->srv);
	rig->tree->ops->free(rig->tree);
	sl_store_free(rig->null);
	sl_loop_free(rig->loop);
	sl_buf_fini(&rig->got);
}

void put_u32(struct msg *msg, uint32_t value)
{
	uint8_t bytes[4];

	sl_put_be32(bytes, value);
	cr_assert_eq(sl_buf_append(&msg->buf, bytes, 4), 0);
}

void put_u64(struct msg *msg, uint64_t value)
{
	put_u32(msg, (uint32_t)(value >> 32));
	put_u32(msg, (uint32_t)value);
}

void put_opaque(struct msg *msg, const void *bytes, uint32_t size)
{
	put_u32(msg, size);
	cr_assert_eq(sl_buf_append(&msg->buf, bytes, size), 0);
	cr_assert_eq(sl_buf_append(&msg->buf, "\0\0\0", sl_xdr_pad(size)), 0);
}

void put_name(struct msg *msg, const char *name)
{
	put_opaque(msg, name, (uint32_t)strlen(name));
}

void put_sattr(struct msg *msg, const uint32_t *mode, const uint64_t *size)
{
	put_u32(msg, mode != NULL);
	if (mode) {
		put_u32(msg, *mode);
	}
	put_u32(msg, 0);
	put_u32(msg, 0);
	put_u32(msg, size != NULL);
	if (size) {
		put_u64(msg, *size);
	}
	put_u32(msg, 0);
	put_u32(msg, 0);
}

void call_begin(struct rig *rig, struct msg *msg, uint32_t program, uint32_t version, uint32_t procedure)
{
	memset(msg, 0, sizeof(*msg));
	msg->xid = rig->next_xid++;
	put_u32(msg, 0); /* the mark, set by call_end */
	put_u32(msg, msg->xid);
	put_u32(msg, 0);
	put_u32(msg, 2);
	put_u32(msg, program);
	put_u32(msg, version);
	put_u32(msg, procedure);
	put_u32(msg, rig->no_credentials ? 0 : 1);
	if (rig->no_credentials) {
		put_u32(msg, 0);
	} else {
		put_u32(msg, 20 + 4 * (rig->group != 0));
		put_u64(msg, 0); /* stamp, machine name */
		put_u32(msg, rig->uid);
		put_u32(msg, rig->gid);
		put_u32(msg, rig->group != 0);
		if (rig->group != 0) {
			put_u32(msg, rig->group);
		}
	}
	put_u64(msg, 0);
}

void nfs_begin(struct rig *rig, struct msg *msg, uint32_t procedure, const uint8_t *handle)
{
	call_begin(rig, msg, SL_PROG_NFS, 3, procedure);
	put_opaque(msg, handle, SL_HANDLE_BYTES);
}

void call_end(struct msg *msg)
{
	sl_put_be32(sl_buf_head(&msg->buf), 0x80000000u | (uint32_t)(sl_buf_size(&msg->buf) - 4));
}

void rig_send(struct rig *rig, struct msg *msg)
{
	call_end(msg);
	cr_assert_eq(sl_nfs3_conn_input(rig->conn, sl_loop_now(rig->loop), sl_buf_head(&msg->buf),
					sl_buf_size(&msg->buf)),
		     0);
	sl_buf_fini(&msg->buf);
}

void rig_run(struct rig *rig)
{
	cr_assert_eq(sl_loop_run(rig->loop, NULL), 0);
}

/* Body of the n-th record, false when there are fewer. */
static bool record_at(const struct rig *rig, unsigned n, struct sl_xdr_in *ret)
{
	const uint8_t *at = sl_buf_head(&rig->got), *end = at + sl_buf_size(&rig->got);

	for (; at && at < end; n--) {
		uint32_t mark = sl_be32(at);

		cr_assert(mark & 0x80000000u);
		ret->at = at + 4;
		ret->end = at + 4 + (mark & 0x7fffffffu);
		ret->bad = false;
		cr_assert(ret->end <= end);
		if (n == 0) {
			return true;
		}
		at = ret->end;
	}
	return false;
}

bool rig_find(struct rig *rig, uint32_t xid, struct sl_xdr_in *ret)
{
	unsigned n;

	for (n = 0; record_at(rig, n, ret); n++) {
		if (sl_be32(ret->at) == xid) {
			return true;
		}
	}
	return false;
}

unsigned rig_replies(const struct rig *rig)
{
	struct sl_xdr_in in;
	unsigned n = 0;

	while (record_at(rig, n, &in)) {
		n++;
	}
	return n;
}

struct sl_xdr_in rig_call(struct rig *rig, struct msg *msg)
{
	struct sl_xdr_in in;
	uint32_t xid = msg->xid;

	sl_buf_consume(&rig->got, sl_buf_size(&rig->got));
	rig_send(rig, msg);
	rig_run(rig);
	cr_assert_eq(rig_replies(rig), 1);
	cr_assert(rig_find(rig, xid, &in));
	(void)sl_xdr_u32(&in);
	cr_assert_eq(sl_xdr_u32(&in), 1); /* REPLY */
	cr_assert_eq(sl_xdr_u32(&in), 0); /* accepted */
	cr_assert_eq(sl_xdr_u64(&in), 0); /* AUTH_NONE */
	cr_assert_eq(sl_xdr_u32(&in), 0); /* success */
	cr_assert(!in.bad);
	return in;
}

uint32_t rig_status(struct rig *rig, struct msg *msg, struct sl_xdr_in *ret)
{
	struct sl_xdr_in in = rig_call(rig, msg);
	uint32_t status = sl_xdr_u32(&in);

	cr_assert(!in.bad);
	if (ret) {
		*ret = in;
	}
	return status;
}

static int64_t get_time(struct sl_xdr_in *in)
{
	int64_t seconds = sl_xdr_u32(in);

	return seconds * 1000000000 + sl_xdr_u32(in);
}

struct seen_attr get_fattr(struct sl_xdr_in *in)
{
	struct seen_attr attr = {.present = true};

	attr.type = sl_xdr_u32(in);
	attr.mode = sl_xdr_u32(in);
	attr.nlink = sl_xdr_u32(in);
	attr.uid = sl_xdr_u32(in);
	attr.gid = sl_xdr_u32(in);
	attr.size = sl_xdr_u64(in);
	attr.used = sl_xdr_u64(in);
	(void)sl_xdr_u64(in); /* rdev */
	(void)sl_xdr_u64(in); /* fsid */
	attr.fileid = sl_xdr_u64(in);
	attr.atime_ns = get_time(in);
	attr.mtime_ns = get_time(in);
	attr.ctime_ns = get_time(in);
	cr_assert(!in->bad);
	return attr;
}

struct seen_attr get_post_attr(struct sl_xdr_in *in)
{
	struct seen_attr none = {0};

	return sl_xdr_u32(in) ? get_fattr(in) : none;
}

struct seen_attr get_wcc_both(struct sl_xdr_in *in, struct seen_before *ret)
{
	struct seen_attr after;

	*ret = (struct seen_before){.present = sl_xdr_u32(in) != 0};
	if (ret->present) {
		ret->size = sl_xdr_u64(in);
		ret->mtime_ns = get_time(in);
		ret->ctime_ns = get_time(in);
	}
	after = get_post_attr(in);
	cr_assert_eq(after.present, ret->present);
	return after;
}

struct seen_attr get_wcc(struct sl_xdr_in *in)
{
	struct seen_before ignored;

	return get_wcc_both(in, &ignored);
}

void get_handle(struct sl_xdr_in *in, uint8_t ret[SL_HANDLE_BYTES])
{
	struct sl_xdr_bytes bytes = sl_xdr_opaque(in, 64);

	cr_assert_eq(bytes.size, SL_HANDLE_BYTES);
	memcpy(ret, bytes.data, bytes.size);
}

void get_end(const struct sl_xdr_in *in)
{
	cr_assert(!in->bad);
	cr_assert_eq(in->at, in->end);
}

static void made_check(struct rig *rig, struct msg *msg, uint8_t ret[SL_HANDLE_BYTES])
{
	struct sl_xdr_in in;

	cr_assert_eq(rig_status(rig, msg, &in), 0);
	cr_assert_eq(sl_xdr_u32(&in), 1);
	get_handle(&in, ret);
	cr_assert(get_post_attr(&in).present);
	cr_assert(get_wcc(&in).present);
	get_end(&in);
}

void do_create(struct rig *rig, const uint8_t *dir, const char *name, uint8_t ret[SL_HANDLE_BYTES])
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_CREATE, dir);
	put_name(&msg, name);
	put_u32(&msg, 1); /* guarded */
	put_sattr(&msg, NULL, NULL);
	made_check(rig, &msg, ret);
}

void do_mkdir(struct rig *rig, const uint8_t *dir, const char *name, uint8_t ret[SL_HANDLE_BYTES])
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_MKDIR, dir);
	put_name(&msg, name);
	put_sattr(&msg, NULL, NULL);
	made_check(rig, &msg, ret);
}

void put_write(struct msg *msg, uint64_t offset, enum sl_stable stable, const void *data, uint32_t size)
{
	put_u64(msg, offset);
	put_u32(msg, size);
	put_u32(msg, stable);
	put_opaque(msg, data, size);
}

struct seen_attr do_getattr(struct rig *rig, const uint8_t *handle)
{
	struct msg msg;
	struct sl_xdr_in in;
	struct seen_attr attr;

	nfs_begin(rig, &msg, SL_NFS_GETATTR, handle);
	cr_assert_eq(rig_status(rig, &msg, &in), 0);
	attr = get_fattr(&in);
	get_end(&in);
	return attr;
}

uint32_t rig_mount(struct rig *rig, const char *path, uint8_t ret[SL_HANDLE_BYTES])
{
	struct msg msg;
	struct sl_xdr_in in;
	uint32_t status;

	call_begin(rig, &msg, SL_PROG_MOUNT, 3, SL_MOUNT_MNT);
	put_name(&msg, path);
	status = rig_status(rig, &msg, &in);
	if (status == 0) {
		get_handle(&in, ret);
		cr_assert_eq(sl_xdr_u32(&in), 2);
		cr_assert_eq(sl_xdr_u32(&in), 1); /* AUTH_SYS */
		cr_assert_eq(sl_xdr_u32(&in), 0);
	}
	get_end(&in);
	return status;
}
