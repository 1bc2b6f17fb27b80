/*
 * What was promised is there after a cut, whatever the guest, the client and the pool: random boxes of honest
 * parts. And whatever lies is named. What each layer owes to those above it stands with its rule in
 * tests/unit/guest/test_joins.c, tests/unit/hyp/test_hyp.c and tests/unit/zfs/test_zil*.c.
 */
#include "sim/base/rng.h"
#include "sim/stack/cuts.h"
#include "sim/stack/powercut.h"
#include "sim/workload/fileio.h"
#include "tests/sim/lib.h"

#define SEC INT64_C(1000000000)

static const char boxes[] =
    "title: t\n"
    "host: {profile: modern-xeon, hypervisor: qemu}\n"
    "nas: {vcpus: 4, memory: 16GiB, nfsd_threads: 8}\n"
    "pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2], flush: honoured}, compression: off}\n"
    "guests:\n  - {vcpus: 4, memory: 1GiB}\n"
    "workloads:\n"
    "  oltp: {kind: oltp, rows: 20000, max_time: 1s, max_requests: 0}\n"
    "  fileio: {kind: fileio, mode: rndwr, file_total: 256MiB, max_time: 1s, max_requests: 0}\n"
    "  writes: {kind: syncwrite, file_total: 256MiB, max_time: 1s, max_requests: 0}\n"
    "variants:\n"
    "  none: {set: {pool.log: none}}\n"
    "  slog: {set: {pool.log: intel-dc-s3500-80}}\n"
    "  nvme: {set: {pool.log: intel-dc-p3700-400}}\n";

enum {
	NONE,
	SLOG,
	NVME
};
enum {
	OLTP,
	FILEIO,
	WRITES
};

struct cell {
	struct sl_box box;
	struct sl_workload workload;
};

static uint64_t below(struct sl_rng *rng, uint64_t n)
{
	return sl_rng_below(rng, n);
}

/* A flash drive without power-loss protection, for a log: honest about its flushes. */
static void take_protection(struct sl_dev_spec *log)
{
	log->plp = 0;
	log->buffer_bytes = 1 << 20;
}

static void draw_workload(struct sl_rng *rng, const struct sl_scenario *sc, int kind, struct sl_workload *ret)
{
	static const double blocks[] = {512, 4096, 16384, 65536};

	*ret = *sl_scenario_workload(sc, kind);
	ret->threads = 1 + (int64_t)below(rng, 8);
	ret->block_bytes = blocks[below(rng, 4)];
	ret->files = 1 + (int64_t)below(rng, 16);
	ret->fsync_every = 1 + (int64_t)below(rng, below(rng, 2) ? 100 : 4);
	ret->mode = below(rng, 4) ? ret->mode : SL_FILEIO_RNDRW;
	ret->pattern = (int)below(rng, 2);
	ret->stable = (int)below(rng, 2);
	ret->access = below(rng, 4) ? SL_ACCESS_NFS : SL_ACCESS_LOCAL;
	ret->depth = 1 + (int64_t)below(rng, 4);
	ret->max_requests = 3000;
}

/* Any box of honest parts; its txgs come several times a second, so that cuts meet them in each state. */
static void draw(struct sl_rng *rng, const struct sl_scenario *sc, int log, struct cell *ret)
{
	struct sl_box *box = &ret->box;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_box(sc, log, box, &err), 0, "%s", err.msg);
	draw_workload(rng, sc, (int)below(rng, 3), &ret->workload);
	box->client = (int)below(rng, SL_CLIENTS);
	box->hypervisor = box->client == SL_CLIENT_ESXI ? SL_HYP_ESXI : SL_HYP_QEMU;
	box->disk_cache = below(rng, 3) ? SL_CACHE_NONE : SL_CACHE_WRITETHROUGH;
	box->database = (int)below(rng, 2);
	box->zil = (int)below(rng, 3);
	box->sync = below(rng, 6) ? SL_SYNC_STANDARD : SL_SYNC_ALWAYS;
	box->nfsd_threads = 1 + (int64_t)below(rng, 16);
	box->guest_vcpus = 1 + (int64_t)below(rng, 4);
	box->txg_timeout_ns = below(rng, 2) ? 1e8 : 4e8;
	if (log == SLOG && below(rng, 2)) {
		take_protection(&box->log[0]);
	}
}

static struct sl_verdict cut(const struct cell *cell, uint64_t seed, uint64_t n, enum sl_zil_broken broken)
{
	struct sl_powercut_options options = {
	    .seed = seed, .when = SL_WHEN_RANDOM, .n_random = n, .client = -1, .broken = broken};
	struct sl_verdict verdict = {0};
	struct sl_err err = {0};

