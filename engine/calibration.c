#include "engine/calibration.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "engine/live_rig.h"
#include "engine/noise.h"
#include "sim/base/json.h"
#include "sim/base/out.h"

#define PROBES 1000
#define SLOW_PROBES 500 /* with modelled latencies: at most some ms each */
#define SMALL 4096
#define LARGE 65536
#define BUFFERED 16384 /* what guest.file_cpu is stated for */
#define FILE_BYTES (16 << 20)
#define PROBE_MS 120000
#define OLTP_TIME_S 8
#define OLTP_ROWS 20000
#define CALL_TIME_S 1
#define CALL_FILE_BYTES 1048576
#define OVERLAP_MAX 1.5 /* CPU time of a pair by its time; beyond, other work was in between */

/* What a child that probes the file system is to do, and found; in memory it shares with us. */
struct probe {
	int (*step)(struct probe *probe);
	char *buf;
	char path[PATH_MAX];
	double write_small_ns, write_large_ns, write_flush_ns, flush_ns; /* medians */
	double pair_cpu_ns, file_cpu_ns, fsync_cpu_ns;                   /* of the child */
	int64_t took_ns[PROBES];
};

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts = {0};

	(void)clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* Child */

static double median(int64_t *values, size_t n)
{
	size_t middle = n / 2;

	qsort(values, n, sizeof(*values), by_value);
	return (double)values[middle];
}

/* Median time of a direct write of `bytes`, flushed if asked for: QEMU skips a flush that finds nothing
 * written. Other work on the machine makes some of them long: the median is what this host costs. */
static double round_trip(struct probe *probe, int fd, size_t bytes, bool flush)
{
	for (int i = 0; i < PROBES; i++) {
		off_t at = (off_t)i * LARGE % FILE_BYTES;
		int64_t start_ns = clock_ns(CLOCK_MONOTONIC);

		if (pwrite(fd, probe->buf, bytes, at) != (ssize_t)bytes || (flush && fdatasync(fd) < 0)) {
			return -1;
		}
		probe->took_ns[i] = clock_ns(CLOCK_MONOTONIC) - start_ns;
	}
	return median(probe->took_ns, PROBES);
}

static int step_file(struct probe *probe)
{
	int fd = open(probe->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	bool written = fd >= 0;

	for (off_t at = 0; written && at < FILE_BYTES; at += LARGE) {
		written = pwrite(fd, probe->buf, LARGE, at) == LARGE;
	}
	return written && fsync(fd) == 0 ? 0 : -1;
}

static int step_direct(struct probe *probe)
{
	int fd = open(probe->path, O_RDWR | O_DIRECT | O_CLOEXEC);

	probe->write_small_ns = round_trip(probe, fd, SMALL, false);
	probe->write_large_ns = round_trip(probe, fd, LARGE, false);
	return probe->write_small_ns > 0 && probe->write_large_ns > 0 ? 0 : -1;
}

static int step_pairs(struct probe *probe)
{
	int fd = open(probe->path, O_RDWR | O_DIRECT | O_CLOEXEC);
	int64_t start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	probe->write_flush_ns = round_trip(probe, fd, SMALL, true);
	probe->pair_cpu_ns = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns) / PROBES;
	return probe->write_flush_ns > 0 ? 0 : -1;
}

/* The flush alone, of what has just been written. */
static int step_flushes(struct probe *probe)
{
	int fd = open(probe->path, O_RDWR | O_DIRECT | O_CLOEXEC);

	for (int i = 0; i < SLOW_PROBES; i++) {
		int64_t start_ns;

		if (pwrite(fd, probe->buf, SMALL, (off_t)i * LARGE % FILE_BYTES) != SMALL) {
			return -1;
		}
		start_ns = clock_ns(CLOCK_MONOTONIC);
		if (fdatasync(fd) < 0) {
			return -1;
		}
		probe->took_ns[i] = clock_ns(CLOCK_MONOTONIC) - start_ns;
	}
	probe->flush_ns = median(probe->took_ns, SLOW_PROBES);
	return 0;
}

