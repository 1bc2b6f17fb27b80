/*
 * Timers that wait, ordered by (due, arming order). Internal to sim/base: what the loop keeps them in.
 *
 * A few of them are a list with the earliest last: taking it is a decrement, and a new one, which most often
 * is due soon, passes by the few that are due before it. It is the youngest, so that equal due times need no
 * second look. Many are a 4-ary heap. Both hold copies of the due times: ordering touches no timer. Entries
 * have no back-pointers; taking one out of the middle scans, which is cheaper than keeping an index up to
 * date as long as that happens to small loops.
 */
#ifndef SL_BASE_PENDING_H
#define SL_BASE_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/loop.h"

struct sl_pending_slot {
	uint64_t seq; /* arming order */
	struct sl_timer *timer;
};

/* Due times apart from the rest: ordering compares hardly anything else. */
struct sl_pending {
	int64_t *due;
	struct sl_pending_slot *slot;
	size_t count, capacity;
	size_t few; /* the list's limit; 0: it is a heap, or has no memory yet */
	bool
	    vacant; /* heap: the top has been taken; its key stays, below all others, until that is settled */
};

/* Frees the set, not the timers. A set that is all zero is empty. */
void sl_pending_fini(struct sl_pending *pending);

/* Where the earliest is; not in an empty set. */
static inline size_t sl_pending_top(const struct sl_pending *pending)
{
	return pending->few > 0 ? pending->count - 1 : 0;
}

/* Due time of the earliest, SL_NEVER when there is none. */
static inline int64_t sl_pending_due(const struct sl_pending *pending)
{
	return pending->count > 0 ? pending->due[sl_pending_top(pending)] : SL_NEVER;
}

/* As sl_pending_add; makes room, or a heap. */
bool sl_pending_add_many(struct sl_pending *pending, int64_t due_ns, struct sl_pending_slot slot);

/* Adds an entry that is younger than all others. false: no memory. */
static inline bool sl_pending_add(struct sl_pending *pending, int64_t due_ns, struct sl_pending_slot slot)
{
	size_t at = pending->count;

	if (at >= pending->few) {
		return sl_pending_add_many(pending, due_ns, slot);
	}
	for (; at > 0 && pending->due[at - 1] <= due_ns; at--) {
		pending->due[at] = pending->due[at - 1];
		pending->slot[at] = pending->slot[at - 1];
	}
	pending->due[at] = due_ns;
	pending->slot[at] = slot;
	pending->count++;
	return true;
}

/* Takes the earliest, which is there. Its callback may add and remove others; then sl_pending_settle follows.
 * In a heap the first one added takes over the top: the usual "fire, then arm the next one" costs one sift
 * instead of two. */
static inline struct sl_timer *sl_pending_take(struct sl_pending *pending)
{
	if (pending->few > 0) {
		return pending->slot[--pending->count].timer;
	}
	pending->vacant = true;
	return pending->slot[0].timer;
}

/* Closes the gap that nobody took. */
void sl_pending_close(struct sl_pending *pending);

static inline void sl_pending_settle(struct sl_pending *pending)
{
	if (pending->vacant) {
		sl_pending_close(pending);
	}
}

/* Takes out a timer that is in the set. */
void sl_pending_remove(struct sl_pending *pending, const struct sl_timer *timer);

#endif
