#include "tests/lib/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds without trailing zeros. */
static void format_ms(char *buf, size_t size, int64_t ns)
{
	size_t n = (size_t)snprintf(buf, size, "%lld.%06lld", (long long)(ns / MS), (long long)(ns % MS));

	while (buf[n - 1] == '0') {
		buf[--n] = '\0';
	}
	if (buf[n - 1] == '.') {
		buf[n - 1] = '\0';
	}
}

void notes_add(struct notes *notes, int64_t now_ns, const char *fmt, ...)
{
	char time[48], line[128];
	va_list args;
	int n;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	format_ms(time, sizeof(time), now_ns);
	n = snprintf(notes->text + notes->used, sizeof(notes->text) - notes->used, "[%sms] %s\n", time, line);
	notes->used += (size_t)n;
	cr_assert(notes->used < sizeof(notes->text), "the notes are full");
}

void notes_clear(struct notes *notes)
{
	notes->used = 0;
	notes->text[0] = '\0';
}

int notes_count(const struct notes *notes, const char *word)
{
	int n = 0;

	for (const char *at = strstr(notes->text, word); at; at = strstr(at + 1, word)) {
		n++;
	}
	return n;
}

static void bell_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct bell *bell = sl_container_of(timer, struct bell, timer);

	bell->fired++;
	bell->at_ns = now_ns;
	if (bell->notes) {
		notes_add(bell->notes, now_ns, "%s done", bell->name);
	}
}

struct bell bell_make(struct notes *notes, const char *name)
{
	return (struct bell){.timer.fire = bell_fire, .notes = notes, .name = name, .at_ns = -1};
}

static void event_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct event *event = sl_container_of(timer, struct event, timer);

	event->run(event->arg, now_ns);
}

void event_at(struct event *event, struct sl_loop *loop, int64_t at_ns,
	      void (*run)(void *arg, int64_t now_ns), void *arg)
{
	*event = (struct event){.timer.fire = event_fire, .run = run, .arg = arg};
	sl_loop_arm(loop, &event->timer, at_ns);
}

void run_all(struct sl_loop *loop)
{
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
}

/* "16K", or bytes where it is not whole KiB. */
static const char *size_text(char *buf, size_t size, int64_t bytes)
{
	bool whole = bytes % KIB == 0;

	snprintf(buf, size, "%lld%s", (long long)(whole ? bytes / KIB : bytes), whole ? "K" : "B");
	return buf;
}

static void disk_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct fake_disk *disk = sl_container_of(dev, struct fake_disk, dev);
	bool flush = req->op == SL_DEV_FLUSH;
	char size[32];

	if (disk->notes && flush) {
		notes_add(disk->notes, now_ns, "%s flush", disk->name);
	} else if (disk->notes) {
		notes_add(disk->notes, now_ns, "%s %s %s", disk->name,
			  req->op == SL_DEV_READ ? "read" : "write",
			  size_text(size, sizeof(size), req->bytes));
	}
	dev->stats.writes += req->op == SL_DEV_WRITE;
	dev->stats.reads += req->op == SL_DEV_READ;
	dev->stats.flushes += flush;
	dev->stats.bytes_written += req->op == SL_DEV_WRITE ? req->bytes : 0;
	sl_loop_arm(dev->loop, &req->done, now_ns + (flush ? disk->flush_ns : disk->io_ns));
}

static void disk_free(struct sl_dev *dev)
{
	free(sl_container_of(dev, struct fake_disk, dev));
}

static const struct sl_dev_ops disk_ops = {.submit = disk_submit, .free = disk_free};

struct fake_disk *fake_disk_new(struct sl_loop *loop, struct notes *notes, const char *name, int64_t io_ns,
				int64_t flush_ns)
{
	struct fake_disk *disk = calloc(1, sizeof(*disk));

	cr_assert_not_null(disk);
	disk->dev.ops = &disk_ops;
	disk->dev.loop = loop;
	disk->notes = notes;
	disk->name = name;
	disk->io_ns = io_ns;
	disk->flush_ns = flush_ns;
	return disk;
}

static void store_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	static const char *const ops[] = {"READ", "WRITE", "COMMIT", "GETATTR", "META"};
	static const char *const stable[] = {"UNSTABLE ", "DATA_SYNC ", "FILE_SYNC "};
	struct fake_store *fake = sl_container_of(store, struct fake_store, store);
	char size[32] = "";

	fake->calls++;
	if (fake->notes && req->bytes > 0) {
		notes_add(fake->notes, now_ns, "%s %s%s", ops[req->op],
			  req->op == SL_STORE_WRITE ? stable[req->stable] : "",
			  size_text(size, sizeof(size), req->bytes));
	} else if (fake->notes) {
		notes_add(fake->notes, now_ns, "%s", ops[req->op]);
	}
	sl_loop_arm(fake->loop, &req->done, now_ns + fake->call_ns);
}

static void store_free(struct sl_store *store)
{
	(void)store;
}

static const struct sl_store_ops store_ops = {.submit = store_submit, .free = store_free};

void fake_store_init(struct fake_store *fake, struct sl_loop *loop, struct notes *notes, int64_t call_ns)
{
	*fake =
	    (struct fake_store){.store.ops = &store_ops, .loop = loop, .notes = notes, .call_ns = call_ns};
}
