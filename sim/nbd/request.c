/*
 * Transmission: a request is checked when its head comes, given to the disk's model when its data is there,
 * and done on the disk's image when the model completes it: until then a power cut may tear it.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/nbd/bytes.h"
#include "sim/nbd/inner.h"

#define SECTOR 512
#define STATUS_EXTENTS_MAX 256
#define STATUS_ID 1u

/* Which flags a command may carry, and whether its offset and length mean a range. */
struct rule {
	uint32_t flags;
	bool known, ranged, limited;
};

static const struct rule rules[] = {
    [SL_NBD_CMD_READ] = {SL_NBD_FLAG_FUA | SL_NBD_FLAG_DF, true, true, true},
    [SL_NBD_CMD_WRITE] = {SL_NBD_FLAG_FUA, true, true, true},
    [SL_NBD_CMD_FLUSH] = {SL_NBD_FLAG_FUA, true, false, false},
    [SL_NBD_CMD_TRIM] = {SL_NBD_FLAG_FUA, true, true, false},
    [SL_NBD_CMD_WRITE_ZEROES] = {SL_NBD_FLAG_FUA | SL_NBD_FLAG_NO_HOLE, true, true, false},
    [SL_NBD_CMD_BLOCK_STATUS] = {SL_NBD_FLAG_FUA | SL_NBD_FLAG_REQ_ONE, true, true, false},
};

static uint32_t code_of(int rc)
{
	switch (rc) {
	case 0:
		return 0;
	case -ENOMEM:
		return SL_NBD_ENOMEM;
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		return SL_NBD_ENOSPC;
	case -EINVAL:
		return SL_NBD_EINVAL;
	default:
		return SL_NBD_EIO;
	}
}

/* Forgets data that was not asked for, or has been written. */
static void payload_drop(struct sl_nbd_req *req)
{
	if (req->payload) {
		req->conn->held_bytes -= req->payload_bytes;
		free(req->payload);
		req->payload = NULL;
		req->payload_bytes = 0;
	}
}

static void head_chunk(struct sl_nbd_req *req, uint32_t type, uint32_t bytes)
{
	uint8_t *at = sl_nbd_put32(req->head, SL_NBD_CHUNK_MAGIC);

	at = sl_nbd_put16(at, SL_NBD_CHUNK_DONE);
	at = sl_nbd_put16(at, type);
	at = sl_nbd_put64(at, req->cookie);
	at = sl_nbd_put32(at, bytes);
	req->head_bytes = (uint32_t)(at - req->head);
}

static void head_simple(struct sl_nbd_req *req, uint32_t code)
{
	uint8_t *at = sl_nbd_put32(req->head, SL_NBD_SIMPLE_MAGIC);

	at = sl_nbd_put32(at, code);
	at = sl_nbd_put64(at, req->cookie);
	req->head_bytes = (uint32_t)(at - req->head);
}

/* Commands that answer with data do so in chunks when these were agreed upon, errors too. */
static bool is_chunked(const struct sl_nbd_req *req)
{
	return req->conn->structured &&
	       (req->command == SL_NBD_CMD_READ || req->command == SL_NBD_CMD_BLOCK_STATUS);
}

static void reply_error(struct sl_nbd_req *req, uint32_t code)
{
	payload_drop(req);
	req->export->stats.errors++;
	if (is_chunked(req)) {
		head_chunk(req, SL_NBD_CHUNK_ERROR, 6);
		(void)sl_nbd_put16(sl_nbd_put32(req->head + req->head_bytes, code), 0);
		req->head_bytes += 6;
	} else {
		head_simple(req, code);
	}
	sl_nbd_reply(req->conn, req);
}

static void reply_read(struct sl_nbd_req *req)
{
	if (is_chunked(req)) {
		head_chunk(req, SL_NBD_CHUNK_OFFSET_DATA, 8 + req->payload_bytes);
		(void)sl_nbd_put64(req->head + req->head_bytes, (uint64_t)req->offset_bytes);
		req->head_bytes += 8;
	} else {
		head_simple(req, 0);
	}
	sl_nbd_reply(req->conn, req);
}

static int do_read(struct sl_nbd_req *req)
{
	struct sl_disk_image *image = req->export->config.image;

	if (!req->conn) {
		return 0;
	}
	if (!sl_nbd_req_payload(req, (uint32_t)req->bytes)) {
		return -ENOMEM;
	}
	return image->ops->read(image, req->offset_bytes, req->payload, (size_t)req->bytes);
}

