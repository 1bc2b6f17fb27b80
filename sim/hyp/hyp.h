/*
 * The hypervisor's virtual disk and its NFS client.
 *
 * A request of the guest is one request of the virtual disk (at most `queue` at once); the client cuts it at
 * rsize or wsize (transfer.h) and sends the parts at once: RPC slots are no limit (Linux's table grows up to
 * 65536, ESXi's NFS.MaxQueueDepth is 4294967295 by default). What a write asks for, and what a flush does:
 *
 * - esxi: FILE_SYNC. Nothing is left to flush, and the virtual disk offers no cache.
 * - libnfs, QEMU's driver nfs:// (block/nfs.c; libnfs cuts at the server's wtmax, lib/nfs_v3.c): UNSTABLE; a
 *   flush of the guest is a COMMIT. QEMU has one flush under way; those that come meanwhile wait, and find
 *   the work done or flush for all (block/io.c: write_gen, flushed_gen, active_flush_req).
 * - linux, a mount of the kernel, disk_cache none (O_DIRECT, fs/nfs/direct.c): a write that one WRITE takes
 *   is FILE_SYNC; of a larger one all parts are UNSTABLE, and a COMMIT whose verifier is compared comes
 *   before the write returns (FLUSH_COND_STABLE, fs/nfs/pagelist.c: pg_moreio or something to commit makes
 *   it UNSTABLE). A flush is fsync: nothing dirty, nothing unstable, no call.
 * - linux, disk_cache writethrough: QEMU writes into the host's page cache and has fdatasync follow, one at a
 *   time. What gathered meanwhile goes out together by the same rule: WB_SYNC_ALL is FLUSH_COND_STABLE
 *   (wb_priority in fs/nfs/write.c).
 *
 * With writethrough the guest sees no cache (virtio-blk's wce is 0) and sends no flush; QEMU flushes after
 * each write. With unsafe QEMU answers flushes and sends none (BDRV_O_NO_FLUSH). Not modelled: reads that the
 * host's page cache answers; and with linux and unsafe, the time that data stays in it before it goes out.
 */
#ifndef SL_HYP_HYP_H
#define SL_HYP_HYP_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/loop.h"
#include "sim/base/slab.h"
#include "sim/base/trace.h"
#include "sim/box/box.h"
#include "sim/store/ledger.h"
#include "sim/store/store.h"
#include "sim/wire/wire.h"

enum sl_hyp_op {
	SL_HYP_READ,
	SL_HYP_WRITE,
	SL_HYP_FLUSH
};

/* A guest's disk request. Owned by the caller, embedded; must live until `done` fires. */
struct sl_hyp_req {
	struct sl_timer done;
	enum sl_hyp_op op;
	bool zero; /* WRITE: all zero bytes; READ: of a range that only ever held zeros */
	bool hot;  /* of a small region that is used all the time: the server has it in memory */
	uint32_t bytes;
	int64_t offset_bytes;
	uint64_t tag;
	uint32_t group; /* WRITE: of the ledger; 0 = none */
};

struct hyp_io; /* private */

struct sl_hyp {
	struct sl_loop *loop;     /* borrowed */
	struct sl_store *server;  /* borrowed: the NFS server */
	struct sl_wire *wire;     /* borrowed */
	struct sl_trace *trace;   /* borrowed, may be NULL */
	struct sl_ledger *ledger; /* borrowed, may be NULL: who sent what when; set it after sl_hyp_init */
	int client, disk_cache;
	uint32_t max_io_bytes; /* a guest's request: its block layer splits larger ones */
	uint32_t rsize_bytes, wsize_bytes;
	int64_t half_delay_ns;
	int64_t queue, in_service;     /* of the virtual disk; queue 0 = no limit */
	struct hyp_io *waiting, **end; /* requests beyond it, in order */
	uint64_t written, flushed; /* generations: writes done, and how many of them a flush has covered */
	bool flushing;
	struct hyp_io *flushes, **flushes_end; /* wait for the one under way */
	struct hyp_io *dirty, **dirty_end;     /* writes in the host's page cache, before their fdatasync */
	struct sl_slab ios, calls;
	uint64_t n_calls;
};

void sl_hyp_init(struct sl_hyp *hyp, const struct sl_box *box, struct sl_loop *loop, struct sl_wire *wire,
		 struct sl_store *server, struct sl_trace *trace);
void sl_hyp_fini(struct sl_hyp *hyp);

/* Does the guest see a write cache, i.e. does it send flushes? */
bool sl_hyp_has_flush(const struct sl_hyp *hyp);

void sl_hyp_submit(struct sl_hyp *hyp, int64_t now_ns, struct sl_hyp_req *req);

/* A READ, WRITE or COMMIT of a program that sends as the client does, over the same path: `outer` is filled
 * by the caller (op, stable, file, range), cut as the client cuts, and its done fires when the last reply is
 * back. Its writes enter the ledger in `group`. */
void sl_hyp_call(struct sl_hyp *hyp, int64_t now_ns, struct sl_store_req *outer, uint32_t group);

#endif