	cr_assert_eq(sl_powercut_cell(&cell->box, &cell->workload, &options, &verdict, &err), 0, "%s",
		     err.msg);
	return verdict;
}

static const char *describe(const struct cell *cell, char *buf, size_t size)
{
	const struct sl_box *box = &cell->box;
	const struct sl_workload *w = &cell->workload;

	(void)snprintf(
	    buf, size,
	    "%s, %d threads, %d files, fsync %d, block %g, stable %d, local %d; client %d, cache %d, "
	    "db %d, zil %d, sync %d, log %d",
	    w->name, (int)w->threads, (int)w->files, (int)w->fsync_every, w->block_bytes, w->stable,
	    w->access, box->client, box->disk_cache, box->database, box->zil, box->sync, box->n_log);
	return buf;
}

/* Input: 400 boxes drawn with the seeds 1 to 400, 60 cuts each. Right: 0 lost. */
Test(durability, honest_boxes_keep_what_they_promised)
{
	struct sl_scenario *sc = load_text(boxes);
	uint64_t acknowledged = 0;
	char text[300];

	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct sl_verdict verdict;
		struct sl_rng rng;
		struct cell cell;

		sl_rng_init(&rng, seed, "durability");
		draw(&rng, sc, (int)below(&rng, 3), &cell);
		verdict = cut(&cell, seed, 60, SL_ZIL_INTACT);
		cr_assert_eq(verdict.lossy, 0, "seed %d: %s: %s", (int)seed, verdict.why,
			     describe(&cell, text, sizeof(text)));
		acknowledged += verdict.acknowledged;
	}
	cr_assert(acknowledged > 50000, "%d", (int)acknowledged);
	sl_scenario_free(sc);
}

static void data_unreached(struct cell *cell)
{
	cell->box.data_flush = SL_FLUSH_IGNORED;
}

static void data_lies(struct cell *cell)
{
	for (int i = 0; i < cell->box.n_data; i++) {
		cell->box.data[i].flush_honoured = 0;
	}
}

static void log_unreached(struct cell *cell)
{
	take_protection(&cell->box.log[0]);
	cell->box.log_flush = SL_FLUSH_IGNORED;
}

static void log_forgets(struct cell *cell)
{
	take_protection(&cell->box.log[0]);
	cell->box.log[0].kind = SL_DEV_NVRAM;
	cell->box.log[0].parallel = 1;
}

static void log_needs_flush(struct cell *cell)
{
	take_protection(&cell->box.log[0]);
}

static void log_is_honest(struct cell *cell)
{
	(void)cell;
}

static void disk_is_unsafe(struct cell *cell)
{
	if (cell->box.client == SL_CLIENT_ESXI) {
		cell->box.client = SL_CLIENT_LIBNFS;
		cell->box.hypervisor = SL_HYP_QEMU;
	}
	cell->box.disk_cache = SL_CACHE_UNSAFE;
	cell->box.sync = SL_SYNC_STANDARD;
}

static void sync_is_off(struct cell *cell)
{
	cell->box.sync = SL_SYNC_DISABLED;
}

/* Each lie in twelve random boxes: it is found in some, and nobody else is ever blamed. */
Test(durability, whatever_lies_is_named)
{
	static const struct {
		const char *lie;
		void (*tell)(struct cell *cell);
		int log;
		enum sl_zil_broken broken;
		enum sl_cause cause;
	} lies[] = {
	    {"flushes end before the data disks", data_unreached, NONE, SL_ZIL_INTACT, SL_CAUSE_UNREACHED},
	    {"data disks answer flushes only", data_lies, NONE, SL_ZIL_INTACT, SL_CAUSE_LIAR},
	    {"flushes end before the log", log_unreached, SLOG, SL_ZIL_INTACT, SL_CAUSE_UNREACHED},
	    {"the log is volatile memory", log_forgets, SLOG, SL_ZIL_INTACT, SL_CAUSE_MEMORY},
	    {"the virtual disk is unsafe", disk_is_unsafe, NVME, SL_ZIL_INTACT, SL_CAUSE_DISK_CACHE},
	    {"sync=disabled", sync_is_off, NVME, SL_ZIL_INTACT, SL_CAUSE_DISABLED},
	    {"the ZIL does not flush", log_needs_flush, SLOG, SL_ZIL_NO_FLUSH, SL_CAUSE_UNFLUSHED},
	    {"the ZIL answers early", log_is_honest, NVME, SL_ZIL_EARLY_ACK, SL_CAUSE_EARLY},
	};
	struct sl_scenario *sc = load_text(boxes);
	char text[300];

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		uint64_t lossy = 0;

		for (uint64_t seed = 1; seed <= 12; seed++) {
			struct sl_verdict verdict;
			struct sl_rng rng;
			struct cell cell;

			sl_rng_init(&rng, seed, "lies");
			draw(&rng, sc, lies[i].log, &cell);
			lies[i].tell(&cell);
			verdict = cut(&cell, seed, 100, lies[i].broken);
			cr_assert_eq(verdict.causes[lies[i].cause], verdict.lossy, "%s: seed %d: %s: %s",
				     lies[i].lie, (int)seed, verdict.why,
				     describe(&cell, text, sizeof(text)));
			lossy += verdict.lossy;
		}
		cr_assert(lossy > 0, "%s: nothing lost", lies[i].lie);
	}
	sl_scenario_free(sc);
}

