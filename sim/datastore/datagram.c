#include "sim/datastore/datagram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/serve/listen.h"

#define CALL_MAX 1200u           /* a call with the largest credentials has 880 bytes */
#define CALLS 16                 /* per turn, so that a flood does not starve the others */
#define LARGE_STEP_NS 20000000   /* fifty large replies in a second to other machines, */
#define LARGE_BURST_NS 400000000 /* twenty of them at once */

struct asked {
	struct sockaddr_in peer;
	struct in_addr at; /* our address that was asked */
	uint8_t bytes[CALL_MAX];
	size_t size;
};

union control {
	char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
	struct cmsghdr align;
};

/* 1: taken; 0: not to be answered; -1: there is no more. */
static int call_take(int fd, struct asked *ret)
{
	union control control;
	struct iovec iov = {.iov_base = ret->bytes, .iov_len = sizeof(ret->bytes)};
	struct msghdr msg = {.msg_name = &ret->peer,
			     .msg_namelen = sizeof(ret->peer),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	ssize_t got = recvmsg(fd, &msg, MSG_DONTWAIT);
	struct in_pktinfo info = {0};
	struct cmsghdr *head;

	if (got < 0) {
		return errno == EINTR || errno == ECONNREFUSED ? 0 : -1;
	}
	for (head = CMSG_FIRSTHDR(&msg); head; head = CMSG_NXTHDR(&msg, head)) {
		if (head->cmsg_level == IPPROTO_IP && head->cmsg_type == IP_PKTINFO) {
			memcpy(&info, CMSG_DATA(head), sizeof(info));
		}
	}
	ret->at = info.ipi_spec_dst;
	ret->size = (size_t)got;
	return !(msg.msg_flags & MSG_TRUNC) && msg.msg_namelen == sizeof(ret->peer) &&
	       ret->peer.sin_family == AF_INET && info.ipi_addr.s_addr != 0 &&
	       info.ipi_addr.s_addr == info.ipi_spec_dst.s_addr;
}

/* May more bytes leave than came? Who is not on this machine may be somebody else than the sender. */
static bool large_allowed(struct sl_datagram *datagram, const struct asked *asked, int64_t now_ns)
{
	if (ntohl(asked->peer.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET) {
		return true;
	}
	if (datagram->large_ns < now_ns) {
		datagram->large_ns = now_ns;
	}
	if (datagram->large_ns + LARGE_STEP_NS > now_ns + LARGE_BURST_NS) {
		return false;
	}
	datagram->large_ns += LARGE_STEP_NS;
	return true;
}

static void reply_send(int fd, struct asked *asked, uint8_t *reply, size_t size)
{
	union control control = {.bytes = {0}};
	struct in_pktinfo info = {.ipi_spec_dst = asked->at};
	struct iovec iov = {.iov_base = reply, .iov_len = size};
	struct msghdr msg = {.msg_name = &asked->peer,
			     .msg_namelen = sizeof(asked->peer),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

	head->cmsg_level = IPPROTO_IP;
	head->cmsg_type = IP_PKTINFO;
	head->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(head), &info, sizeof(info));
	(void)sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL); /* one that is lost is asked for again */
}

static void datagram_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	struct sl_datagram *datagram = sl_container_of(io, struct sl_datagram, io);
	uint8_t reply[SL_NFS3_DATAGRAM_MAX];
	struct asked asked;

	(void)events;
	for (int i = 0; i < CALLS; i++) {
		int taken = call_take(io->fd, &asked);
		size_t size;

		if (taken < 0) {
			return;
		}
		size = taken > 0 ? sl_nfs3_datagram(datagram->nfs, asked.bytes, asked.size, reply) : 0;
		if (size > 0 && (size <= asked.size || large_allowed(datagram, &asked, now_ns))) {
			reply_send(io->fd, &asked, reply, size);
		}
	}
}

int sl_datagram_open(struct sl_datagram *datagram, struct sl_loop *loop, struct sl_nfs3 *nfs,
		     const char *address, uint16_t port, struct sl_err *err)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
	int on = 1, fd;

	*datagram = (struct sl_datagram){
	    .io = {.fd = -1, .events = EPOLLIN, .fire = datagram_fire}, .loop = loop, .nfs = nfs};
	if (inet_pton(AF_INET, address, &at.sin_addr) != 1) {
		return sl_err_set(err, -EINVAL, "bind \"%.64s\": not an IPv4 address; use 127.0.0.1",
				  address);
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return sl_err_set(err, -errno, "no socket: %s", strerror(errno));
	}
	datagram->io.fd = fd;
	if (setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		return sl_bind_error(errno, address, port, err);
	}
	return sl_loop_io_add(loop, &datagram->io, err);
}

void sl_datagram_close(struct sl_datagram *datagram)
{
	if (datagram->io.fd >= 0) {
		sl_loop_io_del(datagram->loop, &datagram->io);
		close(datagram->io.fd);
		datagram->io.fd = -1;
	}
}
