/* A guest whose virtual disk lies on a server that takes 1 ms for each call and notes it; CPU is free. */
#ifndef SL_TESTS_GUEST_LIB_H
#define SL_TESTS_GUEST_LIB_H

#include "sim/base/cpu.h"
#include "sim/guest/ext4.h"
#include "sim/hyp/hyp.h"
#include "tests/lib/notes.h"

#define TICK (4 * MS) /* of the guest's clock */

struct guest {
	struct sl_loop *loop;
	struct notes notes;
	struct sl_cpu cpu;
	struct fake_store server;
	struct sl_wire wire;
	struct sl_hyp hyp;
	struct sl_ext4 fs;
};

/* `config` but for loop, CPU and disk. */
static inline struct guest *guest_with(int client, uint32_t n_files, int64_t file_bytes,
				       struct sl_ext4_config config)
{
	struct sl_box box = {.client = client,
			     .nic = SL_NIC_VIRTIO,
			     .link_bps = 1e15,
			     .nic_mtu_bytes = 1500,
			     .nas_memory_bytes = 8e9,
			     .hyp_max_io_bytes = 65536};
	struct guest *guest = calloc(1, sizeof(*guest));

	cr_assert_not_null(guest);
	guest->loop = sl_loop_new_virtual();
	sl_cpu_init(&guest->cpu, guest->loop, 64);
	fake_store_init(&guest->server, guest->loop, &guest->notes, MS);
	sl_wire_init(&guest->wire, &box);
	sl_hyp_init(&guest->hyp, &box, guest->loop, &guest->wire, &guest->server.store, NULL);
	config.loop = guest->loop;
	config.cpu = &guest->cpu;
	config.disk = &guest->hyp;
	cr_assert_eq(sl_ext4_init(&guest->fs, &config, n_files, file_bytes), 0);
	return guest;
}

/* Without limits of dirty data, and nothing written because of its age. */
static inline struct guest *guest_new(int client, uint32_t n_files, int64_t file_bytes)
{
	return guest_with(client, n_files, file_bytes, (struct sl_ext4_config){.tick_ns = TICK});
}

static inline void guest_free(struct guest *guest)
{
	sl_ext4_fini(&guest->fs);
	sl_hyp_fini(&guest->hyp);
	sl_loop_free(guest->loop);
	free(guest);
}

#endif
