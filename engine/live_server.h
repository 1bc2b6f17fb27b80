/* A datastore in a child process: it dies with us, we notice when it dies or hangs. */
#ifndef SL_ENGINE_LIVE_SERVER_H
#define SL_ENGINE_LIVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "guests/process.h"
#include "sim/base/err.h"
#include "sim/box/box.h"
#include "sim/stack/timing.h"

/* What it exports. Not "/": QEMU cannot name a file in the root. */
#define SL_LIVE_EXPORT "/tank"

struct sl_live_server_config {
	const struct sl_box *box; /* whose pool is modelled */
	const char *dir;          /* of its files */
	uint64_t seed;
	double dilate;         /* all modelled times on the wall are so many times as long */
	uint16_t portmap_port; /* 0 = none */
	bool free;             /* latencies are off at first: to prepare, to calibrate */
	bool (*stopped)(void); /* while it is waited for: true ends that with -EINTR; NULL: never */
};

struct sl_live_calls {
	double reads, writes, commits;
	double write_bytes;
};

/* Zero-initialise. */
struct sl_live_server {
	struct sl_process process;
	int channel; /* to it and back */
	bool (*stopped)(void);
	uint16_t nfs_port, mount_port;
};

/* Starts it on loopback, on free ports; returns when it listens. */
int sl_live_server_start(const struct sl_live_server_config *config, struct sl_live_server *ret,
			 struct sl_err *err);

/* Latencies off or on. */
int sl_live_server_latency(struct sl_live_server *server, bool on, struct sl_err *err);

/* What it measured of itself: since its latencies were on, lateness, modelled, credit of *ret; since its
 * start, the calls that succeeded. */
int sl_live_server_timing(struct sl_live_server *server, struct sl_timing *ret,
			  struct sl_live_calls *ret_calls, struct sl_err *err);

/* Writes what it holds in memory to its files and ends it; with an error when it was dead or hangs. */
int sl_live_server_stop(struct sl_live_server *server, struct sl_err *err);

/* Kills it if it still runs. A no-op on a zeroed struct and when stopped. */
void sl_live_server_kill(struct sl_live_server *server);

#endif