static int do_status(struct sl_nbd_req *req)
{
	struct sl_disk_image *image = req->export->config.image;
	struct sl_disk_extent extents[STATUS_EXTENTS_MAX];
	int max = (req->flags & SL_NBD_FLAG_REQ_ONE) ? 1 : STATUS_EXTENTS_MAX;
	int n = image->ops->extents(image, req->offset_bytes, req->bytes, extents, max);
	uint8_t *at;

	if (n < 0 || !req->conn) {
		return n < 0 ? n : 0;
	}
	if (!sl_nbd_req_payload(req, 4 + 8 * (uint32_t)n)) {
		return -ENOMEM;
	}
	at = sl_nbd_put32(req->payload, STATUS_ID);
	for (int i = 0; i < n; i++) {
		at = sl_nbd_put32(at, (uint32_t)extents[i].bytes);
		at = sl_nbd_put32(at, extents[i].hole ? SL_NBD_STATE_HOLE | SL_NBD_STATE_ZERO : 0);
	}
	return 0;
}

/* What the request does to the contents. */
static int req_do(struct sl_nbd_req *req)
{
	struct sl_disk_image *image = req->export->config.image;
	struct sl_disk_change change = sl_nbd_req_change(req);

	if (req->export->failed || req->dev.error) {
		sl_nbd_req_forget(req);
		return -EIO;
	}
	req->dev.mark = NULL;
	switch (req->command) {
	case SL_NBD_CMD_READ:
		return do_read(req);
	case SL_NBD_CMD_WRITE:
		return image->ops->write(image, &change, req->payload);
	case SL_NBD_CMD_FLUSH:
		return image->ops->flush(image, req->mark);
	case SL_NBD_CMD_BLOCK_STATUS:
		return do_status(req);
	default: /* TRIM and WRITE_ZEROES: the others were refused */
		return image->ops->zero(image, &change, (req->flags & SL_NBD_FLAG_NO_HOLE) != 0);
	}
}

static void stats_count(struct sl_nbd_req *req)
{
	struct sl_nbd_stats *stats = &req->export->stats;

	switch (req->command) {
	case SL_NBD_CMD_READ:
		stats->reads++;
		stats->bytes_read += req->bytes;
		break;
	case SL_NBD_CMD_WRITE:
		stats->writes++;
		stats->bytes_written += req->bytes;
		break;
	case SL_NBD_CMD_FLUSH:
		stats->flushes++;
		break;
	case SL_NBD_CMD_TRIM:
		stats->trims++;
		break;
	case SL_NBD_CMD_WRITE_ZEROES:
		stats->zeroes++;
		break;
	default:
		break;
	}
}

struct sl_disk_change sl_nbd_req_change(const struct sl_nbd_req *req)
{
	return (struct sl_disk_change){.offset_bytes = req->offset_bytes,
				       .bytes = req->bytes,
				       .fua = (req->flags & SL_NBD_FLAG_FUA) != 0,
				       .mark = req->mark,
				       .fate = req->dev.mark};
}

void sl_nbd_req_forget(struct sl_nbd_req *req)
{
	struct sl_disk_image *image = req->export->config.image;

	if (req->dev.mark) {
		image->ops->forget(image, req->dev.mark);
		req->dev.mark = NULL;
	}
}

void sl_nbd_req_unlink(struct sl_nbd_req *req)
{
	struct sl_nbd_export *export = req->export;

	*(req->prev ? &req->prev->next : &export->first) = req->next;
	*(req->next ? &req->next->prev : &export->last) = req->prev;
}

static void req_done(struct sl_timer *timer, int64_t due_ns)
{
	struct sl_nbd_req *req = sl_container_of(timer, struct sl_nbd_req, dev.done);
	struct sl_nbd_conn *conn = req->conn;
	int rc = req_do(req);

	sl_nbd_req_unlink(req);
	stats_count(req);
	if (!conn) {
		sl_nbd_req_free(req);
		return;
	}
	if (conn->owner.completed) {
		conn->owner.completed(conn->owner.arg, due_ns,
				      due_ns > req->arrived_ns ? due_ns : req->arrived_ns);
	}
	if (rc < 0) {
		reply_error(req, code_of(rc));
		return;
	}
	if (req->command == SL_NBD_CMD_READ) {
		reply_read(req);
		return;
	}
	if (req->command == SL_NBD_CMD_BLOCK_STATUS) {
		head_chunk(req, SL_NBD_CHUNK_BLOCK_STATUS, req->payload_bytes);
	} else {
		payload_drop(req);
		head_simple(req, 0);
	}
	sl_nbd_reply(conn, req);
}

static bool is_change(const struct sl_nbd_req *req)
{
	return req->command == SL_NBD_CMD_WRITE || req->command == SL_NBD_CMD_TRIM ||
	       req->command == SL_NBD_CMD_WRITE_ZEROES;
}

