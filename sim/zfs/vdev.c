#include "sim/zfs/vdev.h"

#include <assert.h>
#include <errno.h>

#include "sim/zfs/raidz.h"

#define ASYNC_WRITE_MAX 10   /* zfs_vdev_async_write_max_active */
#define WRITE_GAP_BYTES 4096 /* zfs_vdev_write_gap_limit: over the padding of raidz */

#define LABEL_BYTES (INT64_C(256) << 10) /* sizeof(vdev_label_t) */
#define LABELS 4
#define LABEL_START_BYTES (INT64_C(4) << 20) /* VDEV_LABEL_START_SIZE: two labels and the boot block */
#define LABEL_END_BYTES (2 * LABEL_BYTES)    /* VDEV_LABEL_END_SIZE */
#define UBERBLOCK_MIN 10                     /* UBERBLOCK_SHIFT */
#define UBERBLOCK_MAX 13                     /* MAX_UBERBLOCK_SHIFT */

/* One disk's part of a block: CPU first (encryption, its share of the parity), then its queue. */
struct leaf {
	void *pool_link;
	struct sl_vdev *vdev;
	struct sl_vdev_io *io;
	int index; /* of the disk */
	struct sl_cpu_job job;
	struct sl_queue_item item;
	struct sl_dev_req flush;
	int64_t start_ns; /* at the disk */
};

static const char *const io_names[] = {"read", "write", "flush"};

/* Disks of one top-level vdev that may be lost without losing a block. */
static int forgiven(const struct sl_vdev *vdev)
{
	return vdev->config.layout == SL_VDEV_MIRROR ? sl_vdev_width(vdev) - 1 : sl_vdev_parity(vdev);
}

static int losses_forgiven(const struct sl_vdev *vdev, const struct sl_vdev_io *io)
{
	return io->label ? sl_vdev_width(vdev) * LABELS - 1 : forgiven(vdev);
}

static void io_finish(struct sl_vdev *vdev, struct sl_vdev_io *io, int64_t now_ns)
{
	vdev->outstanding--;
	if (vdev->outstanding == 0) {
		vdev->busy_ns += now_ns - vdev->busy_from_ns;
	}
	if (io->op == SL_DEV_WRITE) {
		vdev->pending_bytes[io->top] -= io->bytes;
	}
	io->error = io->op != SL_DEV_FLUSH && io->lost > losses_forgiven(vdev, io) ? -EIO : 0;
	if (vdev->trace) {
		sl_trace_span(vdev->trace, vdev->config.layer, io_names[io->op], io->tag, io->start_ns,
			      now_ns);
	}
	sl_timer_fire(&io->done, now_ns);
}

/* A disk that serves one request at a time began with this one when it was done with the one before. */
static void trace_leaf(struct sl_vdev *vdev, const struct leaf *leaf, int64_t now_ns)
{
	int64_t *done_ns = &vdev->done_ns[leaf->index];
	int64_t began_ns = *done_ns > leaf->start_ns ? *done_ns : leaf->start_ns;

	sl_trace_unit(vdev->trace, vdev->config.layer, leaf->index + 1,
		      &(struct sl_span){"disk", io_names[leaf->io->op], leaf->io->tag, leaf->start_ns, now_ns,
					now_ns - began_ns});
	*done_ns = now_ns;
}

static void lose_disk(struct sl_vdev *vdev, int disk)
{
	vdev->n_dead += !vdev->dead[disk];
	vdev->dead[disk] = true;
}

static void leaf_finish(struct leaf *leaf, int64_t now_ns, int error)
{
	struct sl_vdev_io *io = leaf->io;
	struct sl_vdev *vdev = leaf->vdev;

	/* A flush covers the writes that were done when it started. */
	vdev->touched[leaf->index] |= io->op == SL_DEV_WRITE;
	vdev->flushing[leaf->index] -= io->op == SL_DEV_FLUSH;
	if (error != 0) {
		lose_disk(vdev, leaf->index);
	}
	io->lost += vdev->dead[leaf->index];
	if (vdev->trace) {
		trace_leaf(vdev, leaf, now_ns);
	}
	sl_slab_put(&vdev->leaves, leaf);
	io->waiting--;
	if (io->waiting == 0) {
		io_finish(vdev, io, now_ns);
	}
}

