/* Which pages a transaction's statements have to read. */
#include "sim/guest/innodb.h"
#include "sim/workload/lru.h"

int64_t sl_innodb_page_offset(uint32_t page)
{
	return SL_INNODB_DOUBLEWRITE_BYTES + (int64_t)page * SL_PAGE_BYTES;
}

static bool is_range(const struct sl_oltp_statement *s)
{
	return s->kind >= SL_OLTP_RANGE && s->kind <= SL_OLTP_DISTINCT;
}

/* Of a range that begins with `row`. */
static uint32_t last_row(const struct sl_innodb *db, uint32_t row)
{
	uint32_t rows = db->pool.config.load.rows;

	return rows - row > SL_OLTP_RANGE_SIZE ? row + SL_OLTP_RANGE_SIZE - 1 : rows - 1;
}

/* Counts the statement's pages, where not all are in the pool: down the tree to the leaf (a branch, the
 * leaf), along the leaves of a range, or down the secondary index (a branch, the page). An INSERT finds its
 * pages where the DELETE before it has left them. False: it needs none. */
static inline bool begin_statement(struct sl_innodb *db, const struct sl_oltp_statement *s,
				   struct sl_innodb_waiter *waiter)
{
	uint32_t row = s->key - 1;
	bool index = s->kind == SL_OLTP_UPDATE_INDEX || s->kind == SL_OLTP_DELETE;
	uint32_t leaves = 1;

	if (s->kind == SL_OLTP_BEGIN || s->kind == SL_OLTP_COMMIT || s->kind == SL_OLTP_INSERT) {
		return false;
	}
	waiter->strip = sl_buffer_pool_strip(&db->pool, row);
	if (is_range(s)) {
		leaves += sl_innodb_leaf(db, last_row(db, row)) - sl_innodb_leaf(db, row);
	}
	if (sl_buffer_pool_finds_all(&db->pool, waiter->strip, leaves, index)) {
		return false;
	}
	waiter->leaf = sl_innodb_leaf(db, row);
	waiter->steps = (int)(1 + leaves + 2 * (uint32_t)index);
	return true;
}

static enum sl_page_kind kind_of_step(const struct sl_oltp_statement *s, int step)
{
	if (step == 0) {
		return SL_PAGE_BRANCH;
	}
	return is_range(s) || step == 1 ? SL_PAGE_LEAF : step == 2 ? SL_PAGE_INDEX_BRANCH : SL_PAGE_INDEX;
}

static bool is_dirty(const struct sl_innodb *db, enum sl_page_kind kind, uint32_t page)
{
	return (kind == SL_PAGE_LEAF || kind == SL_PAGE_INDEX) &&
	       (sl_dirty_pages_has(&db->dirty[0], page) || sl_dirty_pages_has(&db->dirty[1], page));
}

/* The statement's next page, where it is not in memory; SL_INNODB_NO_READ when it is. A branch is taken to
 * lie with the first page below it. */
static int64_t take_step(struct sl_innodb *db, const struct sl_oltp_statement *s,
			 struct sl_innodb_waiter *waiter)
{
	int step = waiter->step++;
	enum sl_page_kind kind = kind_of_step(s, step);
	enum sl_page_place place = sl_buffer_pool_find(&db->pool, kind, waiter->strip);
	bool index = kind == SL_PAGE_INDEX || kind == SL_PAGE_INDEX_BRANCH;
	uint32_t page;

	if (place == SL_PAGE_IN_POOL) {
		return SL_INNODB_NO_READ;
	}
	page =
	    index ? sl_innodb_index_page(db, s->key - 1) : waiter->leaf + (step > 1 ? (uint32_t)step - 1 : 0);
	if (is_dirty(db, kind, page)) {
		return SL_INNODB_NO_READ;
	}
	if (kind == SL_PAGE_INDEX && db->pool.config.change_buffer) {
		waiter->buffered |= 3u << waiter->statement; /* the INSERT after a DELETE changes it again */
		return SL_INNODB_NO_READ;
	}
	if (place == SL_PAGE_IN_PAGE_CACHE) {
		waiter->cached_reads++;
		return SL_INNODB_NO_READ;
	}
	db->page_reads++;
	return sl_innodb_page_offset(page);
}

int64_t sl_innodb_next_read(struct sl_innodb *db, const struct sl_oltp_txn *txn,
			    struct sl_innodb_waiter *waiter)
{
	waiter->cached_reads = 0;
	if (db->pool.kept_txns >= SL_LRU_FOREVER) {
		waiter->statement = txn->count; /* all pages are in the pool */
	}
	for (int i = waiter->statement; i < txn->count; i++) {
		const struct sl_oltp_statement *s = &txn->statements[i];

		if (waiter->step == 0 && !begin_statement(db, s, waiter)) {
			continue;
		}
		waiter->statement = i;
		while (waiter->step < waiter->steps) {
			int64_t offset = take_step(db, s, waiter);

			if (offset != SL_INNODB_NO_READ) {
				return offset;
			}
		}
		waiter->step = 0;
	}
	waiter->statement = txn->count;
	return SL_INNODB_NO_READ;
}
