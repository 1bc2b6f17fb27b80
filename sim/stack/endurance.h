/* How long a log device lasts at a workload: what is written to it against what it is rated for. */
#ifndef SL_STACK_ENDURANCE_H
#define SL_STACK_ENDURANCE_H

#include <stddef.h>

#include "sim/box/box.h"
#include "sim/stack/result.h"

struct sl_endurance {
	double log_bytes_per_day;  /* the whole log, if the workload ran day and night */
	double data_bytes_per_day; /* all data disks together, the same way */
	double bytes_per_op;       /* log bytes of one transaction, request or write */
	/* Of the device that wears out first, log devices where there are some, else the data disks: */
	double device_bytes_per_day;
	double rated_bytes;           /* 0 = not rated */
	double years;                 /* until the rating is used up; 0 = not rated, or nothing is written */
	char device[SL_DEV_NAME_MAX]; /* "" when nothing in the box wears */
};

/* Writes that each member of `spec` gets, as a share of those to the whole: 1 for a single disk and a mirror.
 */
double sl_endurance_share(const struct sl_dev_spec *spec);

/* Rated bytes of the whole `spec`, that is until its first member is used up; 0 = not rated. */
double sl_endurance_rated(const struct sl_dev_spec *spec);

/* What `measure` wrote, on the devices of `box`. */
void sl_endurance_of(const struct sl_box *box, const struct sl_measure *measure, struct sl_endurance *ret);

/* "9.8 years", "19 days", "> 100 years", "not rated", "-" where nothing wears. */
void sl_endurance_span(const struct sl_endurance *endurance, char *buf, size_t size);

#endif
