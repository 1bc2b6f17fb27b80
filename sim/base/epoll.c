/*
 * The wall waiter: sleeps in epoll_pwait2 (ns resolution, no rounding to ms) until the due time and keeps the
 * descriptor events that came meanwhile. Events are delivered after the timers of the same wake-up, so that a
 * busy socket does not delay a timer and a busy timer does not starve a socket.
 */
#include "sim/base/waiter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/base/loop.h"

#define NS_PER_S 1000000000LL
#define EVENTS_MAX 64

struct epoll_waiter {
	struct sl_waiter base;
	int fd;
	int64_t origin_ns; /* clock at creation: time 0 of the loop */
	int next, count;   /* events[next..count) wait for delivery */
	struct epoll_event events[EVENTS_MAX];
};

static struct epoll_waiter *epoll_self(struct sl_waiter *base)
{
	return sl_container_of(base, struct epoll_waiter, base);
}

static int epoll_sleep(struct epoll_waiter *self, int64_t due_ns, struct sl_err *err)
{
	struct timespec timeout = {0, 0};
	int64_t left_ns = due_ns == SL_NEVER ? 0 : due_ns - (sl_clock_ns() - self->origin_ns);
	int n;

	if (left_ns > 0) {
		timeout.tv_sec = left_ns / NS_PER_S;
		timeout.tv_nsec = left_ns % NS_PER_S;
	}
	n = epoll_pwait2(self->fd, self->events, EVENTS_MAX, due_ns == SL_NEVER ? NULL : &timeout, NULL);
	self->next = 0;
	self->count = n > 0 ? n : 0;
	if (n < 0 && errno != EINTR) {
		int code = -errno;

		return sl_err_set(err, code, "cannot wait for events: %s", strerror(-code));
	}
	return 0;
}

static int epoll_wait_until(struct sl_waiter *base, int64_t now_ns, int64_t due_ns, int64_t *ret_now,
			    struct sl_err *err)
{
	struct epoll_waiter *self = epoll_self(base);
	int64_t woke_ns;

	if (self->next == self->count) {
		int rc = epoll_sleep(self, due_ns, err);

		if (rc != 0) {
			return rc;
		}
	}
	woke_ns = sl_clock_ns() - self->origin_ns;
	*ret_now = woke_ns > now_ns ? woke_ns : now_ns;
	return 0;
}

static void epoll_deliver(struct sl_waiter *base, int64_t now_ns, const bool *stop)
{
	struct epoll_waiter *self = epoll_self(base);

	while (self->next < self->count && !*stop) {
		const struct epoll_event *event = &self->events[self->next++];
		struct sl_io *io = event->data.ptr;

		if (io != NULL) {
			io->fire(io, event->events, now_ns);
		}
	}
}

static int epoll_control(struct epoll_waiter *self, int op, struct sl_io *io, uint32_t events,
			 struct sl_err *err)
{
	struct epoll_event event = {.events = events, .data = {.ptr = io}};

	if (epoll_ctl(self->fd, op, io->fd, &event) != 0) {
		int code = -errno;

		return sl_err_set(err, code, "cannot watch descriptor %d: %s", io->fd, strerror(-code));
	}
	io->events = events;
	return 0;
}

static int epoll_io_add(struct sl_waiter *base, struct sl_io *io, struct sl_err *err)
{
	return epoll_control(epoll_self(base), EPOLL_CTL_ADD, io, io->events, err);
}

static int epoll_io_mod(struct sl_waiter *base, struct sl_io *io, uint32_t events, struct sl_err *err)
{
	return epoll_control(epoll_self(base), EPOLL_CTL_MOD, io, events, err);
}

static void epoll_io_del(struct sl_waiter *base, struct sl_io *io)
{
	struct epoll_waiter *self = epoll_self(base);

	/* A descriptor that was closed already has left the set by itself. */
	(void)epoll_ctl(self->fd, EPOLL_CTL_DEL, io->fd, NULL);
	for (int i = self->next; i < self->count; i++) {
		if (self->events[i].data.ptr == io) {
			self->events[i].data.ptr = NULL;
		}
	}
}

static int64_t epoll_clock(const struct sl_waiter *base)
{
	return sl_clock_ns() - ((const struct epoll_waiter *)base)->origin_ns;
}

static void epoll_close(struct sl_waiter *base)
{
	struct epoll_waiter *self = epoll_self(base);

	(void)close(self->fd);
	free(self);
}

struct sl_waiter *sl_waiter_epoll(struct sl_err *err)
{
	struct epoll_waiter *self = calloc(1, sizeof(*self));
	int code;

	if (self == NULL) {
		(void)sl_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	self->base = (struct sl_waiter){.wait = epoll_wait_until,
					.deliver = epoll_deliver,
					.io_add = epoll_io_add,
					.io_mod = epoll_io_mod,
					.io_del = epoll_io_del,
					.clock = epoll_clock,
					.close = epoll_close};
	self->fd = epoll_create1(EPOLL_CLOEXEC);
	if (self->fd < 0) {
		code = -errno;
		free(self);
		(void)sl_err_set(err, code, "cannot create an epoll set: %s", strerror(-code));
		return NULL;
	}
	/* The default slack of 50 us would be larger than a fast SSD's latency; where it cannot be set, the
	 * lateness histogram tells. */
	(void)prctl(PR_SET_TIMERSLACK, 1UL);
	self->origin_ns = sl_clock_ns();
	return &self->base;
}
