#include "sim/workload/lru.h"

#include <stdbool.h>

#include "sim/base/rng.h"

#define STEPS 200 /* of Newton's method at most; a dozen are usual */
#define TINY 1e-300

/* What one class looks like to a cache that keeps items for some T. */
struct state {
	double unused; /* P(an item was not asked for within T), at any time */
	double slope;  /* by which that falls with T */
	double missed; /* the same at the time of a request for it */
};

static double exp_minus(double x)
{
	return x < 700 ? sl_exp(-x) : 0;
}

static double power(double x, double exponent)
{
	if (exponent == 0) {
		return 1;
	}
	return x > TINY ? sl_exp(exponent * sl_log(x)) : 0;
}

static struct state state_of(const struct sl_lru_class *c, double t, double front)
{
	double pause = 1 - c->rate * front; /* mean time beyond `front`, in units of 1 / rate */
	struct state state = {1 - c->rate * t, c->rate, 1};

	if (t > front && pause > 0) {
		state.missed = exp_minus(c->rate / pause * (t - front));
		state.unused = pause * state.missed;
		state.slope = c->rate * state.missed;
	} else if (t > front) {
		state = (struct state){0, 0, 0};
	}
	return state;
}

/* Items that the cache holds when it keeps them for `t`, and how that grows with t. */
static double held(const struct sl_lru_class *classes, int n, double group, double front, double t,
		   double *ret_slope)
{
	double sum = 0;

	*ret_slope = 0;
	for (int i = 0; i < n; i++) {
		const struct sl_lru_class *c = &classes[i];
		struct state state = state_of(c, t, front);
		double rest = power(state.unused, group - 1) * exp_minus(group * c->other * t);

		sum += c->items * (1 - state.unused * rest);
		*ret_slope += c->items * group * (state.slope + state.unused * c->other) * rest;
	}
	return sum;
}

/* Newton's method: what is held is concave in t, so that each step from 0 stays below the answer. */
static double solve(const struct sl_lru_class *classes, int n, double capacity, double group, double front)
{
	double t = 0;

	for (int i = 0; i < STEPS; i++) {
		double slope, step = capacity - held(classes, n, group, front, t, &slope);

		if (step <= capacity * 1e-12 || slope <= 0) {
			break;
		}
		t += step / slope;
	}
	return t;
}

/* Items that are ever used: what a cache that forgets nothing holds. */
static double used(const struct sl_lru_class *classes, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		sum += classes[i].rate + classes[i].other > 0 ? classes[i].items : 0;
	}
	return sum;
}

double sl_lru_solve(struct sl_lru_class *classes, int n, double capacity, double group, double front)
{
	bool fits = used(classes, n) <= capacity;
	double t = fits ? SL_LRU_FOREVER : solve(classes, n, capacity, group, front);

	for (int i = 0; i < n; i++) {
		struct sl_lru_class *c = &classes[i];
		struct state state = state_of(c, t, front);
		double rest = power(state.unused, group - 1) * exp_minus(group * c->other * t);

		c->hit = fits ? 1 : 1 - state.missed * rest;
		c->held = fits ? 1 : 1 - state.unused * rest;
	}
	return t;
}
