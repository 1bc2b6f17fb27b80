/*
 * Steps of memory. Twice as much helps where the data nearly fit, eight times where they are far from it; of
 * the steps of one VM that were run, the smallest that brings what memory can bring stays in the table.
 */
#include <errno.h>
#include <stdio.h>

#include "sim/base/units.h"
#include "sim/stack/advise_inner.h"

#define MOST_TIMES 8

static bool has_database(const struct sl_advice *advice)
{
	for (int i = 0; i < sl_scenario_workloads(advice->scenario); i++) {
		if (sl_scenario_workload(advice->scenario, i)->kind == SL_WL_OLTP) {
			return true;
		}
	}
	return false;
}

static struct sl_candidate *add_step(struct sl_advice *advice, const char *whose, double bytes, int times)
{
	char from[32], to[32];
	struct sl_candidate *c;

	sl_units_format(bytes, SL_UNIT_BYTES, from, sizeof(from));
	sl_units_format(bytes * times, SL_UNIT_BYTES, to, sizeof(to));
	c = sl_advice_add(advice, SL_CHANGE_MEMORY, "%s memory %s -> %s", whose, from, to);
	if (c) {
		c->added_bytes = bytes * (times - 1);
		c->remark = "where the host has it";
	}
	return c;
}

/* Its price is not the catalogue's business: nothing where the host has it. A database uses the memory of its
 * guest by its buffer pool, and one that opens its files with O_DIRECT by nothing else. */
int sl_advice_add_memory(struct sl_advice *advice)
{
	const struct sl_box *base = advice->base;
	bool database = has_database(advice);

	for (int times = 2; times <= MOST_TIMES; times *= 2) {
		struct sl_candidate *c = add_step(advice, "guest", base->guest_memory_bytes, times);

		if (!c) {
			return -ENOMEM;
		}
		c->box.guest_memory_bytes *= times;
		if (database) {
			c->box.buffer_pool_bytes *= times;
			c->remark = "where the host has it; the database's buffer pool grows with it";
		}
	}
	for (int times = 2; times <= MOST_TIMES; times *= 2) {
		struct sl_candidate *c = add_step(advice, "storage VM", base->nas_memory_bytes, times);

		if (!c) {
			return -ENOMEM;
		}
		c->box.nas_memory_bytes *= times;
	}
	return 0;
}

static double mean_rate(const struct sl_advice_row *row)
{
	double sum = 0;

	for (int i = 0; i < row->n_samples; i++) {
		sum += row->samples[i];
	}
	return sum / row->n_samples;
}

/* Is this row more memory of the guest (else: of the storage VM)? */
static bool is_step(const struct sl_advice *advice, const struct sl_advice_row *row, bool guest)
{
	const struct sl_candidate *c = &advice->candidates[row->candidate];

	return c->change == SL_CHANGE_MEMORY &&
	       (c->box.guest_memory_bytes > advice->base->guest_memory_bytes) == guest;
}

/* Leaves the smallest step within SL_ADVICE_NEAR_BEST of the best. */
static void keep_smallest(const struct sl_advice *advice, struct sl_advice_table *table, bool guest)
{
	double best = 0;
	bool kept = false;
	int n = 0;

	for (int i = 0; i < table->n_rows; i++) {
		if (is_step(advice, &table->rows[i], guest) && mean_rate(&table->rows[i]) > best) {
			best = mean_rate(&table->rows[i]);
		}
	}
	for (int i = 0; i < table->n_rows; i++) {
		const struct sl_advice_row row = table->rows[i];
		bool step = is_step(advice, &row, guest);
		bool keep = !step || (!kept && mean_rate(&row) >= best * SL_ADVICE_NEAR_BEST);

		kept |= step && keep;
		if (keep) {
			table->rows[n++] = row;
		}
	}
	table->n_rows = n;
}

void sl_advice_keep_steps(const struct sl_advice *advice, struct sl_advice_table *table)
{
	keep_smallest(advice, table, true);
	keep_smallest(advice, table, false);
}