static void leaf_queue_done(struct sl_timer *timer, int64_t now_ns)
{
	struct leaf *leaf = sl_container_of(timer, struct leaf, item.done);

	leaf->start_ns = leaf->item.issued_ns;
	leaf_finish(leaf, now_ns, leaf->item.error);
}

static void leaf_flush_done(struct sl_timer *timer, int64_t now_ns)
{
	struct leaf *leaf = sl_container_of(timer, struct leaf, flush.done);

	leaf_finish(leaf, now_ns, leaf->flush.error);
}

static void leaf_cpu_done(struct sl_timer *timer, int64_t now_ns)
{
	struct leaf *leaf = sl_container_of(timer, struct leaf, job.done);
	struct sl_vdev *vdev = leaf->vdev;

	if (leaf->io->op == SL_DEV_FLUSH) {
		leaf->start_ns = now_ns;
		sl_dev_submit(vdev->disks[leaf->index], now_ns, &leaf->flush);
	} else {
		sl_queue_add(&vdev->queues[leaf->index], now_ns, &leaf->item);
	}
}

static enum sl_queue_class class_of(const struct sl_vdev_io *io)
{
	if (io->op == SL_DEV_WRITE) {
		return io->async ? SL_QUEUE_ASYNC_WRITE : SL_QUEUE_SYNC_WRITE;
	}
	return io->async ? SL_QUEUE_ASYNC_READ : SL_QUEUE_SYNC_READ;
}

/* A disk that is dead keeps nothing. What goes to one disk as a whole needs no parts. */
static struct sl_mark *leaf_mark(const struct sl_vdev *vdev, const struct sl_vdev_io *io, int disk)
{
	struct sl_mark *part = io->mark;

	if (io->op != SL_DEV_WRITE || !io->mark) {
		return NULL;
	}
	io->mark->disk = (int16_t)disk;
	io->mark->log = vdev->config.is_log;
	io->mark->unreached = !vdev->config.flush_honoured;
	if (io->waiting > 1) {
		part = sl_mark_part(part);
	}
	return vdev->dead[disk] ? NULL : part;
}

static void leaf_submit(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io, int disk,
			int64_t offset_bytes, int64_t bytes, int64_t cpu_ns)
{
	struct leaf *leaf = sl_slab_get(&vdev->leaves);

	leaf->vdev = vdev;
	leaf->job.done.fire = leaf_cpu_done;
	leaf->io = io;
	leaf->index = disk;
	if (io->op == SL_DEV_FLUSH) {
		leaf->flush =
		    (struct sl_dev_req){.done.fire = leaf_flush_done, .op = SL_DEV_FLUSH, .tag = io->tag};
	} else {
		leaf->item = (struct sl_queue_item){
		    .done.fire = leaf_queue_done,
		    .class = class_of(io),
		    .offset_bytes = offset_bytes,
		    .bytes = bytes,
		    .tag = io->tag,
		    .mark = leaf_mark(vdev, io, disk),
		};
	}
	if (cpu_ns > 0) {
		sl_cpu_run(vdev->cpu, now_ns, &leaf->job, cpu_ns);
	} else {
		leaf_cpu_done(&leaf->job.done, now_ns);
	}
}

/* The next side in turn that is alive, else any. */
static int mirror_side(struct sl_vdev *vdev, int top)
{
	int width = sl_vdev_width(vdev), *rotor = &vdev->read_rotor[top], side = *rotor;

	for (int i = 0; i < width && vdev->dead[top * width + side]; i++) {
		side = (side + 1) % width;
	}
	*rotor = (side + 1) % width;
	return side;
}

