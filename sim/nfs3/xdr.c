#include "sim/nfs3/xdr.h"

uint32_t sl_xdr_enum(struct sl_xdr_in *in, uint32_t max)
{
	uint32_t value = sl_xdr_u32(in);

	if (value > max) {
		in->bad = true;
		return 0;
	}
	return value;
}

struct sl_xdr_bytes sl_xdr_fixed(struct sl_xdr_in *in, uint32_t size)
{
	struct sl_xdr_bytes bytes = {.data = in->at, .size = size};
	size_t left = (size_t)(in->end - in->at);

	/* 64-bit sum: a length near 2^32 must not wrap. */
	if (in->bad || left < (uint64_t)size + sl_xdr_pad(size)) {
		in->bad = true;
		bytes.size = 0;
		return bytes;
	}
	in->at += size + sl_xdr_pad(size);
	return bytes;
}

struct sl_xdr_bytes sl_xdr_opaque(struct sl_xdr_in *in, uint32_t max)
{
	uint32_t size = sl_xdr_enum(in, max);

	return sl_xdr_fixed(in, size);
}

void sl_xdr_put_opaque(struct sl_xdr_out *out, const void *bytes, uint32_t size)
{
	uint32_t pad = sl_xdr_pad(size);

	sl_xdr_put_u32(out, size);
	if (out->bad || (size_t)(out->end - out->at) < (uint64_t)size + pad) {
		out->bad = true;
		return;
	}
	memcpy(out->at, bytes, size);
	memset(out->at + size, 0, pad);
	out->at += size + pad;
}
