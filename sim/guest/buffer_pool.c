#include "sim/guest/buffer_pool.h"

#include "sim/workload/lru.h"

#define INDEX_ROW_BYTES 16 /* secondary index entry: k, id, overhead */
#define POINTERS 1181.0    /* of a branch page: 13 bytes each (header 5, key 4, page number 4), 15/16 full */
#define NEVER 1e300        /* more than any patience */
#define N_CLASSES (SL_PAGE_KINDS * SL_POPULARITY_STRIPS)

/* Uses of pages of a kind by one transaction, and changes. */
struct uses {
	double reads[SL_PAGE_KINDS], writes[SL_PAGE_KINDS];
};

uint32_t sl_table_leaf_pages(uint32_t rows, int64_t row_bytes)
{
	return (uint32_t)((int64_t)rows * row_bytes / SL_PAGE_BYTES) + 1;
}

uint32_t sl_table_index_pages(uint32_t rows)
{
	return (uint32_t)((int64_t)rows * INDEX_ROW_BYTES / SL_PAGE_BYTES) + 1;
}

/* Each statement goes down the tree once; a range goes on along the leaves. What an INSERT needs the DELETE
 * before it has brought. */
static struct uses count_uses(const struct sl_buffer_pool_config *config)
{
	struct uses uses = {0};
	struct sl_oltp_txn txn;
	struct sl_oltp oltp;

	sl_oltp_init(&oltp, &config->load, 0, 0);
	sl_oltp_next(&oltp, &txn);
	for (int i = 0; i < txn.count; i++) {
		enum sl_oltp_kind kind = txn.statements[i].kind;

		if (kind == SL_OLTP_BEGIN || kind == SL_OLTP_COMMIT || kind == SL_OLTP_INSERT) {
			continue;
		}
		uses.reads[SL_PAGE_BRANCH]++;
		uses.reads[SL_PAGE_LEAF]++;
		if (kind >= SL_OLTP_RANGE && kind <= SL_OLTP_DISTINCT) {
			uses.reads[SL_PAGE_LEAF] +=
			    (double)((SL_OLTP_RANGE_SIZE - 1) * config->row_bytes) / SL_PAGE_BYTES;
		}
		uses.writes[SL_PAGE_LEAF] += kind >= SL_OLTP_UPDATE_INDEX;
		uses.writes[SL_PAGE_INDEX] += kind == SL_OLTP_UPDATE_INDEX || kind == SL_OLTP_DELETE;
	}
	uses.reads[SL_PAGE_INDEX] = uses.writes[SL_PAGE_INDEX];
	uses.reads[SL_PAGE_INDEX_BRANCH] = uses.writes[SL_PAGE_INDEX];
	return uses;
}

static void init_classes(struct sl_buffer_pool *pool)
{
	const struct uses uses = count_uses(&pool->config);
	const double pages[SL_PAGE_KINDS] = {pool->leaf_pages, 1 + pool->leaf_pages / POINTERS,
					     pool->index_pages, 1 + pool->index_pages / POINTERS};

	for (int kind = 0; kind < SL_PAGE_KINDS; kind++) {
		for (int s = 0; s < pool->popularity.n; s++) {
			struct sl_page_class *c = &pool->classes[kind][s];
			double share;

			c->pages = pages[kind] * sl_popularity_width(&pool->popularity, s);
			share = c->pages > 0 ? pool->popularity.share[s] / c->pages : 0;
			c->reads = uses.reads[kind] * share;
			c->writes = uses.writes[kind] * share;
		}
	}
}

/* Share of the reads that neither pool nor page cache answer. */
static double miss(const struct sl_page_class *c)
{
	return (1 - c->pool_hit) * (1 - c->page_cache_hit);
}

/* What the classes look like to the pool (below: to a cache below it, which gets the pages that all caches
 * above it miss, and the flushes). */
static void to_lru(const struct sl_buffer_pool *pool, bool below, struct sl_lru_class *ret)
{
	for (int kind = 0; kind < SL_PAGE_KINDS; kind++) {
		for (int s = 0; s < pool->popularity.n; s++) {
			const struct sl_page_class *c = &pool->classes[kind][s];
			bool waits = kind == SL_PAGE_INDEX && pool->config.change_buffer;

			*ret++ = (struct sl_lru_class){.items = c->pages,
						       .rate = !below  ? c->reads
							       : waits ? 0
								       : c->reads * miss(c),
						       .other = below ? c->writes : 0};
		}
	}
}

/* A page that is dirty is flushed when it reaches the end of the LRU list or the log needs the room. Changes
 * of pages that are not there wait in the change buffer. */
static void set_flushes(struct sl_buffer_pool *pool)
{
	double after = pool->kept_txns < pool->config.log_txns ? pool->kept_txns : pool->config.log_txns;

	for (int kind = 0; kind < SL_PAGE_KINDS; kind++) {
		for (int s = 0; s < pool->popularity.n; s++) {
			struct sl_page_class *c = &pool->classes[kind][s];

			if (kind == SL_PAGE_INDEX && pool->config.change_buffer) {
				c->writes *= c->pool_hit;
			}
			c->writes /= 1 + c->writes * after;
		}
	}
}

static struct sl_page_class *class_at(struct sl_buffer_pool *pool, int i)
{
	return &pool->classes[i / pool->popularity.n][i % pool->popularity.n];
}

static double draw_patience(struct sl_buffer_pool *pool)
{
	return -sl_log(1 - sl_rng_uniform(&pool->rng));
}

struct sl_row_pages sl_row_pages_of(uint32_t pages, uint32_t rows)
{
	unsigned __int128 rest = (unsigned __int128)(pages % rows) << 64;

