/*
 * The OLTP transactions of sysbench: which statements, in which order, on which keys. 0.4's "complex"
 * (sb_oltp.c) and 1.0's oltp_read_write have the same list; 1.0's others are parts of it. Pure: the model and
 * the real load generator share it.
 */
#ifndef SL_WORKLOAD_OLTP_H
#define SL_WORKLOAD_OLTP_H

#include <stdint.h>

#include "sim/base/rng.h"
#include "sim/workload/zipf.h"

enum sl_oltp_kind {
	SL_OLTP_BEGIN,
	SL_OLTP_POINT,        /* SELECT c WHERE id = key */
	SL_OLTP_RANGE,        /* SELECT c WHERE id BETWEEN key AND key + 99 */
	SL_OLTP_SUM,          /* SELECT SUM(k) over the same kind of range */
	SL_OLTP_ORDER,        /* ... ORDER BY c */
	SL_OLTP_DISTINCT,     /* SELECT DISTINCT c ... ORDER BY c */
	SL_OLTP_UPDATE_INDEX, /* UPDATE SET k = k + 1 */
	SL_OLTP_UPDATE,       /* UPDATE SET c */
	SL_OLTP_DELETE,
	SL_OLTP_INSERT, /* the id just deleted */
	SL_OLTP_COMMIT
};

enum sl_oltp_distribution {
	SL_OLTP_SPECIAL, /* 75 % in the middle 1 % of the ids, the rest bell-shaped */
	SL_OLTP_UNIFORM,
	SL_OLTP_ZIPF,  /* exponent 0.8, the low ids are hot: sysbench 1.0's --rand-type=zipfian */
	SL_OLTP_PARETO /* a fifth of the ids has four fifths of the accesses, of these again, ...: 1.0's
			  pareto */
};

enum sl_oltp_list {
	SL_OLTP_COMPLEX,    /* sysbench 0.4 --oltp-test-mode=complex */
	SL_OLTP_READ_WRITE, /* sysbench 1.0, as all below: the same statements as COMPLEX */
	SL_OLTP_READ_ONLY,  /* without the writes */
	SL_OLTP_WRITE_ONLY, /* without the reads */
	SL_OLTP_INDEX_ONLY  /* oltp_update_index: one UPDATE, no BEGIN and COMMIT */
};

/* Figures of the distributions: sysbench's defaults. */
#define SL_SPECIAL_ITERATIONS 12          /* --rand-spec-iter: uniforms whose mean is the bell */
#define SL_SPECIAL_HOT_IDS 0.01           /* --rand-spec-pct: share of the ids that is hot ... */
#define SL_SPECIAL_HOT_SHARE 0.75         /* --rand-spec-res: ... and of the accesses that it takes */
#define SL_ZIPF_EXPONENT 0.8              /* --rand-zipfian-exp */
#define SL_PARETO_POWER 7.212567439016512 /* log(h) / log(1 - h), --rand-pareto-h 0.2 */

#define SL_OLTP_POINTS 10
#define SL_OLTP_RANGE_SIZE 100
#define SL_OLTP_STATEMENTS 20 /* of the longest list: BEGIN + 14 reads + 4 writes + COMMIT */

struct sl_oltp_statement {
	enum sl_oltp_kind kind;
	uint32_t key; /* row id, 1..rows; 0 for BEGIN and COMMIT */
};

struct sl_oltp_txn {
	int count;
	struct sl_oltp_statement statements[SL_OLTP_STATEMENTS];
};

struct sl_oltp_config {
	enum sl_oltp_list list;
	enum sl_oltp_distribution distribution;
	uint32_t rows; /* at least 1 */
};

/* One client's stream of transactions. */
struct sl_oltp {
	struct sl_oltp_config config;
	struct sl_rng rng;
	struct sl_zipf zipf; /* when that is the distribution */
};

/* Starts client number `client` of `seed`. */
void sl_oltp_init(struct sl_oltp *oltp, const struct sl_oltp_config *config, uint64_t seed, int client);

/* Draws the next transaction. */
void sl_oltp_next(struct sl_oltp *oltp, struct sl_oltp_txn *ret);

/* Draws one key in 1..rows. `special` (res 75, pct 1, iter 12): one key in four is the mean of 12 uniforms
 * over the table, the others are uniform in the central 1 %. */
uint32_t sl_oltp_key(struct sl_oltp *oltp);

#endif
