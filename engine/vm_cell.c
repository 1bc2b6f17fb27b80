#include "engine/vm_cell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/lab_control.h"
#include "engine/live_lab.h"
#include "engine/vm_waits.h"
#include "guests/mariadb.h"
#include "guests/network.h"
#include "sim/base/clock.h"
#include "sim/serve/control.h"

#define STEP_MS 600000 /* of a database start or a log's way into the pool under emulation */
#define COMMAND_MAX 2048
#define TICK_NS 1e7 /* of /proc/stat: USER_HZ is 100 on every Linux */
#define LOAD "/run/sloglab"
#define SOCKET "/run/mysqld/mysqld.sock"
#define TABLE_ROWS 100000 /* of the tables in the guest's image */
#define FILES "/srv/sloglab-files"
/* Past the guest's own disk, as the hypervisor's client writes. */
#define DATASTORE_FILE "nfs://" SL_NET_STORAGE SL_LAB_EXPORT "/syncwrite"

/* Before the load */

int sl_vm_pool_ready(const struct sl_lab_at *lab, const char *variant, const struct sl_box *box,
		     double dilate, struct sl_err *err)
{
	int rc = sl_lab_ask(lab, NULL, 0, err, "pool %s", variant);

	return rc < 0
		   ? rc
		   : sl_lab_tell(lab, "storage", STEP_MS, NULL, err,
				 "cd /sys/module/zfs/parameters && echo %d >zfs_txg_timeout && "
				 "echo %d >zfs_nocacheflush && echo %.0f >l2arc_write_max && "
				 "echo %d >l2arc_feed_secs",
				 sl_lab_timer_s(box->txg_timeout_ns, dilate), sl_vm_pool_flushes(box) ? 0 : 1,
				 box->l2arc_write_max_bytes, sl_lab_timer_s(1e9, dilate));
}

static struct sl_live_load load_of(const struct sl_vm_cell *cell, bool prepare)
{
	struct sl_live_load load = {.bin = LOAD,
				    .dir = LOAD,
				    .workload = cell->load,
				    .user = "sbtest",
				    .prepare = prepare,
				    .seed = cell->seed};

	if (cell->load->kind == SL_WL_FILEIO) {
		load.folder = FILES;
	} else if (cell->load->kind == SL_WL_SYNCWRITE) {
		load.url = DATASTORE_FILE;
	} else {
		load.socket = SOCKET;
	}
	return load;
}

/* Files or rows stay for the next measurement; a mark beside them says which they are. */
static int data_ready(const struct sl_vm_cell *cell, struct sl_err *err)
{
	const struct sl_workload *w = cell->load;
	struct sl_live_load load = load_of(cell, true);
	char command[COMMAND_MAX], mark[128];

	if (w->kind == SL_WL_SYNCWRITE) {
		return sl_lab_tell(&cell->lab, "guest", STEP_MS, NULL, err, "sl-guest stop");
	}
	if (sl_live_load_shell(&load, "", command, sizeof(command)) < 0) {
		return sl_err_set(err, -E2BIG, "guest VM: command too long");
	}
	if (w->kind == SL_WL_FILEIO) {
		(void)snprintf(mark, sizeof(mark), FILES "/of-%.0f-%" PRId64, w->file_total_bytes, w->files);
		return sl_lab_tell(&cell->lab, "guest", sl_live_load_patience_ms(&load), NULL, err,
				   "sl-guest stop; [ -e %s ] || { rm -rf " FILES " && mkdir -p " FILES
				   " && %s >/dev/null && touch %s; }; cat " FILES "/* >/dev/null",
				   mark, command, mark);
	}
	(void)snprintf(mark, sizeof(mark), "/srv/sloglab-rows-%d-%" PRId64, w->oltp_list != SL_LIST_COMPLEX,
		       w->rows);
	return sl_lab_tell(
	    &cell->lab, "guest", sl_live_load_patience_ms(&load), NULL, err,
	    "[ %" PRId64 " -le %d ] || [ -e %s ] || { %s >/dev/null && touch %s; }; "
	    "mariadb --batch --execute='SELECT SUM(LENGTH(pad)), SUM(k) FROM %s' sbtest >/dev/null",
	    w->rows, TABLE_ROWS, mark, command, mark, sl_live_load_table(w));
}