/* Input: ten honest boxes under eight threads for longer than two txgs, 10,000 cuts each. Right: 0 lost. */
Test(durability, ten_thousand_cuts_of_ten_honest_boxes_lose_nothing)
{
	static const struct {
		int client, cache, zil, log, kind;
	} rows[] = {
	    {SL_CLIENT_LIBNFS, SL_CACHE_NONE, SL_ZIL_2014, NONE, OLTP},
	    {SL_CLIENT_LIBNFS, SL_CACHE_NONE, SL_ZIL_21, SLOG, FILEIO},
	    {SL_CLIENT_LIBNFS, SL_CACHE_NONE, SL_ZIL_23, NONE, FILEIO},
	    {SL_CLIENT_LIBNFS, SL_CACHE_WRITETHROUGH, SL_ZIL_23, NVME, OLTP},
	    {SL_CLIENT_ESXI, SL_CACHE_NONE, SL_ZIL_2014, SLOG, OLTP},
	    {SL_CLIENT_ESXI, SL_CACHE_NONE, SL_ZIL_21, NONE, FILEIO},
	    {SL_CLIENT_ESXI, SL_CACHE_NONE, SL_ZIL_23, SLOG, OLTP},
	    {SL_CLIENT_LINUX, SL_CACHE_NONE, SL_ZIL_2014, SLOG, FILEIO},
	    {SL_CLIENT_LINUX, SL_CACHE_NONE, SL_ZIL_21, NONE, OLTP},
	    {SL_CLIENT_LINUX, SL_CACHE_WRITETHROUGH, SL_ZIL_23, SLOG, FILEIO},
	};
	struct sl_scenario *sc = load_text(boxes);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_verdict verdict;
		struct cell cell;

		cr_assert_eq(sl_scenario_box(sc, rows[i].log, &cell.box, NULL), 0);
		cell.workload = *sl_scenario_workload(sc, rows[i].kind);
		cell.workload.threads = 8;
		cell.workload.files = 16;
		cell.workload.fsync_every = 4;
		cell.workload.max_time_ns = 12e9;
		cell.box.client = rows[i].client;
		cell.box.hypervisor = rows[i].client == SL_CLIENT_ESXI ? SL_HYP_ESXI : SL_HYP_QEMU;
		cell.box.disk_cache = rows[i].cache;
		cell.box.zil = rows[i].zil;
		verdict = cut(&cell, 1, 10000, SL_ZIL_INTACT);
		cr_assert_eq(verdict.n_cuts, 10000);
		cr_assert_eq(verdict.lossy, 0, "box %d: %s", (int)i, verdict.why);
		cr_assert(verdict.acknowledged > 1000, "box %d: %d", (int)i, (int)verdict.acknowledged);
	}
	sl_scenario_free(sc);
}

static double loss_of(const struct cell *cell, double *ret_rate)
{
	struct sl_measure measure;
	struct sl_err err = {0};

	cr_assert_eq(sl_stack_run_loss(&cell->box, &cell->workload, &(struct sl_stack_setup){.seed = 1},
				       &measure, &err),
		     0, "%s", err.msg);
	*ret_rate = measure.rate;
	cr_assert(!measure.loss.at_least);
	return measure.loss.seconds;
}

/*
 * sync=disabled, no limit of dirty data reached: a txg is open for zfs_txg_timeout, 5 s, and its first write
 * is safe only when it has synced as well. Just before that it is 5 s old and as long as the sync takes: 5 s
 * and something, whatever the size of the file and however fast the writer; more writes are lost, not older
 * ones.
 */
