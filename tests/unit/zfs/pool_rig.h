/* A pool of one data disk and one log device without transfer times, and calls that are made one at a time.
 */
#ifndef SL_TESTS_ZFS_POOL_RIG_H
#define SL_TESTS_ZFS_POOL_RIG_H

#include "sim/zfs/pool.h"
#include "tests/unit/zfs/lib.h"

struct rig {
	struct nas nas;
	struct sl_box box;
	struct sl_pool *pool;
	struct sl_store *store;
};

/* An SSD without transfer times: 0.1 ms a write, 0.05 ms a read. */
static inline struct sl_dev_spec ssd(void)
{
	return (struct sl_dev_spec){.kind = SL_DEV_SSD,
				    .capacity_bytes = 1e12,
				    .link_bps = 1e15,
				    .read_bps = 1e15,
				    .ssd_write_bps = 1e15,
				    .plp = 1,
				    .write_ns = 100e3,
				    .read_ns = 50e3,
				    .buffer_bytes = 1e9};
}

static inline struct rig *rig_new(int sync)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct sl_box *box;

	cr_assert_not_null(rig);
	nas_init(&rig->nas);
	box = &rig->box;
	box->data_layout = SL_LAYOUT_STRIPE;
	box->data_flush = box->log_flush = SL_FLUSH_HONOURED;
	box->ashift = 12;
	box->sync = sync;
	box->recordsize_bytes = (double)(128 * KIB);
	box->compression = SL_COMPRESS_LZ4;
	box->compress_ratio = 1;
	box->zfs_copy_bps = 1e15;
	box->nas_memory_bytes = 10e9;
	box->txg_timeout_ns = (double)(5 * SEC);
	box->zil_commit_cpu_ns = (double)MS;
	box->n_data = box->n_log = 1;
	box->data[0] = box->log[0] = ssd();
	return rig;
}

static inline void rig_start(struct rig *rig, int64_t working_set_bytes)
{
	struct sl_pool_env env = {
	    .loop = rig->nas.loop, .cpu = &rig->nas.cpu, .seed = 1, .working_set_bytes = working_set_bytes};
	struct sl_err err = {0};

	cr_assert_eq(sl_pool_new(&rig->box, &env, &rig->pool, &err), 0, "%s", err.msg);
	rig->store = sl_pool_store(rig->pool);
}

static inline void rig_free(struct rig *rig)
{
	sl_pool_free(rig->pool);
	nas_fini(&rig->nas);
	free(rig);
}

static inline struct sl_pool_stats stats_of(const struct rig *rig)
{
	struct sl_pool_stats stats;

	sl_pool_stats(rig->pool, sl_loop_now(rig->nas.loop), &stats);
	return stats;
}

struct call {
	struct sl_store_req req;
	int64_t done_ns;
};

static inline void call_done(struct sl_timer *timer, int64_t now_ns)
{
	sl_container_of(timer, struct call, req.done)->done_ns = now_ns;
}

/* Submits a call now; the time it takes comes back in *ret_ns. Waits for it alone, not for a txg. */
static inline struct sl_store_req submit(struct rig *rig, struct sl_store_req req, int64_t *ret_ns)
{
	int64_t start_ns = sl_loop_now(rig->nas.loop);
	struct call call = {.req = req, .done_ns = -1};

	call.req.done = (struct sl_timer){.fire = call_done};
	sl_store_submit(rig->store, start_ns, &call.req);
	cr_assert_eq(call.done_ns, -1, "done inside submit");
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, start_ns + 10 * MS, NULL), 0);
	cr_assert(call.done_ns >= 0);
	if (ret_ns) {
		*ret_ns = call.done_ns - start_ns;
	}
	return call.req;
}

static const struct sl_store_req file_sync = {
    .op = SL_STORE_WRITE, .stable = SL_FILE_SYNC, .bytes = 4096, .file = 1};
static const struct sl_store_req unstable = {
    .op = SL_STORE_WRITE, .stable = SL_UNSTABLE, .bytes = 4096, .file = 1};
static const struct sl_store_req commit_1 = {.op = SL_STORE_COMMIT, .file = 1};
static const struct sl_store_req commit_2 = {.op = SL_STORE_COMMIT, .file = 2};

#endif
