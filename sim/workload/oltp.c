#include "sim/workload/oltp.h"

#include <assert.h>
#include <stdbool.h>
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

/* The whole list at a time: the generator stays in registers. */
static void draw_special(struct sl_oltp *oltp, uint32_t *ret, int n)
{
	struct sl_rng rng = oltp->rng;

	for (int i = 0; i < n; i++) {
		bool bell = sl_rng_u64(&rng) >> 62 == 0;
		double position =
		    bell ? special_bell(&rng) : 0.5 + (sl_rng_uniform(&rng) - 0.5) * SL_SPECIAL_HOT_IDS;

		ret[i] = 1 + (uint32_t)(position * oltp->config.rows);
	}
	oltp->rng = rng;
}

static void draw_keys(struct sl_oltp *oltp, uint32_t *ret, int n)
{
	struct sl_rng *rng = &oltp->rng;
	uint32_t rows = oltp->config.rows;

	switch (oltp->config.distribution) {
	case SL_OLTP_SPECIAL:
		draw_special(oltp, ret, n);
		break;
	case SL_OLTP_UNIFORM:
		for (int i = 0; i < n; i++) {
			ret[i] = 1 + (uint32_t)sl_rng_below(rng, rows);
		}
		break;
	case SL_OLTP_ZIPF:
		for (int i = 0; i < n; i++) {
			ret[i] = sl_zipf_next(&oltp->zipf, rng);
		}
		break;
	case SL_OLTP_PARETO:
		for (int i = 0; i < n; i++) {
			ret[i] = 1 + (uint32_t)(pareto_position(rng) * rows);
		}
		break;
	}
}

uint32_t sl_oltp_key(struct sl_oltp *oltp)
{
	uint32_t key;

	draw_keys(oltp, &key, 1);
	return key;
}

/* Appends a statement. */
static void add(struct sl_oltp_txn *txn, enum sl_oltp_kind kind, uint32_t key)
{
	assert(txn->count < SL_OLTP_STATEMENTS);
	txn->statements[txn->count++] = (struct sl_oltp_statement){kind, key};
}

static void add_reads(struct sl_oltp *oltp, struct sl_oltp_txn *txn)
{
	uint32_t keys[SL_OLTP_POINTS + SL_OLTP_DISTINCT - SL_OLTP_RANGE + 1], *key = keys;

	draw_keys(oltp, keys, sizeof(keys) / sizeof(keys[0]));
	for (int i = 0; i < SL_OLTP_POINTS; i++) {
		add(txn, SL_OLTP_POINT, *key++);
	}
	for (int kind = SL_OLTP_RANGE; kind <= SL_OLTP_DISTINCT; kind++) {
		add(txn, (enum sl_oltp_kind)kind, *key++);
	}
}

static void add_writes(struct sl_oltp *oltp, struct sl_oltp_txn *txn)
{
	uint32_t keys[3];

	draw_keys(oltp, keys, 3);
	add(txn, SL_OLTP_UPDATE_INDEX, keys[0]);
	add(txn, SL_OLTP_UPDATE, keys[1]);
	add(txn, SL_OLTP_DELETE, keys[2]);
	add(txn, SL_OLTP_INSERT, keys[2]);
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
