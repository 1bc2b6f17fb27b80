/*
 * What the event loop costs over the bare data structure: the hold model (take the earliest, put it back
 * later) with PENDING entries, once through the loop in virtual time with a callback per event, once as a
 * bare 4-ary heap that orders by (due, seq) too. CPU time, alternate rounds, the same increments.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/base/loop.h"
#include "sim/base/rng.h"

#define ROUNDS 15
#define EVENTS 2000000u
#define MEAN_NS 1000000u

struct hold_entry {
	int64_t due_ns;
	uint64_t seq;
	uint64_t item;
};

struct hold {
	struct hold_entry *heap;
	size_t count;
	uint64_t next_seq;
};

struct load {
	struct sl_loop *loop;
	struct sl_rng rng;
	uint64_t left;
};

struct load_timer {
	struct sl_timer timer;
	struct load *load;
};

static double cpu_seconds(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) != 0) {
		abort();
	}
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int64_t later(struct sl_rng *rng, int64_t now_ns)
{
	return now_ns + 1 + (int64_t)sl_rng_below(rng, UINT64_C(2) * MEAN_NS);
}

static inline bool plain_before(const struct hold_entry *a, const struct hold_entry *b)
{
	return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->seq < b->seq);
}

static inline size_t plain_least(const struct hold *hold, size_t first)
{
	size_t end = first + 4 < hold->count ? first + 4 : hold->count, least = first;

	for (size_t i = first + 1; i < end; i++) {
		if (plain_before(&hold->heap[i], &hold->heap[least])) {
			least = i;
		}
	}
	return least;
}

static inline bool tuned_before(const struct hold_entry *a, const struct hold_entry *b)
{
	unsigned __int128 ka = ((unsigned __int128)(uint64_t)a->due_ns << 64) | a->seq;
	unsigned __int128 kb = ((unsigned __int128)(uint64_t)b->due_ns << 64) | b->seq;

	return ka < kb;
}

static inline size_t tuned_least(const struct hold *hold, size_t first)
{
	size_t least = first;

	if (first + 4 <= hold->count) {
		size_t a = first + (tuned_before(&hold->heap[first + 1], &hold->heap[first]) ? 1 : 0);
		size_t b = first + 2 + (tuned_before(&hold->heap[first + 3], &hold->heap[first + 2]) ? 1 : 0);

		return tuned_before(&hold->heap[b], &hold->heap[a]) ? b : a;
	}
	for (size_t i = first + 1; i < hold->count; i++) {
		if (tuned_before(&hold->heap[i], &hold->heap[least])) {
			least = i;
		}
	}
	return least;
}

static inline void hold_down(struct hold *hold, struct hold_entry entry, bool tuned)
{
	size_t hole = 0;

	for (size_t first = 1; first < hold->count; first = 4 * hole + 1) {
		size_t least = tuned ? tuned_least(hold, first) : plain_least(hold, first);

		if (!(tuned ? tuned_before(&hold->heap[least], &entry)
			    : plain_before(&hold->heap[least], &entry))) {
			break;
		}
		hold->heap[hole] = hold->heap[least];
		hole = least;
	}
	hold->heap[hole] = entry;
}

/* CPU ns per event of a bare heap. Inlined twice, so that `tuned` is a constant. */
static inline __attribute__((always_inline)) double hold_round(size_t pending, bool tuned, uint64_t *checksum)
{
	struct hold hold = {.heap = calloc(pending, sizeof(*hold.heap)), .count = pending};
	struct sl_rng rng;
	double start;

	if (hold.heap == NULL) {
		abort();
	}
	sl_rng_init(&rng, 1, "hold");
	/* Equal keys are a heap; the first `pending` events spread them. */
	for (size_t i = 0; i < pending; i++) {
		hold.heap[i] = (struct hold_entry){0, hold.next_seq++, i};
	}
	start = cpu_seconds();
	for (uint64_t n = 0; n < EVENTS; n++) {
		struct hold_entry entry = hold.heap[0];

		entry.due_ns = later(&rng, entry.due_ns);
		entry.seq = hold.next_seq++;
		hold_down(&hold, entry, tuned);
	}
	start = (cpu_seconds() - start) / EVENTS * 1e9;
	*checksum += (uint64_t)hold.heap[0].due_ns;
	free(hold.heap);
	return start;
}

static void load_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct load_timer *self = sl_container_of(timer, struct load_timer, timer);

	sl_loop_arm(self->load->loop, timer, later(&self->load->rng, now_ns));
	if (--self->load->left == 0) {
		sl_loop_stop(self->load->loop);
	}
}

/* CPU ns per event of the loop. */
static double loop_round(size_t pending, uint64_t *checksum)
{
	struct load load = {.loop = sl_loop_new_virtual(), .left = EVENTS};
	struct load_timer *timers = calloc(pending, sizeof(*timers));
	double start;

	if (load.loop == NULL || timers == NULL) {
		abort();
	}
	sl_rng_init(&load.rng, 1, "hold");
	for (size_t i = 0; i < pending; i++) {
		timers[i] = (struct load_timer){.timer = {.fire = load_fire}, .load = &load};
		sl_loop_arm(load.loop, &timers[i].timer, 0);
	}
	start = cpu_seconds();
	if (sl_loop_run(load.loop, NULL) != 0) {
		abort();
	}
	start = (cpu_seconds() - start) / EVENTS * 1e9;
	*checksum += (uint64_t)sl_loop_now(load.loop);
	sl_loop_free(load.loop);
	free(timers);
	return start;
}

static int order(const void *a, const void *b)
{
	double da = *(const double *)a, db = *(const double *)b;

	return (da > db) - (da < db);
}

static __attribute__((noinline)) double plain_round(size_t pending, uint64_t *checksum)
{
	return hold_round(pending, false, checksum);
}

static __attribute__((noinline)) double tuned_round(size_t pending, uint64_t *checksum)
{
	return hold_round(pending, true, checksum);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), order);
	return values[ROUNDS / 2];
}

static void compare(size_t pending)
{
	double loop_ns[ROUNDS], plain_ns[ROUNDS], tuned_ns[ROUNDS], to_plain[ROUNDS], to_tuned[ROUNDS];
	uint64_t checksum = 0;

	/* Ratios of neighbours in time: the machine's moods cancel out. */
	for (int i = 0; i < ROUNDS; i++) {
		loop_ns[i] = loop_round(pending, &checksum);
		plain_ns[i] = plain_round(pending, &checksum);
		tuned_ns[i] = tuned_round(pending, &checksum);
		to_plain[i] = plain_ns[i] / loop_ns[i];
		to_tuned[i] = tuned_ns[i] / loop_ns[i];
	}
	printf("%6zu pending, CPU ns/event: loop %.1f, textbook heap %.1f, tuned heap %.1f; speed of the "
	       "loop: %.2fx of "
	       "the textbook heap, %.2fx of the tuned one (medians of %d, checksum %" PRIu64 ")\n",
	       pending, median(loop_ns), median(plain_ns), median(tuned_ns), median(to_plain),
	       median(to_tuned), ROUNDS, checksum);
}

int main(void)
{
	static const size_t pending[] = {20, 1000, 10000};

	for (size_t i = 0; i < sizeof(pending) / sizeof(pending[0]); i++) {
		compare(pending[i]);
	}
	return 0;
}
