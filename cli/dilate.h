/* The dilation of the commands that serve: an option, and a verb of their control socket. */
#ifndef SL_CLI_DILATE_H
#define SL_CLI_DILATE_H

#include "sim/base/err.h"

/* A dilation as a user writes it: 1e-6 .. 1e6, NULL = 1. Errors begin with `word`, as the user typed
 * it: "--dilate". */
int sl_dilate_parse(const char *word, const char *text, double *ret, struct sl_err *err);

#endif
