/* Write-back: when dirty pages go to the disk, in which order, and who waits for it. A call takes 1 ms. */
#include "sim/base/rng.h"
#include "tests/unit/guest/lib.h"

/* 10 MiB of memory: write-back begins above 1 MiB of dirty data, writers wait above 2 MiB. */
static const struct sl_ext4_config small_memory = {.tick_ns = TICK,
						   .cache_bytes = 10 * MIB,
						   .background_percent = 10,
						   .limit_percent = 20,
						   .writeback_interval_ns = 5 * SEC,
						   .expire_ns = 30 * SEC,
						   .requests = 16};

/* Writes `left` blocks of 64 KiB one behind the other, as fast as it may. */
struct writer {
	struct sl_page_cache_waiter room;
	struct guest *guest;
	int64_t at;
	int left;
	int64_t first_wait_at, end_ns;
};

static void writer_go(struct writer *writer, int64_t now_ns)
{
	struct sl_page_cache *cache = &writer->guest->fs.cache;

	while (writer->left > 0 && !sl_page_cache_is_full(cache)) {
		sl_ext4_write(&writer->guest->fs, now_ns, 0, writer->at, 64 * KIB, false);
		writer->at += 64 * KIB;
		writer->left--;
	}
	writer->end_ns = now_ns;
	if (writer->left > 0) {
		writer->first_wait_at = writer->first_wait_at ? writer->first_wait_at : writer->at;
		sl_page_cache_throttle(cache, &writer->room);
	}
}

static void writer_room(struct sl_timer *timer, int64_t now_ns)
{
	writer_go(sl_container_of(timer, struct writer, room.done), now_ns);
}

/*
 * 2 MiB and one block go into memory at once. Then the disk takes 16 requests of 64 KiB each ms, 1 MiB/ms: of
 * 34 MiB the other 32 MiB take 32 ms. What is dirty at the end is on the disk but for 1 MiB, 1 ms later.
 */
Test(page_cache, writers_beyond_the_limit_go_on_at_the_rate_of_write_back)
{
	struct guest *guest = guest_with(SL_CLIENT_LIBNFS, 1, 64 * MIB, small_memory);
	struct writer writer = {.room.done.fire = writer_room, .guest = guest, .left = 34 * 16};

	guest->server.notes = NULL;
	writer_go(&writer, 0);
	cr_assert_eq(sl_loop_run_until(guest->loop, SEC, NULL), 0);
	cr_assert_eq(writer.left, 0);
	cr_assert_eq(writer.first_wait_at, 2 * MIB + 64 * KIB);
	cr_assert(llabs(writer.end_ns - 32 * MS) <= MS, "%lld us", (long long)writer.end_ns / 1000);
	cr_assert_leq(guest->fs.cache.dirty_bytes, MIB);
	cr_assert_geq(guest->fs.cache.dirty_bytes, MIB - 64 * KIB);
	guest_free(guest);
}

/* Below the background limit only age counts: at 30 s what was written at 0 s, at 40 s what was at 7 s. */
static void write_second_file(void *arg, int64_t now_ns)
{
	struct guest *guest = arg;

	sl_ext4_write(&guest->fs, now_ns, 1, 0, 8192, false);
}

Test(page_cache, data_older_than_30_s_is_written_at_the_next_tick)
{
	struct guest *guest = guest_with(SL_CLIENT_ESXI, 3, MIB, small_memory);
	struct event later;

	sl_ext4_write(&guest->fs, 0, 0, 0, 4096, false);
	event_at(&later, guest->loop, 7 * SEC, write_second_file, guest);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[30000ms] WRITE FILE_SYNC 4K\n"
				    "[40000ms] WRITE FILE_SYNC 8K\n");
	cr_assert_eq(guest->fs.cache.dirty_bytes, 0);
	guest_free(guest);
}

static void ignore(struct sl_timer *timer, int64_t now_ns)
{
	(void)timer;
	(void)now_ns;
}

