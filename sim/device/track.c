#include "sim/device/track.h"

#include "sim/device/kinds.h"

#define ROUNDING_BYTES 512 /* times are whole ns: what was read on is known to a sector */

/* Where the running read-ahead has come to at at_ns. */
static int64_t ahead_end(const struct sl_track *track, int64_t at_ns)
{
	const struct sl_track_segment *segment = track->ahead;
	int64_t read_ns = sl_later(at_ns - track->ahead_from_ns, 0);
	double rate = sl_media_rate(track->media, segment->end);
	int64_t end = segment->end + (int64_t)((double)read_ns * rate / 1e9);

	return end < segment->limit ? end : segment->limit;
}

/* A read up to `end` was served from the running read-ahead: there is room to go on, which takes a turn of
 * the platter where it had stopped. */
static void extend(struct sl_track *track, int64_t at_ns, int64_t end)
{
	struct sl_track_segment *segment = track->ahead;
	int64_t from_ns = sl_later(track->ahead_from_ns, at_ns), have = ahead_end(track, at_ns);

	if (have == segment->limit) {
		from_ns += sl_media_position_ns(track->media, from_ns, have, have, false);
	}
	segment->end = have;
	segment->limit = sl_later(segment->limit, end + track->segment_bytes);
	segment->used = ++track->uses;
	track->ahead_from_ns = from_ns;
}

void sl_track_init(struct sl_track *track, const struct sl_media *media, int segments, int64_t cache_bytes)
{
	*track = (struct sl_track){.media = media};
	track->n = segments < SL_TRACK_SEGMENTS_MAX ? segments : SL_TRACK_SEGMENTS_MAX;
	if (track->n > 0) {
		track->segment_bytes = cache_bytes / track->n;
	}
}

int64_t sl_track_head(const struct sl_track *track, int64_t at_ns, int64_t parked_bytes)
{
	return track->ahead ? ahead_end(track, at_ns) : parked_bytes;
}

void sl_track_start(struct sl_track *track, int64_t at_ns, int64_t start, int64_t end)
{
	struct sl_track_segment *segment = &track->segments[0];

	if (track->n == 0) {
		return;
	}
	for (int i = 0; i < track->n; i++) {
		if (track->segments[i].end == start && track->segments[i].used > 0) {
			segment = &track->segments[i]; /* the same stream */
			break;
		}
		if (track->segments[i].used < segment->used) {
			segment = &track->segments[i];
		}
	}
	*segment = (struct sl_track_segment){start, end, end + track->segment_bytes, ++track->uses};
	track->ahead = segment;
	track->ahead_from_ns = at_ns;
}

void sl_track_stop(struct sl_track *track, int64_t at_ns)
{
	if (track->ahead) {
		track->ahead->end = ahead_end(track, at_ns);
		track->ahead = NULL;
	}
}

bool sl_track_covers(const struct sl_track *track, int64_t at_ns, int64_t start)
{
	return track->ahead && start >= track->ahead->start &&
	       start <= ahead_end(track, at_ns) + ROUNDING_BYTES;
}

int64_t sl_track_read_on(struct sl_track *track, int64_t at_ns, int64_t end)
{
	struct sl_track_segment *segment = track->ahead;

	extend(track, at_ns, end);
	if (end <= segment->end) {
		return at_ns;
	}
	at_ns = track->ahead_from_ns +
		sl_transfer_ns(end - segment->end, sl_media_rate(track->media, segment->end));
	segment->end = end;
	track->ahead_from_ns = at_ns;
	return at_ns;
}

int64_t sl_track_hit_ns(struct sl_track *track, int64_t now_ns, int64_t start, int64_t end)
{
	for (int i = 0; i < track->n; i++) {
		struct sl_track_segment *segment = &track->segments[i];
		bool running = segment == track->ahead;
		int64_t hit_ns = now_ns;

		if (segment->used == 0 || start < segment->start ||
		    end > (running ? ahead_end(track, now_ns) : segment->end)) {
			continue;
		}
		segment->used = ++track->uses;
		if (running && track->ahead_from_ns > now_ns) {
			/* The read that fills the segment is still under way. */
			hit_ns = track->ahead_from_ns -
				 sl_transfer_ns(segment->end - end, sl_media_rate(track->media, end));
		} else if (running) {
			extend(track, now_ns, end);
		}
		return sl_later(hit_ns, now_ns);
	}
	return -1;
}

void sl_track_forget(struct sl_track *track, int64_t start, int64_t end)
{
	if (track->uses ==
	    0) { /* nothing was read from the disk yet: a log, or a pool that lives in the ARC */
		return;
	}
	for (int i = 0; i < track->n; i++) {
		struct sl_track_segment *segment = &track->segments[i];
		int64_t known = segment == track->ahead ? segment->limit : segment->end;

		if (start < known && end > segment->start) {
			segment->used = 0;
			track->ahead = segment == track->ahead ? NULL : track->ahead;
		}
	}
}
