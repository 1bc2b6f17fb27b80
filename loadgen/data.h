/*
 * What a load writes: zero bytes, which a pool with compression does not even store; random bytes, in which
 * neither lz4 nor deduplication finds anything; or bytes that compress to 1/N: of each 4 KiB the first N-th
 * part is random, the rest zero bytes. A block is a prepared pattern, changed by a key of its own: no two are
 * alike.
 */
#ifndef SL_LOADGEN_DATA_H
#define SL_LOADGEN_DATA_H

#include <stdint.h>

#include "sim/base/err.h"

struct sl_load_data {
	double ratio;     /* 0: zero bytes; 1: random; N: compresses to 1/N */
	uint8_t *pattern; /* of a block; owned; NULL for zero bytes */
	uint32_t bytes;   /* of a block */
	uint64_t seed;
};

/* "zero", "random" or "2.0x" -> ratio. 0 or -EINVAL. */
int sl_load_data_parse(const char *text, double *ret, struct sl_err *err);

/* Blocks of `bytes`. 0 or -ENOMEM. */
int sl_load_data_init(struct sl_load_data *data, double ratio, uint32_t bytes, uint64_t seed);
void sl_load_data_fini(struct sl_load_data *data);

/* Fills `buf` with block number `key`; with zero bytes it is left as it is, which is zero. */
void sl_load_data_fill(const struct sl_load_data *data, uint64_t key, uint8_t *buf);

#endif
