/*
 * How often LRU caches hit in the steady state, without a simulation of their contents: Che's approximation
 * (H. Che, Y. Tung, Z. Wang, "Hierarchical Web caching systems", IEEE JSAC 2002). An item stays in the cache
 * for a time T after its last use that is the same for all. T is that with which the cache is full; a request
 * finds its item with the probability that it was used within T: 1 - exp(-rate x T).
 *
 * Behind another cache the requests are that one's misses, and after a miss the item is in the cache in front
 * for at least that one's T: the next miss comes after that pause and an exponential time, of which the mean
 * makes up the rest. (That requests behind a cache are spaced by its T is M. Garetto, E. Leonardi, V.
 * Martina, "A unified approach to the performance analysis of caching systems", 2016.) So a second cache that
 * holds no longer than the first one holds only what that has too, and never hits. Pure.
 */
#ifndef SL_WORKLOAD_LRU_H
#define SL_WORKLOAD_LRU_H

#define SL_LRU_FOREVER 1e300 /* T of a cache that holds all */

/* Items that are used equally often. */
struct sl_lru_class {
	double items; /* need not be whole */
	double rate;  /* requests for one of them, per unit of time */
	double other; /* uses of one of them that are no requests, such as writes */
	double hit;   /* out: share of the requests that hit */
	double held;  /* out: share of the items that the cache holds */
};

/*
 * Fills `hit` and `held` of all classes for a cache of `capacity` items. The cache keeps blocks of `group`
 * items (a record of several pages), all with the rate of their class. `front`: T of the cache in front, 0 =
 * none; then rate x front < 1. Returns T.
 */
double sl_lru_solve(struct sl_lru_class *classes, int n, double capacity, double group, double front);

#endif
