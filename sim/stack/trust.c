#include "sim/stack/trust.h"

#include <stdio.h>
#include <string.h>

static const char *const names[SL_TRUST_WHO] = {"server", "load", "database", "virtual machines"};

const char *sl_trust_who_name(enum sl_trust_who who)
{
	return names[who];
}

int64_t sl_trust_wall_ns(int64_t model_ns, double dilate)
{
	return (int64_t)((double)model_ns * dilate);
}

static void waits_add(const struct sl_trust_input *input, struct sl_trust *ret)
{
	for (int i = 0; i < SL_TRUST_WHO; i++) {
		const struct sl_trust_wait *wait = &input->waits[i];
		double wall_ns = (double)(wait->wall_ns > 0 ? wait->wall_ns : input->measured_wall_ns) *
				 (double)(wait->abreast > 0 ? wait->abreast : 1);

		ret->shares[i] = -1;
		if (wait->present && !wait->unknown && wall_ns > 0) {
			ret->shares[i] = (double)wait->wait_wall_ns / wall_ns;
			ret->wait_share += ret->shares[i];
		}
	}
}

static void reason_late(const struct sl_trust_input *input, struct sl_trust *ret)
{
	(void)snprintf(ret->reason, sizeof(ret->reason),
		       "replies were late by %.3g ms (p99), which is %.0f %% of the modelled %.3g ms (p50)",
		       (double)input->lateness_p99_wall_ns / 1e6, ret->late_share * 100,
		       (double)input->modelled_p50_wall_ns / 1e6);
}

static void reason_starved(struct sl_trust *ret)
{
	size_t used = strlen(ret->reason);
	const char *separator = " (";

	used += (size_t)snprintf(ret->reason + used, sizeof(ret->reason) - used,
				 "%swaits for a CPU took %.0f %% of the measured time", used > 0 ? "; " : "",
				 ret->wait_share * 100);
	for (int i = 0; i < SL_TRUST_WHO && used < sizeof(ret->reason); i++) {
		if (ret->shares[i] >= 0) {
			used += (size_t)snprintf(ret->reason + used, sizeof(ret->reason) - used,
						 "%s%s %.0f %%", separator, names[i], ret->shares[i] * 100);
			separator = ", ";
		}
	}
	if (used < sizeof(ret->reason)) {
		(void)snprintf(ret->reason + used, sizeof(ret->reason) - used, ")");
	}
}

/* What keeps a figure that looks good from being trusted. */
static void unknown_find(const struct sl_trust_input *input, struct sl_trust *ret)
{
	for (int i = 0; i < SL_TRUST_WHO; i++) {
		if (input->waits[i].present && input->waits[i].unknown) {
			ret->verdict = SL_TRUST_UNKNOWN;
			(void)snprintf(ret->reason, sizeof(ret->reason),
				       "how long the %s waited for a CPU is not known here: "
				       "/proc/PID/schedstat is missing or empty",
				       names[i]);
			return;
		}
	}
	if (input->modelled_p50_wall_ns <= 0 && input->lateness_p99_wall_ns > 0) {
		ret->verdict = SL_TRUST_UNKNOWN;
		(void)snprintf(ret->reason, sizeof(ret->reason),
			       "replies were late by %.3g ms (p99), and no modelled write or commit is there "
			       "to compare with",
			       (double)input->lateness_p99_wall_ns / 1e6);
	}
}

void sl_trust_judge(const struct sl_trust_input *input, struct sl_trust *ret)
{
	*ret = (struct sl_trust){.verdict = SL_TRUST_YES};
	if (input->modelled_p50_wall_ns > 0) {
		ret->late_share = (double)input->lateness_p99_wall_ns / (double)input->modelled_p50_wall_ns;
	}
	waits_add(input, ret);
	if (ret->wait_share > SL_TRUST_WAIT_SHARE) {
		ret->verdict = SL_TRUST_STARVED;
	}
	if (ret->late_share > SL_TRUST_LATE_SHARE) {
		ret->verdict = SL_TRUST_LATE;
		reason_late(input, ret);
	}
	if (ret->wait_share > SL_TRUST_WAIT_SHARE) {
		reason_starved(ret);
	}
	if (ret->verdict == SL_TRUST_YES) {
		unknown_find(input, ret);
	}
}

bool sl_trust_worse(const struct sl_trust *a, const struct sl_trust *b)
{
	double by_a = a->late_share / SL_TRUST_LATE_SHARE + a->wait_share / SL_TRUST_WAIT_SHARE,
	       by_b = b->late_share / SL_TRUST_LATE_SHARE + b->wait_share / SL_TRUST_WAIT_SHARE;

	if ((a->verdict == SL_TRUST_YES) != (b->verdict == SL_TRUST_YES)) {
		return a->verdict != SL_TRUST_YES;
	}
	return by_a > by_b;
}
