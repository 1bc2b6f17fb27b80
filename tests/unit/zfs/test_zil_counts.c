/*
 * What a call costs the log, counted on a storage VM of 1 GiB with OpenZFS 2.1.11 and a log device: writes
 * and flushes of the device (/sys/block/NAME/stat) and bytes, per call. Its NFS server takes 128 KiB at a
 * time. In the model the first calls are left out, as they were there.
 */
#include <math.h>

#include "sim/zfs/pool.h"
#include "tests/unit/zfs/lib.h"

#define WARM_UP 20
#define CALLS 200
#define PART (128 * KIB)
#define PARTS_MAX 8
#define GAP (10 * US) /* between the WRITEs of a call: they come through one CPU */

enum how {
	FILE_SYNC,
	UNSTABLE_COMMIT
};

struct counts {
	double writes, flushes, kib;
};

static const struct {
	const char *name;
	uint32_t bytes;
	enum how how;
	struct counts counted;
	double tolerance; /* of each, relative */
} calls[] = {
    {"4 KiB", 4096, FILE_SYNC, {1, 1, 8.0}, 0.02},
    {"16 KiB", 16384, FILE_SYNC, {1, 1, 20.0}, 0.02},
    {"128 KiB", 131072, FILE_SYNC, {2.02, 1.02, 132.0}, 0.025},
    {"1 MiB, unstable and COMMIT", 1 << 20, UNSTABLE_COMMIT, {9.05, 1.08, 1032}, 0.08},
    /* Eight WRITEs, each commits and flushes, and they fill each other's blocks. */
    {"1 MiB", 1 << 20, FILE_SYNC, {10.1, 8.0, 1034}, 0.12},
};

struct part {
	struct sl_store_req req;
	int *left;
};

static void part_done(struct sl_timer *timer, int64_t now_ns)
{
	struct part *part = sl_container_of(timer, struct part, req.done);

	(void)now_ns;
	(*part->left)--;
}

/* WRITEs of at most 128 KiB, or a COMMIT; until all are done. */
static void send(struct nas *nas, struct sl_store *store, struct sl_store_req whole)
{
	struct part parts[PARTS_MAX];
	int n = whole.bytes > PART ? (int)(whole.bytes / PART) : 1, left = n;

	for (int i = 0; i < n; i++) {
		parts[i] = (struct part){.req = whole, .left = &left};
		parts[i].req.done.fire = part_done;
		parts[i].req.bytes = n > 1 ? PART : whole.bytes;
		parts[i].req.offset_bytes += i * PART;
		sl_store_submit(store, sl_loop_now(nas->loop), &parts[i].req);
		if (i + 1 < n) {
			cr_assert_eq(sl_loop_run_until(nas->loop, sl_loop_now(nas->loop) + GAP, NULL), 0);
		}
	}
	while (left > 0) {
		cr_assert_eq(sl_loop_run_until(nas->loop, sl_loop_now(nas->loop) + 100 * US, NULL), 0);
	}
}

/* As fast at flushes as that one, which needs none of the disk's time: they do not meet. */
static struct sl_dev_spec ssd(void)
{
	return (struct sl_dev_spec){.kind = SL_DEV_SSD,
				    .capacity_bytes = 1e12,
				    .link_bps = 500e6,
				    .read_bps = 500e6,
				    .ssd_write_bps = 300e6,
				    .plp = 1,
				    .flush_ns = 1e3,
				    .interface = SL_IF_SAS,
				    .write_ns = 100e3,
				    .read_ns = 50e3,
				    .buffer_bytes = 1e9};
}

static struct sl_pool *pool_new(struct nas *nas, bool slog)
{
	struct sl_pool_env env = {.loop = nas->loop, .cpu = &nas->cpu, .seed = 1};
	struct sl_box *box = calloc(1, sizeof(*box));
	struct sl_pool *pool;
	struct sl_err err = {0};

