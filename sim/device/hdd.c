/*
 * A first hard disk. The head is at a position of the stroke, the platter turns with the clock, so a write
 * that follows the previous one after a pause misses its sector and waits for nearly a whole turn: the reason
 * why synchronous log writes are slow on disks.
 *
 * seek(d) = track + (full - track) * a(d), with the square root law up to a third of the stroke and a
 * straight line from there (Ruemmler and Wilkes 1994); the bend is the average seek of the data sheet.
 * Rotation from rpm.
 *
 * With the write cache on, a write is acknowledged after `write_ack` and the transfer into the cache, and
 * destaged later, in an order that saves `destage_gain` of seek and rotation; when the cache is full writes
 * wait for that. A flush waits until all is destaged. Reads go before destaging. Not modelled: zones, track
 * buffer hits, NCQ reordering of uncached requests.
 */
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/device/kinds.h"

#define ROUNDING_NS 20     /* angles and transfers are whole ns; no sector is missed by that little */
#define CACHE_EXTENTS 2048 /* destage queue entries of one drive, a power of two */

struct destage {
	int64_t done_ns;
	int64_t bytes;
};

struct hdd {
	struct sl_dev dev;
	struct sl_dev_spec spec;
	int64_t turn_ns;
	int64_t track_bytes;  /* what passes under the head in one turn */
	int64_t phase_ns;     /* the platter's angle at time 0 */
	int64_t head_bytes;   /* position of the head: end of the latest access */
	int64_t arm_free_ns;  /* when the mechanism is next free for a read or an uncached write */
	int64_t port_free_ns; /* when the cache takes the next write */
	int64_t destaged_ns;  /* when the cache will be clean */
	int64_t destage_end;  /* where the last destaged extent ends */
	int64_t cached_bytes;
	uint32_t head, tail; /* of the queue below */
	struct destage queue[CACHE_EXTENTS];
};

/* Newton's iteration: no libm in the model, the same bits everywhere. */
static double square_root(double x)
{
	double y = x > 1 ? x : 1;

	for (int i = 0; i < 60; i++) {
		double next = 0.5 * (y + x / y);

		if (next == y) {
			break;
		}
		y = next;
	}
	return x > 0 ? y : 0;
}

static int64_t seek_ns(const struct hdd *hdd, int64_t distance_bytes)
{
	const struct sl_dev_spec *spec = &hdd->spec;
	double d = (double)distance_bytes / spec->capacity_bytes;

	if (distance_bytes == 0) {
		return 0;
	}
	if (d < 1.0 / 3) {
		return (int64_t)(spec->seek_track_ns +
				 (spec->seek_avg_ns - spec->seek_track_ns) * square_root(3 * d));
	}
	return (int64_t)(spec->seek_avg_ns + (spec->seek_full_ns - spec->seek_avg_ns) * (d - 1.0 / 3) * 1.5);
}

/* Time from at_ns until the sector at `offset` is under the head. */
static int64_t rotation_ns(const struct hdd *hdd, int64_t at_ns, int64_t offset)
{
	double angle = (double)(offset % hdd->track_bytes) / (double)hdd->track_bytes;
	int64_t angle_ns = (int64_t)(angle * (double)hdd->turn_ns);
	int64_t wait_ns = (angle_ns - (at_ns + hdd->phase_ns) % hdd->turn_ns) % hdd->turn_ns;

	wait_ns = wait_ns < 0 ? wait_ns + hdd->turn_ns : wait_ns;
	return wait_ns > hdd->turn_ns - ROUNDING_NS ? 0 : wait_ns;
}

/* Moves the head and transfers; returns the end. */
static int64_t access_media(struct hdd *hdd, int64_t now_ns, const struct sl_dev_req *req)
{
	int64_t at_ns = sl_later(now_ns, hdd->arm_free_ns);

	at_ns += seek_ns(hdd, llabs(req->offset_bytes - hdd->head_bytes));
	at_ns += rotation_ns(hdd, at_ns, req->offset_bytes);
	at_ns += sl_transfer_ns(req->bytes, hdd->spec.media_bps);
	hdd->head_bytes = req->offset_bytes + req->bytes;
	hdd->arm_free_ns = at_ns;
	return at_ns;
}

