#include "sim/zfs/zfetch.h"

#include <stdlib.h>

#include "sim/base/oom.h"

#define REAP_NS INT64_C(2000000000)  /* zfetch_max_sec_reap: streams this long without a hit are gone */
#define REUSE_NS INT64_C(1000000000) /* zfetch_min_sec_reap: and may be gone before, when room is needed */
#define FILES_MAX 4096               /* files whose streams are known */

struct sl_zfetch_file {
	void *pool_link;
	uint64_t file;
	int n;
	struct sl_zfetch_stream streams[SL_ZFETCH_STREAMS];
};

static uint32_t slot_of(const struct sl_zfetch *zfetch, uint64_t file)
{
	uint32_t at = (uint32_t)((file * 0x9e3779b97f4a7c15ULL) >> 32) & (zfetch->room - 1);

	while (zfetch->slots[at] && zfetch->slots[at]->file != file) {
		at = (at + 1) & (zfetch->room - 1);
	}
	return at;
}

/* Forgets all streams: there are more files than this model follows. */
static void forget(struct sl_zfetch *zfetch)
{
	for (uint32_t i = 0; i < zfetch->room; i++) {
		if (zfetch->slots[i]) {
			sl_slab_put(&zfetch->files, zfetch->slots[i]);
			zfetch->slots[i] = NULL;
		}
	}
	zfetch->count = 0;
}

static void grow(struct sl_zfetch *zfetch)
{
	struct sl_zfetch_file **old = zfetch->slots;
	uint32_t room = zfetch->room;

	zfetch->room = room ? 2 * room : 64;
	zfetch->slots = calloc(zfetch->room, sizeof(*zfetch->slots));
	if (!zfetch->slots) {
		sl_oom();
	}
	for (uint32_t i = 0; i < room; i++) {
		if (old[i]) {
			zfetch->slots[slot_of(zfetch, old[i]->file)] = old[i];
		}
	}
	free(old);
}

static struct sl_zfetch_file *find(const struct sl_zfetch *zfetch, uint64_t file)
{
	return zfetch->room > 0 ? zfetch->slots[slot_of(zfetch, file)] : NULL;
}

static struct sl_zfetch_file *find_or_add(struct sl_zfetch *zfetch, uint64_t file)
{
	struct sl_zfetch_file *found = find(zfetch, file);

	if (found) {
		return found;
	}
	if (zfetch->count == FILES_MAX) {
		forget(zfetch);
	}
	if (2 * zfetch->count >= zfetch->room) {
		grow(zfetch);
	}
	found = sl_slab_get(&zfetch->files);
	found->file = file;
	found->n = 0;
	zfetch->slots[slot_of(zfetch, file)] = found;
	zfetch->count++;
	return found;
}

static bool gives_way(const struct sl_zfetch_config *config, const struct sl_zfetch_stream *stream,
		      int64_t now_ns)
{
	if (!config->unhit_give_way) {
		return false;
	}
	return stream->distance_bytes == 0 || now_ns - stream->used_ns > REUSE_NS;
}

/* A place for one more stream, NULL when there is none. */
static struct sl_zfetch_stream *new_stream(const struct sl_zfetch_config *config, struct sl_zfetch_file *file,
					   int64_t now_ns)
{
	struct sl_zfetch_stream *oldest = NULL;
	int kept = 0;

	for (int i = 0; i < file->n; i++) {
		if (now_ns - file->streams[i].used_ns <= REAP_NS) {
			file->streams[kept++] = file->streams[i];
		}
	}
	file->n = kept;
	if (file->n < SL_ZFETCH_STREAMS) {
		return &file->streams[file->n++];
	}
	for (int i = 0; i < file->n; i++) {
		struct sl_zfetch_stream *stream = &file->streams[i];

		if (gives_way(config, stream, now_ns) && (!oldest || stream->used_ns < oldest->used_ns)) {
			oldest = stream;
		}
	}
	return oldest;
}

static int64_t grown(const struct sl_zfetch_config *config, const struct sl_zfetch_stream *stream,
		     int64_t access_bytes)
{
	int64_t distance = stream->distance_bytes;

	if (distance < access_bytes) {
		distance = access_bytes;
	} else if (distance < config->double_bytes) {
		distance *= 2;
	} else if (stream->late) {
		distance += distance / 8;
	}
	return distance < config->max_bytes ? distance : config->max_bytes;
}

/* The first record the stream has brought that is still in memory. */
static uint64_t held_from(const struct sl_zfetch_config *config, const struct sl_zfetch_stream *stream)
{
	uint64_t keep = (uint64_t)(config->keep_bytes / config->record_bytes);

	return stream->next > stream->first + keep ? stream->next - keep : stream->first;
}

/* The reader has come to `next`: what to ask for now. */
static void advance(const struct sl_zfetch_config *config, struct sl_zfetch_stream *stream, uint64_t next,
		    struct sl_zfetch_plan *plan)
{
	int64_t access_bytes = (int64_t)(next - stream->next) * config->record_bytes;
	uint64_t end;

	stream->distance_bytes = grown(config, stream, access_bytes);
	stream->late = false;
	stream->next = next;
	end = next + (uint64_t)(stream->distance_bytes / config->record_bytes);
	plan->first = stream->end > next ? stream->end : next;
	plan->end = end > plan->first ? end : plan->first;
	stream->end = plan->end;
}

struct sl_zfetch_plan sl_zfetch_access(struct sl_zfetch *zfetch, int64_t now_ns, uint64_t file,
				       uint64_t first, uint64_t n)
{
	const struct sl_zfetch_config *config = &zfetch->config;
	struct sl_zfetch_file *known = find_or_add(zfetch, file);
	struct sl_zfetch_stream *stream;
	struct sl_zfetch_plan plan = {0};

	for (int i = 0; i < known->n; i++) {
		stream = &known->streams[i];
		plan.held_first = held_from(config, stream);
		if (first < plan.held_first || first > stream->next) {
			continue;
		}
		plan.sequential = true;
		plan.held_end = stream->end;
		stream->used_ns = now_ns;
		if (first + n > stream->next) {
			advance(config, stream, first + n, &plan);
		}
		return plan;
	}
	plan.held_first = 0;
	stream = new_stream(config, known, now_ns);
	if (stream) {
		*stream = (struct sl_zfetch_stream){
		    .first = first, .next = first + n, .end = first + n, .used_ns = now_ns};
	}
	return plan;
}

void sl_zfetch_arrived(struct sl_zfetch *zfetch, uint64_t file, uint64_t record)
{
	struct sl_zfetch_file *known = find(zfetch, file);

	for (int i = 0; known && i < known->n; i++) {
		struct sl_zfetch_stream *stream = &known->streams[i];

		stream->late |= record >= stream->first && record < stream->next;
	}
}

void sl_zfetch_init(struct sl_zfetch *zfetch, const struct sl_zfetch_config *config)
{
	*zfetch = (struct sl_zfetch){.config = *config};
	sl_slab_init(&zfetch->files, sizeof(struct sl_zfetch_file));
}

void sl_zfetch_fini(struct sl_zfetch *zfetch)
{
	free(zfetch->slots);
	sl_slab_fini(&zfetch->files);
}
