/* Inside of sim/nfs3: server, connection, call, and the tables of procedures. */
#ifndef SL_NFS3_SERVER_H
#define SL_NFS3_SERVER_H

#include "sim/nfs3/buf.h"
#include "sim/nfs3/drc.h"
#include "sim/nfs3/mounts.h"
#include "sim/nfs3/nfs3.h"
#include "sim/nfs3/rpc.h"
#include "sim/nfs3/xdr.h"

struct sl_nfs3_call;

/*
 * One procedure. `start` decodes the arguments and does what is to be done on the tree; it returns false when
 * they are garbage (then nothing was done). Arguments are borrowed from the input and must not be kept.
 * `encode` writes the results when the call is done, with the attributes of that moment, into at most
 * SL_CALL_RESULT_MAX + call->bulk_bytes bytes.
 */
struct sl_nfs3_proc {
	bool (*start)(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_in *in);
	void (*encode)(struct sl_nfs3 *srv, struct sl_nfs3_call *call, struct sl_xdr_out *out);
	bool timed;          /* goes through the store; else it is answered at once */
	bool changes;        /* its reply has wcc_data */
	bool once;           /* must not be done twice: its answer is kept for a client that asks again */
	enum sl_store_op op; /* what it is to the store when it succeeds; failures count as GETATTR */
};

struct sl_nfs3_program {
	uint32_t number, version, proc_count;
	const struct sl_nfs3_proc *const *procs; /* by number; NULL is answered PROC_UNAVAIL */
};

extern const struct sl_nfs3_program sl_nfs_v3, sl_mount_v3, sl_portmap_v2;

/* Largest result of a procedure without its bulk (data, entries). */
#define SL_CALL_RESULT_MAX 512u

/* What a call is about, as the client is to see it: NFSv3's wcc_data. */
struct sl_nfs3_object {
	uint64_t ino; /* 0 when the handle was bad */
	/* Before the call did anything to it. */
	uint64_t size_bytes;
	int64_t mtime_ns, ctime_ns;
	/* Right after, with nothing in between: of procedures that change things only. */
	bool seen;
	struct sl_attr after;
};

/* A call between its decoding and its reply. Comes from the server's free list. */
struct sl_nfs3_call {
	struct sl_store_req req;
	struct sl_nfs3 *srv;
	struct sl_nfs3_conn *conn;        /* NULL when the connection is gone */
	struct sl_nfs3_call *prev, *next; /* of the connection; `next` alone on the free list */
	const struct sl_nfs3_proc *proc;
	struct sl_nfs3_proc_stats *stats; /* NULL: not a procedure of NFS */
	int64_t arrival_ns, done_ns;
	const struct sl_cred *cred; /* valid in `start` only */
	uint32_t xid;
	uint32_t kept;                    /* slot of the duplicate-request cache, 0 = none */
	uint32_t status;                  /* nfsstat3 or mountstat3; 0 where there is none */
	uint64_t child;                   /* what the name was or became; LINK: the file */
	uint32_t bulk_bytes;              /* promised room for data or entries in the reply */
	uint32_t count;                   /* READ, WRITE, READDIR(PLUS); GETPORT: the port */
	uint32_t dir_bytes;               /* READDIRPLUS: dircount */
	uint32_t access;                  /* ACCESS */
	enum sl_stable asked;             /* WRITE */
	uint64_t offset;                  /* READ; READDIR(PLUS): cookie */
	struct sl_nfs3_object object, to; /* object, or directory of a name; RENAME: the new directory */
};

struct sl_nfs3_conn {
	struct sl_nfs3 *srv;
	void (*output)(void *arg);
	void *output_arg;
	struct sl_timer
	    notify;           /* calls output() once per instant, and never from inside the caller's calls */
	struct sl_buf in;     /* what could not be decoded yet */
	struct sl_buf record; /* fragments of an unfinished record */
	struct sl_buf out;
	struct sl_nfs3_call *calls; /* in service */
	int64_t arrival_ns;
	size_t need;       /* bytes from the head of `in` that make progress possible */
	uint64_t promised; /* bulk bytes of the calls in service */
	uint64_t taken;    /* calls */
	uint64_t client;   /* hash of the address */
	char address[SL_MOUNTS_ADDRESS_MAX + 1];
	uint32_t in_flight;
	int failed; /* negative errno: the stream cannot be continued */
};

struct sl_nfs3 {
	struct sl_nfs3_config config;
	char *export_path;     /* owned; "/" or without a trailing slash */
	struct sl_tree *above; /* owned; in config.tree's place: that tree and the directories above it */
	struct sl_nfs3_stats stats;
	struct sl_nfs3_call *free_calls;
	struct sl_drc *drc;
	struct sl_mounts mounts;
	struct sl_timer settle; /* of a tree that settles: once for all calls of an instant */
	uint64_t next_tag;
	uint32_t in_service, connections;
	bool closing; /* freed by its owner, kept for the calls in service */
};

/* A zeroed call (keeps nothing of its former life), NULL when out of memory. */
struct sl_nfs3_call *sl_nfs3_call_get(struct sl_nfs3 *srv);
/* Back to the free list. The last call of a closing server frees the server too. */
void sl_nfs3_call_put(struct sl_nfs3 *srv, struct sl_nfs3_call *call);

#endif