/* Forgets what has been destaged by now, then waits (moves *at_ns) until there is room for `bytes`. */
static void cache_make_room(struct hdd *hdd, int64_t *at_ns, int64_t bytes)
{
	while (hdd->tail != hdd->head) {
		struct destage *oldest = &hdd->queue[hdd->tail % CACHE_EXTENTS];
		bool full = hdd->cached_bytes + bytes > (int64_t)hdd->spec.cache_bytes ||
			    hdd->head - hdd->tail == CACHE_EXTENTS;

		if (oldest->done_ns > *at_ns && !full) {
			break;
		}
		*at_ns = sl_later(*at_ns, oldest->done_ns);
		hdd->cached_bytes -= oldest->bytes;
		hdd->tail++;
	}
}

/* Extents of one track go out in one turn: what lies between them passes under the head. */
static int64_t destage_cost_ns(const struct hdd *hdd, const struct sl_dev_req *req)
{
	int64_t transfer_ns = sl_transfer_ns(req->bytes, hdd->spec.media_bps);
	int64_t gap_bytes = req->offset_bytes - hdd->destage_end;

	if (gap_bytes >= 0 && gap_bytes < hdd->track_bytes) {
		return transfer_ns + sl_transfer_ns(gap_bytes, hdd->spec.media_bps);
	}
	return transfer_ns +
	       (int64_t)((hdd->spec.seek_avg_ns + (double)hdd->turn_ns / 2) / hdd->spec.destage_gain);
}

static int64_t cached_write(struct hdd *hdd, int64_t now_ns, const struct sl_dev_req *req)
{
	int64_t at_ns = sl_later(now_ns, hdd->port_free_ns);

	cache_make_room(hdd, &at_ns, req->bytes);
	at_ns += (int64_t)hdd->spec.write_ack_ns + sl_transfer_ns(req->bytes, hdd->spec.write_bps);
	hdd->port_free_ns = at_ns;
	hdd->destaged_ns = sl_later(hdd->destaged_ns, at_ns) + destage_cost_ns(hdd, req);
	hdd->destage_end = req->offset_bytes + req->bytes;
	hdd->queue[hdd->head % CACHE_EXTENTS] = (struct destage){hdd->destaged_ns, req->bytes};
	hdd->head++;
	hdd->cached_bytes += req->bytes;
	return at_ns;
}

static int64_t hdd_finish(struct hdd *hdd, int64_t now_ns, const struct sl_dev_req *req)
{
	int64_t done_ns;

	switch (req->op) {
	case SL_DEV_READ:
		done_ns = access_media(hdd, now_ns, req);
		if (hdd->destaged_ns > now_ns) {
			hdd->destaged_ns += done_ns - now_ns;
		}
		return done_ns;
	case SL_DEV_WRITE:
		if (hdd->spec.write_cache != 0 && !req->fua) {
			return cached_write(hdd, now_ns, req);
		}
		return access_media(hdd, now_ns, req);
	case SL_DEV_FLUSH:
		break;
	}
	if (hdd->destaged_ns <= now_ns) {
		return now_ns;
	}
	/* The last extents are forced out one by one: at least one rotation. */
	return hdd->destaged_ns + hdd->turn_ns;
}

static void hdd_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct hdd *hdd = sl_container_of(dev, struct hdd, dev);
	int64_t done_ns = hdd_finish(hdd, now_ns, req);

	sl_dev_count(dev, req);
	dev->stats.busy_ns += done_ns - now_ns;
	sl_loop_arm(dev->loop, &req->done, done_ns);
}

static void hdd_free(struct sl_dev *dev)
{
	free(sl_container_of(dev, struct hdd, dev));
}

static const struct sl_dev_ops hdd_ops = {.submit = hdd_submit, .free = hdd_free};

struct sl_dev *sl_hdd_new(const struct sl_dev_spec *spec, uint64_t seed, const char *name)
{
	struct hdd *hdd = calloc(1, sizeof(*hdd));
	struct sl_rng rng;

	if (!hdd) {
		return NULL;
	}
	sl_rng_init(&rng, seed, name);
	hdd->dev.ops = &hdd_ops;
	hdd->spec = *spec;
	hdd->turn_ns = (int64_t)(60e9 / spec->rpm);
	hdd->track_bytes = (int64_t)(spec->media_bps * 60 / spec->rpm);
	hdd->phase_ns = (int64_t)sl_rng_below(&rng, (uint64_t)hdd->turn_ns);
	return &hdd->dev;
}
