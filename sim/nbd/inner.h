/* Private to the room: exports, connections and requests. */
#ifndef SL_NBD_INNER_H
#define SL_NBD_INNER_H

#include "sim/base/slab.h"
#include "sim/nbd/nbd.h"
#include "sim/nbd/numbers.h"

#define SL_NBD_HEAD_BYTES 32 /* the longest head of a reply is 28 */
#define SL_NBD_REQUEST_BYTES 28

struct sl_nbd_export {
	struct sl_nbd_export_config config; /* its texts are those below */
	char *name, *description;           /* owned */
	struct sl_nbd_stats stats;
	struct sl_nbd_req *first, *last; /* in service, in order of arrival */
	int number;
	bool failed;
};

/* From a request's first byte to its reply's last one. Option replies are of this kind too. */
struct sl_nbd_req {
	struct sl_dev_req dev;
	struct sl_nbd *nbd;
	struct sl_nbd_conn *conn;       /* NULL: the client has gone */
	struct sl_nbd_export *export;   /* NULL for option replies */
	struct sl_nbd_req *prev, *next; /* in service */
	struct sl_nbd_req *out_next;
	uint64_t cookie, mark;
	int64_t offset_bytes, bytes;
	int64_t arrived_ns;
	uint16_t command, flags;
	uint32_t refusal; /* of a WRITE whose data is still to come */
	uint8_t head[SL_NBD_HEAD_BYTES];
	uint32_t head_bytes;
	uint8_t *payload; /* owned: data of a WRITE, later what follows the head of a reply */
	uint32_t payload_bytes;
};

enum sl_nbd_phase {
	SL_NBD_CLIENT_FLAGS,
	SL_NBD_OPTION_HEAD,
	SL_NBD_OPTION_DATA,
	SL_NBD_REQUEST_HEAD,
	SL_NBD_REQUEST_DATA
};

struct sl_nbd {
	struct sl_loop *loop;
	struct sl_nbd_export **exports;
	int n_exports;
	struct sl_slab reqs;
};

struct sl_nbd_conn {
	struct sl_nbd *nbd;
	struct sl_nbd_owner owner;
	struct sl_nbd_export *export;          /* NULL while haggling */
	const struct sl_nbd_export *status_of; /* base:allocation was chosen for it */
	bool no_zeroes, structured, ended;
	int error;
	int64_t arrival_ns;
	/* The piece of input that is being collected. */
	enum sl_nbd_phase phase;
	size_t want, have;
	uint8_t small[SL_NBD_REQUEST_BYTES];
	uint8_t *into; /* where it goes; NULL: nowhere */
	uint32_t option;
	uint8_t *option_data;       /* owned */
	struct sl_nbd_req *writing; /* the WRITE whose data is awaited */
	/* Input that came while busy. */
	uint8_t *kept;
	size_t kept_at, kept_bytes;
	/* Replies, and how much of the first has been sent. */
	struct sl_nbd_req *out_first, **out_end;
	size_t out_sent;
	uint32_t held; /* requests and replies */
	int64_t held_bytes;
};

/* conn.c */
void sl_nbd_expect(struct sl_nbd_conn *conn, enum sl_nbd_phase phase, uint8_t *into, size_t want);
struct sl_nbd_req *sl_nbd_req_new(struct sl_nbd_conn *conn);
/* Gives a request memory for `bytes` of payload; false when there is none. */
bool sl_nbd_req_payload(struct sl_nbd_req *req, uint32_t bytes);
void sl_nbd_req_free(struct sl_nbd_req *req);
/* Puts a finished reply in the queue. */
void sl_nbd_reply(struct sl_nbd_conn *conn, struct sl_nbd_req *req);

/* option.c: a whole option is in conn->option and conn->option_data[0..bytes). 0 or -EPROTO / -ENOMEM. */
int sl_nbd_option(struct sl_nbd_conn *conn, uint32_t bytes);
int sl_nbd_option_refuse(struct sl_nbd_conn *conn, uint32_t code);

/* request.c: a whole head is in conn->small; the data of conn->writing is there. 0 or -EPROTO. */
int sl_nbd_request(struct sl_nbd_conn *conn);
void sl_nbd_request_data(struct sl_nbd_conn *conn);
void sl_nbd_req_unlink(struct sl_nbd_req *req);
/* What a request changes. */
struct sl_disk_change sl_nbd_req_change(const struct sl_nbd_req *req);
/* It will not be done: its fate goes back to the image. */
void sl_nbd_req_forget(struct sl_nbd_req *req);

/* server.c: NULL when there is none of that name. */
struct sl_nbd_export *sl_nbd_find(const struct sl_nbd *nbd, const uint8_t *name, size_t size);

#endif
