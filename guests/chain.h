/* Parts that stand on one another: up in order, down in reverse, and the first that fails is named. */
#ifndef SL_GUESTS_CHAIN_H
#define SL_GUESTS_CHAIN_H

#include "sim/base/err.h"

#define SL_CHAIN_MAX 8

struct sl_part {
	int (*up)(void *self,
		  struct sl_err *err); /* returns when it serves; cleans up after itself on failure */
	void (*down)(void *self);      /* only after up() succeeded */
	int (*check)(void *self, struct sl_err *err); /* 0 = well; else one line that names it. May be NULL */
	void *self;
};

/* Zero-initialise, then fill parts and n. */
struct sl_chain {
	struct sl_part parts[SL_CHAIN_MAX];
	int n, n_up;
};

/* Adds a part on top of the others. */
void sl_chain_add(struct sl_chain *chain, const struct sl_part *part);
/* Brings up what is not up yet. On failure all that was up is down again. */
int sl_chain_up(struct sl_chain *chain, struct sl_err *err);
/* Takes down what is up, last first. */
void sl_chain_down(struct sl_chain *chain);
/* Takes the last part down and forgets it. */
void sl_chain_drop(struct sl_chain *chain);
/* The first part, from below, that is not well: what stands on it only follows. */
int sl_chain_check(struct sl_chain *chain, struct sl_err *err);

#endif
