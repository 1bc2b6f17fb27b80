/*
 * NFSv3, MOUNT v3 and PORTMAP v2 over record-marked RPC (RFC 1813, RFC 1833, RFC 5531): bytes in, bytes out,
 * in virtual or wall time; no sockets. Bytes come from anybody: every decode is bounds-checked and limited.
 * One sl_nfs3 serves all connections; calls are decoded, done on the tree (names and bytes) and answered when
 * the store (time) says so. Replies may leave out of order.
 */
#ifndef SL_NFS3_NFS3_H
#define SL_NFS3_NFS3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/hist.h"
#include "sim/base/loop.h"
#include "sim/store/store.h"
#include "sim/store/tree.h"

#define SL_NFS3_MAX_IO (1u << 20) /* rtmax, wtmax */
#define SL_NFS3_MAX_RECORD (SL_NFS3_MAX_IO + 4096u)

/* Whose rights the clients' claims are turned into nobody's. */
enum sl_nfs3_squash {
	SL_NFS3_SQUASH_NONE, /* no_root_squash: what hypervisors need */
	SL_NFS3_SQUASH_ROOT,
	SL_NFS3_SQUASH_ALL
};

struct sl_nfs3_config {
	struct sl_loop *loop;          /* borrowed */
	struct sl_tree *tree;          /* borrowed */
	struct sl_store *store;        /* borrowed */
	const char *export_path;       /* e.g. "/tank/vm"; copied */
	uint16_t nfs_port, mount_port; /* what PORTMAP answers; both may be one port */
	uint16_t portmap_port;         /* its own, TCP and UDP; 0: it is not among what it answers */
	uint64_t write_verifier;       /* changes at each start */
	uint8_t handle_key[16];        /* keyed hash of file handles; persists across restarts */
	uint32_t max_in_flight;        /* calls per connection before input is left unread; 0 = 256 */
	enum sl_nfs3_squash squash;
	uint32_t anon_uid, anon_gid; /* who squashed clients and those without credentials are; 0 = 65534 */
	bool read_only;              /* what would change anything is answered ROFS */
	/* sync=disabled: what is acknowledged as stable is as volatile as the rest until the store syncs. */
	bool sync_disabled;
};

/* One procedure of NFS: answers, and how many of them were errors; bytes read or written; latency of the
 * others in ns as modelled (arrival to completion). */
struct sl_nfs3_proc_stats {
	uint64_t calls, errors, bytes;
	struct sl_hist latency;
};

#define SL_NFS3_PROCS 22 /* NULL .. COMMIT, by their numbers */

/* writes, reads and commits count successes; garbage counts records or arguments that make no sense, refused
 * the calls of unknown programs, versions, procedures or credentials; duplicates were asked for again and not
 * done again. */
struct sl_nfs3_stats {
	uint64_t calls, writes, reads, commits, garbage, refused, duplicates;
	struct sl_nfs3_proc_stats procs[SL_NFS3_PROCS];
};

struct sl_nfs3;
struct sl_nfs3_conn;

/* -EINVAL (export path not absolute, or too long) or -ENOMEM. */
int sl_nfs3_new(const struct sl_nfs3_config *config, struct sl_nfs3 **ret, struct sl_err *err);
/* All connections must be freed before. Calls still in service keep the server's memory until the store has
 * fired them; run the loop until sl_nfs3_in_service() is 0 first, or go on running it. Accepts NULL. */
void sl_nfs3_free(struct sl_nfs3 *srv);
/* Calls the store has not completed yet, those of freed connections included. */
uint32_t sl_nfs3_in_service(const struct sl_nfs3 *srv);
const struct sl_nfs3_stats *sl_nfs3_stats(const struct sl_nfs3 *srv);
/* "WRITE" and so on, by number below SL_NFS3_PROCS. */
const char *sl_nfs3_proc_name(int procedure);

#define SL_NFS3_DATAGRAM_MAX 256u /* bytes of a reply */
/*
 * A call in a datagram: the portmapper's NULL, GETPORT and DUMP. Returns the size of the reply; 0: none, it
 * was no call. Only DUMP's reply can be larger than what was asked.
 */
size_t sl_nfs3_datagram(struct sl_nfs3 *srv, const void *bytes, size_t size,
			uint8_t reply[SL_NFS3_DATAGRAM_MAX]);

/* `output` is called by the loop (never from inside a function of this header) when replies are ready to be
 * taken, once per instant; it may free the connection. NULL when out of memory. */
struct sl_nfs3_conn *sl_nfs3_conn_new(struct sl_nfs3 *srv, void (*output)(void *arg), void *arg);
/* Whose connection it is: an address without a port, the same after a reconnect. Copied. Without it all
 * clients are taken for one. */
void sl_nfs3_conn_client(struct sl_nfs3_conn *conn, const char *address);
/* Calls in service finish without an answer. Accepts NULL. */
void sl_nfs3_conn_free(struct sl_nfs3_conn *conn);

/*
 * Takes any number of bytes. `arrival_ns` is when the calls count as arrived (<= loop now: lateness credit).
 * 0, or -EPROTO when the stream cannot be continued (the caller closes the connection), or -ENOMEM.
 */
int sl_nfs3_conn_input(struct sl_nfs3_conn *conn, int64_t arrival_ns, const void *bytes, size_t size);

/* What sl_nfs3_conn_input would return: not 0 when a call in service or left-over input ended the stream.
 * `output` is called then too. */
int sl_nfs3_conn_error(const struct sl_nfs3_conn *conn);

/* Whole calls taken so far, and whether bytes of an unfinished one are waiting: what tells a slow client from
 * one that only holds the line. */
uint64_t sl_nfs3_conn_calls(const struct sl_nfs3_conn *conn);
bool sl_nfs3_conn_partial(const struct sl_nfs3_conn *conn);
/* Gives back the memory of buffers that are empty. */
void sl_nfs3_conn_trim(struct sl_nfs3_conn *conn);

/* true while the connection has too many calls in service or too much output: leave its socket unread.
 * Input given nevertheless is kept (up to 16 MiB) and decoded later. */
bool sl_nfs3_conn_busy(const struct sl_nfs3_conn *conn);

/* Replies ready to be sent: *ret points at the returned number of bytes, valid until the next call on conn.
 * Consume what was sent. */
size_t sl_nfs3_conn_output(struct sl_nfs3_conn *conn, const uint8_t **ret);
void sl_nfs3_conn_consume(struct sl_nfs3_conn *conn, size_t size);

#endif