	return (struct sl_row_pages){.whole = pages / rows, .part = (uint64_t)((rest + rows - 1) / rows)};
}

/* The first row whose position, its share of the table, is `position` or more. */
static uint32_t row_at(uint32_t rows, double position)
{
	uint32_t row = (uint32_t)(position * rows);

	while (row > 0 && (double)(row - 1) / rows >= position) {
		row--;
	}
	while (row < rows && (double)row / rows < position) {
		row++;
	}
	return row;
}

/* Strips in rows: each statement looks for one, by whole numbers and almost always in one step. */
static void init_strips(struct sl_buffer_pool *pool)
{
	const struct sl_popularity *popularity = &pool->popularity;
	uint32_t rows = pool->config.load.rows;
	int strip = 0;

	for (int i = 0; i < popularity->n; i++) {
		pool->strip_end[i] = row_at(rows, popularity->end[i]);
	}
	while ((rows - 1) >> pool->cut_shift >= SL_BUFFER_POOL_CUTS) {
		pool->cut_shift++;
	}
	for (int i = 0; i <= SL_BUFFER_POOL_CUTS; i++) {
		while (strip < popularity->n - 1 &&
		       (uint64_t)i << pool->cut_shift >= pool->strip_end[strip]) {
			strip++;
		}
		pool->cut[i] = (uint8_t)strip;
	}
}

static void init_tolls(struct sl_buffer_pool *pool)
{
	for (int s = 0; s < pool->popularity.n; s++) {
		pool->tolls[s] = (struct sl_tolls){
		    .branch = pool->classes[SL_PAGE_BRANCH][s].toll,
		    .leaf = pool->classes[SL_PAGE_LEAF][s].toll,
		    .index =
			pool->classes[SL_PAGE_INDEX_BRANCH][s].toll + pool->classes[SL_PAGE_INDEX][s].toll,
		};
	}
}

void sl_buffer_pool_init(struct sl_buffer_pool *pool, const struct sl_buffer_pool_config *config,
			 uint64_t seed)
{
	struct sl_lru_class lru[N_CLASSES];
	int n;

	*pool = (struct sl_buffer_pool){.config = *config};
	pool->leaf_pages = sl_table_leaf_pages(config->load.rows, config->row_bytes);
	pool->index_pages = sl_table_index_pages(config->load.rows);
	sl_rng_init(&pool->rng, seed, "buffer-pool");
	sl_popularity_init(&pool->popularity, config->load.distribution, config->load.rows);
	pool->leaf_of = sl_row_pages_of(pool->leaf_pages, config->load.rows);
	pool->index_of = sl_row_pages_of(pool->index_pages, config->load.rows);
	init_strips(pool);
	init_classes(pool);
	n = SL_PAGE_KINDS * pool->popularity.n;
	to_lru(pool, false, lru);
	pool->kept_txns = sl_lru_solve(lru, n, config->pool_bytes / SL_PAGE_BYTES, 1, 0);
	for (int i = 0; i < n; i++) {
		class_at(pool, i)->pool_hit = lru[i].hit;
		class_at(pool, i)->toll = lru[i].hit > 0 ? -sl_log(lru[i].hit) : NEVER;
	}
	init_tolls(pool);
	set_flushes(pool);
	to_lru(pool, true, lru);
	pool->cached_txns =
	    sl_lru_solve(lru, n, config->page_cache_bytes / SL_PAGE_BYTES, 1, pool->kept_txns);
	for (int i = 0; i < n; i++) {
		class_at(pool, i)->page_cache_hit = lru[i].hit;
	}
	pool->patience = draw_patience(pool);
}

bool sl_buffer_pool_keeps(const struct sl_buffer_pool *pool, enum sl_page_kind kind, int strip)
{
	return pool->classes[kind][strip].pool_hit > 0.5;
}

/*
 * Finds that each succeed with the chance h, independently, go on until the sum of their -ln(h) has passed an
 * exponential draw: exp(-sum) is the chance that none of them has missed. So hits, which are most, need none.
 */
enum sl_page_place sl_buffer_pool_find(struct sl_buffer_pool *pool, enum sl_page_kind kind, int strip)
{
	const struct sl_page_class *c = &pool->classes[kind][strip];

	pool->patience -= c->toll;
	if (pool->patience > 0) {
		return SL_PAGE_IN_POOL;
	}
	pool->patience = draw_patience(pool);
	return sl_rng_uniform(&pool->rng) < c->page_cache_hit ? SL_PAGE_IN_PAGE_CACHE : SL_PAGE_BELOW;
}

double sl_buffer_pool_arc_hit(const struct sl_buffer_pool *pool, double arc_bytes, double record_bytes)
{
	double group = record_bytes > SL_PAGE_BYTES ? record_bytes / SL_PAGE_BYTES : 1;
	double front = pool->kept_txns > pool->cached_txns ? pool->kept_txns : pool->cached_txns;
	struct sl_lru_class lru[N_CLASSES];
	int n = SL_PAGE_KINDS * pool->popularity.n;
	double asked = 0, hits = 0;

	to_lru(pool, true, lru);
	sl_lru_solve(lru, n, arc_bytes / SL_PAGE_BYTES, group, front);
	for (int i = 0; i < n; i++) {
		double missed = miss(&pool->classes[i / pool->popularity.n][i % pool->popularity.n]);
		/* A page that came from below for its change came with its record; and a whole record needs
		 * no filling. */
		double fills = group > 1 ? lru[i].other : 0, found = missed + (1 - missed) * lru[i].held;

		asked += lru[i].items * (lru[i].rate + fills);
		hits += lru[i].items * (lru[i].rate * lru[i].hit + fills * found);
	}
	return asked > 0 ? hits / asked : 1;
}
