/*
 * The contents of one served disk: a sparse file that is the medium, and in front of it the volatile cache
 * that the modelled disk has. A disk with power-loss protection (or without a cache) writes through; one
 * without keeps acknowledged writes in memory until the model has them on its medium, which it notes in their
 * marks. The file follows when somebody asks (sl_served_image_destage), so that a cut after that takes what
 * it would have taken from the modelled disk. Writes that the model did not see stay until a flush, FUA, or
 * until the cache is full. Zeroes (TRIM, WRITE ZEROES) are writes too; ranges above 8 MiB reach the medium at
 * once.
 */
#ifndef SL_DISKS_DISK_IMAGE_H
#define SL_DISKS_DISK_IMAGE_H

#include "sim/base/rng.h"
#include "sim/device/spec.h"
#include "sim/disks/disk_cache.h"
#include "sim/disks/writelog.h"
#include "sim/nbd/image.h"

/* What a power cut does to a disk, by its figures. */
struct sl_disk_volatility {
	int64_t cache_bytes; /* acknowledged writes that may be lost; 0 = none */
	bool flush_ignored;  /* a flush is acknowledged and does nothing */
	bool all;            /* RAM: everything is lost */
	int unit_bytes;      /* never torn */
};

/* A disk of disks loses what its members lose. */
struct sl_disk_volatility sl_disk_volatility(const struct sl_dev_spec *spec);

struct sl_disk_image_config {
	const char *path;   /* the file; made when missing */
	int64_t size_bytes; /* a multiple of 512; an existing file must have it */
	struct sl_disk_volatility volatility;
	struct sl_writelog *log; /* borrowed; NULL = none */
	int log_disk;            /* its number there */
	/* A range was made a hole; may be NULL. */
	void (*trimmed)(void *arg, int64_t offset_bytes, int64_t bytes);
	/* Brings the model to the present and tells its time; NULL: there is no model. */
	int64_t (*reached)(void *arg);
	/* The cache is no longer empty: from now on sl_served_image_destage has work. May be NULL. */
	void (*cached)(void *arg);
	void *arg;
};

struct sl_served_image;

/* Errors name the file: -EBUSY (another server has it), -EINVAL (other size), -ENOMEM, ... */
int sl_served_image_open(const struct sl_disk_image_config *config, struct sl_served_image **ret,
			 struct sl_err *err);
/* Puts what is cached on the medium (an orderly power-off) and closes. 0 or negative errno. Accepts NULL. */
int sl_served_image_close(struct sl_served_image *image);
struct sl_disk_image *sl_served_image_base(struct sl_served_image *image);
int64_t sl_served_image_cached(const struct sl_served_image *image);
/* Puts in the file what the model's medium has at at_ns, in the model's time. 0 or negative errno; what
 * failed stays cached. */
int sl_served_image_destage(struct sl_served_image *image, int64_t at_ns);
/* What was written past the model, to populate the disk, is on the medium: the model begins with an empty
 * cache. */
int sl_served_image_populated(struct sl_served_image *image);

/* A write that was in service when the power went: as much of it as had come, in units, reaches the cache or,
 * of a disk that keeps writes, the medium. Before sl_served_image_cut. */
int sl_served_image_tear(struct sl_served_image *image, const struct sl_disk_change *change, const void *buf,
			 struct sl_rng *rng);
/* The power is cut: units in the cache survive with probability odds / 256. */
int sl_served_image_cut(struct sl_served_image *image, struct sl_rng *rng, uint32_t odds);

#endif
