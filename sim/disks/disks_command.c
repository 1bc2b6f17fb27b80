/* What the control socket can do. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/base/units.h"
#include "sim/disks/disks_inner.h"
#include "sim/serve/verbs.h"

#define SLOW_MAX 1e6
#define HALF 128 /* of 256 */

static int disk_find(const struct sl_disks *disks, const char *name, struct sl_err *err)
{
	for (int i = 0; i < disks->n_disks; i++) {
		if (strcmp(disks->disks[i].name, name) == 0) {
			return i;
		}
	}
	return sl_err_set(err, -EINVAL, "no disk \"%.60s\"; see status", name);
}

static int command_latency(void *arg, const struct sl_verb_call *call)
{
	struct sl_disks *disks = arg;
	bool off = strcmp(call->word[1], "off") == 0;
	int rc = 0;

	if (!off && strcmp(call->word[1], "on") != 0) {
		return sl_err_set(call->err, -EINVAL, "latency \"%.20s\": say on or off", call->word[1]);
	}
	disks->instant = off;
	if (!off) {
		/* What status tells is about the phase that begins now. */
		sl_hist_reset(&disks->lateness);
		sl_hist_reset(&disks->modelled);
	}
	for (int i = 0; i < disks->n_disks; i++) {
		int put_rc = off ? 0 : sl_served_image_populated(disks->disks[i].image);

		rc = rc ? rc : put_rc;
		sl_disk_pacer_latency(disks->pacers[i], !off);
	}
	return rc < 0 ? sl_err_set(call->err, rc,
				   "latency is on, but a file could not be written: %s; free some space",
				   strerror(-rc))
		      : 0;
}

struct tear {
	struct sl_served_image *image;
	struct sl_rng *rng;
	int rc;
};

static void write_lost(void *arg, const struct sl_disk_change *change, const void *buf)
{
	struct tear *tear = arg;
	int rc = sl_served_image_tear(tear->image, change, buf, tear->rng);

	tear->rc = tear->rc ? tear->rc : rc;
}

/* The instant of the cut is the same for all disks: nothing else runs meanwhile. */
static int command_powercut(void *arg, const struct sl_verb_call *call)
{
	struct sl_disks *disks = arg;
	bool seeded = call->n > 1;
	char *end = NULL;
	uint64_t seed = seeded ? strtoull(call->word[1], &end, 10) : 0;
	int rc = 0;

	if (seeded && (*end != '\0' || call->word[1][0] < '0' || call->word[1][0] > '9')) {
		return sl_err_set(call->err, -EINVAL, "powercut \"%.20s\": the seed must be a whole number",
				  call->word[1]);
	}
	disks->cuts++;
	for (int i = 0; i < disks->n_disks; i++) {
		struct sl_rng rng;
		struct tear tear = {.image = disks->disks[i].image, .rng = &rng};
		int cut_rc;

		sl_rng_init(&rng, seed, disks->disks[i].name);
		cut_rc = sl_served_image_destage(tear.image, sl_disk_pacer_reached(disks->pacers[i], true));
		rc = rc ? rc : cut_rc;
		sl_disk_pacer_drop(disks->pacers[i]);
		sl_nbd_cut(disks->nbd, i, write_lost, &tear);
		cut_rc = sl_served_image_cut(tear.image, &rng, seeded ? HALF : 0);
		rc = rc ? rc : tear.rc ? tear.rc : cut_rc;
	}
	sl_disk_conns_close(&disks->conns, -1);
	if (disks->log) {
		sl_writelog_end(disks->log);
	}
	return rc < 0 ? sl_err_set(call->err, rc, "power is cut, but a file could not be written: %s",
				   strerror(-rc))
		      : 0;
}

static int set_failed(struct sl_disks *disks, const char *name, bool failed, struct sl_err *err)
{
	int i = disk_find(disks, name, err);

	if (i < 0) {
		return i;
	}
	disks->disks[i].failed = failed;
	sl_nbd_fail(disks->nbd, i, failed);
	return 0;
}

static int command_fail(void *arg, const struct sl_verb_call *call)
{
	return set_failed(arg, call->word[1], true, call->err);
}

static int command_heal(void *arg, const struct sl_verb_call *call)
{
	return set_failed(arg, call->word[1], false, call->err);
}

/* pull DISK SIDE, attach DISK SIDE */
static int side_command(struct sl_disks *disks, const struct sl_verb_call *call,
			int (*change)(struct sl_disk_pacer *pacer, int side))
{
	int i = disk_find(disks, call->word[1], call->err);
	double side;
	int rc = i < 0 ? i : sl_units_parse(call->word[2], SL_UNIT_NONE, &side, call->err);

	if (rc < 0) {
		return rc;
	}
	if (!(side >= 0 && side < SL_DEV_MEMBERS_MAX) || change(disks->pacers[i], (int)side) < 0) {
		return sl_err_set(
		    call->err, -EINVAL,
		    "%s %.60s \"%.20s\": not a side of a mirror in that state; sides count from 0",
		    call->word[0], call->word[1], call->word[2]);
	}
	return 0;
}

