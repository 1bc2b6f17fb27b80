#include "sim/guest/innodb.h"

#include "sim/workload/lru.h"

#define LOG_BLOCK 512
#define UNDO_PAGES 128u
#define TXNS_PER_UNDO_PAGE 25 /* about 600 bytes of undo per transaction */
#define BATCH 64u
#define SECOND_NS INT64_C(1000000000)

enum { /* of db->dirty */
	STAYS,
	PASSES
};

static void flush_more(struct sl_innodb *db, int64_t now_ns);
static void write_log(struct sl_innodb *db, int64_t now_ns, uint64_t tag);

/* max_checkpoint_age: what is left of the log after headers and the margin for running threads. */
static int64_t max_age(const struct sl_innodb_config *config)
{
	return config->log_bytes / 10 * 8;
}

static uint32_t dirty_count(const struct sl_innodb *db)
{
	return db->dirty[STAYS].count + db->dirty[PASSES].count;
}

/* Which list has the oldest change; -1 when nothing is dirty. */
static int oldest_list(const struct sl_innodb *db)
{
	const struct sl_dirty_pages *a = &db->dirty[STAYS], *b = &db->dirty[PASSES];

	if (a->count == 0 || b->count == 0) {
		return a->count > 0 ? STAYS : b->count > 0 ? PASSES : -1;
	}
	return sl_dirty_pages_get(a, 0)->lsn <= sl_dirty_pages_get(b, 0)->lsn ? STAYS : PASSES;
}

static int64_t oldest_lsn(const struct sl_innodb *db)
{
	int list = oldest_list(db);

	return list < 0 ? db->lsn : sl_dirty_pages_get(&db->dirty[list], 0)->lsn;
}

static int64_t checkpoint_age(const struct sl_innodb *db)
{
	return db->lsn - (db->n_batch > 0 ? db->batch_lsn : oldest_lsn(db));
}

/* Redo log */

static void log_synced(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_innodb *db = sl_container_of(timer, struct sl_innodb, log_sync.done);
	struct sl_innodb_waiter *ready = db->waiters, **at = &ready;

	if (db->config.trace) {
		sl_trace_thread(db->config.trace, "InnoDB", "redo log sync", db->log_sync.tag,
				db->log_start_ns, now_ns);
	}
	db->flushed_lsn = db->syncing_lsn;
	db->log_busy = false;
	while (*at && (*at)->lsn <= db->flushed_lsn) {
		at = &(*at)->next;
	}
	db->waiters = *at;
	*at = NULL;
	if (!db->waiters) {
		db->waiters_tail = &db->waiters;
	} else {
		write_log(db, now_ns, db->waiters->tag);
	}
	while (ready) {
		struct sl_innodb_waiter *waiter = ready;

		ready = waiter->next;
		sl_timer_fire(&waiter->done, now_ns);
	}
}

/* Writes the log up to the present LSN, from the last block that was begun: into the page cache. */
static void put_log(struct sl_innodb *db, int64_t now_ns)
{
	int64_t start = db->writing_lsn / LOG_BLOCK * LOG_BLOCK;
	int64_t end = (db->lsn + LOG_BLOCK - 1) / LOG_BLOCK * LOG_BLOCK;
	int64_t offset = start % db->config.log_bytes;

	if (offset + end - start > db->config.log_bytes) {
		offset = 0; /* wrapped: counted as one write at the start */
	}
	db->writing_lsn = db->lsn;
	if (end > start) { /* else the what-if without redo */
		sl_ext4_write(db->config.fs, now_ns, SL_INNODB_LOG, offset, (uint32_t)(end - start), false);
	}
}

