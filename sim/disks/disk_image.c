#include "sim/disks/disk_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/loop.h"
#include "sim/disks/disk_file.h"

#define SSD_UNIT 4096
#define HDD_UNIT 512
/* The part of the cache by which more may be held before somebody looks what has left it. */
#define SLACK_SHARE 8
/* More is never kept in memory, whatever the figures say. */
#define CACHE_MAX (256ll << 20)
#define ZEROES_CACHED_MAX (8ll << 20)

struct sl_served_image {
	struct sl_disk_image base;
	struct sl_disk_image_config config; /* path is not kept */
	int fd;
	struct sl_cache cache;
	int64_t cache_bytes; /* the most; 0 = writes go through */
	int64_t slack_bytes;
	uint64_t changes; /* without a log: done so far */
};

static struct sl_served_image *image_of(struct sl_disk_image *base)
{
	return sl_container_of(base, struct sl_served_image, base);
}

struct sl_disk_volatility sl_disk_volatility(const struct sl_dev_spec *spec)
{
	struct sl_disk_volatility ret = {.unit_bytes = SSD_UNIT};

	if (spec->kind == SL_DEV_HDD) {
		ret.unit_bytes = HDD_UNIT;
		ret.cache_bytes = spec->write_cache != 0 && !spec->cache_off ? (int64_t)spec->cache_bytes : 0;
		ret.flush_ignored = spec->flush_honoured == 0;
	} else if (spec->kind == SL_DEV_SSD) {
		ret.cache_bytes = spec->plp == 0 && !spec->cache_off ? (int64_t)spec->buffer_bytes : 0;
		ret.flush_ignored = ret.cache_bytes > 0 && spec->flush_ignored != 0;
	} else if (spec->kind == SL_DEV_NVRAM) {
		ret.all = spec->plp == 0;
	} else if (spec->kind == SL_DEV_MIRROR || spec->kind == SL_DEV_STRIPE) {
		for (int i = 0; i < spec->n_members; i++) {
			struct sl_dev_spec member = *spec->members[i];
			struct sl_disk_volatility side;

			member.cache_off |= spec->cache_off;
			side = sl_disk_volatility(&member);
			ret.cache_bytes += side.cache_bytes;
			ret.flush_ignored |= side.flush_ignored;
			ret.all |= side.all;
			ret.unit_bytes = side.unit_bytes < ret.unit_bytes ? side.unit_bytes : ret.unit_bytes;
		}
	}
	return ret;
}

static uint64_t image_arrive(struct sl_disk_image *base)
{
	struct sl_served_image *image = image_of(base);

	return image->config.log ? sl_writelog_mark(image->config.log) : image->changes;
}

static struct sl_mark *image_follow(struct sl_disk_image *base)
{
	struct sl_served_image *image = image_of(base);

	return image->cache_bytes > 0 && image->config.reached ? sl_fates_take(&image->cache.fates) : NULL;
}

static void image_forget(struct sl_disk_image *base, struct sl_mark *fate)
{
	sl_fates_return(&image_of(base)->cache.fates, fate);
}

static int image_read(struct sl_disk_image *base, int64_t offset_bytes, void *buf, size_t bytes)
{
	struct sl_served_image *image = image_of(base);
	int rc = sl_disk_pread(image->fd, buf, (int64_t)bytes, offset_bytes);

	if (rc == 0) {
		sl_cache_overlay(&image->cache, offset_bytes, buf, (int64_t)bytes);
	}
	return rc;
}

/* Never more than the disk's cache can hold: the model knows what has left it. What is above that all the
 * same (the same sectors again and again) leaves early. */
static int cache_bound(struct sl_served_image *image)
{
	int rc = 0;

	if (image->cache.held_bytes <= image->cache_bytes + image->slack_bytes) {
		return 0;
	}
	if (image->config.reached) {
		rc = sl_cache_destage_reached(&image->cache, image->config.reached(image->config.arg));
	}
	return rc == 0 && image->cache.held_bytes > image->cache_bytes
		   ? sl_cache_destage_oldest(&image->cache, image->cache_bytes)
		   : rc;
}

/* Into the cache, or through it where that must be; zeroes when there is no `buf`. */
static int cache_put(struct sl_served_image *image, const struct sl_disk_change *change, const void *buf)
{
	struct sl_cache_put put = {.offset_bytes = change->offset_bytes,
				   .bytes = change->bytes,
				   .buf = buf,
				   .mark = change->fate,
				   .seq = image_arrive(&image->base) + 1};
	bool first = image->cache.n_pieces == 0;
	int rc = sl_cache_put(&image->cache, &put);

	if (rc == 0 && change->fua) {
		rc = sl_cache_destage_latest(&image->cache, change->offset_bytes, change->bytes);
	}
	if (first && image->cache.n_pieces > 0 && image->config.cached) {
		image->config.cached(image->config.arg);
	}
	return rc < 0 ? rc : cache_bound(image);
}

