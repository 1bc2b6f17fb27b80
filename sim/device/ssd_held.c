/*
 * What a cut takes from an SSD. The model programs the flash as fast as it can, but nothing obliges a drive
 * to: without power-loss protection a write is safe once a flush has covered it, or when as much as the
 * buffer holds was written after it; with the cache off, when it is done.
 */
#include <stdlib.h>

#include "sim/base/oom.h"
#include "sim/device/ssd_inner.h"

static void hold(struct sl_ssd *ssd, struct sl_mark *mark, int64_t done_ns)
{
	int64_t until_bytes = ssd->dev.stats.bytes_written + (int64_t)ssd->spec.buffer_bytes;

	if (ssd->held_end == ssd->held_room) {
		uint32_t n = ssd->held_end - ssd->held_first, room = n < 32 ? 64 : 2 * n;
		struct sl_ssd_held *held = malloc(room * sizeof(*held));

		if (!held) {
			sl_oom();
		}
		for (uint32_t i = 0; i < n; i++) {
			held[i] = ssd->held[ssd->held_first + i];
		}
		free(ssd->held);
		ssd->held = held;
		ssd->held_first = 0;
		ssd->held_end = n;
		ssd->held_room = room;
	}
	sl_mark_at_risk(mark, done_ns, ssd->spec.flush_ignored != 0 ? SL_RISK_LIAR : SL_RISK_CACHE);
	ssd->held[ssd->held_end++] = (struct sl_ssd_held){mark, until_bytes};
}

/* A flush that began at now_ns is done at done_ns: what was done before it is safe. */
static void release(struct sl_ssd *ssd, int64_t now_ns, int64_t done_ns)
{
	uint32_t kept = ssd->held_first;

	for (uint32_t i = ssd->held_first; i < ssd->held_end; i++) {
		if (ssd->held[i].mark->done_ns <= now_ns) {
			ssd->held[i].mark->safe_ns = done_ns;
		} else {
			ssd->held[kept++] = ssd->held[i];
		}
	}
	ssd->held_end = kept;
}

void sl_ssd_note(struct sl_ssd *ssd, int64_t start_ns, const struct sl_dev_req *req, int64_t done_ns)
{
	switch (req->op) {
	case SL_DEV_READ:
		return;
	case SL_DEV_FLUSH:
		if (ssd->spec.flush_ignored == 0) {
			release(ssd, start_ns, done_ns);
		}
		return;
	case SL_DEV_WRITE:
		break;
	}
	while (ssd->held_first < ssd->held_end &&
	       ssd->held[ssd->held_first].until_bytes < ssd->dev.stats.bytes_written) {
		ssd->held[ssd->held_first++].mark->safe_ns = done_ns;
	}
	if (ssd->spec.plp != 0 || ssd->spec.cache_off || (req->fua && ssd->spec.flush_ignored == 0)) {
		sl_mark_safe(req->mark, done_ns);
	} else if (req->mark) {
		hold(ssd, req->mark, done_ns);
	}
}
