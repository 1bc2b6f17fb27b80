/*
 * A hard disk. One mechanism serves, one at a time: reads and uncached writes, chosen by the shortest
 * positioning time among the oldest `queue_depth` (NCQ), and the write cache's extents, swept upwards in the
 * order of addresses with the same choice among the next few (the elevator). Positioning is seek and rotation
 * of the real position and angle, so what ordering gains comes out of the queue. A write that follows the
 * previous one after a pause misses its sector and waits for nearly a whole turn: the reason why synchronous
 * log writes are slow on disks.
 *
 * With the write cache on, a write is acknowledged after `write_ack` and the transfer into the cache, waits
 * when the cache is full, and is destaged when no read is queued. A flush waits until all that was cached
 * before it is on the platters, or is answered at once where the disk ignores it. Reads are served from the
 * write cache, and from the track buffer (track.h): after a read the idle mechanism reads on.
 *
 * The mechanism is advanced up to the present at each arrival; only what somebody waits for arms the timer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/device/kinds.h"
#include "sim/device/media.h"
#include "sim/device/track.h"

#define CACHE_EXTENTS 2048   /* pieces the write cache keeps apart */
#define EXTENT_MAX (1 << 20) /* neighbours grow together up to this */
#define SWEEP_WINDOW 24      /* extents ahead of the head that the elevator chooses among */
#define STARVED_NS 500000000 /* a request this old goes first */

struct extent {
	int64_t start, end;
	uint64_t seq;    /* of the oldest write in it */
	uint64_t newest; /* and of the latest */
};

/* A write in the cache that somebody follows. */
struct held {
	struct sl_mark *mark;
	int64_t start, end;
	uint64_t seq;
};

struct pending {
	struct sl_dev_req *req;
	int64_t from_ns;  /* arrival */
	int64_t ready_ns; /* arrival and the controller's share */
	uint64_t seq;     /* flushes: the last write they wait for */
};

struct pending_list {
	struct pending *items;
	int n, room;
};

struct hdd {
	struct sl_dev dev;
	struct sl_dev_spec spec;
	struct sl_media media;
	int64_t head_bytes;          /* where the latest access ended */
	int64_t arm_free_ns;         /* when the mechanism decides next */
	int64_t port_free_ns;        /* when the cache takes the next write */
	struct pending_list queue;   /* reads and uncached writes, by arrival */
	struct pending_list blocked; /* writes that wait for room */
	struct pending_list flushes;
	struct held *held;
	int n_held, held_room;
	struct extent *dirty; /* CACHE_EXTENTS, by address */
	int n_dirty;
	bool destaging; /* `moving` is on its way until arm_free_ns */
	struct extent moving;
	int64_t cached_bytes; /* dirty and moving */
	uint64_t seq;
	struct sl_track track;
	int depth; /* requests to choose among */
	bool turn; /* flush or full cache: extents and requests take turns */
	struct sl_timer timer;
};

static void list_add(struct pending_list *list, struct pending item)
{
	if (list->n == list->room) {
		int room = list->room ? 2 * list->room : 16;
		struct pending *items = realloc(list->items, (size_t)room * sizeof(*items));

		if (!items) {
			abort();
		}
		list->items = items;
		list->room = room;
	}
	list->items[list->n++] = item;
}

static void list_remove(struct pending_list *list, int at)
{
	memmove(&list->items[at], &list->items[at + 1], (size_t)(--list->n - at) * sizeof(list->items[0]));
}

static void complete(struct hdd *hdd, struct sl_dev_req *req, int64_t from_ns, int64_t done_ns)
{
	sl_dev_busy(&hdd->dev, from_ns, done_ns);
	sl_loop_arm(hdd->dev.loop, &req->done, done_ns);
}

