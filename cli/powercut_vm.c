#include "cli/powercut_vm.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab_control.h"
#include "cli/lab_life.h"
#include "cli/signals.h"
#include "sim/base/clock.h"

#define STEP_MS 300000
#define POLL_MS 500
#define ACKS_MIN 20 /* before the cut */
#define PROGRAM "/run/sloglab/sloglab-load"
#define RECORDS "/audit"
#define ACKS "/run/acks" /* memory of the guest: the cut does not reach it */

/* What the lab's steps share. */
struct cutter {
	const struct sl_vm_cut_options *options;
	struct sl_lab_plan plan;
	void (*said)(void *arg, const char *what);
};

static double clock_s(void)
{
	return (double)sl_clock_ns() / 1e9;
}

/* A command in the guest; *ret_out (may be NULL) is what it printed, freed by the caller. */
static int guest(const struct cutter *c, const char *shell, char **ret_out, struct sl_err *err)
{
	const struct sl_patience patience = {.timeout_ms = STEP_MS, .stopped = sl_signals_stopped};
	struct sl_lab_run run;
	int rc = sl_lab_run(c->plan.dir, "guest", shell, &patience, &run, err);

	if (rc < 0) {
		return rc;
	}
	if (run.code != 0) {
		rc = sl_err_set(err, -EIO, "guest: \"%.60s\" failed with exit code %d", shell, run.code);
	} else if (ret_out) {
		*ret_out = run.out;
		run.out = NULL;
	}
	sl_lab_run_fini(&run);
	return rc;
}

/* Until the writers work, and have for as long as was asked. */
static int load_wait(const struct cutter *c, struct sl_err *err)
{
	double start_s = clock_s(), past_s;
	int64_t acks = 0;
	char *text;
	int rc = 0;

	for (;;) {
		text = NULL;
		rc = guest(c, "cat " ACKS " 2>/dev/null | wc -l", &text, err);
		acks = text ? strtoll(text, NULL, 10) : 0;
		free(text);
		past_s = clock_s() - start_s;
		if (rc < 0 || (acks >= ACKS_MIN && past_s >= c->options->load_s)) {
			return rc;
		}
		if (past_s > c->options->load_s + STEP_MS / 1e3) {
			return sl_err_set(err, -ETIME, "guest: the load does not begin");
		}
		if (sl_signals_stopped()) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		(void)poll(NULL, 0, POLL_MS);
	}
}

static int load_start(const struct cutter *c, const char *variant, struct sl_err *err)
{
	char shell[512];
	int rc = sl_lab_ask(c->plan.dir, NULL, 0, err, "pool %s", variant);

	(void)snprintf(shell, sizeof(shell),
		       "rm -f " RECORDS " " ACKS "; setsid " PROGRAM " audit run --path=" RECORDS
		       " --acks=" ACKS
		       " --acks-sync=off --threads=%d --time=86400s </dev/null >/run/audit.log 2>&1 & "
		       "echo $! >/run/audit.pid",
		       SL_CUT_WRITERS);
	return rc < 0 ? rc : guest(c, shell, NULL, err);
}

/* The instant: the disks first, since what the machine does in the moment that it outlives them it cannot
 * make durable any more. */
static int cut(const struct cutter *c, struct sl_err *err)
{
	int rc = sl_lab_ask_disks(c->plan.dir, "powercut", NULL, 0, err);

	return rc < 0 ? rc : sl_lab_ask(c->plan.dir, NULL, 0, err, "kill storage");
}

static int verify(const struct cutter *c, struct sl_vm_cut *ret, struct sl_err *err)
{
	char *json = NULL;
	/* Past the guest's page cache, which remembers what it wrote. */
	int rc = guest(
	    c,
	    "p=$(cat /run/audit.pid); kill -INT $p; while kill -0 $p; do sleep 0.2; done 2>/dev/null; sync; "
	    "echo 3 >/proc/sys/vm/drop_caches",
	    NULL, err);

	if (rc == 0) {
		rc = guest(c,
			   PROGRAM " audit verify --path=" RECORDS " --acks=" ACKS
				   " --json=/run/verdict.json >/dev/null 2>&1; cat /run/verdict.json",
			   &json, err);
	}
	if (rc == 0) {
		rc = sl_vm_cut_parse(json, ret, err);
	}
	free(json);
	return rc;
}

