#include "engine/live_rig.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "engine/tempdir.h"
#include "sim/base/clock.h"
#include "sim/base/runwait.h"

#define PORTMAP_PORT 111
#define DISK_PATH SL_LIVE_EXPORT "/disk.img"
/* Room beside the data: journal, redo, undo and doublewrite of the database. The disk is a sparse file. */
#define DISK_SPARE_BYTES (3ull << 30)
#define DATA_SHARE 2 /* the table space grows in steps and has indices */
#define COPY_MS 600000
#define CAUSE_TRIES 20
#define CAUSE_MS 50

enum sl_live_guest sl_live_guest_of(const struct sl_workload *workload)
{
	switch (workload->kind) {
	case SL_WL_OLTP:
		return SL_LIVE_DATABASE;
	case SL_WL_FILEIO:
		return SL_LIVE_FILES;
	case SL_WL_SYNCWRITE:
	case SL_WL_DISK:
		break;
	}
	return SL_LIVE_NO_GUEST;
}

static uint64_t disk_bytes(const struct sl_live_rig *rig)
{
	const struct sl_workload *w = rig->workload;
	double data = w->kind == SL_WL_OLTP
			  ? (double)w->rows * rig->guest_box->row_bytes + rig->guest_box->log_size_bytes
			  : w->file_total_bytes;

	return (uint64_t)(data * DATA_SHARE) / 1048576 * 1048576 + DISK_SPARE_BYTES;
}

static int path_make(char ret[PATH_MAX], const char *dir, const char *name, struct sl_err *err)
{
	return snprintf(ret, PATH_MAX, "%s/%s", dir, name) < PATH_MAX
		   ? 0
		   : sl_err_set(err, -ENAMETOOLONG, "%.100s: path too long; set TMPDIR", dir);
}

/* The datastore as the lowest part */

static int server_up(void *self, struct sl_err *err)
{
	struct sl_live_rig *rig = self;

	return sl_live_server_start(&rig->server_config, &rig->server, err);
}

static void server_down(void *self)
{
	struct sl_live_rig *rig = self;
	struct sl_err ignored = {0};

	(void)sl_live_server_stop(&rig->server, &ignored);
}

static int server_check(void *self, struct sl_err *err)
{
	return sl_process_check(&((struct sl_live_rig *)self)->server.process, err);
}

static int rig_check(void *arg, struct sl_err *err)
{
	return sl_chain_check(&((struct sl_live_rig *)arg)->chain, err);
}

static void rig_give_up(void *arg)
{
	sl_vdisk_abort(&((struct sl_live_rig *)arg)->disk);
}

/* Whoever waits for anything on the rig watches all its parts meanwhile. */
static struct sl_patience patience(struct sl_live_rig *rig)
{
	return (struct sl_patience){
	    .stopped = rig->stopped, .watch = rig_check, .give_up = rig_give_up, .arg = rig};
}

static void chain_make(struct sl_live_rig *rig, bool format)
{
	const struct sl_part server = {server_up, server_down, server_check, rig};

	rig->chain = (struct sl_chain){.n = 0};
	sl_chain_add(&rig->chain, &server);
	rig->disk = (struct sl_vdisk){.dir = rig->dir,
				      .host = "127.0.0.1",
				      .path = DISK_PATH,
				      .patience = patience(rig),
				      .format = format};
}

static int load_run(struct sl_live_rig *rig, bool prepare, uint64_t seed, struct sl_live_load_result *ret,
		    struct sl_err *err)
{
	const struct sl_live_load load = {.bin = rig->bin,
					  .dir = rig->dir,
					  .workload = rig->workload,
					  .url = rig->guest == SL_LIVE_NO_GUEST ? rig->url : NULL,
					  .folder = rig->guest == SL_LIVE_FILES ? rig->disk.mount : NULL,
					  .socket = rig->guest == SL_LIVE_DATABASE ? rig->db.socket : NULL,
					  .prepare = prepare,
					  .seed = seed,
					  .patience = patience(rig)};

	struct sl_err cause = {0};
	int rc = sl_live_load_run(&load, ret, err);

	/* The load only says that its server is gone; here is who died. Its sockets close a little before it
	 * is dead. */
	for (int i = 0; rc == -EIO && i < CAUSE_TRIES; i++) {
		if (rig_check(rig, &cause) < 0) {
			*err = cause;
			return cause.code;
		}
		(void)poll(NULL, 0, CAUSE_MS);
	}
	return rc;
}

