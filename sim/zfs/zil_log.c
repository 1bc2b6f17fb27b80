/*
 * What becomes of a change in the log: in place or into the log, and in which parts (zfs_write,
 * zfs_log_write).
 *
 * zfs_write up to 2.1 goes from record to record and logs each part as a write of its own; since 2.2 it logs
 * a write as a whole. A write goes in place with logbias=throughput, or when it has 32 KiB and more (0.6.3:
 * more) and there is no log device; then each of its records has a log record. 2.4 (zil_write_state) spares
 * records of which a synchronous write covers less than half, and takes special vdevs for log devices.
 */
#include "sim/zfs/zil_inner.h"

#define INDIRECT_FROM 32768u /* zfs_immediate_write_sz */
#define PART_2014 65536u     /* of a write that no block holds: SPA_MAXBLOCKSIZE / 2 */
#define COPIED_MAX_21 65152u /* zil_max_copied_data: (128 KiB - 192) / 2 - 192, in sectors */
#define COPIED_MAX_23 7680u  /* zil_maxcopied since 2.2 */

/* How many bytes of a write from `offset_bytes` on are in one record. */
static uint32_t in_record(const struct sl_zil *zil, int64_t offset_bytes, uint32_t bytes)
{
	uint32_t size = zil->config.recordsize_bytes, room = size - (uint32_t)(offset_bytes % size);

	return bytes < room ? bytes : room;
}

static bool is_indirect(const struct sl_zil *zil, uint32_t bytes, bool sync)
{
	const struct sl_zil_config *config = &zil->config;

	if (bytes == 0 || config->throughput) {
		return bytes > 0;
	}
	if (config->has_slog || bytes < INDIRECT_FROM + (config->generation == SL_ZIL_2014 ? 1u : 0u)) {
		return false;
	}
	if (config->generation >= SL_ZIL_24) {
		return (!sync || bytes >= config->recordsize_bytes / 2) &&
		       (!config->special || config->records == config->special);
	}
	return true;
}

static bool is_copied(const struct sl_zil *zil, uint32_t bytes, bool sync)
{
	switch (zil->config.generation) {
	case SL_ZIL_2014:
		return sync;
	case SL_ZIL_20:
	case SL_ZIL_21:
		return sync && bytes <= COPIED_MAX_21;
	case SL_ZIL_22:
	case SL_ZIL_23:
	case SL_ZIL_24:
		break;
	}
	return sync && bytes <= COPIED_MAX_23;
}

/* zfs_log_write */
static void log_write(struct sl_zil *zil, const struct sl_zil_change *change, int64_t offset_bytes,
		      uint32_t bytes, bool sync)
{
	struct sl_zil_itx itx = {.file = change->file, .txg = change->txg, .write = change->write};

	itx.hole = change->hole;
	itx.indirect = !change->meta && is_indirect(zil, bytes, sync);
	itx.copied = !itx.indirect && is_copied(zil, bytes, sync);
	do {
		uint32_t part = bytes;

		if (itx.indirect) {
			part = in_record(zil, offset_bytes, bytes);
		} else if (zil->config.generation == SL_ZIL_2014 && bytes > SL_ZIL_MAX_DATA) {
			part = PART_2014;
		}
		if (itx.indirect) {
			itx.record = (uint64_t)offset_bytes / zil->config.recordsize_bytes;
		}
		itx.bytes = itx.indirect ? 0 : part;
		*sl_zil_add(zil, sync) = itx;
		sl_zil_space_take(&zil->wrlog, itx.txg,
				  change->meta ? 0 : itx.bytes); /* dsl_pool_wrlog_count */
		offset_bytes += part;
		bytes -= part;
	} while (bytes > 0);
}

void sl_zil_log(struct sl_zil *zil, const struct sl_zil_change *change, bool sync)
{
	uint32_t left = change->bytes;
	int64_t offset_bytes = change->offset_bytes;

	do {
		uint32_t part = left;

		if (zil->config.generation <= SL_ZIL_21) {
			part = in_record(zil, offset_bytes, left);
		}
		log_write(zil, change, offset_bytes, part, sync);
		offset_bytes += part;
		left -= part;
	} while (left > 0);
}
