/* What the control socket of `sloglab serve` can do to the box. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dilate.h"
#include "cli/serve.h"
#include "sim/base/units.h"
#include "sim/serve/verbs.h"

#define STALL_MAX_S 3600.0
#define OFF_MAX_S 3600.0

static int verb_latency(void *arg, const struct sl_verb_call *call)
{
	struct sl_serve *serve = arg;
	bool off = strcmp(call->word[1], "off") == 0;

	if (!off && strcmp(call->word[1], "on") != 0) {
		return sl_err_set(call->err, -EINVAL, "latency \"%.20s\": say on or off", call->word[1]);
	}
	serve->latency_off = off;
	sl_pool_server_latency(serve->server, !off);
	return 0;
}

static int verb_dilate(void *arg, const struct sl_verb_call *call)
{
	struct sl_serve *serve = arg;
	double pace;
	int rc = sl_dilate_parse("dilate", call->word[1], &pace, call->err);

	if (rc == 0) {
		serve->pace = pace;
		sl_pool_server_set_pace(serve->server, pace);
	}
	return rc;
}

/* A time from 0 to max_s. */
static int time_parse(const char *text, double max_s, int64_t *ret_ns, struct sl_err *err)
{
	double ns;
	int rc = sl_units_parse(text, SL_UNIT_TIME, &ns, err);

	if (rc < 0) {
		return rc;
	}
	if (!(ns >= 0 && ns <= max_s * 1e9)) {
		return sl_err_set(err, -EINVAL, "\"%.20s\": must be from 0s to %gs", text, max_s);
	}
	*ret_ns = (int64_t)ns;
	return 0;
}

static int verb_stall(void *arg, const struct sl_verb_call *call)
{
	struct sl_serve *serve = arg;
	int64_t stall_ns = 0;
	int rc = time_parse(call->word[1], STALL_MAX_S, &stall_ns, call->err);

	if (rc == 0) {
		sl_pool_server_stall(serve->server, stall_ns);
	}
	return rc;
}

/* What of the acknowledged writes is gone, in lines of "name value". */
static void powercut_say(const struct sl_outcome *outcome, char *reply, size_t size)
{
	char why[256];

	if (outcome->lost == 0) {
		(void)snprintf(reply, size, "lost_writes 0\n");
		return;
	}
	sl_outcome_why(outcome, why, sizeof(why));
	(void)snprintf(reply, size,
		       "lost_writes %" PRIu64 "\nlost_bytes %" PRId64 "\nlost_age %.1fms\nwhy %s\n",
		       outcome->lost, outcome->lost_bytes, (double)outcome->window_ns / 1e6, why);
}

static int verb_powercut(void *arg, const struct sl_verb_call *call)
{
	struct sl_serve *serve = arg;
	int64_t off_ns = 0;
	int rc = call->n > 1 ? time_parse(call->word[1], OFF_MAX_S, &off_ns, call->err) : 0;
	struct sl_outcome outcome;

	rc = rc < 0 ? rc : sl_pool_server_powercut(serve->server, off_ns, &outcome, call->err);
	if (rc == 0) {
		powercut_say(&outcome, call->reply, call->size);
	}
	return rc;
}

/* The box with another list of log devices takes over. */
static int log_set(struct sl_serve *serve, const char *disks, struct sl_err *err)
{
	struct sl_box box;
	int rc = sl_scenario_set(serve->session.sc, "pool.log", disks, "log add", err);

	if (rc == 0) {
		rc = sl_scenario_box(serve->session.sc, serve->variant, &box, err);
	}
	return rc < 0 ? rc : sl_pool_server_change(serve->server, &box, err);
}

static int number_parse(const char *text, int *ret, struct sl_err *err)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end != '\0' || end == text || value < 0 || value >= SL_BOX_LOG_MAX) {
		return sl_err_set(err, -EINVAL, "log fail \"%.20s\": must be a whole number from 0 to %d",
				  text, SL_BOX_LOG_MAX - 1);
	}
	*ret = (int)value;
	return 0;
}

static int log_fail(struct sl_serve *serve, const struct sl_verb_call *call)
{
	int device = 0, side = -1;
	int rc = call->n > 2 ? number_parse(call->word[2], &device, call->err) : 0;

	if (rc == 0 && call->n > 3) {
		rc = number_parse(call->word[3], &side, call->err);
	}
	return rc < 0 ? rc : sl_pool_server_fail_log(serve->server, device, side, call->err);
}

static int verb_log(void *arg, const struct sl_verb_call *call)
{
	struct sl_serve *serve = arg;
	const char *what = call->word[1];

	if (strcmp(what, "add") == 0 && call->n == 3) {
		return log_set(serve, call->word[2], call->err);
	}
	if (strcmp(what, "remove") == 0 && call->n == 2) {
		return log_set(serve, "none", call->err);
	}
	if (strcmp(what, "fail") == 0) {
		return log_fail(serve, call);
	}
	return sl_err_set(call->err, -EINVAL,
			  "usage: log add DEVICE | log remove | log fail [NUMBER [SIDE]]");
}

static int verb_status(void *arg, const struct sl_verb_call *call)
{
	sl_serve_status(arg, call->reply, call->size);
	return 0;
}

static int verb_quit(void *arg, const struct sl_verb_call *call)
{
	struct sl_serve *serve = arg;

	(void)call;
	sl_loop_stop(serve->serving.loop);
	return 0;
}

int sl_serve_command(void *arg, char *line, char *reply, size_t size, struct sl_err *err)
{
	static const struct sl_verb verbs[] = {
	    {"latency", "latency on|off", 2, 2, verb_latency},
	    {"dilate", "dilate K", 2, 2, verb_dilate},
	    {"stall", "stall TIME (as in 5s)", 2, 2, verb_stall},
	    {"log", "log add DEVICE | log remove | log fail [NUMBER [SIDE]]", 2, 4, verb_log},
	    {"powercut", "powercut [TIME without power, as in 5s]", 1, 2, verb_powercut},
	    {"status", "status", 1, 1, verb_status},
	    {"quit", "quit", 1, 1, verb_quit},
	    {NULL, NULL, 0, 0, NULL},
	};

	return sl_verbs_run(verbs, arg, line, reply, size, err);
}
