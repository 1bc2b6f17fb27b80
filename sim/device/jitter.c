/*
 * Up to the 99th percentile the logarithm of the factor follows a logistic distribution, whose quantiles are
 * (u / (1 - u))^s: near a lognormal one, and without a sum. Beyond, a power of what is left, through
 * the 99.9th percentile: rare and long, as collection and housekeeping are; up to the 99.99th, as nothing is
 * published of what is rarer. All is divided by its mean, so that the average stays what the catalogue says.
 */
#include "sim/device/jitter.h"

#include <stdio.h>

#define KNEE 0.99
#define LEFT 0.01   /* beyond the knee */
#define RAREST 1e-4 /* the factor grows no more */
#define LEAST 0.01  /* below this percentile it falls no more */
#define LN_99 4.59511985013459
#define LN_10 2.302585092994046
#define TAIL_STEPS 256

static double power(double x, double exponent)
{
	return sl_exp(exponent * sl_log(x));
}

static double tail_at(const struct sl_jitter *jitter, double left)
{
	return jitter->p99 * power(LEFT / (left > RAREST ? left : RAREST), jitter->tail);
}

/* Mean factor: both parts by trapezoids. */
static double mean(const struct sl_jitter *jitter)
{
	double sum = 0, step = KNEE / SL_JITTER_STEPS;

	for (int i = 0; i < SL_JITTER_STEPS; i++) {
		sum += step * (jitter->body[i] + jitter->body[i + 1]) / 2;
	}
	step = power(RAREST / LEFT, 1.0 / TAIL_STEPS);
	for (double at = LEFT, next; at > RAREST * 1.0001; at = next) {
		next = at * step;
		sum += (at - next) * (tail_at(jitter, at) + tail_at(jitter, next)) / 2;
	}
	return sum + RAREST * tail_at(jitter, RAREST);
}

void sl_jitter_init(struct sl_jitter *jitter, double p99, double p999, uint64_t seed, const char *name)
{
	char stream[96];
	double by;

	*jitter = (struct sl_jitter){.on = p99 > 1, .p99 = p99};
	if (!jitter->on) {
		return;
	}
	jitter->tail = p999 > p99 ? sl_log(p999 / p99) / LN_10 : 0;
	for (int i = 0; i <= SL_JITTER_STEPS; i++) {
		double u = KNEE * i / SL_JITTER_STEPS;

		u = u > LEAST ? u : LEAST;
		jitter->body[i] = power(u / (1 - u), sl_log(p99) / LN_99);
	}
	by = 1 / mean(jitter);
	for (int i = 0; i <= SL_JITTER_STEPS; i++) {
		jitter->body[i] *= by;
	}
	jitter->p99 *= by;
	(void)snprintf(stream, sizeof(stream), "%s latency", name);
	sl_rng_init(&jitter->rng, seed, stream);
}

double sl_jitter_draw(struct sl_jitter *jitter)
{
	double u = sl_rng_uniform(&jitter->rng), at = u * (SL_JITTER_STEPS / KNEE);
	int step = (int)at;

	if (step >= SL_JITTER_STEPS) {
		return tail_at(jitter, 1 - u);
	}
	return jitter->body[step] + (jitter->body[step + 1] - jitter->body[step]) * (at - step);
}
