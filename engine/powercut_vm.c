#include "engine/powercut_vm.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/lab_control.h"
#include "engine/lab_life.h"
#include "engine/live_lab.h"
#include "engine/vm_cell.h"
#include "sim/base/clock.h"
#include "sim/disks/disk_image.h"

#define STEP_MS 300000
#define ANSWER_MS 30000
#define POLL_MS 500
#define WRITERS 2
#define RECORD_BYTES 4096
#define ACKS_MIN 20 /* before the cut, and after the return: more than were in flight */
#define PROGRAM "/run/sloglab/sloglab-load"
#define RECORDS "/audit"
#define RECORDS_MIB 64
#define ACKS "/run/acks" /* memory of the guest: the cut does not reach it */
#define VERDICT "/run/verdict.json"

/* What the lab's steps share. */
struct cutter {
	const struct sl_vm_cut_options *options;
	struct sl_lab_plan plan;
	struct sl_lab_at lab;
};

static double clock_s(void)
{
	return (double)sl_clock_ns() / 1e9;
}

/* Acknowledgements so far. The same words each time: what runs them stays in the guest's memory, also while
 * its disk is away. */
static int acks_count(const struct cutter *c, int64_t *ret, struct sl_err *err)
{
	char *text = NULL;
	int rc = sl_lab_tell(&c->lab, "guest", STEP_MS, &text, err, "cat " ACKS " 2>/dev/null | wc -l");

	/* The first line is about the run. */
	*ret = text ? strtoll(text, NULL, 10) - 1 : 0;
	*ret = *ret < 0 ? 0 : *ret;
	free(text);
	return rc;
}

/* Until there are so many; *ret_first_s (may be NULL) is when the first after `known` was seen. */
static int acks_wait(const struct cutter *c, int64_t known, int64_t wanted, double *ret_first_s,
		     struct sl_err *err)
{
	double end_s = clock_s() + STEP_MS / 1e3;
	bool seen = false;
	int64_t acks;

	for (;;) {
		int rc = acks_count(c, &acks, err);

		if (rc == 0 && !seen && acks > known && ret_first_s) {
			*ret_first_s = clock_s();
			seen = true;
		}
		if (rc < 0 || acks >= wanted) {
			return rc;
		}
		if (clock_s() > end_s) {
			return sl_err_set(err, -ETIME, "guest VM: the load does not go on after %d s",
					  STEP_MS / 1000);
		}
		if (c->options->stopped()) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		(void)poll(NULL, 0, POLL_MS);
	}
}

/* Records go where something was written before and is on the disks: a cut takes records, and not what the
 * guest's file system knows about them. */
static int records_prepare(const struct cutter *c, struct sl_err *err)
{
	int rc = sl_lab_ask_disks(c->plan.dir, "latency off", NULL, 0, err);

	rc = rc < 0 ? rc
		    : sl_lab_tell(&c->lab, "guest", STEP_MS, NULL, err,
				  "rm -f " RECORDS " " ACKS "*; dd if=/dev/zero of=" RECORDS
				  " bs=1M count=%d conv=fsync && sync",
				  RECORDS_MIB);
	return rc < 0 ? rc : sl_lab_tell(&c->lab, "storage", STEP_MS, NULL, err, "zpool sync");
}

static int load_start(const struct cutter *c, const char *variant, const struct sl_box *box,
		      struct sl_err *err)
{
	int rc = records_prepare(c, err);

	rc = rc < 0 ? rc : sl_vm_pool_ready(&c->lab, variant, box, c->plan.dilate, err);
	rc = rc < 0 ? rc : sl_lab_ask_disks(c->plan.dir, "latency on", NULL, 0, err);
	/* Emulated, the way back may take minutes: the writers wait as long as it takes. */
	return rc < 0 ? rc
		      : sl_lab_tell(&c->lab, "guest", STEP_MS, NULL, err,
				    "setsid " PROGRAM " audit run --path=" RECORDS " --acks=" ACKS
				    " --acks-sync=off --threads=%d --time=86400s --stall=86400s "
				    "</dev/null >/run/audit.log 2>&1 & echo $! >/run/audit.pid",
				    WRITERS);
}

