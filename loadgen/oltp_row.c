#include "loadgen/oltp_row.h"

void sl_oltp_digits(struct sl_rng *rng, char *buf, unsigned bytes)
{
	for (unsigned at = 0; at < bytes; at += SL_OLTP_GROUP + 1) {
		uint64_t value = sl_rng_below(rng, 100000000000); /* one group */

		for (unsigned i = 0; i < SL_OLTP_GROUP && at + i < bytes; i++) {
			buf[at + i] = (char)('0' + value % 10);
			value /= 10;
		}
		if (at + SL_OLTP_GROUP < bytes) {
			buf[at + SL_OLTP_GROUP] = '-';
		}
	}
}
