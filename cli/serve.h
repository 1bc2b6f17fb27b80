/* Inside of `sloglab serve`: the server's state, who watches it and who tells it what to do. */
#ifndef SL_CLI_SERVE_H
#define SL_CLI_SERVE_H

#include "engine/serving.h"
#include "sim/datastore/pool_server.h"
#include "sim/scenario/session.h"

enum {
	SL_WATCH_READ,
	SL_WATCH_WRITE,
	SL_WATCH_COMMIT,
	SL_WATCH_PROCS
};

/* Counters at one instant. */
struct sl_watch_sample {
	int64_t wall_ns;
	uint64_t calls, read_bytes, write_bytes;
	struct sl_pool_stats pool;
};

/* The status line and the metrics file, once an interval. */
struct sl_watch {
	int64_t interval_ns;
	const char *metrics; /* file, NULL = none */
	bool quiet;          /* no status lines */
	struct sl_timer tick;
	int lines;
	uint32_t cuts;     /* when the counters of NFS began again */
	int64_t uptime_ns; /* of the pool at the last sample */
	struct sl_watch_sample last;
	struct sl_hist before[SL_WATCH_PROCS], now[SL_WATCH_PROCS];
	bool metrics_failed; /* said once */
};

struct sl_serve {
	struct sl_session session;
	int variant;
	struct sl_serving serving;
	struct sl_pool_server *server;
	double pace;
	bool latency_off;
	struct sl_watch watch;
};

/* Where and how it is served. Strings are borrowed. */
struct sl_serve_attach {
	const char *bind, *export_path, *dir;
	bool portmap;        /* there is one, on its own port */
	uint64_t pool_bytes; /* what the modelled pool has for files */
};

/* A line for each client that can attach it, who else can, and what of the pool the folder has no room for.
 */
void sl_serve_attach_print(struct sl_datastore *ds, const struct sl_serve_attach *attach);

/* Begins watching; `serve` has loop and server. -ENOMEM. */
int sl_serve_watch_start(struct sl_serve *serve, struct sl_err *err);
void sl_serve_watch_stop(struct sl_serve *serve);
/* State in lines of "name value": what the control socket's `status` says. */
void sl_serve_status(struct sl_serve *serve, char *reply, size_t size);

/* The verbs of the control socket: fits sl_control_new; arg is the struct sl_serve. */
int sl_serve_command(void *arg, char *line, char *reply, size_t size, struct sl_err *err);

#endif