	cr_assert_not_null(box);
	box->zil = SL_ZFS_21;
	box->data_layout = SL_LAYOUT_RAIDZ1;
	box->data_flush = box->log_flush = SL_FLUSH_HONOURED;
	box->ashift = 12;
	box->sync = SL_SYNC_STANDARD;
	box->recordsize_bytes = (double)PART;
	box->compression = SL_COMPRESS_OFF;
	box->compress_ratio = 1;
	box->zfs_copy_bps = 5e9;
	box->nas_memory_bytes = 10e9;
	box->txg_timeout_ns = (double)(1000 * SEC);
	box->n_data = 3;
	box->n_log = slog;
	box->data[0] = box->data[1] = box->data[2] = box->log[0] = ssd();
	cr_assert_eq(sl_pool_new(box, &env, &pool, &err), 0, "%s", err.msg);
	free(box);
	return pool;
}

struct totals {
	struct sl_pool_stats first, last;
};

static struct totals run_calls(uint32_t bytes, enum how how, bool slog)
{
	struct nas nas;
	struct sl_pool *pool;
	struct totals totals = {0};

	nas_init(&nas);
	pool = pool_new(&nas, slog);
	for (int i = 0; i < WARM_UP + CALLS; i++) {
		struct sl_store_req write = {.op = SL_STORE_WRITE, .bytes = bytes, .file = 1};
		struct sl_store_req commit = {.op = SL_STORE_COMMIT, .file = 1};

		if (i == WARM_UP) {
			sl_pool_stats(pool, sl_loop_now(nas.loop), &totals.first);
		}
		write.stable = how == FILE_SYNC ? SL_FILE_SYNC : SL_UNSTABLE;
		write.offset_bytes = (int64_t)i * bytes;
		send(&nas, sl_pool_store(pool), write);
		if (how == UNSTABLE_COMMIT) {
			send(&nas, sl_pool_store(pool), commit);
		}
	}
	sl_pool_stats(pool, sl_loop_now(nas.loop), &totals.last);
	sl_pool_free(pool);
	nas_fini(&nas);
	return totals;
}

static double per_call(uint64_t last, uint64_t first)
{
	return (double)(last - first) / CALLS;
}

Test(zil_counts, log_device_of_2_1_11)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct totals t = run_calls(calls[i].bytes, calls[i].how, true);
		struct counts now = {per_call(t.last.log.writes, t.first.log.writes),
				     per_call(t.last.log.flushes, t.first.log.flushes),
				     per_call((uint64_t)t.last.log_bytes, (uint64_t)t.first.log_bytes) / KIB};
		const struct counts *counted = &calls[i].counted;

		cr_expect(fabs(now.writes / counted->writes - 1) <= calls[i].tolerance, "%s: %g writes",
			  calls[i].name, now.writes);
		cr_expect(fabs(now.flushes / counted->flushes - 1) <= calls[i].tolerance, "%s: %g flushes",
			  calls[i].name, now.flushes);
		cr_expect(fabs(now.kib / counted->kib - 1) <= calls[i].tolerance / 5, "%s: %g KiB",
			  calls[i].name, now.kib);
	}
}

/* Without one 1 MiB is eight records in place, and a block that points to them: 4 KiB; each WRITE that
 * commits may have one of its own. Counted: eight records per call and one small log block. */
Test(zil_counts, no_log_device_in_2_1_11)
{
	for (int how = FILE_SYNC; how <= UNSTABLE_COMMIT; how++) {
		struct totals t = run_calls(1 << 20, (enum how)how, false);
		double in_place = per_call(t.last.zil_indirect, t.first.zil_indirect),
		       kib = per_call((uint64_t)t.last.log_bytes, (uint64_t)t.first.log_bytes) / KIB;

		cr_expect_float_eq(in_place, 8, 0.001, "%g in place", in_place);
		if (how == UNSTABLE_COMMIT) {
			cr_expect_float_eq(kib, 4, 0.1, "%g KiB", kib);
		} else {
			cr_expect(kib >= 4 && kib <= 32, "%g KiB", kib);
		}
	}
}
