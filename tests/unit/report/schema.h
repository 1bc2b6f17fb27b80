/* A JSON Schema checker for the words that docs/result.schema.json uses; an unknown word fails the test. */
#ifndef SL_TESTS_REPORT_SCHEMA_H
#define SL_TESTS_REPORT_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* True when `value` obeys `schema`; else `why` says where and what. `root` is the whole schema, for $ref. */
bool schema_check(json_t *root, json_t *schema, json_t *value, char *why, size_t size);

#endif