Test(durability, loss_window_shrinks_neither_with_file_size_nor_with_speed)
{
	static const struct {
		double file_bytes;
		int64_t depth;
	} rows[] = {{16 << 20, 1}, {64 << 20, 1}, {256 << 20, 1}, {16 << 20, 4}};
	struct sl_scenario *sc = load_text(boxes);
	double seconds[4], rates[4], least = 1e9, most = 0;
	struct cell cell;

	cr_assert_eq(sl_scenario_box(sc, NVME, &cell.box, NULL), 0);
	cell.box.sync = SL_SYNC_DISABLED;
	cell.box.zil = SL_ZIL_21; /* until 0.7 a sync started with 64 MiB */
	cell.box.nas_memory_bytes = 64LL << 30;
	for (int i = 0; i < cell.box.n_data; i++) {
		cell.box.data[i] = cell.box.log[0];
	}
	cell.box.n_log = 0;
	for (int i = 0; i < 4; i++) {
		cell.workload = *sl_scenario_workload(sc, WRITES);
		cell.workload.file_total_bytes = rows[i].file_bytes;
		cell.workload.depth = rows[i].depth;
		cell.workload.block_bytes = 4096;
		cell.workload.max_time_ns = 11e9;
		seconds[i] = loss_of(&cell, &rates[i]);
		least = seconds[i] < least ? seconds[i] : least;
		most = seconds[i] > most ? seconds[i] : most;
		cr_assert(seconds[i] > 4.99 && seconds[i] < 11, "%d: %f s", i, seconds[i]);
	}
	cr_assert(most < 1.25 * least, "%f to %f s", least, most);
	cr_assert(rates[3] > 1.5 * rates[0], "%f and %f writes/s", rates[0], rates[3]);
	/* powercut says the same. */
	cell.workload.depth = 1;
	cr_assert(fabs((double)cut(&cell, 1, 300, SL_ZIL_INTACT).window_ns / 1e9 / seconds[0] - 1) < 0.05);
	/* A run shorter than two txgs has not seen the worst: it says so, powercut as well. */
	cell.workload.max_time_ns = 4e9;
	cr_assert(cut(&cell, 1, 10, SL_ZIL_INTACT).at_least);
	sl_scenario_free(sc);
}

struct clock {
	int64_t at_ns;
	uint64_t lost;
};

static int64_t each_tenth(void *arg)
{
	struct clock *clock = arg;

	return clock->at_ns += SEC / 10;
}

static void count_lost(void *arg, const struct sl_outcome *outcome)
{
	struct clock *clock = arg;

	clock->lost += outcome->lost;
}

/* Ten minutes keep no more than one: 600 s of OLTP, hundreds of writes a second, on a box that keeps what it
 * promised, and with sync=disabled, where two txgs can be lost. */
Test(durability, record_does_not_grow_with_the_run)
{
	struct sl_scenario *sc = load_text(boxes);

	for (int sync = SL_SYNC_STANDARD; sync <= SL_SYNC_DISABLED; sync++) {
		uint64_t rooms[2];

		for (int longer = 0; longer < 2; longer++) {
			struct clock clock = {0};
			struct sl_measure measure;
			struct sl_cuts cuts;
			struct cell cell;

			cr_assert_eq(sl_scenario_box(sc, SLOG, &cell.box, NULL), 0);
			cell.box.sync = sync;
			cell.workload = *sl_scenario_workload(sc, OLTP);
			cell.workload.max_time_ns = longer ? 600e9 : 60e9;
			sl_cuts_init(&cuts, 1 << 20);
			cuts.next = each_tenth;
			cuts.cut = count_lost;
			cuts.arg = &clock;
			cr_assert_eq(sl_cuts_run(&cuts, &cell.box, &cell.workload,
						 &(struct sl_stack_setup){.seed = 1},
						 &(struct sl_audit_options){.client = cell.box.client},
						 &measure, NULL),
				     0);
			rooms[longer] = cuts.record.ledger.writes.room + cuts.record.history.writes.room +
					cuts.record.history.blocks.room + cuts.record.history.txgs.room +
					cuts.record.ledger.groups.room + cuts.record.ledger.unstable.room;
			cr_assert(cuts.record.history.n_orphans < 1000);
			cr_assert_eq(clock.lost > 0, sync == SL_SYNC_DISABLED);
			cr_assert(!longer || cuts.record.ledger.n_sent > 200000);
			sl_cuts_fini(&cuts);
		}
		cr_assert(rooms[1] <= 2 * rooms[0], "%d, then %d", (int)rooms[0], (int)rooms[1]);
	}
	sl_scenario_free(sc);
}
