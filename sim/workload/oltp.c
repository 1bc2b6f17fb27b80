#include "sim/workload/oltp.h"

#include <assert.h>
#include <stdio.h>

#define SPECIAL_ITERATIONS 12
#define SPECIAL_HOT_IDS 0.01 /* share of the ids that is hot */

void sl_oltp_init(struct sl_oltp *oltp, uint64_t seed, int client, uint32_t rows,
		  enum sl_oltp_distribution dist)
{
	char stream[32];

	assert(rows >= 1);
	(void)snprintf(stream, sizeof(stream), "oltp-client-%d", client);
	sl_rng_init(&oltp->rng, seed, stream);
	oltp->rows = rows;
	oltp->distribution = dist;
}

/* Position in [0, 1): the mean of 12 uniforms, taken from three 64-bit draws of four 16-bit parts each. */
static double special_bell(struct sl_rng *rng)
{
	uint32_t sum = 0;

	for (int i = 0; i < SPECIAL_ITERATIONS / 4; i++) {
		uint64_t bits = sl_rng_u64(rng);

		sum += (uint32_t)(bits & 0xffff) + (uint32_t)(bits >> 16 & 0xffff) +
		       (uint32_t)(bits >> 32 & 0xffff) + (uint32_t)(bits >> 48);
	}
	return (double)sum / (SPECIAL_ITERATIONS * 65536.0);
}

uint32_t sl_oltp_key(struct sl_oltp *oltp)
{
	struct sl_rng *rng = &oltp->rng;
	double position;

	if (oltp->distribution == SL_OLTP_UNIFORM) {
		return 1 + (uint32_t)sl_rng_below(rng, oltp->rows);
	}
	if (sl_rng_u64(rng) >> 62 == 0) {
		position = special_bell(rng);
	} else {
		position = 0.5 + (sl_rng_uniform(rng) - 0.5) * SPECIAL_HOT_IDS;
	}
	return 1 + (uint32_t)(position * oltp->rows);
}

void sl_oltp_next(struct sl_oltp *oltp, struct sl_oltp_txn *ret)
{
	static const enum sl_oltp_kind after_points[] = {
	    SL_OLTP_RANGE,        SL_OLTP_SUM,    SL_OLTP_ORDER, SL_OLTP_DISTINCT,
	    SL_OLTP_UPDATE_INDEX, SL_OLTP_UPDATE, SL_OLTP_DELETE};
	struct sl_oltp_statement *at = ret->statements;
	uint32_t replaced;

	*at++ = (struct sl_oltp_statement){SL_OLTP_BEGIN, 0};
	for (int i = 0; i < SL_OLTP_POINTS; i++) {
		*at++ = (struct sl_oltp_statement){SL_OLTP_POINT, sl_oltp_key(oltp)};
	}
	for (size_t i = 0; i < sizeof(after_points) / sizeof(after_points[0]); i++) {
		*at++ = (struct sl_oltp_statement){after_points[i], sl_oltp_key(oltp)};
	}
	replaced = at[-1].key;
	*at++ = (struct sl_oltp_statement){SL_OLTP_INSERT, replaced};
	*at++ = (struct sl_oltp_statement){SL_OLTP_COMMIT, 0};
	assert(at == ret->statements + SL_OLTP_STATEMENTS);
}