/* A change is done. */
static void change_count(struct sl_served_image *image, enum sl_writelog_kind kind,
			 const struct sl_disk_change *change, const void *buf)
{
	image->changes++;
	if (image->config.log) {
		sl_writelog_add(image->config.log, kind, image->config.log_disk, change, buf);
	}
}

static int image_write(struct sl_disk_image *base, const struct sl_disk_change *change, const void *buf)
{
	struct sl_served_image *image = image_of(base);
	int rc = image->cache_bytes == 0 ? sl_disk_pwrite(image->fd, buf, change->bytes, change->offset_bytes)
					 : cache_put(image, change, buf);

	if (rc == 0) {
		change_count(image, SL_WRITELOG_WRITE, change, buf);
	}
	return rc;
}

static int image_zero(struct sl_disk_image *base, const struct sl_disk_change *change, bool keep)
{
	struct sl_served_image *image = image_of(base);
	int rc;

	if (image->cache_bytes > 0 && change->bytes <= ZEROES_CACHED_MAX) {
		/* Zeroes are written like anything else, so that a cut can take them back. */
		rc = cache_put(image, change, NULL);
	} else {
		/* So large a range is too much for the cache: it is stable at once, as it may be. */
		image_forget(base, change->fate);
		sl_cache_zero(&image->cache, change->offset_bytes, change->bytes);
		rc = sl_disk_punch(image->fd, change->offset_bytes, change->bytes, keep);
	}
	if (rc == 0 && !keep && image->config.trimmed) {
		image->config.trimmed(image->config.arg, change->offset_bytes, change->bytes);
	}
	if (rc == 0) {
		change_count(image, SL_WRITELOG_ZERO, change, NULL);
	}
	return rc;
}

/* What had completed when the flush arrived is on the medium; later writes are where the model has them. */
static int image_flush(struct sl_disk_image *base, uint64_t mark)
{
	struct sl_served_image *image = image_of(base);
	int rc = image->config.volatility.flush_ignored ? 0 : sl_cache_destage_until(&image->cache, mark);

	if (rc == 0) {
		struct sl_disk_change change = {.mark = mark};

		change_count(image, SL_WRITELOG_FLUSH, &change, NULL);
	}
	return rc;
}

/* End of the stretch of the medium that begins at `at`: data or a hole. */
static int64_t medium_stretch(const struct sl_served_image *image, int64_t at, int64_t end, bool *ret_hole)
{
	off_t data = lseek(image->fd, at, SEEK_DATA);
	off_t next;

	if (data < 0) {
		*ret_hole = errno == ENXIO; /* none behind; any other error: allocated, to be safe */
		return end;
	}
	*ret_hole = data > at;
	if (data > at) {
		return data < end ? data : end;
	}
	next = lseek(image->fd, at, SEEK_HOLE);
	return next > at && next < end ? next : end;
}

/* The stretch at `at`, with cached pages as data; *next is the first cached page not before it. */
static int64_t image_stretch(const struct sl_served_image *image, const int64_t *indices, uint32_t *next,
			     int64_t at, int64_t end, bool *ret_hole)
{
	int64_t page_at;

	while (indices && *next < image->cache.n_pieces && (indices[*next] + 1) * SL_CACHE_PAGE <= at) {
		(*next)++;
	}
	if (!indices || *next == image->cache.n_pieces) {
		return medium_stretch(image, at, end, ret_hole);
	}
	page_at = indices[*next] * SL_CACHE_PAGE;
	if (page_at <= at) {
		int64_t stop = page_at + SL_CACHE_PAGE;

		*ret_hole = false;
		return stop < end ? stop : end;
	}
	return medium_stretch(image, at, page_at < end ? page_at : end, ret_hole);
}

static int image_extents(struct sl_disk_image *base, int64_t offset_bytes, int64_t bytes,
			 struct sl_disk_extent *ret, int max)
{
	struct sl_served_image *image = image_of(base);
	int64_t *indices = sl_cache_indices(&image->cache);
	int64_t at = offset_bytes, end = offset_bytes + bytes;
	uint32_t next_page = 0;
	int n = 0;

	if (!indices && image->cache.n_pieces > 0) {
		return -ENOMEM;
	}
	while (at < end) {
		bool hole;
		int64_t next = image_stretch(image, indices, &next_page, at, end, &hole);

		if (n > 0 && ret[n - 1].hole == hole) {
			ret[n - 1].bytes += next - at;
		} else if (n < max) {
			ret[n++] = (struct sl_disk_extent){next - at, hole};
		} else {
			break;
		}
		at = next;
	}
	free(indices);
	return n;
}

static const struct sl_disk_image_ops image_ops = {
    .arrive = image_arrive,
    .follow = image_follow,
    .forget = image_forget,
    .read = image_read,
    .write = image_write,
    .zero = image_zero,
    .flush = image_flush,
    .extents = image_extents,
};

static int file_error(const char *path, int code, struct sl_err *err)
{
	return sl_err_set(err, code, "%s: cannot be used as a disk: %s", path, strerror(-code));
}