/* Adds disk, file system and database to the chain and brings all up. Filling a new database needs no durable
 * commits. */
static int guest_up(struct sl_live_rig *rig, bool install, struct sl_err *err)
{
	int rc;

	sl_vdisk_parts(&rig->disk, &rig->chain);
	rc = sl_chain_up(&rig->chain, err);
	if (rc < 0 || rig->guest != SL_LIVE_DATABASE) {
		return rc;
	}
	rc = path_make(rig->data, rig->disk.mount, "db", err);
	rig->db =
	    (struct sl_mariadb){.run_dir = rig->dir,
				.data_dir = rig->data,
				.box = rig->guest_box,
				.flush_at_commit = install ? 0 : (int)rig->guest_box->flush_log_at_commit,
				.patience = patience(rig)};
	if (rc == 0 && install) {
		rc = sl_mariadb_install(&rig->db, err);
	}
	if (rc == 0) {
		sl_mariadb_part(&rig->db, &rig->chain);
		rc = sl_chain_up(&rig->chain, err);
	}
	return rc;
}

static void rig_config(struct sl_live_rig *rig, const char *store, const struct sl_live_run *run)
{
	bool guest = rig->guest != SL_LIVE_NO_GUEST;

	rig->server_config = (struct sl_live_server_config){.box = run->box,
							    .dir = store,
							    .seed = run->seed,
							    .dilate = run->dilate,
							    .portmap_port = guest ? PORTMAP_PORT : 0,
							    .free = true,
							    .stopped = rig->stopped};
}

/* Latencies off first, so that what is dirty does not take its modelled time; and what hangs on a dead part
 * gets errors instead of waiting for it. */
static void rig_take_down(struct sl_live_rig *rig)
{
	struct sl_err ignored = {0};

	if (rig->chain.n_up > 0 &&
	    (rig_check(rig, &ignored) < 0 || sl_live_server_latency(&rig->server, false, &ignored) < 0)) {
		sl_vdisk_abort(&rig->disk);
	}
	sl_chain_down(&rig->chain);
	sl_live_server_kill(&rig->server);
}

static int prepare(struct sl_live_rig *rig, struct sl_err *err)
{
	int rc = sl_chain_up(&rig->chain, err);

	if (rc == 0) {
		rc = sl_vdisk_create(&rig->disk, disk_bytes(rig), err);
	}
	if (rc == 0) {
		rc = guest_up(rig, true, err);
	}
	if (rc == 0) {
		rc = load_run(rig, true, 0, NULL, err);
	}
	if (rc == 0 && rig->guest == SL_LIVE_DATABASE) {
		sl_chain_drop(&rig->chain);
		rc = sl_vdisk_settle(&rig->disk, err);
	}
	return rc;
}

int sl_live_rig_prepare(struct sl_live_rig *rig, struct sl_err *err)
{
	const struct sl_live_run nothing = {.box = rig->guest_box, .dilate = 1};
	int rc;

	if (rig->guest == SL_LIVE_NO_GUEST) {
		return 0;
	}
	rc = path_make(rig->prepared, rig->dir, "prepared", err);
	if (rc < 0) {
		return rc;
	}
	rig_config(rig, rig->prepared, &nothing);
	chain_make(rig, true);
	rc = prepare(rig, err);
	rig_take_down(rig);
	return rc;
}

static int store_copy(struct sl_live_rig *rig, struct sl_err *err)
{
	const char *const argv[] = {"cp", "-a", "--reflink=auto", rig->prepared, rig->store, NULL};
	const struct sl_process_spec spec = {.name = "cp", .argv = argv};
	const struct sl_patience how = {.timeout_ms = COPY_MS, .stopped = rig->stopped};

	return sl_process_run(&spec, &how, err);
}

/* As after a while of use: tables in the buffer pool, files in the page cache. */
static int guest_warm(struct sl_live_rig *rig, struct sl_err *err)
{
	const char *table;
	char sql[160];

	if (rig->guest == SL_LIVE_FILES) {
		return sl_vdisk_warm(&rig->disk, err);
	}
	table = sl_live_load_table(rig->workload);
	(void)snprintf(sql, sizeof(sql),
		       "SELECT SUM(LENGTH(pad)) FROM %s; SELECT SUM(k) FROM %s FORCE INDEX (%s)", table,
		       table, rig->workload->oltp_list == SL_LIST_COMPLEX ? "k" : "k_1");
	return sl_mariadb_sql(&rig->db, "sbtest", sql, err);
}