static int variant_cut(const struct cutter *c, const char *variant, struct sl_vm_cut *ret, struct sl_err *err)
{
	double cut_s = 0;
	int rc = load_start(c, variant, err);

	*ret = (struct sl_vm_cut){.variant = variant};
	c->said(NULL, "load");
	rc = rc < 0 ? rc : load_wait(c, err);
	if (rc == 0) {
		c->said(NULL, "power cut");
		cut_s = clock_s();
		rc = cut(c, err);
	}
	if (rc == 0) {
		rc = sl_lab_bring_up(&c->plan, c->said, err);
		ret->down_s = clock_s() - cut_s;
	}
	/* The writers may have given up meanwhile; a disk that came back takes this. */
	rc = rc < 0 ? rc : guest(c, "dd if=/dev/zero of=/on bs=4k count=1 conv=fsync", NULL, err);
	return rc < 0 ? rc : verify(c, ret, err);
}

int sl_vm_cut_run(const struct sl_vm_cut_options *options, void (*said)(void *arg, const char *what),
		  void (*done)(const struct sl_vm_cut *cut), struct sl_err *err)
{
	const struct sl_lab_plan_options plan = {
	    .scenario = options->scenario, .variants = options->variants, .sets = options->sets, .dilate = 1};
	struct cutter c = {.options = options, .said = said};
	struct sl_err ignored = {0};
	struct sl_vm_cut one;
	int rc = sl_lab_plan(&plan, &c.plan, err);
	bool ours;

	rc = rc < 0 ? rc : sl_lab_bring_up(&c.plan, said, err);
	ours = rc == 0;
	for (int v = 0; v < c.plan.n_variants && rc == 0; v++) {
		rc = variant_cut(&c, sl_scenario_variant_name(c.plan.session.sc, c.plan.variants[v]), &one,
				 err);
		if (rc == 0) {
			done(&one);
		}
	}
	if (ours) {
		(void)sl_lab_remove(c.plan.dir, SL_LAB_DOWN_MS, &ignored);
	}
	sl_lab_plan_fini(&c.plan);
	return rc;
}

void sl_vm_cut_blame(const struct sl_vm_cut *cut, char *ret, size_t size)
{
	if (cut->lost == 0) {
		(void)snprintf(ret, size, "nothing is lost");
	} else if (cut->lost <= SL_CUT_WRITERS) {
		(void)snprintf(
		    ret, size,
		    "no more than was in flight: QEMU's NFS client does not compare write verifiers, "
		    "so that the new server's COMMIT answered for what the old one had in memory");
	} else {
		(void)snprintf(ret, size,
			       "more than was in flight: the pool answered for what was not on its disks "
			       "(sync=disabled, or a disk that ignores flushes)");
	}
}

int sl_vm_cut_parse(const char *json, struct sl_vm_cut *ret, struct sl_err *err)
{
	static const char *const keys[] = {"acknowledged", "lost", "torn", "unfinished"};
	int64_t *const fields[] = {&ret->acknowledged, &ret->lost, &ret->torn, &ret->unfinished};
	json_t *root = json_loads(json, 0, NULL);
	int rc = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && rc == 0; i++) {
		const json_t *value = json_object_get(root, keys[i]);

		if (!json_is_integer(value) || json_integer_value(value) < 0) {
			rc = sl_err_set(err, -EPROTO, "guest: the audit's verdict has no \"%s\"", keys[i]);
		} else {
			*fields[i] = json_integer_value(value);
		}
	}
	json_decref(root);
	return rc;
}
