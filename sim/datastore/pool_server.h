/*
 * The box of a scenario as an NFS datastore on the wall clock: modelled pool, durable files, sockets. What
 * can happen to a box happens to it here: a log device comes or goes, the power is cut and comes back.
 */
#ifndef SL_DATASTORE_POOL_SERVER_H
#define SL_DATASTORE_POOL_SERVER_H

#include <stdint.h>

#include "sim/base/err.h"
#include "sim/box/box.h"
#include "sim/datastore/datastore.h"
#include "sim/stack/audit.h"
#include "sim/zfs/pool.h"

struct sl_pool_server_config {
	const struct sl_box *box; /* copied; the names in its devices are borrowed */
	uint64_t seed;            /* of the models' random streams */
	double pace;              /* wall time for one of the model (dilation); 0 = 1 */
	bool instant;             /* latencies off, to populate, until sl_pool_server_latency */
	/* Loop, folder, addresses, limits; store and model_loop are filled in here, and capacity_bytes when
	 * 0. Strings are borrowed. */
	struct sl_datastore_config datastore;
};

struct sl_pool_server;

/* Errors: those of sl_stack_store and sl_datastore_new. */
int sl_pool_server_new(const struct sl_pool_server_config *config, struct sl_pool_server **ret,
		       struct sl_err *err);
/* What is in memory goes to the files; at the end of a run, so that it can say so. 0 without power. The error
 * of sl_datastore_sync, with a message. */
int sl_pool_server_sync(struct sl_pool_server *server, struct sl_err *err);
/* Graceful: what is in memory goes to the files. Accepts NULL. */
void sl_pool_server_free(struct sl_pool_server *server);

/* Size of the modelled pool: what it has for files. */
uint64_t sl_pool_server_bytes(const struct sl_pool_server *server);
/* NULL while the power is off. */
struct sl_datastore *sl_pool_server_datastore(struct sl_pool_server *server);
/* Counted since the pool was built last: at the start, by a change, after a power cut. */
void sl_pool_server_stats(const struct sl_pool_server *server, struct sl_pool_stats *ret);
/* Model time since then (ns). */
int64_t sl_pool_server_uptime(const struct sl_pool_server *server);

/* Goes on with another box: what is in service finishes first, then a txg is synced, as zpool add and remove
 * do. -EBUSY while an earlier change waits or the power is off; errors of sl_stack_store. */
int sl_pool_server_change(struct sl_pool_server *server, const struct sl_box *box, struct sl_err *err);

/* Does it wait still? */
bool sl_pool_server_changing(const struct sl_pool_server *server);

/* As sl_pacer_set_pace, sl_pacer_latency and sl_pacer_stall; pace and latency outlive a power cut, and a
 * stall is nothing while the power is off. */
void sl_pool_server_set_pace(struct sl_pool_server *server, double pace);
void sl_pool_server_latency(struct sl_pool_server *server, bool on);
void sl_pool_server_stall(struct sl_pool_server *server, int64_t stall_ns);

/* Log device `device` (its place in pool.log, side -1) or one side of that mirror dies: commits in flight
 * fail over to txgs. -EBUSY while the power is off; errors of sl_pool_fail_log. */
int sl_pool_server_fail_log(struct sl_pool_server *server, int device, int side, struct sl_err *err);

/* Name of log device `device` (as above; a mirror's names its sides) and whether it has died; NULL behind the
 * last one. Valid until the next change. */
const char *sl_pool_server_log(const struct sl_pool_server *server, int device, bool *ret_dead);

/* Connections break, unstable data is gone, and so is what the modelled disks had promised and lost: *ret
 * says what of it had been acknowledged. off_ns later the server is back with another write verifier. When it
 * cannot come back the loop stops and sl_pool_server_lost says why. */
int sl_pool_server_powercut(struct sl_pool_server *server, int64_t off_ns, struct sl_outcome *ret,
			    struct sl_err *err);
/* NULL while all is well, else the error that keeps the server from coming back. */
const struct sl_err *sl_pool_server_lost(const struct sl_pool_server *server);
uint32_t sl_pool_server_cuts(const struct sl_pool_server *server);

#endif
