/*
 * A datastore that behaves like a pool you do not own: an NFSv3 + MOUNT + PORTMAP server on the wall clock,
 * durable files below a folder, timed by a modelled store. One process, one loop.
 */
#ifndef SL_DATASTORE_DATASTORE_H
#define SL_DATASTORE_DATASTORE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/hist.h"
#include "sim/base/loop.h"
#include "sim/datastore/notice.h"
#include "sim/datastore/undo.h"
#include "sim/nfs3/nfs3.h"
#include "sim/store/store.h"

#define SL_DATASTORE_DIRTY_MAX (256ull << 20)
#define SL_DATASTORE_MAX_CONNECTIONS 256u

struct sl_datastore_config {
	struct sl_loop *loop;   /* wall loop, borrowed */
	struct sl_store *store; /* borrowed; timing */
	/* The virtual loop `store` runs on, borrowed; the datastore drives it on the wall clock (pacer.h) and
	 * nobody else may run it meanwhile. NULL: the store runs on `loop` itself (null store). */
	struct sl_loop *model_loop;
	const char *dir;          /* durable files live here; created when missing */
	const char *export_path;  /* NULL = "/" */
	const char *bind;         /* address, NULL = "127.0.0.1" */
	uint16_t nfs_port;        /* 0 = any free one */
	uint16_t mount_port;      /* 0 = any free one */
	uint16_t portmap_port;    /* 0 = no portmapper */
	int64_t credit_cap_ns;    /* lateness credit per connection; 0 = none */
	uint64_t dirty_max_bytes; /* UNSTABLE data kept in memory; 0 = SL_DATASTORE_DIRTY_MAX */
	uint64_t capacity_bytes;  /* size of the modelled pool; 0 = what the host has */
	bool host_durable;        /* stable means on the host's disk; the time for that is part of the
				     modelled one, and reported where it is longer */
	enum sl_nfs3_squash squash;
	uint32_t anon_uid, anon_gid; /* 0 = 65534 */
	bool read_only;
	/* A connection that lies idle so long is closed (0 = an hour), and one whose client has begun a call
	 * or does not take its replies (0 = a minute). Negative: never. */
	int64_t idle_ns, stall_ns;
	/* Told while the files are recovered: bytes of the journal. May be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	struct sl_notice notice;  /* what the operator should know of the folder, when it opens and later */
	uint32_t max_connections; /* 0 = SL_DATASTORE_MAX_CONNECTIONS */
	bool sync_disabled;       /* stable writes are volatile until the store syncs */
	struct sl_undo *undo; /* borrowed: what a cut may take from the files is kept there; NULL: nothing */
};

/* Lateness of replies against the model: what tells whether the timing can be trusted. */
struct sl_datastore_timing {
	struct sl_hist lateness_wall_ns;  /* reply sent - when it could have left (modelled completion,
				     arrival), ns,  timed calls */
	struct sl_hist modelled_model_ns; /* modelled latency, see sl_pacer_modelled; without the dilation */
	int64_t credit_used_ns;
	uint64_t host_syncs; /* host_durable: waits for the host's disk, and their time */
	int64_t host_sync_ns;
	uint64_t errors; /* txg syncs whose data could not be written to the folder */
};

struct sl_datastore;
struct sl_pacer;

/* Opens the files (recovering what a kill left), binds and listens. -EADDRINUSE names the port and the
 * remedy. */
int sl_datastore_new(const struct sl_datastore_config *config, struct sl_datastore **ret, struct sl_err *err);
/* Closes connections, syncs and closes the files. Accepts NULL. */
void sl_datastore_free(struct sl_datastore *ds);
/* What is in memory goes to the files now. 0, or a negative errno: of this, or the first by which the host's
 * disk has failed since the start. */
int sl_datastore_sync(struct sl_datastore *ds);
/* A power cut: the same without the sync, unstable data is gone. Accepts NULL. */
void sl_datastore_kill(struct sl_datastore *ds);
/* Just before it: takes from the files the writes that is_gone knows (undo.h). 0 or a negative errno. */
int sl_datastore_roll_back(struct sl_datastore *ds, bool (*is_gone)(void *arg, uint32_t id), void *arg);
uint16_t sl_datastore_nfs_port(const struct sl_datastore *ds);
uint16_t sl_datastore_mount_port(const struct sl_datastore *ds);
/* A snapshot, valid until the next call. */
const struct sl_datastore_timing *sl_datastore_timing(struct sl_datastore *ds);
/* What times the calls: for dilation, latencies off and on, stalls, another store. Belongs to `ds`. */
struct sl_pacer *sl_datastore_pacer(struct sl_datastore *ds);
uint32_t sl_datastore_connections(const struct sl_datastore *ds);
/* What host_durable adds to a stable write at least, on this host and in this folder: the median time of a
 * few small fdatasyncs (ns). 0 or a negative errno. */
int sl_datastore_sync_cost(struct sl_datastore *ds, int64_t *ret_ns);
/* Room of the folder's file system: 0 or a negative errno. */
int sl_datastore_fsstat(struct sl_datastore *ds, struct sl_fsstat *ret);
const struct sl_nfs3_stats *sl_datastore_stats(const struct sl_datastore *ds);

#endif