static int step_buffered(struct probe *probe)
{
	int fd = open(probe->path, O_RDWR | O_CLOEXEC);
	int64_t start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (int i = 0; i < PROBES; i++) {
		if (pwrite(fd, probe->buf, BUFFERED, (off_t)i * BUFFERED % FILE_BYTES) != BUFFERED) {
			return -1;
		}
	}
	probe->file_cpu_ns = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns) / PROBES;
	if (fsync(fd) < 0) {
		return -1;
	}
	start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < PROBES; i++) {
		(void)fsync(fd);
	}
	probe->fsync_cpu_ns = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns) / PROBES;
	return 0;
}

static int probe_main(void *arg)
{
	struct probe *probe = arg;

	if (probe->step(probe) < 0) {
		dprintf(STDERR_FILENO, "%s: %s\n", probe->path, strerror(errno));
		return 1;
	}
	return 0;
}

/* Parent */

static int step_run(struct sl_live_rig *rig, struct probe *probe, int (*step)(struct probe *probe),
		    struct sl_err *err)
{
	const struct sl_patience patience = {.timeout_ms = PROBE_MS, .stopped = rig->stopped};
	struct sl_process_spec spec = {.name = "calibration", .main = probe_main, .arg = probe};
	char log[PATH_MAX];

	(void)snprintf(log, sizeof(log), "%.4000s/calibration.log", rig->dir);
	spec.log = log;
	probe->step = step;
	return sl_process_run(&spec, &patience, err);
}

/* Of what stands between the file system and the pool. */
static double chain_cpu_ns(const struct sl_live_rig *rig)
{
	return (double)(sl_process_cpu_ns(&rig->disk.daemon) + sl_process_cpu_ns(&rig->server.process));
}

/* Of a disk request, each several times. */
struct rounds {
	struct sl_noisy block_cpu_ns, op_delay_ns, byte_ns;
};

/*
 * Where a request takes its modelled time, all that stands in the chain goes to sleep, and each part has to
 * be woken on the way back: what a flush takes beyond its modelled time is the delay that a load meets. With
 * disks that take no time nobody sleeps.
 */
static int wake_measure(struct sl_live_rig *rig, struct probe *probe, double *ret_beyond_ns,
			struct sl_err *err)
{
	struct sl_timing timing = {0};
	struct sl_live_calls calls;
	int rc = sl_live_server_latency(&rig->server, true, err);

	if (rc == 0) {
		rc = step_run(rig, probe, step_flushes, err);
	}
	if (rc == 0) {
		rc = sl_live_server_timing(&rig->server, &timing, &calls, err);
	}
	*ret_beyond_ns = probe->flush_ns - (double)timing.modelled_p50_wall_ns;
	return rc;
}

bool sl_calibration_request(const struct sl_calibration_times *times, double *ret_cpu_ns,
			    double *ret_delay_ns)
{
	*ret_cpu_ns = fmin(times->cpu_ns, times->trip_ns);
	*ret_delay_ns =
	    (times->cpu_ns < times->trip_ns ? fmax(times->trip_ns, times->beyond_ns) : times->beyond_ns) -
	    *ret_cpu_ns;
	return times->cpu_ns <= OVERLAP_MAX * times->trip_ns;
}

