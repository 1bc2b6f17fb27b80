/*
 * The store seam, timed half: when is a file operation done, and when is it stable. Behind an NFS server.
 * Names and bytes are the other half: tree.h. The pool model (sim/zfs) implements this one.
 */
#ifndef SL_STORE_STORE_H
#define SL_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/loop.h"

/* RFC 1813 stable_how, same values. */
enum sl_stable {
	SL_UNSTABLE = 0,
	SL_DATA_SYNC = 1,
	SL_FILE_SYNC = 2
};

enum sl_store_op {
	SL_STORE_READ,
	SL_STORE_WRITE,
	SL_STORE_COMMIT,  /* all unstable data of `file` */
	SL_STORE_GETATTR, /* LOOKUP, GETATTR, READDIR, FSSTAT ...: answered from memory */
	SL_STORE_META     /* CREATE, REMOVE, SETATTR, MKDIR ...: stable before the reply */
};

/* Owned by the caller, embedded; must live until `done` fires. */
struct sl_store_req {
	struct sl_timer done;
	enum sl_store_op op;
	enum sl_stable stable; /* WRITE: asked for; at completion: given, never less */
	bool zero;             /* WRITE: the data is all zero bytes (a hole under compression) */
	bool hot;              /* of a region that is used all the time: what is stored of it is in memory */
	uint32_t bytes;
	uint64_t file;
	int64_t offset_bytes;
	uint64_t tag;              /* operation number for the trace */
	uint32_t write;            /* WRITE: number in the ledger (ledger.h); 0 = not followed */
	struct sl_store_req *next; /* private to the store that holds the request: queues */
	int64_t queued_ns;         /* private to it: since when */
};

struct sl_store;

struct sl_store_ops {
	/* Takes `req`; fires req->done at a time >= now_ns, never from inside submit. */
	void (*submit)(struct sl_store *store, int64_t now_ns, struct sl_store_req *req);
	void (*free)(struct sl_store *store);
};

struct sl_store {
	const struct sl_store_ops *ops;
	/* Called when all writes submitted before `as_of_ns` are on stable storage (a txg was synced); may be
	 * NULL. */
	void (*on_synced)(void *arg, int64_t as_of_ns);
	void *on_synced_arg;
};

static inline void sl_store_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	store->ops->submit(store, now_ns, req);
}

/* Accepts NULL. */
static inline void sl_store_free(struct sl_store *store)
{
	if (store) {
		store->ops->free(store);
	}
}

/* A store that completes everything at the present instant: the control of every experiment. NULL: no memory.
 */
struct sl_store *sl_store_new_null(struct sl_loop *loop);

#endif
