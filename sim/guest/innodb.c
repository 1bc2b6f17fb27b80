#include "sim/guest/innodb.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE_BYTES 16384
#define LOG_BLOCK 512
#define INDEX_ROW_BYTES 16 /* secondary index entry: k, id, overhead */
#define UNDO_PAGES 128u
#define TXNS_PER_UNDO_PAGE 25 /* about 600 bytes of undo per transaction */
#define DOUBLEWRITE_BYTES (INT64_C(2) << 20)
#define BATCH 64u
#define LOG_FILE 0
#define DATA_FILE 1
#define SECOND_NS INT64_C(1000000000)

static void flush_more(struct sl_innodb *db, int64_t now_ns);
static void write_log(struct sl_innodb *db, int64_t now_ns, uint64_t tag);

/* max_checkpoint_age: what is left of the log after headers and the margin for running threads. */
static int64_t max_age(const struct sl_innodb *db)
{
	return db->config.log_bytes / 10 * 8;
}

static int64_t checkpoint_age(const struct sl_innodb *db)
{
	int64_t oldest = db->lsn;

	if (db->n_batch > 0) {
		oldest = db->batch_lsn;
	} else if (db->head != db->tail) {
		oldest = db->queue_lsn[db->tail];
	}
	return db->lsn - oldest;
}

/* Redo log */

