#include "sim/datastore/conn.h"

#include "sim/datastore/arrival.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SWEEP_MIN_NS 10000000
#define SWEEP_MAX_NS 5000000000
/* A connection without news for so long keeps no buffers, and may make room. */
#define SILENT_NS 10000000000

struct sl_conn {
	struct sl_io io;
	struct sl_pacer_client client;
	struct sl_conns *conns;
	struct sl_nfs3_conn *nfs; /* NULL: closed, waiting for its calls in service */
	struct sl_conn *prev, *next;
	int64_t heard_ns, sent_ns; /* when the client last sent, or took, anything */
	int64_t begun_ns;          /* since when an unfinished call waits for its rest, as the sweep saw it */
	uint64_t swept_calls;
	bool local;          /* its client is on this machine */
	bool half_closed;    /* the client sends no more, but may wait for replies */
	bool blocked;        /* the socket took less than there was */
	struct sl_dues dues; /* the timed replies */
};

static void conn_release(struct sl_conn *conn)
{
	if (!conn->nfs && conn->client.in_service == 0) {
		free(conn);
	}
}

static void conn_close(struct sl_conn *conn)
{
	struct sl_conns *conns = conn->conns;

	if (conn->prev) {
		conn->prev->next = conn->next;
	} else {
		conns->first = conn->next;
	}
	if (conn->next) {
		conn->next->prev = conn->prev;
	} else {
		conns->last = conn->prev;
	}
	conns->count--;
	sl_affinity_forget(conns->affinity, conn->io.fd);
	sl_loop_io_del(conns->loop, &conn->io);
	close(conn->io.fd);
	sl_nfs3_conn_free(conn->nfs);
	conn->nfs = NULL;
	conn_release(conn);
}

/* Sends what is ready. Returns false when the connection is broken. */
static bool conn_send(struct sl_conn *conn)
{
	const uint8_t *bytes;
	size_t size = sl_nfs3_conn_output(conn->nfs, &bytes);

	conn->blocked = false;
	while (size > 0) {
		int64_t began_ns = conn->conns->timed ? sl_dues_leave(&conn->dues, &conn->conns->late) : 0;
		ssize_t sent = send(conn->io.fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0) {
			if (errno == EINTR) {
				continue;
			}
			conn->blocked = errno == EAGAIN;
			return conn->blocked;
		}
		if (conn->conns->timed) {
			sl_dues_sent(&conn->conns->late, began_ns);
		}
		conn->sent_ns = sl_loop_now(conn->conns->loop);
		/* Makes room: calls that were left undecoded are submitted from here, as this client's. */
		sl_pacer_enter(conn->conns->pacer, &conn->client, 0);
		sl_nfs3_conn_consume(conn->nfs, (size_t)sent);
		size = sl_nfs3_conn_output(conn->nfs, &bytes);
	}
	return true;
}

/* Watches what the connection can make use of. Closes it when nothing can happen any more. */
static void conn_update(struct sl_conn *conn)
{
	const uint8_t *bytes;
	uint32_t events = 0;

	if (!conn->half_closed && !sl_nfs3_conn_busy(conn->nfs)) {
		events |= EPOLLIN;
	}
	if (conn->blocked) {
		events |= EPOLLOUT;
	}
	if (conn->half_closed && conn->client.in_service == 0 &&
	    sl_nfs3_conn_output(conn->nfs, &bytes) == 0) {
		conn_close(conn);
		return;
	}
	if (events != conn->io.events && sl_loop_io_mod(conn->conns->loop, &conn->io, events, NULL) < 0) {
		conn_close(conn);
	}
}

static void conn_output(void *arg)
{
	struct sl_conn *conn = arg;

	if (sl_nfs3_conn_error(conn->nfs) < 0) {
		(void)conn_send(conn);
		conn_close(conn);
		return;
	}
	if (!conn->blocked && !conn_send(conn)) {
		conn_close(conn);
		return;
	}
	conn_update(conn);
}

/*
 * libnfs leaves Nagle's algorithm on, and a call of a few KiB is less than a segment of loopback: its next
 * call would wait for our acknowledgement, which would wait for our reply. The option must be set anew for
 * each input.
 */