/* First extent that ends at or behind `offset`. */
static int dirty_at(const struct hdd *hdd, int64_t offset)
{
	int low = 0, high = hdd->n_dirty;

	while (low < high) {
		int middle = (low + high) / 2;

		if (hdd->dirty[middle].end < offset) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Takes a range into the write cache, grown together with its neighbours. */
static void cache_add(struct hdd *hdd, int64_t start, int64_t end)
{
	struct extent merged = {start, end, hdd->seq + 1, hdd->seq + 1};
	int at = dirty_at(hdd, start), last = at;

	hdd->seq++;
	while (last < hdd->n_dirty && hdd->dirty[last].start <= end) {
		const struct extent *old = &hdd->dirty[last];
		bool large = old->end - old->start + end - start > EXTENT_MAX;

		if (large && old->end == start) {
			at = ++last;
			continue;
		}
		if (large && old->start == end) {
			break;
		}
		merged.start = old->start < merged.start ? old->start : merged.start;
		merged.end = old->end > merged.end ? old->end : merged.end;
		merged.seq = old->seq < merged.seq ? old->seq : merged.seq;
		hdd->cached_bytes -= old->end - old->start;
		last++;
	}
	memmove(&hdd->dirty[at + 1], &hdd->dirty[last],
		(size_t)(hdd->n_dirty - last) * sizeof(hdd->dirty[0]));
	hdd->n_dirty += 1 - (last - at);
	hdd->dirty[at] = merged;
	hdd->cached_bytes += merged.end - merged.start;
}

static bool cache_has_room(const struct hdd *hdd, int64_t bytes)
{
	bool empty = hdd->n_dirty == 0 && !hdd->destaging;

	return empty || (hdd->n_dirty < CACHE_EXTENTS - 1 &&
			 hdd->cached_bytes + bytes <= (int64_t)hdd->spec.cache_bytes);
}

static void hold(struct hdd *hdd, const struct sl_dev_req *req, int64_t done_ns)
{
	if (!req->mark) {
		return;
	}
	if (hdd->n_held == hdd->held_room) {
		int room = hdd->held_room ? 2 * hdd->held_room : 64;
		struct held *held = realloc(hdd->held, (size_t)room * sizeof(*held));

		if (!held) {
			abort();
		}
		hdd->held = held;
		hdd->held_room = room;
	}
	sl_mark_at_risk(req->mark, done_ns, hdd->spec.flush_honoured > 0 ? SL_RISK_CACHE : SL_RISK_LIAR);
	hdd->held[hdd->n_held++] =
	    (struct held){req->mark, req->offset_bytes, req->offset_bytes + req->bytes, hdd->seq};
}

/* The writes in `extent` are on the platters. Later ones to the same place are not. */
static void release(struct hdd *hdd, const struct extent *extent, int64_t at_ns)
{
	int kept = 0;

	for (int i = 0; i < hdd->n_held; i++) {
		const struct held *held = &hdd->held[i];

		if (held->start >= extent->start && held->end <= extent->end && held->seq <= extent->newest) {
			held->mark->safe_ns = at_ns;
		} else {
			hdd->held[kept++] = *held;
		}
	}
	hdd->n_held = kept;
}

/* Acknowledges a write from the cache, which takes it at `at_ns`. */
static void cache_take(struct hdd *hdd, const struct pending *write, int64_t at_ns)
{
	struct sl_dev_req *req = write->req;

	at_ns = sl_later(at_ns, hdd->port_free_ns);
	at_ns += (int64_t)hdd->spec.write_ack_ns + sl_transfer_ns(req->bytes, hdd->spec.write_bps);
	hdd->port_free_ns = at_ns;
	cache_add(hdd, req->offset_bytes, req->offset_bytes + req->bytes);
	hold(hdd, req, at_ns);
	complete(hdd, req, write->from_ns, at_ns);
}

static bool flush_waits(const struct hdd *hdd, uint64_t seq)
{
	if (hdd->destaging && hdd->moving.seq <= seq) {
		return true;
	}
	for (int i = 0; i < hdd->n_dirty; i++) {
		if (hdd->dirty[i].seq <= seq) {
			return true;
		}
	}
	return false;
}

/* An extent is on the platters: room for writes, and perhaps the end of flushes. */
static void destage_finish(struct hdd *hdd, int64_t at_ns)
{
	hdd->destaging = false;
	hdd->cached_bytes -= hdd->moving.end - hdd->moving.start;
	release(hdd, &hdd->moving, at_ns);
	while (hdd->flushes.n > 0 && !flush_waits(hdd, hdd->flushes.items[0].seq)) {
		complete(hdd, hdd->flushes.items[0].req, hdd->flushes.items[0].from_ns, at_ns);
		list_remove(&hdd->flushes, 0);
	}
	while (hdd->blocked.n > 0 && cache_has_room(hdd, hdd->blocked.items[0].req->bytes)) {
		struct pending write = hdd->blocked.items[0];

		list_remove(&hdd->blocked, 0);
		cache_take(hdd, &write, at_ns);
	}
}

/* Moves the head and transfers; returns the end. */
static int64_t access_media(struct hdd *hdd, int64_t at_ns, int64_t start, int64_t end, bool write)
{
	int64_t from = sl_track_head(&hdd->track, at_ns, hdd->head_bytes);

	sl_track_stop(&hdd->track, at_ns);
	at_ns += sl_media_position_ns(&hdd->media, at_ns, from, start, write);
	at_ns += sl_transfer_ns(end - start, sl_media_rate(&hdd->media, start));
	hdd->head_bytes = end;
	hdd->arm_free_ns = at_ns;
	return at_ns;
}

/* Is it a read of what the mechanism is reading on anyway? */
static bool read_on(const struct hdd *hdd, int64_t at_ns, const struct sl_dev_req *req)
{
	return req->op == SL_DEV_READ && sl_track_covers(&hdd->track, at_ns, req->offset_bytes);
}

/* The queued request with the shortest way at at_ns, -1 when none is ready. What is being read on anyway has
 * none. */
static int choose_request(const struct hdd *hdd, int64_t at_ns)
{
	int64_t best_ns = SL_NEVER;
	int64_t head = sl_track_head(&hdd->track, at_ns, hdd->head_bytes);
	int best = -1;

	for (int i = 0; i < hdd->queue.n && i < hdd->depth; i++) {
		const struct pending *p = &hdd->queue.items[i];
		int64_t way_ns;

		if (p->ready_ns > at_ns) {
			continue;
		}
		if (at_ns - p->ready_ns > STARVED_NS || read_on(hdd, at_ns, p->req)) {
			return i;
		}
		way_ns = sl_media_position_ns(&hdd->media, at_ns, head, p->req->offset_bytes,
					      p->req->op == SL_DEV_WRITE);
		if (way_ns < best_ns) {
			best_ns = way_ns;
			best = i;
		}
	}
	return best;
}

/* The extent with the shortest way among the next ones above the head; the sweep starts again at the outer
 * edge. */
static int choose_extent(const struct hdd *hdd, int64_t at_ns)
{
	int64_t head = sl_track_head(&hdd->track, at_ns, hdd->head_bytes);
	int first = dirty_at(hdd, head), best = 0;
	int64_t best_ns = SL_NEVER;

	first = first < hdd->n_dirty ? first : 0;
	for (int i = first; i < hdd->n_dirty && i < first + SWEEP_WINDOW; i++) {
		int64_t way_ns = sl_media_position_ns(&hdd->media, at_ns, head, hdd->dirty[i].start, true);

		if (way_ns < best_ns) {
			best_ns = way_ns;
			best = i;
		}
	}
	return best;
}

static void start_request(struct hdd *hdd, int at, int64_t at_ns)
{
	struct pending p = hdd->queue.items[at];
	int64_t start = p.req->offset_bytes, end = start + p.req->bytes;

	list_remove(&hdd->queue, at);
	if (read_on(hdd, at_ns, p.req)) {
		hdd->arm_free_ns = sl_track_read_on(&hdd->track, at_ns, end);
	} else if (p.req->op == SL_DEV_READ) {
		sl_track_start(&hdd->track, access_media(hdd, at_ns, start, end, false), start, end);
	} else {
		sl_mark_safe(p.req->mark, access_media(hdd, at_ns, start, end, true));
	}
	complete(hdd, p.req, p.from_ns, hdd->arm_free_ns);
}

static void start_destage(struct hdd *hdd, int64_t at_ns)
{
	int at = choose_extent(hdd, at_ns);

	hdd->moving = hdd->dirty[at];
	hdd->destaging = true;
	memmove(&hdd->dirty[at], &hdd->dirty[at + 1], (size_t)(--hdd->n_dirty - at) * sizeof(hdd->dirty[0]));
	access_media(hdd, at_ns, hdd->moving.start, hdd->moving.end, true);
}

/* Lets the mechanism work up to now_ns: everything it starts was there when it decided. */
static void advance(struct hdd *hdd, int64_t now_ns)
{
	while (hdd->arm_free_ns <= now_ns) {
		int64_t at_ns = hdd->arm_free_ns;
		bool urgent;
		int request;

		if (hdd->destaging) {
			destage_finish(hdd, at_ns);
		}
		urgent = hdd->flushes.n > 0 || hdd->blocked.n > 0;
		request = choose_request(hdd, at_ns);
		if (hdd->n_dirty > 0 && (request < 0 || (urgent && hdd->turn))) {
			start_destage(hdd, at_ns);
			hdd->turn = false;
		} else if (request >= 0) {
			start_request(hdd, request, at_ns);
			hdd->turn = true;
		} else if (hdd->queue.n > 0 && hdd->queue.items[0].ready_ns <= now_ns) {
			hdd->arm_free_ns = hdd->queue.items[0].ready_ns;
		} else {
			hdd->arm_free_ns = now_ns;
			break;
		}
	}
}

/* Somebody waits for the mechanism: be there when it decides. */
static void watch(struct hdd *hdd)
{
	bool waits = hdd->queue.n > 0 || hdd->blocked.n > 0 || hdd->flushes.n > 0;
	int64_t at_ns = hdd->arm_free_ns;

	if (!waits || hdd->timer.armed) {
		return;
	}
	if (hdd->queue.n > 0 && !hdd->destaging && hdd->n_dirty == 0) {
		at_ns = sl_later(at_ns, hdd->queue.items[0].ready_ns);
	}
	sl_loop_arm(hdd->dev.loop, &hdd->timer, at_ns);
}

static void decide(struct sl_timer *timer, int64_t now_ns)
{
	struct hdd *hdd = sl_container_of(timer, struct hdd, timer);

	advance(hdd, now_ns);
	watch(hdd);
}

/* When all of a read can be had from a buffer, -1 when it cannot. */
static int64_t buffered_ns(struct hdd *hdd, int64_t now_ns, const struct sl_dev_req *req)
{
	int64_t start = req->offset_bytes, end = start + req->bytes, hit_ns = now_ns;
	int at = dirty_at(hdd, start + 1);

	if (at == hdd->n_dirty || hdd->dirty[at].start > start || hdd->dirty[at].end < end) {
		hit_ns = sl_track_hit_ns(&hdd->track, now_ns, start, end);
	}
	return hit_ns < 0 ? -1 : sl_later(hit_ns, now_ns + (int64_t)hdd->spec.command_ns);
}

static void hdd_read(struct hdd *hdd, const struct pending *p)
{
	int64_t hit_ns = buffered_ns(hdd, p->from_ns, p->req);

	if (hit_ns >= 0) {
		complete(hdd, p->req, p->from_ns, hit_ns);
		return;
	}
	list_add(&hdd->queue, *p);
}

static void hdd_write(struct hdd *hdd, const struct pending *p)
{
	sl_track_forget(&hdd->track, p->req->offset_bytes, p->req->offset_bytes + p->req->bytes);
	if (hdd->spec.write_cache == 0 || p->req->fua) {
		list_add(&hdd->queue, *p);
	} else if (hdd->blocked.n == 0 && cache_has_room(hdd, p->req->bytes)) {
		cache_take(hdd, p, p->from_ns);
	} else {
		list_add(&hdd->blocked, *p);
	}
}

static void hdd_flush(struct hdd *hdd, struct pending *p)
{
	p->seq = hdd->seq;
	if (hdd->spec.flush_honoured == 0 || !flush_waits(hdd, p->seq)) {
		complete(hdd, p->req, p->from_ns, p->from_ns);
		return;
	}
	list_add(&hdd->flushes, *p);
}

static void hdd_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct hdd *hdd = sl_container_of(dev, struct hdd, dev);
	struct pending p = {req, now_ns, now_ns + (int64_t)hdd->spec.command_ns, 0};

	sl_dev_count(dev, req);
	advance(hdd, now_ns);
	switch (req->op) {
	case SL_DEV_READ:
		hdd_read(hdd, &p);
		break;
	case SL_DEV_WRITE:
		hdd_write(hdd, &p);
		break;
	case SL_DEV_FLUSH:
		hdd_flush(hdd, &p);
		break;
	}
	advance(hdd, now_ns);
	watch(hdd);
}

static void hdd_catch_up(struct sl_dev *dev, int64_t now_ns)
{
	struct hdd *hdd = sl_container_of(dev, struct hdd, dev);

	advance(hdd, now_ns);
	watch(hdd);
}

static void hdd_free(struct sl_dev *dev)
{
	struct hdd *hdd = sl_container_of(dev, struct hdd, dev);

	free(hdd->queue.items);
	free(hdd->blocked.items);
	free(hdd->flushes.items);
	free(hdd->held);
	free(hdd->dirty);
	free(hdd);
}

static const struct sl_dev_ops hdd_ops = {.submit = hdd_submit, .free = hdd_free, .catch_up = hdd_catch_up};

struct sl_dev *sl_hdd_new(const struct sl_dev_spec *spec, uint64_t seed, const char *name)
{
	struct hdd *hdd = calloc(1, sizeof(*hdd));
	struct extent *dirty = calloc(CACHE_EXTENTS + 1, sizeof(*dirty));
	struct sl_rng rng;

	if (!hdd || !dirty) {
		free(hdd);
		free(dirty);
		return NULL;
	}
	sl_rng_init(&rng, seed, name);
	hdd->dev.ops = &hdd_ops;
	hdd->spec = *spec;
	hdd->dirty = dirty;
	hdd->timer.fire = decide;
	hdd->depth = spec->ncq_depth > 1 ? (int)spec->ncq_depth : 1;
	sl_media_init(&hdd->media, &hdd->spec);
	hdd->media.phase_ns = (int64_t)sl_rng_below(&rng, (uint64_t)hdd->media.turn_ns);
	sl_track_init(&hdd->track, &hdd->media, (int)spec->read_segments, (int64_t)spec->cache_bytes);
	return &hdd->dev;
}
