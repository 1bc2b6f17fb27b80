#include "sim/disks/disk_conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONN_IOV 128

struct sl_disk_conn {
	struct sl_io io;
	struct sl_disk_conns *conns;
	struct sl_nbd_conn *nbd;
	struct sl_disk_conn *prev, *next;
	struct sl_disk_conn *waiting_next;
	bool waiting;     /* in the list */
	bool half_closed; /* the client sends no more */
	bool blocked;     /* the socket took less than there was */
	struct sl_dues dues;
};

static void waiting_remove(struct sl_disk_conn *conn)
{
	struct sl_disk_conn **slot = &conn->conns->waiting;

	while (conn->waiting && *slot != conn) {
		slot = &(*slot)->waiting_next;
	}
	if (conn->waiting) {
		*slot = conn->waiting_next;
		conn->waiting = false;
	}
}

static void conn_close(struct sl_disk_conn *conn)
{
	struct sl_disk_conns *conns = conn->conns;

	waiting_remove(conn);
	*(conn->prev ? &conn->prev->next : &conns->first) = conn->next;
	if (conn->next) {
		conn->next->prev = conn->prev;
	}
	conns->count--;
	sl_loop_io_del(conns->loop, &conn->io);
	close(conn->io.fd);
	sl_nbd_conn_free(conn->nbd);
	free(conn);
}

static void conn_completed(void *arg, int64_t due_ns, int64_t ready_ns)
{
	struct sl_disk_conn *conn = arg;

	/* A client that does not take its replies is late by itself: only what can leave counts. */
	if (!conn->blocked) {
		sl_dues_add(&conn->dues, &conn->conns->late, due_ns, ready_ns);
	}
}

static void conn_output(void *arg)
{
	struct sl_disk_conn *conn = arg;

	if (!conn->waiting) {
		conn->waiting = true;
		conn->waiting_next = conn->conns->waiting;
		conn->conns->waiting = conn;
	}
}

/* Sends what is ready. Returns false when the connection is broken. */
static bool conn_send(struct sl_disk_conn *conn)
{
	struct iovec iov[CONN_IOV];
	int n;

	conn->blocked = false;
	while ((n = sl_nbd_conn_output(conn->nbd, iov, CONN_IOV)) > 0) {
		struct msghdr message = {.msg_iov = iov, .msg_iovlen = (size_t)n};
		int64_t began_ns = sl_dues_leave(&conn->dues, &conn->conns->late);
		ssize_t sent = sendmsg(conn->io.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0) {
			if (errno == EINTR) {
				continue;
			}
			conn->blocked = errno == EAGAIN;
			return conn->blocked;
		}
		sl_dues_sent(&conn->conns->late, began_ns);
		/* Makes room: requests that were kept are decoded from here. */
		sl_nbd_conn_consume(conn->nbd, (size_t)sent);
	}
	return sl_nbd_conn_error(conn->nbd) == 0;
}

/* Watches what the connection can make use of. Closes it when nothing can happen any more. */
static void conn_update(struct sl_disk_conn *conn)
{
	bool ended = conn->half_closed || sl_nbd_conn_ended(conn->nbd);
	uint32_t events = 0;

	if (ended && sl_nbd_conn_idle(conn->nbd)) {
		conn_close(conn);
		return;
	}
	if (!ended && !sl_nbd_conn_busy(conn->nbd)) {
		events |= EPOLLIN;
	}
	if (conn->blocked) {
		events |= EPOLLOUT;
	}
	if (events != conn->io.events && sl_loop_io_mod(conn->conns->loop, &conn->io, events, NULL) < 0) {
		conn_close(conn);
	}
}

void sl_disk_conns_send(struct sl_disk_conns *conns)
{
	while (conns->waiting) {
		struct sl_disk_conn *conn = conns->waiting;

		conns->waiting = conn->waiting_next;
		conn->waiting = false;
		if (conn->blocked || conn_send(conn)) {
			conn_update(conn);
		} else {
			conn_close(conn);
		}
	}
}

/* Returns false when the connection is to be closed. */
static bool conn_receive(struct sl_disk_conn *conn, int64_t now_ns)
{
	struct sl_disk_conns *conns = conn->conns;
	ssize_t got = recv(conn->io.fd, conns->buf, conns->buf_bytes, MSG_DONTWAIT);
	int number;

	if (got < 0) {
		return errno == EAGAIN || errno == EINTR;
	}
	if (got == 0) {
		conn->half_closed = true;
		return true;
	}
	if (sl_nbd_conn_input(conn->nbd, now_ns - conn->dues.credit_ns, conns->buf, (size_t)got) < 0) {
		(void)conn_send(conn);
		return false;
	}
	/* What completes at once is answered at once. */
	number = sl_nbd_conn_export(conn->nbd);
	if (number >= 0) {
		sl_disk_pacer_run(conns->pacers[number]);
	}
	return true;
}

static void conn_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	struct sl_disk_conn *conn = sl_container_of(io, struct sl_disk_conn, io);
	struct sl_disk_conns *conns = conn->conns;
	bool alive = (events & (EPOLLERR | EPOLLHUP)) == 0;

	if (alive && (events & EPOLLOUT)) {
		alive = conn_send(conn);
	}
	if (alive && (events & EPOLLIN)) {
		alive = conn_receive(conn, now_ns);
	}
	if (!alive) {
		conn_close(conn);
	} else if (!conn->waiting) {
		conn_update(conn);
	}
	sl_disk_conns_send(conns);
}

void sl_disk_conn_open(struct sl_disk_conns *conns, int fd)
{
	struct sl_disk_conn *conn = conns->count < conns->max ? calloc(1, sizeof(*conn)) : NULL;
	struct sl_nbd_owner owner = {.output = conn_output, .completed = conn_completed, .arg = conn};

	if (!conn) {
		close(fd);
		return;
	}
	conn->conns = conns;
	conn->io = (struct sl_io){.fd = fd, .events = EPOLLIN, .fire = conn_fire};
	conn->nbd = sl_nbd_conn_new(conns->nbd, &owner);
	if (!conn->nbd || sl_loop_io_add(conns->loop, &conn->io, NULL) < 0) {
		sl_nbd_conn_free(conn->nbd);
		free(conn);
		close(fd);
		return;
	}
	conn->next = conns->first;
	if (conn->next) {
		conn->next->prev = conn;
	}
	conns->first = conn;
	conns->count++;
	conn_output(conn); /* the greeting */
	sl_disk_conns_send(conns);
}

void sl_disk_conns_close(struct sl_disk_conns *conns, int number)
{
	for (struct sl_disk_conn *conn = conns->first, *next; conn; conn = next) {
		next = conn->next;
		if (number < 0 || sl_nbd_conn_export(conn->nbd) == number) {
			conn_close(conn);
		}
	}
}
