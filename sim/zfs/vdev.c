#include "sim/zfs/vdev.h"

#include <assert.h>

/* One disk's part of a block: CPU first (encryption, its share of the parity), then the disk. */
struct leaf {
	void *pool_link;
	struct sl_vdev *vdev;
	struct sl_vdev_io *io;
	struct sl_dev *disk;
	int index; /* of the disk */
	struct sl_cpu_job job;
	struct sl_dev_req req;
	int64_t start_ns; /* at the disk */
};

/* What one disk gets of a block. */
struct column {
	int disk;
	int64_t offset, bytes;
};

static const char *const io_names[] = {"read", "write", "flush"};

static void io_finish(struct sl_vdev *vdev, struct sl_vdev_io *io, int64_t now_ns)
{
	vdev->outstanding--;
	if (vdev->outstanding == 0) {
		vdev->busy_ns += now_ns - vdev->busy_from_ns;
	}
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

	sl_trace_add(vdev->trace, &(struct sl_span){"disk", io_names[leaf->io->op], leaf->io->tag,
						    leaf->start_ns, now_ns, now_ns - began_ns});
	*done_ns = now_ns;
}

static void leaf_disk_done(struct sl_timer *timer, int64_t now_ns)
{
	struct leaf *leaf = sl_container_of(timer, struct leaf, req.done);
	struct sl_vdev_io *io = leaf->io;
	struct sl_vdev *vdev = leaf->vdev;

	/* A flush covers the writes that were done when it started. */
	vdev->touched[leaf->index] |= io->op == SL_DEV_WRITE;
	if (vdev->trace) {
		trace_leaf(vdev, leaf, now_ns);
	}
	sl_slab_put(&vdev->leaves, leaf);
	io->waiting--;
	if (io->waiting == 0) {
		io_finish(vdev, io, now_ns);
	}
}

static void leaf_cpu_done(struct sl_timer *timer, int64_t now_ns)
{
	struct leaf *leaf = sl_container_of(timer, struct leaf, job.done);

	leaf->start_ns = now_ns;
	sl_dev_submit(leaf->disk, now_ns, &leaf->req);
}

static void leaf_submit(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io,
			const struct column *column, int64_t cpu_ns)
{
	struct leaf *leaf = sl_slab_get(&vdev->leaves);

	leaf->vdev = vdev;
	leaf->job.done.fire = leaf_cpu_done;
	leaf->req.done.fire = leaf_disk_done;
	leaf->io = io;
	leaf->disk = vdev->disks[column->disk];
	leaf->index = column->disk;
	leaf->req.op = io->op;
	leaf->req.fua = false;
	leaf->req.offset_bytes = column->offset;
	leaf->req.bytes = column->bytes;
	leaf->req.tag = io->tag;
	if (cpu_ns > 0) {
		sl_cpu_run(vdev->cpu, now_ns, &leaf->job, cpu_ns);
	} else {
		leaf_cpu_done(&leaf->job.done, now_ns);
	}
}

/* Splits a block into raidz1 columns: parity first; reads leave the parity out. Returns their number. */
static int raidz_columns(const struct sl_vdev *vdev, const struct sl_vdev_io *io, struct column *columns)
{
	int64_t sector = INT64_C(1) << vdev->config.ashift;
	int64_t sectors = (io->bytes + sector - 1) / sector;
	int width = vdev->n_disks, data = width - 1, n = 0;
	int64_t rows = sectors / data, extra = sectors % data, first = io->offset_bytes / sector % width;
	int64_t row = io->offset_bytes / sector / width;

	for (int i = io->op == SL_DEV_READ ? 1 : 0; i < width; i++) {
		/* Parity is as long as the longest data column. */
		int64_t length = rows + ((i == 0 ? extra > 0 : i <= extra) ? 1 : 0);

		if (length > 0) {
			columns[n++] = (struct column){(int)((first + i) % width),
						       (row + (first + i) / width) * sector, length * sector};
		}
	}
	return n;
}

static int block_columns(struct sl_vdev *vdev, const struct sl_vdev_io *io, struct column *columns)
{
	int disk = vdev->rotor;

	switch (vdev->config.layout) {
	case SL_VDEV_RAIDZ1:
		return raidz_columns(vdev, io, columns);
	case SL_VDEV_MIRROR:
		if (io->op == SL_DEV_WRITE) {
			for (int i = 0; i < vdev->n_disks; i++) {
				columns[i] = (struct column){i, io->offset_bytes, io->bytes};
			}
			return vdev->n_disks;
		}
		break;
	case SL_VDEV_STRIPE:
		break;
	}
	vdev->rotor = (disk + 1) % vdev->n_disks;
	columns[0] = (struct column){disk, io->offset_bytes, io->bytes};
	return 1;
}