static void ack_now(const struct sl_conn *conn)
{
	int on = 1;

	(void)setsockopt(conn->io.fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

/* Tells where the client is, when the bytes that came made `calls` whole calls. */
static void conn_heard(struct sl_conn *conn, uint64_t calls, int64_t now_ns)
{
	bool lone = conn->local && calls == 1 && conn->client.in_service <= 1;

	if (calls > 0) {
		sl_affinity_heard(conn->conns->affinity, conn->io.fd, lone, now_ns);
	}
}

/* How much earlier calls count than they are seen: by how late the replies before them left, and by how long
 * they lay in the socket until we were woken. Bounded, also against jumps of the wall clock. */
static int64_t conn_credit(const struct sl_conn *conn, int64_t waited_ns)
{
	int64_t credit_ns = conn->dues.credit_ns + waited_ns, cap_ns = conn->conns->late.credit_cap_ns;

	return credit_ns < cap_ns ? credit_ns : cap_ns;
}

/* Returns false when the connection is to be closed. */
static bool conn_receive(struct sl_conn *conn, int64_t now_ns)
{
	struct sl_conns *conns = conn->conns;
	uint64_t calls = sl_nfs3_conn_calls(conn->nfs);
	int64_t arrived_ns = now_ns, credit_ns;
	ssize_t got = conns->timed ? sl_arrival_recv(conn->io.fd, conns->buf, conns->buf_bytes, conns->loop,
						     &arrived_ns)
				   : recv(conn->io.fd, conns->buf, conns->buf_bytes, MSG_DONTWAIT);

	if (got < 0) {
		return errno == EAGAIN || errno == EINTR;
	}
	if (got == 0) {
		conn->half_closed = true;
		return true;
	}
	conn->heard_ns = now_ns;
	credit_ns = conn_credit(conn, now_ns - arrived_ns);
	sl_pacer_enter(conns->pacer, &conn->client, credit_ns);
	if (sl_nfs3_conn_input(conn->nfs, now_ns - credit_ns, conns->buf, (size_t)got) < 0) {
		return false;
	}
	conn_heard(conn, sl_nfs3_conn_calls(conn->nfs) - calls, now_ns);
	if (conns->timed && conn->client.in_service > 0) {
		ack_now(conn);
	}
	return true;
}

static void conn_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	struct sl_conn *conn = sl_container_of(io, struct sl_conn, io);
	bool alive = (events & (EPOLLERR | EPOLLHUP)) == 0;

	if (alive && (events & EPOLLOUT)) {
		alive = conn_send(conn);
	}
	if (alive && (events & EPOLLIN)) {
		alive = conn_receive(conn, now_ns);
	}
	if (alive) {
		conn_update(conn);
	} else {
		conn_close(conn);
	}
}

static void client_completed(struct sl_pacer_client *client, int64_t due_ns, int64_t ready_ns, bool timed)
{
	struct sl_conn *conn = sl_container_of(client, struct sl_conn, client);

	if (timed && conn->nfs && !conn->blocked) {
		/* A client that does not take its replies is late by itself: only what can leave counts. */
		sl_dues_add(&conn->dues, &conn->conns->late, due_ns, ready_ns);
	}
}

static void client_idle(struct sl_pacer_client *client)
{
	conn_release(sl_container_of(client, struct sl_conn, client));
}

/* A slow sender of one call, and a client that never reads, are worth no more than a silent one. */
static bool conn_overdue(struct sl_conn *conn, int64_t now_ns)
{
	const struct sl_conns *conns = conn->conns;
	uint64_t calls = sl_nfs3_conn_calls(conn->nfs);

	if (calls != conn->swept_calls || !sl_nfs3_conn_partial(conn->nfs) || sl_nfs3_conn_busy(conn->nfs)) {
		conn->swept_calls = calls;
		conn->begun_ns = now_ns;
	}
	if (conns->stall_ns > 0 && (now_ns - conn->begun_ns > conns->stall_ns ||
				    (conn->blocked && now_ns - conn->sent_ns > conns->stall_ns))) {
		return true;
	}
	return conns->idle_ns > 0 && conn->client.in_service == 0 && !conn->blocked &&
	       now_ns - conn->heard_ns > conns->idle_ns;
}

static void sweep_arm(struct sl_conns *conns)
{
	int64_t least_ns = SWEEP_MAX_NS;

	if (conns->stall_ns > 0 && conns->stall_ns / 4 < least_ns) {
		least_ns = conns->stall_ns / 4;
	}
	if (conns->idle_ns > 0 && conns->idle_ns / 4 < least_ns) {
		least_ns = conns->idle_ns / 4;
	}
	sl_loop_arm(conns->loop, &conns->sweep,
		    sl_loop_now(conns->loop) + (least_ns > SWEEP_MIN_NS ? least_ns : SWEEP_MIN_NS));
}

static void sweep_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_conns *conns = sl_container_of(timer, struct sl_conns, sweep);

	for (struct sl_conn *conn = conns->first, *next; conn; conn = next) {
		next = conn->next;
		if (conn_overdue(conn, now_ns)) {
			conn_close(conn);
		} else if (now_ns - conn->heard_ns > SILENT_NS) {
			sl_nfs3_conn_trim(conn->nfs);
		}
	}
	if (conns->count > 0) {
		sweep_arm(conns);
	}
}