static int command_pull(void *arg, const struct sl_verb_call *call)
{
	return side_command(arg, call, sl_disk_pacer_pull);
}

static int command_attach(void *arg, const struct sl_verb_call *call)
{
	return side_command(arg, call, sl_disk_pacer_attach);
}

static int command_slow(void *arg, const struct sl_verb_call *call)
{
	struct sl_disks *disks = arg;
	int i = disk_find(disks, call->word[1], call->err);
	double factor;
	int rc = i < 0 ? i : sl_units_parse(call->word[2], SL_UNIT_NONE, &factor, call->err);

	if (rc < 0) {
		return rc;
	}
	if (!(factor >= 1 / SLOW_MAX && factor <= SLOW_MAX)) {
		return sl_err_set(call->err, -EINVAL, "slow \"%.20s\": the factor must be from 1e-6 to 1e6",
				  call->word[2]);
	}
	disks->disks[i].slow = factor;
	sl_disk_pacer_set_pace(disks->pacers[i], disks->dilate * factor);
	return 0;
}

static int command_dilate(void *arg, const struct sl_verb_call *call)
{
	struct sl_disks *disks = arg;
	double dilate;
	int rc = sl_units_parse(call->word[1], SL_UNIT_NONE, &dilate, call->err);

	if (rc < 0) {
		return rc;
	}
	if (!(dilate >= 1 / SLOW_MAX && dilate <= SLOW_MAX)) {
		return sl_err_set(call->err, -EINVAL, "dilate \"%.20s\": must be from 1e-6 to 1e6",
				  call->word[1]);
	}
	disks->dilate = dilate;
	for (int i = 0; i < disks->n_disks; i++) {
		sl_disk_pacer_set_pace(disks->pacers[i], dilate * disks->disks[i].slow);
	}
	return 0;
}

static int command_quit(void *arg, const struct sl_verb_call *call)
{
	struct sl_disks *disks = arg;

	(void)call;
	sl_loop_stop(disks->loop);
	return 0;
}

static void status_disk(const struct sl_disks *disks, int i, char *reply, size_t size)
{
	const struct sl_served_disk *disk = &disks->disks[i];
	const struct sl_nbd_stats *stats = sl_nbd_stats(disks->nbd, i);

	(void)snprintf(reply, size,
		       "disk %s device %s bytes %lld state %s slow %g reads %" PRIu64 " writes %" PRIu64
		       " flushes %" PRIu64 " trims %" PRIu64 " zeroes %" PRIu64 " errors %" PRIu64
		       " volatile_bytes %lld stale_bytes %lld\n",
		       disk->name, disk->device, (long long)disk->size_bytes, disk->failed ? "failed" : "ok",
		       disk->slow, stats->reads, stats->writes, stats->flushes, stats->trims, stats->zeroes,
		       stats->errors, (long long)sl_served_image_cached(disk->image),
		       (long long)sl_disk_pacer_stale(disks->pacers[i]));
}

static int command_status(void *arg, const struct sl_verb_call *call)
{
	const struct sl_disks *disks = arg;
	size_t at;

	(void)snprintf(
	    call->reply, call->size,
	    "latency %s dilate %g connections %u powercuts %u lateness_us p50 %.1f p99 %.1f modelled_us p50 "
	    "%.1f credit_ms %.1f write_log %s\n",
	    disks->instant ? "off" : "on", disks->dilate, disks->conns.count, disks->cuts,
	    (double)sl_hist_quantile(&disks->lateness, 0.5) / 1e3,
	    (double)sl_hist_quantile(&disks->lateness, 0.99) / 1e3,
	    (double)sl_hist_quantile(&disks->modelled, 0.5) / 1e3, (double)sl_disks_credit_used(disks) / 1e6,
	    !disks->log                     ? "none"
	    : sl_writelog_error(disks->log) ? "failed"
	    : disks->cuts > 0               ? "ended"
					    : "on");
	for (int i = 0; i < disks->n_disks; i++) {
		at = strlen(call->reply);
		status_disk(disks, i, call->reply + at, call->size - at);
	}
	return 0;
}

int sl_disks_command(struct sl_disks *disks, char *command, char *reply, size_t size, struct sl_err *err)
{
	static const struct sl_verb verbs[] = {
	    {"latency", "latency on|off", 2, 2, command_latency},
	    {"powercut", "powercut [SEED]", 1, 2, command_powercut},
	    {"fail", "fail DISK", 2, 2, command_fail},
	    {"heal", "heal DISK", 2, 2, command_heal},
	    {"pull", "pull DISK SIDE", 3, 3, command_pull},
	    {"attach", "attach DISK SIDE", 3, 3, command_attach},
	    {"slow", "slow DISK FACTOR", 3, 3, command_slow},
	    {"dilate", "dilate K", 2, 2, command_dilate},
	    {"status", "status", 1, 1, command_status},
	    {"quit", "quit", 1, 1, command_quit},
	    {NULL, NULL, 0, 0, NULL},
	};

	return sl_verbs_run(verbs, disks, command, reply, size, err);
}
