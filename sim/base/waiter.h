/* The loop's only seam: how time passes, and what may happen meanwhile. Internal to sim/base. */
#ifndef SL_BASE_WAITER_H
#define SL_BASE_WAITER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct sl_io;

struct sl_waiter {
	/* Passes time from now_ns to due_ns (SL_NEVER: without end), or less when something else happened.
	 * *ret_now is the new time, never less than now_ns; due_ns <= now_ns does not block. Returns 0, 1
	 * when nothing can ever happen, or a negative errno. NULL: nothing happens in between, the loop
	 * lets time jump to the due time itself. */
	int (*wait)(struct sl_waiter *self, int64_t now_ns, int64_t due_ns, int64_t *ret_now,
		    struct sl_err *err);
	/* Fires what happened during the last wait, until *stop; the rest is kept for the next wait. */
	void (*deliver)(struct sl_waiter *self, int64_t now_ns, const bool *stop);
	int (*io_add)(struct sl_waiter *self, struct sl_io *io, struct sl_err *err);
	int (*io_mod)(struct sl_waiter *self, struct sl_io *io, uint32_t events, struct sl_err *err);
	void (*io_del)(struct sl_waiter *self, struct sl_io *io);
	/* The time now, on the scale of wait(); NULL when it stands still between waits. */
	int64_t (*clock)(const struct sl_waiter *self);
	void (*close)(struct sl_waiter *self);
};

/* Lets time jump. NULL when out of memory. */
struct sl_waiter *sl_waiter_virtual(void);

/* Sleeps in epoll until the due time of CLOCK_MONOTONIC, counted from now. */
struct sl_waiter *sl_waiter_epoll(struct sl_err *err);

#endif
