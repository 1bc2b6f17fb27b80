/* The virtual waiter: time jumps, nothing can be watched. */
#include "sim/base/waiter.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/base/loop.h"

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
		*self = (struct sl_waiter){.io_add = virtual_io_add,
					   .io_mod = virtual_io_mod,
					   .io_del = virtual_io_del,
					   .close = virtual_close};
	}
	return self;
}
