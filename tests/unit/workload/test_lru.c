/* Che's approximation against caches that are simulated item by item, and the strips it is fed with. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/workload/lru.h"
#include "sim/workload/popularity.h"

#define ITEMS 1000
#define REQUESTS 150000
#define WARM_UP 30000
#define OLD_PCT 37 /* innodb_old_blocks_pct */

/* An exact cache of items 0 .. ITEMS - 1, most recently used first. With a midpoint, as InnoDB has it
 * (old_blocks_time 0): a new item comes in where the last 37 % begin, a second use takes it to the front. */
struct cache {
	int capacity, n, midpoint;
	int order[ITEMS];
};

static bool use(struct cache *cache, int item)
{
	int at = 0, to;
	bool hit;

	while (at < cache->n && cache->order[at] != item) {
		at++;
	}
	hit = at < cache->n;
	to = hit || cache->midpoint == 0 || cache->n < cache->capacity ? 0 : cache->midpoint;
	if (!hit && cache->n < cache->capacity) {
		at = cache->n++;
	} else if (!hit) {
		at = cache->n - 1;
	}
	memmove(&cache->order[to + 1], &cache->order[to], (size_t)(at - to) * sizeof(cache->order[0]));
	cache->order[to] = item;
	return hit;
}

/* One class per item: what is exact is exact. */
static void classes_of(enum sl_oltp_distribution distribution, struct sl_lru_class *classes)
{
	static int count[ITEMS];
	const struct sl_oltp_config config = {.rows = ITEMS, .distribution = distribution};
	struct sl_oltp oltp;

	memset(count, 0, sizeof(count));
	sl_oltp_init(&oltp, &config, 99, 0);
	for (int i = 0; i < 4 * REQUESTS; i++) {
		count[sl_oltp_key(&oltp) - 1]++;
	}
	for (int i = 0; i < ITEMS; i++) {
		classes[i] = (struct sl_lru_class){.items = 1, .rate = count[i] / (4.0 * REQUESTS)};
	}
}

static double hit_share(const struct sl_lru_class *classes)
{
	double hits = 0, all = 0;

	for (int i = 0; i < ITEMS; i++) {
		hits += classes[i].items * classes[i].rate * classes[i].hit;
		all += classes[i].items * classes[i].rate;
	}
	return all > 0 ? hits / all : 0;
}

/* Hit shares of two caches one behind the other; of the second: of what the first one missed. */
static void simulate(enum sl_oltp_distribution distribution, const int capacity[2], int midpoint,
		     double ret[2])
{
	const struct sl_oltp_config config = {.rows = ITEMS, .distribution = distribution};
	static struct cache caches[2];
	double hits[2] = {0}, asked[2] = {0};
	struct sl_oltp oltp;

	for (int level = 0; level < 2; level++) {
		caches[level] = (struct cache){.capacity = capacity[level]};
	}
	caches[0].midpoint = midpoint;
	sl_oltp_init(&oltp, &config, 5, 0);
	for (int i = 0; i < REQUESTS; i++) {
		int item = (int)sl_oltp_key(&oltp) - 1;
		bool hit = false;

		for (int level = 0; level < 2 && !hit && capacity[level] > 0; level++) {
			hit = use(&caches[level], item);
			asked[level] += i >= WARM_UP;
			hits[level] += i >= WARM_UP && hit;
		}
	}
	for (int level = 0; level < 2; level++) {
		ret[level] = asked[level] > 0 ? hits[level] / asked[level] : 0;
	}
}

Test(lru, hits_of_one_cache_and_of_a_second_behind_it_are_those_of_an_exact_simulation)
{
	/* By hand: uniform, one cache of a tenth hits 0.1. A second one of a tenth behind it holds what the
	 * first has: 0. Behind it one of 0.3: T1 = -ln 0.9 = 0.105 of the mean time between two requests for
	 * an item, misses come at 0.9; 0.9 x 0.105 = 0.095 of the items are there as they were missed within
	 * T1; the rest, 0.3 - 0.095 = 0.205, is (1 - 0.095) x hit: 0.227. Together 0.1 + 0.9 x 0.227 = 0.304:
	 * no more than the larger one alone has. */
	static const int capacities[][2] = {{100, 100}, {100, 300}, {300, 500}, {20, 200}};

	for (int d = SL_OLTP_SPECIAL; d <= SL_OLTP_PARETO; d++) {
		for (size_t c = 0; c < sizeof(capacities) / sizeof(capacities[0]); c++) {
			static struct sl_lru_class classes[ITEMS];
			const int *capacity = capacities[c];
			double exact[2], first, missed;

			simulate((enum sl_oltp_distribution)d, capacity, 0, exact);
			classes_of((enum sl_oltp_distribution)d, classes);
			first = sl_lru_solve(classes, ITEMS, capacity[0], 1, 0);
			cr_assert_float_eq(hit_share(classes), exact[0], 0.01, "%d/%zu: %.3f, exact %.3f", d,
					   c, hit_share(classes), exact[0]);
			for (int i = 0; i < ITEMS; i++) {
				classes[i].rate *= 1 - classes[i].hit;
			}
			sl_lru_solve(classes, ITEMS, capacity[1], 1, first);
			/* What nobody has: misses of both, as a share of all requests. */
			missed = (1 - exact[0]) * (1 - hit_share(classes));
			cr_assert_float_eq(missed, (1 - exact[0]) * (1 - exact[1]), 0.03,
					   "%d/%zu: missed %.3f, exact %.3f", d, c, missed,
					   (1 - exact[0]) * (1 - exact[1]));
		}
	}
}