/* Columns of a block on the disks of its top-level vdev, counted from 0. Returns their number. */
static int block_columns(struct sl_vdev *vdev, const struct sl_vdev_io *io, struct sl_column *columns)
{
	int width = sl_vdev_width(vdev);
	const struct sl_raidz raidz = {width, sl_vdev_parity(vdev), vdev->config.ashift};

	if (raidz.parity > 0) {
		return sl_raidz_columns(&raidz, io->offset_bytes, io->bytes, io->op == SL_DEV_READ, columns);
	}
	if (io->op == SL_DEV_READ) {
		columns[0] = (struct sl_column){mirror_side(vdev, io->top), io->offset_bytes, io->bytes};
		return 1;
	}
	for (int i = 0; i < width; i++) {
		columns[i] = (struct sl_column){i, io->offset_bytes, io->bytes};
	}
	return width;
}

/* A flush goes to the disks written since the last one, and to those whose last one is still under way, which
 * somebody else waits for; to none of them where something answers for them. */
static void submit_flush(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io)
{
	io->waiting = 1;
	for (int i = 0; vdev->config.flush_honoured && i < vdev->n_disks; i++) {
		if ((vdev->touched[i] || vdev->flushing[i] > 0) && !vdev->dead[i]) {
			vdev->touched[i] = false;
			vdev->flushing[i]++;
			io->waiting++;
			leaf_submit(vdev, now_ns, io, i, 0, 0, vdev->config.flush_cpu_ns);
		}
	}
	io->waiting--;
	if (io->waiting == 0) {
		io_finish(vdev, io, now_ns);
	}
}

/* Where label `label` of a disk has its ring of uberblocks. */
static int64_t ring_offset(const struct sl_vdev *vdev, int label)
{
	int64_t end = (vdev->disk_bytes + LABEL_START_BYTES + LABEL_END_BYTES) / LABEL_BYTES * LABEL_BYTES;
	int64_t at = label < LABELS / 2 ? label * LABEL_BYTES : end - (LABELS - label) * LABEL_BYTES;

	return at + LABEL_BYTES - SL_VDEV_UBERBLOCK_RING;
}

/* vdev_uberblock_sync: the same to all labels of all disks of a top-level vdev; one good one will do. */
static void submit_label(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io)
{
	int width = sl_vdev_width(vdev), first = io->top * width, n = width * LABELS;

	io->waiting = n;
	for (int i = 0; i < n; i++) {
		leaf_submit(vdev, now_ns, io, first + i / LABELS,
			    ring_offset(vdev, i % LABELS) + io->offset_bytes, io->bytes,
			    vdev->config.leaf_cpu_ns);
	}
	if (io->mark) {
		io->mark->need = 1;
	}
}

static void submit_block(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io)
{
	const struct sl_vdev_config *config = &vdev->config;
	struct sl_column columns[SL_VDEV_DISKS_MAX];
	int n = block_columns(vdev, io, columns), first = io->top * sl_vdev_width(vdev);
	int64_t parity_ns = 0;

	assert(n > 0);
	io->waiting = n;
	if (sl_vdev_parity(vdev) > 0 && io->op == SL_DEV_WRITE && config->parity_bps > 0) {
		parity_ns =
		    (int64_t)((double)io->bytes * 1e9 / config->parity_bps) * sl_vdev_parity(vdev) / n;
	}
	for (int i = 0; i < n; i++) {
		const struct sl_column *column = &columns[i];
		int64_t cpu_ns = config->leaf_cpu_ns + parity_ns;

		if (config->leaf_cpu_bps > 0) {
			cpu_ns += (int64_t)((double)column->bytes * 1e9 / config->leaf_cpu_bps);
		}
		leaf_submit(vdev, now_ns, io, first + column->disk, column->offset + LABEL_START_BYTES,
			    column->bytes, cpu_ns);
	}
	if (io->op == SL_DEV_WRITE && io->mark && n > 1) {
		io->mark->need = (uint16_t)(n > forgiven(vdev) ? n - forgiven(vdev) : 1);
	}
}

