/*
 * The track buffer of a hard disk. After a read the idle mechanism reads on, up to the size of a segment;
 * each stream of reads has a segment of its own, the one used least recently gives way. A read that lies
 * where the mechanism is reading on costs no positioning. Who has the mechanism when is the disk's business
 * (hdd.c).
 */
#ifndef SL_DEVICE_TRACK_H
#define SL_DEVICE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/device/media.h"

#define SL_TRACK_SEGMENTS_MAX 64

struct sl_track_segment {
	int64_t start, end, limit; /* reads on up to limit */
	uint64_t used;             /* 0 = empty */
};

struct sl_track {
	const struct sl_media *media; /* borrowed */
	int64_t segment_bytes;
	int n;
	struct sl_track_segment segments[SL_TRACK_SEGMENTS_MAX];
	struct sl_track_segment *ahead; /* being read on; NULL = none */
	int64_t ahead_from_ns;          /* since when, from its `end` on; may be yet to come */
	uint64_t uses;
};

/* `cache_bytes` shared by `segments`; none = the buffer does nothing. */
void sl_track_init(struct sl_track *track, const struct sl_media *media, int segments, int64_t cache_bytes);

/* Where the head is at at_ns: where the read-ahead has come to, or at `parked_bytes` when there is none. */
int64_t sl_track_head(const struct sl_track *track, int64_t at_ns, int64_t parked_bytes);

/* A read of [start, end) ended at at_ns: the buffer holds it, and the mechanism reads on. */
void sl_track_start(struct sl_track *track, int64_t at_ns, int64_t start, int64_t end);

/* The mechanism is needed elsewhere at at_ns. */
void sl_track_stop(struct sl_track *track, int64_t at_ns);

/* Does a read that begins at `start` lie where the mechanism is reading on at at_ns? */
bool sl_track_covers(const struct sl_track *track, int64_t at_ns, int64_t start);

/* Reads on up to the end of a read that is covered. Returns when that is done; the mechanism is busy until
 * then. */
int64_t sl_track_read_on(struct sl_track *track, int64_t at_ns, int64_t end);

/* When a segment has all of [start, end), now_ns or later; -1: none has, nor will without being told. */
int64_t sl_track_hit_ns(struct sl_track *track, int64_t now_ns, int64_t start, int64_t end);

/* What is known of a range is old: it was written. */
void sl_track_forget(struct sl_track *track, int64_t start, int64_t end);

#endif
