/* The scenario that init writes: answers in, commented YAML out. */
#ifndef SL_CLI_INIT_SCENARIO_H
#define SL_CLI_INIT_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SL_INIT_ANSWER_MAX 256

enum sl_init_at {
	SL_INIT_HYPERVISOR,
	SL_INIT_CLIENT,
	SL_INIT_LINK,
	SL_INIT_PROFILE,
	SL_INIT_CORES,
	SL_INIT_NAS_VCPUS,
	SL_INIT_NAS_MEMORY,
	SL_INIT_ZIL,
	SL_INIT_DISKS,
	SL_INIT_LAYOUT,
	SL_INIT_VDEVS,
	SL_INIT_FLUSH,
	SL_INIT_SLOG,
	SL_INIT_GUEST_VCPUS,
	SL_INIT_GUEST_MEMORY,
	SL_INIT_LOAD,
	SL_INIT_THREADS,
	SL_INIT_ROWS,
	SL_INIT_SIZE,
	SL_INIT_N /* answers */
};

/* As they stand in the file; checked by whoever filled them in. */
struct sl_init {
	char answer[SL_INIT_N][SL_INIT_ANSWER_MAX];
	bool known[SL_INIT_N]; /* said by the user; the others follow from these */
	int64_t wire_delay_ns; /* of one NFS call, cards and switch in it; 0 = as the profile says */
};

/* Defaults for everything; nothing is known. */
void sl_init_defaults(struct sl_init *answers);

/* Makes what is not known go with what is: client, layout, vdevs, disks. Call it after each answer. */
void sl_init_settle(struct sl_init *answers);

/* Is the storage a machine of its own, behind a wire? */
bool sl_init_separate(const struct sl_init *answers);

/* Disks of the canonical list "a x 2, b". */
int sl_init_disks(const struct sl_init *answers);

/* The fewest disks of one vdev: 2 for a mirror, 3 for raidz1 ... */
int sl_init_least(const char *layout);

void sl_init_render(const struct sl_init *answers, FILE *out);

#endif