static void write_log(struct sl_innodb *db, int64_t now_ns, uint64_t tag)
{
	if (db->config.flush_at_commit != SL_FLUSH_LOG_WRITE) {
		put_log(db, now_ns); /* else the commits have done so */
	}
	db->log_busy = true;
	db->log_syncs++;
	db->syncing_lsn = db->writing_lsn;
	db->log_start_ns = now_ns;
	db->log_sync.file = SL_INNODB_LOG;
	db->log_sync.datasync = db->config.datasync;
	db->log_sync.tag = tag;
	db->log_sync.done.fire = log_synced;
	sl_ext4_fsync(db->config.fs, now_ns, &db->log_sync);
}

/* What commits have not waited for. */
static void write_log_behind(struct sl_innodb *db, int64_t now_ns)
{
	if (db->config.flush_at_commit != SL_FLUSH_LOG_SYNC && !db->log_busy && db->flushed_lsn < db->lsn) {
		write_log(db, now_ns, 0);
	}
}

/* Dirty pages */

static void dirty_page(struct sl_innodb *db, uint32_t page, bool stays)
{
	sl_dirty_pages_add(&db->dirty[stays ? STAYS : PASSES], page, db->lsn, db->txns);
}

static void apply(struct sl_innodb *db, const struct sl_oltp_txn *txn, uint32_t buffered)
{
	const struct sl_buffer_pool *pool = &db->pool;
	uint32_t undo = (uint32_t)(db->txns / TXNS_PER_UNDO_PAGE % UNDO_PAGES);

	for (int i = 0; i < txn->count; i++) {
		const struct sl_oltp_statement *s = &txn->statements[i];
		bool index = s->kind == SL_OLTP_UPDATE_INDEX || s->kind == SL_OLTP_INSERT;
		uint32_t row = s->key - 1;
		int strip;

		if (s->kind < SL_OLTP_UPDATE_INDEX || s->kind == SL_OLTP_COMMIT) {
			continue;
		}
		strip = sl_buffer_pool_strip(pool, row);
		dirty_page(db, sl_innodb_leaf(db, row), sl_buffer_pool_keeps(pool, SL_PAGE_LEAF, strip));
		if (index && !(buffered >> i & 1)) {
			dirty_page(db, sl_innodb_index_page(db, row),
				   sl_buffer_pool_keeps(pool, SL_PAGE_INDEX, strip));
		}
	}
	dirty_page(db, pool->leaf_pages + pool->index_pages + undo, true);
}

/* Pages at the end of the LRU list that must be written before they can give way; counted up to `limit`. */
static uint32_t overdue(const struct sl_innodb *db, uint32_t limit)
{
	const struct sl_dirty_pages *list = &db->dirty[PASSES];
	uint32_t n = 0;

	while (n < limit && n < list->count &&
	       (double)(db->txns - sl_dirty_pages_get(list, n)->txn) > db->pool.kept_txns) {
		n++;
	}
	return n;
}

/* Is next to nothing in the pool clean? */
static bool is_choked(const struct sl_innodb *db)
{
	return (dirty_count(db) + BATCH) * (double)SL_PAGE_BYTES > db->pool.config.pool_bytes;
}

static bool may_begin(const struct sl_innodb *db)
{
	return checkpoint_age(db) <= max_age(&db->config) && !is_choked(db);
}

static bool has_room(const struct sl_innodb *db)
{
	return overdue(db, 2 * BATCH) < 2 * BATCH;
}

static void wait_in(struct sl_innodb_waiter **list, struct sl_innodb_waiter *waiter)
{
	waiter->next = *list;
	*list = waiter;
}

static void release(struct sl_innodb_waiter **list, int64_t now_ns)
{
	struct sl_innodb_waiter *waiter = *list;

	*list = NULL;
	while (waiter) {
		struct sl_innodb_waiter *next = waiter->next;

		sl_timer_fire(&waiter->done, now_ns);
		waiter = next;
	}
}

static void start_page_sync(struct sl_innodb *db, int64_t now_ns)
{
	db->page_sync.file = SL_INNODB_DATA;
	db->page_sync.datasync = db->config.datasync;
	db->page_sync.tag = 0;
	sl_ext4_fsync(db->config.fs, now_ns, &db->page_sync);
}

