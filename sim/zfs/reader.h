/*
 * Reads of records for a pool's calls: what is in memory, where the rest lies, what is on its way already.
 * A record that is on its way is read once, however many wait for it. Reads of files go through the
 * prefetcher, whose reads are of the asynchronous class; fills of records that are written in part do not.
 *
 * Records lie where a writer that found the pool half full left them: a file in the order of its records,
 * over the top-level vdevs by turns of metaslab_aliquot, in pieces of half a GiB that are anywhere in the
 * first half of the vdevs. So neighbours are neighbours on the disks, and a random read is a seek.
 *
 * Not modelled: a demand read that raises the priority of a prefetch (zio_change_priority).
 */
#ifndef SL_ZFS_READER_H
#define SL_ZFS_READER_H

#include "sim/base/cpu.h"
#include "sim/zfs/arc.h"
#include "sim/zfs/vdev.h"
#include "sim/zfs/zfetch.h"

#define SL_READER_BUCKETS 1024 /* a power of two */

struct sl_reader_config {
	struct sl_vdev *data;  /* where records lie */
	struct sl_vdev *cache; /* the L2ARC's; may be without disks */
	struct sl_arc *arc;
	struct sl_cpu *cpu;    /* decrypts */
	double crypt_bps;      /* native encryption; 0 = none */
	int64_t record_bytes;  /* as it is stored */
	int64_t aliquot_bytes; /* metaslab_aliquot of one top-level vdev */
	uint32_t recordsize_bytes;
	uint64_t seed;
};

/* Embedded in a call that waits for records: `done` fires when the last one is there. */
struct sl_read_waiter {
	struct sl_timer done;
	uint64_t tag; /* of the call, for the trace */
	int waiting;  /* private: records outstanding */
};

struct sl_fetch;

struct sl_reader {
	struct sl_reader_config config;
	struct sl_zfetch zfetch;
	struct sl_rng rng;                           /* places on the cache devices */
	struct sl_fetch *buckets[SL_READER_BUCKETS]; /* on their way, by record */
	struct sl_slab fetches, wants;
};

/* All pointers are borrowed; data and cache have their disks already. */
void sl_reader_init(struct sl_reader *reader, const struct sl_reader_config *config,
		    const struct sl_zfetch_config *zfetch);
void sl_reader_fini(struct sl_reader *reader);

/* A READ of `bytes` > 0 at `offset`. True: waiter->done fires later; false: all of it is in memory. */
bool sl_reader_read(struct sl_reader *reader, int64_t now_ns, uint64_t file, int64_t offset, uint32_t bytes,
		    struct sl_read_waiter *waiter);

/* The same for records first and last (which may be one) that are written in part. */
bool sl_reader_fill(struct sl_reader *reader, int64_t now_ns, uint64_t file, uint64_t first, uint64_t last,
		    struct sl_read_waiter *waiter);

#endif
