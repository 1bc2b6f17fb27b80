#include "sim/zfs/reader.h"

#define PIECE_BYTES (INT64_C(1) << 29) /* of free space in a pool that is in use; assumed */

/* Who waits for a record. */
struct want {
	void *pool_link;
	struct sl_read_waiter *waiter;
	struct want *next;
};

/* A record on its way. */
struct sl_fetch {
	void *pool_link;
	struct sl_reader *reader;
	uint64_t file, record;
	struct sl_fetch *next; /* of the bucket */
	struct want *wants;
	struct sl_vdev_io io;
	struct sl_cpu_job job;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static struct sl_fetch **bucket_of(struct sl_reader *reader, uint64_t file, uint64_t record)
{
	return &reader->buckets[mix(file << 40 ^ record) & (SL_READER_BUCKETS - 1)];
}

static struct sl_fetch *find(struct sl_reader *reader, uint64_t file, uint64_t record)
{
	struct sl_fetch *fetch = *bucket_of(reader, file, record);

	while (fetch && (fetch->file != file || fetch->record != record)) {
		fetch = fetch->next;
	}
	return fetch;
}

static void unlink_fetch(struct sl_reader *reader, const struct sl_fetch *fetch)
{
	struct sl_fetch **link = bucket_of(reader, fetch->file, fetch->record);

	while (*link != fetch) {
		link = &(*link)->next;
	}
	*link = fetch->next;
}

/* Where a record lies: see reader.h. */
static void place(const struct sl_reader *reader, uint64_t file, uint64_t record, struct sl_vdev_io *io)
{
	const struct sl_vdev *vdev = reader->config.data;
	int64_t asize = sl_vdev_asize(vdev, reader->config.record_bytes), half = sl_vdev_top_bytes(vdev) / 2;
	int64_t piece = half < PIECE_BYTES ? half : PIECE_BYTES;
	uint64_t tops = (uint64_t)sl_vdev_tops(vdev), base = mix(file ^ mix(reader->config.seed));
	uint64_t turn = (uint64_t)((reader->config.aliquot_bytes + asize - 1) / asize);
	uint64_t at = record / turn / tops * turn + record % turn; /* within its top-level vdev */
	uint64_t in_piece = (uint64_t)(piece > asize ? piece / asize : 1);

	io->top = (int)((base + record / turn) % tops);
	io->offset_bytes = (int64_t)(mix(base + at / in_piece) % (uint64_t)(half / piece)) * piece +
			   (int64_t)(at % in_piece) * asize;
}

/* Anywhere: the L2ARC is a ring. */
static void place_cached(struct sl_reader *reader, struct sl_vdev_io *io)
{
	const struct sl_vdev *cache = reader->config.cache;
	int64_t room = sl_vdev_top_bytes(cache) - io->bytes;

	io->top = (int)sl_rng_below(&reader->rng, (uint64_t)sl_vdev_tops(cache));
	io->offset_bytes = room > 0 ? (int64_t)sl_rng_below(&reader->rng, (uint64_t)room) : 0;
}

static void want(struct sl_reader *reader, struct sl_fetch *fetch, struct sl_read_waiter *waiter)
{
	struct want *entry = sl_slab_get(&reader->wants), **tail = &fetch->wants;

	while (*tail) {
		tail = &(*tail)->next;
	}
	*tail = entry;
	entry->next = NULL;
	entry->waiter = waiter;
	waiter->waiting++;
}

static void fetched(struct sl_fetch *fetch, int64_t now_ns)
{
	struct sl_reader *reader = fetch->reader;
	struct want *wants = fetch->wants;

	if (fetch->io.async) {
		sl_zfetch_arrived(&reader->zfetch, fetch->file, fetch->record);
	}
	unlink_fetch(reader, fetch);
	sl_slab_put(&reader->fetches, fetch);
	while (wants) {
		struct want *next = wants->next;
		struct sl_read_waiter *waiter = wants->waiter;

		sl_slab_put(&reader->wants, wants);
		waiter->waiting--;
		if (waiter->waiting == 0) {
			sl_timer_fire(&waiter->done, now_ns);
		}
		wants = next;
	}
}

static void decrypted(struct sl_timer *timer, int64_t now_ns)
{
	fetched(sl_container_of(timer, struct sl_fetch, job.done), now_ns);
}

static void arrived(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_fetch *fetch = sl_container_of(timer, struct sl_fetch, io.done);
	const struct sl_reader_config *config = &fetch->reader->config;

	if (config->crypt_bps > 0) {
		fetch->job.done.fire = decrypted;
		sl_cpu_run(config->cpu, now_ns, &fetch->job,
			   (int64_t)((double)fetch->io.bytes * 1e9 / config->crypt_bps));
	} else {
		fetched(fetch, now_ns);
	}
}

/* Reads a record from the data vdevs or the L2ARC, for a waiter or (NULL) ahead. */
static void start(struct sl_reader *reader, int64_t now_ns, uint64_t file, uint64_t record, bool cached,
		  struct sl_read_waiter *waiter)
{
	struct sl_fetch *fetch = sl_slab_get(&reader->fetches), **bucket = bucket_of(reader, file, record);

