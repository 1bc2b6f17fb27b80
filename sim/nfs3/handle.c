#include "sim/nfs3/handle.h"

#include <errno.h>
#include <string.h>

/* Little-endian load of up to 8 bytes. */
static uint64_t load_le(const uint8_t *at, size_t size)
{
	uint64_t value = 0;

	while (size > 0) {
		value = value << 8 | at[--size];
	}
	return value;
}

static void store_le(uint8_t *at, uint64_t value)
{
	unsigned i;

	for (i = 0; i < 8; i++) {
		at[i] = (uint8_t)(value >> (8 * i));
	}
}

static uint64_t rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], unsigned rounds)
{
	for (; rounds > 0; rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

uint64_t sl_siphash(const uint8_t key[SL_HANDLE_KEY_BYTES], const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t k0 = load_le(key, 8), k1 = load_le(key + 8, 8);
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
			 k1 ^ 0x7465646279746573u};
	size_t i;

	for (i = 0; i + 8 <= size; i += 8) {
		sip_word(v, load_le(at + i, 8));
	}
	sip_word(v, load_le(at + i, size - i) | (uint64_t)size << 56);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void sl_handle_make(const uint8_t key[SL_HANDLE_KEY_BYTES], uint64_t ino, uint64_t generation,
		    uint8_t ret[SL_HANDLE_BYTES])
{
	store_le(ret, ino);
	store_le(ret + 8, generation);
	store_le(ret + 16, sl_siphash(key, ret, 16));
}

int sl_handle_open(const uint8_t key[SL_HANDLE_KEY_BYTES], const uint8_t *handle, size_t size,
		   uint64_t *ret_ino, uint64_t *ret_generation)
{
	if (size != SL_HANDLE_BYTES) {
		return -EBADF;
	}
	/* One comparison of whole words: its time says nothing about how many bytes were right. */
	if ((sl_siphash(key, handle, 16) ^ load_le(handle + 16, 8)) != 0) {
		return -EBADF;
	}
	*ret_ino = load_le(handle, 8);
	*ret_generation = load_le(handle + 8, 8);
	return 0;
}
