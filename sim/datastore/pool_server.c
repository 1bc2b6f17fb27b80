#include "sim/datastore/pool_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/datastore/pacer.h"
#include "sim/datastore/promises.h"
#include "sim/stack/result.h"

#define SIDES_MAX 2
#define SLOP_MAX (128.0 * 1024 * 1024 * 1024)

/* A modelled pool on a virtual loop of its own. */
struct pool_model {
	struct sl_loop *loop; /* NULL: none */
	struct sl_store *store;
	struct sl_pool *pool; /* part of store */
	struct sl_promises *promises;
};

/* A log device that has died, or one side of it: it stays dead when the power comes back. */
struct dead_log {
	int device, side;
};

struct sl_pool_server {
	struct sl_pool_server_config config;
	struct sl_box box;
	struct pool_model model;
	struct pool_model next; /* waits for the present one to finish */
	struct sl_datastore *ds;
	struct sl_undo undo;
	struct dead_log dead[SL_BOX_LOG_MAX * SIDES_MAX];
	int n_dead;
	struct sl_timer power_on;
	struct sl_err lost;
	struct sl_outcome outcome; /* of the last cut */
	uint32_t cuts;
};

/* Accepts one that was only partly made. */
static void model_free(struct pool_model *model)
{
	sl_store_free(model->store);
	sl_promises_free(model->promises);
	sl_loop_free(model->loop);
	*model = (struct pool_model){0};
}

static bool at_risk(void *arg, uint32_t write)
{
	return sl_promises_at_risk(arg, write);
}

/* What was written to the files and is not at risk any more need not be kept twice. */
static void model_settled(void *arg)
{
	struct sl_pool_server *server = arg;

	sl_undo_settle(&server->undo, at_risk, server->model.promises);
}

static int model_new(struct sl_pool_server *server, const struct sl_box *box, struct pool_model *ret,
		     struct sl_err *err)
{
	int rc;

	ret->loop = sl_loop_new_virtual();
	ret->promises = sl_promises_new(box, model_settled, server);
	if (!ret->loop || !ret->promises) {
		model_free(ret);
		return sl_err_set(err, -ENOMEM, "datastore: out of memory");
	}
	rc = sl_stack_store(box, ret->loop, server->config.seed, sl_promises_record(ret->promises),
			    &ret->store, &ret->pool, err);
	if (rc < 0) {
		model_free(ret);
	}
	return rc;
}

static void request_sent(void *arg, int64_t model_ns, struct sl_store_req *req)
{
	struct sl_pool_server *server = arg;

	sl_promises_sent(server->model.promises, model_ns, req);
	if (req->op == SL_STORE_WRITE) {
		sl_undo_name(&server->undo, req->write);
	}
}

static void request_done(void *arg, int64_t sent_ns, int64_t model_ns, const struct sl_store_req *req)
{
	struct sl_pool_server *server = arg;

	sl_promises_done(server->model.promises, sent_ns, model_ns, req);
}

/*
 * What the pool's file system has for files: the disks without parity and copies (equal vdevs, each disk as
 * large as the smallest), less the slop that ZFS keeps (spa_slop_shift 5: 1/32, at most 128 GiB).
 */
static uint64_t pool_bytes(const struct sl_box *box)
{
	static const int parity[] = {[SL_LAYOUT_RAIDZ1] = 1, [SL_LAYOUT_RAIDZ2] = 2, [SL_LAYOUT_RAIDZ3] = 3};
	double least = 0, sum = 0, slop;
	int64_t width = box->n_data / box->data_vdevs, columns = width;

	for (int i = 0; i < box->n_data; i++) {
		double bytes = box->data[i].capacity_bytes;

		sum += bytes;
		least = i == 0 || bytes < least ? bytes : least;
	}
	if (box->data_layout == SL_LAYOUT_MIRROR) {
		columns = 1;
	} else if (box->data_layout >= SL_LAYOUT_RAIDZ1) {
		columns = width - parity[box->data_layout];
	}
	if (box->data_layout != SL_LAYOUT_STRIPE) {
		sum = least * (double)(box->data_vdevs * columns);
	}
	slop = sum / 32 < SLOP_MAX ? sum / 32 : SLOP_MAX;
	return (uint64_t)(sum - slop);
}