/* A fresh database server with the settings of the scenario; its caches are warm afterwards. */
static int database_ready(const struct sl_vm_cell *cell, struct sl_err *err)
{
	const struct sl_mariadb_limits limits = {
	    .box = cell->box, .flush_at_commit = (int)cell->box->flush_log_at_commit, .dilate = cell->dilate};
	char settings[1024] = "";
	FILE *text = fmemopen(settings, sizeof(settings), "w");

	if (!text) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	sl_mariadb_settings(&limits, " --", "", text);
	(void)fclose(text);
	return sl_lab_tell(&cell->lab, "guest", STEP_MS, NULL, err, "sl-guest stop && sl-guest mysqld%s",
			   settings);
}

static int cell_ready(const struct sl_vm_cell *cell, struct sl_err *err)
{
	int rc = sl_lab_ask_disks(cell->lab.dir, "latency off", NULL, 0, err);

	if (rc == 0) {
		rc = sl_vm_pool_ready(&cell->lab, cell->variant, cell->box, cell->dilate, err);
	}
	if (rc == 0 && cell->load->kind == SL_WL_OLTP) {
		rc = database_ready(cell, err);
	}
	return rc < 0 ? rc : data_ready(cell, err);
}

/* Counters */

bool sl_vm_cpu_parse(const char *stat, double *ret_busy_ns, double *ret_all_ns)
{
	double part[8] = {0}; /* user nice system idle iowait irq softirq steal */

	/* NOLINTNEXTLINE(cert-err34-c): numbers of the kernel */
	if (!stat || sscanf(stat, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &part[0], &part[1], &part[2],
			    &part[3], &part[4], &part[5], &part[6], &part[7]) < 5) {
		return false;
	}
	*ret_all_ns = 0;
	for (int i = 0; i < 8; i++) {
		*ret_all_ns += part[i] * TICK_NS;
	}
	*ret_busy_ns = *ret_all_ns - (part[3] + part[4]) * TICK_NS;
	return true;
}

/* The number after " WORD " in a line of the status. */
static uint64_t number_after(const char *line, size_t length, const char *word)
{
	const char *at = strstr(line, word);

	return at && at < line + length ? strtoull(at + strlen(word), NULL, 10) : 0;
}

void sl_vm_requests_parse(const char *status, struct sl_vm_requests *ret)
{
	*ret = (struct sl_vm_requests){0};
	for (const char *line = status; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t length = strcspn(line, "\n");
		uint64_t writes = number_after(line, length, " writes ");

		if (strncmp(line, "disk log", 8) == 0) {
			ret->log_writes += writes;
		} else if (strncmp(line, "disk ", 5) == 0 && strncmp(line, "disk cache", 10) != 0) {
			ret->data_writes += writes;
			ret->data_flushes += number_after(line, length, " flushes ");
		}
	}
}

struct counters {
	struct sl_vm_requests requests;
	double storage_busy_ns, storage_all_ns;
};

static int counters_parse(const char *cpu, const char *disks, struct counters *ret, struct sl_err *err)
{
	sl_vm_requests_parse(disks, &ret->requests);
	return sl_vm_cpu_parse(cpu, &ret->storage_busy_ns, &ret->storage_all_ns)
		   ? 0
		   : sl_err_set(err, -EPROTO, "storage VM: no CPU times");
}

static int counters_before(const struct sl_vm_cell *cell, struct counters *ret, struct sl_err *err)
{
	char disks[SL_CONTROL_REPLY_MAX], *cpu = NULL;
	int rc =
	    sl_lab_tell(&cell->lab, "storage", STEP_MS, &cpu, err, "zpool sync; grep '^cpu ' /proc/stat");

	if (rc == 0 && !cell->free) {
		rc = sl_lab_ask_disks(cell->lab.dir, "latency on", NULL, 0, err);
	}
	if (rc == 0) {
		rc = sl_lab_ask_disks(cell->lab.dir, "status", disks, sizeof(disks), err);
	}
	if (rc == 0) {
		rc = counters_parse(cpu, disks, ret, err);
	}
	free(cpu);
	return rc;
}

