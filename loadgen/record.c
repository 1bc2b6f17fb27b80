/* Magic, run, number, then the stream that run and number give: 8 bytes at a time, little-endian. */
#include "loadgen/record.h"

#include <endian.h>
#include <string.h>

static const char magic[8] = "SLAUDIT1";

/* splitmix64's finaliser: neighbours have nothing in common. */
static uint64_t mixed(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Word `at` of the record. */
static uint64_t word(uint64_t run, uint64_t number, size_t at)
{
	uint64_t value;

	switch (at) {
	case 0:
		memcpy(&value, magic, sizeof(value));
		return value;
	case 1:
		return htole64(run);
	case 2:
		return htole64(number);
	default:
		return htole64(mixed(run + number * 0x9e3779b97f4a7c15ULL + at * 0xd1342543de82ef95ULL));
	}
}

void sl_record_make(uint64_t run, uint64_t number, void *buf, size_t bytes)
{
	uint8_t *to = buf;

	for (size_t i = 0; i < bytes / 8; i++) {
		uint64_t value = word(run, number, i);

		memcpy(to + i * 8, &value, 8);
	}
}

/* Whether the bytes are record `number` of `run`, as far as they go. */
static bool matches(uint64_t run, uint64_t number, const uint8_t *buf, size_t bytes)
{
	for (size_t i = 0; i < bytes / 8; i++) {
		uint64_t value = word(run, number, i);

		if (memcmp(buf + i * 8, &value, 8) != 0) {
			return false;
		}
	}
	return true;
}

static bool is_zero(const uint8_t *buf, size_t bytes)
{
	return bytes == 0 || (buf[0] == 0 && memcmp(buf, buf + 1, bytes - 1) == 0);
}

enum sl_record_state sl_record_check(uint64_t run, uint64_t number, const void *buf, size_t got, size_t bytes)
{
	const uint8_t *from = buf;
	uint64_t other;

	if (is_zero(from, got)) {
		return SL_RECORD_ABSENT;
	}
	if (got == bytes && matches(run, number, from, bytes)) {
		return SL_RECORD_WHOLE;
	}
	if (got < 16 || memcmp(from, magic, sizeof(magic)) != 0) {
		return SL_RECORD_TORN;
	}
	memcpy(&other, from + 8, sizeof(other));
	other = le64toh(other);
	return other != run && matches(other, number, from, got) ? SL_RECORD_ABSENT : SL_RECORD_TORN;
}

bool sl_record_harmless(const void *buf, size_t bytes)
{
	return is_zero(buf, bytes) || (bytes >= sizeof(magic) && memcmp(buf, magic, sizeof(magic)) == 0);
}
