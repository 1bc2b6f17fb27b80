/* Inside advise: what is tried (candidates), how it is judged. */
#ifndef SL_STACK_ADVISE_INNER_H
#define SL_STACK_ADVISE_INNER_H

#include "sim/stack/advise.h"

/* Adds a line to the notes; further ones are dropped once there are SL_ADVICE_NOTES_MAX. */
void sl_advice_note(struct sl_advice *advice, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A new candidate: the base box, nothing changed yet. NULL when out of memory; valid until the next one. */
struct sl_candidate *sl_advice_add(struct sl_advice *advice, enum sl_change change, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Loads the drives that were asked for through `shelf`; those that cannot be used become notes. -ENOMEM. */
int sl_advice_load_drives(struct sl_advice *advice, struct sl_scenario *shelf,
			  const struct sl_advise_options *options);

/* The base, then every change that costs nothing. -ENOMEM. */
int sl_advice_add_settings(struct sl_advice *advice);

/* More memory of either VM, in steps. -ENOMEM. */
int sl_advice_add_memory(struct sl_advice *advice);

/* Of the rows that are such steps, in order of candidates, leaves the one that is worth it of each VM. */
void sl_advice_keep_steps(const struct sl_advice *advice, struct sl_advice_table *table);

/* Every drive alone, as a mirror of two and as two side by side; the cheapest as L2ARC and as special vdev,
 * too. Within the budget (0 = no limit). -ENOMEM. */
int sl_advice_add_purchases(struct sl_advice *advice, double budget_usd);

/* `purchase` and `free` (positions of candidates) in one box. -ENOMEM. */
int sl_advice_add_both(struct sl_advice *advice, int purchase, int free);

/* The box of the second candidate with the log, special and cache devices of the first. */
void sl_advice_both_box(const struct sl_candidate *bought, const struct sl_candidate *changed,
			struct sl_box *ret);

/* Compares, marks and ranks the rows of a table whose samples are in place, and chooses. */
void sl_advice_judge(struct sl_advice *advice, struct sl_advice_table *table);

/* Applies the rule of buying to the rows, which are in order of rank: which of them the verdict is
 * about. */
void sl_advice_choose(const struct sl_advice *advice, struct sl_advice_table *table);

/* Do reads of the database take most of the time of the box as it is? */
bool sl_advice_reads_limit(const struct sl_advice_table *table);

/* Words the limits, for which the what-ifs of the table are in place, and the verdict. */
void sl_advice_word(const struct sl_advice *advice, struct sl_advice_table *table);

#endif
