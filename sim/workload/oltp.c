#include "sim/workload/oltp.h"

#include <assert.h>
#include <stdio.h>

void sl_oltp_init(struct sl_oltp *oltp, const struct sl_oltp_config *config, uint64_t seed, int client)
{
	char stream[32];

	assert(config->rows >= 1);
	(void)snprintf(stream, sizeof(stream), "oltp-client-%d", client);
	*oltp = (struct sl_oltp){.config = *config};
	sl_rng_init(&oltp->rng, seed, stream);
	if (config->distribution == SL_OLTP_ZIPF) {
		sl_zipf_init(&oltp->zipf, config->rows, SL_ZIPF_EXPONENT);
	}
}

/* Position in [0, 1): the mean of 12 uniforms, taken from three 64-bit draws of four 16-bit parts each. */
static double special_bell(struct sl_rng *rng)
{
	uint32_t sum = 0;

	for (int i = 0; i < SL_SPECIAL_ITERATIONS / 4; i++) {
		uint64_t bits = sl_rng_u64(rng);

		sum += (uint32_t)(bits & 0xffff) + (uint32_t)(bits >> 16 & 0xffff) +
		       (uint32_t)(bits >> 32 & 0xffff) + (uint32_t)(bits >> 48);
	}
	return (double)sum / (SL_SPECIAL_ITERATIONS * 65536.0);
}

/* u^7.2: --rand-type=pareto. */
static double pareto_position(struct sl_rng *rng)
{
	double u = sl_rng_uniform(rng);

	return u > 0 ? sl_exp(SL_PARETO_POWER * sl_log(u)) : 0;
}

uint32_t sl_oltp_key(struct sl_oltp *oltp)
{
	struct sl_rng *rng = &oltp->rng;
	double position;

	if (oltp->config.distribution == SL_OLTP_UNIFORM) {
		return 1 + (uint32_t)sl_rng_below(rng, oltp->config.rows);
	}
	if (oltp->config.distribution == SL_OLTP_ZIPF) {
		return sl_zipf_next(&oltp->zipf, rng);
	}
	if (oltp->config.distribution == SL_OLTP_PARETO) {
		return 1 + (uint32_t)(pareto_position(rng) * oltp->config.rows);
	}
	if (sl_rng_u64(rng) >> 62 == 0) {
		position = special_bell(rng);
	} else {
		position = 0.5 + (sl_rng_uniform(rng) - 0.5) * SL_SPECIAL_HOT_IDS;
	}
	return 1 + (uint32_t)(position * oltp->config.rows);
}

/* Appends a statement. Keys are drawn in the order of the statements. */
static void add(struct sl_oltp_txn *txn, enum sl_oltp_kind kind, uint32_t key)
{
	assert(txn->count < SL_OLTP_STATEMENTS);
	txn->statements[txn->count++] = (struct sl_oltp_statement){kind, key};
}

static void add_reads(struct sl_oltp *oltp, struct sl_oltp_txn *txn)
{
	for (int i = 0; i < SL_OLTP_POINTS; i++) {
		add(txn, SL_OLTP_POINT, sl_oltp_key(oltp));
	}
	for (int kind = SL_OLTP_RANGE; kind <= SL_OLTP_DISTINCT; kind++) {
		add(txn, (enum sl_oltp_kind)kind, sl_oltp_key(oltp));
	}
}

static void add_writes(struct sl_oltp *oltp, struct sl_oltp_txn *txn)
{
	uint32_t replaced;

	add(txn, SL_OLTP_UPDATE_INDEX, sl_oltp_key(oltp));
	add(txn, SL_OLTP_UPDATE, sl_oltp_key(oltp));
	replaced = sl_oltp_key(oltp);
	add(txn, SL_OLTP_DELETE, replaced);
	add(txn, SL_OLTP_INSERT, replaced);
}

void sl_oltp_next(struct sl_oltp *oltp, struct sl_oltp_txn *ret)
{
	enum sl_oltp_list list = oltp->config.list;

	ret->count = 0;
	if (list == SL_OLTP_INDEX_ONLY) {
		add(ret, SL_OLTP_UPDATE_INDEX, sl_oltp_key(oltp));
		return;
	}
	add(ret, SL_OLTP_BEGIN, 0);
	if (list != SL_OLTP_WRITE_ONLY) {
		add_reads(oltp, ret);
	}
	if (list != SL_OLTP_READ_ONLY) {
		add_writes(oltp, ret);
	}
	add(ret, SL_OLTP_COMMIT, 0);
}
