#include "sim/device/smr.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/device/kinds.h"

#define IDLE_NS INT64_C(1000000000) /* after which the drive cleans; assumed: it does so aggressively */

int sl_smr_init(struct sl_smr *smr, const struct sl_media *media)
{
	const struct sl_dev_spec *spec = media->spec;

	*smr = (struct sl_smr){.media = media, .stream_end = -1};
	if (spec->smr_band_bytes <= 0 || spec->smr_cache_bytes <= 0) {
		return 0;
	}
	smr->band_bytes = (int64_t)spec->smr_band_bytes;
	smr->cache_bytes = (int64_t)spec->smr_cache_bytes;
	smr->n_bands = (int64_t)spec->capacity_bytes / smr->band_bytes + 1;
	smr->pending = calloc((size_t)smr->n_bands, sizeof(*smr->pending));
	smr->dirty = calloc((size_t)smr->n_bands, sizeof(*smr->dirty));
	return smr->pending && smr->dirty ? 0 : -ENOMEM;
}

void sl_smr_fini(struct sl_smr *smr)
{
	free(smr->pending);
	free(smr->dirty);
}

/* Moves the head to a range and reads or writes it. */
static int64_t pass(const struct sl_smr *smr, int64_t at_ns, int64_t *head, int64_t start, int64_t end,
		    bool write)
{
	at_ns += sl_media_position_ns(smr->media, at_ns, *head, start, write);
	*head = end;
	return at_ns + sl_transfer_ns(end - start, sl_media_rate(smr->media, start));
}

/* Reads the band that waits longest and writes it anew. */
static int64_t clean(struct sl_smr *smr, int64_t at_ns, int64_t *head)
{
	int64_t band = smr->dirty[smr->first_dirty], start = band * smr->band_bytes,
		end = start + smr->band_bytes;

	smr->first_dirty = (smr->first_dirty + 1) % smr->n_bands;
	smr->n_dirty--;
	smr->used_bytes -= smr->pending[band];
	smr->pending[band] = 0;
	at_ns = pass(smr, at_ns, head, start, end, false);
	return pass(smr, at_ns, head, start, end, true);
}

/* Appends to the log what belongs to the band of `start`. */
static int64_t append(struct sl_smr *smr, int64_t at_ns, int64_t *head, int64_t start, int64_t bytes)
{
	int64_t band = start / smr->band_bytes, log = smr->log_bytes;

	if (smr->pending[band] == 0) {
		smr->dirty[(smr->first_dirty + smr->n_dirty++) % smr->n_bands] = (int32_t)band;
	}
	smr->pending[band] += bytes;
	smr->used_bytes += bytes;
	log = log + bytes > smr->cache_bytes ? 0 : log;
	smr->log_bytes = log + bytes;
	return pass(smr, at_ns, head, log, log + bytes, true);
}

int64_t sl_smr_write(struct sl_smr *smr, int64_t at_ns, int64_t *head, int64_t start, int64_t end)
{
	bool streams = start == smr->stream_end;

	smr->cleaning = false;
	smr->stream_end = end;
	if (streams) {
		return pass(smr, at_ns, head, start, end, true);
	}
	while (smr->n_dirty > 0 && smr->used_bytes + end - start > smr->cache_bytes) {
		at_ns = clean(smr, at_ns, head);
	}
	return append(smr, at_ns, head, start, end - start);
}

int64_t sl_smr_idle(struct sl_smr *smr, int64_t idle_ns, int64_t now_ns, int64_t *head)
{
	int64_t begin_ns = idle_ns + (smr->cleaning ? 0 : IDLE_NS);

	if (smr->n_dirty == 0 || begin_ns > now_ns) {
		return -1;
	}
	smr->cleaning = true;
	return clean(smr, begin_ns, head);
}
