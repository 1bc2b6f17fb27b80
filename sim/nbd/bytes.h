/* Big-endian numbers in a run of bytes. */
#ifndef SL_NBD_BYTES_H
#define SL_NBD_BYTES_H

#include <stdint.h>

static inline uint8_t *sl_nbd_put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

static inline uint8_t *sl_nbd_put32(uint8_t *at, uint32_t value)
{
	return sl_nbd_put16(sl_nbd_put16(at, value >> 16), value & 0xffff);
}

static inline uint8_t *sl_nbd_put64(uint8_t *at, uint64_t value)
{
	return sl_nbd_put32(sl_nbd_put32(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

static inline uint16_t sl_nbd_get16(const uint8_t *at)
{
	return (uint16_t)((unsigned)at[0] << 8 | at[1]);
}

static inline uint32_t sl_nbd_get32(const uint8_t *at)
{
	return (uint32_t)sl_nbd_get16(at) << 16 | sl_nbd_get16(at + 2);
}

static inline uint64_t sl_nbd_get64(const uint8_t *at)
{
	return (uint64_t)sl_nbd_get32(at) << 32 | sl_nbd_get32(at + 4);
}

#endif
