/* Assembles the layers of a box, runs a workload on them in virtual time, and reads the meters. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/cpu.h"
#include "sim/base/loop.h"
#include "sim/guest/client.h"
#include "sim/hyp/hyp.h"
#include "sim/stack/disk_run.h"
#include "sim/stack/record.h"
#include "sim/wire/wire.h"
#include "sim/zfs/nfsd.h"
#include "sim/zfs/pool.h"

#define LEAST_HIT 1e-6 /* of the ARC: less makes no difference */

struct stack {
	struct sl_loop *loop;
	struct sl_cpu guest_cpu, nas_cpu;
	struct sl_pool *pool;
	struct sl_store *server;
	struct sl_wire wire;
	struct sl_hyp hyp;
	struct sl_client *client;
};

/* A database uses its pages unevenly, and its caches answer first: the set of which the ARC, if all of it
 * were used evenly, would answer as large a share of what is left. */
static int64_t database_set(const struct sl_box *box, const struct sl_workload *workload)
{
	double arc_bytes = sl_pool_arc_bytes(box), hit;

	for (int i = 0; i < box->n_cache; i++) {
		arc_bytes += (double)box->cache[i].capacity_bytes * box->l2arc_filled;
	}
	hit = sl_oltp_arc_hit(box, workload, arc_bytes);

	return hit >= 1 ? 0 : (int64_t)(arc_bytes / (hit > LEAST_HIT ? hit : LEAST_HIT));
}

/* Data that the workload reads from the pool, or changes in part: decides the ARC's hit rate. */
static int64_t working_set(const struct sl_box *box, const struct sl_workload *workload)
{
	bool random = workload->kind == SL_WL_SYNCWRITE && workload->pattern == SL_PATTERN_RANDOM;

	if (workload->kind == SL_WL_OLTP) {
		return database_set(box, workload);
	}
	return workload->kind == SL_WL_FILEIO || random ? (int64_t)workload->file_total_bytes : 0;
}

/* Pool and NFS server. On success *ret_server owns the pool. */
/* A VM runs on no more CPUs than its host has. */
static int cpus_of(const struct sl_box *box, int64_t vcpus)
{
	return (int)(box->host_cores > 0 && box->host_cores < vcpus ? box->host_cores : vcpus);
}

static int build_server(const struct sl_box *box, const struct sl_pool_env *env, struct sl_pool **ret_pool,
			struct sl_store **ret_server, struct sl_err *err)
{
	struct sl_nfsd_config config = {
	    .cpu = env->cpu,
	    .trace = env->trace,
	    .threads = (int)box->nfsd_threads,
	    .op_cpu_ns = (int64_t)box->nfsd_op_cpu_ns,
	    .byte_bps = box->nfsd_byte_bps,
	};
	int rc = sl_pool_new(box, env, ret_pool, err);

	if (rc < 0) {
		return rc;
	}
	config.below = sl_pool_store(*ret_pool);
	*ret_server = sl_nfsd_new(&config);
	if (!*ret_server) {
		sl_pool_free(*ret_pool);
		*ret_pool = NULL;
		return sl_err_set(err, -ENOMEM, "NFS server: out of memory");
	}
	return 0;
}

static struct sl_client *new_client(const struct sl_client_env *env)
{
	switch (env->workload->kind) {
	case SL_WL_OLTP:
		return sl_oltp_client_new(env);
	case SL_WL_FILEIO:
		return sl_fileio_client_new(env);
	case SL_WL_SYNCWRITE:
	case SL_WL_DISK: /* has no client, see sl_disk_run */
		break;
	}
	return sl_syncwrite_client_new(env);
}

static void stack_fini(struct stack *stack)
{
	sl_client_free(stack->client);
	if (stack->server) {
		sl_hyp_fini(&stack->hyp);
		sl_store_free(stack->server);
	}
	sl_loop_free(stack->loop);
}

