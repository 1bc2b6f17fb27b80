#include "sim/serve/record.h"

#include <string.h>

/*
 * u32 payload length, u32 CRC-32C of length and payload, payload. All little-endian. Payload: kind, type,
 * lengths of both names; mode, uid, gid; ino, generation, parent, cookie, from_parent; three times; both
 * names.
 */
#define RECORD_HEAD 8u
#define META_FIXED 80u
_Static_assert(RECORD_HEAD + META_FIXED + 2 * 255u == SL_RECORD_MAX, "two names of 255 bytes");

static uint32_t crc32c(uint32_t crc, const uint8_t *bytes, size_t size)
{
	crc = ~crc;
	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++) {
			crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1u)));
		}
	}
	return ~crc;
}

static uint8_t *put(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++) {
		at[i] = (uint8_t)(value >> (8 * i));
	}
	return at + bytes;
}

static uint64_t take(const uint8_t **at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++) {
		value |= (uint64_t)(*at)[i] << (8 * i);
	}
	*at += bytes;
	return value;
}

uint32_t sl_record_encode(const struct sl_meta *meta, uint8_t *buf)
{
	uint32_t name_len = (uint32_t)strlen(meta->name);
	uint32_t from_len = (uint32_t)strlen(meta->from);
	uint32_t payload = META_FIXED + name_len + from_len;
	uint8_t *at = buf + RECORD_HEAD;

	at = put(at, meta->kind, 1);
	at = put(at, meta->type, 1);
	at = put(at, name_len, 1);
	at = put(at, from_len, 1);
	at = put(at, meta->mode, 4);
	at = put(at, meta->uid, 4);
	at = put(at, meta->gid, 4);
	at = put(at, meta->ino, 8);
	at = put(at, meta->generation, 8);
	at = put(at, meta->parent, 8);
	at = put(at, meta->cookie, 8);
	at = put(at, meta->from_parent, 8);
	at = put(at, (uint64_t)meta->atime_ns, 8);
	at = put(at, (uint64_t)meta->mtime_ns, 8);
	at = put(at, (uint64_t)meta->ctime_ns, 8);
	memcpy(at, meta->name, name_len);
	memcpy(at + name_len, meta->from, from_len);
	put(buf, payload, 4);
	put(buf + 4, crc32c(crc32c(0, buf, 4), buf + RECORD_HEAD, payload), 4);
	return RECORD_HEAD + payload;
}

uint32_t sl_record_decode(const uint8_t *at, uint64_t left, struct sl_meta *ret)
{
	const uint8_t *from = at;
	uint32_t payload, crc, name_len, from_len;

	if (left < RECORD_HEAD + META_FIXED) {
		return 0;
	}
	payload = (uint32_t)take(&from, 4);
	crc = (uint32_t)take(&from, 4);
	if (payload < META_FIXED || payload > SL_RECORD_MAX - RECORD_HEAD || payload > left - RECORD_HEAD ||
	    crc != crc32c(crc32c(0, at, 4), from, payload)) {
		return 0;
	}
	ret->kind = (enum sl_meta_kind)take(&from, 1);
	ret->type = (uint8_t)take(&from, 1);
	name_len = (uint32_t)take(&from, 1);
	from_len = (uint32_t)take(&from, 1);
	ret->mode = (uint32_t)take(&from, 4);
	ret->uid = (uint32_t)take(&from, 4);
	ret->gid = (uint32_t)take(&from, 4);
	ret->ino = take(&from, 8);
	ret->generation = take(&from, 8);
	ret->parent = take(&from, 8);
	ret->cookie = take(&from, 8);
	ret->from_parent = take(&from, 8);
	ret->atime_ns = (int64_t)take(&from, 8);
	ret->mtime_ns = (int64_t)take(&from, 8);
	ret->ctime_ns = (int64_t)take(&from, 8);
	if (name_len + from_len != payload - META_FIXED) {
		return 0;
	}
	memcpy(ret->name, from, name_len);
	ret->name[name_len] = '\0';
	memcpy(ret->from, from + name_len, from_len);
	ret->from[from_len] = '\0';
	return RECORD_HEAD + payload;
}

uint64_t sl_record_next(const uint8_t *bytes, uint64_t size, uint64_t from)
{
	struct sl_meta meta;

	while (from < size && sl_record_decode(bytes + from, size - from, &meta) == 0) {
		from++;
	}
	return from;
}

/* Would it be whole if one of its bits were another? */
static bool one_bit_off(const uint8_t *at, uint64_t left)
{
	uint8_t copy[SL_RECORD_MAX];
	struct sl_meta meta;

	if (left > sizeof(copy)) {
		return false;
	}
	memcpy(copy, at, left);
	for (uint64_t bit = 0; bit < left * 8; bit++) {
		uint8_t mask = (uint8_t)(1u << (bit % 8));

		copy[bit / 8] ^= mask;
		if (sl_record_decode(copy, left, &meta) > 0) {
			return true;
		}
		copy[bit / 8] ^= mask;
	}
	return false;
}

bool sl_record_torn(const uint8_t *at, uint64_t left)
{
	const uint8_t *from = at;
	uint64_t payload;

	if (left >= SL_RECORD_MAX) {
		return false; /* one record is written at a time */
	}
	if (left < 4) {
		return true; /* not even its length */
	}
	if (one_bit_off(at, left)) {
		return false;
	}
	payload = take(&from, 4);
	/* An end that never reached the disk reads as zeros. */
	return payload != left - RECORD_HEAD || at[left - 1] == 0;
}
