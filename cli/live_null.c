/* The NULL procedure does nothing, so its round trip is what the sockets and the two processes cost. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/live_server.h"
#include "sim/base/hist.h"

#define NFS_PROGRAM 100003
#define NFS_VERSION 3
#define CALL_WORDS \
	11 /* record mark, xid, CALL, RPC version, program, version, procedure, two empty AUTH_NONE */
#define REPLY_BYTES 28 /* record mark, xid, REPLY, accepted, empty verifier, success */
#define NULL_TIMEOUT_S 5

static int64_t null_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int null_connect(uint16_t port)
{
	struct sockaddr_in at = {
	    .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval limit = {.tv_sec = NULL_TIMEOUT_S};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0) {
		return -errno;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	return fd;
}

static int null_call(int fd, uint32_t xid)
{
	uint32_t call[CALL_WORDS] = {htonl(0x80000000u | (CALL_WORDS - 1) * 4),
				     htonl(xid),
				     0,
				     htonl(2),
				     htonl(NFS_PROGRAM),
				     htonl(NFS_VERSION)};
	uint32_t reply[REPLY_BYTES / 4];
	ssize_t n = send(fd, call, sizeof(call), MSG_NOSIGNAL);

	if (n != (ssize_t)sizeof(call)) {
		return n < 0 ? -errno : -EPIPE;
	}
	n = recv(fd, reply, sizeof(reply), MSG_WAITALL);
	if (n != (ssize_t)sizeof(reply)) {
		return n < 0 ? -errno : -EPIPE;
	}
	return reply[1] == htonl(xid) && reply[2] == htonl(1) ? 0 : -EPROTO;
}

int sl_live_null_rtt(uint16_t port, int n, int64_t *ret_ns, struct sl_err *err)
{
	struct sl_hist hist;
	int fd = null_connect(port);
	int rc = fd < 0 ? fd : sl_hist_init(&hist);

	if (fd < 0) {
		return sl_err_set(err, rc, "127.0.0.1:%u: %s", port, strerror(-rc));
	}
	if (rc < 0) {
		close(fd);
		return sl_err_set(err, rc, "out of memory");
	}
	for (int i = 0; rc == 0 && i < n; i++) {
		int64_t start = null_now();

		rc = null_call(fd, (uint32_t)i + 1);
		sl_hist_add(&hist, null_now() - start);
	}
	*ret_ns = sl_hist_quantile(&hist, 0.5);
	sl_hist_fini(&hist);
	close(fd);
	return rc < 0 ? sl_err_set(err, rc, "127.0.0.1:%u: NULL call: %s", port, strerror(-rc)) : 0;
}
