/* What a load writes: as many bytes are random as asked, and no two words are alike. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loadgen/data.h"

#define BLOCK 16384u
#define BLOCKS 64u
#define ALL (BLOCK * BLOCKS)

static int by_value(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(uint64_t));
}

static uint64_t *blocks_of(double ratio, uint64_t seed)
{
	uint8_t *all = calloc(1, ALL);
	struct sl_load_data data;

	cr_assert_not_null(all);
	cr_assert_eq(sl_load_data_init(&data, ratio, BLOCK, seed), 0);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		sl_load_data_fill(&data, i, all + i * BLOCK);
	}
	sl_load_data_fini(&data);
	return (uint64_t *)(void *)all;
}

/* Words that are not zero; all of them must differ, over all blocks: a compressor or a table of hashes finds
 * none twice. Of 131,072 random words of 64 bits two are alike once in 10^9 seeds. */
static uint32_t distinct_words(uint64_t *words)
{
	uint32_t n = ALL / 8, zero = 0;

	qsort(words, n, sizeof(*words), by_value);
	while (zero < n && words[zero] == 0) {
		zero++;
	}
	for (uint32_t i = zero + 1; i < n; i++) {
		cr_assert_neq(words[i], words[i - 1], "word %u is there twice", i);
	}
	return n - zero;
}

/* 131,072 words: all of random data, half at 2.0x, a third at 3x (4096 / 3 = 1365 bytes, 171 words of 512),
 * none of zero bytes. */
Test(data, compresses_as_asked_and_repeats_nothing)
{
	static const struct {
		double ratio;
		uint32_t words;
	} rows[] = {{0, 0}, {1, 131072}, {2, 65536}, {3, 171 * 256}, {1000, 256}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t *words = blocks_of(rows[i].ratio, 1);

		cr_expect_eq(distinct_words(words), rows[i].words, "%gx", rows[i].ratio);
		free(words);
	}
}

/* At 2.0x the zero bytes are the second half of each 4 KiB: a run that lz4 sees. */
Test(data, its_zero_bytes_lie_together)
{
	uint64_t *words = blocks_of(2, 1);
	const uint8_t *bytes = (const uint8_t *)words;
	static const uint8_t zeroes[2048];

	for (uint32_t at = 0; at < ALL; at += 4096) {
		cr_assert_eq(memcmp(bytes + at + 2048, zeroes, 2048), 0, "at %u", at);
	}
	free(words);
}

Test(data, is_that_of_its_seed)
{
	uint64_t *one = blocks_of(1, 1), *again = blocks_of(1, 1), *other = blocks_of(1, 2);

	cr_assert_eq(memcmp(one, again, ALL), 0);
	cr_assert_neq(memcmp(one, other, 4096), 0);
	free(one);
	free(again);
	free(other);
}

Test(data, words_of_the_option)
{
	static const struct {
		const char *text;
		double ratio; /* negative: refused */
	} rows[] = {{"zero", 0},     {"random", 1}, {"2.0x", 2}, {"1x", 1},    {"1.5x", 1.5},
		    {"1000x", 1000}, {"", -1},      {"x", -1},   {"0.5x", -1}, {"2", -1},
		    {"nanx", -1},    {"zeros", -1}, {"-2x", -1}, {"1001x", -1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_err err = {0};
		double ratio = -1;
		int rc = sl_load_data_parse(rows[i].text, &ratio, &err);

		cr_expect_eq(rc, rows[i].ratio < 0 ? -EINVAL : 0, "\"%s\"", rows[i].text);
		cr_expect(rc < 0 ? strstr(err.msg, "write zero, random or 2.0x") != NULL
				 : ratio == rows[i].ratio,
			  "\"%s\": %s", rows[i].text, err.msg);
	}
}
