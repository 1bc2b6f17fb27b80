/*
 * What a cut of the power takes from a disk: every write that somebody asked to follow carries a mark, and
 * the disk notes in it from when on the write outlives a cut. A disk with power-loss protection, or without a
 * cache, knows at completion; one with a volatile cache later, when the data has reached the medium or a
 * flush has covered it, or never. Marks form a tree: a mirror needs one of its parts, a stripe all.
 */
#ifndef SL_DEVICE_MARK_H
#define SL_DEVICE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/slab.h"

/* Why a write that is done can still be lost. */
enum sl_risk {
	SL_RISK_NONE,  /* what is done is safe */
	SL_RISK_CACHE, /* in a volatile cache until a flush */
	SL_RISK_LIAR,  /* in a volatile cache, and flushes are answered without being done */
	SL_RISK_MEMORY /* in memory that a cut empties: nothing makes it safe */
};

struct sl_mark {
	void *pool_link;
	int64_t done_ns; /* the disk says so; SL_NEVER = not within the run */
	int64_t safe_ns; /* from when on it outlives a cut; SL_NEVER = not within the run */
	struct sl_mark *parts, **parts_tail, *next;
	struct sl_mark *joined; /* shares its fate; NULL = its own */
	uint32_t joiners;       /* marks that share this one's */
	struct sl_slab *pool;
	uint16_t n, need; /* parts, and how many of them it takes */
	int16_t disk;     /* leaf: which of its vdev */
	bool log;         /* leaf: on a log vdev */
	bool unreached;   /* leaf: flushes end before the disk */
	bool abandoned;   /* nobody will ask for it */
	uint8_t risk;     /* leaf: an enum sl_risk */
};

/* A mark without parts, from `pool` (of struct sl_mark), where its parts will come from too. Freed with the
 * pool. */
struct sl_mark *sl_mark_new(struct sl_slab *pool);

/* Adds a part, which takes over disk, log and unreached. All parts are needed unless `need` is lowered
 * afterwards. NULL for NULL. */
struct sl_mark *sl_mark_part(struct sl_mark *mark);

/* Two neighbouring writes became one: what is noted in `leader` holds for `mark`. Accepts NULL for `mark`. */
void sl_mark_join(struct sl_mark *mark, struct sl_mark *leader);

/* For disks, all accept NULL. Done at done_ns, and safe then. */
void sl_mark_safe(struct sl_mark *mark, int64_t done_ns);
/* Done at done_ns, not yet safe. */
void sl_mark_at_risk(struct sl_mark *mark, int64_t done_ns, enum sl_risk risk);

/* Nobody will ask for it any more: it lets go of those whose fate it shares. */
void sl_mark_abandon(struct sl_mark *mark);

/* Nothing more will be noted in it, and no other mark needs it: every disk it went to has it on the medium,
 * or never will. */
bool sl_mark_is_settled(const struct sl_mark *mark);

/* Gives it and its parts back to the pool. Only of a mark that is settled, or that no disk has been given. */
void sl_mark_free(struct sl_mark *mark);

/* What happens to the disks. */
struct sl_cut {
	bool powered;      /* they keep their power: what is done stays */
	bool log_lost;     /* log devices do not come back */
	bool one_side_out; /* of every mirror among the log devices one side does not: the better one */
};

/* From when on the write is there after `cut`; SL_NEVER = never. */
int64_t sl_mark_kept_ns(const struct sl_mark *mark, const struct sl_cut *cut);

/* The disk that does not hold the write at `at_ns`: a leaf, NULL when none is to blame. */
const struct sl_mark *sl_mark_culprit(const struct sl_mark *mark, const struct sl_cut *cut, int64_t at_ns);

#endif