static int server_open(struct sl_pool_server *server, struct sl_err *err)
{
	struct sl_datastore_config *config = &server->config.datastore;
	struct sl_pacer_watch watch = {.sent = request_sent, .done = request_done, .arg = server};
	int rc = model_new(server, &server->box, &server->model, err);

	if (rc < 0) {
		return rc;
	}
	for (int i = 0; i < server->n_dead; i++) {
		(void)sl_pool_fail_log(server->model.pool, 0, server->dead[i].device, server->dead[i].side);
	}
	config->undo = &server->undo;
	config->model_loop = server->model.loop;
	config->store = server->model.store;
	if (config->capacity_bytes == 0) {
		config->capacity_bytes = pool_bytes(&server->box);
	}
	config->sync_disabled = server->box.sync == SL_SYNC_DISABLED;
	rc = sl_datastore_new(config, &server->ds, err);
	if (rc < 0) {
		model_free(&server->model);
		return rc;
	}
	/* After a power cut it comes back where its clients look for it. */
	config->nfs_port = sl_datastore_nfs_port(server->ds);
	config->mount_port = sl_datastore_mount_port(server->ds);
	if (server->config.pace > 0) {
		sl_pacer_set_pace(sl_datastore_pacer(server->ds), server->config.pace);
	}
	sl_pacer_set_watch(sl_datastore_pacer(server->ds), &watch);
	sl_pacer_latency(sl_datastore_pacer(server->ds), !server->config.instant);
	return 0;
}

static void power_on_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_pool_server *server = sl_container_of(timer, struct sl_pool_server, power_on);

	(void)now_ns;
	if (server_open(server, &server->lost) < 0) {
		sl_loop_stop(server->config.datastore.loop);
	}
}

int sl_pool_server_new(const struct sl_pool_server_config *config, struct sl_pool_server **ret,
		       struct sl_err *err)
{
	struct sl_pool_server *server = calloc(1, sizeof(*server));
	int rc;

	if (!server) {
		return sl_err_set(err, -ENOMEM, "datastore: out of memory");
	}
	server->config = *config;
	server->box = *config->box;
	server->config.box = NULL;
	server->power_on.fire = power_on_fire;
	sl_undo_init(&server->undo);
	rc = server_open(server, err);
	if (rc < 0) {
		sl_undo_fini(&server->undo);
		free(server);
		return rc;
	}
	*ret = server;
	return 0;
}

int sl_pool_server_sync(struct sl_pool_server *server, struct sl_err *err)
{
	int rc = server->ds ? sl_datastore_sync(server->ds) : 0;

	return rc < 0 ? sl_err_set(err, rc,
				   "%s: the disk below failed: %s; clients were told of what is not there",
				   server->config.datastore.dir, strerror(-rc))
		      : 0;
}

void sl_pool_server_free(struct sl_pool_server *server)
{
	if (!server) {
		return;
	}
	sl_loop_cancel(server->config.datastore.loop, &server->power_on);
	sl_datastore_free(server->ds);
	model_free(&server->model);
	model_free(&server->next);
	sl_undo_fini(&server->undo);
	free(server);
}

uint64_t sl_pool_server_bytes(const struct sl_pool_server *server)
{
	return pool_bytes(&server->box);
}

struct sl_datastore *sl_pool_server_datastore(struct sl_pool_server *server)
{
	return server->ds;
}

void sl_pool_server_stats(const struct sl_pool_server *server, struct sl_pool_stats *ret)
{
	*ret = (struct sl_pool_stats){0};
	if (server->model.loop) {
		sl_pool_stats(server->model.pool, sl_loop_now(server->model.loop), ret);
	}
}

int64_t sl_pool_server_uptime(const struct sl_pool_server *server)
{
	return server->model.loop ? sl_loop_now(server->model.loop) : 0;
}

static bool never_at_risk(void *arg, uint32_t write)
{
	(void)arg;
	(void)write;
	return false;
}

static void model_retired(void *arg)
{
	struct sl_pool_server *server = arg;

	/* All that it was asked counts as synced; the new pool counts its writes from 1 again. */
	sl_undo_settle(&server->undo, never_at_risk, NULL);
	model_free(&server->model);
	server->model = server->next;
	server->next = (struct pool_model){0};
	server->n_dead = 0;
}

int sl_pool_server_change(struct sl_pool_server *server, const struct sl_box *box, struct sl_err *err)
{
	int rc;

	if (!server->ds) {
		return sl_err_set(err, -EBUSY, "the power is off; wait until it is back");
	}
	if (server->next.loop) {
		return sl_err_set(err, -EBUSY, "an earlier change waits for its txg; try again");
	}
	rc = model_new(server, box, &server->next, err);
	if (rc < 0) {
		return rc;
	}
	server->box = *box;
	return sl_pacer_swap(sl_datastore_pacer(server->ds), server->next.loop, server->next.store,
			     model_retired, server);
}

