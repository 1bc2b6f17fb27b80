/*
 * Timers live in a 4-ary heap of inline entries, so that a sift touches the heap only and never a timer.
 * While a callback runs, the top it vacated stays in place and the first arm takes it over: the usual "fire,
 * then arm the next one" costs one sift instead of two. Entries have no back-pointers; cancel and move scan,
 * which is cheaper than keeping an index up to date as long as the moved timers belong to small loops.
 */
#include "sim/base/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/base/hist.h"
#include "sim/base/waiter.h"

#define ARITY 4
#define HEAP_INITIAL 64

struct entry {
	int64_t due_ns; /* never negative: the key below relies on it */
	uint64_t seq;
	struct sl_timer *timer;
};

struct sl_loop {
	struct sl_waiter *waiter;
	struct entry *heap;
	size_t count, capacity;
	int64_t now_ns;
	uint64_t next_seq, fired;
	bool vacant; /* heap[0] belongs to the timer that fires now; its key is still below all others */
	bool running, stop;
	int error;                /* sticky: an arm that found no memory */
	struct sl_hist *lateness; /* NULL in virtual time */
	struct sl_hist lateness_store;
};

static inline bool entry_before(const struct entry *a, const struct entry *b)
{
	unsigned __int128 ka = ((unsigned __int128)(uint64_t)a->due_ns << 64) | a->seq;
	unsigned __int128 kb = ((unsigned __int128)(uint64_t)b->due_ns << 64) | b->seq;

	return ka < kb;
}

/* The least of the children first .. first + 3 that exist. */
static inline size_t heap_least_child(const struct entry *heap, size_t count, size_t first)
{
	size_t a, b;

	if (first + ARITY <= count) {
		a = first + (entry_before(&heap[first + 1], &heap[first]) ? 1 : 0);
		b = first + 2 + (entry_before(&heap[first + 3], &heap[first + 2]) ? 1 : 0);
		return entry_before(&heap[b], &heap[a]) ? b : a;
	}
	a = first;
	for (size_t i = first + 1; i < count; i++) {
		if (entry_before(&heap[i], &heap[a])) {
			a = i;
		}
	}
	return a;
}

static void heap_down(struct entry *heap, size_t count, size_t hole, struct entry entry)
{
	for (size_t first = ARITY * hole + 1; first < count; first = ARITY * hole + 1) {
		size_t child = heap_least_child(heap, count, first);

		if (!entry_before(&heap[child], &entry)) {
			break;
		}
		heap[hole] = heap[child];
		hole = child;
	}
	heap[hole] = entry;
}

static size_t heap_up(struct entry *heap, size_t hole, struct entry entry)
{
	while (hole > 0) {
		size_t parent = (hole - 1) / ARITY;

		if (!entry_before(&entry, &heap[parent])) {
			break;
		}
		heap[hole] = heap[parent];
		hole = parent;
	}
	heap[hole] = entry;
	return hole;
}

/* Puts `entry` where heap[hole] was. */
static void heap_place(struct entry *heap, size_t count, size_t hole, struct entry entry)
{
	if (heap_up(heap, hole, entry) == hole) {
		heap_down(heap, count, hole, entry);
	}
}

static size_t loop_find(const struct sl_loop *loop, const struct sl_timer *timer)
{
	size_t i = loop->vacant ? 1 : 0;

	while (i < loop->count && loop->heap[i].timer != timer) {
		i++;
	}
	assert(i < loop->count); /* armed, so it must be in this loop */
	return i;
}

static bool loop_grow(struct sl_loop *loop)
{
	size_t capacity = loop->capacity == 0 ? HEAP_INITIAL : loop->capacity * 2;
	struct entry *heap = realloc(loop->heap, capacity * sizeof(*heap));

	if (heap == NULL) {
		loop->error = -ENOMEM;
		return false;
	}
	loop->heap = heap;
	loop->capacity = capacity;
	return true;
}

static void loop_fire_top(struct sl_loop *loop)
{
	struct sl_timer *timer = loop->heap[0].timer;

	if (loop->lateness != NULL) {
		sl_hist_add(loop->lateness, loop->now_ns - loop->heap[0].due_ns);
	}
	loop->vacant = true;
	loop->fired++;
	timer->armed = false;
	timer->fire(timer, loop->now_ns);
	if (loop->vacant) {
		loop->vacant = false;
		loop->count--;
		if (loop->count > 0) {
			heap_down(loop->heap, loop->count, 0, loop->heap[loop->count]);
		}
	}
}

/* Fires what is due now. Timers armed meanwhile wait for the next wake-up even when due: they sort behind the
 * older ones, and descriptors get their turn in between. */
static void loop_fire_due(struct sl_loop *loop)
{
	uint64_t first_new = loop->next_seq;

	while (loop->count > 0 && loop->heap[0].due_ns <= loop->now_ns && loop->heap[0].seq < first_new &&
	       !loop->stop) {
		loop_fire_top(loop);
	}
}

