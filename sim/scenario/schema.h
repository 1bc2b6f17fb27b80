/* The .def tables as arrays: look-up, nearest name, parsing and range checks of one value. */
#ifndef SL_SCENARIO_SCHEMA_H
#define SL_SCENARIO_SCHEMA_H

#include <stddef.h>

#include "sim/base/err.h"
#include "sim/box/box.h"
#include "sim/scenario/scenario.h"

/* Room for a key with its section, a name in a message, and the like. */
#define SL_NAME_MAX 64

enum sl_row_type {
	SL_ROW_NUMBER,
	SL_ROW_INT,
	SL_ROW_ENUM,
	SL_ROW_SWITCH, /* a figure that is 0 or 1; also "no" and "yes" */
	/* These have no field in the tables: */
	SL_ROW_DISKS, /* list of devices */
	SL_ROW_PROFILE
};

struct sl_schema_row {
	const char *key;
	enum sl_row_type type;
	enum sl_unit unit;
	size_t offset; /* of the field in struct sl_box, sl_workload or sl_dev_spec */
	const char *dflt;
	const char *words; /* enums: "a|b|c" */
	double min, max;
	unsigned kinds; /* mask of 1 << kind; 0 = does not depend on a kind */
	const char *help;
};

struct sl_schema {
	const struct sl_schema_row *rows;
	int n;
};

/* Positions in the table of scenario keys: the rows of keys.def by field, then those without a field. */
enum {
#define SL_KEY(key, unit, field, dflt, min, max, help) SL_AT_##field,
#define SL_KEY_INT(key, field, dflt, min, max, help) SL_AT_##field,
#define SL_KEY_ENUM(key, field, dflt, words, help) SL_AT_##field,
#include "sim/box/keys.def"
#undef SL_KEY
#undef SL_KEY_INT
#undef SL_KEY_ENUM
	SL_N_KEYS,
	SL_ROW_AT_PROFILE = SL_N_KEYS,
	SL_ROW_AT_DATA,
	SL_ROW_AT_LOG,
	SL_ROW_AT_SPECIAL,
	SL_ROW_AT_CACHE,
	SL_N_ROWS
};

enum {
#define SL_FIGURE(kinds, key, unit, field, dflt, min, max, help) SL_FIGURE_AT_##field,
#define SL_FIGURE_ENUM(kinds, key, field, dflt, words, help) SL_FIGURE_AT_##field,
#include "sim/device/figures.def"
#undef SL_FIGURE
#undef SL_FIGURE_ENUM
	SL_N_FIGURES
};

struct sl_schema sl_schema_keys(void);
struct sl_schema sl_schema_workload(void);
struct sl_schema sl_schema_figures(void);

/* Position of the row `key` for one of the kinds in `mask` (SL_ANY_KIND: for any), -1 when there is none. */
#define SL_ANY_KIND (~0u)
int sl_schema_find(struct sl_schema table, const char *key, unsigned mask);

/* Searches the name nearest to `text` among those offered; `best` is NULL when none is near. */
struct sl_nearest {
	const char *text, *best;
	int score;
};
struct sl_nearest sl_nearest_to(const char *text);
void sl_nearest_offer(struct sl_nearest *nearest, const char *candidate);
/* "did you mean 'x'?", or `otherwise`, written to buf. */
const char *sl_nearest_hint(const struct sl_nearest *nearest, const char *otherwise, char *buf, size_t size);

/* The hint for a key that is not in the table. */
const char *sl_schema_hint(struct sl_schema table, const char *key, const char *otherwise, char *buf,
			   size_t size);

/* Position of `text` in "a|b|c", -1 when it is none of them. */
int sl_schema_word(const char *words, const char *text);

/* Parses and checks the value of a row with a field; *ret in base units, or the position of the word.
 * The message has neither place nor key. -EINVAL. */
int sl_schema_parse(const struct sl_schema_row *row, const char *text, double *ret, struct sl_err *err);
/* The range check alone, for values that are numbers already. -ERANGE. */
int sl_schema_check(const struct sl_schema_row *row, double value, struct sl_err *err);
/* Writes a checked value into the row's field of `object`. */
void sl_schema_store(const struct sl_schema_row *row, double value, void *object);

/* Provenance that a file may state, -1 when `text` is none. */
int sl_schema_provenance(const char *text);

/* Variants and workloads: 1 to 63 bytes without spaces, commas, slashes and control characters. */
bool sl_scenario_name_ok(const char *name);
/* Catalogue files and profiles: 1 to 63 of a-z 0-9 . - and no dot in front. */
bool sl_scenario_file_name_ok(const char *name);

#endif
