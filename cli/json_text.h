/* Text of users in JSON. */
#ifndef SL_CLI_JSON_TEXT_H
#define SL_CLI_JSON_TEXT_H

#include <jansson.h>

/* File names may hold any bytes, JSON only UTF-8: the others become '?'. New reference; NULL: no memory. */
json_t *sl_json_text(const char *text);

#endif
