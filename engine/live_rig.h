/*
 * What a live workload runs on: the datastore alone, or with the guest of LAB section 4 on it (virtual disk,
 * ext4, and MariaDB for oltp). Prepared once per workload at no latency; every run gets a copy of that, so
 * that runs which are compared start alike.
 */
#ifndef SL_ENGINE_LIVE_RIG_H
#define SL_ENGINE_LIVE_RIG_H

#include <limits.h>

#include "engine/live_load.h"
#include "engine/live_server.h"
#include "guests/chain.h"
#include "guests/mariadb.h"
#include "guests/vdisk.h"
#include "sim/stack/trust.h"

enum sl_live_guest {
	SL_LIVE_NO_GUEST, /* libnfs programs are clients of the datastore */
	SL_LIVE_FILES,
	SL_LIVE_DATABASE
};

/* The guest that `workload` needs. */
enum sl_live_guest sl_live_guest_of(const struct sl_workload *workload);

struct sl_live_run {
	const struct sl_box *box;
	uint64_t seed;
	double dilate;
	bool free; /* the pool takes no time */
};

/* Zero-initialise, set those up to `stopped`. */
struct sl_live_rig {
	const char *bin, *dir; /* of sloglab-load; a folder of ours */
	const struct sl_workload *workload;
	const struct sl_box *guest_box; /* memory and database settings of the guest */
	enum sl_live_guest guest;
	bool (*stopped)(void); /* asked in each wait: true ends it with -EINTR; NULL: never */
	/* Of the last load: who took part, and how long it waited for a CPU meanwhile. */
	struct sl_trust_wait waits[SL_TRUST_WHO];
	/* private */
	char prepared[PATH_MAX], store[PATH_MAX], data[PATH_MAX], url[128];
	struct sl_live_server_config server_config;
	struct sl_live_server server;
	struct sl_vdisk disk;
	struct sl_mariadb db;
	struct sl_chain chain;
};

/* Makes the guest's disk with its files or table, to copy from; nothing to do without a guest. Needs a
 * sandbox. */
int sl_live_rig_prepare(struct sl_live_rig *rig, struct sl_err *err);
/* A copy of what was prepared, everything on it up, caches warm, latencies on. */
int sl_live_rig_up(struct sl_live_rig *rig, const struct sl_live_run *run, struct sl_err *err);
/* One run of the workload; sets rig->waits. */
int sl_live_rig_load(struct sl_live_rig *rig, uint64_t seed, struct sl_live_load_result *ret,
		     struct sl_err *err);
/* Everything down, also what is half up; the copy is removed. */
void sl_live_rig_down(struct sl_live_rig *rig);
/* Removes what was prepared. */
void sl_live_rig_clear(struct sl_live_rig *rig);

#endif
