#include "sim/guest/client.h"

int sl_client_init(struct sl_client *client, const struct sl_client_ops *ops, const struct sl_client_env *env)
{
	client->ops = ops;
	client->env = *env;
	return sl_hist_init(&client->report.latency);
}

struct sl_ext4_config sl_client_fs(const struct sl_client_env *env)
{
	const struct sl_box *box = env->box;

	return (struct sl_ext4_config){
	    .loop = env->loop,
	    .cpu = env->cpu,
	    .disk = env->hyp,
	    .trace = env->trace,
	    .block_cpu_ns = (int64_t)box->guest_block_cpu_ns,
	    .tick_ns = (int64_t)box->guest_tick_ns,
	    .cache_bytes = (int64_t)(box->guest_memory_bytes * box->guest_cache_share),
	    .background_percent = box->dirty_background_percent,
	    .limit_percent = box->dirty_percent,
	    .writeback_interval_ns = (int64_t)box->writeback_interval_ns,
	    .expire_ns = (int64_t)box->dirty_expire_ns,
	    .requests = box->guest_requests,
	    .commit_interval_ns = (int64_t)box->commit_interval_ns,
	    .read_ahead_bytes = (int64_t)box->read_ahead_bytes,
	};
}

void sl_client_free(struct sl_client *client)
{
	if (client) {
		sl_hist_fini(&client->report.latency);
		client->ops->free(client);
	}
}

void sl_client_stop(struct sl_client *client, int64_t now_ns)
{
	if (!client->stopped) {
		client->stopped = true;
		client->report.elapsed_ns = now_ns;
		sl_loop_stop(client->env.loop);
	}
}

void sl_client_note(struct sl_client *client, int64_t now_ns)
{
	client->report.operations++;
	sl_series_count(&client->report.series, now_ns);
}

bool sl_client_count(struct sl_client *client, int64_t now_ns)
{
	const struct sl_workload *workload = client->env.workload;
	uint64_t max_requests = (uint64_t)workload->max_requests;

	if (client->stopped) {
		return false;
	}
	sl_client_note(client, now_ns);
	if ((max_requests > 0 && client->report.operations >= max_requests) ||
	    (workload->max_time_ns > 0 && (double)now_ns >= workload->max_time_ns)) {
		sl_client_stop(client, now_ns);
		return false;
	}
	return true;
}
