#include <criterion/criterion.h>

#include "rig.h"

#define VERIFIER 0x1122334455667788u

static int64_t no_delay(const struct slow_store *self, const struct sl_store_req *req)
{
	(void)self;
	(void)req;
	return 0;
}

static int64_t ten_us(const struct slow_store *self, const struct sl_store_req *req)
{
	(void)self;
	(void)req;
	return 10 * US;
}

static int64_t wall_at_500s(void *arg)
{
	(void)arg;
	return 500000000001;
}

/* Status of a WRITE; *ret_committed and the wcc size are checked against the arguments when it succeeds. */
static uint32_t do_write(struct rig *rig, const uint8_t *handle, uint64_t offset, enum sl_stable stable,
			 const void *data, uint32_t size, uint32_t *ret_committed)
{
	struct msg msg;
	struct sl_xdr_in in;
	struct seen_attr attr;
	uint32_t status;

	nfs_begin(rig, &msg, SL_NFS_WRITE, handle);
	put_write(&msg, offset, stable, data, size);
	status = rig_status(rig, &msg, &in);
	attr = get_wcc(&in);
	if (status == 0) {
		cr_assert(attr.present);
		cr_assert(attr.size >= offset + size || size == 0);
		cr_assert_eq(sl_xdr_u32(&in), size);
		*ret_committed = sl_xdr_u32(&in);
		cr_assert_eq(sl_xdr_u64(&in), VERIFIER);
	}
	get_end(&in);
	return status;
}

/* Status of a READ of `count` bytes that should give `expect` bytes of `data`. */
static uint32_t do_read(struct rig *rig, const uint8_t *handle, uint64_t offset, uint32_t count,
			const void *data, uint32_t expect, bool eof)
{
	struct msg msg;
	struct sl_xdr_in in;
	struct sl_xdr_bytes bytes;
	uint32_t status;

	nfs_begin(rig, &msg, SL_NFS_READ, handle);
	put_u64(&msg, offset);
	put_u32(&msg, count);
	status = rig_status(rig, &msg, &in);
	(void)get_post_attr(&in);
	if (status == 0) {
		cr_assert_eq(sl_xdr_u32(&in), expect);
		cr_assert_eq(sl_xdr_u32(&in), eof);
		bytes = sl_xdr_opaque(&in, SL_NFS3_MAX_IO);
		cr_assert_eq(bytes.size, expect);
		cr_assert_eq(memcmp(bytes.data, data, expect), 0);
	}
	get_end(&in);
	return status;
}

Test(nfs3_file, write_read_commit)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	uint8_t file[SL_HANDLE_BYTES];
	uint32_t committed;

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	cr_assert_eq(do_write(&rig, file, 3, SL_FILE_SYNC, "hello", 5, &committed), 0);
	cr_assert_eq(committed, SL_FILE_SYNC);
	cr_assert_eq(do_write(&rig, file, 8, SL_UNSTABLE, "!", 1, &committed), 0);
	cr_assert_eq(committed, SL_UNSTABLE);
	cr_assert_eq(do_write(&rig, file, 0, SL_DATA_SYNC, "", 0, &committed), 0);
	cr_assert_eq(do_read(&rig, file, 0, 4, "\0\0\0h", 4, false), 0);
	cr_assert_eq(do_read(&rig, file, 3, 100, "hello!", 6, true), 0);
	cr_assert_eq(do_read(&rig, file, 9, 100, "", 0, true), 0);
	cr_assert_eq(do_read(&rig, file, 1, 0, "", 0, false), 0);
	cr_assert_eq(do_read(&rig, file, (uint64_t)1 << 62, UINT32_MAX, "", 0, true), 0);
	nfs_begin(&rig, &msg, SL_NFS_COMMIT, file);
	put_u64(&msg, 0);
	put_u32(&msg, 0);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	cr_assert_eq(get_wcc(&in).size, 9);
	cr_assert_eq(sl_xdr_u64(&in), VERIFIER);
	get_end(&in);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->writes, 3);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->reads, 5);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->commits, 1);
	rig_fini(&rig);
}

