#include "sim/hyp/transfer.h"

#define ESXI_BYTES 65536
#define LARGEST_BYTES 1048576
#define LEAST_BYTES 8192
#define OF_MEMORY 4096
#define KERNEL_SHARE \
	0.06 /* of a small VM: page structures (1.6 %), text, data and reserves: "about 4.3 GiB" */

static uint32_t server_bytes(const struct sl_box *box)
{
	double target = box->nas_memory_bytes * (1 - KERNEL_SHARE) / OF_MEMORY;
	uint32_t bytes = LARGEST_BYTES;

	while ((double)bytes > target && bytes > LEAST_BYTES) {
		bytes /= 2;
	}
	return bytes;
}

static uint32_t transfer_bytes(const struct sl_box *box, double stated_bytes)
{
	uint32_t server = server_bytes(box);
	uint32_t own = box->client == SL_CLIENT_ESXI ? ESXI_BYTES : LARGEST_BYTES;

	if (stated_bytes > 0) {
		own = (uint32_t)stated_bytes;
	}
	return own < server ? own : server;
}

uint32_t sl_nfs_rsize(const struct sl_box *box)
{
	return transfer_bytes(box, box->hyp_rsize_bytes);
}

uint32_t sl_nfs_wsize(const struct sl_box *box)
{
	return transfer_bytes(box, box->hyp_wsize_bytes);
}
