/*
 * When the timing of what ran on the wall clock is trusted: one rule for engine live, engine vm, `serve` and
 * `disk serve` (decision 0003). Pure: figures in, verdict out. All times are of the wall clock, as it was
 * measured, at the dilation in force: a time of the model goes through sl_trust_wall_ns first.
 */
#ifndef SL_STACK_TRUST_H
#define SL_STACK_TRUST_H

#include <stdbool.h>
#include <stdint.h>

/* Replies may be late (p99) by this share of the modelled latency (p50). */
#define SL_TRUST_LATE_SHARE 0.2
/* The measured programs may wait for a CPU for this share of the measured time. A request goes through them
 * one after the other, so their waits add up, and a closed loop gets slower by as much: half of the share of
 * lateness, since that is a tail which credit makes up for, and this moves the rate itself. */
#define SL_TRUST_WAIT_SHARE 0.1

/* Who works on a request besides the modelled box. */
enum sl_trust_who {
	SL_TRUST_SERVER,
	SL_TRUST_CLIENT,
	SL_TRUST_DATABASE,
	SL_TRUST_MACHINES, /* virtual ones */
	SL_TRUST_WHO
};

struct sl_trust_wait {
	bool present;         /* it took part, and its wait is to be known */
	bool unknown;         /* no such figure here, see sl_runwait_ns */
	int64_t wait_wall_ns; /* of all its threads, on run queues, summed */
	int64_t wall_ns;      /* while that was counted; 0 = the measured time */
	int abreast;          /* requests that its threads work on at a time; 0 = 1 */
};

struct sl_trust_input {
	int64_t lateness_p99_wall_ns;
	int64_t modelled_p50_wall_ns; /* 0 = no reply had one */
	int64_t measured_wall_ns;
	struct sl_trust_wait waits[SL_TRUST_WHO];
};

enum sl_trust_verdict {
	SL_TRUST_YES,
	SL_TRUST_UNKNOWN, /* a wait could not be measured, or nothing was modelled: the reason says which */
	SL_TRUST_STARVED,
	SL_TRUST_LATE
};

struct sl_trust {
	enum sl_trust_verdict verdict;
	double late_share;           /* p99 lateness / modelled p50; 0 when nothing was modelled */
	double wait_share;           /* of the measured time, all who are known together */
	double shares[SL_TRUST_WHO]; /* each; negative = took no part, or unknown */
	char reason[240];            /* in words and figures; "" when trusted */
};

/* A time of the model as the wall clock shows it. */
int64_t sl_trust_wall_ns(int64_t model_ns, double dilate);

/* "server", "load", "database", "virtual machines" */
const char *sl_trust_who_name(enum sl_trust_who who);

void sl_trust_judge(const struct sl_trust_input *input, struct sl_trust *ret);

/* Is `a` the worse of two samples of one cell, i.e. the one to judge it by? */
bool sl_trust_worse(const struct sl_trust *a, const struct sl_trust *b);

#endif