Test(nfs3_file, large_transfers)
{
	static uint8_t data[SL_NFS3_MAX_IO + 4];
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES];
	uint32_t committed;

	for (size_t i = 0; i < sizeof(data); i++) {
		data[i] = (uint8_t)(i * 7 / 3);
	}
	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	cr_assert_eq(do_write(&rig, file, 1, SL_FILE_SYNC, data, SL_NFS3_MAX_IO, &committed), 0);
	cr_assert_eq(do_read(&rig, file, 1, SL_NFS3_MAX_IO, data, SL_NFS3_MAX_IO, true), 0);
	/* More than rtmax is cut, more than wtmax refused. */
	cr_assert_eq(do_write(&rig, file, 0, SL_FILE_SYNC, data, SL_NFS3_MAX_IO, &committed), 0);
	cr_assert_eq(do_read(&rig, file, 0, SL_NFS3_MAX_IO + 1, data, SL_NFS3_MAX_IO, false), 0);
	cr_assert_eq(do_write(&rig, file, 0, SL_FILE_SYNC, data, SL_NFS3_MAX_IO + 4, &committed),
		     SL_NFSERR_INVAL);
	rig_fini(&rig);
}

Test(nfs3_file, write_errors_leave_the_file_alone)
{
	struct rig rig;
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];
	uint32_t committed;

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	for (uint32_t count = 3; count < 6; count += 2) { /* count is not the length of the data */
		nfs_begin(&rig, &msg, SL_NFS_WRITE, file);
		put_u64(&msg, 0);
		put_u32(&msg, count);
		put_u32(&msg, SL_FILE_SYNC);
		put_opaque(&msg, "data", 4);
		cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_INVAL);
	}
	cr_assert_eq(do_write(&rig, file, INT64_MAX, SL_FILE_SYNC, "x", 1, &committed), SL_NFSERR_FBIG);
	cr_assert_eq(do_write(&rig, file, UINT64_MAX, SL_FILE_SYNC, "xy", 2, &committed), SL_NFSERR_FBIG);
	cr_assert_eq(do_read(&rig, file, UINT64_MAX, 2, "", 0, true), SL_NFSERR_INVAL);
	cr_assert_eq(do_read(&rig, rig.root, 0, 2, "", 0, true), SL_NFSERR_ISDIR);
	cr_assert_eq(do_write(&rig, rig.root, 0, SL_FILE_SYNC, "x", 1, &committed), SL_NFSERR_ISDIR);
	cr_assert_eq(do_getattr(&rig, file).size, 0);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->writes, 0);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->procs[SL_NFS_WRITE].latency.count, 0);
	rig_fini(&rig);
}

/* maxfilesize of FSINFO is 2^63 - 1. */
Test(nfs3_file, a_file_ends_at_the_largest_offset_and_not_a_byte_later)
{
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES];
	uint32_t committed;

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	cr_assert_eq(do_write(&rig, file, INT64_MAX - 1, SL_FILE_SYNC, "xy", 2, &committed), SL_NFSERR_FBIG);
	cr_assert_eq(do_write(&rig, file, INT64_MAX - 1, SL_FILE_SYNC, "x", 1, &committed), 0);
	cr_assert_eq(do_getattr(&rig, file).size, INT64_MAX);
	cr_assert_eq(do_read(&rig, file, INT64_MAX - 1, 1, "x", 1, true), 0);
	cr_assert_eq(do_read(&rig, file, INT64_MAX - 1, 2, "", 0, true), SL_NFSERR_INVAL);
	cr_assert_eq(do_read(&rig, file, INT64_MAX, 0, "", 0, true), 0);
	rig_fini(&rig);
}

