#include "loadgen/data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/base/units.h"

#define GRANULE 4096u /* a page, and the least that a pool compresses by itself */
#define RATIO_MAX 1000.0

int sl_load_data_parse(const char *text, double *ret, struct sl_err *err)
{
	size_t length = strlen(text);
	char number[32];

	if (strcmp(text, "zero") == 0 || strcmp(text, "random") == 0) {
		*ret = text[0] == 'z' ? 0 : 1;
		return 0;
	}
	if (length > 1 && length < sizeof(number) && text[length - 1] == 'x') {
		memcpy(number, text, length - 1);
		number[length - 1] = '\0';
		if (sl_units_parse(number, SL_UNIT_NONE, ret, NULL) == 0 && *ret >= 1 && *ret <= RATIO_MAX) {
			return 0;
		}
	}
	return sl_err_set(err, -EINVAL, "\"%.40s\" is not known; write zero, random or 2.0x (1x to 1000x)",
			  text);
}

/* Random bytes of a granule of `bytes`, in whole words. */
static uint32_t random_bytes(double ratio, uint32_t bytes)
{
	uint32_t words = (uint32_t)((double)bytes / ratio / 8 + 0.5);

	return ratio > 1 && words * 8 < bytes ? words * 8 : bytes;
}

static uint32_t granule_at(const struct sl_load_data *data, uint32_t at)
{
	return data->bytes - at < GRANULE ? data->bytes - at : GRANULE;
}

int sl_load_data_init(struct sl_load_data *data, double ratio, uint32_t bytes, uint64_t seed)
{
	struct sl_rng rng;

	*data = (struct sl_load_data){.ratio = ratio, .bytes = bytes, .seed = seed};
	if (ratio <= 0) {
		return 0;
	}
	data->pattern = calloc(1, bytes);
	if (!data->pattern) {
		return -ENOMEM;
	}
	sl_rng_init(&rng, seed, "load-data");
	for (uint32_t at = 0; at < bytes; at += GRANULE) {
		uint32_t n = random_bytes(ratio, granule_at(data, at));

		for (uint32_t i = 0; i < n; i++) {
			data->pattern[at + i] = (uint8_t)sl_rng_u64(&rng);
		}
	}
	return 0;
}

void sl_load_data_fini(struct sl_load_data *data)
{
	free(data->pattern);
	data->pattern = NULL;
}

/* Finalizer of splitmix64: neighbouring numbers have nothing in common. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

void sl_load_data_fill(const struct sl_load_data *data, uint64_t key, uint8_t *buf)
{
	uint64_t change = mix(data->seed + (key + 1) * 0x9e3779b97f4a7c15u);

	if (!data->pattern) {
		return;
	}
	memcpy(buf, data->pattern, data->bytes);
	for (uint32_t at = 0; at < data->bytes; at += GRANULE) {
		uint32_t n = random_bytes(data->ratio, granule_at(data, at));

		for (uint32_t i = 0; i + 8 <= n; i += 8) {
			uint64_t word;

			memcpy(&word, buf + at + i, 8);
			word ^= change;
			memcpy(buf + at + i, &word, 8);
		}
	}
}
