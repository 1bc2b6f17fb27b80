#include "sim/datastore/arrival.h"

#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* On or off is all that can fail: without stamps everything counts as read at once. */
void sl_arrival_watch(int fd)
{
	int on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
}

/* Age of a stamp. */
static int64_t age_ns(const struct timespec *stamp)
{
	struct timespec now = *stamp;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)(now.tv_sec - stamp->tv_sec) * 1000000000 + (now.tv_nsec - stamp->tv_nsec);
}

ssize_t sl_arrival_recv(int fd, void *buf, size_t size, const struct sl_loop *loop, int64_t *ret_arrived_ns)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct timespec))];
	struct iovec iov = {.iov_base = buf, .iov_len = size};
	struct msghdr msg = {
	    .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(fd, &msg, MSG_DONTWAIT);

	*ret_arrived_ns = sl_loop_now(loop);
	for (struct cmsghdr *at = got > 0 ? CMSG_FIRSTHDR(&msg) : NULL; at; at = CMSG_NXTHDR(&msg, at)) {
		if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec stamp;
			int64_t arrived_ns;

			memcpy(&stamp, CMSG_DATA(at), sizeof(stamp));
			arrived_ns = sl_loop_clock(loop) - age_ns(&stamp);
			if (arrived_ns < *ret_arrived_ns) {
				*ret_arrived_ns = arrived_ns;
			}
		}
	}
	return got;
}
