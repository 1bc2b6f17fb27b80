/*
 * A cost taken away and a slower run: that happens where others then have more work. What grew per operation
 * says which: the log, when fewer operations share a write of it; the disks, when transaction groups close
 * sooner and records are written more often; CPU, when work that waited for disks comes in between.
 */
#include <stdio.h>
#include <string.h>

#include "sim/stack/explain.h"

#define GROWN 1.005 /* a share per operation that grew by less says nothing */

static double busy_ns(const struct sl_measure *measure, const char *name, int64_t n)
{
	for (int i = 0; i < measure->n_resources; i++) {
		if (strcmp(measure->resources[i].name, name) == 0) {
			return measure->resources[i].utilisation * (double)measure->elapsed_ns * (double)n;
		}
	}
	return 0;
}

/* What one operation took of something, before and after. */
struct share {
	const char *what, *unit;
	double size, before, after;
};

static double growth(const struct share *share)
{
	return share->before > 0 ? share->after / share->before : 0;
}

static const struct share *grown_most(const struct share *shares, int n)
{
	const struct share *most = &shares[0];

	for (int i = 1; i < n; i++) {
		most = growth(&shares[i]) > growth(most) ? &shares[i] : most;
	}
	return growth(most) > GROWN ? most : NULL;
}

static double per_op(double sum, const struct sl_measure *measure)
{
	return measure->operations > 0 ? sum / (double)measure->operations : 0;
}

void sl_what_if_why(const struct sl_box *box, const struct sl_measure *before, const struct sl_box *changed,
		    const struct sl_measure *after, char *buf, size_t size)
{
	const struct share shares[] = {
	    {"fewer operations share a write of the log", "KiB of log", 1024,
	     per_op((double)before->log_bytes, before), per_op((double)after->log_bytes, after)},
	    {"records are written more often", "KiB to the disks", 1024,
	     per_op((double)before->data_bytes, before), per_op((double)after->data_bytes, after)},
	    {"more work for the storage VM", "us of CPU", 1000,
	     per_op(busy_ns(before, "storage VM vCPUs", box->nas_vcpus), before),
	     per_op(busy_ns(after, "storage VM vCPUs", changed->nas_vcpus), after)},
	    {"more work for the guest", "us of CPU", 1000,
	     per_op(busy_ns(before, "guest vCPUs", box->guest_vcpus), before),
	     per_op(busy_ns(after, "guest vCPUs", changed->guest_vcpus), after)},
	};
	const struct share *most = grown_most(shares, (int)(sizeof(shares) / sizeof(shares[0])));

	buf[0] = '\0';
	if (most) {
		(void)snprintf(buf, size, "%s: %.3g -> %.3g %s per operation", most->what,
			       most->before / most->size, most->after / most->size, most->unit);
	}
}
