/*
 * Timers live in a 4-ary heap that holds copies of their due times: a sift touches the heap only, never a
 * timer. While a callback runs, the top it vacated stays in place and the first arm takes it over: the usual
 * "fire, then arm the next one" costs one sift instead of two. Entries have no back-pointers; cancel and move
 * scan, which is cheaper than keeping an index up to date as long as the moved timers belong to small loops.
 */
#include "sim/base/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/base/hist.h"
#include "sim/base/waiter.h"

#define ARITY 4
/* Rounds of timers that follow each other at one instant before descriptors are looked at again: enough for a
 * call that is answered at once (submit, completion, reply). */
#define ROUNDS_MAX 4
#define HEAP_INITIAL 64
#define ASK_EVERY \
	256u /* wake-ups: of 100 ns to some microseconds each, milliseconds where very much is in flight */

struct slot {
	uint64_t seq;
	struct sl_timer *timer;
};

/* Due times apart from the rest: a sift compares hardly anything else, and four children are 32 bytes. Those
 * behind the last entry are SL_NEVER, so that every parent has four children to compare. */
struct heap {
	int64_t *due; /* capacity + ARITY */
	struct slot *slot;
	size_t count, capacity;
};

struct sl_loop {
	struct sl_waiter *waiter;
	struct heap heap;
	int64_t now_ns;
	uint64_t next_seq, fired;
	bool vacant; /* the top belongs to the timer that fires now; its key is still below all others */
	bool running, stop;
	bool (*stopped)(void);    /* NULL: nobody to ask */
	uint32_t unasked;         /* wake-ups since it was asked */
	int error;                /* sticky: an arm that found no memory */
	struct sl_hist *lateness; /* NULL in virtual time */
	struct sl_hist lateness_store;
};

static inline bool heap_before(const struct heap *heap, size_t i, int64_t due_ns, uint64_t seq)
{
	return heap->due[i] < due_ns || (heap->due[i] == due_ns && heap->slot[i].seq < seq);
}

static inline void heap_set(struct heap *heap, size_t i, int64_t due_ns, struct slot slot)
{
	heap->due[i] = due_ns;
	heap->slot[i] = slot;
}

static inline void heap_copy(struct heap *heap, size_t to, size_t from)
{
	heap->due[to] = heap->due[from];
	heap->slot[to] = heap->slot[from];
}

__attribute__((noinline)) static size_t heap_least_of(const struct heap *heap, size_t first, size_t end)
{
	size_t least = first;

	for (size_t i = first + 1; i < end; i++) {
		if (heap_before(heap, i, heap->due[least], heap->slot[least].seq)) {
			least = i;
		}
	}
	return least;
}

/* The least of the children first .. first + 3: a tournament of due times, free of branches that depend on
 * them. A tie for the least is decided by the arming order, in the slow way. */
static inline size_t heap_least_child(const struct heap *heap, size_t count, size_t first)
{
	const int64_t *due = &heap->due[first];
	int64_t left_due = due[1] < due[0] ? due[1] : due[0];
	int64_t right_due = due[3] < due[2] ? due[3] : due[2];
	int64_t least_due = right_due < left_due ? right_due : left_due;
	int equal =
	    (due[0] == least_due) + (due[1] == least_due) + (due[2] == least_due) + (due[3] == least_due);
	size_t left, right;

	if (__builtin_expect(equal > 1, 0)) {
		return heap_least_of(heap, first, first + ARITY < count ? first + ARITY : count);
	}
	left = first + (due[1] < due[0]);
	right = first + 2 + (due[3] < due[2]);
	return left +
	       ((right - left) & -(size_t)(right_due < left_due)); /* compilers make a branch of ?: here */
}

/* Lets an entry rise from the hole. Returns its place. */
static inline size_t heap_up(struct heap *heap, size_t hole, int64_t due_ns, struct slot slot)
{
	while (hole > 0) {
		size_t parent = (hole - 1) / ARITY;

		if (heap_before(heap, parent, due_ns, slot.seq)) {
			break;
		}
		heap_copy(heap, hole, parent);
		hole = parent;
	}
	heap_set(heap, hole, due_ns, slot);
	return hole;
}

/* Lets an entry sink from the hole. */
static inline void heap_down(struct heap *heap, size_t hole, int64_t due_ns, struct slot slot)
{
	size_t count = heap->count;

	for (size_t first = ARITY * hole + 1; first < count; first = ARITY * hole + 1) {
		size_t child = heap_least_child(heap, count, first);

		if (!heap_before(heap, child, due_ns, slot.seq)) {
			break;
		}
		heap_copy(heap, hole, child);
		hole = child;
	}
	heap_set(heap, hole, due_ns, slot);
}

/* Puts an entry where another was. */
static void heap_place(struct heap *heap, size_t hole, int64_t due_ns, struct slot slot)
{
	if (heap_up(heap, hole, due_ns, slot) == hole) {
		heap_down(heap, hole, due_ns, slot);
	}
}

/* Takes the entry at `hole` out: the last one moves there. */
static void heap_remove(struct heap *heap, size_t hole)
{
	size_t last = --heap->count;
	int64_t due_ns = heap->due[last];

	heap->due[last] = SL_NEVER;
	if (hole < last) {
		heap_place(heap, hole, due_ns, heap->slot[last]);
	}
}