Test(nfs3_file, a_full_store_says_so)
{
	static uint8_t block[1u << 20];
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES];
	uint32_t committed, status = 0;
	uint64_t offset = 0;

	memset(block, 1, sizeof(block));
	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	for (; status == 0 && offset < 80u << 20; offset += sizeof(block)) {
		status = do_write(&rig, file, offset, SL_FILE_SYNC, block, sizeof(block), &committed);
	}
	cr_assert_eq(status, SL_NFSERR_NOSPC);
	cr_assert_eq(do_getattr(&rig, file).size, offset - sizeof(block));
	rig_fini(&rig);
}

Test(nfs3_file, the_store_is_asked_what_the_call_means)
{
	static const uint8_t zeros[4096];
	uint8_t almost[4096] = {0}, file[SL_HANDLE_BYTES];
	struct rig rig;
	struct msg msg;
	uint32_t committed;

	almost[4095] = 1;
	rig_init(&rig, no_delay);
	do_create(&rig, rig.root, "f", file);
	cr_assert_eq(rig.slow.last.op, SL_STORE_META);
	cr_assert_eq(do_write(&rig, file, 8192, SL_FILE_SYNC, almost, 4096, &committed), 0);
	cr_assert_eq(rig.slow.last.op, SL_STORE_WRITE);
	cr_assert_eq(rig.slow.last.stable, SL_FILE_SYNC);
	cr_assert_eq(rig.slow.last.bytes, 4096);
	cr_assert_eq(rig.slow.last.offset_bytes, 8192);
	cr_assert_eq(rig.slow.last.zero, false);
	cr_assert_eq(rig.slow.last.file, do_getattr(&rig, file).fileid);
	cr_assert_eq(rig.slow.last.op, SL_STORE_GETATTR);
	cr_assert_eq(do_write(&rig, file, 0, SL_UNSTABLE, zeros, 4096, &committed), 0);
	cr_assert_eq(rig.slow.last.zero, true);
	cr_assert_eq(rig.slow.last.stable, SL_UNSTABLE);
	cr_assert_eq(do_read(&rig, file, 0, 512, zeros, 512, false), 0);
	cr_assert_eq(rig.slow.last.op, SL_STORE_READ);
	cr_assert_eq(rig.slow.last.bytes, 512);
	nfs_begin(&rig, &msg, SL_NFS_COMMIT, file);
	put_u64(&msg, 0);
	put_u32(&msg, 0);
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	cr_assert_eq(rig.slow.last.op, SL_STORE_COMMIT);
	/* Nothing to read or write, or a failure: no disk is involved. */
	cr_assert_eq(do_write(&rig, file, 0, SL_FILE_SYNC, "", 0, &committed), 0);
	cr_assert_eq(rig.slow.last.op, SL_STORE_GETATTR);
	cr_assert_eq(do_write(&rig, rig.root, 0, SL_FILE_SYNC, "x", 1, &committed), SL_NFSERR_ISDIR);
	cr_assert_eq(rig.slow.last.op, SL_STORE_GETATTR);
	rig_fini(&rig);
}

Test(nfs3_file, what_the_store_gave_is_told)
{
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES];
	uint32_t committed;

	rig_init(&rig, no_delay);
	do_create(&rig, rig.root, "f", file);
	rig.slow.promote = true;
	cr_assert_eq(do_write(&rig, file, 0, SL_UNSTABLE, "x", 1, &committed), 0);
	cr_assert_eq(committed, SL_FILE_SYNC);
	rig_fini(&rig);
}