/* A pair is two requests: WRITE and COMMIT. */
static int round_run(struct sl_live_rig *rig, struct probe *probe, struct rounds *rounds, struct sl_err *err)
{
	struct sl_calibration_times times = {0};
	double cpu_ns = 0, delay_ns = 0;
	int rc = sl_live_server_latency(&rig->server, false, err);

	if (rc == 0) {
		rc = step_run(rig, probe, step_direct, err);
	}
	times.cpu_ns = -chain_cpu_ns(rig);
	if (rc == 0) {
		rc = step_run(rig, probe, step_pairs, err);
	}
	times.cpu_ns = ((times.cpu_ns + chain_cpu_ns(rig)) / PROBES + probe->pair_cpu_ns) / 2;
	times.trip_ns = probe->write_flush_ns / 2;
	if (rc == 0) {
		rc = wake_measure(rig, probe, &times.beyond_ns, err);
	}
	if (rc == 0) {
		bool apart = sl_calibration_request(&times, &cpu_ns, &delay_ns);

		sl_noisy_add(&rounds->block_cpu_ns, apart ? cpu_ns : times.trip_ns - times.cpu_ns);
		sl_noisy_add(&rounds->op_delay_ns, apart ? delay_ns : times.trip_ns - times.cpu_ns);
		sl_noisy_add(&rounds->byte_ns,
			     (probe->write_large_ns - probe->write_small_ns) / (LARGE - SMALL));
	}
	return rc;
}

/* Until each figure can be told from noise; refused where that does not come. Latencies are on at the end. */
static int rounds_run(struct sl_live_rig *rig, struct probe *probe, struct sl_calibration *ret,
		      struct sl_err *err)
{
	struct rounds rounds = {0};
	double byte_ns = 0;

	for (int i = 0; i < SL_NOISE_MOST; i++) {
		bool told;
		int rc = round_run(rig, probe, &rounds, err);

		if (rc < 0) {
			return rc;
		}
		told = sl_noisy_told(&rounds.block_cpu_ns, &ret->block_cpu_ns);
		told = sl_noisy_told(&rounds.op_delay_ns, &ret->op_delay_ns) && told;
		told = sl_noisy_told(&rounds.byte_ns, &byte_ns) && told;
		if (told) {
			ret->link_bps = 1e9 / byte_ns;
			return 0;
		}
	}
	if (!sl_noisy_told(&rounds.block_cpu_ns, &ret->block_cpu_ns)) {
		return sl_noisy_refuse(&rounds.block_cpu_ns, "guest.block_cpu", 1e3, "us", err);
	}
	if (!sl_noisy_told(&rounds.op_delay_ns, &ret->op_delay_ns)) {
		return sl_noisy_refuse(&rounds.op_delay_ns, "hyp.op_delay", 1e3, "us", err);
	}
	return sl_noisy_refuse(&rounds.byte_ns, "link.rate", 1e-3, "us/MB", err);
}

static int steps_run(struct sl_live_rig *rig, struct probe *probe, struct sl_calibration *ret,
		     struct sl_err *err)
{
	int rc = step_run(rig, probe, step_file, err);

	if (rc == 0) {
		rc = step_run(rig, probe, step_buffered, err);
	}
	ret->file_cpu_ns = probe->file_cpu_ns;
	ret->fsync_cpu_ns = probe->fsync_cpu_ns;
	return rc < 0 ? rc : rounds_run(rig, probe, ret, err);
}

static int file_system_measure(struct sl_live_rig *rig, struct sl_calibration *ret, struct sl_err *err)
{
	size_t bytes = sizeof(struct probe) + (size_t)2 * LARGE;
	struct probe *probe = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (probe == MAP_FAILED) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	/* O_DIRECT wants it aligned. */
	probe->buf = (char *)probe + (sizeof(*probe) + LARGE - 1) / LARGE * LARGE;
	(void)snprintf(probe->path, sizeof(probe->path), "%.4000s/probe", rig->disk.mount);
	rc = steps_run(rig, probe, ret, err);
	(void)munmap(probe, bytes);
	return rc;
}

/* With commits that take their modelled time, as in a run: who has slept finds cold caches, so that a
 * transaction needs more CPU than in a row of them. */