/* What the model has to do: whole sectors. Changes that move no data are small writes to it. */
static void req_submit(struct sl_nbd_req *req)
{
	struct sl_nbd_export *export = req->export;
	struct sl_disk_image *image = export->config.image;
	int64_t end = (req->offset_bytes + req->bytes + SECTOR - 1) / SECTOR * SECTOR;

	req->dev.done.fire = req_done;
	req->dev.offset_bytes = req->offset_bytes / SECTOR * SECTOR;
	req->dev.bytes = end - req->dev.offset_bytes;
	req->dev.fua = (req->flags & SL_NBD_FLAG_FUA) != 0;
	req->dev.op = SL_DEV_WRITE;
	if (req->command == SL_NBD_CMD_READ) {
		req->dev.op = SL_DEV_READ;
	} else if (req->command == SL_NBD_CMD_FLUSH) {
		req->dev.op = SL_DEV_FLUSH;
	} else if (req->command != SL_NBD_CMD_WRITE && !(req->flags & SL_NBD_FLAG_NO_HOLE)) {
		req->dev.bytes = SECTOR; /* the cost of a command */
	}
	req->mark = req->command == SL_NBD_CMD_READ ? 0 : image->ops->arrive(image);
	req->dev.mark = is_change(req) && image->ops->follow ? image->ops->follow(image) : NULL;
	req->arrived_ns = sl_loop_now(req->conn->nbd->loop);
	req->prev = export->last;
	*(export->last ? &export->last->next : &export->first) = req;
	export->last = req;
	sl_dev_submit(export->config.dev, req->conn->arrival_ns, &req->dev);
}

static uint32_t request_check(const struct sl_nbd_conn *conn, const struct sl_nbd_req *req)
{
	const struct rule *rule =
	    req->command < sizeof(rules) / sizeof(rules[0]) ? &rules[req->command] : NULL;
	int64_t size = conn->export->config.size_bytes;

	if (!rule || !rule->known || (req->flags & ~rule->flags) ||
	    ((req->flags & SL_NBD_FLAG_DF) && !conn->structured)) {
		return SL_NBD_EINVAL;
	}
	if (!rule->ranged) {
		return 0;
	}
	if (req->bytes == 0 || (rule->limited && req->bytes > SL_NBD_MAX_IO) ||
	    (req->command == SL_NBD_CMD_BLOCK_STATUS && conn->status_of != conn->export)) {
		return SL_NBD_EINVAL;
	}
	if (req->offset_bytes < 0 || req->offset_bytes > size || req->bytes > size - req->offset_bytes) {
		return req->command == SL_NBD_CMD_WRITE || req->command == SL_NBD_CMD_WRITE_ZEROES
			   ? SL_NBD_ENOSPC
			   : SL_NBD_EINVAL;
	}
	return 0;
}

/* A refused WRITE is answered when its data has passed. */
static void write_expect(struct sl_nbd_conn *conn, struct sl_nbd_req *req, uint32_t refusal)
{
	if (refusal == 0 && !sl_nbd_req_payload(req, (uint32_t)req->bytes)) {
		refusal = SL_NBD_ENOMEM;
	}
	req->refusal = refusal;
	conn->writing = req;
	sl_nbd_expect(conn, SL_NBD_REQUEST_DATA, req->payload, (size_t)req->bytes);
}

int sl_nbd_request(struct sl_nbd_conn *conn)
{
	const uint8_t *head = conn->small;
	struct sl_nbd_req *req;
	uint32_t refusal;

	if (sl_nbd_get32(head) != SL_NBD_REQUEST_MAGIC) {
		return -EPROTO;
	}
	sl_nbd_expect(conn, SL_NBD_REQUEST_HEAD, conn->small, SL_NBD_REQUEST_BYTES);
	if (sl_nbd_get16(head + 6) == SL_NBD_CMD_DISC) {
		conn->ended = true;
		return 0;
	}
	req = sl_nbd_req_new(conn);
	req->export = conn->export;
	req->flags = sl_nbd_get16(head + 4);
	req->command = sl_nbd_get16(head + 6);
	req->cookie = sl_nbd_get64(head + 8);
	req->offset_bytes = (int64_t)sl_nbd_get64(head + 16);
	req->bytes = sl_nbd_get32(head + 24);
	refusal = request_check(conn, req);
	if (req->command == SL_NBD_CMD_WRITE) {
		write_expect(conn, req, refusal);
	} else if (refusal) {
		reply_error(req, refusal);
	} else {
		if (req->command == SL_NBD_CMD_FLUSH) {
			req->offset_bytes = 0;
			req->bytes = 0;
		}
		req_submit(req);
	}
	return 0;
}

void sl_nbd_request_data(struct sl_nbd_conn *conn)
{
	struct sl_nbd_req *req = conn->writing;

	conn->writing = NULL;
	sl_nbd_expect(conn, SL_NBD_REQUEST_HEAD, conn->small, SL_NBD_REQUEST_BYTES);
	if (req->refusal) {
		reply_error(req, req->refusal);
	} else {
		req_submit(req);
	}
}
