/*
 * Between the hypervisor and the storage VM: a virtual switch (bandwidth) and the storage VM's network card.
 * Paravirtual cards (vmxnet3, virtio) cost nothing beyond the delay of a call, which the hypervisor's client
 * carries. An emulated E1000 costs one VM exit and interrupt per received frame (it has no receive offload)
 * and one doorbell per transmitted segment (it has TSO: up to 64 KiB).
 */
#ifndef SL_WIRE_WIRE_H
#define SL_WIRE_WIRE_H

#include <stdint.h>

#include "sim/box/box.h"

enum sl_wire_direction {
	SL_WIRE_TO_NAS,
	SL_WIRE_FROM_NAS
};

struct sl_wire {
	double link_bps;
	int64_t rx_frame_ns, tx_segment_ns;
	int64_t mtu_bytes;
	int64_t link_free_ns[2], nic_free_ns; /* the card's emulation is one thread */
	int64_t waited_ns;                    /* of the last message: for link and card, behind others */
};

void sl_wire_init(struct sl_wire *wire, const struct sl_box *box);

/* Sends a message of `bytes` at now_ns; returns when it has arrived on the other side. */
int64_t sl_wire_send(struct sl_wire *wire, int64_t now_ns, enum sl_wire_direction direction, int64_t bytes);

#endif