/* A disk has everything that a guest knows: it is nobody else's to read. */
static int file_open(struct sl_served_image *image, const char *path, struct sl_err *err)
{
	struct stat st;

	/* No link, which somebody may have put there, and no other file than the one that is made. */
	image->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (image->fd < 0 && errno == ENOENT) {
		image->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	if (image->fd < 0 && errno == ELOOP) {
		return sl_err_set(err, -ELOOP,
				  "%s: is a symbolic link; remove it or name the disk differently", path);
	}
	if (image->fd < 0 || fstat(image->fd, &st) < 0) {
		return file_error(path, -errno, err);
	}
	if (!S_ISREG(st.st_mode)) {
		return sl_err_set(err, -EINVAL,
				  "%s: is not a regular file; remove it or name the disk differently", path);
	}
	if (flock(image->fd, LOCK_EX | LOCK_NB) < 0) {
		return errno == EWOULDBLOCK
			   ? sl_err_set(err, -EBUSY,
					"%s: in use by another server; stop it or choose another folder",
					path)
			   : file_error(path, -errno, err);
	}
	if (st.st_size == 0) {
		return ftruncate(image->fd, image->config.size_bytes) < 0 ? file_error(path, -errno, err) : 0;
	}
	if (st.st_size != image->config.size_bytes) {
		return sl_err_set(
		    err, -EINVAL, "%s: has %lld bytes, not %lld; give size=%lldB or remove the file", path,
		    (long long)st.st_size, (long long)image->config.size_bytes, (long long)st.st_size);
	}
	return 0;
}

int sl_served_image_open(const struct sl_disk_image_config *config, struct sl_served_image **ret,
			 struct sl_err *err)
{
	struct sl_served_image *image = calloc(1, sizeof(*image));
	int64_t cache_bytes =
	    config->volatility.cache_bytes < CACHE_MAX ? config->volatility.cache_bytes : CACHE_MAX;
	int rc;

	if (!image) {
		return sl_err_set(err, -ENOMEM, "%s: out of memory", config->path);
	}
	image->base.ops = &image_ops;
	image->config = *config;
	image->config.path = NULL;
	image->fd = -1;
	sl_cache_init(&image->cache);
	rc = file_open(image, config->path, err);
	if (rc < 0) {
		(void)sl_served_image_close(image);
		return rc;
	}
	image->cache.fd = image->fd;
	image->cache_bytes = (cache_bytes + SL_CACHE_PAGE - 1) / SL_CACHE_PAGE * SL_CACHE_PAGE;
	image->slack_bytes = image->cache_bytes < CACHE_MAX ? image->cache_bytes / SLACK_SHARE : 0;
	*ret = image;
	return 0;
}

int sl_served_image_close(struct sl_served_image *image)
{
	int rc;

	if (!image) {
		return 0;
	}
	rc = sl_cache_destage_oldest(&image->cache, 0);
	sl_cache_fini(&image->cache);
	if (image->fd >= 0 && close(image->fd) < 0 && rc == 0) {
		rc = -errno;
	}
	free(image);
	return rc;
}

struct sl_disk_image *sl_served_image_base(struct sl_served_image *image)
{
	return &image->base;
}

int64_t sl_served_image_cached(const struct sl_served_image *image)
{
	return image->cache.held_bytes;
}

int sl_served_image_destage(struct sl_served_image *image, int64_t at_ns)
{
	return sl_cache_destage_reached(&image->cache, at_ns);
}

int sl_served_image_populated(struct sl_served_image *image)
{
	return sl_cache_destage_unseen(&image->cache);
}

int sl_served_image_tear(struct sl_served_image *image, const struct sl_disk_change *change, const void *buf,
			 struct sl_rng *rng)
{
	int64_t unit = image->config.volatility.unit_bytes;
	int64_t first = change->offset_bytes / unit;
	int64_t units = (change->offset_bytes + change->bytes + unit - 1) / unit - first;
	int64_t come = (int64_t)sl_rng_below(rng, (uint64_t)units + 1);
	int64_t bytes = (first + come) * unit - change->offset_bytes;

	bytes = bytes < change->bytes ? bytes : change->bytes;
	if (bytes <= 0) {
		return 0;
	}
	if (image->cache_bytes == 0) {
		return sl_disk_pwrite(image->fd, buf, bytes, change->offset_bytes);
	}
	return sl_cache_put(&image->cache, &(struct sl_cache_put){.offset_bytes = change->offset_bytes,
								  .bytes = bytes,
								  .buf = buf,
								  .seq = image_arrive(&image->base) + 1});
}

int sl_served_image_cut(struct sl_served_image *image, struct sl_rng *rng, uint32_t odds)
{
	if (image->config.volatility.all) {
		return sl_disk_punch(image->fd, 0, image->config.size_bytes, false);
	}
	return sl_cache_cut(&image->cache, rng, odds, image->config.volatility.unit_bytes);
}
