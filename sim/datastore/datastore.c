#include "sim/datastore/datastore.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "sim/datastore/affinity.h"
#include "sim/datastore/conn.h"
#include "sim/datastore/datagram.h"
#include "sim/datastore/files.h"
#include "sim/datastore/pacer.h"
#include "sim/serve/listen.h"

#define DATASTORE_BUF_BYTES (1u << 20)
#define DESCRIPTORS_KEPT 48u /* for files, listeners and the rest */
#define IDLE_NS 3600000000000
#define STALL_NS 60000000000

enum listener_kind {
	LISTENER_NFS,
	LISTENER_MOUNT,
	LISTENER_PORTMAP,
	LISTENER_COUNT
};

struct sl_datastore {
	struct sl_loop *loop;
	struct sl_tree *tree;
	struct sl_pacer *pacer;
	struct sl_nfs3 *nfs;
	struct sl_conns conns;
	struct sl_affinity affinity;
	struct sl_datastore_timing timing;
	struct sl_notice notice;
	struct sl_listener listeners[LISTENER_COUNT];
	struct sl_datagram portmap; /* the portmapper in datagrams */
};

static const char *const listener_names[LISTENER_COUNT] = {"nfs", "mount", "portmap"};

/* Time stamps of files: as coarse, and as cheap, as those the kernel gives to its own. */
static int64_t realtime_ns(void *arg)
{
	struct timespec ts = {0};

	(void)arg;
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void client_accepted(void *arg, int fd)
{
	struct sl_datastore *ds = arg;
	int on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)); /* half-open ones */
	/* The network is the model's; what paces the real one only costs time. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
	(void)sl_conn_open(&ds->conns, fd);
}

static int listener_open(struct sl_datastore *ds, enum listener_kind kind, const char *address, uint16_t port,
			 struct sl_err *err)
{
	int rc = sl_listener_tcp(&ds->listeners[kind], address, port, err);

	return rc < 0 ? sl_err_wrap(err, "%s", listener_names[kind]) : 0;
}

static const char *bind_address(const struct sl_datastore_config *config)
{
	return config->bind ? config->bind : "127.0.0.1";
}

static int listeners_open(struct sl_datastore *ds, const struct sl_datastore_config *config,
			  struct sl_err *err)
{
	const char *address = bind_address(config);
	int rc = listener_open(ds, LISTENER_NFS, address, config->nfs_port, err);

	if (rc == 0 && config->mount_port != 0 && config->mount_port == ds->listeners[LISTENER_NFS].port) {
		ds->listeners[LISTENER_MOUNT].port = config->mount_port;
	} else if (rc == 0) {
		rc = listener_open(ds, LISTENER_MOUNT, address, config->mount_port, err);
	}
	if (rc == 0 && config->portmap_port != 0) {
		rc = listener_open(ds, LISTENER_PORTMAP, address, config->portmap_port, err);
	}
	return rc;
}

static void store_synced(void *arg, int64_t as_of_ns)
{
	struct sl_datastore *ds = arg;

	(void)as_of_ns;
	if (ds->tree->ops->sync_all(ds->tree) < 0) {
		ds->timing.errors++;
	}
}

static int nfs_open(struct sl_datastore *ds, const struct sl_datastore_config *config, struct sl_err *err)
{
	struct sl_nfs3_config nfs = {
	    .loop = ds->loop,
	    .tree = ds->tree,
	    .store = sl_pacer_store(ds->pacer),
	    .export_path = config->export_path ? config->export_path : "/",
	    .nfs_port = ds->listeners[LISTENER_NFS].port,
	    .mount_port = ds->listeners[LISTENER_MOUNT].port,
	    .portmap_port = ds->listeners[LISTENER_PORTMAP].port,
	    .sync_disabled = config->sync_disabled,
	    .squash = config->squash,
	    .anon_uid = config->anon_uid,
	    .anon_gid = config->anon_gid,
	    .read_only = config->read_only,
	};

	sl_files_key(ds->tree, nfs.handle_key);
	if (getrandom(&nfs.write_verifier, sizeof(nfs.write_verifier), 0) !=
	    (ssize_t)sizeof(nfs.write_verifier)) {
		return sl_err_set(err, -EIO, "no random numbers");
	}
	return sl_nfs3_new(&nfs, &ds->nfs, err);
}

/* As many as asked for, as far as the descriptors that this process may have leave some for files. */
static uint32_t connections_max(const struct sl_datastore_config *config)
{
	uint32_t asked = config->max_connections ? config->max_connections : SL_DATASTORE_MAX_CONNECTIONS;
	struct rlimit limit;
	rlim_t most;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY) {
		return asked;
	}
	most = limit.rlim_cur > 2 * DESCRIPTORS_KEPT ? limit.rlim_cur - DESCRIPTORS_KEPT : limit.rlim_cur / 2;
	if (asked <= most) {
		return asked;
	}
	sl_notice_say(&config->notice,
		      "room for %llu connections, not %u: the limit of open files is %llu (ulimit -n)",
		      (unsigned long long)most, asked, (unsigned long long)limit.rlim_cur);
	return (uint32_t)most;
}