Test(nfs3_file, latency_counts_from_arrival)
{
	struct rig rig;
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];
	const struct sl_hist *hist;

	rig_init(&rig, ten_us);
	do_create(&rig, rig.root, "f", file);
	cr_assert_eq(sl_loop_run_until(rig.loop, 1000 * US, NULL), 0);
	nfs_begin(&rig, &msg, SL_NFS_WRITE, file);
	put_write(&msg, 0, SL_FILE_SYNC, "x", 1);
	call_end(&msg);
	/* 5 us of lateness credit: arrived earlier than now. */
	cr_assert_eq(sl_nfs3_conn_input(rig.conn, 995 * US, sl_buf_head(&msg.buf), sl_buf_size(&msg.buf)), 0);
	sl_buf_fini(&msg.buf);
	rig_run(&rig);
	hist = &sl_nfs3_stats(rig.srv)->procs[SL_NFS_WRITE].latency;
	cr_assert_eq(hist->count, 1);
	cr_assert_eq(hist->max, 15 * US);
	/* An arrival after now is one at now. */
	nfs_begin(&rig, &msg, SL_NFS_COMMIT, file);
	put_u64(&msg, 0);
	put_u32(&msg, 0);
	call_end(&msg);
	cr_assert_eq(sl_nfs3_conn_input(rig.conn, SL_NEVER, sl_buf_head(&msg.buf), sl_buf_size(&msg.buf)), 0);
	sl_buf_fini(&msg.buf);
	rig_run(&rig);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->procs[SL_NFS_COMMIT].latency.max, 10 * US);
	rig_fini(&rig);
}

Test(nfs3_file, setattr)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	struct seen_attr attr;
	uint8_t file[SL_HANDLE_BYTES];
	uint32_t mode = 0604;
	uint64_t size = 12345, huge = UINT64_MAX;

	rig_init(&rig, NULL);
	rig.tree->wall_ns = wall_at_500s;
	do_create(&rig, rig.root, "f", file);
	nfs_begin(&rig, &msg, SL_NFS_SETATTR, file);
	put_sattr(&msg, &mode, &size);
	put_u32(&msg, 0);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	attr = get_wcc(&in);
	get_end(&in);
	cr_assert_eq(attr.mode, 0604);
	cr_assert_eq(attr.size, 12345);
	/* uid, gid, times: the client's, the server's */
	nfs_begin(&rig, &msg, SL_NFS_SETATTR, file);
	put_u64(&msg, 1); /* no mode; uid 7 */
	put_u32(&msg, 7);
	put_u64(&msg, (uint64_t)1 << 32 | 8); /* gid 8 */
	put_u32(&msg, 0);                     /* no size */
	put_u32(&msg, 2);
	put_u32(&msg, 99);
	put_u32(&msg, 5);
	put_u32(&msg, 1);
	put_u32(&msg, 1); /* guard: ctime is 500.000000001 s */
	put_u32(&msg, 500);
	put_u32(&msg, 1);
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	attr = do_getattr(&rig, file);
	cr_assert_eq(attr.uid, 7);
	cr_assert_eq(attr.gid, 8);
	cr_assert_eq(attr.mode, 0604);
	cr_assert_eq(attr.size, 12345);
	cr_assert_eq(attr.atime_ns, 99000000005);
	cr_assert_eq(attr.mtime_ns, 500000000001);
	/* a guard that does not hold */
	nfs_begin(&rig, &msg, SL_NFS_SETATTR, file);
	put_sattr(&msg, &mode, NULL);
	put_u32(&msg, 1);
	put_u64(&msg, 0);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_NOT_SYNC);
	nfs_begin(&rig, &msg, SL_NFS_SETATTR, file);
	put_sattr(&msg, NULL, &huge);
	put_u32(&msg, 0);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_FBIG);
	nfs_begin(&rig, &msg, SL_NFS_SETATTR, rig.root);
	put_sattr(&msg, NULL, &size);
	put_u32(&msg, 0);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_ISDIR);
	rig_fini(&rig);
}

