#include "loadgen/real_disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "loadgen/real_disk_inner.h"
#include "sim/base/clock.h"

#define ALIGNMENT 4096

int sl_real_disk_init(struct sl_real_disk *disk, const struct sl_real_disk_ops *ops, const char *name,
		      const struct sl_real_disk_options *options, struct sl_err *err)
{
	uint64_t *words;

	disk->ops = ops;
	disk->options = *options;
	(void)snprintf(disk->name, sizeof(disk->name), "%s", name);
	sl_rng_init(&disk->rng, 1, "real disk");
	if (posix_memalign(&disk->buffer, ALIGNMENT, SL_REAL_BYTES_MAX) != 0) {
		disk->buffer = NULL;
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	/* No drive may compress or recognise it. */
	words = disk->buffer;
	for (size_t i = 0; i < SL_REAL_BYTES_MAX / sizeof(*words); i++) {
		words[i] = sl_rng_u64(&disk->rng);
	}
	return 0;
}

int sl_real_disk_size(struct sl_real_disk *disk, int64_t has_bytes, struct sl_err *err)
{
	int64_t want = disk->options.size_bytes > 0 ? disk->options.size_bytes : SL_REAL_SIZE_MAX;

	if (disk->options.size_bytes == 0 && want > has_bytes) {
		want = has_bytes;
	}
	if (want > has_bytes || want < SL_REAL_BYTES_MAX) {
		return sl_err_set(err, -EINVAL, "%s: has %lld bytes; the range must be from 8 MiB to that",
				  disk->name, (long long)has_bytes);
	}
	disk->size_bytes = want;
	disk->has_bytes = has_bytes;
	return 0;
}

int64_t sl_real_disk_place(struct sl_real_disk *disk, int64_t bytes)
{
	return (int64_t)sl_rng_below(&disk->rng, (uint64_t)(disk->size_bytes / bytes)) * bytes;
}

bool sl_real_disk_stopped(const struct sl_real_disk *disk)
{
	return disk->options.stopped && disk->options.stopped();
}

int sl_real_disk_sync(struct sl_real_disk *disk, int64_t bytes, double *ret_ns, struct sl_err *err)
{
	int64_t start_ns = sl_clock_ns(), now_ns = start_ns;
	uint64_t done = 0;

	*ret_ns = 0;
	if (bytes < 1 || bytes > SL_REAL_BYTES_MAX) {
		return sl_err_set(err, -EINVAL, "%s: requests are from 1 byte to 8 MiB", disk->name);
	}
	while (now_ns - start_ns < disk->options.time_ns) {
		struct sl_err failure = {0};
		int rc = sl_real_disk_stopped(disk)
			     ? sl_err_set(&failure, -EINTR, "interrupted")
			     : disk->ops->sync(disk, sl_real_disk_place(disk, bytes), bytes, &failure);

		if (rc == -EINVAL && done == 0) {
			return 0; /* sectors are larger than that */
		}
		if (rc < 0) {
			return sl_err_set(err, rc, "%s", failure.msg);
		}
		done++;
		now_ns = sl_clock_ns();
	}
	*ret_ns = (double)(now_ns - start_ns) / (double)done;
	return 0;
}

int sl_real_disk_iops(struct sl_real_disk *disk, bool write, int64_t bytes, int depth, double *ret,
		      struct sl_err *err)
{
	*ret = 0;
	if (depth < 1 || depth > SL_REAL_DEPTH_MAX || bytes < 512 || bytes > SL_REAL_BYTES_MAX) {
		return sl_err_set(err, -EINVAL, "%s: depth is 1 to %d", disk->name, SL_REAL_DEPTH_MAX);
	}
	return disk->ops->iops(disk, write, bytes, depth, ret, err);
}

int64_t sl_real_disk_bytes(const struct sl_real_disk *disk)
{
	return disk->has_bytes;
}

const char *sl_real_disk_note(const struct sl_real_disk *disk)
{
	return disk->note;
}

void sl_real_disk_close(struct sl_real_disk *disk)
{
	if (disk) {
		free(disk->buffer);
		disk->ops->close(disk);
	}
}
