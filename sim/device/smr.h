/*
 * Shingled recording that the drive manages itself. Tracks overlap within bands: a write in the middle of a
 * band would destroy what follows, so that it goes to a log at the outer edge, the media cache, and the band
 * is read and written anew later: when the drive is idle, or when the log is full, before the next write. A
 * stream goes where it belongs. (A. Aghayev, P. Desnoyers: Skylight, a window on shingled disk operation,
 * FAST 2015: static mapping, disk cache at the outer diameter, bands of 15 to 40 MiB.) Not modelled: reads of
 * what is in the log.
 */
#ifndef SL_DEVICE_SMR_H
#define SL_DEVICE_SMR_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/device/media.h"

struct sl_smr {
	const struct sl_media *media;               /* borrowed */
	int64_t band_bytes;                         /* 0 = tracks do not overlap */
	int64_t cache_bytes, used_bytes, log_bytes; /* of the media cache; log: where it is written next */
	int64_t stream_end;                         /* of the latest write */
	int64_t n_bands;
	int64_t *pending;             /* owned: bytes of a band that are in the cache */
	int32_t *dirty;               /* owned: bands with such, oldest first, a ring */
	int64_t first_dirty, n_dirty; /* of the ring */
	bool cleaning;                /* the idle drive has begun to */
};

/* Bands of spec->smr_band; none: a drive like others. 0 or -ENOMEM. Release with
 * sl_smr_fini, after an error too. */
int sl_smr_init(struct sl_smr *smr, const struct sl_media *media);
void sl_smr_fini(struct sl_smr *smr);

/* Writes [start, end) with the head at *head; returns the end and moves the head. */
int64_t sl_smr_write(struct sl_smr *smr, int64_t at_ns, int64_t *head, int64_t start, int64_t end);

/* Nothing was asked of the drive from idle_ns to now_ns: cleans one more band if there is time to begin.
 * Returns when it is through, -1: nothing is done. */
int64_t sl_smr_idle(struct sl_smr *smr, int64_t idle_ns, int64_t now_ns, int64_t *head);

#endif