static void write_pages(struct sl_innodb *db, int64_t now_ns)
{
	for (uint32_t i = 0; i < db->n_batch; i++) {
		sl_ext4_write(db->config.fs, now_ns, SL_INNODB_DATA, sl_innodb_page_offset(db->batch[i]),
			      SL_PAGE_BYTES, false);
	}
	start_page_sync(db, now_ns);
}

/* After the doublewrite buffer the pages, after the pages the next batch. */
static void page_synced(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_innodb *db = sl_container_of(timer, struct sl_innodb, page_sync.done);

	if (!db->batch_written) {
		db->batch_written = true;
		write_pages(db, now_ns);
		return;
	}
	db->pages_flushed += db->n_batch;
	db->n_batch = 0;
	db->flushing = false;
	if (may_begin(db)) {
		release(&db->stalled, now_ns);
	}
	if (has_room(db)) {
		release(&db->no_room, now_ns);
	}
	flush_more(db, now_ns);
}

/* Takes pages out for a batch: those at the end of the LRU list (passing), or the oldest changes. */
static void take_batch(struct sl_innodb *db, bool passing, uint32_t n)
{
	db->batch_lsn = oldest_lsn(db);
	for (db->n_batch = 0; db->n_batch < n; db->n_batch++) {
		int list = passing ? PASSES : oldest_list(db);

		db->batch[db->n_batch] = sl_dirty_pages_pop(&db->dirty[list]).page;
	}
}

/* Starts a batch when pages are owed, or when the log or the pool fills up. */
static void flush_more(struct sl_innodb *db, int64_t now_ns)
{
	uint32_t n = dirty_count(db), last = overdue(db, BATCH);

	if (db->flushing || n == 0) {
		return;
	}
	if (checkpoint_age(db) <= max_age(&db->config) / 8 * 7 && !is_choked(db)) {
		n = n < db->wanted ? n : db->wanted;
	}
	n = n < BATCH ? n : BATCH;
	last = last == BATCH ? last : 0; /* fewer than a batch are not worth one */
	if (n == 0 && last == 0) {
		return;
	}
	db->wanted -= n < db->wanted ? n : db->wanted;
	take_batch(db, last > n, last > n ? last : n);
	write_log_behind(db, now_ns); /* what pages hold must be in the log first */
	db->flushing = true;
	db->batch_written = db->config.no_doublewrite;
	if (db->config.no_doublewrite) {
		write_pages(db, now_ns);
	} else {
		sl_ext4_write(db->config.fs, now_ns, SL_INNODB_DATA, 0, db->n_batch * SL_PAGE_BYTES, false);
		start_page_sync(db, now_ns);
	}
}

/* Pages of a list whose first change is not younger than `lsn`, up to `limit`. */
static uint32_t pages_until(const struct sl_dirty_pages *list, int64_t lsn, uint32_t limit)
{
	uint32_t n = 0;

	while (n < limit && n < list->count && sl_dirty_pages_get(list, n)->lsn <= lsn) {
		n++;
	}
	return n;
}

/* Pages to flush for this second: the estimate keeps the age from growing at the present rate of redo. */
static uint32_t estimate(const struct sl_innodb *db)
{
	double n = dirty_count(db), redo = (double)(db->lsn - db->last_second_lsn);
	double sum = (double)(db->dirty[STAYS].lsn_sum + db->dirty[PASSES].lsn_sum);
	double level = n * (double)(max_age(&db->config) - db->lsn) + sum;
	int64_t until = oldest_lsn(db) + (int64_t)redo;
	uint32_t limit, stays;

	if (n == 0 || checkpoint_age(db) <= max_age(&db->config) / 4 || level <= 0) {
		return 0;
	}
	limit = (uint32_t)(n * n * redo / level);
	stays = pages_until(&db->dirty[STAYS], until, limit);
	return stays + pages_until(&db->dirty[PASSES], until, limit - stays);
}