Test(page_cache, a_sync_starts_the_age_of_later_data_anew)
{
	struct guest *guest = guest_with(SL_CLIENT_ESXI, 1, MIB, small_memory);
	struct sl_page_cache_waiter sync = {.done.fire = ignore};

	sl_ext4_write(&guest->fs, 0, 0, 0, 4096, false);
	cr_assert_eq(sl_loop_run_until(guest->loop, 18 * SEC, NULL), 0);
	cr_assert(!sl_page_cache_sync(&guest->fs.cache, 18 * SEC, 0, 0, &sync));
	cr_assert_eq(sl_loop_run_until(guest->loop, 19 * SEC, NULL), 0);
	sl_ext4_write(&guest->fs, 19 * SEC, 0, 0, 4096, false);
	run_all(guest->loop);
	/* Old at 49 s and not before; the clock of the flusher ticks each 5 s from the first write on. */
	notes_expect(&guest->notes, "[18000ms] WRITE FILE_SYNC 4K\n"
				    "[50000ms] WRITE FILE_SYNC 4K\n");
	guest_free(guest);
}

Test(page_cache, jbd2_commits_by_itself_after_5_s)
{
	struct sl_ext4_config config = {.tick_ns = TICK, .commit_interval_ns = 5 * SEC};
	struct guest *guest = guest_with(SL_CLIENT_LIBNFS, 1, MIB, config);

	sl_ext4_write(&guest->fs, 0, 0, 0, 4096, false);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[5000ms] WRITE UNSTABLE 8K\n"
				    "[5001ms] COMMIT\n"
				    "[5002ms] WRITE UNSTABLE 4K\n"
				    "[5003ms] COMMIT\n");
	cr_assert_eq(guest->fs.commits, 1);
	guest_free(guest);
}

/* A server that remembers which pages of the disk were written, and in which order. */
struct page_server {
	struct sl_store store;
	struct sl_loop *loop;
	int64_t start;
	bool *dirty; /* per page of the files, set by the test when it writes */
	int64_t last;
	int backwards, calls;
};

static void page_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	struct page_server *server = sl_container_of(store, struct page_server, store);

	if (req->op == SL_STORE_WRITE && req->offset_bytes >= server->start) {
		int64_t page = (req->offset_bytes - server->start) / SL_PAGE;

		server->backwards += page < server->last;
		server->last = page;
		server->calls++;
		for (int64_t end = page + req->bytes / SL_PAGE; page < end; page++) {
			server->dirty[page] = false;
		}
	}
	sl_loop_arm(server->loop, &req->done, now_ns + MS);
}

static const struct sl_store_ops page_ops = {.submit = page_submit};

static void page_server_init(struct page_server *server, struct guest *guest, bool *dirty)
{
	*server = (struct page_server){.store.ops = &page_ops,
				       .loop = guest->loop,
				       .start = sl_ext4_position(&guest->fs, 0, 0),
				       .dirty = dirty};
	guest->hyp.server = &server->store;
}

/* 2000 blocks of 4 KiB at random places of 64 MiB in any order: the flusher goes up, and begins anew once
 * or twice. */
Test(page_cache, write_back_goes_through_a_file_in_its_order)
{
	struct guest *guest = guest_with(SL_CLIENT_ESXI, 1, 64 * MIB, small_memory);
	bool *dirty = calloc(64 * MIB / SL_PAGE, sizeof(*dirty));
	struct page_server server;
	struct sl_rng rng;

	page_server_init(&server, guest, dirty);
	sl_rng_init(&rng, 1, "pages");
	for (int i = 0; i < 2000; i++) {
		sl_ext4_write(&guest->fs, 0, 0, (int64_t)sl_rng_below(&rng, 64 * MIB / SL_PAGE) * SL_PAGE,
			      SL_PAGE, false);
	}
	run_all(guest->loop);
	cr_assert_eq(guest->fs.cache.dirty_bytes, 0);
	/* 16384 (1 - e^(-2000 / 16384)) = 1883 pages, of which 11 % adjoin the one before: 1667 requests. */
	cr_assert(abs(server.calls - 1667) < 40, "%d", server.calls);
	cr_assert(server.backwards <= 3, "%d", server.backwards);
	free(dirty);
	guest_free(guest);
}

/* Whatever is written, synced and written directly: in the end each page is on the disk, and nothing is
 * counted that is not there. */