static int load_wait(const struct cutter *c, double start_s, struct sl_err *err)
{
	int rc = acks_wait(c, 0, ACKS_MIN, NULL, err);

	while (rc == 0 && clock_s() < start_s + (double)c->options->load_ns / 1e9) {
		(void)poll(NULL, 0, POLL_MS);
		if (c->options->stopped()) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
	}
	return rc;
}

/* What ZFS calls synced a moment before the cut. */
static int committed_read(const struct cutter *c, uint64_t *ret, struct sl_err *err)
{
	char *txgs = NULL;
	int rc = sl_lab_tell(&c->lab, "storage", STEP_MS, &txgs, err, "cat /proc/spl/kstat/zfs/tank/txgs");

	*ret = txgs ? sl_vm_txg_committed(txgs) : 0;
	free(txgs);
	return rc;
}

static int imported_read(const struct cutter *c, uint64_t *ret, struct sl_err *err)
{
	char *messages = NULL;
	int rc = sl_lab_tell(&c->lab, "storage", STEP_MS, &messages, err,
			     "grep uberblock /proc/spl/kstat/zfs/dbgmsg || true");

	*ret = messages ? sl_vm_txg_imported(messages) : 0;
	free(messages);
	return rc;
}

/* The instant: the disks first, since what the machine does in the moment that it outlives them it cannot
 * make durable any more. */
static int power_cut(const struct cutter *c, struct sl_err *err)
{
	int rc = sl_lab_ask_disks(c->plan.dir, "powercut", NULL, 0, err);

	return rc < 0 ? rc : sl_lab_ask(&c->lab, NULL, 0, err, "kill storage");
}

static int verify(const struct cutter *c, const char *acks, struct sl_vm_audit *ret, struct sl_err *err)
{
	char *json = NULL;
	/* It fails when records are lost; without a verdict there is no file. */
	int rc = sl_lab_tell(&c->lab, "guest", STEP_MS, &json, err,
			     "rm -f " VERDICT "; " PROGRAM " audit verify --path=" RECORDS
			     " --acks=%s --json=" VERDICT " >/run/verify.log 2>&1; cat " VERDICT
			     " 2>/dev/null || { tail -n 1 /run/verify.log >&2; exit 1; }",
			     acks);

	if (rc == 0) {
		rc = sl_vm_audit_parse(json, ret, err);
	}
	free(json);
	return rc;
}

/* Ends the load, and looks for each record on the datastore: past the guest's page cache, which remembers
 * what it wrote. */
static int look(const struct cutter *c, int64_t acks_at_cut, struct sl_vm_cut *ret, struct sl_err *err)
{
	int rc = sl_lab_tell(
	    &c->lab, "guest", STEP_MS, NULL, err,
	    "p=$(cat /run/audit.pid); kill -INT $p; while kill -0 $p; do sleep 0.2; done 2>/dev/null; sync; "
	    "echo 3 >/proc/sys/vm/drop_caches; head -n %" PRId64 " " ACKS " >" ACKS ".cut",
	    acks_at_cut + 1);

	rc = rc < 0 ? rc : verify(c, ACKS ".cut", &ret->before, err);
	return rc < 0 ? rc : verify(c, ACKS, &ret->all, err);
}

/* All that died is started again, and the guest goes on, its file system too; *ret_on_s is when. */
static int lab_return(struct cutter *c, int64_t acks_at_cut, double *ret_on_s, struct sl_err *err)
{
	int rc = sl_lab_bring_up(&c->plan, c->options->said, c->options->stopped, err);

	rc = rc < 0 ? rc : acks_wait(c, acks_at_cut, acks_at_cut + ACKS_MIN, ret_on_s, err);
	return rc < 0 ? rc
		      : sl_lab_tell(&c->lab, "guest", STEP_MS, NULL, err,
				    "dd if=/dev/zero of=/on bs=4k count=1 conv=fsync");
}

/* In the storage VM, within moments. */
static bool succeeds(const struct cutter *c, const char *shell)
{
	const struct sl_patience patience = {.timeout_ms = ANSWER_MS, .stopped = c->options->stopped};
	struct sl_err ignored = {0};
	struct sl_lab_run run;
	bool well = false;

	if (sl_lab_run(c->plan.dir, "storage", shell, &patience, &run, &ignored) == 0) {
		well = run.code == 0;
		sl_lab_run_fini(&run);
	}
	return well;
}