bool sl_pool_server_changing(const struct sl_pool_server *server)
{
	return server->next.loop != NULL;
}

void sl_pool_server_set_pace(struct sl_pool_server *server, double pace)
{
	server->config.pace = pace;
	if (server->ds) {
		sl_pacer_set_pace(sl_datastore_pacer(server->ds), pace);
	}
}

void sl_pool_server_latency(struct sl_pool_server *server, bool on)
{
	server->config.instant = !on;
	if (server->ds) {
		sl_pacer_latency(sl_datastore_pacer(server->ds), on);
	}
}

void sl_pool_server_stall(struct sl_pool_server *server, int64_t stall_ns)
{
	if (server->ds) {
		sl_pacer_stall(sl_datastore_pacer(server->ds), stall_ns);
	}
}

struct failure {
	struct sl_pool_server *server;
	struct dead_log log;
	int rc;
};

static bool log_is_dead(const struct sl_pool_server *server)
{
	for (int i = 0; i < server->box.n_log; i++) {
		if (!sl_pool_log_dead(server->model.pool, i)) {
			return false;
		}
	}
	return server->box.n_log > 0;
}

static void failure_happens(void *arg, int64_t model_ns)
{
	struct failure *failure = arg;
	struct sl_pool_server *server = failure->server;

	failure->rc = sl_pool_fail_log(server->model.pool, model_ns, failure->log.device, failure->log.side);
	if (failure->rc == 0 && log_is_dead(server)) {
		sl_promises_log_dead(server->model.promises, model_ns);
	}
}

int sl_pool_server_fail_log(struct sl_pool_server *server, int device, int side, struct sl_err *err)
{
	struct failure failure = {.server = server, .log = {device, side}};

	if (!server->ds) {
		return sl_err_set(err, -EBUSY, "the power is off; wait until it is back");
	}
	sl_pacer_happen(sl_datastore_pacer(server->ds), failure_happens, &failure);
	if (failure.rc == 0 && server->n_dead < SL_BOX_LOG_MAX * SIDES_MAX) {
		server->dead[server->n_dead++] = failure.log;
	}
	return failure.rc < 0
		   ? sl_err_set(err, failure.rc,
				"log device %d: there is no such device or side, or it is dead already",
				device)
		   : 0;
}

const char *sl_pool_server_log(const struct sl_pool_server *server, int device, bool *ret_dead)
{
	if (device < 0 || device >= server->box.n_log) {
		return NULL;
	}
	/* Those of a change that still waits are in the box, and new. */
	*ret_dead = server->model.loop && !server->next.loop && sl_pool_log_dead(server->model.pool, device);
	return server->box.log[device].name;
}

static void cut_happens(void *arg, int64_t model_ns)
{
	struct sl_pool_server *server = arg;

	sl_promises_cut(server->model.promises, model_ns, &server->outcome);
}

static bool is_gone(void *arg, uint32_t write)
{
	return sl_promises_is_gone(arg, write);
}

int sl_pool_server_powercut(struct sl_pool_server *server, int64_t off_ns, struct sl_outcome *ret,
			    struct sl_err *err)
{
	struct sl_loop *loop = server->config.datastore.loop;
	int rc;

	if (!server->ds) {
		return sl_err_set(err, -EBUSY, "the power is off already");
	}
	server->cuts++;
	sl_pacer_happen(sl_datastore_pacer(server->ds), cut_happens, server);
	rc = sl_datastore_roll_back(server->ds, is_gone, server->model.promises);
	*ret = server->outcome;
	sl_datastore_kill(server->ds);
	server->ds = NULL;
	model_free(&server->model);
	model_free(&server->next);
	sl_loop_arm(loop, &server->power_on, sl_loop_clock(loop) + off_ns);
	return rc < 0
		   ? sl_err_set(err, rc, "not all that the cut takes could be taken back: %s", strerror(-rc))
		   : 0;
}

const struct sl_err *sl_pool_server_lost(const struct sl_pool_server *server)
{
	return server->lost.code < 0 ? &server->lost : NULL;
}

uint32_t sl_pool_server_cuts(const struct sl_pool_server *server)
{
	return server->cuts;
}
