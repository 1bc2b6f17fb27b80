/* What sloglab's JSON documents have in common, over jansson. */
#ifndef SL_BASE_JSON_H
#define SL_BASE_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "sim/base/err.h"

/* `value` rounded to 6 significant digits, the precision of every printed figure; not finite values stay. */
double sl_round6(double value);

/* A figure with 6 significant digits, null when it is not finite. New reference; NULL when out of memory. */
json_t *sl_json_figure(double value);

/* Writes `doc` indented, keys in order of insertion, real numbers with 6 digits, and a newline. -EIO,
 * -ENOMEM. */
int sl_json_write(const json_t *doc, FILE *out, struct sl_err *err);

/* The same to a file that appears whole or not at all. */
int sl_json_write_file(const json_t *doc, const char *path, struct sl_err *err);

#endif
