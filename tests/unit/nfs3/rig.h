/* A server over a tree in memory, in virtual time, and a client that speaks bytes. */
#ifndef SL_TESTS_UNIT_NFS3_RIG_H
#define SL_TESTS_UNIT_NFS3_RIG_H

#include "sim/nfs3/attr.h"
#include "sim/nfs3/buf.h"
#include "sim/nfs3/drc.h"
#include "sim/nfs3/handle.h"
#include "sim/nfs3/nfs3.h"
#include "sim/nfs3/numbers.h"
#include "sim/nfs3/xdr.h"

#define US INT64_C(1000)

/* A store with a delay of our choice that remembers what it was asked. */
struct slow_store {
	struct sl_store base;
	struct sl_loop *loop;
	int64_t (*delay_ns)(const struct slow_store *self, const struct sl_store_req *req);
	bool promote; /* gives FILE_SYNC whatever was asked */
	struct sl_store_req last;
	uint64_t submitted;
};

struct rig {
	struct sl_loop *loop;
	struct sl_tree *tree;
	struct sl_store *null;
	struct slow_store slow;
	struct sl_nfs3_config config;
	struct sl_nfs3 *srv;
	struct sl_nfs3_conn *conn;
	struct sl_buf got;   /* all replies so far */
	unsigned outputs;    /* calls of output() */
	bool hold_output;    /* the socket is full */
	bool free_in_output; /* output() frees the connection */
	uint8_t root[SL_HANDLE_BYTES];
	uint32_t next_xid;
	uint32_t uid, gid, group; /* who calls; group 0: no further one */
	bool no_credentials;      /* AUTH_NONE instead */
};

/* A call under construction. */
struct msg {
	struct sl_buf buf;
	uint32_t xid;
};

/* delay_ns NULL: the null store. Everything asserted. */
void rig_init(struct rig *rig, int64_t (*delay_ns)(const struct slow_store *, const struct sl_store_req *));
void rig_fini(struct rig *rig);
/* A second server with another configuration in place of the first. */
void rig_restart(struct rig *rig);
/* A new connection to the same server in place of the first. */
void rig_reconnect(struct rig *rig);

void put_u32(struct msg *msg, uint32_t value);
void put_u64(struct msg *msg, uint64_t value);
void put_opaque(struct msg *msg, const void *bytes, uint32_t size);
void put_name(struct msg *msg, const char *name);
/* sattr3 that sets nothing but what is asked for */
void put_sattr(struct msg *msg, const uint32_t *mode, const uint64_t *size);

/* Header with the credentials of the rig, record mark included. */
void call_begin(struct rig *rig, struct msg *msg, uint32_t program, uint32_t version, uint32_t procedure);
/* The same for an NFS procedure whose first argument is a handle. */
void nfs_begin(struct rig *rig, struct msg *msg, uint32_t procedure, const uint8_t *handle);
/* Sets the record mark. */
void call_end(struct msg *msg);

/* Ends the message and feeds it at once, frees it; asserts that the input is taken. */
void rig_send(struct rig *rig, struct msg *msg);
/* Runs the loop until nothing is pending. */
void rig_run(struct rig *rig);
/* Finds the record with this xid among the replies; its body from the xid on. */
bool rig_find(struct rig *rig, uint32_t xid, struct sl_xdr_in *ret);
unsigned rig_replies(const struct rig *rig);
/* Sends, runs, and returns the results of an accepted, successful reply; earlier replies are forgotten. */
struct sl_xdr_in rig_call(struct rig *rig, struct msg *msg);
/* The same; returns the status (first word) and leaves the rest in *ret, which may be NULL. */
uint32_t rig_status(struct rig *rig, struct msg *msg, struct sl_xdr_in *ret);
/* MOUNT's answer for `path`; the handle where it is 0, and AUTH_SYS is offered then. */
uint32_t rig_mount(struct rig *rig, const char *path, uint8_t ret[SL_HANDLE_BYTES]);

/* The attributes a reply carries. */
struct seen_attr {
	bool present;
	uint32_t type, mode, nlink, uid, gid;
	uint64_t size, used, fileid;
	int64_t atime_ns, mtime_ns, ctime_ns;
};
struct seen_attr get_fattr(struct sl_xdr_in *in);
struct seen_attr get_post_attr(struct sl_xdr_in *in);
/* wcc_data: the attributes after; those before are there too, or neither. */
struct seen_before {
	bool present;
	uint64_t size;
	int64_t mtime_ns, ctime_ns;
};
struct seen_attr get_wcc_both(struct sl_xdr_in *in, struct seen_before *ret);
struct seen_attr get_wcc(struct sl_xdr_in *in);
void get_handle(struct sl_xdr_in *in, uint8_t ret[SL_HANDLE_BYTES]);
/* Nothing may be left. */
void get_end(const struct sl_xdr_in *in);

/* Whole operations on files, success asserted. */
void do_create(struct rig *rig, const uint8_t *dir, const char *name, uint8_t ret[SL_HANDLE_BYTES]);
void do_mkdir(struct rig *rig, const uint8_t *dir, const char *name, uint8_t ret[SL_HANDLE_BYTES]);
void put_write(struct msg *msg, uint64_t offset, enum sl_stable stable, const void *data, uint32_t size);
struct seen_attr do_getattr(struct rig *rig, const uint8_t *handle);

#endif
