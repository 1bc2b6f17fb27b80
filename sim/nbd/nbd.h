/*
 * NBD, fixed newstyle, over disks: bytes in, bytes out, in virtual or wall time; no sockets. A request is
 * done on its disk's image and answered when the disk's model says it completes, so replies may leave out of
 * order. Bytes come from anybody: every length is checked and limited.
 */
#ifndef SL_NBD_NBD_H
#define SL_NBD_NBD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "sim/base/err.h"
#include "sim/base/loop.h"
#include "sim/device/device.h"
#include "sim/nbd/image.h"

#define SL_NBD_MAX_IO (32u << 20)     /* READ and WRITE */
#define SL_NBD_MAX_NAME 255           /* of an export */
#define SL_NBD_MAX_OPTION (64u << 10) /* data of an option; what is longer is refused */

struct sl_nbd_export_config {
	const char *name, *description; /* copied */
	int64_t size_bytes;
	bool rotational;
	struct sl_disk_image *image; /* borrowed: contents */
	struct sl_dev *dev;          /* borrowed: timing */
};

/* Of one export. `errors` counts requests answered with an error. */
struct sl_nbd_stats {
	uint64_t reads, writes, flushes, trims, zeroes, errors;
	int64_t bytes_read, bytes_written;
};

struct sl_nbd;
struct sl_nbd_conn;

/* `loop` (borrowed) is the one the disks complete on. NULL when out of memory. */
struct sl_nbd *sl_nbd_new(struct sl_loop *loop);
/* All connections must be freed, and no disk may fire a request any more. Accepts NULL. */
void sl_nbd_free(struct sl_nbd *nbd);

/* Adds an export; the first one is also the default ("" as name). *ret is its number.
 * Errors: -EINVAL (name, size), -EEXIST, -ENOMEM. */
int sl_nbd_export(struct sl_nbd *nbd, const struct sl_nbd_export_config *config, int *ret,
		  struct sl_err *err);
/* Whether an export answers every request with an I/O error. */
void sl_nbd_fail(struct sl_nbd *nbd, int number, bool failed);
const struct sl_nbd_stats *sl_nbd_stats(const struct sl_nbd *nbd, int number);

/* The power is cut: forgets the export's requests in service, in order of arrival; `lost` (may be NULL) is
 * told of those that write. The disk must not fire them any more. Free the connections next: they will not be
 * answered. */
void sl_nbd_cut(struct sl_nbd *nbd, int number,
		void (*lost)(void *arg, const struct sl_disk_change *change, const void *buf), void *arg);

/* Who owns a connection. */
struct sl_nbd_owner {
	/* There is output. May be called from inside sl_nbd_conn_input and _consume; must not call them. */
	void (*output)(void *arg);
	/* A request completed: `due_ns` as modelled, `ready_ns` the earliest time its reply could have left
	 * (later when credit moved due_ns before the arrival). May be NULL. */
	void (*completed)(void *arg, int64_t due_ns, int64_t ready_ns);
	void *arg;
};

/* Starts with output: the greeting (`output` is not called for it). NULL when out of memory. */
struct sl_nbd_conn *sl_nbd_conn_new(struct sl_nbd *nbd, const struct sl_nbd_owner *owner);
/* Requests in service are finished by the disk without an answer. Accepts NULL. */
void sl_nbd_conn_free(struct sl_nbd_conn *conn);

/* Takes any number of bytes. arrival_ns is when the requests count as arrived (<= loop now: lateness credit).
 * 0, or -EPROTO when the stream cannot be continued (close the connection), or -ENOMEM. */
int sl_nbd_conn_input(struct sl_nbd_conn *conn, int64_t arrival_ns, const void *bytes, size_t size);
/* What sl_nbd_conn_input would return now: input that was kept may have ended the stream since. */
int sl_nbd_conn_error(const struct sl_nbd_conn *conn);
/* Too many requests or bytes are held for this client: leave its socket unread. Input given nevertheless is
 * kept and decoded later. */
bool sl_nbd_conn_busy(const struct sl_nbd_conn *conn);
/* The client has said goodbye: read no more. */
bool sl_nbd_conn_ended(const struct sl_nbd_conn *conn);
/* Nothing is in service and nothing is left to be sent. */
bool sl_nbd_conn_idle(const struct sl_nbd_conn *conn);
/* The export that the client has chosen, -1 before. */
int sl_nbd_conn_export(const struct sl_nbd_conn *conn);

/* Output ready to be sent: fills up to `max` of iov and returns their number; valid until the next call on
 * conn. Consume what was sent. */
int sl_nbd_conn_output(const struct sl_nbd_conn *conn, struct iovec *iov, int max);
void sl_nbd_conn_consume(struct sl_nbd_conn *conn, size_t size);

#endif