static int datastore_open(struct sl_datastore *ds, const struct sl_datastore_config *config,
			  struct sl_err *err)
{
	struct sl_files_options files = {
	    .dir = config->dir,
	    .dirty_max_bytes = config->dirty_max_bytes ? config->dirty_max_bytes : SL_DATASTORE_DIRTY_MAX,
	    .capacity_bytes = config->capacity_bytes,
	    .host_durable = config->host_durable,
	    .undo = config->undo,
	    .progress = config->progress,
	    .progress_arg = config->progress_arg,
	    .notice = config->notice,
	};
	int rc = sl_files_open(&files, &ds->tree, err);

	if (rc) {
		return rc;
	}
	ds->tree->wall_ns = realtime_ns;
	rc = listeners_open(ds, config, err);
	if (rc) {
		return rc;
	}
	ds->pacer = sl_pacer_new(ds->loop, config->model_loop, config->store, config->credit_cap_ns);
	ds->conns.buf = malloc(DATASTORE_BUF_BYTES);
	if (!ds->pacer || !ds->conns.buf || sl_hist_init(&ds->timing.lateness_wall_ns) ||
	    sl_hist_init(&ds->timing.modelled_model_ns)) {
		return sl_err_set(err, -ENOMEM, "out of memory for the datastore");
	}
	sl_pacer_store(ds->pacer)->on_synced = store_synced;
	sl_pacer_store(ds->pacer)->on_synced_arg = ds;
	rc = nfs_open(ds, config, err);
	if (rc == 0 && config->portmap_port != 0) {
		rc = sl_datagram_open(&ds->portmap, ds->loop, ds->nfs, bind_address(config),
				      config->portmap_port, err);
		rc = rc < 0 ? sl_err_wrap(err, "portmap over UDP") : 0;
	}
	ds->conns.loop = ds->loop;
	ds->conns.nfs = ds->nfs;
	ds->conns.pacer = ds->pacer;
	ds->conns.affinity = &ds->affinity;
	ds->conns.late =
	    (struct sl_dues_sink){.loop = config->loop,
				  .lateness = &ds->timing.lateness_wall_ns,
				  .credit_cap_ns = config->credit_cap_ns > 0 ? config->credit_cap_ns : 0};
	ds->conns.timed = config->model_loop != NULL;
	ds->conns.idle_ns = config->idle_ns ? config->idle_ns : IDLE_NS;
	ds->conns.stall_ns = config->stall_ns ? config->stall_ns : STALL_NS;
	ds->conns.buf_bytes = DATASTORE_BUF_BYTES;
	ds->conns.max = connections_max(config);
	ds->conns.notice = &ds->notice;
	return rc;
}