static int database_measure(struct sl_live_rig *rig, struct sl_calibration *ret, struct sl_err *err)
{
	static const char lsn[] = "SHOW GLOBAL STATUS LIKE 'Innodb_lsn_current'";
	struct sl_live_load_result result;
	double before = 0, after = 0;
	int64_t cpu_ns;
	int rc = sl_mariadb_number(&rig->db, lsn, &before, err);

	cpu_ns = sl_process_cpu_ns(&rig->db.server);
	if (rc == 0) {
		rc = sl_live_rig_load(rig, 1, &result, err);
	}
	cpu_ns = sl_process_cpu_ns(&rig->db.server) - cpu_ns;
	if (rc == 0) {
		rc = sl_mariadb_number(&rig->db, lsn, &after, err);
	}
	if (rc == 0 && result.measure.operations == 0) {
		rc = sl_err_set(
		    err, -EAGAIN,
		    "calibrate: guest.oltp_cpu: no transaction in %d s; nothing was written; run it again "
		    "on a quieter machine",
		    OLTP_TIME_S);
	}
	if (rc == 0) {
		double n = (double)result.measure.operations;

		ret->oltp_cpu_ns = (double)(cpu_ns + result.cpu_ns) / n;
		ret->redo_bytes = (after - before) / n;
	}
	return rc;
}

static void host_describe(struct sl_calibration *ret)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	time_t now = time(NULL);
	struct tm day;
	char line[256];

	(void)snprintf(ret->cpu, sizeof(ret->cpu), "unknown CPU");
	while (file && fgets(line, sizeof(line), file)) {
		char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;

		if (value) {
			value[strcspn(value, "\n\"")] = '\0';
			(void)snprintf(ret->cpu, sizeof(ret->cpu), "%.90s", value + 2);
			break;
		}
	}
	if (file) {
		(void)fclose(file);
	}
	(void)strftime(ret->date, sizeof(ret->date), "%Y-%m-%d", gmtime_r(&now, &day));
}

int sl_calibration_check(const struct sl_calibration *found, struct sl_err *err)
{
	const struct {
		const char *key;
		double value;
	} figures[] = {{"guest.oltp_cpu", found->oltp_cpu_ns},    {"guest.file_cpu", found->file_cpu_ns},
		       {"guest.fsync_cpu", found->fsync_cpu_ns},  {"guest.block_cpu", found->block_cpu_ns},
		       {"hyp.op_delay", found->op_delay_ns},      {"link.rate", found->link_bps},
		       {"innodb.redo_per_txn", found->redo_bytes}};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		if (!isfinite(figures[i].value) || figures[i].value <= 0) {
			return sl_err_set(
			    err, -EAGAIN,
			    "calibrate: %s: measured as %g, which cannot be; nothing was written; run "
			    "it again on a quieter machine",
			    figures[i].key, figures[i].value);
		}
	}
	return 0;
}

static struct sl_live_rig rig_of(const struct sl_calibration_site *site, const struct sl_workload *load,
				 enum sl_live_guest guest)
{
	return (struct sl_live_rig){.bin = site->bin,
				    .dir = site->dir,
				    .workload = load,
				    .guest_box = site->box,
				    .guest = guest,
				    .stopped = site->stopped};
}

int sl_calibration_measure(const struct sl_calibration_site *site, struct sl_calibration *ret,
			   struct sl_err *err)
{
	const struct sl_workload oltp = {.name = "calibration",
					 .kind = SL_WL_OLTP,
					 .threads = 1,
					 .rows = OLTP_ROWS,
					 .max_time_ns = OLTP_TIME_S * 1e9};
	const struct sl_live_run run = {.box = site->box, .seed = 1, .dilate = 1, .free = true};
	struct sl_live_rig rig = rig_of(site, &oltp, SL_LIVE_DATABASE);
	int rc;

	memset(ret, 0, sizeof(*ret));
	host_describe(ret);
	rc = sl_live_rig_prepare(&rig, err);
	if (rc == 0) {
		rc = sl_live_rig_up(&rig, &run, err);
	}
	if (rc == 0) {
		rc = file_system_measure(&rig, ret, err);
		if (rc == 0) {
			rc = database_measure(&rig, ret, err);
		}
		if (rc == 0) {
			rc = sl_calibration_check(ret, err);
		}
		sl_live_rig_down(&rig);
	}
	sl_live_rig_clear(&rig);
	return rc;
}

