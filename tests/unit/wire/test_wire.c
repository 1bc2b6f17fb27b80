/* Network cards and the link between hypervisor and storage VM. */
#include <criterion/criterion.h>

#include "sim/wire/wire.h"

#define US INT64_C(1000)

/* 1 GB/s, and an E1000 of 7 us per received frame and 5 us per transmitted segment. */
static struct sl_wire wire_with(int nic)
{
	struct sl_box box = {.nic = nic,
			     .link_bps = 1e9,
			     .nic_mtu_bytes = 1500,
			     .nic_rx_frame_ns = 7e3,
			     .nic_tx_segment_ns = 5e3};
	struct sl_wire wire;

	sl_wire_init(&wire, &box);
	return wire;
}

Test(wire, a_paravirtual_card_costs_nothing_beyond_the_link)
{
	static const int nics[] = {SL_NIC_VMXNET3, SL_NIC_VIRTIO};

	for (int i = 0; i < 2; i++) {
		struct sl_wire wire = wire_with(nics[i]);

		cr_assert_eq(sl_wire_send(&wire, 100, SL_WIRE_TO_NAS, 16000), 100 + 16 * US);
		cr_assert_eq(sl_wire_send(&wire, 100, SL_WIRE_FROM_NAS, 200), 100 + 200);
	}
}

Test(wire, messages_of_one_direction_queue_those_of_the_other_do_not)
{
	struct sl_wire wire = wire_with(SL_NIC_VMXNET3);

	cr_assert_eq(sl_wire_send(&wire, 0, SL_WIRE_TO_NAS, 10000), 10 * US);
	cr_assert_eq(sl_wire_send(&wire, 0, SL_WIRE_TO_NAS, 10000), 20 * US);
	cr_assert_eq(sl_wire_send(&wire, 0, SL_WIRE_FROM_NAS, 10000), 10 * US);
	cr_assert_eq(sl_wire_send(&wire, 50 * US, SL_WIRE_TO_NAS, 10000), 60 * US);
}

Test(wire, an_e1000_pays_for_each_received_frame)
{
	static const struct {
		int64_t bytes, frames;
	} rows[] = {{1, 1}, {1500, 1}, {1501, 2}, {4296, 3}, {16584, 12}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_wire wire = wire_with(SL_NIC_E1000);

		cr_assert_eq(sl_wire_send(&wire, 0, SL_WIRE_TO_NAS, rows[i].bytes),
			     rows[i].bytes + rows[i].frames * 7 * US, "row %zu", i);
	}
}

Test(wire, an_e1000_sends_up_to_64_kib_with_one_doorbell)
{
	static const struct {
		int64_t bytes, segments;
	} rows[] = {{200, 1}, {65536, 1}, {65537, 2}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_wire wire = wire_with(SL_NIC_E1000);

		cr_assert_eq(sl_wire_send(&wire, 0, SL_WIRE_FROM_NAS, rows[i].bytes),
			     rows[i].bytes + rows[i].segments * 5 * US, "row %zu", i);
	}
}

Test(wire, the_emulation_is_one_thread_for_both_directions)
{
	struct sl_wire wire = wire_with(SL_NIC_E1000);

	cr_assert_eq(sl_wire_send(&wire, 0, SL_WIRE_TO_NAS, 1000), 1000 + 7 * US);
	cr_assert_eq(sl_wire_send(&wire, 0, SL_WIRE_FROM_NAS, 1000), 1000 + 7 * US + 5 * US);
	cr_assert_eq(sl_wire_send(&wire, 100 * US, SL_WIRE_FROM_NAS, 1000), 100 * US + 1000 + 5 * US);
}

Test(wire, jumbo_frames_are_fewer)
{
	struct sl_wire wire = wire_with(SL_NIC_E1000);

	wire.mtu_bytes = 9000;
	cr_assert_eq(sl_wire_send(&wire, 0, SL_WIRE_TO_NAS, 16584), 16584 + 2 * 7 * US);
}

/* A READ's reply at 1 Gbit/s: 65,536 bytes and 200 of RPC, of which a full frame takes 1448 in 1538: 125 MB/s
 * x 1448 / 1538 = 117.685 MB/s: 0.5586 ms. */
Test(wire, a_read_of_64_kib_takes_half_a_millisecond_at_1_gbe)
{
	struct sl_wire wire = wire_with(SL_NIC_VIRTIO);
	int64_t at_ns;

	wire.link_bps = 125e6 * 1448 / 1538;
	at_ns = sl_wire_send(&wire, 0, SL_WIRE_FROM_NAS, 65736);
	cr_assert_float_eq((double)at_ns, 558.6e3, 0.1e3);
}