/* The storage VM is there again, and the pool is not: it was refused, or ZFS has stopped over it. */
static bool pool_gone(const struct cutter *c)
{
	return succeeds(c, "true") && !succeeds(c, "zpool list tank") && !c->options->stopped();
}

static int load_cut(const struct cutter *c, struct sl_vm_cut *ret, double *ret_cut_s, struct sl_err *err)
{
	double start_s = clock_s();
	int rc = load_wait(c, start_s, err);

	rc = rc < 0 ? rc : committed_read(c, &ret->committed_txg, err);
	if (rc < 0) {
		return rc;
	}
	c->options->said(NULL, "power cut");
	*ret_cut_s = clock_s();
	ret->load_s = *ret_cut_s - start_s;
	rc = power_cut(c, err);
	return rc < 0 ? rc : acks_count(c, &ret->before.acknowledged, err);
}

static int variant_cut(struct cutter *c, const char *variant, const struct sl_box *box, struct sl_vm_cut *ret,
		       struct sl_err *err)
{
	double cut_s = 0, on_s = 0;
	int64_t acks;
	int rc = load_start(c, variant, box, err);

	*ret = (struct sl_vm_cut){0};
	rc = rc < 0 ? rc : load_cut(c, ret, &cut_s, err);
	if (rc < 0) {
		return rc;
	}
	acks = ret->before.acknowledged;
	rc = lab_return(c, acks, &on_s, err);
	ret->silent_s = on_s - cut_s;
	ret->end_s = ret->load_s + clock_s() - cut_s;
	if (rc < 0 && rc != -EINTR && pool_gone(c)) {
		c->options->said(NULL, err->msg);
		*err = (struct sl_err){0};
		ret->silent_s = -1;
		ret->before.lost = acks;
		ret->all = ret->before;
		return 0;
	}
	if (rc == 0) {
		c->options->said(NULL, "audit");
		rc = imported_read(c, &ret->imported_txg, err);
	}
	return rc < 0 ? rc : look(c, acks, ret, err);
}

/* A lab without a pool has no use. */
static int lab_renew(struct cutter *c, struct sl_err *err)
{
	int rc = sl_lab_remove(c->plan.dir, 0, err);

	return rc < 0 ? rc : sl_lab_bring_up(&c->plan, c->options->said, c->options->stopped, err);
}

static int cuts_make(struct cutter *c, int workload, struct sl_powercut *ret, struct sl_err *err)
{
	bool gone = false;
	int rc = 0;

	for (int v = 0; v < c->plan.n_variants && rc == 0; v++) {
		const char *variant = sl_scenario_variant_name(ret->scenario, c->plan.variants[v]);
		struct sl_verdict *verdict = &ret->verdicts[ret->n_verdicts];
		struct sl_vm_cut cut;
		char text[96];

		rc = gone ? lab_renew(c, err) : 0;
		(void)snprintf(text, sizeof(text), "load, %s", variant);
		c->options->said(NULL, text);
		rc = rc < 0 ? rc : variant_cut(c, variant, &c->plan.boxes[v], &cut, err);
		if (rc == 0) {
			*verdict = (struct sl_verdict){.variant = c->plan.variants[v], .workload = workload};
			sl_vm_cut_judge(&cut, &c->plan.boxes[v], verdict);
			ret->n_verdicts++;
			gone = cut.silent_s < 0;
		} else if (rc != -EINTR) {
			(void)sl_err_wrap(err, "%s", variant);
		}
	}
	return rc;
}

/* What differs from the scenario's box. */
static void substitutions_note(const struct cutter *c, struct sl_powercut *ret)
{
	struct sl_vm_lab lab = {.zfs = c->plan.zfs, .dilate = c->plan.dilate};
	struct sl_result said = {0};
	char nbd[SL_LAB_PATH_MAX];

	lab.kvm = sl_lab_plan_config(&c->plan, nbd).kvm;
	for (int v = 0; v < c->plan.n_variants; v++) {
		struct sl_box box = c->plan.boxes[v];

		sl_vm_lab_box(&lab, &box, &said);
	}
	for (int i = 0; i < said.n_substitutions && ret->n_notes < SL_POWERCUT_NOTES_MAX; i++) {
		(void)snprintf(ret->notes[ret->n_notes++], SL_POWERCUT_NOTE_MAX, "substitution: %s",
			       said.substitutions[i]);
	}
}

