/*
 * A log device whose flush runs alone, as that of a SATA drive does: writes overlap, a flush waits for those
 * in flight and holds up those that come (libata: FLUSH CACHE is no queued command).
 */
#ifndef SL_TESTS_ZFS_SERIAL_DISK_H
#define SL_TESTS_ZFS_SERIAL_DISK_H

#include "tests/unit/zfs/zil_rig.h"

#define SERIAL_REQS_MAX 64

/* Requests that wait for the same thing. */
struct crowd {
	struct sl_dev_req *reqs[SERIAL_REQS_MAX];
	int n;
};

struct serial_disk;

struct serial_write {
	struct sl_timer timer;
	struct serial_disk *disk;
	struct sl_dev_req *req;
};

/* Flushes that come while one waits or runs are the next one together (blk-flush.c), and go before the writes
 * that are held (blk_mq_insert_request: a flush to the front). */
struct serial_disk {
	struct sl_dev dev;
	struct crowd held, flushes, next_flushes;
	struct serial_write writes[SERIAL_REQS_MAX];
	int64_t write_ns, flush_ns;
	int64_t clean_ns; /* of a flush that finds nothing written since the one before began */
	int writing;
	bool flushing, dirty;
	struct sl_timer flushed;
};

static inline void crowd_add(struct crowd *crowd, struct sl_dev_req *req)
{
	cr_assert_lt(crowd->n, SERIAL_REQS_MAX);
	crowd->reqs[crowd->n++] = req;
}

static inline void serial_step(struct serial_disk *disk, int64_t now_ns);

static inline void serial_written(struct sl_timer *timer, int64_t now_ns)
{
	struct serial_write *write = sl_container_of(timer, struct serial_write, timer);
	struct sl_dev_req *req = write->req;

	write->req = NULL;
	write->disk->writing--;
	sl_timer_fire(&req->done, now_ns);
	serial_step(write->disk, now_ns);
}

static inline void serial_write(struct serial_disk *disk, int64_t now_ns, struct sl_dev_req *req)
{
	struct serial_write *write = disk->writes;

	while (write->req) {
		write++;
	}
	*write = (struct serial_write){.timer.fire = serial_written, .disk = disk, .req = req};
	disk->writing++;
	disk->dirty = true;
	sl_loop_arm(disk->dev.loop, &write->timer, now_ns + disk->write_ns);
}

static inline void serial_flushed(struct sl_timer *timer, int64_t now_ns)
{
	struct serial_disk *disk = sl_container_of(timer, struct serial_disk, flushed);
	struct crowd done = disk->flushes;

	disk->flushes = disk->next_flushes;
	disk->next_flushes.n = 0;
	disk->flushing = false;
	serial_step(disk, now_ns);
	for (int i = 0; i < done.n; i++) {
		sl_timer_fire(&done.reqs[i]->done, now_ns);
	}
}

static inline void serial_step(struct serial_disk *disk, int64_t now_ns)
{
	if (disk->flushing) {
		return;
	}
	if (disk->flushes.n == 0) {
		for (int i = 0; i < disk->held.n; i++) {
			serial_write(disk, now_ns, disk->held.reqs[i]);
		}
		disk->held.n = 0;
	} else if (disk->writing == 0) {
		disk->flushing = true;
		sl_loop_arm(disk->dev.loop, &disk->flushed,
			    now_ns + (disk->dirty ? disk->flush_ns : disk->clean_ns));
		disk->dirty = false;
	}
}

static inline void serial_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct serial_disk *disk = sl_container_of(dev, struct serial_disk, dev);

	if (req->op == SL_DEV_FLUSH) {
		crowd_add(disk->flushes.n > 0 ? &disk->next_flushes : &disk->flushes, req);
	} else {
		crowd_add(&disk->held, req);
	}
	serial_step(disk, now_ns);
}

static inline void serial_free(struct sl_dev *dev)
{
	free(sl_container_of(dev, struct serial_disk, dev));
}

static const struct sl_dev_ops serial_ops = {.submit = serial_submit, .free = serial_free};

static inline struct serial_disk *serial_of(const struct rig *rig)
{
	return sl_container_of(rig->slog.disks[0], struct serial_disk, dev);
}

/* An intent log whose log device is such a disk. */
static inline struct rig *serial_rig(enum sl_zil_generation generation, int64_t write_ns, int64_t flush_ns)
{
	struct rig *rig = rig_new_of(true, generation);
	struct serial_disk *disk = calloc(1, sizeof(*disk));

	cr_assert_not_null(disk);
	disk->dev.ops = &serial_ops;
	disk->dev.loop = rig->nas.loop;
	disk->flushed.fire = serial_flushed;
	disk->write_ns = write_ns;
	disk->flush_ns = disk->clean_ns = flush_ns;
	sl_dev_free(rig->slog.disks[0]);
	rig->slog.disks[0] = rig->slog.queues[0].disk = &disk->dev;
	return rig;
}

#endif
