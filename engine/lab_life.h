/* A lab from outside: brought up, found, taken down; also what a crash left of it. */
#ifndef SL_ENGINE_LAB_LIFE_H
#define SL_ENGINE_LAB_LIFE_H

#include "engine/lab_plan.h"

#define SL_LAB_DOWN_MS 120000 /* for an orderly end */

/* Brings the lab up, with latencies on in the end; tells said() each step. In a lab that is up, what died is
 * started again; one that is well is an error. -EINTR when stopped() says true: nothing is left then; after
 * other errors its folder stays, with the logs that the message names. */
int sl_lab_bring_up(const struct sl_lab_plan *plan, void (*said)(void *arg, const char *what),
		    bool (*stopped)(void), struct sl_err *err);

/* The lab of that name; NULL: the only one there is. -ENOENT, or -EINVAL when there are several. */
int sl_lab_find(const char *name, char ret_dir[SL_LAB_DIR_MAX], struct sl_err *err);
/* Takes the lab down if it is up, waits at most timeout_ms, then ends it by force (0: at once); removes its
 * folder. What a crash left is removed as well. */
int sl_lab_remove(const char *dir, int timeout_ms, struct sl_err *err);

#endif