/* Closes a connection that only waits for its client to go away, or else the one that has been silent
 * longest.
 */
static bool room_make(struct sl_conns *conns)
{
	int64_t now_ns = sl_loop_now(conns->loop);
	struct sl_conn *victim = NULL;

	for (struct sl_conn *conn = conns->first; conn && !(victim && victim->half_closed);
	     conn = conn->next) {
		bool silent = conn->client.in_service == 0 && now_ns - conn->heard_ns > SILENT_NS;

		if (conn->half_closed || (silent && (!victim || conn->heard_ns < victim->heard_ns))) {
			victim = conn;
		}
	}
	if (victim) {
		conn_close(victim);
	}
	return victim != NULL;
}

/* The client's address without its port: the same after a reconnect. Returns whether it is one of this
 * machine: loopback's, or that of our own end. */
static bool client_name(int fd, char ret[INET_ADDRSTRLEN])
{
	struct sockaddr_in peer = {0}, own = {0};
	socklen_t size = sizeof(peer), own_size = sizeof(own);

	ret[0] = '\0';
	if (getpeername(fd, (struct sockaddr *)&peer, &size) < 0 || peer.sin_family != AF_INET) {
		return false;
	}
	(void)inet_ntop(AF_INET, &peer.sin_addr, ret, INET_ADDRSTRLEN);
	return ntohl(peer.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ||
	       (getsockname(fd, (struct sockaddr *)&own, &own_size) == 0 &&
		own.sin_addr.s_addr == peer.sin_addr.s_addr);
}

int sl_conn_open(struct sl_conns *conns, int fd)
{
	char address[INET_ADDRSTRLEN];
	struct sl_conn *conn;

	if (conns->count >= conns->max && !room_make(conns)) {
		if (!conns->refused) {
			sl_notice_say(conns->notice,
				      "a client is turned away: %u connections are at work (--connections)",
				      conns->max);
		}
		conns->refused = true;
		close(fd);
		return -EMFILE;
	}
	conn = calloc(1, sizeof(*conn));
	if (!conn) {
		close(fd);
		return -ENOMEM;
	}
	conn->conns = conns;
	conn->client.completed = client_completed;
	conn->client.idle = client_idle;
	conn->io = (struct sl_io){.fd = fd, .events = EPOLLIN, .fire = conn_fire};
	conn->nfs = sl_nfs3_conn_new(conns->nfs, conn_output, conn);
	if (!conn->nfs || sl_loop_io_add(conns->loop, &conn->io, NULL) < 0) {
		sl_nfs3_conn_free(conn->nfs);
		free(conn);
		close(fd);
		return -ENOMEM;
	}
	if (conns->timed) {
		sl_arrival_watch(fd);
	}
	conn->local = client_name(fd, address);
	sl_nfs3_conn_client(conn->nfs, address);
	conn->heard_ns = conn->sent_ns = conn->begun_ns = sl_loop_now(conns->loop);
	conns->sweep.fire = sweep_fire;
	if (!conns->sweep.armed) {
		sweep_arm(conns);
	}
	conn->prev = conns->last;
	*(conns->last ? &conns->last->next : &conns->first) = conn;
	conns->last = conn;
	conns->count++;
	return 0;
}

void sl_conns_close(struct sl_conns *conns)
{
	for (struct sl_conn *conn = conns->first, *next; conn; conn = next) {
		next = conn->next;
		conn_close(conn);
	}
	if (conns->loop) {
		sl_loop_cancel(conns->loop, &conns->sweep);
	}
}
