/* What the rows of sysbench's table hold: groups of 11 random digits. Internal to loadgen. */
#ifndef SL_LOADGEN_OLTP_ROW_H
#define SL_LOADGEN_OLTP_ROW_H

#include "sim/base/rng.h"

#define SL_OLTP_GROUP 11 /* digits; groups are separated by '-' */
#define SL_OLTP_C_BYTES (10 * (SL_OLTP_GROUP + 1) - 1)
#define SL_OLTP_PAD_BYTES (5 * (SL_OLTP_GROUP + 1) - 1)

/* Fills `bytes` characters; no terminating zero. */
void sl_oltp_digits(struct sl_rng *rng, char *buf, unsigned bytes);

#endif