void sl_vdev_submit(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io)
{
	assert(vdev->n_disks > 0);
	if (vdev->outstanding == 0) {
		vdev->busy_from_ns = now_ns;
	}
	vdev->outstanding++;
	io->start_ns = now_ns;
	io->lost = 0;
	if (io->op == SL_DEV_FLUSH) {
		submit_flush(vdev, now_ns, io);
		return;
	}
	assert(io->bytes > 0);
	if (io->op == SL_DEV_WRITE) {
		vdev->pending_bytes[io->top] += io->bytes;
	}
	if (io->label) {
		submit_label(vdev, now_ns, io);
	} else {
		submit_block(vdev, now_ns, io);
	}
}

int64_t sl_vdev_top_bytes(const struct sl_vdev *vdev)
{
	return sl_vdev_parity(vdev) > 0 ? vdev->disk_bytes * sl_vdev_width(vdev) : vdev->disk_bytes;
}

int64_t sl_vdev_asize(const struct sl_vdev *vdev, int64_t bytes)
{
	int64_t sector = INT64_C(1) << vdev->config.ashift;
	const struct sl_raidz raidz = {sl_vdev_width(vdev), sl_vdev_parity(vdev), vdev->config.ashift};

	return raidz.parity > 0 ? sl_raidz_asize(&raidz, bytes) : (bytes + sector - 1) / sector * sector;
}

static bool top_works(const struct sl_vdev *vdev, int top)
{
	int width = sl_vdev_width(vdev), dead = 0;

	for (int i = 0; i < width && vdev->n_dead > 0; i++) {
		dead += vdev->dead[top * width + i];
	}
	return dead <= forgiven(vdev);
}

bool sl_vdev_works(const struct sl_vdev *vdev)
{
	for (int top = 0; top < sl_vdev_tops(vdev); top++) {
		if (top_works(vdev, top)) {
			return true;
		}
	}
	return false;
}

/* The top-level vdev that takes the next block: the next that works, or of these the least busy one. */
static int next_top(const struct sl_vdev *vdev)
{
	int tops = sl_vdev_tops(vdev), best = -1;

	for (int i = 0; i < tops; i++) {
		int top = (vdev->rotor + i) % tops;

		if (top_works(vdev, top) &&
		    (best < 0 ||
		     (vdev->config.fastwrite && vdev->pending_bytes[top] < vdev->pending_bytes[best]))) {
			best = top;
		}
	}
	return best >= 0 ? best : vdev->rotor;
}

int64_t sl_vdev_uberblock_bytes(const struct sl_vdev *vdev)
{
	int shift = vdev->config.ashift > UBERBLOCK_MIN ? vdev->config.ashift : UBERBLOCK_MIN;

	return INT64_C(1) << (shift < UBERBLOCK_MAX ? shift : UBERBLOCK_MAX);
}

int64_t sl_vdev_embedded_bytes(const struct sl_vdev *vdev)
{
	return sl_alloc_embedded_bytes(&vdev->config.alloc, sl_vdev_top_bytes(vdev));
}

void sl_vdev_alloc(struct sl_vdev *vdev, struct sl_vdev_io *io)
{
	/* Further copies go to other top-level vdevs while there are some without one. */
	const struct sl_alloc_block block = {io->log, io->copy / sl_vdev_tops(vdev), io->home};

	io->top = next_top(vdev);
	io->offset_bytes = sl_alloc_place(&vdev->alloc[io->top], &vdev->config.alloc, sl_vdev_top_bytes(vdev),
					  &block, sl_vdev_asize(vdev, io->bytes));
	vdev->rotor = (io->top + 1) % sl_vdev_tops(vdev);
}