int sl_calibration_call(const struct sl_calibration_site *site, double *ret_ns, struct sl_err *err)
{
	const struct sl_workload load = {.name = "calibration",
					 .kind = SL_WL_SYNCWRITE,
					 .threads = 1,
					 .depth = 1,
					 .block_bytes = SMALL,
					 .file_total_bytes = CALL_FILE_BYTES,
					 .max_time_ns = CALL_TIME_S * 1e9};
	const struct sl_live_run run = {.box = site->box, .seed = 1, .dilate = 1, .free = true};
	struct sl_live_rig rig = rig_of(site, &load, SL_LIVE_NO_GUEST);
	struct sl_live_load_result result;
	int rc = sl_live_rig_up(&rig, &run, err);

	if (rc < 0) {
		return rc;
	}
	rc = sl_live_rig_load(&rig, 1, &result, err);
	sl_live_rig_down(&rig);
	if (rc == 0) {
		*ret_ns = (double)result.null_ns;
	}
	return rc;
}

static void row(FILE *out, const char *key, double value, const char *unit, const char *source)
{
	(void)fprintf(out, "  %s: {value: %.4g%s, kind: measured, source: \"%s\"}\n", key, value, unit,
		      source);
}

static int profile_render(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_calibration *c = arg;

	(void)err;
	(void)fprintf(out,
		      "# Made by sloglab calibrate.\n"
		      "format: sloglab-host/1\n"
		      "description: >-\n"
		      "  %s, measured on %s.\n"
		      "params:\n",
		      c->cpu, c->date);
	row(out, "guest.oltp_cpu", c->oltp_cpu_ns / 1e3, "us",
	    "CPU of mariadbd and sloglab-load, one thread, commits that wait for a modelled SLOG");
	row(out, "guest.file_cpu", c->file_cpu_ns / 1e3, "us", "buffered pwrite of 16 KiB on ext4");
	row(out, "guest.fsync_cpu", c->fsync_cpu_ns / 1e3, "us", "fsync of a clean file");
	row(out, "guest.block_cpu", c->block_cpu_ns / 1e3, "us",
	    "CPU of qemu-storage-daemon, datastore and caller per WRITE or COMMIT, at most its time, 4 KiB "
	    "direct writes and flushes");
	row(out, "hyp.op_delay", c->op_delay_ns / 1e3, "us",
	    "median of a flush through loop, FUSE, QEMU and libnfs beyond its modelled time, when all of it "
	    "slept "
	    "meanwhile, less guest.block_cpu");
	row(out, "link.rate", c->link_bps / 1e6, "MB/s", "direct writes of 4 and 64 KiB");
	row(out, "innodb.redo_per_txn", c->redo_bytes, "B", "Innodb_lsn_current of MariaDB per transaction");
	return 0;
}

int sl_calibration_write(const struct sl_calibration *found, const char *path, struct sl_err *err)
{
	struct sl_calibration copy = *found;

	return sl_out_write(path, profile_render, &copy, err);
}

int sl_calibration_json(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_calibration *c = arg;
	json_t *doc = json_pack(
	    "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "sloglab-host/1", "cpu", c->cpu,
	    "date", c->date, "guest.oltp_cpu_ns", sl_json_figure(c->oltp_cpu_ns), "guest.file_cpu_ns",
	    sl_json_figure(c->file_cpu_ns), "guest.fsync_cpu_ns", sl_json_figure(c->fsync_cpu_ns),
	    "guest.block_cpu_ns", sl_json_figure(c->block_cpu_ns), "hyp.op_delay_ns",
	    sl_json_figure(c->op_delay_ns), "link.rate_bps", sl_json_figure(c->link_bps),
	    "innodb.redo_per_txn_bytes", sl_json_figure(c->redo_bytes));
	int rc = doc ? sl_json_write(doc, out, err) : sl_err_set(err, -ENOMEM, "out of memory");

	json_decref(doc);
	return rc;
}
