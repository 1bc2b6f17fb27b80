/* A storage VM without CPU limits, and vdevs of disks that note what they get. */
#ifndef SL_TESTS_ZFS_LIB_H
#define SL_TESTS_ZFS_LIB_H

#include "sim/base/cpu.h"
#include "sim/zfs/vdev.h"
#include "tests/lib/notes.h"

#define CPUS 64

struct nas {
	struct sl_loop *loop;
	struct sl_cpu cpu;
	struct notes notes;
};

static inline void nas_init(struct nas *nas)
{
	memset(nas, 0, sizeof(*nas));
	nas->loop = sl_loop_new_virtual();
	sl_cpu_init(&nas->cpu, nas->loop, CPUS);
}

static inline void nas_fini(struct nas *nas)
{
	sl_loop_free(nas->loop);
}

/* A vdev of `n` disks called `names`, 4 KiB sectors, flushes honoured; every write 1 ms, every flush 0.5 ms.
 */
static inline void vdev_of_tops(struct sl_vdev *vdev, struct nas *nas, enum sl_vdev_layout layout, int tops,
				const char *const *names, int n)
{
	struct sl_vdev_config config = {
	    .layout = layout, .tops = tops, .layer = "data vdev", .ashift = 12, .flush_honoured = true};

	sl_vdev_init(vdev, &config, nas->loop, &nas->cpu, NULL);
	for (int i = 0; i < n; i++) {
		sl_vdev_add_disk(vdev, &fake_disk_new(nas->loop, &nas->notes, names[i], MS, MS / 2)->dev,
				 1 << 30);
	}
}

static inline void vdev_of_disks(struct sl_vdev *vdev, struct nas *nas, enum sl_vdev_layout layout,
				 const char *const *names, int n)
{
	vdev_of_tops(vdev, nas, layout, 0, names, n);
}

#endif
