/* The scenario that init writes: answers in, commented YAML out. */
#ifndef SL_CLI_INIT_SCENARIO_H
#define SL_CLI_INIT_SCENARIO_H

#include <stdio.h>

#define SL_INIT_ANSWER_MAX 256

/* As they stand in the file; checked by whoever filled them in. */
struct sl_init {
	char hypervisor[SL_INIT_ANSWER_MAX];
	char nas_vcpus[SL_INIT_ANSWER_MAX];
	char disks[SL_INIT_ANSWER_MAX];
	char layout[SL_INIT_ANSWER_MAX];
	char flush[SL_INIT_ANSWER_MAX];
	char slog[SL_INIT_ANSWER_MAX]; /* "none": no variant with one */
	char guest_vcpus[SL_INIT_ANSWER_MAX];
	char threads[SL_INIT_ANSWER_MAX];
	char rows[SL_INIT_ANSWER_MAX];
};

void sl_init_defaults(struct sl_init *answers);

/* The layout that goes with the number of disks: one stripe, two mirror, more raidz1. */
void sl_init_layout(struct sl_init *answers);

void sl_init_render(const struct sl_init *answers, FILE *out);

#endif
