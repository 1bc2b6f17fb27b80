/* One TCP connection of a datastore: socket <-> sl_nfs3_conn. Internal to sim/serve. */
#ifndef SL_DATASTORE_CONN_H
#define SL_DATASTORE_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/loop.h"
#include "sim/datastore/affinity.h"
#include "sim/datastore/notice.h"
#include "sim/datastore/pacer.h"
#include "sim/nfs3/nfs3.h"
#include "sim/serve/dues.h"

struct sl_conn;

/* What all connections of a datastore share; owned by the datastore. */
struct sl_conns {
	struct sl_loop *loop;
	struct sl_nfs3 *nfs;
	struct sl_pacer *pacer;
	struct sl_affinity *affinity; /* of the thread that serves */
	struct sl_dues_sink late;
	int64_t idle_ns;       /* silent for so long: closed; <= 0: never */
	int64_t stall_ns;      /* a call begun, or replies not taken, for so long: closed; <= 0: never */
	struct sl_timer sweep; /* looks for those; armed while there are connections */
	bool timed;            /* a model keeps calls in service for a while */
	uint8_t *buf;          /* input passes through it; nothing stays */
	uint32_t buf_bytes;
	uint32_t count, max;
	const struct sl_notice *notice; /* borrowed */
	bool refused;                   /* one was turned away, which has been told */
	struct sl_conn *first, *last;   /* oldest first */
};

/* Takes over the non-blocking socket `fd` (closed on failure too). When there are `max` already, one whose
 * client has stopped sending, or else the one that has been silent longest, makes room; if all are at work,
 * -EMFILE. -ENOMEM. */
int sl_conn_open(struct sl_conns *conns, int fd);
/* Closes all; those with calls in service free themselves when the pacer has finished these. */
void sl_conns_close(struct sl_conns *conns);

#endif
