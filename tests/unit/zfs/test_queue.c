/* The queue of a leaf: who goes first, how many at a time, and what is joined. */
#include "sim/zfs/queue.h"
#include "tests/unit/zfs/lib.h"

#define ITEMS 64

struct rig {
	struct sl_loop *loop;
	struct notes notes;
	struct fake_disk *disk;
	struct sl_queue_limits limits;
	struct sl_queue queue;
	struct sl_queue_item items[ITEMS];
	int n, done;
};

static struct rig *rig_of_items; /* the completion has no other way to count */

static void item_done(struct sl_timer *timer, int64_t now_ns)
{
	(void)timer;
	(void)now_ns;
	rig_of_items->done++;
}

/* Every request takes 1 ms. */
static struct rig *rig_new(int write_min, int write_max)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	cr_assert_not_null(rig);
	rig_of_items = rig;
	rig->loop = sl_loop_new_virtual();
	rig->limits = (struct sl_queue_limits){.async_write_min = write_min, .async_write_max = write_max};
	rig->disk = fake_disk_new(rig->loop, &rig->notes, "disk", MS, 0);
	sl_queue_init(&rig->queue, &rig->disk->dev, &rig->limits);
	return rig;
}

static void rig_free(struct rig *rig)
{
	run_all(rig->loop);
	cr_assert_eq(rig->done, rig->n);
	sl_queue_fini(&rig->queue);
	sl_dev_free(&rig->disk->dev);
	sl_loop_free(rig->loop);
	free(rig);
}

static void add(struct rig *rig, enum sl_queue_class class, int64_t offset_kib, int64_t kib)
{
	struct sl_queue_item *item = &rig->items[rig->n++];

	cr_assert(rig->n <= ITEMS);
	*item = (struct sl_queue_item){
	    .done.fire = item_done, .class = class, .offset_bytes = offset_kib * KIB, .bytes = kib * KIB};
	sl_queue_add(&rig->queue, sl_loop_now(rig->loop), item);
}

Test(queue, each_class_has_its_limit)
{
	static const struct {
		enum sl_queue_class class;
		int limit;
	} rows[] = {{SL_QUEUE_SYNC_READ, 10},
		    {SL_QUEUE_SYNC_WRITE, 10},
		    {SL_QUEUE_ASYNC_READ, 3},
		    {SL_QUEUE_ASYNC_WRITE, 7}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig *rig = rig_new(2, 7);

		for (int n = 0; n < 20; n++) {
			add(rig, rows[i].class, n * 100, 4);
		}
		cr_assert_eq(notes_count(&rig->notes, "[0ms]"), rows[i].limit, "class %zu", i);
		rig_free(rig);
	}
}

/* 10 synchronous writes are active and 10 more wait; of 20 asynchronous ones the minimum is active. When one
 * of each ends, both classes are below their minimum, and the synchronous one goes first. */
Test(queue, the_minimum_of_each_class_comes_before_the_maximum_of_any)
{
	struct rig *rig = rig_new(2, 10);

	for (int i = 0; i < 20; i++) {
		add(rig, SL_QUEUE_SYNC_WRITE, i * 100, 4);
	}
	for (int i = 0; i < 20; i++) {
		add(rig, SL_QUEUE_ASYNC_WRITE, 9000 + i * 100, 8);
	}
	cr_assert_eq(notes_count(&rig->notes, "[0ms] disk write 4K"), 10);
	cr_assert_eq(notes_count(&rig->notes, "[0ms] disk write 8K"), 10); /* nobody else wants the rest */
	notes_clear(&rig->notes);
	cr_assert_eq(sl_loop_run_until(rig->loop, MS, NULL), 0);
	cr_assert_eq(notes_count(&rig->notes, "[1ms] disk write 4K"), 10);
	cr_assert_eq(notes_count(&rig->notes, "[1ms] disk write 8K"), 10);
	rig_free(rig);
}

