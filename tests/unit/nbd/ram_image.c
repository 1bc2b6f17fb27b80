#include "ram_image.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/loop.h"

static struct ram_image *ram_of(struct sl_disk_image *image)
{
	return sl_container_of(image, struct ram_image, base);
}

/* Out of range must never get here. */
static void range_check(const struct ram_image *ram, int64_t offset, int64_t bytes)
{
	if (offset < 0 || bytes <= 0 || bytes > ram->size_bytes || offset > ram->size_bytes - bytes) {
		abort();
	}
}

static uint64_t ram_arrive(struct sl_disk_image *image)
{
	return ++ram_of(image)->arrivals;
}

static struct sl_mark *ram_follow(struct sl_disk_image *image)
{
	struct ram_image *ram = ram_of(image);

	ram->followed++;
	return &ram->fate;
}

static void ram_forget(struct sl_disk_image *image, struct sl_mark *fate)
{
	struct ram_image *ram = ram_of(image);

	ram->forgot += fate == &ram->fate;
}

static int ram_read(struct sl_disk_image *image, int64_t offset, void *buf, size_t bytes)
{
	struct ram_image *ram = ram_of(image);

	range_check(ram, offset, (int64_t)bytes);
	memcpy(buf, ram->bytes + offset, bytes);
	return ram->fail;
}

static void change_note(struct ram_image *ram, const struct sl_disk_change *change)
{
	range_check(ram, change->offset_bytes, change->bytes);
	ram->last_fua = change->fua;
	ram->last_mark = change->mark;
	ram->done += change->fate == &ram->fate;
}

static int ram_write(struct sl_disk_image *image, const struct sl_disk_change *change, const void *buf)
{
	struct ram_image *ram = ram_of(image);

	change_note(ram, change);
	memcpy(ram->bytes + change->offset_bytes, buf, (size_t)change->bytes);
	return ram->fail;
}

static int ram_zero(struct sl_disk_image *image, const struct sl_disk_change *change, bool keep)
{
	struct ram_image *ram = ram_of(image);

	change_note(ram, change);
	ram->last_keep = keep;
	memset(ram->bytes + change->offset_bytes, 0, (size_t)change->bytes);
	return ram->fail;
}

static int ram_flush(struct sl_disk_image *image, uint64_t mark)
{
	struct ram_image *ram = ram_of(image);

	ram->last_mark = mark;
	ram->flushes++;
	return ram->fail;
}

static int ram_extents(struct sl_disk_image *image, int64_t offset, int64_t bytes, struct sl_disk_extent *ret,
		       int max)
{
	struct ram_image *ram = ram_of(image);
	int64_t hole = ram->hole_bytes - offset;
	int n = 0;

	range_check(ram, offset, bytes);
	if (hole > 0) {
		ret[n++] = (struct sl_disk_extent){hole < bytes ? hole : bytes, true};
		bytes -= ret[0].bytes;
	}
	if (n < max && bytes > 0) {
		ret[n++] = (struct sl_disk_extent){bytes, false};
	}
	return ram->fail ? ram->fail : n;
}

static const struct sl_disk_image_ops ram_ops = {
    .arrive = ram_arrive,
    .follow = ram_follow,
    .forget = ram_forget,
    .read = ram_read,
    .write = ram_write,
    .zero = ram_zero,
    .flush = ram_flush,
    .extents = ram_extents,
};

void ram_image_init(struct ram_image *ram, int64_t size_bytes)
{
	memset(ram, 0, sizeof(*ram));
	ram->base.ops = &ram_ops;
	ram->bytes = calloc(1, (size_t)size_bytes);
	ram->size_bytes = size_bytes;
	if (!ram->bytes) {
		abort();
	}
}

void ram_image_fini(struct ram_image *ram)
{
	free(ram->bytes);
}
