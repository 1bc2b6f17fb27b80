/* Private to the room: what the generations of the intent log share. */
#ifndef SL_ZFS_ZIL_INNER_H
#define SL_ZFS_ZIL_INNER_H

#include "sim/zfs/zil.h"

#define SL_ZIL_CHAIN_HEADER 192u /* zil_chain_t */
#define SL_ZIL_WRITE_HEADER 192u /* lr_write_t */
#define SL_ZIL_SLIM_ROUND 4096u  /* what is written of a block is a multiple of this */
#define SL_ZIL_MAX_BLOCK 131072u /* zil_maxblocksize */
#define SL_ZIL_MAX_DATA (SL_ZIL_MAX_BLOCK - SL_ZIL_CHAIN_HEADER - SL_ZIL_WRITE_HEADER)

/* A new record, for the caller to fill in, of those that go out with the next commit, or when their file is
 * committed. Valid until the next one is added. */
struct sl_zil_itx *sl_zil_add(struct sl_zil *zil, bool sync);

/* 2.1 and later: adds a commit, which waits for all before it. */
void sl_zil_add_commit(struct sl_zil *zil, struct sl_zil_waiter *waiter);

/* Must the data of an indirect record be written in place now? Then that is noted. Not if it is there already
 * (dmu_sync: EALREADY), and nothing is stored of a hole. */
bool sl_zil_place(struct sl_zil *zil, const struct sl_zil_itx *itx);

/* Must the record pass the write throttle? Its txg is syncing, so that its data is written once more, beside
 * it, in a transaction of its own (dmu_sync_late_arrival). */
bool sl_zil_is_late(const struct sl_zil *zil, const struct sl_zil_itx *itx);

/* Where a log block of `bytes` goes now (zio_alloc_zil): the log vdevs while one works and they have room, in
 * 2.4 the special vdevs, else the data vdevs. */
struct sl_vdev *sl_zil_target(const struct sl_zil *zil, int64_t bytes);

/* The block is allocated there; `txg`: of its last record. Returns whether it is one for the embedded log. */
bool sl_zil_allocate(struct sl_zil *zil, struct sl_vdev *target, uint64_t txg, int64_t bytes);

/* Bytes written to `target` of a block of which used_bytes are filled: raidz writes whole blocks. */
uint32_t sl_zil_written_bytes(const struct sl_vdev *target, uint32_t block_bytes, uint32_t used_bytes);

/* Flushes the vdevs of `target`, of `other` (NULL: none), and the data vdevs when records were written
 * `in_place` there. Fires flush->done, perhaps at once. */
void sl_zil_flush(const struct sl_zil *zil, int64_t now_ns, struct sl_zil_flush *flush,
		  struct sl_vdev *target, struct sl_vdev *other, bool in_place, uint64_t tag);

/* Physical size of a record written in place. */
int64_t sl_zil_record_bytes(const struct sl_zil *zil);

/* The CPU has done its part of a commit: other threads take over, which takes commit_delay_ns, then
 * zil->hand_off or a block's fires. `tag`: for the trace. */
void sl_zil_hand_off(struct sl_zil *zil, int64_t now_ns, struct sl_timer *hand_off, uint64_t tag);

/* Fires a list of waiters; `failed`: their log block was lost. */
void sl_zil_wake(struct sl_zil *zil, int64_t now_ns, struct sl_zil_waiter *waiter, bool failed);

/* 2.1 and 2.3 (zil_size.c). Size of the block after the one that is issued now. */
uint32_t sl_zil_next_size(struct sl_zil *zil);

/* zil_max_waste_space: so much may stay unused at the end of a block. */
uint32_t sl_zil_max_waste(const struct sl_zil *zil);

/* How much of `data` goes into a block with so much room. A record that is copied, or has no data, goes as a
 * `whole`. Others fill the block, unless its rest is small (zil_max_waste_space) and leaving it unused needs
 * no more blocks. 0: nothing, the next block is needed. */
uint32_t sl_zil_fits(const struct sl_zil *zil, uint32_t room, uint32_t data, bool whole);

/* 2.3: the burst grows by a record; of what is copied into its record nothing can be split off. */
void sl_zil_burst_grows(struct sl_zil *zil, uint32_t data_bytes, bool copied);

/* 2.3: `bytes` of the burst are in a block, headers of records that are complete included. */
void sl_zil_burst_packed(struct sl_zil *zil, uint32_t bytes);

/* 2.3: the burst has ended: it is remembered, and company is a little less likely. */
void sl_zil_burst_done(struct sl_zil *zil);

void sl_zil_sizes_init(struct sl_zil *zil);

void sl_zil_2014_init(struct sl_zil *zil);
void sl_zil_2014_commit(struct sl_zil *zil, int64_t now_ns, struct sl_zil_waiter *waiter);
void sl_zil_lwb_init(struct sl_zil *zil);
void sl_zil_lwb_commit(struct sl_zil *zil, int64_t now_ns, struct sl_zil_waiter *waiter);

#endif
