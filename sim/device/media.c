#include "sim/device/media.h"

#include <stdlib.h>
#include <string.h>

#include "sim/device/kinds.h"

/* What a drive's skew makes good: a sector that passed this little ago is still caught. Covers rounding. */
#define CATCH_NS 1000

/* Newton's iteration from an estimate by halving the exponent: no libm in the model, the same bits
 * everywhere. */
static double square_root(double x)
{
	uint64_t bits;
	double y;

	if (x <= 0) {
		return 0;
	}
	memcpy(&bits, &x, sizeof(bits));
	bits = (bits >> 1) + (UINT64_C(1023) << 51);
	memcpy(&y, &bits, sizeof(y));
	for (int i = 0; i < 4; i++) {
		y = 0.5 * (y + x / y);
	}
	return y;
}

static const struct sl_media_zone *zone_of(const struct sl_media *media, int64_t offset)
{
	int at = media->n_zones - 1;

	while (at > 0 && media->zones[at].start_bytes > offset) {
		at--;
	}
	return &media->zones[at];
}

static double stroke_share(const struct sl_media *media, int64_t offset)
{
	const struct sl_media_zone *zone = zone_of(media, offset);

	return zone->start_share + (double)(offset - zone->start_bytes) * zone->share_per_byte;
}

/* Measured points, straight in the square root of the distance between them. */
static double seek_from_points(const struct sl_dev_spec *spec, double distance)
{
	const struct sl_seek_point *points = spec->seek_points;
	int n = spec->n_seek_points, at = 1;
	double from, to;

	if (distance <= points[0].share) {
		return points[0].ns;
	}
	while (at < n - 1 && points[at].share < distance) {
		at++;
	}
	from = square_root(points[at - 1].share);
	to = square_root(points[at].share);
	distance = distance < points[at].share ? distance : points[at].share;
	return points[at - 1].ns +
	       (points[at].ns - points[at - 1].ns) * (square_root(distance) - from) / (to - from);
}

/* The square root law up to a third of the stroke, a straight line from there (Ruemmler and Wilkes 1994); the
 * bend is the average seek of the data sheet. */
static double seek_from_sheet(const struct sl_dev_spec *spec, double distance)
{
	if (distance < 1.0 / 3) {
		return spec->seek_track_ns +
		       (spec->seek_avg_ns - spec->seek_track_ns) * square_root(3 * distance);
	}
	return spec->seek_avg_ns + (spec->seek_full_ns - spec->seek_avg_ns) * (distance - 1.0 / 3) * 1.5;
}

int64_t sl_media_seek_ns(const struct sl_media *media, int64_t from_bytes, int64_t to_bytes)
{
	const struct sl_dev_spec *spec = media->spec;
	double distance;

	/* The same track. */
	if (llabs(to_bytes - from_bytes) < zone_of(media, to_bytes)->track_bytes) {
		return 0;
	}
	distance = stroke_share(media, to_bytes) - stroke_share(media, from_bytes);
	distance = distance < 0 ? -distance : distance;
	return (int64_t)(spec->n_seek_points > 0 ? seek_from_points(spec, distance)
						 : seek_from_sheet(spec, distance));
}

/* Time from at_ns until the sector at `offset` is under the head. */
static int64_t rotation_ns(const struct sl_media *media, int64_t at_ns, int64_t offset)
{
	const struct sl_media_zone *zone = zone_of(media, offset);
	int64_t in_track = (offset - zone->start_bytes) % zone->track_bytes;
	int64_t angle_ns = (int64_t)((double)in_track / (double)zone->track_bytes * (double)media->turn_ns);
	int64_t wait_ns = (angle_ns - (at_ns + media->phase_ns) % media->turn_ns) % media->turn_ns;

	wait_ns += wait_ns < 0 ? media->turn_ns : 0;
	return wait_ns > media->turn_ns - CATCH_NS ? 0 : wait_ns;
}

int64_t sl_media_position_ns(const struct sl_media *media, int64_t at_ns, int64_t from_bytes,
			     int64_t to_bytes, bool write)
{
	int64_t seek_ns = sl_media_seek_ns(media, from_bytes, to_bytes);

	if (write && seek_ns > 0) {
		seek_ns += (int64_t)media->spec->write_settle_ns;
	}
	return seek_ns + rotation_ns(media, at_ns + seek_ns, to_bytes);
}

double sl_media_rate(const struct sl_media *media, int64_t offset_bytes)
{
	return zone_of(media, offset_bytes)->bps;
}

/* Zones of equal width on the stroke: their rate falls in a line from the outer to the inner edge, and with
 * it what they hold. */
void sl_media_init(struct sl_media *media, const struct sl_dev_spec *spec)
{
	double outer = spec->media_bps, inner = spec->media_inner_bps > 0 ? spec->media_inner_bps : outer;
	int n = inner < outer ? SL_MEDIA_ZONES : 1;
	double mean = 0.5 * (outer + inner), start = 0;

	*media = (struct sl_media){.spec = spec, .turn_ns = (int64_t)(60e9 / spec->rpm), .n_zones = n};
	for (int i = 0; i < n; i++) {
		struct sl_media_zone *zone = &media->zones[i];
		double size;

		zone->bps = outer - (outer - inner) * (i + 0.5) / n;
		zone->start_bytes = (int64_t)start;
		zone->start_share = (double)i / n;
		zone->track_bytes = (int64_t)(zone->bps * 60 / spec->rpm);
		size = spec->capacity_bytes / n * zone->bps / mean;
		zone->share_per_byte = 1.0 / n / size;
		start += size;
	}
}
