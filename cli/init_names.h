/* The names that init's answers may use: drives of the catalogue, host profiles. */
#ifndef SL_CLI_INIT_NAMES_H
#define SL_CLI_INIT_NAMES_H

#include "cli/init_answers.h"

/* From ./catalogue, ./profiles and data_dir; a file that cannot be read is left out. *ret is freed with
 * sl_init_names_free. -ENOMEM. */
int sl_init_names_load(const char *data_dir, struct sl_init_names **ret, struct sl_err *err);
void sl_init_names_free(struct sl_init_names *names);

#endif
