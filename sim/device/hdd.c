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
 * before it is on the platters, or is answered at once where the disk ignores it; on SATA it is no queued
 * command: it waits for all that came before, and what comes later waits for it. Reads are served from the
 * write cache, and from the track buffer (track.h): after a read the idle mechanism reads on.
 *
 * Shingled disks write past their bands' own place (smr.h).
 *
 * The mechanism is advanced up to the present at each arrival; only what somebody waits for arms the timer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/oom.h"
#include "sim/base/rng.h"
#include "sim/device/block.h"
#include "sim/device/hdd_cache.h"
#include "sim/device/kinds.h"
#include "sim/device/media.h"
#include "sim/device/smr.h"
#include "sim/device/track.h"

#define SWEEP_WINDOW 24      /* extents ahead of the head that the elevator chooses among */
#define STARVED_NS 500000000 /* a request this old goes first */

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
	struct pending_list gated; /* came while a flush ran alone */
	int64_t answered_ns;       /* when the latest answer is out */
	int64_t alone_until_ns;    /* end of the latest flush that ran alone */
	struct sl_hdd_cache cache;
	struct sl_track track;
	struct sl_smr smr;
	int depth; /* requests to choose among */
	bool caches;
	bool turn; /* flush or full cache: extents and requests take turns */
	struct sl_timer timer;
};