int sl_datastore_new(const struct sl_datastore_config *config, struct sl_datastore **ret, struct sl_err *err)
{
	struct sl_datastore *ds = calloc(1, sizeof(*ds));
	int rc;

	if (!ds) {
		return sl_err_set(err, -ENOMEM, "out of memory for the datastore");
	}
	ds->loop = config->loop;
	ds->portmap.io.fd = -1;
	ds->notice = config->notice;
	sl_affinity_init(&ds->affinity);
	for (int i = 0; i < LISTENER_COUNT; i++) {
		sl_listener_init(&ds->listeners[i], ds->loop, client_accepted, ds);
	}
	rc = datastore_open(ds, config, err);
	if (rc) {
		sl_datastore_free(ds);
		return rc;
	}
	*ret = ds;
	return 0;
}

int sl_datastore_sync(struct sl_datastore *ds)
{
	int rc = ds->tree->ops->sync_all(ds->tree);

	if (rc == 0 && ds->tree->settles) {
		rc = ds->tree->ops->settle(ds->tree);
	}
	return rc < 0 ? rc : sl_files_failure(ds->tree);
}

void sl_datastore_free(struct sl_datastore *ds)
{
	if (ds && ds->tree) {
		(void)ds->tree->ops->sync_all(ds->tree);
	}
	sl_datastore_kill(ds);
}

void sl_datastore_kill(struct sl_datastore *ds)
{
	if (!ds) {
		return;
	}
	for (int i = 0; i < LISTENER_COUNT; i++) {
		sl_listener_close(&ds->listeners[i]);
	}
	sl_datagram_close(&ds->portmap);
	sl_conns_close(&ds->conns);
	sl_affinity_fini(&ds->affinity);
	/* Before the server: calls in service give themselves back to it. A txg that ends now is too late. */
	if (ds->pacer) {
		sl_pacer_store(ds->pacer)->on_synced = NULL;
	}
	sl_pacer_free(ds->pacer);
	sl_nfs3_free(ds->nfs);
	if (ds->tree) {
		ds->tree->ops->free(ds->tree);
	}
	sl_hist_fini(&ds->timing.lateness_wall_ns);
	sl_hist_fini(&ds->timing.modelled_model_ns);
	free(ds->conns.buf);
	free(ds);
}

int sl_datastore_roll_back(struct sl_datastore *ds, bool (*is_gone)(void *arg, uint32_t id), void *arg)
{
	return sl_files_roll_back(ds->tree, is_gone, arg);
}

uint16_t sl_datastore_nfs_port(const struct sl_datastore *ds)
{
	return ds->listeners[LISTENER_NFS].port;
}

uint16_t sl_datastore_mount_port(const struct sl_datastore *ds)
{
	return ds->listeners[LISTENER_MOUNT].port;
}

const struct sl_datastore_timing *sl_datastore_timing(struct sl_datastore *ds)
{
	struct sl_files_syncs syncs;

	sl_hist_reset(&ds->timing.modelled_model_ns);
	sl_hist_merge(&ds->timing.modelled_model_ns, sl_pacer_modelled(ds->pacer));
	ds->timing.credit_used_ns = sl_pacer_credit_used(ds->pacer);
	syncs = sl_files_syncs(ds->tree);
	ds->timing.host_syncs = syncs.count;
	ds->timing.host_sync_ns = syncs.time_ns;
	return &ds->timing;
}

const struct sl_nfs3_stats *sl_datastore_stats(const struct sl_datastore *ds)
{
	return sl_nfs3_stats(ds->nfs);
}

struct sl_pacer *sl_datastore_pacer(struct sl_datastore *ds)
{
	return ds->pacer;
}

uint32_t sl_datastore_connections(const struct sl_datastore *ds)
{
	return ds->conns.count;
}

int sl_datastore_sync_cost(struct sl_datastore *ds, int64_t *ret_ns)
{
	return sl_files_sync_cost(ds->tree, ret_ns);
}

int sl_datastore_fsstat(struct sl_datastore *ds, struct sl_fsstat *ret)
{
	return ds->tree->ops->fsstat(ds->tree, ret);
}
