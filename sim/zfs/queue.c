#include "sim/zfs/queue.h"

#define SYNC_ACTIVE 10       /* zfs_vdev_sync_read_* and sync_write_{min,max}_active */
#define ASYNC_READ_MIN 1     /* zfs_vdev_async_read_min_active */
#define ASYNC_READ_MAX 3     /* zfs_vdev_async_read_max_active */
#define READ_GAP_BYTES 32768 /* zfs_vdev_read_gap_limit */

/* What the disk gets: one item, or several that lie side by side. */
struct request {
	void *pool_link;
	struct sl_queue *queue;
	struct sl_queue_item *items; /* linked by `next` */
	int64_t issued_ns;
	struct sl_dev_req req;
};

static void issue_all(struct sl_queue *queue, int64_t now_ns);

static int min_active(const struct sl_queue *queue, enum sl_queue_class class)
{
	static const int least[] = {SYNC_ACTIVE, SYNC_ACTIVE, ASYNC_READ_MIN};

	return class == SL_QUEUE_ASYNC_WRITE ? queue->limits->async_write_min : least[class];
}

static int max_active(const struct sl_queue *queue, enum sl_queue_class class)
{
	static const int most[] = {SYNC_ACTIVE, SYNC_ACTIVE, ASYNC_READ_MAX};

	return class == SL_QUEUE_ASYNC_WRITE ? queue->limits->async_write_max : most[class];
}

static bool is_write(enum sl_queue_class class)
{
	return class == SL_QUEUE_SYNC_WRITE || class == SL_QUEUE_ASYNC_WRITE;
}

static bool is_async(enum sl_queue_class class)
{
	return class == SL_QUEUE_ASYNC_READ || class == SL_QUEUE_ASYNC_WRITE;
}

/* Which class goes next; SL_QUEUE_CLASSES when none may. */
static enum sl_queue_class next_class(const struct sl_queue *queue)
{
	enum sl_queue_class below_max = SL_QUEUE_CLASSES;

	for (int c = 0; queue->waiting > 0 && c < SL_QUEUE_CLASSES; c++) {
		if (!queue->first[c]) {
			continue;
		}
		if (queue->active[c] < min_active(queue, (enum sl_queue_class)c)) {
			return (enum sl_queue_class)c;
		}
		if (below_max == SL_QUEUE_CLASSES &&
		    queue->active[c] < max_active(queue, (enum sl_queue_class)c)) {
			below_max = (enum sl_queue_class)c;
		}
	}
	return below_max;
}

static void unlink_item(struct sl_queue *queue, struct sl_queue_item *item)
{
	*(item->prev ? &item->prev->next : &queue->first[item->class]) = item->next;
	*(item->next ? &item->next->prev : &queue->last[item->class]) = item->prev;
	item->next = item->prev = NULL;
	queue->waiting--;
}

/* Behind the last one that does not lie beyond it: allocation moves forward, so mostly at the end. */
static void link_item(struct sl_queue *queue, struct sl_queue_item *item)
{
	struct sl_queue_item *before = queue->last[item->class];

	while (is_async(item->class) && before && before->offset_bytes > item->offset_bytes) {
		before = before->prev;
	}
	item->prev = before;
	item->next = before ? before->next : queue->first[item->class];
	*(item->prev ? &item->prev->next : &queue->first[item->class]) = item;
	*(item->next ? &item->next->prev : &queue->last[item->class]) = item;
	queue->waiting++;
}

/* Synchronous: who came first. Asynchronous: the next one onwards from where the last one ended, then around.
 */
static struct sl_queue_item *pick(const struct sl_queue *queue, enum sl_queue_class class)
{
	struct sl_queue_item *item = queue->first[class];

	while (is_async(class) && item && item->offset_bytes < queue->end_bytes) {
		item = item->next;
	}
	return item ? item : queue->first[class];
}

/* May `item` be joined to a request that covers [from, end)? */
static bool joins(const struct sl_queue *queue, const struct sl_queue_item *item, int64_t from, int64_t end)
{
	int64_t gap = is_write(item->class) ? queue->limits->write_gap_bytes : READ_GAP_BYTES;

	return item->offset_bytes >= end && item->offset_bytes - end <= gap &&
	       item->offset_bytes + item->bytes - from <= queue->limits->join_bytes;
}

static void request_done(struct sl_timer *timer, int64_t now_ns)
{
	struct request *request = sl_container_of(timer, struct request, req.done);
	struct sl_queue *queue = request->queue;
	struct sl_queue_item *item = request->items;
	int64_t issued_ns = request->issued_ns;
	int error = request->req.error;

	queue->active[item->class]--;
	sl_slab_put(&queue->requests, request);
	issue_all(queue, now_ns);
	while (item) {
		struct sl_queue_item *next = item->next;

		item->issued_ns = issued_ns;
		item->error = error;
		sl_timer_fire(&item->done, now_ns);
		item = next;
	}
}

static void issue(struct sl_queue *queue, int64_t now_ns, enum sl_queue_class class)
{
	struct request *request = sl_slab_get(&queue->requests);
	struct sl_queue_item *item = pick(queue, class), **tail = &request->items;
	int64_t from = item->offset_bytes, end;

	do {
		struct sl_queue_item *next = item->next;

		end = item->offset_bytes + item->bytes;
		unlink_item(queue, item);
		*tail = item;
		tail = &item->next;
		if (item != request->items) {
			sl_mark_join(item->mark, request->items->mark);
		}
		item = next;
	} while ((is_async(class) || queue->limits->join_sync) && item && joins(queue, item, from, end));
	if (is_async(class)) {
		queue->end_bytes = end;
	}
	queue->active[class]++;
	request->queue = queue;
	request->issued_ns = now_ns;
	request->req = (struct sl_dev_req){
	    .done.fire = request_done,
	    .op = is_write(class) ? SL_DEV_WRITE : SL_DEV_READ,
	    .offset_bytes = from,
	    .bytes = end - from,
	    .tag = request->items->tag,
	    .mark = request->items->mark,
	};
	sl_dev_submit(queue->disk, now_ns, &request->req);
}

static void issue_all(struct sl_queue *queue, int64_t now_ns)
{
	enum sl_queue_class class = next_class(queue);

	while (class != SL_QUEUE_CLASSES) {
		issue(queue, now_ns, class);
		class = next_class(queue);
	}
}

void sl_queue_init(struct sl_queue *queue, struct sl_dev *disk, const struct sl_queue_limits *limits)
{
	*queue = (struct sl_queue){.disk = disk, .limits = limits};
	sl_slab_init(&queue->requests, sizeof(struct request));
}

void sl_queue_fini(struct sl_queue *queue)
{
	sl_slab_fini(&queue->requests);
}

void sl_queue_add(struct sl_queue *queue, int64_t now_ns, struct sl_queue_item *item)
{
	link_item(queue, item);
	issue_all(queue, now_ns);
}