/* A flush goes to the disks written since the last one; to none of them where something answers for them. */
static void submit_flush(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io)
{
	io->waiting = 1;
	for (int i = 0; vdev->config.flush_honoured && i < vdev->n_disks; i++) {
		if (vdev->touched[i]) {
			vdev->touched[i] = false;
			io->waiting++;
			leaf_submit(vdev, now_ns, io, &(struct column){.disk = i}, vdev->config.flush_cpu_ns);
		}
	}
	io->waiting--;
	if (io->waiting == 0) {
		io_finish(vdev, io, now_ns);
	}
}

void sl_vdev_submit(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io)
{
	const struct sl_vdev_config *config = &vdev->config;
	struct column columns[SL_VDEV_DISKS_MAX];
	int64_t parity_ns = 0;
	int n;

	assert(vdev->n_disks > 0);
	if (vdev->outstanding == 0) {
		vdev->busy_from_ns = now_ns;
	}
	vdev->outstanding++;
	io->start_ns = now_ns;
	if (io->op == SL_DEV_FLUSH) {
		submit_flush(vdev, now_ns, io);
		return;
	}
	assert(io->bytes > 0);
	n = block_columns(vdev, io, columns);
	assert(n > 0);
	io->waiting = n;
	if (config->layout == SL_VDEV_RAIDZ1 && io->op == SL_DEV_WRITE && config->parity_bps > 0) {
		parity_ns = (int64_t)((double)io->bytes * 1e9 / config->parity_bps) / n;
	}
	for (int i = 0; i < n; i++) {
		int64_t cpu_ns = config->leaf_cpu_ns + parity_ns;

		if (config->leaf_cpu_bps > 0) {
			cpu_ns += (int64_t)((double)columns[i].bytes * 1e9 / config->leaf_cpu_bps);
		}
		leaf_submit(vdev, now_ns, io, &columns[i], cpu_ns);
	}
}

int64_t sl_vdev_asize(const struct sl_vdev *vdev, int64_t bytes)
{
	int64_t sector = INT64_C(1) << vdev->config.ashift, sectors = (bytes + sector - 1) / sector;

	if (vdev->config.layout == SL_VDEV_RAIDZ1) {
		int data = vdev->n_disks - 1;

		sectors += (sectors + data - 1) / data;
		sectors += sectors % 2; /* multiple of parity + 1 */
	}
	return sectors * sector;
}

int64_t sl_vdev_alloc(struct sl_vdev *vdev, int64_t bytes)
{
	int64_t asize = sl_vdev_asize(vdev, bytes), offset;

	/* A stripe's cursor is per disk: it moves once all disks have had their turn. */
	if (vdev->next_offset + asize > vdev->size_bytes) {
		vdev->next_offset = 0;
	}
	offset = vdev->next_offset;
	if (vdev->config.layout != SL_VDEV_STRIPE || vdev->rotor == vdev->n_disks - 1) {
		vdev->next_offset += asize;
	}
	return offset;
}

void sl_vdev_init(struct sl_vdev *vdev, const struct sl_vdev_config *config, struct sl_loop *loop,
		  struct sl_cpu *cpu, struct sl_trace *trace)
{
	*vdev = (struct sl_vdev){.config = *config, .loop = loop, .cpu = cpu, .trace = trace};
	sl_slab_init(&vdev->leaves, sizeof(struct leaf));
}

void sl_vdev_add_disk(struct sl_vdev *vdev, struct sl_dev *disk, int64_t capacity_bytes)
{
	int64_t size;

	assert(vdev->n_disks < SL_VDEV_DISKS_MAX);
	vdev->disks[vdev->n_disks++] = disk;
	size = vdev->config.layout == SL_VDEV_RAIDZ1 ? capacity_bytes * vdev->n_disks : capacity_bytes;
	if (vdev->n_disks == 1 || vdev->config.layout == SL_VDEV_RAIDZ1 || size < vdev->size_bytes) {
		vdev->size_bytes = size;
	}
}

void sl_vdev_fini(struct sl_vdev *vdev)
{
	for (int i = 0; i < vdev->n_disks; i++) {
		sl_dev_free(vdev->disks[i]);
	}
	vdev->n_disks = 0;
	sl_slab_fini(&vdev->leaves);
}

double sl_vdev_utilisation(const struct sl_vdev *vdev, int64_t now_ns)
{
	int64_t busy_ns = vdev->busy_ns + (vdev->outstanding > 0 ? now_ns - vdev->busy_from_ns : 0);

	return now_ns > 0 ? (double)busy_ns / (double)now_ns : 0;
}

int64_t sl_vdev_bytes_written(const struct sl_vdev *vdev)
{
	int64_t bytes = 0;

	for (int i = 0; i < vdev->n_disks; i++) {
		bytes += vdev->disks[i]->stats.bytes_written;
	}
	return bytes;
}
