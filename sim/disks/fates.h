/*
 * Marks of writes on their way to a medium (sim/device/mark.h), for a server without end: a mark is used
 * again when no disk will note in it any more, which may be long after its write has ceased to matter.
 */
#ifndef SL_DISKS_FATES_H
#define SL_DISKS_FATES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/device/mark.h"

/* At a time, of one disk: more than its cache in memory has pages. */
#define SL_FATES_MAX 131072u

struct sl_fates {
	struct sl_slab marks;
	uint32_t count;
	struct sl_mark *orphans; /* returned, but not settled */
};

void sl_fates_init(struct sl_fates *fates);
/* Only when the disks are gone. */
void sl_fates_fini(struct sl_fates *fates);

/* NULL: too many. */
struct sl_mark *sl_fates_take(struct sl_fates *fates);
/* Accepts NULL. */
void sl_fates_return(struct sl_fates *fates, struct sl_mark *mark);
/* Looks which of those that were returned are settled by now. */
void sl_fates_sweep(struct sl_fates *fates);

/* Is this the mark of a request that is done and was never given to a disk? */
bool sl_fate_is_unseen(const struct sl_mark *mark);

#endif