static int stack_init(struct stack *stack, const struct sl_box *box, const struct sl_workload *workload,
		      const struct sl_stack_setup *setup, struct sl_record *record, struct sl_err *err)
{
	struct sl_trace *trace = setup->trace;
	struct sl_client_env env = {
	    .cpu = &stack->guest_cpu,
	    .hyp = &stack->hyp,
	    .trace = trace,
	    .box = box,
	    .workload = workload,
	    .seed = setup->seed,
	    .ledger = record ? &record->ledger : NULL,
	};
	struct sl_pool_env pool = {.cpu = &stack->nas_cpu,
				   .trace = trace,
				   .seed = setup->seed,
				   .history = record ? &record->history : NULL,
				   .broken = setup->broken,
				   .working_set_bytes = working_set(box, workload)};
	struct sl_box loaded = *box; /* with this load's data */
	int rc;

	memset(stack, 0, sizeof(*stack));
	stack->loop = sl_loop_new_virtual();
	if (!stack->loop) {
		return sl_err_set(err, -ENOMEM, "model: out of memory");
	}
	sl_loop_set_stopped(stack->loop, setup->stopped);
	sl_cpu_init(&stack->guest_cpu, stack->loop, cpus_of(box, box->guest_vcpus));
	sl_cpu_set_switching(&stack->guest_cpu, (int64_t)box->guest_switch_ns, (int64_t)box->guest_slice_ns);
	sl_cpu_init(&stack->nas_cpu, stack->loop, cpus_of(box, box->nas_vcpus));
	sl_cpu_set_trace(&stack->guest_cpu, trace, "guest vCPUs");
	sl_cpu_set_trace(&stack->nas_cpu, trace, "storage vCPUs");
	pool.loop = stack->loop;
	loaded.compress_ratio = sl_workload_ratio(workload, box);
	rc = build_server(&loaded, &pool, &stack->pool, &stack->server, err);
	if (rc < 0) {
		return rc;
	}
	sl_wire_init(&stack->wire, box);
	sl_hyp_init(&stack->hyp, box, stack->loop, &stack->wire, stack->server, trace);
	stack->hyp.ledger = env.ledger;
	env.loop = stack->loop;
	if (workload->kind == SL_WL_SYNCWRITE && workload->access == SL_ACCESS_LOCAL) {
		env.local = sl_pool_store(stack->pool);
		env.local_cpu = &stack->nas_cpu;
	}
	stack->client = new_client(&env);
	return stack->client ? 0 : sl_err_set(err, -ENOMEM, "workload %s: out of memory", workload->name);
}

static void add_resource(struct sl_measure *measure, const char *name, double utilisation)
{
	measure->resources[measure->n_resources++] = (struct sl_resource){name, utilisation};
}

static void read_meters(const struct stack *stack, const struct sl_box *box, struct sl_measure *ret)
{
	const struct sl_client_report *report = &stack->client->report;
	struct sl_pool_stats pool;
	int64_t now_ns = sl_loop_now(stack->loop);

	*ret = (struct sl_measure){
	    .rate =
		report->elapsed_ns > 0 ? (double)report->operations * 1e9 / (double)report->elapsed_ns : 0,
	    .operations = report->operations,
	    .elapsed_ns = report->elapsed_ns,
	    .events = sl_loop_events(stack->loop),
	};
	sl_measure_latency(ret, &report->latency);
	if (report->read_ns > 0) {
		ret->read_share =
		    (double)report->read_ns / (sl_hist_mean(&report->latency) * (double)report->operations);
	}
	ret->series = report->series;
	sl_series_finish(&ret->series, report->elapsed_ns);
	sl_pool_stats(stack->pool, now_ns, &pool);
	ret->log_bytes = pool.log_bytes;
	ret->log_peak_bytes = pool.log_peak_bytes;
	ret->log_room_bytes = pool.log_room_bytes;
	ret->log_need_bytes = pool.log_need_bytes;
	ret->log_requests = pool.log_requests;
	ret->data_bytes = pool.data_bytes;
	add_resource(ret, "guest vCPUs", sl_cpu_utilisation(&stack->guest_cpu, now_ns));
	add_resource(ret, "storage VM vCPUs", sl_cpu_utilisation(&stack->nas_cpu, now_ns));
	if (pool.throttle_utilisation > 0) {
		add_resource(ret, "write throttle", pool.throttle_utilisation);
	}
	add_resource(ret, "ZIL", pool.zil_utilisation);
	if (box->n_log > 0) {
		add_resource(ret, "log device", pool.log_utilisation);
	}
	add_resource(ret, "data disks", pool.data_utilisation);
	if (box->n_special > 0) {
		add_resource(ret, "special vdev", pool.special_utilisation);
	}
	if (box->n_cache > 0) {
		add_resource(ret, "cache devices", pool.cache_utilisation);
	}
}

