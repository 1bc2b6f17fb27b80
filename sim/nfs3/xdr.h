/*
 * Bounds-checked XDR (RFC 4506). Errors are sticky: after the first one a reader gives zeros and empty
 * strings and a writer writes nothing, so that callers check `bad` once, at the end.
 */
#ifndef SL_NFS3_XDR_H
#define SL_NFS3_XDR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sl_xdr_in {
	const uint8_t *at, *end;
	bool bad;
};

struct sl_xdr_out {
	uint8_t *at, *end;
	bool bad;
};

/* Bytes inside the reader's input: borrowed. */
struct sl_xdr_bytes {
	const uint8_t *data;
	uint32_t size;
};

static inline uint32_t sl_be32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static inline void sl_put_be32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static inline uint32_t sl_xdr_pad(uint32_t size)
{
	return (0u - size) & 3u;
}

static inline uint32_t sl_xdr_u32(struct sl_xdr_in *in)
{
	uint32_t value;

	if (in->bad || in->end - in->at < 4) {
		in->bad = true;
		return 0;
	}
	value = sl_be32(in->at);
	in->at += 4;
	return value;
}

static inline uint64_t sl_xdr_u64(struct sl_xdr_in *in)
{
	uint64_t high = sl_xdr_u32(in);

	return high << 32 | sl_xdr_u32(in);
}

/* A value in 0..max; anything else is bad. For enumerations and booleans. */
uint32_t sl_xdr_enum(struct sl_xdr_in *in, uint32_t max);

/* opaque<max> or string<max>: length, bytes, padding. */
struct sl_xdr_bytes sl_xdr_opaque(struct sl_xdr_in *in, uint32_t max);

/* opaque[size] */
struct sl_xdr_bytes sl_xdr_fixed(struct sl_xdr_in *in, uint32_t size);

static inline void sl_xdr_put_u32(struct sl_xdr_out *out, uint32_t value)
{
	if (out->bad || out->end - out->at < 4) {
		out->bad = true;
		return;
	}
	sl_put_be32(out->at, value);
	out->at += 4;
}

static inline void sl_xdr_put_u64(struct sl_xdr_out *out, uint64_t value)
{
	sl_xdr_put_u32(out, (uint32_t)(value >> 32));
	sl_xdr_put_u32(out, (uint32_t)value);
}

/* Length, bytes, zero padding. */
void sl_xdr_put_opaque(struct sl_xdr_out *out, const void *bytes, uint32_t size);

#endif