static bool heap_grow(struct heap *heap)
{
	size_t capacity = heap->capacity == 0 ? HEAP_INITIAL : heap->capacity * 2;
	int64_t *due = realloc(heap->due, (capacity + ARITY) * sizeof(*due));
	struct slot *slot;

	if (due == NULL) {
		return false;
	}
	for (size_t i = heap->count; i < capacity + ARITY; i++) {
		due[i] = SL_NEVER;
	}
	heap->due = due;
	slot = realloc(heap->slot, capacity * sizeof(*slot));
	if (slot == NULL) {
		return false;
	}
	heap->slot = slot;
	heap->capacity = capacity;
	return true;
}

static size_t loop_find(const struct sl_loop *loop, const struct sl_timer *timer)
{
	size_t i = loop->vacant ? 1 : 0;

	while (i < loop->heap.count && loop->heap.slot[i].timer != timer) {
		i++;
	}
	assert(i < loop->heap.count); /* armed, so it must be in this loop */
	return i;
}

static inline void loop_fire_top(struct sl_loop *loop)
{
	struct sl_timer *timer = loop->heap.slot[0].timer;

	if (loop->lateness != NULL) {
		sl_hist_add(loop->lateness, loop->now_ns - loop->heap.due[0]);
	}
	loop->vacant = true;
	loop->fired++;
	timer->armed = false;
	timer->fire(timer, loop->now_ns);
	if (loop->vacant) {
		loop->vacant = false;
		heap_remove(&loop->heap, 0);
	}
}

/* Fires what is due now. Timers armed meanwhile wait for the next wake-up even when due: they sort behind the
 * older ones, and descriptors get their turn in between. */
static void loop_fire_due(struct sl_loop *loop)
{
	uint64_t first_new = loop->next_seq;

	while (loop->heap.count > 0 && loop->heap.due[0] <= loop->now_ns &&
	       loop->heap.slot[0].seq < first_new && !loop->stop) {
		loop_fire_top(loop);
	}
}

/* What the descriptors' callbacks armed for the present instant, and what that armed in turn: to ask the
 * kernel between any two of them would cost more than the work itself. Bounded, so that a timer that arms
 * itself anew starves no descriptor. */
static void loop_fire_followers(struct sl_loop *loop)
{
	for (int round = 0; round < ROUNDS_MAX && !loop->stop; round++) {
		if (loop->heap.count == 0 || loop->heap.due[0] > loop->now_ns) {
			return;
		}
		loop_fire_due(loop);
	}
}

/* Does the one who waits for the run still want it? */
static bool loop_is_stopped(struct sl_loop *loop)
{
	if (loop->stopped == NULL || ++loop->unasked < ASK_EVERY) {
		return false;
	}
	loop->unasked = 0;
	return loop->stopped();
}

static int loop_run(struct sl_loop *loop, int64_t until_ns, struct sl_err *err)
{
	int rc;

	while (!loop->stop && loop->error == 0) {
		int64_t due_ns = loop->heap.count > 0 ? loop->heap.due[0] : SL_NEVER;

		if (loop->now_ns >= until_ns && due_ns > until_ns) {
			return 0;
		}
		rc = loop->waiter->wait(loop->waiter, loop->now_ns, due_ns < until_ns ? due_ns : until_ns,
					&loop->now_ns, err);
		if (rc != 0) {
			return rc < 0 ? rc : 0;
		}
		if (loop_is_stopped(loop)) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		loop_fire_due(loop);
		if (loop->waiter->deliver != NULL) {
			loop->waiter->deliver(loop->waiter, loop->now_ns, &loop->stop);
			loop_fire_followers(loop);
		}
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
	free(loop->heap.due);
	free(loop->heap.slot);
	free(loop);
}

int64_t sl_loop_now(const struct sl_loop *loop)
{
	return loop->now_ns;
}

void sl_loop_arm(struct sl_loop *loop, struct sl_timer *timer, int64_t due_ns)
{
	struct heap *heap = &loop->heap;
	struct slot slot = {loop->next_seq++, timer};

	assert(timer->fire != NULL);
	due_ns = due_ns > loop->now_ns ? due_ns : loop->now_ns;
	if (timer->armed) {
		heap_place(heap, loop_find(loop, timer), due_ns, slot);
	} else if (loop->vacant) {
		loop->vacant = false;
		heap_down(heap, 0, due_ns, slot);
	} else {
		if (heap->count == heap->capacity && !heap_grow(heap)) {
			loop->error = -ENOMEM;
			return;
		}
		heap->count++;
		(void)heap_up(heap, heap->count - 1, due_ns, slot);
	}
	timer->due_ns = due_ns;
	timer->armed = true;
}

void sl_loop_cancel(struct sl_loop *loop, struct sl_timer *timer)
{
	if (timer->armed) {
		timer->armed = false;
		heap_remove(&loop->heap, loop_find(loop, timer));
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

void sl_loop_set_stopped(struct sl_loop *loop, bool (*stopped)(void))
{
	loop->stopped = stopped;
}

int64_t sl_loop_next_due(const struct sl_loop *loop)
{
	assert(!loop->vacant);
	return loop->heap.count > 0 ? loop->heap.due[0] : SL_NEVER;
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
