#include "sim/wire/wire.h"

#define TSO_BYTES 65536

void sl_wire_init(struct sl_wire *wire, const struct sl_box *box)
{
	*wire = (struct sl_wire){.link_bps = box->link_bps, .mtu_bytes = (int64_t)box->nic_mtu_bytes};
	if (box->nic == SL_NIC_E1000) {
		wire->rx_frame_ns = (int64_t)box->nic_rx_frame_ns;
		wire->tx_segment_ns = (int64_t)box->nic_tx_segment_ns;
	}
}

/* What the card takes for `bytes` at `part_ns` for each part; most cards take nothing. */
static int64_t parts_ns(int64_t bytes, int64_t part, int64_t part_ns)
{
	return part_ns > 0 ? (bytes + part - 1) / part * part_ns : 0;
}

int64_t sl_wire_send(struct sl_wire *wire, int64_t now_ns, enum sl_wire_direction direction, int64_t bytes)
{
	int64_t *link = &wire->link_free_ns[direction];
	int64_t card_ns, at_ns = now_ns > *link ? now_ns : *link;

	wire->waited_ns = at_ns - now_ns;
	at_ns += (int64_t)((double)bytes * 1e9 / wire->link_bps);
	*link = at_ns;
	card_ns = direction == SL_WIRE_TO_NAS ? parts_ns(bytes, wire->mtu_bytes, wire->rx_frame_ns)
					      : parts_ns(bytes, TSO_BYTES, wire->tx_segment_ns);
	if (card_ns > 0) {
		if (wire->nic_free_ns > at_ns) {
			wire->waited_ns += wire->nic_free_ns - at_ns;
			at_ns = wire->nic_free_ns;
		}
		at_ns += card_ns;
		wire->nic_free_ns = at_ns;
	}
	return at_ns;
}