static int loop_run(struct sl_loop *loop, int64_t until_ns, struct sl_err *err)
{
	int rc;

	while (!loop->stop && loop->error == 0) {
		int64_t due_ns = loop->count > 0 ? loop->heap[0].due_ns : SL_NEVER;

		if (loop->now_ns >= until_ns && due_ns > until_ns) {
			return 0;
		}
		rc = loop->waiter->wait(loop->waiter, loop->now_ns, due_ns < until_ns ? due_ns : until_ns,
					&loop->now_ns, err);
		if (rc != 0) {
			return rc < 0 ? rc : 0;
		}
		loop_fire_due(loop);
		loop->waiter->deliver(loop->waiter, loop->now_ns, &loop->stop);
	}
	if (loop->error != 0) {
		return sl_err_set(err, loop->error, "out of memory for timers");
	}
	return 0;
}

static struct sl_loop *loop_new(struct sl_waiter *waiter)
{
	struct sl_loop *loop;

	if (waiter == NULL) {
		return NULL;
	}
	loop = calloc(1, sizeof(*loop));
	if (loop == NULL) {
		waiter->close(waiter);
		return NULL;
	}
	loop->waiter = waiter;
	return loop;
}

struct sl_loop *sl_loop_new_virtual(void)
{
	return loop_new(sl_waiter_virtual());
}

struct sl_loop *sl_loop_new_wall(struct sl_err *err)
{
	struct sl_waiter *waiter = sl_waiter_epoll(err);
	struct sl_loop *loop = loop_new(waiter);

	if (loop != NULL && sl_hist_init(&loop->lateness_store) == 0) {
		loop->lateness = &loop->lateness_store;
		return loop;
	}
	if (waiter != NULL) {
		(void)sl_err_set(err, -ENOMEM, "out of memory");
	}
	sl_loop_free(loop);
	return NULL;
}

void sl_loop_free(struct sl_loop *loop)
{
	if (loop == NULL) {
		return;
	}
	assert(!loop->running);
	loop->waiter->close(loop->waiter);
	sl_hist_fini(&loop->lateness_store);
	free(loop->heap);
	free(loop);
}

int64_t sl_loop_now(const struct sl_loop *loop)
{
	return loop->now_ns;
}

void sl_loop_arm(struct sl_loop *loop, struct sl_timer *timer, int64_t due_ns)
{
	struct entry entry = {due_ns > loop->now_ns ? due_ns : loop->now_ns, loop->next_seq++, timer};

	assert(timer->fire != NULL);
	if (timer->armed) {
		heap_place(loop->heap, loop->count, loop_find(loop, timer), entry);
	} else if (loop->vacant) {
		loop->vacant = false;
		heap_down(loop->heap, loop->count, 0, entry);
	} else {
		if (loop->count == loop->capacity && !loop_grow(loop)) {
			return;
		}
		(void)heap_up(loop->heap, loop->count++, entry);
	}
	timer->due_ns = entry.due_ns;
	timer->armed = true;
}

void sl_loop_cancel(struct sl_loop *loop, struct sl_timer *timer)
{
	size_t hole;

	if (!timer->armed) {
		return;
	}
	hole = loop_find(loop, timer);
	timer->armed = false;
	loop->count--;
	if (hole < loop->count) {
		heap_place(loop->heap, loop->count, hole, loop->heap[loop->count]);
	}
}

int sl_loop_io_add(struct sl_loop *loop, struct sl_io *io, struct sl_err *err)
{
	assert(io->fire != NULL);
	return loop->waiter->io_add(loop->waiter, io, err);
}

int sl_loop_io_mod(struct sl_loop *loop, struct sl_io *io, uint32_t events, struct sl_err *err)
{
	return loop->waiter->io_mod(loop->waiter, io, events, err);
}

void sl_loop_io_del(struct sl_loop *loop, struct sl_io *io)
{
	loop->waiter->io_del(loop->waiter, io);
}

int sl_loop_run_until(struct sl_loop *loop, int64_t until_ns, struct sl_err *err)
{
	int rc;

	assert(!loop->running);
	loop->running = true;
	loop->stop = false;
	rc = loop_run(loop, until_ns, err);
	loop->running = false;
	return rc;
}

int sl_loop_run(struct sl_loop *loop, struct sl_err *err)
{
	return sl_loop_run_until(loop, SL_NEVER, err);
}

void sl_loop_stop(struct sl_loop *loop)
{
	loop->stop = true;
}

int64_t sl_loop_next_due(const struct sl_loop *loop)
{
	assert(!loop->vacant);
	return loop->count > 0 ? loop->heap[0].due_ns : SL_NEVER;
}

int64_t sl_loop_clock(const struct sl_loop *loop)
{
	return loop->waiter->clock != NULL ? loop->waiter->clock(loop->waiter) : loop->now_ns;
}

uint64_t sl_loop_events(const struct sl_loop *loop)
{
	return loop->fired;
}

const struct sl_hist *sl_loop_lateness(const struct sl_loop *loop)
{
	return loop->lateness;
}