static void log_synced(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_innodb *db = sl_container_of(timer, struct sl_innodb, log_sync.done);
	struct sl_innodb_waiter *ready = db->waiters, **at = &ready;

	if (db->config.trace) {
		sl_trace_span(db->config.trace, "InnoDB", "redo log sync", db->log_sync.tag, db->log_start_ns,
			      now_ns);
	}
	db->flushed_lsn = db->writing_lsn;
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

/* Writes the log from the last synced block to the present LSN and syncs it. */
static void write_log(struct sl_innodb *db, int64_t now_ns, uint64_t tag)
{
	int64_t start = db->flushed_lsn / LOG_BLOCK * LOG_BLOCK;
	int64_t end = (db->lsn + LOG_BLOCK - 1) / LOG_BLOCK * LOG_BLOCK;
	int64_t offset = start % db->config.log_bytes;

	db->log_busy = true;
	db->writing_lsn = db->lsn;
	db->log_syncs++;
	if (offset + end - start > db->config.log_bytes) {
		offset = 0; /* wrapped: counted as one write at the start */
	}
	sl_ext4_write(db->config.fs, now_ns, LOG_FILE, offset, (uint32_t)(end - start), false);
	db->log_start_ns = now_ns;
	db->log_sync.file = LOG_FILE;
	db->log_sync.datasync = db->config.datasync;
	db->log_sync.tag = tag;
	db->log_sync.done.fire = log_synced;
	sl_ext4_fsync(db->config.fs, now_ns, &db->log_sync);
}

/* Dirty pages */

static void dirty_page(struct sl_innodb *db, uint32_t page)
{
	if (db->dirty[page]) {
		return;
	}
	db->dirty[page] = 1;
	db->queue[db->head] = page;
	db->queue_lsn[db->head] = db->lsn;
	db->lsn_sum += db->lsn;
	db->head = db->head == db->pages ? 0 : db->head + 1;
}

static uint32_t dirty_count(const struct sl_innodb *db)
{
	return db->head >= db->tail ? db->head - db->tail : db->head + db->pages + 1 - db->tail;
}

static void apply(struct sl_innodb *db, const struct sl_oltp_txn *txn)
{
	for (int i = 0; i < txn->count; i++) {
		const struct sl_oltp_statement *s = &txn->statements[i];
		bool index = s->kind == SL_OLTP_UPDATE_INDEX || s->kind == SL_OLTP_INSERT;
		uint64_t row = s->key - 1;

		if (s->kind < SL_OLTP_UPDATE_INDEX || s->kind == SL_OLTP_COMMIT) {
			continue;
		}
		dirty_page(db, (uint32_t)(row * db->leaf_pages / db->config.rows));
		if (index) {
			dirty_page(db, db->leaf_pages + (uint32_t)(row * db->index_pages / db->config.rows));
		}
	}
	dirty_page(db,
		   db->leaf_pages + db->index_pages + (uint32_t)(db->txns / TXNS_PER_UNDO_PAGE % UNDO_PAGES));
}

static void release_stalled(struct sl_innodb *db, int64_t now_ns)
{
	struct sl_innodb_waiter *waiter = db->stalled;

	if (checkpoint_age(db) > max_age(db)) {
		return;
	}
	db->stalled = NULL;
	while (waiter) {
		struct sl_innodb_waiter *next = waiter->next;

		sl_timer_fire(&waiter->done, now_ns);
		waiter = next;
	}
}

static void start_page_sync(struct sl_innodb *db, int64_t now_ns)
{
	db->page_sync.file = DATA_FILE;
	db->page_sync.datasync = db->config.datasync;
	db->page_sync.tag = 0;
	sl_ext4_fsync(db->config.fs, now_ns, &db->page_sync);
}

/* After the doublewrite buffer the pages, after the pages the next batch. */
static void page_synced(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_innodb *db = sl_container_of(timer, struct sl_innodb, page_sync.done);

	if (!db->batch_written) {
		db->batch_written = true;
		for (uint32_t i = 0; i < db->n_batch; i++) {
			sl_ext4_write(db->config.fs, now_ns, DATA_FILE,
				      DOUBLEWRITE_BYTES + (int64_t)db->batch[i] * PAGE_BYTES, PAGE_BYTES,
				      false);
		}
		start_page_sync(db, now_ns);
		return;
	}
	db->pages_flushed += db->n_batch;
	db->n_batch = 0;
	db->flushing = false;
	release_stalled(db, now_ns);
	flush_more(db, now_ns);
}

/* Starts a batch when pages are owed, or when the log fills up. */
static void flush_more(struct sl_innodb *db, int64_t now_ns)
{
	uint32_t n = dirty_count(db);

	if (db->flushing || n == 0) {
		return;
	}
	if (checkpoint_age(db) <= max_age(db) / 8 * 7) {
		n = n < db->wanted ? n : db->wanted;
	}
	n = n < BATCH ? n : BATCH;
	if (n == 0) {
		return;
	}
	db->wanted -= n < db->wanted ? n : db->wanted;
	db->batch_lsn = db->queue_lsn[db->tail];
	for (uint32_t i = 0; i < n; i++) {
		db->batch[i] = db->queue[db->tail];
		db->dirty[db->batch[i]] = 0;
		db->lsn_sum -= db->queue_lsn[db->tail];
		db->tail = db->tail == db->pages ? 0 : db->tail + 1;
	}
	db->n_batch = n;
	db->flushing = true;
	db->batch_written = false;
	sl_ext4_write(db->config.fs, now_ns, DATA_FILE, 0, n * PAGE_BYTES, false);
	start_page_sync(db, now_ns);
}

/* Pages whose first change is not younger than `lsn`, up to `limit`. */
static uint32_t pages_until(const struct sl_innodb *db, int64_t lsn, uint32_t limit)
{
	uint32_t n = 0;

	for (uint32_t at = db->tail; at != db->head && n < limit && db->queue_lsn[at] <= lsn;
	     at = at == db->pages ? 0 : at + 1) {
		n++;
	}
	return n;
}

/* Pages to flush for this second: the estimate keeps the age from growing at the present rate of redo. */
static uint32_t estimate(const struct sl_innodb *db)
{
	double n = dirty_count(db), redo = (double)(db->lsn - db->last_second_lsn);
	double level = n * (double)(max_age(db) - db->lsn) + (double)db->lsn_sum;

	if (n == 0 || checkpoint_age(db) <= max_age(db) / 4 || level <= 0) {
		return 0;
	}
	return pages_until(db, db->queue_lsn[db->tail] + (int64_t)redo, (uint32_t)(n * n * redo / level));
}

static void second_passed(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_innodb *db = sl_container_of(timer, struct sl_innodb, second);

	db->wanted = estimate(db);
	db->seconds++;
	if (db->seconds % 10 == 0) {
		db->wanted += (uint32_t)(db->config.io_capacity / 10);
	}
	db->last_second_lsn = db->lsn;
	flush_more(db, now_ns);
	sl_loop_arm(db->config.loop, &db->second, now_ns + SECOND_NS);
}

bool sl_innodb_begin(struct sl_innodb *db, struct sl_innodb_waiter *waiter)
{
	if (checkpoint_age(db) <= max_age(db)) {
		return true;
	}
	waiter->next = db->stalled;
	db->stalled = waiter;
	return false;
}

void sl_innodb_commit(struct sl_innodb *db, int64_t now_ns, const struct sl_oltp_txn *txn,
		      struct sl_innodb_waiter *waiter)
{
	apply(db, txn);
	db->txns++;
	db->lsn += db->config.redo_bytes;
	waiter->lsn = db->lsn;
	waiter->next = NULL;
	*db->waiters_tail = waiter;
	db->waiters_tail = &waiter->next;
	if (!db->log_busy) {
		write_log(db, now_ns, waiter->tag);
	}
	flush_more(db, now_ns);
}

static void count_pages(struct sl_innodb *db, const struct sl_innodb_config *config)
{
	db->leaf_pages = (uint32_t)((int64_t)config->rows * config->row_bytes / PAGE_BYTES) + 1;
	db->index_pages = (uint32_t)((int64_t)config->rows * INDEX_ROW_BYTES / PAGE_BYTES) + 1;
	db->pages = db->leaf_pages + db->index_pages + UNDO_PAGES;
}

int64_t sl_innodb_file_bytes(const struct sl_innodb_config *config)
{
	struct sl_innodb sizes;
	int64_t data;

	count_pages(&sizes, config);
	data = DOUBLEWRITE_BYTES + (int64_t)sizes.pages * PAGE_BYTES;
	return data > config->log_bytes ? data : config->log_bytes;
}

int sl_innodb_init(struct sl_innodb *db, const struct sl_innodb_config *config)
{
	*db = (struct sl_innodb){.config = *config};
	count_pages(db, config);
	db->waiters_tail = &db->waiters;
	db->page_sync.done.fire = page_synced;
	db->second.fire = second_passed;
	db->dirty = calloc(db->pages, sizeof(*db->dirty));
	db->queue = calloc(db->pages + 1, sizeof(*db->queue));
	db->queue_lsn = calloc(db->pages + 1, sizeof(*db->queue_lsn));
	if (!db->dirty || !db->queue || !db->queue_lsn) {
		sl_innodb_fini(db);
		return -ENOMEM;
	}
	sl_loop_arm(config->loop, &db->second, SECOND_NS);
	return 0;
}

void sl_innodb_fini(struct sl_innodb *db)
{
	free(db->dirty);
	free(db->queue);
	free(db->queue_lsn);
	db->dirty = NULL;
	db->queue = NULL;
	db->queue_lsn = NULL;
}
