#include "sim/disks/fates.h"

#include "sim/base/loop.h"

void sl_fates_init(struct sl_fates *fates)
{
	*fates = (struct sl_fates){0};
	sl_slab_init(&fates->marks, sizeof(struct sl_mark));
}

void sl_fates_fini(struct sl_fates *fates)
{
	sl_slab_fini(&fates->marks);
}

struct sl_mark *sl_fates_take(struct sl_fates *fates)
{
	if (fates->count >= SL_FATES_MAX) {
		return NULL;
	}
	fates->count++;
	return sl_mark_new(&fates->marks);
}

bool sl_fate_is_unseen(const struct sl_mark *mark)
{
	return !mark->parts && mark->done_ns == SL_NEVER;
}

void sl_fates_return(struct sl_fates *fates, struct sl_mark *mark)
{
	if (!mark) {
		return;
	}
	if (sl_fate_is_unseen(mark) || sl_mark_is_settled(mark)) {
		sl_mark_free(mark);
		fates->count--;
	} else {
		mark->next = fates->orphans;
		fates->orphans = mark;
	}
}

void sl_fates_sweep(struct sl_fates *fates)
{
	struct sl_mark *orphan = fates->orphans;

	fates->orphans = NULL;
	for (struct sl_mark *next; orphan; orphan = next) {
		next = orphan->next;
		sl_fates_return(fates, orphan);
	}
}
