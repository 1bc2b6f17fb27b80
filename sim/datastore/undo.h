/*
 * What a cut of the power may still take from the files of a datastore. A modelled disk may lose what the
 * files below the datastore already have: each write that goes to a file leaves here what it overwrote, until
 * the model says that no later cut can take it (promises.h). After a cut the writes that are gone are taken
 * back: newest first, except where a newer one that is still there has written.
 *
 * Names are not taken back: a file that was made stays, as long as the writes that are still there have made
 * it.
 */
#ifndef SL_DATASTORE_UNDO_H
#define SL_DATASTORE_UNDO_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/slab.h"

/* So much of what was overwritten is kept; beyond it the oldest write counts as on its disk. */
#define SL_UNDO_MAX_BYTES (256ull << 20)
#define SL_UNDO_MAX_WRITES (1u << 19)

struct sl_undo_write;

/* The writes of one file, oldest first. Embedded in it; zero-initialise. */
struct sl_undo_file {
	struct sl_undo_write *first, *last;
	uint64_t base_bytes; /* its length without them */
};

struct sl_undo {
	struct sl_slab writes;
	struct sl_undo_write *first, *last; /* of all files, oldest first */
	struct sl_undo_write *unnamed;      /* the latest, while nobody has named it */
	uint64_t kept_bytes;
	uint32_t count;
};

/* Reads what the file has now: zeros beyond its end. Returns 0 or a negative errno. */
typedef int sl_undo_read_fn(void *arg, struct sl_undo_file *file, uint64_t offset, uint8_t *buf,
			    uint32_t bytes);

/* How a file is set back. Return 0 or a negative errno. */
struct sl_undo_sink {
	int (*write)(void *arg, struct sl_undo_file *file, uint64_t offset, const uint8_t *buf,
		     uint32_t bytes);
	int (*resize)(void *arg, struct sl_undo_file *file, uint64_t size_bytes);
	void *arg;
};

void sl_undo_init(struct sl_undo *undo);
void sl_undo_fini(struct sl_undo *undo);

/* `file`, now size_bytes long on the host, is about to be written. `read` is asked at once for what is
 * overwritten; NULL: the data stays in memory until sl_undo_flush. -ENOMEM, or an error of `read`. */
int sl_undo_note(struct sl_undo *undo, struct sl_undo_file *file, uint64_t size_bytes, uint64_t offset,
		 uint32_t bytes, sl_undo_read_fn *read, void *arg);
/* The data of the file that was only in memory is about to be written. */
int sl_undo_flush(struct sl_undo *undo, struct sl_undo_file *file, sl_undo_read_fn *read, void *arg);
/* The file has got another length; what was beyond it is not taken back any more. */
void sl_undo_resize(struct sl_undo *undo, struct sl_undo_file *file, uint64_t size_bytes);
/* The write that was noted last has failed. Accepts NULL for `undo`. */
void sl_undo_cancel(struct sl_undo *undo);
/* The file leaves, and its writes with it. */
void sl_undo_forget(struct sl_undo *undo, struct sl_undo_file *file);

/* The write that was noted last is number `id` (above 0) of those that the model follows. One that is never
 * named stays. Accepts NULL for `undo`. */
void sl_undo_name(struct sl_undo *undo, uint32_t id);
/* Drops the oldest writes, up to the first that a cut may still take. */
void sl_undo_settle(struct sl_undo *undo, bool (*at_risk)(void *arg, uint32_t id), void *arg);

/* Takes back the writes whose numbers `is_gone` knows, and forgets all of them. Returns 0 or the first error:
 * the rest is taken back all the same. */
int sl_undo_roll_back(struct sl_undo *undo, bool (*is_gone)(void *arg, uint32_t id), void *arg,
		      const struct sl_undo_sink *sink);

#endif