Test(page_cache, nothing_stays_behind)
{
	enum {
		FILES = 5,
		PAGES = 256,
		STEPS = 600
	};
	struct guest *guest = guest_with(SL_CLIENT_LIBNFS, FILES, PAGES * SL_PAGE, small_memory);
	struct sl_ext4_fsync *syncs = calloc(STEPS, sizeof(*syncs));
	struct sl_page_cache_direct *directs = calloc(STEPS, sizeof(*directs));
	bool dirty[FILES * PAGES] = {false};
	struct page_server server;
	struct sl_rng rng;

	page_server_init(&server, guest, dirty);
	sl_rng_init(&rng, 7, "pages");
	for (int i = 0; i < STEPS; i++) {
		int64_t now_ns = sl_loop_now(guest->loop);
		uint32_t file = (uint32_t)sl_rng_below(&rng, FILES), what = (uint32_t)sl_rng_below(&rng, 8);
		int64_t page = (int64_t)sl_rng_below(&rng, PAGES - 32);
		int64_t pages = 1 + (int64_t)sl_rng_below(&rng, 32);

		syncs[i].done.fire = directs[i].done.fire = ignore;
		if (what == 0) {
			syncs[i].file = file;
			sl_ext4_fsync(&guest->fs, now_ns, &syncs[i]);
		} else if (what == 1) {
			directs[i].file = file;
			directs[i].write = sl_rng_below(&rng, 2) == 0;
			directs[i].offset = page * SL_PAGE;
			directs[i].bytes = pages * SL_PAGE;
			sl_ext4_direct(&guest->fs, now_ns, &directs[i]);
		} else {
			sl_ext4_write(&guest->fs, now_ns, file, page * SL_PAGE, pages * SL_PAGE, false);
			memset(&dirty[file * PAGES + page], true, (size_t)pages);
		}
		cr_assert_eq(
		    sl_loop_run_until(guest->loop, now_ns + (int64_t)sl_rng_below(&rng, 2000) * US, NULL), 0);
	}
	run_all(guest->loop);
	for (int i = 0; i < FILES * PAGES; i++) {
		cr_assert(!dirty[i], "page %d of file %d never reached the disk", i % PAGES, i / PAGES);
	}
	cr_assert_eq(guest->fs.cache.dirty_bytes, 0);
	cr_assert_eq(guest->fs.cache.in_flight, 0);
	for (uint32_t i = 0; i < FILES; i++) {
		cr_assert(sl_page_cache_is_clean(&guest->fs.cache, i));
	}
	free(syncs);
	free(directs);
	guest_free(guest);
}

/* Notes when its request is done. */
struct direct {
	struct sl_page_cache_direct req;
	struct guest *guest;
};

static void direct_done(struct sl_timer *timer, int64_t now_ns)
{
	struct direct *direct = sl_container_of(timer, struct direct, req.done);

	notes_add(&direct->guest->notes, now_ns, "%s done", direct->req.write ? "write" : "read");
}

/* O_DIRECT: at once to the disk, all parts of a request side by side; what was dirty there is out of date. */
Test(page_cache, direct_requests_go_past_it)
{
	struct guest *guest = guest_new(SL_CLIENT_LIBNFS, 1, 4 * MIB);
	struct direct write = {
	    .guest = guest,
	    .req = {.done.fire = direct_done, .write = true, .offset = 16 * KIB, .bytes = 128 * KIB}};
	struct direct read = {.guest = guest, .req = {.done.fire = direct_done, .bytes = 16 * KIB}};
	struct sl_ext4_fsync sync = {.done.fire = ignore, .datasync = true};

	sl_ext4_write(&guest->fs, 0, 0, 0, 32 * KIB, false);
	sl_ext4_direct(&guest->fs, 0, &write.req);
	cr_assert_eq(guest->fs.cache.dirty_bytes, 16 * KIB);
	run_all(guest->loop);
	cr_assert_eq(notes_count(&guest->notes, "[0ms] WRITE UNSTABLE "), guest->server.calls);
	cr_assert_eq(notes_count(&guest->notes, "[1ms] write done"), 1);
	cr_assert(!sl_ext4_is_clean(&guest->fs, 0));
	notes_clear(&guest->notes);
	sl_ext4_direct(&guest->fs, sl_loop_now(guest->loop), &read.req);
	run_all(guest->loop);
	sl_ext4_fsync(&guest->fs, sl_loop_now(guest->loop), &sync);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[1ms] READ 16K\n"
				    "[2ms] read done\n"
				    "[2ms] WRITE UNSTABLE 16K\n"
				    "[3ms] COMMIT\n");
	guest_free(guest);
}