static int copy_up(struct sl_live_rig *rig, const struct sl_live_run *run, struct sl_err *err)
{
	int rc = rig->guest == SL_LIVE_NO_GUEST ? 0 : store_copy(rig, err);

	if (rc == 0 && rig->guest == SL_LIVE_NO_GUEST) {
		rc = sl_chain_up(&rig->chain, err);
		snprintf(rig->url, sizeof(rig->url), "nfs://127.0.0.1%s%s?nfsport=%u&mountport=%u",
			 SL_LIVE_EXPORT, rig->workload->kind == SL_WL_SYNCWRITE ? "/disk.img" : "",
			 rig->server.nfs_port, rig->server.mount_port);
	} else if (rc == 0) {
		rc = guest_up(rig, false, err);
		if (rc == 0) {
			rc = guest_warm(rig, err);
		}
	}
	return rc < 0 || run->free ? rc : sl_live_server_latency(&rig->server, true, err);
}

int sl_live_rig_up(struct sl_live_rig *rig, const struct sl_live_run *run, struct sl_err *err)
{
	int rc = path_make(rig->store, rig->dir, "store", err);

	if (rc < 0) {
		return rc;
	}
	rig_config(rig, rig->store, run);
	chain_make(rig, false);
	rc = copy_up(rig, run, err);
	if (rc < 0) {
		sl_live_rig_down(rig);
	}
	return rc;
}

/* A wait that counts from here; what cannot be read is unknown to the end. */
static void wait_begin(struct sl_trust_wait *wait, const struct sl_process *process)
{
	int64_t now_ns;

	*wait = (struct sl_trust_wait){.present = true};
	wait->unknown = sl_runwait_ns(process->pid, &now_ns) < 0;
	wait->wait_wall_ns = -now_ns;
}

static void wait_end(struct sl_trust_wait *wait, const struct sl_process *process, int64_t wall_ns)
{
	int64_t now_ns;

	wait->unknown = sl_runwait_ns(process->pid, &now_ns) < 0 || wait->unknown;
	wait->wait_wall_ns += now_ns;
	wait->wait_wall_ns = wait->wait_wall_ns > 0 ? wait->wait_wall_ns : 0; /* a thread may have ended */
	wait->wall_ns = wall_ns;
}

static void waits_begin(struct sl_live_rig *rig)
{
	memset(rig->waits, 0, sizeof(rig->waits));
	wait_begin(&rig->waits[SL_TRUST_SERVER], &rig->server.process);
	if (rig->guest == SL_LIVE_DATABASE) {
		wait_begin(&rig->waits[SL_TRUST_DATABASE], &rig->db.server);
	}
}

/* The generator is gone by now: it told its own. Through libnfs it has one thread. */
static void waits_end(struct sl_live_rig *rig, const struct sl_live_load_result *result, int64_t wall_ns)
{
	int threads = rig->guest == SL_LIVE_NO_GUEST ? 1 : (int)rig->workload->threads;

	wait_end(&rig->waits[SL_TRUST_SERVER], &rig->server.process, wall_ns);
	rig->waits[SL_TRUST_CLIENT] = (struct sl_trust_wait){.present = true,
							     .unknown = result->wait_wall_ns < 0,
							     .wait_wall_ns = result->wait_wall_ns,
							     .abreast = threads};
	if (rig->guest == SL_LIVE_DATABASE) {
		wait_end(&rig->waits[SL_TRUST_DATABASE], &rig->db.server, wall_ns);
		rig->waits[SL_TRUST_DATABASE].abreast = threads;
	}
}

int sl_live_rig_load(struct sl_live_rig *rig, uint64_t seed, struct sl_live_load_result *ret,
		     struct sl_err *err)
{
	int64_t begin_ns = sl_clock_ns();
	int rc;

	waits_begin(rig);
	rc = load_run(rig, false, seed, ret, err);
	if (rc == 0) {
		waits_end(rig, ret, sl_clock_ns() - begin_ns);
	}
	return rc;
}

void sl_live_rig_down(struct sl_live_rig *rig)
{
	rig_take_down(rig);
	sl_tree_remove(rig->store);
}

void sl_live_rig_clear(struct sl_live_rig *rig)
{
	if (rig->prepared[0] != '\0') {
		sl_tree_remove(rig->prepared);
		rig->prepared[0] = '\0';
	}
}