Test(queue, synchronous_requests_keep_their_order_and_asynchronous_ones_go_by_offset)
{
	struct rig *rig = rig_new(1, 1);

	for (int i = 0; i < 10; i++) {
		add(rig, SL_QUEUE_SYNC_WRITE, 5000, 64);
	}
	add(rig, SL_QUEUE_SYNC_WRITE, 300, 3);
	add(rig, SL_QUEUE_SYNC_WRITE, 100, 1);
	add(rig, SL_QUEUE_SYNC_WRITE, 200, 2);
	run_all(rig->loop);
	cr_assert(strstr(rig->notes.text, "write 3K\n[1ms] disk write 1K\n[1ms] disk write 2K"));
	notes_clear(&rig->notes);
	add(rig, SL_QUEUE_ASYNC_WRITE, 400, 4); /* goes at once; then onwards from there, and around */
	add(rig, SL_QUEUE_ASYNC_WRITE, 300, 3);
	add(rig, SL_QUEUE_ASYNC_WRITE, 600, 6);
	add(rig, SL_QUEUE_ASYNC_WRITE, 100, 1);
	add(rig, SL_QUEUE_ASYNC_WRITE, 500, 5);
	run_all(rig->loop);
	notes_expect(&rig->notes, "[2ms] disk write 4K\n"
				  "[3ms] disk write 5K\n"
				  "[4ms] disk write 6K\n"
				  "[5ms] disk write 1K\n"
				  "[6ms] disk write 3K\n");
	rig_free(rig);
}

Test(queue, neighbours_are_joined_up_to_a_size)
{
	struct rig *rig = rig_new(1, 1);

	rig->limits.join_bytes = 64 * KIB;
	add(rig, SL_QUEUE_ASYNC_WRITE, 0, 24); /* nothing waits yet */
	for (int i = 1; i <= 5; i++) {
		add(rig, SL_QUEUE_ASYNC_WRITE, 24 * i, 24);
	}
	run_all(rig->loop);
	notes_expect(&rig->notes, "[0ms] disk write 24K\n"
				  "[1ms] disk write 48K\n"
				  "[2ms] disk write 48K\n"
				  "[3ms] disk write 24K\n");
	rig_free(rig);
}

/* Reads over gaps of 32 KiB; writes only over the padding of raidz; synchronous ones not at all in 0.6.3. */
Test(queue, gaps_are_read_over_and_written_over_only_where_they_are_padding)
{
	static const struct {
		enum sl_queue_class class;
		int64_t write_gap, gap_kib;
		const char *second;
		bool join_sync;
	} rows[] = {
	    {SL_QUEUE_ASYNC_READ, 0, 32, "read 48K", false},
	    {SL_QUEUE_ASYNC_READ, 0, 33, "read 8K", false},
	    {SL_QUEUE_ASYNC_WRITE, 0, 0, "write 16K", false},
	    {SL_QUEUE_ASYNC_WRITE, 0, 4, "write 8K", false},
	    {SL_QUEUE_ASYNC_WRITE, 4096, 4, "write 20K", false},
	    {SL_QUEUE_ASYNC_WRITE, 4096, 5, "write 8K", false},
	    {SL_QUEUE_SYNC_WRITE, 4096, 0, "write 8K", false},
	    {SL_QUEUE_SYNC_WRITE, 0, 0, "write 16K", true},
	    {SL_QUEUE_SYNC_WRITE, 0, 4, "write 8K", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig *rig = rig_new(1, 1);
		int active = rows[i].class == SL_QUEUE_ASYNC_READ    ? 3
			     : rows[i].class == SL_QUEUE_ASYNC_WRITE ? 1
								     : 10;

		rig->limits.join_bytes = 128 * KIB;
		rig->limits.write_gap_bytes = rows[i].write_gap;
		rig->limits.join_sync = rows[i].join_sync;
		for (int n = 0; n < active; n++) {
			add(rig, rows[i].class, n * 1000, 4);
		}
		add(rig, rows[i].class, 50000, 8);
		add(rig, rows[i].class, 50000 + 8 + rows[i].gap_kib, 8);
		notes_clear(&rig->notes);
		run_all(rig->loop);
		cr_assert(strstr(rig->notes.text, rows[i].second) != NULL, "row %zu: %s", i, rig->notes.text);
		rig_free(rig);
	}
}
