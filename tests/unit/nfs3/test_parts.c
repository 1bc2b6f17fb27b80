#include <criterion/criterion.h>
#include <errno.h>

#include "rig.h"

/* The vectors of the SipHash paper's reference implementation: key 00..0f, message 00..0e and 00..0f. */
Test(nfs3_parts, siphash_vectors)
{
	uint8_t key[16], message[16];

	for (uint8_t i = 0; i < 16; i++) {
		key[i] = i;
		message[i] = i;
	}
	cr_assert_eq(sl_siphash(key, message, 15), 0xa129ca6149be45e5u);
	cr_assert_eq(sl_siphash(key, message, 16), 0x3f2acc7f57c29bdbu);
	cr_assert_eq(sl_siphash(key, message, 0), 0x726fdb47dd0e0e31u);
}

Test(nfs3_parts, handle_opens_only_as_it_was_made)
{
	uint8_t key[16] = "0123456789abcde", other[16] = "0123456789abcdf", handle[SL_HANDLE_BYTES];
	uint64_t ino, generation;

	sl_handle_make(key, 42, 7, handle);
	cr_assert_eq(sl_handle_open(key, handle, sizeof(handle), &ino, &generation), 0);
	cr_assert_eq(ino, 42);
	cr_assert_eq(generation, 7);
	cr_assert_eq(sl_handle_open(other, handle, sizeof(handle), &ino, &generation), -EBADF);
	for (size_t size = 0; size < sizeof(handle); size++) {
		cr_assert_eq(sl_handle_open(key, handle, size, &ino, &generation), -EBADF);
	}
	for (unsigned bit = 0; bit < 8 * sizeof(handle); bit++) {
		handle[bit / 8] ^= (uint8_t)(1u << (bit % 8));
		cr_assert_eq(sl_handle_open(key, handle, sizeof(handle), &ino, &generation), -EBADF, "bit %u",
			     bit);
		handle[bit / 8] ^= (uint8_t)(1u << (bit % 8));
	}
}

Test(nfs3_parts, xdr_reader_is_bounded_and_sticky)
{
	const uint8_t bytes[] = {0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o', 0, 0, 0, 0, 0, 0, 9};
	struct sl_xdr_in in = {.at = bytes, .end = bytes + sizeof(bytes)};
	struct sl_xdr_bytes text = sl_xdr_opaque(&in, 5);

	cr_assert_eq(text.size, 5);
	cr_assert_eq(memcmp(text.data, "hello", 5), 0);
	cr_assert_eq(sl_xdr_u32(&in), 9);
	cr_assert(!in.bad);
	cr_assert_eq(sl_xdr_u32(&in), 0);
	cr_assert(in.bad);
	/* Longer than allowed; longer than there is; padding missing; a length that wraps. */
	in = (struct sl_xdr_in){.at = bytes, .end = bytes + sizeof(bytes)};
	cr_assert_eq(sl_xdr_opaque(&in, 4).size, 0);
	cr_assert(in.bad);
	cr_assert_eq(sl_xdr_u64(&in), 0);
	for (size_t size = 0; size < 12; size++) {
		in = (struct sl_xdr_in){.at = bytes, .end = bytes + size};
		cr_assert_eq(sl_xdr_opaque(&in, 400).size, 0);
		cr_assert(in.bad);
	}
	for (uint32_t size = UINT32_MAX; size > UINT32_MAX - 8; size--) {
		in = (struct sl_xdr_in){.at = bytes, .end = bytes + sizeof(bytes)};
		cr_assert_eq(sl_xdr_fixed(&in, size).size, 0);
		cr_assert(in.bad);
	}
	in = (struct sl_xdr_in){.at = bytes, .end = bytes + 4};
	cr_assert_eq(sl_xdr_enum(&in, 4), 0);
	cr_assert(in.bad);
}

Test(nfs3_parts, xdr_writer_never_passes_its_end)
{
	uint8_t bytes[16];

	for (size_t size = 0; size <= sizeof(bytes); size++) {
		struct sl_xdr_out out = {.at = bytes, .end = bytes + size};

		memset(bytes, 0xee, sizeof(bytes));
		sl_xdr_put_u32(&out, 1);
		sl_xdr_put_opaque(&out, "hello", 5);
		cr_assert_eq(out.bad, size < 16, "%zu", size);
		for (size_t i = size; i < sizeof(bytes); i++) {
			cr_assert_eq(bytes[i], 0xee);
		}
	}
	cr_assert_eq(memcmp(bytes, "\0\0\0\1\0\0\0\5hello\0\0\0", 16), 0);
}

Test(nfs3_parts, buffer_keeps_order_and_gives_memory_back)
{
	struct sl_buf buf = {0};
	uint8_t expected = 0, next = 0, block[1000];

	for (int round = 0; round < 2000; round++) {
		size_t size = (size_t)(round * 37 % 1000), take = (size_t)(round * 53 % 1100);

		for (size_t i = 0; i < size; i++) {
			block[i] = next++;
		}
		cr_assert_eq(sl_buf_append(&buf, block, size), 0);
		take = take < sl_buf_size(&buf) ? take : sl_buf_size(&buf);
		for (size_t i = 0; i < take; i++) {
			cr_assert_eq(sl_buf_head(&buf)[i], expected++);
		}
		sl_buf_consume(&buf, take);
	}
	cr_assert(buf.cap <= 16384);
	cr_assert_neq(sl_buf_reserve(&buf, 20u << 20), NULL);
	buf.tail += 20u << 20;
	sl_buf_consume(&buf, SIZE_MAX);
	cr_assert_eq(buf.cap, 0);
	sl_buf_fini(&buf);
}