/* The text between the line of MARK and the next one, cut out. */
#define MARK "== "

static char *section(const char *text, const char *name)
{
	char line[64];
	const char *begin, *end;

	(void)snprintf(line, sizeof(line), "\n" MARK "%s\n", name);
	begin = strstr(text, line);
	if (!begin) {
		return strdup("");
	}
	begin += strlen(line);
	end = strstr(begin - 1, "\n" MARK);
	return end ? strndup(begin, end > begin ? (size_t)(end + 1 - begin) : 0) : strdup(begin);
}

static int evidence_take(const char *said, const char *disks, struct sl_evidence *ret, struct sl_err *err)
{
	ret->zpool_status = section(said, "status");
	ret->zpool_iostat = section(said, "iostat");
	ret->zil = section(said, "zil");
	ret->disks = strdup(disks);
	return ret->zpool_status && ret->zpool_iostat && ret->zil && ret->disks
		   ? 0
		   : sl_err_set(err, -ENOMEM, "out of memory");
}

static void lateness_parse(const char *disks, struct sl_vm_sample *ret)
{
	double late50 = 0, late99 = 0, modelled = 0;
	const char *at = strstr(disks, "lateness_us ");

	if (at &&
	    /* NOLINTNEXTLINE(cert-err34-c): numbers of our own disk server */
	    sscanf(at, "lateness_us p50 %lf p99 %lf modelled_us p50 %lf", &late50, &late99, &modelled) == 3) {
		ret->late_p50_wall_ns = (int64_t)(late50 * 1e3);
		ret->late_p99_wall_ns = (int64_t)(late99 * 1e3);
		ret->modelled_p50_wall_ns = (int64_t)(modelled * 1e3);
	}
}

static int counters_after(const struct sl_vm_cell *cell, const struct counters *before,
			  struct sl_vm_sample *ret, struct sl_err *err)
{
	char disks[SL_CONTROL_REPLY_MAX], *said = NULL;
	struct counters after;
	int rc = sl_lab_ask_disks(cell->lab.dir, "status", disks, sizeof(disks), err);

	if (rc == 0) {
		rc = sl_lab_tell(&cell->lab, "storage", STEP_MS, &said, err,
				 "grep '^cpu ' /proc/stat; echo '" MARK "status'; zpool status; echo '" MARK
				 "iostat'; zpool iostat -l -v; echo '" MARK
				 "zil'; cat /proc/spl/kstat/zfs/zil");
	}
	if (rc == 0) {
		rc = counters_parse(said, disks, &after, err);
	}
	if (rc == 0) {
		rc = evidence_take(said, disks, &ret->evidence, err);
	}
	free(said);
	if (rc == 0) {
		struct sl_evidence *e = &ret->evidence;

		lateness_parse(disks, ret);
		e->log_writes = after.requests.log_writes - before->requests.log_writes;
		e->data_writes = after.requests.data_writes - before->requests.data_writes;
		e->data_flushes = after.requests.data_flushes - before->requests.data_flushes;
		ret->storage_cpu_ns = after.storage_busy_ns - before->storage_busy_ns;
		e->storage_busy = after.storage_all_ns > before->storage_all_ns
				      ? ret->storage_cpu_ns / (after.storage_all_ns - before->storage_all_ns)
				      : 0;
	}
	return rc;
}

