/* Records of the journal: their checksum is CRC-32C, as every journal so far has it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "sim/datastore/record.h"

/* One bit after another (Castagnoli's polynomial, reflected), as the definition has it. */
static uint32_t crc32c_by_bits(uint32_t crc, const uint8_t *bytes, size_t size)
{
	crc = ~crc;
	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++) {
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
		}
	}
	return ~crc;
}

static uint32_t le32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Names of all bytes, so that each entry of a table is used; the check value of the definition with it. */
Test(record, checksum_is_crc_32c_of_length_and_payload)
{
	struct sl_meta meta = {.kind = SL_META_CREATE, .type = 1, .ino = 7, .cookie = 7}, back;
	uint8_t bytes[SL_RECORD_MAX];

	cr_assert_eq(crc32c_by_bits(0, (const uint8_t *)"123456789", 9), 0xe3069283u);
	for (unsigned i = 0; i < 256; i++) {
		uint32_t size, crc;

		memset(meta.name, (int)(i ? i : 1), i % 200 + 1);
		meta.name[i % 200 + 1] = '\0';
		meta.mtime_ns = (int64_t)((uint64_t)i << 55);
		size = sl_record_encode(&meta, bytes);
		crc = crc32c_by_bits(crc32c_by_bits(0, bytes, 4), bytes + 8, size - 8);
		cr_assert_eq(le32(bytes + 4), crc, "record %u", i);
		cr_assert_eq(sl_record_decode(bytes, size, &back), size);
		cr_assert_str_eq(back.name, meta.name);
	}
}
