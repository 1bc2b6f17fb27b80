#include "guests/chain.h"

#include <assert.h>

void sl_chain_add(struct sl_chain *chain, const struct sl_part *part)
{
	assert(chain->n < SL_CHAIN_MAX);
	chain->parts[chain->n++] = *part;
}

int sl_chain_up(struct sl_chain *chain, struct sl_err *err)
{
	while (chain->n_up < chain->n) {
		const struct sl_part *part = &chain->parts[chain->n_up];
		int rc = part->up(part->self, err);

		if (rc < 0) {
			sl_chain_down(chain);
			return rc;
		}
		chain->n_up++;
	}
	return 0;
}

void sl_chain_down(struct sl_chain *chain)
{
	while (chain->n_up > 0) {
		const struct sl_part *part = &chain->parts[--chain->n_up];

		part->down(part->self);
	}
}

void sl_chain_drop(struct sl_chain *chain)
{
	const struct sl_part *part = &chain->parts[--chain->n];

	if (chain->n_up > chain->n) {
		chain->n_up = chain->n;
		part->down(part->self);
	}
}

int sl_chain_check(struct sl_chain *chain, struct sl_err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < chain->n_up; i++) {
		const struct sl_part *part = &chain->parts[i];

		rc = part->check ? part->check(part->self, err) : 0;
	}
	return rc;
}
