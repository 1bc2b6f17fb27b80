/* An intent log over disks that note what they get, and commits at given times. */
#ifndef SL_TESTS_ZFS_ZIL_RIG_H
#define SL_TESTS_ZFS_ZIL_RIG_H

#include "sim/zfs/zil.h"
#include "tests/unit/zfs/lib.h"

#define KEEP 1000000u /* a txg that is never synced */

struct rig {
	struct nas nas;
	struct sl_vdev data, slog;
	struct sl_zil zil;
	struct sl_placed placed;
};

struct commit {
	struct rig *rig;
	struct sl_zil_waiter waiter;
	struct event start;
	const char *name;
	uint32_t bytes;
	bool done;
};

/* Three data disks in raidz1 and one log disk, which `slog` puts to use. */
static inline struct rig *rig_new_of(bool slog, enum sl_zil_generation generation)
{
	static const char *const data[] = {"d0", "d1", "d2"}, *const log[] = {"log"};
	struct rig *rig = calloc(1, sizeof(*rig));
	struct sl_zil_config config = {.generation = generation,
				       .has_slog = slog,
				       .bulk_bytes = UINT64_MAX,
				       .copy_bps = 1e15,
				       .recordsize_bytes = 128 * KIB,
				       .compress_ratio = 1};

	cr_assert_not_null(rig);
	nas_init(&rig->nas);
	vdev_of_disks(&rig->data, &rig->nas, SL_VDEV_RAIDZ1, data, 3);
	vdev_of_disks(&rig->slog, &rig->nas, SL_VDEV_STRIPE, log, 1);
	config.data = config.records = &rig->data;
	config.log = slog ? &rig->slog : &rig->data;
	config.placed = &rig->placed;
	rig->placed.txg = KEEP;
	sl_zil_init(&rig->zil, &config, rig->nas.loop, &rig->nas.cpu, NULL);
	return rig;
}

static inline struct rig *rig_new(bool slog)
{
	return rig_new_of(slog, SL_ZIL_2014);
}

static inline void rig_free(struct rig *rig)
{
	sl_zil_fini(&rig->zil);
	sl_placed_fini(&rig->placed);
	sl_vdev_fini(&rig->data);
	sl_vdev_fini(&rig->slog);
	nas_fini(&rig->nas);
	free(rig);
}

static inline void log_write(struct rig *rig, uint64_t file, uint32_t bytes, uint64_t record, bool sync)
{
	struct sl_zil_change change = {.file = file, .txg = KEEP, .bytes = bytes};

	change.offset_bytes = (int64_t)record * 128 * KIB;
	sl_zil_log(&rig->zil, &change, sync);
}

static inline void commit_done(struct sl_timer *timer, int64_t now_ns)
{
	struct commit *commit = sl_container_of(timer, struct commit, waiter.done);

	commit->done = true;
	if (commit->name) {
		notes_add(&commit->rig->nas.notes, now_ns, "%s done", commit->name);
	}
}

static inline void commit_start(void *arg, int64_t now_ns)
{
	struct commit *commit = arg;

	if (commit->bytes > 0) {
		log_write(commit->rig, 1, commit->bytes, 0, true);
	}
	commit->waiter.done.fire = commit_done;
	sl_zil_commit(&commit->rig->zil, now_ns, 1, &commit->waiter);
}

/* Commits everything logged for file 1 and returns how many bytes of log that wrote. */
static inline int64_t commit_now(struct rig *rig)
{
	int64_t before = rig->zil.log_bytes;
	struct commit commit = {.rig = rig};

	commit_start(&commit, sl_loop_now(rig->nas.loop));
	run_all(rig->nas.loop);
	cr_assert(commit.done);
	return rig->zil.log_bytes - before;
}

/* The same for one write of `bytes`. */
static inline int64_t commit_write(struct rig *rig, uint32_t bytes)
{
	log_write(rig, 1, bytes, 0, true);
	return commit_now(rig);
}

#endif
