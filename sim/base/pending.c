#include "sim/base/pending.h"

#include <assert.h>
#include <stdlib.h>

#define ARITY 4
#define CAPACITY 64 /* at first */
#define FEW_MAX 32  /* in the list: beyond, a heap does less */
#define FEW_MIN 10  /* so few become a list again: far from FEW_MAX, so that it does not go to and fro */

/* In the heap, those behind the last entry are SL_NEVER, so that every parent has four children to compare.
 */

static inline bool is_before(const struct sl_pending *heap, size_t i, int64_t due_ns, uint64_t seq)
{
	return heap->due[i] < due_ns || (heap->due[i] == due_ns && heap->slot[i].seq < seq);
}

static inline void set(struct sl_pending *pending, size_t i, int64_t due_ns, struct sl_pending_slot slot)
{
	pending->due[i] = due_ns;
	pending->slot[i] = slot;
}

static inline void copy(struct sl_pending *pending, size_t to, size_t from)
{
	pending->due[to] = pending->due[from];
	pending->slot[to] = pending->slot[from];
}

__attribute__((noinline)) static size_t least_of(const struct sl_pending *heap, size_t first, size_t end)
{
	size_t least = first;

	for (size_t i = first + 1; i < end; i++) {
		if (is_before(heap, i, heap->due[least], heap->slot[least].seq)) {
			least = i;
		}
	}
	return least;
}

/* The least of the children first .. first + 3: a tournament of due times, free of branches that depend on
 * them. A tie for the least is decided by the arming order, in the slow way. */
static inline size_t least_child(const struct sl_pending *heap, size_t count, size_t first)
{
	const int64_t *due = &heap->due[first];
	int64_t left_due = due[1] < due[0] ? due[1] : due[0];
	int64_t right_due = due[3] < due[2] ? due[3] : due[2];
	int64_t least_due = right_due < left_due ? right_due : left_due;
	int equal =
	    (due[0] == least_due) + (due[1] == least_due) + (due[2] == least_due) + (due[3] == least_due);
	size_t left, right;

	if (__builtin_expect(equal > 1, 0)) {
		return least_of(heap, first, first + ARITY < count ? first + ARITY : count);
	}
	left = first + (due[1] < due[0]);
	right = first + 2 + (due[3] < due[2]);
	return left +
	       ((right - left) & -(size_t)(right_due < left_due)); /* compilers make a branch of ?: here */
}

/* Lets an entry rise from the hole. Returns its place. */
static inline size_t heap_up(struct sl_pending *heap, size_t hole, int64_t due_ns,
			     struct sl_pending_slot slot)
{
	while (hole > 0) {
		size_t parent = (hole - 1) / ARITY;

		if (is_before(heap, parent, due_ns, slot.seq)) {
			break;
		}
		copy(heap, hole, parent);
		hole = parent;
	}
	set(heap, hole, due_ns, slot);
	return hole;
}

/* Lets an entry sink from the hole. */
static inline void heap_down(struct sl_pending *heap, size_t hole, int64_t due_ns,
			     struct sl_pending_slot slot)
{
	size_t count = heap->count;

	for (size_t first = ARITY * hole + 1; first < count; first = ARITY * hole + 1) {
		size_t child = least_child(heap, count, first);

		if (!is_before(heap, child, due_ns, slot.seq)) {
			break;
		}
		copy(heap, hole, child);
		hole = child;
	}
	set(heap, hole, due_ns, slot);
}

/* A list the other way round, the earliest first, is a heap already. */
static void become_heap(struct sl_pending *pending)
{
	for (size_t i = 0, k = pending->count; i + 1 < k; i++) {
		int64_t due_ns = pending->due[i];
		struct sl_pending_slot slot = pending->slot[i];

		copy(pending, i, --k);
		set(pending, k, due_ns, slot);
	}
	for (size_t i = pending->count; i < pending->capacity + ARITY; i++) {
		pending->due[i] = SL_NEVER;
	}
	pending->few = 0;
}

static void become_list(struct sl_pending *pending)
{
	for (size_t i = 1; i < pending->count; i++) {
		int64_t due_ns = pending->due[i];
		struct sl_pending_slot slot = pending->slot[i];
		size_t at = i;

		for (; at > 0 && is_before(pending, at - 1, due_ns, slot.seq); at--) {
			copy(pending, at, at - 1);
		}
		set(pending, at, due_ns, slot);
	}
	pending->few = FEW_MAX;
}

/* Takes the entry at `hole` out: the last one moves there. */
static void heap_remove(struct sl_pending *heap, size_t hole)
{
	size_t last = --heap->count;
	int64_t due_ns = heap->due[last];
	struct sl_pending_slot slot = heap->slot[last];

	heap->due[last] = SL_NEVER;
	if (hole < last && heap_up(heap, hole, due_ns, slot) == hole) {
		heap_down(heap, hole, due_ns, slot);
	}
	if (heap->count <= FEW_MIN && !heap->vacant) {
		become_list(heap);
	}
}

static bool grow(struct sl_pending *pending)
{
	size_t capacity = pending->capacity == 0 ? CAPACITY : pending->capacity * 2;
	int64_t *due = realloc(pending->due, (capacity + ARITY) * sizeof(*due));
	struct sl_pending_slot *slot;

	if (due == NULL) {
		return false;
	}
	for (size_t i = pending->count; i < capacity + ARITY; i++) {
		due[i] = SL_NEVER;
	}
	pending->due = due;
	slot = realloc(pending->slot, capacity * sizeof(*slot));
	if (slot == NULL) {
		return false;
	}
	pending->slot = slot;
	pending->capacity = capacity;
	return true;
}

bool sl_pending_add_many(struct sl_pending *pending, int64_t due_ns, struct sl_pending_slot slot)
{
	if (pending->vacant) {
		pending->vacant = false;
		heap_down(pending, 0, due_ns, slot);
		return true;
	}
	if (pending->count == pending->capacity && !grow(pending)) {
		return false;
	}
	if (pending->count == 0) {
		pending->few = FEW_MAX;
		return sl_pending_add(pending, due_ns, slot);
	}
	if (pending->few > 0) {
		become_heap(pending);
	}
	pending->count++;
	(void)heap_up(pending, pending->count - 1, due_ns, slot);
	return true;
}

void sl_pending_close(struct sl_pending *pending)
{
	pending->vacant = false;
	heap_remove(pending, 0);
}

void sl_pending_remove(struct sl_pending *pending, const struct sl_timer *timer)
{
	size_t i = pending->vacant ? 1 : 0;

	while (i < pending->count && pending->slot[i].timer != timer) {
		i++;
	}
	assert(i < pending->count); /* armed, so it must be in this loop */
	if (pending->few == 0) {
		heap_remove(pending, i);
		return;
	}
	pending->count--;
	for (; i < pending->count; i++) {
		copy(pending, i, i + 1);
	}
}

void sl_pending_fini(struct sl_pending *pending)
{
	free(pending->due);
	free(pending->slot);
	*pending = (struct sl_pending){0};
}
