/*
 * Records of the open txg that the log has already written to their final place (dr_override_state of
 * dmu_sync): the txg only points to them, unless they change again.
 */
#ifndef SL_ZFS_PLACED_H
#define SL_ZFS_PLACED_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/zfs/keyset.h"

struct sl_placed {
	struct sl_keyset records;
	uint64_t txg; /* the open one */
};

void sl_placed_fini(struct sl_placed *placed);

/* The log is about to write a record in place for a change of `txg`. False: it is there already. A record
 * whose txg is no longer open is written in any case, and its txg writes it, too (dmu_sync_late_arrival). */
bool sl_placed_add(struct sl_placed *placed, uint64_t txg, uint64_t file, uint64_t record);

/* The record changes again. True: it was in place, and no longer is (dbuf_unoverride). */
bool sl_placed_drop(struct sl_placed *placed, uint64_t file, uint64_t record);

/* The open txg closes and `next` is open. Returns how many of its records are in place. */
uint32_t sl_placed_close(struct sl_placed *placed, uint64_t next);

#endif
