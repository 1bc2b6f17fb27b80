/* The virtual waiter: nothing happens between two timers, so time jumps. */
#include "sim/base/waiter.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/base/loop.h"

static int virtual_wait(struct sl_waiter *self, int64_t now_ns, int64_t due_ns, int64_t *ret_now,
			struct sl_err *err)
{
	(void)self;
	(void)err;
	if (due_ns == SL_NEVER) {
		return 1;
	}
	*ret_now = due_ns > now_ns ? due_ns : now_ns;
	return 0;
}

static int virtual_io_add(struct sl_waiter *self, struct sl_io *io, struct sl_err *err)
{
	(void)self;
	return sl_err_set(err, -ENOTSUP, "descriptor %d: a loop in virtual time cannot watch descriptors",
			  io->fd);
}

static int virtual_io_mod(struct sl_waiter *self, struct sl_io *io, uint32_t events, struct sl_err *err)
{
	(void)events;
	return virtual_io_add(self, io, err);
}

static void virtual_io_del(struct sl_waiter *self, struct sl_io *io)
{
	(void)self;
	(void)io;
}

static void virtual_close(struct sl_waiter *self)
{
	free(self);
}

struct sl_waiter *sl_waiter_virtual(void)
{
	struct sl_waiter *self = malloc(sizeof(*self));

	if (self != NULL) {
		*self = (struct sl_waiter){.wait = virtual_wait,
					   .io_add = virtual_io_add,
					   .io_mod = virtual_io_mod,
					   .io_del = virtual_io_del,
					   .close = virtual_close};
	}
	return self;
}