static void second_passed(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_innodb *db = sl_container_of(timer, struct sl_innodb, second);

	db->wanted = estimate(db);
	if (dirty_count(db) * (double)SL_PAGE_BYTES >
		db->config.max_dirty_share * db->pool.config.pool_bytes &&
	    db->wanted < db->config.io_capacity) {
		db->wanted = (uint32_t)db->config.io_capacity;
	}
	db->seconds++;
	if (db->seconds % 10 == 0) {
		db->wanted += (uint32_t)(db->config.io_capacity / 10);
	}
	db->last_second_lsn = db->lsn;
	write_log_behind(db, now_ns);
	flush_more(db, now_ns);
	sl_loop_arm(db->config.loop, &db->second, now_ns + SECOND_NS);
}

bool sl_innodb_begin(struct sl_innodb *db, struct sl_innodb_waiter *waiter)
{
	waiter->statement = waiter->step = waiter->steps = 0;
	waiter->buffered = 0;
	if (may_begin(db)) {
		return true;
	}
	wait_in(&db->stalled, waiter);
	return false;
}

bool sl_innodb_make_room(struct sl_innodb *db, int64_t now_ns, struct sl_innodb_waiter *waiter)
{
	flush_more(db, now_ns);
	if (has_room(db)) {
		return true;
	}
	wait_in(&db->no_room, waiter);
	return false;
}

void sl_innodb_commit(struct sl_innodb *db, int64_t now_ns, const struct sl_oltp_txn *txn,
		      struct sl_innodb_waiter *waiter)
{
	apply(db, txn, waiter->buffered);
	db->txns++;
	db->lsn += db->config.redo_bytes;
	waiter->lsn = db->lsn;
	waiter->next = NULL;
	if (db->config.flush_at_commit != SL_FLUSH_LOG_SYNC) {
		if (db->config.flush_at_commit == SL_FLUSH_LOG_WRITE) {
			put_log(db, now_ns);
		}
		sl_loop_arm(db->config.loop, &waiter->done, now_ns);
	} else {
		*db->waiters_tail = waiter;
		db->waiters_tail = &waiter->next;
		if (!db->log_busy) {
			write_log(db, now_ns, waiter->tag);
		}
	}
	flush_more(db, now_ns);
}

int64_t sl_innodb_file_bytes(const struct sl_innodb_config *config)
{
	uint32_t rows = config->pool.load.rows;
	int64_t pages = (int64_t)sl_table_leaf_pages(rows, config->pool.row_bytes) +
			sl_table_index_pages(rows) + UNDO_PAGES;
	int64_t data = SL_INNODB_DOUBLEWRITE_BYTES + pages * SL_PAGE_BYTES;

	return data > config->log_bytes ? data : config->log_bytes;
}

void sl_innodb_init_pool(struct sl_buffer_pool *pool, const struct sl_innodb_config *config)
{
	struct sl_buffer_pool_config own = config->pool;

	own.log_txns =
	    config->redo_bytes > 0 ? (double)max_age(config) / (double)config->redo_bytes : SL_LRU_FOREVER;
	sl_buffer_pool_init(pool, &own, config->seed);
}

void sl_innodb_init(struct sl_innodb *db, const struct sl_innodb_config *config)
{
	*db = (struct sl_innodb){.config = *config};
	sl_innodb_init_pool(&db->pool, config);
	db->waiters_tail = &db->waiters;
	db->page_sync.done.fire = page_synced;
	db->second.fire = second_passed;
	sl_loop_arm(config->loop, &db->second, SECOND_NS);
}

void sl_innodb_fini(struct sl_innodb *db)
{
	sl_dirty_pages_fini(&db->dirty[STAYS]);
	sl_dirty_pages_fini(&db->dirty[PASSES]);
}
