/*
 * A program that writes synchronously: over NFS as the box's client does, each block FILE_SYNC or UNSTABLE
 * and a COMMIT, cut at the client's wsize; or on the storage machine itself (dd oflag=sync), right into the
 * pool. A block is durable when all its parts are.
 */
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/guest/client.h"

#define SYNCWRITE_FILE 2 /* not the VM's disk */

struct syncwrite_client;

struct slot {
	struct syncwrite_client *client;
	struct sl_store_req call;
	struct sl_cpu_job job; /* local access: the system call */
	int64_t start_ns, sent_ns;
	uint32_t group; /* of the block's writes, in the ledger */
};

struct syncwrite_client {
	struct sl_client client;
	struct sl_rng rng;
	uint64_t blocks, next_block, started;
	struct slot slots[];
};

static void start_write(struct slot *slot, int64_t now_ns);

static void call_ready(struct sl_timer *timer, int64_t now_ns)
{
	struct slot *slot = sl_container_of(timer, struct slot, job.done);

	sl_store_submit(slot->client->client.env.local, now_ns, &slot->call);
}

static void send_call(struct slot *slot, int64_t now_ns)
{
	const struct sl_client_env *env = &slot->client->client.env;

	slot->sent_ns = now_ns;
	if (env->local) {
		slot->call.write = slot->call.op == SL_STORE_WRITE
				       ? sl_ledger_sent(env->ledger, now_ns, &slot->call, slot->group)
				       : 0;
		slot->job.done.fire = call_ready;
		sl_cpu_run(env->local_cpu, now_ns, &slot->job, (int64_t)env->box->local_call_cpu_ns);
	} else {
		sl_hyp_call(env->hyp, now_ns, &slot->call, slot->group);
	}
}

/* What the hypervisor's client does for calls over NFS. */
static void enter_local(const struct slot *slot, int64_t now_ns)
{
	struct sl_ledger *ledger = slot->client->client.env.ledger;

	if (slot->call.op == SL_STORE_WRITE) {
		sl_ledger_replied(ledger, now_ns, slot->call.write, slot->call.stable);
	} else {
		sl_ledger_committed(ledger, now_ns, slot->call.file, slot->sent_ns);
	}
}

static void write_done(struct sl_timer *timer, int64_t now_ns)
{
	struct slot *slot = sl_container_of(timer, struct slot, call.done);
	struct sl_client *client = &slot->client->client;

	if (client->env.local) {
		enter_local(slot, now_ns);
	}
	if (slot->call.op == SL_STORE_WRITE && slot->call.stable == SL_UNSTABLE) {
		slot->call.op = SL_STORE_COMMIT;
		slot->call.bytes = 0;
		send_call(slot, now_ns);
		return;
	}
	sl_ledger_promise(client->env.ledger, now_ns, slot->group);
	sl_hist_add(&client->report.latency, now_ns - slot->start_ns);
	sl_trace_thread(client->env.trace, "guest", "write", slot->call.tag, slot->start_ns, now_ns);
	if (sl_client_count(client, now_ns)) {
		start_write(slot, now_ns);
	}
}

static void start_write(struct slot *slot, int64_t now_ns)
{
	struct syncwrite_client *writer = slot->client;
	const struct sl_workload *workload = writer->client.env.workload;
	uint64_t block = workload->pattern == SL_PATTERN_SEQUENTIAL
			     ? writer->next_block++ % writer->blocks
			     : sl_rng_below(&writer->rng, writer->blocks);

	slot->start_ns = now_ns;
	slot->group = sl_ledger_group(writer->client.env.ledger);
	slot->call = (struct sl_store_req){
	    .done.fire = write_done,
	    .op = SL_STORE_WRITE,
	    .stable = workload->stable == SL_WRITE_FILE_SYNC ? SL_FILE_SYNC : SL_UNSTABLE,
	    .zero = sl_workload_writes_zeros(workload),
	    .bytes = (uint32_t)workload->block_bytes,
	    .file = SYNCWRITE_FILE,
	    .offset_bytes = (int64_t)block * (int64_t)workload->block_bytes,
	    .tag = ++writer->started,
	};
	send_call(slot, now_ns);
}

static size_t slot_count(const struct sl_workload *workload)
{
	return (size_t)(workload->threads * workload->depth);
}

static void syncwrite_start(struct sl_client *client)
{
	struct syncwrite_client *writer = sl_container_of(client, struct syncwrite_client, client);

	for (size_t i = 0; i < slot_count(client->env.workload); i++) {
		start_write(&writer->slots[i], 0);
	}
}

static void syncwrite_free(struct sl_client *client)
{
	free(sl_container_of(client, struct syncwrite_client, client));
}

static const struct sl_client_ops syncwrite_ops = {.start = syncwrite_start, .free = syncwrite_free};

struct sl_client *sl_syncwrite_client_new(const struct sl_client_env *env)
{
	size_t slots = slot_count(env->workload);
	struct syncwrite_client *writer = calloc(1, sizeof(*writer) + slots * sizeof(writer->slots[0]));

	if (!writer) {
		return NULL;
	}
	if (sl_client_init(&writer->client, &syncwrite_ops, env) < 0) {
		sl_client_free(&writer->client);
		return NULL;
	}
	sl_rng_init(&writer->rng, env->seed, "syncwrite");
	writer->blocks = (uint64_t)(env->workload->file_total_bytes / env->workload->block_bytes);
	writer->blocks = writer->blocks > 0 ? writer->blocks : 1;
	for (size_t i = 0; i < slots; i++) {
		writer->slots[i].client = writer;
	}
	return &writer->client;
}
