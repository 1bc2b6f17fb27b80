#include "sim/datastore/undo.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/datastore/spans.h"

#define ZEROS_BYTES 65536u

struct sl_undo_write {
	void *pool_link;
	struct sl_undo_write *prev, *next;           /* of all files */
	struct sl_undo_write *file_prev, *file_next; /* of its file */
	struct sl_undo_file *file;
	uint64_t offset;
	uint8_t *old;   /* owned: what was there; NULL = zeros */
	uint32_t bytes; /* 0: it only says how long the file is */
	uint32_t id;    /* 0: stays */
	bool in_memory; /* the file does not have it yet */
};

void sl_undo_init(struct sl_undo *undo)
{
	*undo = (struct sl_undo){0};
	sl_slab_init(&undo->writes, sizeof(struct sl_undo_write));
}

static uint64_t end_of(const struct sl_undo_write *write)
{
	return write->offset + write->bytes;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void old_free(struct sl_undo *undo, struct sl_undo_write *write)
{
	undo->kept_bytes -= write->old ? write->bytes : 0;
	free(write->old);
	write->old = NULL;
}

static void detach(struct sl_undo *undo, struct sl_undo_write *write)
{
	struct sl_undo_file *file = write->file;

	*(write->prev ? &write->prev->next : &undo->first) = write->next;
	*(write->next ? &write->next->prev : &undo->last) = write->prev;
	*(write->file_prev ? &write->file_prev->file_next : &file->first) = write->file_next;
	*(write->file_next ? &write->file_next->file_prev : &file->last) = write->file_prev;
}

/* As the newest. */
static void attach(struct sl_undo *undo, struct sl_undo_write *write)
{
	struct sl_undo_file *file = write->file;

	write->prev = undo->last;
	write->file_prev = file->last;
	write->next = write->file_next = NULL;
	*(undo->last ? &undo->last->next : &undo->first) = write;
	*(file->last ? &file->last->file_next : &file->first) = write;
	undo->last = file->last = write;
}

static void unlink_write(struct sl_undo *undo, struct sl_undo_write *write)
{
	detach(undo, write);
	old_free(undo, write);
	undo->unnamed = undo->unnamed == write ? NULL : undo->unnamed;
	undo->count--;
	sl_slab_put(&undo->writes, write);
}

/* Nothing takes the oldest write away any more: it is part of what the file is without the others. */
static void keep_first(struct sl_undo *undo)
{
	struct sl_undo_file *file = undo->first->file;

	assert(file->first == undo->first);
	file->base_bytes = greater(file->base_bytes, end_of(undo->first));
	unlink_write(undo, undo->first);
}

void sl_undo_fini(struct sl_undo *undo)
{
	while (undo->first) {
		unlink_write(undo, undo->first);
	}
	sl_slab_fini(&undo->writes);
}

static struct sl_undo_write *append(struct sl_undo *undo, struct sl_undo_file *file, uint64_t offset,
				    uint32_t bytes)
{
	struct sl_undo_write *write = sl_slab_get(&undo->writes);

	*write = (struct sl_undo_write){.file = file, .offset = offset, .bytes = bytes};
	attach(undo, write);
	undo->count++;
	return write;
}

static bool is_zero(const uint8_t *bytes, uint32_t n)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* Holes and what lies behind the end cost no memory. */
static int keep_old(struct sl_undo *undo, struct sl_undo_write *write, sl_undo_read_fn *read, void *arg)
{
	uint8_t *old = write->bytes > 0 ? malloc(write->bytes) : NULL;
	int rc;

	write->in_memory = false;
	if (write->bytes == 0) {
		return 0;
	}
	if (!old) {
		return -ENOMEM;
	}
	rc = read(arg, write->file, write->offset, old, write->bytes);
	if (rc < 0 || is_zero(old, write->bytes)) {
		free(old);
		return rc;
	}
	write->old = old;
	undo->kept_bytes += write->bytes;
	return 0;
}

int sl_undo_note(struct sl_undo *undo, struct sl_undo_file *file, uint64_t size_bytes, uint64_t offset,
		 uint32_t bytes, sl_undo_read_fn *read, void *arg)
{
	struct sl_undo_write *write;
	int rc = 0;

	assert(bytes > 0);
	if (!file->first) {
		file->base_bytes = size_bytes;
	}
	write = append(undo, file, offset, bytes);
	write->in_memory = true;
	if (read) {
		rc = keep_old(undo, write, read, arg);
	}
	if (rc < 0) {
		unlink_write(undo, write);
		return rc;
	}
	undo->unnamed = write;
	while (undo->kept_bytes > SL_UNDO_MAX_BYTES || undo->count > SL_UNDO_MAX_WRITES) {
		keep_first(undo);
	}
	return 0;
}

int sl_undo_flush(struct sl_undo *undo, struct sl_undo_file *file, sl_undo_read_fn *read, void *arg)
{
	struct sl_undo_write *last = file->last, *next;
	int rc = 0;

	for (struct sl_undo_write *write = file->first; write && rc == 0; write = next) {
		next = write == last ? NULL : write->file_next;
		if (!write->in_memory) {
			continue;
		}
		rc = keep_old(undo, write, read, arg);
		/* It comes after whatever has been written to the file since it was in memory. */
		detach(undo, write);
		attach(undo, write);
	}
	return rc;
}

/* What lies behind the new end is no part of the write any more. */
static void cut_off(struct sl_undo *undo, struct sl_undo_write *write, uint64_t size_bytes)
{
	uint64_t kept = size_bytes > write->offset ? size_bytes - write->offset : 0;

	if (kept >= write->bytes) {
		return;
	}
	if (kept == 0) {
		old_free(undo, write);
		write->offset = size_bytes;
	} else if (write->old) {
		undo->kept_bytes -= write->bytes - kept;
	}
	write->bytes = (uint32_t)kept;
}

void sl_undo_resize(struct sl_undo *undo, struct sl_undo_file *file, uint64_t size_bytes)
{
	if (!file->first) {
		return;
	}
	for (struct sl_undo_write *write = file->first; write; write = write->file_next) {
		cut_off(undo, write, size_bytes);
	}
	file->base_bytes = file->base_bytes < size_bytes ? file->base_bytes : size_bytes;
	(void)append(undo, file, size_bytes, 0);
}

void sl_undo_forget(struct sl_undo *undo, struct sl_undo_file *file)
{
	while (file->first) {
		unlink_write(undo, file->first);
	}
}

void sl_undo_cancel(struct sl_undo *undo)
{
	if (undo && undo->unnamed) {
		unlink_write(undo, undo->unnamed);
	}
}

void sl_undo_name(struct sl_undo *undo, uint32_t id)
{
	if (undo && undo->unnamed) {
		undo->unnamed->id = id;
		undo->unnamed = NULL;
	}
}

void sl_undo_settle(struct sl_undo *undo, bool (*at_risk)(void *arg, uint32_t id), void *arg)
{
	while (undo->first && undo->first != undo->unnamed &&
	       (undo->first->id == 0 || !at_risk(arg, undo->first->id))) {
		keep_first(undo);
	}
}

/* What a cut leaves of a file. */
struct left {
	struct sl_spans written; /* by those that are still there, newer than the one that is looked at */
	uint64_t size_bytes;
};

static int put_back(const struct sl_undo_write *write, struct sl_byte_span span,
		    const struct sl_undo_sink *sink)
{
	static const uint8_t zeros[ZEROS_BYTES];
	int rc = 0;

	if (write->old) {
		return sink->write(sink->arg, write->file, span.from,
				   write->old + (span.from - write->offset), (uint32_t)(span.to - span.from));
	}
	while (rc == 0 && span.from < span.to) {
		uint64_t left = span.to - span.from;
		uint32_t bytes = left < ZEROS_BYTES ? (uint32_t)left : ZEROS_BYTES;

		rc = sink->write(sink->arg, write->file, span.from, zeros, bytes);
		span.from += bytes;
	}
	return rc;
}

/* All of it that is inside the file and that nobody has written after it. */
static int take_back(const struct left *left, const struct sl_undo_write *write,
		     const struct sl_undo_sink *sink)
{
	uint64_t at = write->offset,
		 end = end_of(write) < left->size_bytes ? end_of(write) : left->size_bytes;
	int rc = 0;

	while (rc == 0 && at < end) {
		struct sl_byte_span gap = sl_spans_gap(&left->written, at, end);

		rc = gap.from < gap.to ? put_back(write, gap, sink) : 0;
		at = gap.to;
	}
	return rc;
}

static int roll_back_file(struct sl_undo_file *file, bool (*is_gone)(void *arg, uint32_t id), void *arg,
			  const struct sl_undo_sink *sink)
{
	struct left left = {.size_bytes = file->base_bytes};
	int rc = 0, one;

	for (const struct sl_undo_write *write = file->first; write; write = write->file_next) {
		if (!write->in_memory && (write->id == 0 || !is_gone(arg, write->id))) {
			left.size_bytes = greater(left.size_bytes, end_of(write));
		}
	}
	for (const struct sl_undo_write *write = file->last; write; write = write->file_prev) {
		if (write->in_memory) {
			continue;
		}
		one = write->id != 0 && is_gone(arg, write->id)
			  ? take_back(&left, write, sink)
			  : sl_spans_add(&left.written, write->offset, end_of(write));
		rc = rc ? rc : one;
	}
	sl_spans_fini(&left.written);
	one = sink->resize(sink->arg, file, left.size_bytes);
	return rc ? rc : one;
}

int sl_undo_roll_back(struct sl_undo *undo, bool (*is_gone)(void *arg, uint32_t id), void *arg,
		      const struct sl_undo_sink *sink)
{
	int rc = 0;

	while (undo->first) {
		struct sl_undo_file *file = undo->first->file;
		int one = roll_back_file(file, is_gone, arg, sink);

		rc = rc ? rc : one;
		sl_undo_forget(undo, file);
	}
	return rc;
}
