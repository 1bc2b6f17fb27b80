/* What sloglab's JSON documents have in common, over jansson. */
#ifndef SL_BASE_JSON_H
#define SL_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "sim/base/err.h"

/*
 * Jansson's setters return -1 for a value that could not be made, so a document that is built without memory
 * looks whole and lacks parts. Instead of some two hundred checks there is one: call sl_json_watch() first in
 * main(); once jansson has been refused memory in this thread, sl_json_starved() is true for good and
 * sl_json_write() refuses.
 */
void sl_json_watch(void);
bool sl_json_starved(void);

/* `value` rounded to 6 significant digits, the precision of every printed figure; not finite values stay. */
double sl_round6(double value);

/* A figure with 6 significant digits, null when it is not finite. New reference; NULL when out of memory. */
json_t *sl_json_figure(double value);

/* Writes `doc` indented, keys in order of insertion, real numbers with 6 digits, and a newline. -EIO,
 * -ENOMEM. */
int sl_json_write(const json_t *doc, FILE *out, struct sl_err *err);

/* The same to a file that appears whole or not at all. */
int sl_json_write_file(const json_t *doc, const char *path, struct sl_err *err);

/* File names may hold any bytes, JSON only UTF-8: the others become '?'. New reference; NULL: no memory. */
json_t *sl_json_text(const char *text);

#endif