/* A lab that is up is somebody's. */
static int lab_absent(const struct cutter *c, struct sl_err *err)
{
	const struct sl_lab_plan *plan = &c->plan;
	struct sl_err absent = {0};
	int rc = sl_lab_ask(&c->lab, NULL, 0, &absent, "status");

	return rc == 0 ? sl_err_set(err, -EBUSY,
				    "lab %s is up, and its pool is not to be cut; run sloglab vm down --name "
				    "%s",
				    plan->name, plan->name)
		       : 0;
}

static int lab_cut(struct cutter *c, int workload, struct sl_powercut *ret, struct sl_err *err)
{
	struct sl_err ignored = {0};
	int rc = lab_absent(c, err), gone;

	ret->verdicts = calloc((size_t)c->plan.n_variants, sizeof(*ret->verdicts));
	if (!ret->verdicts) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = rc < 0 ? rc : sl_lab_bring_up(&c->plan, c->options->said, c->options->stopped, err);
	if (rc < 0) {
		return rc;
	}
	rc = cuts_make(c, workload, ret, err);
	/* Nobody needs this box any more: it is not asked to end, which it may be too busy to hear. */
	gone = sl_lab_remove(c->plan.dir, 0, rc == 0 ? err : &ignored);
	return rc < 0 ? rc : gone;
}

int sl_vm_cut_run(struct sl_scenario *sc, const struct sl_vm_cut_options *options, struct sl_powercut *ret,
		  struct sl_err *err)
{
	static const struct sl_workload audit = {
	    .name = "audit", .kind = SL_WL_SYNCWRITE, .threads = WRITERS};
	const struct sl_lab_plan_options plan = {
	    .scenario = options->scenario, .variants = options->variants, .sets = options->sets, .dilate = 1};
	struct cutter c = {.options = options};
	int workload = sl_scenario_workload_add(sc, &audit, err);
	int rc = workload < 0 ? workload : sl_lab_plan(&plan, &c.plan, err);

	*ret = (struct sl_powercut){.scenario = sc,
				    .real = true,
				    .options = {.when = SL_WHEN_AT,
						.n_at = 1,
						.at_ns = {options->load_ns},
						.radius = SL_RADIUS_STORAGE,
						.client = -1}};
	if (rc == 0) {
		c.lab = (struct sl_lab_at){c.plan.dir, options->stopped};
		substitutions_note(&c, ret);
		rc = lab_cut(&c, workload, ret, err);
	}
	if (workload >= 0) {
		sl_lab_plan_fini(&c.plan);
	}
	return rc;
}

/* The verdict */

int sl_vm_audit_parse(const char *json, struct sl_vm_audit *ret, struct sl_err *err)
{
	static const char *const keys[] = {"acknowledged", "lost", "first_lost"};
	int64_t *const fields[] = {&ret->acknowledged, &ret->lost, &ret->first_lost};
	json_t *root = json_loads(json, 0, NULL);
	int rc = 0;

	*ret = (struct sl_vm_audit){0};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && rc == 0; i++) {
		const json_t *value = json_object_get(root, keys[i]);

		if (fields[i] == &ret->first_lost && ret->lost == 0) {
			break;
		}
		if (!json_is_integer(value) || json_integer_value(value) < 0) {
			rc = sl_err_set(err, -EPROTO, "guest VM: the audit's verdict has no \"%s\"", keys[i]);
		} else {
			*fields[i] = json_integer_value(value);
		}
	}
	json_decref(root);
	if (rc == 0 && ret->lost > ret->acknowledged) {
		rc = sl_err_set(err, -EPROTO, "guest VM: the audit lost more than was acknowledged");
	}
	return rc;
}

/* "TXG BIRTH STATE ...", one a line below two of headings; C = committed. */
uint64_t sl_vm_txg_committed(const char *txgs)
{
	uint64_t last = 0;

	for (const char *line = txgs; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		char *after;
		uint64_t txg = strtoull(line, &after, 10);
		bool has_birth = after != line && strtoull(after, &after, 10) > 0;

		after += strspn(after, " ");
		if (has_birth && after[0] == 'C' && (after[1] == ' ' || after[1] == '\t') && txg > last) {
			last = txg;
		}
	}
	return last;
}

