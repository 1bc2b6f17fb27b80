/*
 * A rating ("TBW") counts what the host writes; a log is written in sequence and trimmed by nobody, which
 * costs a drive no more than its rating assumes. Log devices side by side share the log evenly. Time is that
 * of the run, day and night: a box that is busy a tenth of the day lasts ten times as long.
 */
#include "sim/stack/endurance.h"

#include <stdio.h>
#include <string.h>

#define DAY_NS (86400 * 1e9)
#define YEAR_DAYS 365.25

double sl_endurance_share(const struct sl_dev_spec *spec)
{
	switch (spec->kind) {
	case SL_DEV_STRIPE:
		return spec->n_members > 0 ? 1.0 / spec->n_members : 1;
	case SL_DEV_RAID10:
		return spec->n_members > 1 ? 2.0 / spec->n_members : 1;
	case SL_DEV_NULL:
	case SL_DEV_HDD:
	case SL_DEV_SSD:
	case SL_DEV_NVRAM:
	case SL_DEV_MIRROR:
		break;
	}
	return 1;
}

double sl_endurance_rated(const struct sl_dev_spec *spec)
{
	double share = sl_endurance_share(spec), least = 0;

	if (spec->n_members == 0) {
		return spec->endurance_bytes;
	}
	for (int i = 0; i < spec->n_members; i++) {
		double rated = sl_endurance_rated(spec->members[i]) / share;

		if (rated > 0 && (least <= 0 || rated < least)) {
			least = rated;
		}
	}
	return least;
}

/* The device of the list that is used up first when each gets `bytes_per_day`. */
static void wear(const struct sl_dev_spec *specs, int n, double bytes_per_day, struct sl_endurance *ret)
{
	for (int i = 0; i < n; i++) {
		double rated = sl_endurance_rated(&specs[i]);
		bool wears = specs[i].kind != SL_DEV_HDD && specs[i].kind != SL_DEV_NULL;

		if (!wears && rated <= 0) {
			continue;
		}
		if (ret->device[0] == '\0' ||
		    (rated > 0 && (ret->rated_bytes <= 0 || rated < ret->rated_bytes))) {
			memcpy(ret->device, specs[i].name, sizeof(ret->device));
			ret->rated_bytes = rated;
		}
	}
	ret->device_bytes_per_day = ret->device[0] ? bytes_per_day : 0;
	if (ret->rated_bytes > 0 && bytes_per_day > 0) {
		ret->years = ret->rated_bytes / bytes_per_day / YEAR_DAYS;
	}
}

void sl_endurance_of(const struct sl_box *box, const struct sl_measure *measure, struct sl_endurance *ret)
{
	double days = (double)measure->elapsed_ns / DAY_NS;

	*ret = (struct sl_endurance){0};
	if (days <= 0) {
		return;
	}
	ret->log_bytes_per_day = (double)measure->log_bytes / days;
	ret->data_bytes_per_day = (double)measure->data_bytes / days;
	if (measure->operations > 0) {
		ret->bytes_per_op = (double)measure->log_bytes / (double)measure->operations;
	}
	if (box->n_log > 0) {
		wear(box->log, box->n_log, ret->log_bytes_per_day / box->n_log, ret);
	} else if (box->n_data > 0) {
		wear(box->data, box->n_data, ret->data_bytes_per_day / box->n_data, ret);
	}
}

void sl_endurance_span(const struct sl_endurance *endurance, char *buf, size_t size)
{
	double years = endurance->years, days = years * YEAR_DAYS;

	if (endurance->device[0] == '\0' || endurance->device_bytes_per_day <= 0) {
		(void)snprintf(buf, size, "-");
	} else if (years <= 0) {
		(void)snprintf(buf, size, "not rated");
	} else if (years > 100) {
		(void)snprintf(buf, size, "> 100 years");
	} else if (days < 365) {
		(void)snprintf(buf, size, "%.*f days", days < 9.95 ? 1 : 0, days);
	} else {
		(void)snprintf(buf, size, "%.*f years", years < 9.95 ? 1 : 0, years);
	}
}