/* The load itself: two lines of CPU times around it, then what it measured. */
static int load_parse(const char *said, struct sl_vm_sample *ret, struct sl_err *err)
{
	const char *second = strchr(said, '\n');
	const char *json = second ? strchr(second + 1, '\n') : NULL;
	double busy[2], all[2];

	if (!json || !sl_vm_cpu_parse(said, &busy[0], &all[0]) ||
	    !sl_vm_cpu_parse(second + 1, &busy[1], &all[1])) {
		return sl_err_set(err, -EPROTO, "guest VM: no CPU times");
	}
	ret->guest_cpu_ns = busy[1] - busy[0];
	ret->evidence.guest_busy = all[1] > all[0] ? ret->guest_cpu_ns / (all[1] - all[0]) : 0;
	return sl_live_load_parse(json, &ret->load, err);
}

/* Of this machine, which runs all of it. Nothing is known where it has no such file. */
static bool host_times(double *ret_busy_ns, double *ret_all_ns)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[256] = "";
	bool known =
	    file && fgets(line, sizeof(line), file) && sl_vm_cpu_parse(line, ret_busy_ns, ret_all_ns);

	if (file) {
		(void)fclose(file);
	}
	return known;
}

static void waits_take(const struct sl_vm_cell *cell, const struct sl_vm_waits *before, int64_t wall_ns,
		       struct sl_vm_sample *ret)
{
	struct sl_vm_waits after;
	int64_t server_ns, machines_ns;

	sl_vm_waits_read(cell->lab.dir, &after);
	server_ns = after.server_wall_ns - before->server_wall_ns;
	machines_ns = after.machines_wall_ns - before->machines_wall_ns;
	/* A thread that ended in between takes what it had waited with it. */
	ret->server_wait_wall_ns = server_ns > 0 ? server_ns : 0;
	ret->machines_wait_wall_ns = machines_ns > 0 ? machines_ns : 0;
	ret->waits_wall_ns = before->known && after.known ? wall_ns : 0;
}

static int load_run(const struct sl_vm_cell *cell, struct sl_vm_sample *ret, struct sl_err *err)
{
	struct sl_live_load load = load_of(cell, false);
	char command[COMMAND_MAX], *said = NULL;
	double busy[2], all[2];
	bool host = host_times(&busy[0], &all[0]);
	struct sl_vm_waits before;
	int64_t begin_ns = sl_clock_ns();
	int rc;

	if (sl_live_load_shell(&load, LOAD "/load.json", command, sizeof(command)) < 0) {
		return sl_err_set(err, -E2BIG, "guest VM: command too long");
	}
	sl_vm_waits_read(cell->lab.dir, &before);
	rc = sl_lab_tell(&cell->lab, "guest", sl_live_load_patience_ms(&load), &said, err,
			 "grep '^cpu ' /proc/stat; %s >" LOAD "/load.log 2>&1 || { tail -n 2 " LOAD
			 "/load.log >&2; exit 1; }; grep '^cpu ' /proc/stat; cat " LOAD "/load.json",
			 command);
	if (rc == 0) {
		if (host && host_times(&busy[1], &all[1]) && all[1] > all[0]) {
			ret->evidence.host_busy = (busy[1] - busy[0]) / (all[1] - all[0]);
		}
		waits_take(cell, &before, sl_clock_ns() - begin_ns, ret);
		rc = load_parse(said, ret, err);
	}
	free(said);
	return rc;
}

int sl_vm_cell_run(const struct sl_vm_cell *cell, struct sl_vm_sample *ret, struct sl_err *err)
{
	struct counters before;
	struct sl_err ignored = {0};
	int rc = cell_ready(cell, err);

	*ret = (struct sl_vm_sample){0};
	if (rc == 0) {
		rc = counters_before(cell, &before, err);
	}
	if (rc == 0) {
		rc = load_run(cell, ret, err);
	}
	if (rc == 0) {
		rc = counters_after(cell, &before, ret, err);
	}
	(void)sl_lab_ask_disks(cell->lab.dir, "latency off", NULL, 0, &ignored);
	if (rc < 0) {
		sl_vm_sample_fini(ret);
	}
	return rc;
}

void sl_vm_sample_fini(struct sl_vm_sample *sample)
{
	sl_evidence_fini(&sample->evidence);
}
