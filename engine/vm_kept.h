/* Measurements of an unfinished run, kept so that the next one goes on behind them: one JSON file a lab,
 * written anew after each. */
#ifndef SL_ENGINE_VM_KEPT_H
#define SL_ENGINE_VM_KEPT_H

#include <jansson.h>
#include <limits.h>

#include "engine/vm_cell.h"
#include "engine/vm_costs.h"

struct sl_vm_kept {
	char path[PATH_MAX];
	json_t *root; /* owned */
};

/* Opens $XDG_STATE_HOME/sloglab/runs/NAME.json; what was kept under another key, or in a file that is broken,
 * is forgotten, with `fresh` all is. Release with sl_vm_kept_close. */
int sl_vm_kept_open(const char *name, uint64_t key, bool fresh, struct sl_vm_kept *ret, struct sl_err *err);
void sl_vm_kept_close(struct sl_vm_kept *kept);
/* The run is complete. */
void sl_vm_kept_remove(struct sl_vm_kept *kept);

/* False when it is not there; *ret as after sl_vm_cell_run. */
bool sl_vm_kept_find(const struct sl_vm_kept *kept, const char *variant, const char *workload, int repeat,
		     struct sl_vm_sample *ret);
int sl_vm_kept_add(struct sl_vm_kept *kept, const char *variant, const char *workload, int repeat,
		   const struct sl_vm_sample *sample, struct sl_err *err);

bool sl_vm_kept_costs(const struct sl_vm_kept *kept, struct sl_vm_costs *ret);
int sl_vm_kept_costs_set(struct sl_vm_kept *kept, const struct sl_vm_costs *costs, struct sl_err *err);

#endif
