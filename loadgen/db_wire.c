#include "loadgen/db_wire.h"

#include <endian.h>
#include <errmsg.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "loadgen/meter.h"
#include "sim/base/clock.h"

#define IN_BYTES 65536u
#define HEADER 4
#define PACKET_MAX 0xffffffu /* a packet that goes on in the next one; none of ours does */
#define COM_EXECUTE 0x17
#define PACKET_OK 0x00
#define PACKET_EOF 0xfe
#define PACKET_ERR 0xff
#define EOF_BYTES_MAX 9
#define TYPE_LONG 3
#define TYPE_STRING 254
#define CAP_DEPRECATE_EOF (1ul << 24) /* CLIENT_DEPRECATE_EOF */

static int wire_lost(int rc, struct sl_err *err)
{
	return sl_err_set(err, rc, "MariaDB: %s; did the server die?",
			  rc == -ECONNRESET ? "the connection is lost" : strerror(-rc));
}

int sl_db_wire_check(MYSQL *db, struct sl_err *err)
{
	if (mysql_get_ssl_cipher(db) || (db->client_flag & (CLIENT_COMPRESS | CAP_DEPRECATE_EOF))) {
		return sl_err_set(
		    err, -EPROTO,
		    "MariaDB: the connection is encrypted or compressed; oltp needs a plain one");
	}
	return 0;
}

int sl_db_wire_init(struct sl_db_wire *wire, int fd, int64_t timeout_ns, struct sl_err *err)
{
	*wire = (struct sl_db_wire){.fd = fd, .timeout_ns = timeout_ns};
	wire->in = malloc(IN_BYTES);
	return wire->in ? 0 : sl_err_set(err, -ENOMEM, "out of memory");
}

void sl_db_wire_fini(struct sl_db_wire *wire)
{
	free(wire->in);
	*wire = (struct sl_db_wire){0};
}

/* Waits for the socket. */
static int wire_wait(const struct sl_db_wire *wire, short events, struct sl_err *err)
{
	struct pollfd pfd = {.fd = wire->fd, .events = events};
	int64_t end_ns = sl_clock_ns() + wire->timeout_ns, left_ns;

	while ((left_ns = end_ns - sl_clock_ns()) > 0) {
		int got = poll(&pfd, 1, (int)(left_ns / 1000000 + 1));

		if (got > 0) {
			return 0;
		}
		if (got < 0 && errno != EINTR) {
			return wire_lost(-errno, err);
		}
	}
	return sl_err_set(err, -ETIMEDOUT, "MariaDB: no answer; is the server still running?");
}

static int wire_send(const struct sl_db_wire *wire, const uint8_t *buf, size_t bytes, struct sl_err *err)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = send(wire->fd, buf + done, bytes - done, MSG_NOSIGNAL | MSG_DONTWAIT);
		int rc = 0;

		if (n > 0) {
			done += (size_t)n;
		} else if (errno == EAGAIN) {
			rc = wire_wait(wire, POLLOUT, err);
		} else if (errno != EINTR) {
			rc = wire_lost(errno == EPIPE ? -ECONNRESET : -errno, err);
		}
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

/* More bytes behind those that are there. */
static int wire_fill(struct sl_db_wire *wire, struct sl_err *err)
{
	if (wire->at > 0) {
		memmove(wire->in, wire->in + wire->at, wire->end - wire->at);
		wire->end -= wire->at;
		wire->at = 0;
	}
	for (;;) {
		ssize_t n = recv(wire->fd, wire->in + wire->end, IN_BYTES - wire->end, 0);

		if (n > 0) {
			wire->end += (size_t)n;
			return 0;
		}
		if (n == 0) {
			return wire_lost(-ECONNRESET, err);
		}
		if (errno == EAGAIN) {
			int rc = wire_wait(wire, POLLIN, err);

			if (rc < 0) {
				return rc;
			}
		} else if (errno != EINTR) {
			return wire_lost(-errno, err);
		}
	}
}

/* `bytes` (at most the buffer) in one piece. */
static int wire_need(struct sl_db_wire *wire, size_t bytes, struct sl_err *err)
{
	int rc = 0;

	while (rc == 0 && wire->end - wire->at < bytes) {
		rc = wire_fill(wire, err);
	}
	return rc;
}

