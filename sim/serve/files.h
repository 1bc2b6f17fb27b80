/* What the datastore needs of a durable tree beside the store seam (sl_files_open is in datastore.h). */
#ifndef SL_SERVE_FILES_H
#define SL_SERVE_FILES_H

#include <stdint.h>

#include "sim/store/tree.h"

/* The 16 random bytes that were drawn when the folder was made. `tree` is one of sl_files_open. */
void sl_files_key(struct sl_tree *tree, uint8_t ret[16]);

#endif