Test(lru, innodbs_midpoint_changes_little_for_these_keys)
{
	/* Uniform: every policy hits capacity / items. Else pages used twice stay longer: the plain LRU of
	 * the model errs to the side of more reads, by up to six points. */
	for (int d = SL_OLTP_SPECIAL; d <= SL_OLTP_PARETO; d++) {
		const int capacity[2] = {200, 0};
		double plain[2], midpoint[2];

		simulate((enum sl_oltp_distribution)d, capacity, 0, plain);
		simulate((enum sl_oltp_distribution)d, capacity, 200 * (100 - OLD_PCT) / 100, midpoint);
		cr_assert_geq(midpoint[0], plain[0] - 0.005, "%d: %.3f, plain %.3f", d, midpoint[0],
			      plain[0]);
		cr_assert_leq(midpoint[0], plain[0] + 0.06, "%d: %.3f, plain %.3f", d, midpoint[0], plain[0]);
	}
}

Test(lru, a_record_of_eight_pages_is_brought_in_by_any_of_them)
{
	/* 8000 pages of equal rate r in 1000 records, room for 100: 1 - exp(-8 r T) = 0.1, which is what each
	 * page finds. Behind a cache that keeps pages longer than T only the other seven count: 1 - 0.9^(7/8)
	 * = 0.088. */
	struct sl_lru_class pages = {.items = 8000, .rate = 1};

	sl_lru_solve(&pages, 1, 800, 8, 0);
	cr_assert_float_eq(pages.hit, 0.1, 1e-9);
	sl_lru_solve(&pages, 1, 800, 8, 1);
	cr_assert_float_eq(pages.hit, 0.088, 0.001);
}

Test(lru, what_fits_always_hits_and_an_empty_cache_never)
{
	struct sl_lru_class pages = {.items = 100, .rate = 3};

	cr_assert_eq(sl_lru_solve(&pages, 1, 100, 1, 0), SL_LRU_FOREVER);
	cr_assert_eq(pages.hit, 1);
	cr_assert_eq(sl_lru_solve(&pages, 1, 0, 1, 0), 0);
	cr_assert_eq(pages.hit, 0);
}

Test(popularity, strips_have_the_shares_that_drawn_keys_have)
{
	enum {
		ROWS = 1000000,
		DRAWS = 200000
	};

	for (int d = SL_OLTP_SPECIAL; d <= SL_OLTP_PARETO; d++) {
		const struct sl_oltp_config config = {.rows = ROWS,
						      .distribution = (enum sl_oltp_distribution)d};
		static int drawn[SL_POPULARITY_STRIPS];
		struct sl_popularity popularity;
		double sum = 0, width = 0, difference = 0;
		struct sl_oltp oltp;

		memset(drawn, 0, sizeof(drawn));
		sl_popularity_init(&popularity, config.distribution, ROWS);
		sl_oltp_init(&oltp, &config, 3, 0);
		for (int i = 0; i < DRAWS; i++) {
			/* Anywhere in the row: strips at the hot end are narrower than one. */
			double in_row = sl_rng_uniform(&oltp.rng) - 1;

			drawn[sl_popularity_find(&popularity, (sl_oltp_key(&oltp) + in_row) / ROWS)]++;
		}
		for (int i = 0; i < popularity.n; i++) {
			sum += popularity.share[i];
			width += sl_popularity_width(&popularity, i);
			difference += fabs(popularity.share[i] - (double)drawn[i] / DRAWS);
		}
		cr_assert_float_eq(sum, 1, 1e-9);
		cr_assert_float_eq(width, 1, 1e-9);
		/* 65 strips of 200,000 draws: sum of sqrt(2 p / pi n) is at most 0.015. */
		cr_assert_lt(difference, 0.03, "%d: %.3f", d, difference);
	}
}

Test(popularity, one_row_is_one_strip_and_the_largest_table_takes_no_more)
{
	for (int d = SL_OLTP_SPECIAL; d <= SL_OLTP_PARETO; d++) {
		struct sl_popularity popularity;

		sl_popularity_init(&popularity, (enum sl_oltp_distribution)d, 1);
		cr_assert_leq(popularity.n, SL_POPULARITY_STRIPS);
		cr_assert_float_eq(popularity.end[popularity.n - 1], 1, 1e-12);
		sl_popularity_init(&popularity, (enum sl_oltp_distribution)d, 1000000000);
		cr_assert_leq(popularity.n, SL_POPULARITY_STRIPS);
		cr_assert_eq(sl_popularity_find(&popularity, 0), 0);
		cr_assert_eq(sl_popularity_find(&popularity, 0.9999999999), popularity.n - 1);
	}
}