/* A load that never waits and costs no CPU has no rate. */
static int check_time(const struct sl_workload *workload, const struct sl_measure *measure,
		      struct sl_err *err)
{
	if (measure->operations > 0 && measure->elapsed_ns == 0) {
		return sl_err_set(
		    err, -EDOM,
		    "workload %s: its requests take no time; give params.guest.file_cpu a cost, or "
		    "the load fsyncs or files beyond the guest's memory",
		    workload->name);
	}
	return 0;
}

int sl_stack_record(const struct sl_box *box, const struct sl_workload *workload,
		    const struct sl_stack_setup *setup, struct sl_record *record, struct sl_measure *ret,
		    struct sl_err *err)
{
	struct stack stack;
	int rc;

	if (workload->kind == SL_WL_DISK) {
		return sl_disk_run(box, workload, setup, ret, err);
	}
	rc = stack_init(&stack, box, workload, setup, record, err);

	if (rc == 0 && record) {
		record->pool = stack.pool;
	}
	if (rc == 0) {
		assert(stack.client);
		stack.client->ops->start(stack.client);
		rc = sl_loop_run(stack.loop, err);
	}
	if (rc == 0) {
		read_meters(&stack, box, ret);
		rc = check_time(workload, ret, err);
	}
	if (rc == 0 && record) {
		record->end_ns = sl_loop_now(stack.loop);
		sl_ledger_pass(&record->ledger, record->end_ns + 1);
	}
	stack_fini(&stack);
	return rc;
}

int sl_stack_run(const struct sl_box *box, const struct sl_workload *workload,
		 const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_err *err)
{
	return sl_stack_record(box, workload, setup, NULL, ret, err);
}

void sl_record_init(struct sl_record *record, uint32_t limit)
{
	sl_ledger_init(&record->ledger, limit);
	sl_history_init(&record->history, &record->ledger);
	record->end_ns = 0;
	record->pool = NULL;
}

void sl_record_fini(struct sl_record *record)
{
	sl_history_fini(&record->history);
	sl_ledger_fini(&record->ledger);
}

void sl_record_catch_up(struct sl_record *record)
{
	sl_pool_catch_up(record->pool);
}

/* A store with CPUs of its own: what serve puts behind its sockets. */
struct served_store {
	struct sl_store store;
	struct sl_cpu cpu;
	struct sl_store *server;
};

static void served_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	sl_store_submit(sl_container_of(store, struct served_store, store)->server, now_ns, req);
}

static void served_free(struct sl_store *store)
{
	struct served_store *served = sl_container_of(store, struct served_store, store);

	sl_store_free(served->server);
	free(served);
}

static const struct sl_store_ops served_ops = {.submit = served_submit, .free = served_free};

static void server_synced(void *arg, int64_t as_of_ns)
{
	struct served_store *served = arg;

	if (served->store.on_synced) {
		served->store.on_synced(served->store.on_synced_arg, as_of_ns);
	}
}

int sl_stack_store(const struct sl_box *box, struct sl_loop *loop, uint64_t seed, struct sl_record *record,
		   struct sl_store **ret, struct sl_pool **ret_pool, struct sl_err *err)
{
	struct served_store *served = calloc(1, sizeof(*served));
	struct sl_pool_env env = {.loop = loop, .seed = seed, .history = record ? &record->history : NULL};
	struct sl_pool *pool;
	int rc;

	if (!served) {
		return sl_err_set(err, -ENOMEM, "datastore: out of memory");
	}
	env.cpu = &served->cpu;
	sl_cpu_init(&served->cpu, loop, cpus_of(box, box->nas_vcpus));
	rc = build_server(box, &env, &pool, &served->server, err);
	if (rc < 0) {
		free(served);
		return rc;
	}
	served->store.ops = &served_ops;
	served->server->on_synced = server_synced;
	served->server->on_synced_arg = served;
	if (record) {
		record->pool = pool;
	}
	*ret = &served->store;
	*ret_pool = pool;
	return 0;
}
