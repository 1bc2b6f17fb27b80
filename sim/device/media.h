/*
 * The mechanism of a hard disk: heads that seek, a platter that turns with the clock, zones whose tracks get
 * shorter towards the inside. Pure geometry: where the head is and what is queued is the disk's business.
 */
#ifndef SL_DEVICE_MEDIA_H
#define SL_DEVICE_MEDIA_H

#include <stdint.h>

#include "sim/device/spec.h"

#define SL_MEDIA_ZONES 16

struct sl_media_zone {
	int64_t start_bytes;
	int64_t track_bytes; /* what passes under the head in one turn */
	double start_share;  /* of the stroke, 0 = outer edge */
	double share_per_byte;
	double bps;
};

struct sl_media {
	const struct sl_dev_spec *spec; /* borrowed */
	int64_t turn_ns;
	int64_t phase_ns; /* the platter's angle at time 0 */
	int n_zones;
	struct sl_media_zone zones[SL_MEDIA_ZONES];
};

/* `phase_ns` in [0, one turn). */
void sl_media_init(struct sl_media *media, const struct sl_dev_spec *spec);

/* Seek between two positions. */
int64_t sl_media_seek_ns(const struct sl_media *media, int64_t from_bytes, int64_t to_bytes);

/* Time from at_ns until the sector at `to` is under the head that stood at `from`: seek, settling of a write,
 * rotation. */
int64_t sl_media_position_ns(const struct sl_media *media, int64_t at_ns, int64_t from_bytes,
			     int64_t to_bytes, bool write);

/* Rate of the zone at an offset. */
double sl_media_rate(const struct sl_media *media, int64_t offset_bytes);

#endif