uint64_t sl_vm_txg_imported(const char *messages)
{
	static const char words[] = "using uberblock with txg=";
	uint64_t txg = 0;

	for (const char *at = messages; (at = strstr(at, words)) != NULL;) {
		at += strlen(words);
		txg = strtoull(at, NULL, 10);
	}
	return txg;
}

/* What a device of the pool forgets, whatever ZFS does about it. */
static enum sl_cause forgets(const struct sl_box *box, const struct sl_dev_spec *spec)
{
	struct sl_disk_volatility v = sl_disk_volatility(spec);

	if (v.all) {
		return SL_CAUSE_MEMORY;
	}
	if (v.cache_bytes == 0) {
		return SL_CAUSE_NONE;
	}
	return v.flush_ignored ? SL_CAUSE_LIAR : sl_vm_pool_flushes(box) ? SL_CAUSE_NONE : SL_CAUSE_UNREACHED;
}

/* Who had answered for what was acknowledged before the cut: the virtual disk, the pool's setting, the
 * log's devices, then the others. Where none of them forgets, nobody is blamed. */
static void blame(const struct sl_box *box, struct sl_outcome *ret)
{
	if (box->disk_cache == SL_CACHE_UNSAFE || box->sync == SL_SYNC_DISABLED) {
		ret->cause = box->disk_cache == SL_CACHE_UNSAFE ? SL_CAUSE_DISK_CACHE : SL_CAUSE_DISABLED;
		return;
	}
	ret->cause = SL_CAUSE_NONE;
	for (int i = 0; i < box->n_log + box->n_data && ret->cause == SL_CAUSE_NONE; i++) {
		const struct sl_dev_spec *spec = i < box->n_log ? &box->log[i] : &box->data[i - box->n_log];

		ret->cause = forgets(box, spec);
		ret->on_log = i < box->n_log;
		(void)snprintf(ret->disk, sizeof(ret->disk), "%s", spec->name);
	}
	if (ret->cause == SL_CAUSE_NONE) {
		ret->cause = SL_CAUSE_UNEXPLAINED;
		ret->disk[0] = '\0';
	}
}

void sl_vm_cut_judge(const struct sl_vm_cut *cut, const struct sl_box *box, struct sl_verdict *ret)
{
	struct sl_outcome *worst = &ret->worst;
	int64_t late = cut->all.lost - cut->before.lost;
	double behind_s = 0;

	ret->client = SL_CLIENT_LIBNFS;
	ret->rate = cut->load_s > 0 ? (double)cut->before.acknowledged / cut->load_s : 0;
	ret->end_ns = (int64_t)(cut->end_s * 1e9);
	ret->acknowledged = (uint64_t)cut->all.acknowledged;
	ret->longest_answer_ns = cut->silent_s < 0 ? SL_NEVER : (int64_t)(cut->silent_s * 1e9);
	ret->n_cuts = 1;
	*worst = (struct sl_outcome){.at_ns = (int64_t)(cut->load_s * 1e9),
				     .acknowledged = (uint64_t)cut->before.acknowledged,
				     .lost = (uint64_t)cut->all.lost,
				     .lost_bytes = cut->all.lost * RECORD_BYTES};
	worst->imported.txg = cut->imported_txg;
	worst->imported.believed =
	    cut->committed_txg > cut->imported_txg ? cut->committed_txg : cut->imported_txg;
	if (cut->before.lost > 0) {
		blame(box, worst);
		/* The list has no times: as old as the records after it took at the mean rate. */
		behind_s = ret->rate > 0
			       ? (double)(cut->before.acknowledged - cut->before.first_lost) / ret->rate
			       : 0;
	} else if (late > 0) {
		worst->cause = SL_CAUSE_CLIENT;
	}
	worst->window_ns = behind_s > 0 ? (int64_t)(behind_s * 1e9) : 0;
	ret->window_ns = worst->window_ns;
	ret->lossy = worst->lost > 0;
	ret->mean_lost = (double)worst->lost;
	ret->causes[worst->cause] = ret->lossy;
	sl_outcome_why(worst, ret->why, sizeof(ret->why));
	if (cut->before.lost > 0 && late > 0) {
		size_t used = strlen(ret->why);

		(void)snprintf(ret->why + used, sizeof(ret->why) - used,
			       "; %" PRId64 " of them by QEMU's NFS client, after the return", late);
	}
}
