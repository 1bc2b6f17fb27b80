/*
 * The hypervisor's virtual disk and NFS client. ESXi sends every write FILE_SYNC, so a guest's flush has
 * nothing left to do and its virtual disk offers none. QEMU's driver (libnfs) sends UNSTABLE writes and a
 * COMMIT per guest flush; with cache=writethrough also one after each write; with cache=unsafe it answers
 * flushes and sends none (BDRV_O_NO_FLUSH). The kernel of Linux sends a write of QEMU's cache=none (O_DIRECT)
 * FILE_SYNC when one WRITE takes it, and has nothing left to flush then.
 */
#ifndef SL_HYP_HYP_H
#define SL_HYP_HYP_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/loop.h"
#include "sim/base/slab.h"
#include "sim/base/trace.h"
#include "sim/scenario/box.h"
#include "sim/store/ledger.h"
#include "sim/store/store.h"
#include "sim/wire/wire.h"

/* Largest READ or WRITE of the clients; larger requests of the guest are split by its block layer. */
#define SL_HYP_MAX_IO 65536

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

struct hyp_call; /* private */

struct sl_hyp {
	struct sl_loop *loop;     /* borrowed */
	struct sl_store *server;  /* borrowed: the NFS server */
	struct sl_wire *wire;     /* borrowed */
	struct sl_trace *trace;   /* borrowed, may be NULL */
	struct sl_ledger *ledger; /* borrowed, may be NULL: who sent what when; set it after sl_hyp_init */
	int client, disk_cache;
	int64_t half_delay_ns;
	int64_t queue, in_service;       /* of the virtual disk; queue 0 = no limit */
	struct hyp_call *waiting, **end; /* requests beyond it, in order */
	uint64_t written, flushed; /* generations: writes done, and how many of them a flush has covered */
	bool flushing;
	struct hyp_call *flushes, **flushes_end; /* wait for the one under way */
	struct sl_slab calls;
	uint64_t n_calls;
};

void sl_hyp_init(struct sl_hyp *hyp, const struct sl_box *box, struct sl_loop *loop, struct sl_wire *wire,
		 struct sl_store *server, struct sl_trace *trace);
void sl_hyp_fini(struct sl_hyp *hyp);

/* Does the guest see a write cache, i.e. does it send flushes? */
bool sl_hyp_has_flush(const struct sl_hyp *hyp);

void sl_hyp_submit(struct sl_hyp *hyp, int64_t now_ns, struct sl_hyp_req *req);

/* One NFS call of a program that speaks NFS itself (libnfs in a guest), over the same path: `outer` is filled
 * by the caller (op, stable, file, range), its done fires when the reply is back; `write` is set here. */
void sl_hyp_call(struct sl_hyp *hyp, int64_t now_ns, struct sl_store_req *outer);

#endif