static void list_add(struct pending_list *list, struct pending item)
{
	if (list->n == list->room) {
		int room = list->room ? 2 * list->room : 16;
		struct pending *items = realloc(list->items, (size_t)room * sizeof(*items));

		if (!items) {
			sl_oom();
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
	hdd->answered_ns = sl_later(hdd->answered_ns, done_ns);
	sl_loop_arm(hdd->dev.loop, &req->done, done_ns);
}

/* Acknowledges a write from the cache, which takes it at `at_ns`. */
static void cache_take(struct hdd *hdd, const struct pending *write, int64_t at_ns)
{
	struct sl_dev_req *req = write->req;

	at_ns = sl_later(at_ns, hdd->port_free_ns);
	at_ns += (int64_t)hdd->spec.write_ack_ns + sl_transfer_ns(req->bytes, hdd->spec.write_bps);
	hdd->port_free_ns = at_ns;
	sl_hdd_cache_add(&hdd->cache, req->offset_bytes, req->offset_bytes + req->bytes);
	sl_hdd_cache_hold(
	    &hdd->cache,
	    &(struct sl_hdd_held){req->mark, req->offset_bytes, req->offset_bytes + req->bytes, 0}, at_ns,
	    hdd->spec.flush_honoured > 0 ? SL_RISK_CACHE : SL_RISK_LIAR);
	complete(hdd, req, write->from_ns, at_ns);
}

/* Must a flush of the writes up to `seq` wait? One that runs alone also waits for the commands before it. */
static bool flush_waits(const struct hdd *hdd, uint64_t seq)
{
	if (hdd->spec.interface == SL_IF_SATA) {
		return hdd->queue.n > 0 || hdd->blocked.n > 0 || hdd->cache.n_dirty > 0 || hdd->cache.moving;
	}
	return sl_hdd_cache_lacks(&hdd->cache, seq);
}

/* Ends a flush at at_ns, or when the last answer before it is out. */
static void flush_end(struct hdd *hdd, const struct pending *flush, int64_t at_ns)
{
	if (hdd->spec.interface == SL_IF_SATA) {
		at_ns = sl_later(at_ns, hdd->answered_ns);
		hdd->alone_until_ns = at_ns;
	}
	complete(hdd, flush->req, flush->from_ns, at_ns);
}

static void take(struct hdd *hdd, struct pending *p, int64_t at_ns);

/* Flushes that need not wait any longer, and who waited for them to be over. */
static void end_flushes(struct hdd *hdd, int64_t at_ns)
{
	while (hdd->flushes.n > 0 && !flush_waits(hdd, hdd->flushes.items[0].seq)) {
		flush_end(hdd, &hdd->flushes.items[0], at_ns);
		list_remove(&hdd->flushes, 0);
	}
	while (hdd->gated.n > 0 && hdd->flushes.n == 0) {
		struct pending p = hdd->gated.items[0];

		list_remove(&hdd->gated, 0);
		take(hdd, &p, hdd->alone_until_ns);
	}
}

/* An extent is on the platters: room for writes. */
static void destage_finish(struct hdd *hdd, int64_t at_ns)
{
	sl_hdd_cache_finish(&hdd->cache, at_ns);
	while (hdd->blocked.n > 0 && sl_hdd_cache_has_room(&hdd->cache, hdd->blocked.items[0].req->bytes)) {
		struct pending write = hdd->blocked.items[0];

		list_remove(&hdd->blocked, 0);
		cache_take(hdd, &write, at_ns);
	}
}

/* Writes a sector in part: the rest of it has to be read first, and is under the head again a turn later. */
static bool splits_sector(const struct hdd *hdd, int64_t start, int64_t end)
{
	int64_t sector = (int64_t)hdd->spec.sector_bytes;

	return sector > 0 && (start % sector != 0 || end % sector != 0);
}

/* Moves the head and transfers; returns the end. */
static int64_t access_media(struct hdd *hdd, int64_t at_ns, int64_t start, int64_t end, bool write)
{
	int64_t from = sl_track_head(&hdd->track, at_ns, hdd->head_bytes);

	sl_track_stop(&hdd->track, at_ns);
	if (write && hdd->smr.band_bytes > 0) {
		hdd->head_bytes = from;
		hdd->arm_free_ns = sl_smr_write(&hdd->smr, at_ns, &hdd->head_bytes, start, end);
		return hdd->arm_free_ns;
	}
	at_ns += sl_media_position_ns(&hdd->media, at_ns, from, start, write);
	at_ns += write && splits_sector(hdd, start, end) ? hdd->media.turn_ns : 0;
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
	const struct sl_hdd_cache *cache = &hdd->cache;
	int first = sl_hdd_cache_at(cache, head), best = 0;
	int64_t best_ns = SL_NEVER;

	first = first < cache->n_dirty ? first : 0;
	for (int i = first; i < cache->n_dirty && i < first + SWEEP_WINDOW; i++) {
		int64_t way_ns = sl_media_position_ns(&hdd->media, at_ns, head, cache->dirty[i].start, true);

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
	sl_hdd_cache_start(&hdd->cache, choose_extent(hdd, at_ns));
	access_media(hdd, at_ns, hdd->cache.out.start, hdd->cache.out.end, true);
}

/* A shingled disk that was idle up to now_ns: a band more is cleaned. */
static bool clean_idly(struct hdd *hdd, int64_t now_ns)
{
	int64_t until_ns = -1;

	if (hdd->smr.n_dirty > 0) {
		until_ns = sl_smr_idle(&hdd->smr, hdd->arm_free_ns, now_ns, &hdd->head_bytes);
	}
	if (until_ns >= 0) {
		sl_track_stop(&hdd->track, hdd->arm_free_ns);
		hdd->arm_free_ns = until_ns;
	}
	return until_ns >= 0;
}

/* Lets the mechanism work up to now_ns: everything it starts was there when it decided. */
static void advance(struct hdd *hdd, int64_t now_ns)
{
	while (hdd->arm_free_ns <= now_ns) {
		int64_t at_ns = hdd->arm_free_ns;
		bool urgent;
		int request;

		if (hdd->cache.moving) {
			destage_finish(hdd, at_ns);
		}
		end_flushes(hdd, at_ns);
		urgent = hdd->flushes.n > 0 || hdd->blocked.n > 0;
		request = choose_request(hdd, at_ns);
		if (hdd->cache.n_dirty > 0 && (request < 0 || (urgent && hdd->turn))) {
			start_destage(hdd, at_ns);
			hdd->turn = false;
		} else if (request >= 0) {
			start_request(hdd, request, at_ns);
			hdd->turn = true;
		} else if (hdd->queue.n > 0 && hdd->queue.items[0].ready_ns <= now_ns) {
			hdd->arm_free_ns = hdd->queue.items[0].ready_ns;
		} else if (!clean_idly(hdd, now_ns)) {
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
	if (hdd->queue.n > 0 && !hdd->cache.moving && hdd->cache.n_dirty == 0) {
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
	const struct sl_hdd_cache *cache = &hdd->cache;
	int at = sl_hdd_cache_at(cache, start + 1);

	if (at == cache->n_dirty || cache->dirty[at].start > start || cache->dirty[at].end < end) {
		hit_ns = sl_track_hit_ns(&hdd->track, now_ns, start, end);
	}
	return hit_ns < 0 ? -1 : sl_later(hit_ns, now_ns + (int64_t)hdd->spec.command_ns);
}

static void take_read(struct hdd *hdd, const struct pending *p, int64_t at_ns)
{
	int64_t hit_ns = buffered_ns(hdd, at_ns, p->req);

	if (hit_ns >= 0) {
		complete(hdd, p->req, p->from_ns, hit_ns);
		return;
	}
	list_add(&hdd->queue, *p);
}

static void take_write(struct hdd *hdd, const struct pending *p, int64_t at_ns)
{
	sl_track_forget(&hdd->track, p->req->offset_bytes, p->req->offset_bytes + p->req->bytes);
	if (!hdd->caches || p->req->fua) {
		list_add(&hdd->queue, *p);
	} else if (hdd->blocked.n == 0 && sl_hdd_cache_has_room(&hdd->cache, p->req->bytes)) {
		cache_take(hdd, p, at_ns);
	} else {
		list_add(&hdd->blocked, *p);
	}
}

static void take_flush(struct hdd *hdd, struct pending *p, int64_t at_ns)
{
	p->seq = hdd->cache.seq;
	if (hdd->spec.flush_honoured == 0) {
		complete(hdd, p->req, p->from_ns, at_ns);
	} else if (!flush_waits(hdd, p->seq)) {
		flush_end(hdd, p, at_ns);
	} else {
		list_add(&hdd->flushes, *p);
	}
}

/* A command comes to the controller at at_ns. */
static void take(struct hdd *hdd, struct pending *p, int64_t at_ns)
{
	p->ready_ns = at_ns + (int64_t)hdd->spec.command_ns;
	switch (p->req->op) {
	case SL_DEV_READ:
		take_read(hdd, p, at_ns);
		break;
	case SL_DEV_WRITE:
		take_write(hdd, p, at_ns);
		break;
	case SL_DEV_FLUSH:
		take_flush(hdd, p, at_ns);
		break;
	}
}

static void hdd_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct hdd *hdd = sl_container_of(dev, struct hdd, dev);
	struct pending p = {.req = req, .from_ns = now_ns};

	sl_dev_count(dev, req);
	advance(hdd, now_ns);
	if (hdd->flushes.n > 0 && hdd->spec.interface == SL_IF_SATA) {
		list_add(&hdd->gated, p);
	} else {
		take(hdd, &p, sl_later(now_ns, hdd->alone_until_ns));
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
	free(hdd->gated.items);
	sl_hdd_cache_fini(&hdd->cache);
	sl_smr_fini(&hdd->smr);
	free(hdd);
}

static const struct sl_dev_ops hdd_ops = {.submit = hdd_submit, .free = hdd_free, .catch_up = hdd_catch_up};

struct sl_dev *sl_hdd_new(const struct sl_dev_spec *spec, uint64_t seed, const char *name)
{
	struct hdd *hdd = calloc(1, sizeof(*hdd));
	struct sl_rng rng;

	if (!hdd || sl_hdd_cache_init(&hdd->cache, (int64_t)spec->cache_bytes) < 0) {
		free(hdd);
		return NULL;
	}
	sl_rng_init(&rng, seed, name);
	hdd->dev.ops = &hdd_ops;
	hdd->spec = *spec;
	hdd->caches = sl_block_has_cache(spec);
	hdd->timer.fire = decide;
	hdd->depth = spec->ncq_depth > 1 ? (int)spec->ncq_depth : 1;
	sl_media_init(&hdd->media, &hdd->spec);
	hdd->media.phase_ns = (int64_t)sl_rng_below(&rng, (uint64_t)hdd->media.turn_ns);
	if (sl_smr_init(&hdd->smr, &hdd->media) < 0) {
		hdd_free(&hdd->dev);
		return NULL;
	}
	sl_track_init(&hdd->track, &hdd->media, (int)spec->read_segments, (int64_t)spec->cache_bytes);
	return &hdd->dev;
}
