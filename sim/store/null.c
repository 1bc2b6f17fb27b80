/* The null store: every operation is done, and stable, at the instant it is submitted. */
#include "sim/store/store.h"

#include <stdlib.h>

struct null_store {
	struct sl_store base;
	struct sl_loop *loop; /* borrowed */
};

static void null_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	struct null_store *self = sl_container_of(store, struct null_store, base);

	/* Through the loop, not at once: the contract forbids completion from inside submit. */
	sl_loop_arm(self->loop, &req->done, now_ns);
}

static void null_free(struct sl_store *store)
{
	free(sl_container_of(store, struct null_store, base));
}

static const struct sl_store_ops null_ops = {
    .submit = null_submit,
    .free = null_free,
};

struct sl_store *sl_store_new_null(struct sl_loop *loop)
{
	struct null_store *self = calloc(1, sizeof(*self));

	if (!self) {
		return NULL;
	}
	self->base.ops = &null_ops;
	self->loop = loop;
	return &self->base;
}
