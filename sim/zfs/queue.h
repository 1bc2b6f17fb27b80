/*
 * The queue of one leaf vdev (vdev_queue.c). Requests come in classes, each with a number that may be active
 * at the disk at least and at most: synchronous reads and writes 10/10, asynchronous reads 1/3, asynchronous
 * writes from 1 (2014) or 2 (2.1) up to a limit that grows with the dirty data. When the disk can take one
 * more, the classes below their minimum come first, then those below their maximum, both in the order of enum
 * sl_queue_class. Synchronous requests go out in the order they came, asynchronous ones by offset. Neighbours
 * are joined into one request as long as it is not too large; synchronous ones since 0.6.4 (illumos 5313),
 * here when one lies right behind the other and came next after it. Flushes do not queue.
 * Not modelled: scrub, trim and rebuild; joining of different classes.
 */
#ifndef SL_ZFS_QUEUE_H
#define SL_ZFS_QUEUE_H

#include "sim/base/slab.h"
#include "sim/device/device.h"

enum sl_queue_class {
	SL_QUEUE_SYNC_READ,
	SL_QUEUE_SYNC_WRITE,
	SL_QUEUE_ASYNC_READ,
	SL_QUEUE_ASYNC_WRITE,
	SL_QUEUE_CLASSES
};

/* Shared by the queues of a vdev class. */
struct sl_queue_limits {
	int async_write_min, async_write_max; /* zfs_vdev_async_write_min_active; max: as of now */
	int64_t join_bytes;                   /* zfs_vdev_aggregation_limit; 0 = nothing is joined */
	bool join_sync;                       /* synchronous requests are joined, too */
	int64_t write_gap_bytes;              /* between writes that are joined: raidz padding */
};

/* One request, embedded in the caller's; lives until `done` fires. */
struct sl_queue_item {
	struct sl_timer done;
	enum sl_queue_class class;
	int64_t offset_bytes, bytes;
	uint64_t tag;
	struct sl_mark *mark;              /* see sl_dev_req */
	int64_t issued_ns;                 /* at completion: when the disk got it */
	int error;                         /* at completion, the disk's */
	struct sl_queue_item *next, *prev; /* private */
};

struct sl_queue {
	struct sl_dev *disk;                  /* borrowed */
	const struct sl_queue_limits *limits; /* borrowed */
	struct sl_queue_item *first[SL_QUEUE_CLASSES], *last[SL_QUEUE_CLASSES];
	int active[SL_QUEUE_CLASSES]; /* at the disk */
	int waiting;                  /* in all classes: mostly none, then nothing has to be looked for */
	int64_t end_bytes;            /* where the last asynchronous request ended */
	struct sl_slab requests;
};

void sl_queue_init(struct sl_queue *queue, struct sl_dev *disk, const struct sl_queue_limits *limits);
void sl_queue_fini(struct sl_queue *queue);

/* Takes the item; item->done fires later, never from inside. */
void sl_queue_add(struct sl_queue *queue, int64_t now_ns, struct sl_queue_item *item);

#endif