Test(nfs3_file, access_and_getattr)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	cr_assert_eq(do_getattr(&rig, rig.root).type, SL_FT_DIR);
	cr_assert_eq(do_getattr(&rig, file).type, SL_FT_REG);
	nfs_begin(&rig, &msg, SL_NFS_ACCESS, file);
	put_u32(&msg, UINT32_MAX);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	cr_assert(get_post_attr(&in).present);
	cr_assert_eq(sl_xdr_u32(&in), 1 | 4 | 8); /* root executes only what somebody may */
	get_end(&in);
	nfs_begin(&rig, &msg, SL_NFS_ACCESS, rig.root);
	put_u32(&msg, 2 | 16 | 32);
	cr_assert_eq(rig_status(&rig, &msg, &in), 0);
	(void)get_post_attr(&in);
	cr_assert_eq(sl_xdr_u32(&in), 2 | 16);
	rig_fini(&rig);
}

Test(nfs3_file, handles_are_checked)
{
	static const uint32_t procs[] = {SL_NFS_GETATTR, SL_NFS_ACCESS, SL_NFS_READ,   SL_NFS_COMMIT,
					 SL_NFS_FSSTAT,  SL_NFS_FSINFO, SL_NFS_LOOKUP, SL_NFS_READDIR,
					 SL_NFS_REMOVE,  SL_NFS_WRITE};
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES], old[SL_HANDLE_BYTES], forged[SL_HANDLE_BYTES], other[SL_HANDLE_BYTES];
	struct msg msg;

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	memcpy(forged, file, sizeof(forged));
	forged[0]++; /* the next inode */
	sl_handle_make(rig.config.handle_key, do_getattr(&rig, file).fileid, 2, other);
	nfs_begin(&rig, &msg, SL_NFS_REMOVE, rig.root);
	put_name(&msg, "f");
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	memcpy(old, file, sizeof(old));
	do_create(&rig, rig.root, "f", file);
	for (size_t i = 0; i < sizeof(procs) / sizeof(procs[0]); i++) {
		const uint8_t *handles[] = {forged, old, other};

		for (size_t h = 0; h < 3; h++) {
			nfs_begin(&rig, &msg, procs[i], handles[h]);
			put_u32(&msg, 1); /* arguments that mean something to each of them */
			put_u32(&msg, 0x61000000);
			for (int word = 0; word < 4; word++) {
				put_u32(&msg, 0);
			}
			cr_assert_eq(rig_status(&rig, &msg, NULL),
				     h == 0 ? SL_NFSERR_BADHANDLE : SL_NFSERR_STALE,
				     "procedure %u handle %zu", procs[i], h);
		}
	}
	/* Persistent: good after a restart with the same key, foreign with another. */
	rig_restart(&rig);
	cr_assert_eq(do_getattr(&rig, file).type, SL_FT_REG);
	rig.config.handle_key[3] ^= 1;
	rig_restart(&rig);
	nfs_begin(&rig, &msg, SL_NFS_GETATTR, file);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_BADHANDLE);
	rig_fini(&rig);
}

Test(nfs3_file, a_file_removed_while_calls_are_in_service)
{
	static const uint32_t procs[] = {SL_NFS_GETATTR, SL_NFS_READ, SL_NFS_ACCESS};
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES];
	struct msg msg;
	uint32_t xids[3];

	rig_init(&rig, ten_us);
	do_create(&rig, rig.root, "f", file);
	for (size_t i = 0; i < 3; i++) {
		nfs_begin(&rig, &msg, procs[i], file);
		put_u64(&msg, 0);
		put_u32(&msg, 100);
		xids[i] = msg.xid;
		rig_send(&rig, &msg);
	}
	nfs_begin(&rig, &msg, SL_NFS_REMOVE, rig.root);
	put_name(&msg, "f");
	rig_send(&rig, &msg);
	sl_buf_consume(&rig.got, SIZE_MAX);
	rig_run(&rig);
	for (size_t i = 0; i < 3; i++) {
		struct sl_xdr_in in;

		cr_assert(rig_find(&rig, xids[i], &in));
		in.at += 24;
		cr_assert_eq(sl_xdr_u32(&in), procs[i] == SL_NFS_ACCESS ? 0 : SL_NFSERR_STALE);
	}
	rig_fini(&rig);
}