	fetch->reader = reader;
	fetch->file = file;
	fetch->record = record;
	fetch->next = *bucket;
	*bucket = fetch;
	fetch->wants = NULL;
	fetch->io = (struct sl_vdev_io){.done.fire = arrived,
					.op = SL_DEV_READ,
					.async = !waiter,
					.bytes = reader->config.record_bytes,
					.tag = waiter ? waiter->tag : 0};
	if (waiter) {
		want(reader, fetch, waiter);
	}
	if (cached) {
		place_cached(reader, &fetch->io);
	} else {
		place(reader, file, record, &fetch->io);
	}
	sl_vdev_submit(cached ? reader->config.cache : reader->config.data, now_ns, &fetch->io);
}

/* Waits for the record when it is on its way. */
static bool join(struct sl_reader *reader, uint64_t file, uint64_t record, struct sl_read_waiter *waiter)
{
	struct sl_fetch *fetch = find(reader, file, record);

	if (fetch) {
		want(reader, fetch, waiter);
		reader->config.arc->hits++;
	}
	return fetch != NULL;
}

static void read_ahead(struct sl_reader *reader, int64_t now_ns, uint64_t file,
		       const struct sl_zfetch_plan *plan)
{
	for (uint64_t record = plan->first; record < plan->end; record++) {
		if (!find(reader, file, record)) {
			start(reader, now_ns, file, record, false, NULL);
		}
	}
}

bool sl_reader_read(struct sl_reader *reader, int64_t now_ns, uint64_t file, int64_t offset, uint32_t bytes,
		    struct sl_read_waiter *waiter)
{
	int64_t size = reader->config.recordsize_bytes;
	uint64_t first = (uint64_t)(offset / size), end = (uint64_t)((offset + bytes - 1) / size) + 1;
	struct sl_zfetch_plan plan;

	if (sl_arc_fits(reader->config.arc)) {
		reader->config.arc->hits += end - first;
		return false;
	}
	plan = sl_zfetch_access(&reader->zfetch, now_ns, file, first, end - first);
	waiter->waiting = 0;
	for (uint64_t record = first; record < end; record++) {
		enum sl_arc_hit hit;

		if (join(reader, file, record, waiter)) {
			continue;
		}
		if (plan.sequential) {
			hit = sl_arc_read_on(reader->config.arc, now_ns,
					     record >= plan.held_first && record < plan.held_end);
		} else {
			hit = sl_arc_read(reader->config.arc, now_ns);
		}
		if (hit != SL_ARC_MEMORY) {
			start(reader, now_ns, file, record, hit == SL_ARC_CACHE, waiter);
		}
	}
	read_ahead(reader, now_ns, file, &plan);
	return waiter->waiting > 0;
}

bool sl_reader_fill(struct sl_reader *reader, int64_t now_ns, uint64_t file, uint64_t first, uint64_t last,
		    struct sl_read_waiter *waiter)
{
	waiter->waiting = 0;
	for (uint64_t record = first; record <= last; record += last > first ? last - first : 1) {
		enum sl_arc_hit hit;

		if (join(reader, file, record, waiter)) {
			continue;
		}
		hit = sl_arc_read(reader->config.arc, now_ns);
		if (hit != SL_ARC_MEMORY) {
			start(reader, now_ns, file, record, hit == SL_ARC_CACHE, waiter);
		}
	}
	return waiter->waiting > 0;
}

void sl_reader_init(struct sl_reader *reader, const struct sl_reader_config *config,
		    const struct sl_zfetch_config *zfetch)
{
	*reader = (struct sl_reader){.config = *config};
	sl_zfetch_init(&reader->zfetch, zfetch);
	sl_rng_init(&reader->rng, config->seed, "places on the cache");
	sl_slab_init(&reader->fetches, sizeof(struct sl_fetch));
	sl_slab_init(&reader->wants, sizeof(struct want));
}

void sl_reader_fini(struct sl_reader *reader)
{
	sl_zfetch_fini(&reader->zfetch);
	sl_slab_fini(&reader->fetches);
	sl_slab_fini(&reader->wants);
}