int sl_vdev_fail_disk(struct sl_vdev *vdev, int64_t now_ns, int disk, int side)
{
	if (disk < 0 || disk >= vdev->n_disks || vdev->dead[disk]) {
		return -EINVAL;
	}
	if (side >= 0) {
		return sl_dev_fail_side(vdev->disks[disk], now_ns, side);
	}
	lose_disk(vdev, disk);
	return 0;
}

/* How the disks are shared out; every disk of a stripe is a top-level vdev. */
static void count_tops(struct sl_vdev *vdev)
{
	vdev->n_tops = vdev->config.layout == SL_VDEV_STRIPE ? vdev->n_disks
		       : vdev->config.tops > 0               ? vdev->config.tops
							     : 1;
	vdev->width = vdev->n_tops > 0 ? vdev->n_disks / vdev->n_tops : 0;
}

void sl_vdev_init(struct sl_vdev *vdev, const struct sl_vdev_config *config, struct sl_loop *loop,
		  struct sl_cpu *cpu, struct sl_trace *trace)
{
	*vdev = (struct sl_vdev){.config = *config, .loop = loop, .cpu = cpu, .trace = trace};
	count_tops(vdev);
	sl_vdev_limit_async_writes(vdev, ASYNC_WRITE_MAX);
	sl_slab_init(&vdev->leaves, sizeof(struct leaf));
}

void sl_vdev_limit_async_writes(struct sl_vdev *vdev, int limit)
{
	const struct sl_vdev_config *config = &vdev->config;

	vdev->limits = (struct sl_queue_limits){
	    .async_write_min = config->async_write_min > 0 ? config->async_write_min : 1,
	    .async_write_max = limit,
	    .join_bytes = config->join_bytes,
	    .join_sync = config->join_sync,
	    .write_gap_bytes = sl_vdev_parity(vdev) > 0 ? WRITE_GAP_BYTES : 0,
	};
}

void sl_vdev_add_disk(struct sl_vdev *vdev, struct sl_dev *disk, int64_t capacity_bytes)
{
	int64_t usable = capacity_bytes - LABEL_START_BYTES - LABEL_END_BYTES;

	assert(vdev->n_disks < SL_VDEV_DISKS_MAX && capacity_bytes >= SL_VDEV_DISK_MIN);
	vdev->disks[vdev->n_disks] = disk;
	sl_queue_init(&vdev->queues[vdev->n_disks], disk, &vdev->limits);
	vdev->n_disks++;
	count_tops(vdev);
	if (vdev->n_disks == 1 || usable < vdev->disk_bytes) {
		vdev->disk_bytes = usable;
	}
}

void sl_vdev_fini(struct sl_vdev *vdev)
{
	for (int i = 0; i < vdev->n_disks; i++) {
		sl_dev_free(vdev->disks[i]);
		sl_queue_fini(&vdev->queues[i]);
	}
	vdev->n_disks = 0;
	count_tops(vdev);
	sl_slab_fini(&vdev->leaves);
}

void sl_vdev_catch_up(struct sl_vdev *vdev, int64_t now_ns)
{
	for (int i = 0; i < vdev->n_disks; i++) {
		sl_dev_catch_up(vdev->disks[i], now_ns);
	}
}

double sl_vdev_utilisation(const struct sl_vdev *vdev, int64_t now_ns)
{
	int64_t busy_ns = vdev->busy_ns + (vdev->outstanding > 0 ? now_ns - vdev->busy_from_ns : 0);

	return now_ns > 0 ? (double)busy_ns / (double)now_ns : 0;
}

void sl_vdev_totals(const struct sl_vdev *vdev, struct sl_dev_stats *ret)
{
	*ret = (struct sl_dev_stats){0};
	for (int i = 0; i < vdev->n_disks; i++) {
		const struct sl_dev_stats *disk = &vdev->disks[i]->stats;

		ret->reads += disk->reads;
		ret->writes += disk->writes;
		ret->flushes += disk->flushes;
		ret->bytes_read += disk->bytes_read;
		ret->bytes_written += disk->bytes_written;
		ret->busy_ns += disk->busy_ns;
	}
}
