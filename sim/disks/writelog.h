/*
 * What was written to a set of disks, in the order of completion: enough to build any image that a power cut
 * could have left. A record carries its sequence number (its place in the file, from 1), and how many records
 * there were when its request arrived: a flush makes stable what had completed by then.
 */
#ifndef SL_DISKS_WRITELOG_H
#define SL_DISKS_WRITELOG_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/nbd/image.h"

#define SL_WRITELOG_NAME_MAX 256
#define SL_WRITELOG_DISKS_MAX 256

struct sl_writelog_disk {
	char name[SL_WRITELOG_NAME_MAX];
	int64_t size_bytes;
	bool keeps;         /* an acknowledged write survives without a flush */
	bool flush_ignored; /* a flush makes nothing stable */
	int32_t unit_bytes; /* never torn: 512 or 4096 */
};

enum sl_writelog_kind {
	SL_WRITELOG_WRITE, /* its data follows */
	SL_WRITELOG_ZERO,
	SL_WRITELOG_FLUSH
};

struct sl_writelog;

/* Starts a log at `path` (replaced when it exists). Errors name the path. */
int sl_writelog_create(const char *path, const struct sl_writelog_disk *disks, int n_disks,
		       struct sl_writelog **ret, struct sl_err *err);
/* The number of records so far, those included that were dropped: the mark of a request that arrives now. */
uint64_t sl_writelog_mark(const struct sl_writelog *log);
/* Appends; buf is the data of a write. An error is kept, and later records are dropped. */
void sl_writelog_add(struct sl_writelog *log, enum sl_writelog_kind kind, int disk,
		     const struct sl_disk_change *change, const void *buf);
/* The power is cut: nothing is recorded from now on. */
void sl_writelog_end(struct sl_writelog *log);
/* 0 or the negative errno that stopped the recording. */
int sl_writelog_error(const struct sl_writelog *log);
/* Writes out what is buffered and frees. Returns as sl_writelog_error. Accepts NULL. */
int sl_writelog_close(struct sl_writelog *log);

struct sl_writelog_cut {
	const char *path, *disk;
	uint64_t at; /* cut after this record; what arrived before it was in service; UINT64_MAX = the end */
	uint64_t seed;     /* which of the writes that were not stable survive, unit by unit */
	const char *base;  /* the image as it was when the log began; NULL = all zeroes */
	const char *image; /* where the result goes; replaced; NULL = only count */
};

/* Counts of the disk's records up to the cut. */
struct sl_writelog_counts {
	uint64_t records; /* in the whole log, of all disks */
	uint64_t writes, flushes;
	uint64_t stable;                 /* writes that any cut here leaves whole */
	uint64_t loose;                  /* writes that may survive, in part or not at all */
	uint64_t lost_units, kept_units; /* of these */
};

/* Builds a legal image of one disk. A record that was cut off at the end (kill -9) ends the log. -ENOENT
 * (file, disk), -EINVAL (no log, damaged) with a message that names file and byte. */
int sl_writelog_replay(const struct sl_writelog_cut *cut, struct sl_writelog_counts *ret, struct sl_err *err);

#endif
