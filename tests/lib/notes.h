/*
 * Golden traces in virtual time: doubles of the seams write what happens into one text, line by line, and the
 * test compares that with the text it expects: "[1.5ms] log0 write 4K".
 */
#ifndef SL_TESTS_LIB_NOTES_H
#define SL_TESTS_LIB_NOTES_H

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/loop.h"
#include "sim/device/device.h"
#include "sim/store/store.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define SEC INT64_C(1000000000)
#define KIB INT64_C(1024)
#define MIB (1024 * KIB)

struct notes {
	char text[8192];
	size_t used;
};

/* Adds "[1.5ms] " and the text as a line. */
void notes_add(struct notes *notes, int64_t now_ns, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Forgets all lines. */
void notes_clear(struct notes *notes);

/* Number of lines that contain `word`. */
int notes_count(const struct notes *notes, const char *word);

#define notes_expect(notes, expected) \
	cr_assert(strcmp((notes)->text, (expected)) == 0, "expected\n%sgot\n%s", (expected), (notes)->text)

/* A completion that notes "NAME done" (when it has notes) and remembers its time. */
struct bell {
	struct sl_timer timer;
	struct notes *notes;
	const char *name;
	int fired;
	int64_t at_ns;
};

struct bell bell_make(struct notes *notes, const char *name);

/* Calls `run` at a time: what a test lets happen later. */
struct event {
	struct sl_timer timer;
	void (*run)(void *arg, int64_t now_ns);
	void *arg;
};

void event_at(struct event *event, struct sl_loop *loop, int64_t at_ns,
	      void (*run)(void *arg, int64_t now_ns), void *arg);

/* Runs the loop until nothing is pending. */
void run_all(struct sl_loop *loop);

/* A disk of fixed latencies that serves any number of requests side by side and notes each. */
struct fake_disk {
	struct sl_dev dev;
	struct notes *notes; /* may be NULL */
	const char *name;
	int64_t io_ns, flush_ns;
};

/* The vdev or the test frees it with sl_dev_free. */
struct fake_disk *fake_disk_new(struct sl_loop *loop, struct notes *notes, const char *name, int64_t io_ns,
				int64_t flush_ns);

/* A store that takes `call_ns` for everything and notes each call. On the test's stack: nothing to free. */
struct fake_store {
	struct sl_store store;
	struct sl_loop *loop;
	struct notes *notes;
	int64_t call_ns;
	int calls;
};

void fake_store_init(struct fake_store *fake, struct sl_loop *loop, struct notes *notes, int64_t call_ns);

#endif