static int wire_skip(struct sl_db_wire *wire, size_t bytes, struct sl_err *err)
{
	while (bytes > wire->end - wire->at) {
		int rc;

		bytes -= wire->end - wire->at;
		wire->at = wire->end = 0;
		rc = wire_fill(wire, err);
		if (rc < 0) {
			return rc;
		}
	}
	wire->at += bytes;
	return 0;
}

/* An ERR packet: number, '#' and SQL state, text. */
static int refused(struct sl_db_wire *wire, size_t bytes, unsigned *ret_number, struct sl_err *err)
{
	const uint8_t *p;
	size_t text = 3;
	int rc = bytes < 3 || bytes > IN_BYTES / 2 ? -EPROTO : wire_need(wire, bytes, err);

	if (rc < 0) {
		return rc == -EPROTO ? sl_err_set(err, rc, "MariaDB: an error without a number") : rc;
	}
	p = wire->in + wire->at;
	*ret_number = (unsigned)(p[1] | p[2] << 8);
	if (bytes >= 9 && p[3] == '#') {
		text = 9;
	}
	(void)sl_err_set(err, -EIO, "MariaDB: %.*s (error %u)", (int)(bytes - text), (const char *)p + text,
			 *ret_number);
	wire->at += bytes;
	return -EIO;
}

/*
 * OK, or a result set: columns (their definitions only when they changed), EOF, rows, EOF. Neither a
 * definition nor a row of the binary protocol begins like an EOF, so that the second EOF is the end.
 */
static int answer_take(struct sl_db_wire *wire, unsigned *ret_number, struct sl_err *err)
{
	int ends = 0, rc;

	for (bool first = true; ends < 2; first = false) {
		const uint8_t *p;
		size_t bytes;

		rc = wire_need(wire, HEADER + 1, err);
		if (rc < 0) {
			return rc;
		}
		p = wire->in + wire->at;
		bytes = (size_t)(p[0] | p[1] << 8 | p[2] << 16);
		if (bytes == 0 || bytes == PACKET_MAX) {
			return sl_err_set(err, -EPROTO, "MariaDB: a packet of %zu bytes was not expected",
					  bytes);
		}
		wire->at += HEADER;
		if (p[HEADER] == PACKET_ERR) {
			return refused(wire, bytes, ret_number, err);
		}
		if (first && p[HEADER] == PACKET_OK) {
			ends = 2;
		}
		ends += p[HEADER] == PACKET_EOF && bytes < EOF_BYTES_MAX;
		rc = wire_skip(wire, bytes, err);
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

static uint8_t *put_u32(uint8_t *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

/* Returns the end. */
static uint8_t *params_put(const struct sl_db_statement *statement, uint8_t *to)
{
	*to++ = 0; /* none is NULL */
	*to++ = !statement->types_sent;
	for (int i = 0; i < statement->params && !statement->types_sent; i++) {
		*to++ = statement->param[i].bytes > 0 ? TYPE_STRING : TYPE_LONG;
		*to++ = 0; /* signed */
	}
	for (int i = 0; i < statement->params; i++) {
		const struct sl_db_param *param = &statement->param[i];

		if (param->bytes > 0) {
			*to++ = param->bytes;
			memcpy(to, param->from, param->bytes);
			to += param->bytes;
		} else {
			int32_t value;

			memcpy(&value, param->from, sizeof(value));
			to = put_u32(to, (uint32_t)value);
		}
	}
	return to;
}

int sl_db_wire_execute(struct sl_db_wire *wire, struct sl_db_statement *statement, unsigned *ret_number,
		       struct sl_err *err)
{
	uint8_t out[HEADER + 12 + SL_DB_PARAMS_MAX * (2 + 1 + UINT8_MAX)];
	uint8_t *to = out + HEADER;
	int rc;

	*ret_number = 0;
	*to++ = COM_EXECUTE;
	to = put_u32(to, statement->id);
	*to++ = 0; /* no cursor */
	to = put_u32(to, 1);
	if (statement->params > 0) {
		to = params_put(statement, to);
	}
	(void)put_u32(out, (uint32_t)(to - out - HEADER)); /* and sequence number 0 */
	rc = wire_send(wire, out, (size_t)(to - out), err);
	rc = rc ? rc : answer_take(wire, ret_number, err);
	statement->types_sent = statement->types_sent || rc == 0;
	return rc;
}
