#include "sim/device/mark.h"

#include "sim/base/loop.h"

#define PARTS_MAX 64 /* as many disks as a vdev has, and more */

struct sl_mark *sl_mark_new(struct sl_slab *pool)
{
	struct sl_mark *mark = sl_slab_get(pool);

	*mark = (struct sl_mark){.done_ns = SL_NEVER, .safe_ns = SL_NEVER, .pool = pool};
	mark->parts_tail = &mark->parts;
	return mark;
}

struct sl_mark *sl_mark_part(struct sl_mark *mark)
{
	struct sl_mark *part;

	if (!mark) {
		return NULL;
	}
	part = sl_mark_new(mark->pool);
	part->disk = mark->disk;
	part->log = mark->log;
	part->unreached = mark->unreached;
	*mark->parts_tail = part;
	mark->parts_tail = &part->next;
	mark->n++;
	mark->need++;
	return part;
}

void sl_mark_join(struct sl_mark *mark, struct sl_mark *leader)
{
	if (mark && mark->abandoned && mark != leader) {
		mark->done_ns = mark->safe_ns = 0; /* no disk will know it */
	} else if (mark && leader && mark != leader) {
		mark->joined = leader;
		leader->joiners++;
	}
}

void sl_mark_safe(struct sl_mark *mark, int64_t done_ns)
{
	if (mark) {
		mark->done_ns = mark->safe_ns = done_ns;
	}
}

void sl_mark_at_risk(struct sl_mark *mark, int64_t done_ns, enum sl_risk risk)
{
	if (mark) {
		mark->done_ns = done_ns;
		mark->risk = (uint8_t)risk;
	}
}

void sl_mark_abandon(struct sl_mark *mark)
{
	mark->abandoned = true;
	if (mark->joined) {
		mark->joined->joiners--;
		mark->joined = NULL;
		mark->done_ns = mark->safe_ns = 0; /* no disk knows it */
	}
	for (struct sl_mark *part = mark->parts; part; part = part->next) {
		sl_mark_abandon(part);
	}
}

bool sl_mark_is_settled(const struct sl_mark *mark)
{
	if (mark->joiners > 0 || mark->joined) {
		return false;
	}
	if (!mark->parts) {
		return mark->safe_ns != SL_NEVER || mark->risk == SL_RISK_MEMORY;
	}
	for (const struct sl_mark *part = mark->parts; part; part = part->next) {
		if (!sl_mark_is_settled(part)) {
			return false;
		}
	}
	return true;
}

void sl_mark_free(struct sl_mark *mark)
{
	for (struct sl_mark *part = mark->parts, *next; part; part = next) {
		next = part->next;
		sl_mark_free(part);
	}
	sl_slab_put(mark->pool, mark);
}

/* Times of the parts, in rising order; returns how many. */
static int sorted_parts(const struct sl_mark *mark, const struct sl_cut *cut, int64_t *times)
{
	int n = 0;

	for (const struct sl_mark *part = mark->parts; part && n < PARTS_MAX; part = part->next) {
		int64_t kept_ns = sl_mark_kept_ns(part, cut);
		int at = n++;

		while (at > 0 && times[at - 1] > kept_ns) {
			times[at] = times[at - 1];
			at--;
		}
		times[at] = kept_ns;
	}
	return n;
}

/* Some of the parts will do. */
static int64_t mirror_kept_ns(const struct sl_mark *mark, const struct sl_cut *cut)
{
	int64_t times[PARTS_MAX];
	int n = sorted_parts(mark, cut, times), need = mark->need + (cut->one_side_out && mark->log);

	return need <= n ? times[need - 1] : SL_NEVER;
}

/* All parts are needed, any number of them. */
static int64_t stripe_kept_ns(const struct sl_mark *mark, const struct sl_cut *cut)
{
	int64_t latest_ns = 0;

	for (const struct sl_mark *part = mark->parts; part; part = part->next) {
		int64_t kept_ns = sl_mark_kept_ns(part, cut);

		latest_ns = kept_ns > latest_ns ? kept_ns : latest_ns;
	}
	return latest_ns;
}

int64_t sl_mark_kept_ns(const struct sl_mark *mark, const struct sl_cut *cut)
{
	while (mark->joined) {
		mark = mark->joined;
	}
	if (mark->parts) {
		return mark->need < mark->n ? mirror_kept_ns(mark, cut) : stripe_kept_ns(mark, cut);
	}
	if (cut->log_lost && mark->log) {
		return SL_NEVER;
	}
	return cut->powered ? mark->done_ns : mark->safe_ns;
}

const struct sl_mark *sl_mark_culprit(const struct sl_mark *mark, const struct sl_cut *cut, int64_t at_ns)
{
	const struct sl_mark *culprit = NULL;

	if (sl_mark_kept_ns(mark, cut) <= at_ns) {
		return NULL;
	}
	if (mark->joined) {
		return sl_mark_culprit(mark->joined, cut, at_ns);
	}
	if (!mark->parts) {
		return mark->done_ns <= at_ns ? mark : NULL;
	}
	for (const struct sl_mark *part = mark->parts; part && !culprit; part = part->next) {
		culprit = sl_mark_culprit(part, cut, at_ns);
	}
	return culprit;
}
