#include "sim/scenario/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/units.h"

#define WORDS_MAX 15 /* positions of words in a figure */

/* clang-format off */
static const struct sl_schema_row key_rows[SL_N_ROWS] = {
#define SL_KEY(k, u, field, d, lo, hi, h) \
	{.key = (k), .type = SL_ROW_NUMBER, .unit = (u), .offset = offsetof(struct sl_box, field), .dflt = (d), \
	 .min = (lo), .max = (hi), .help = (h)},
#define SL_KEY_INT(k, field, d, lo, hi, h) \
	{.key = (k), .type = SL_ROW_INT, .offset = offsetof(struct sl_box, field), .dflt = (d), \
	 .min = (lo), .max = (hi), .help = (h)},
#define SL_KEY_ENUM(k, field, d, w, h) \
	{.key = (k), .type = SL_ROW_ENUM, .offset = offsetof(struct sl_box, field), .dflt = (d), \
	 .words = (w), .help = (h)},
#include "sim/box/keys.def"
#undef SL_KEY
#undef SL_KEY_INT
#undef SL_KEY_ENUM
	[SL_ROW_AT_PROFILE] = {.key = "host.profile", .type = SL_ROW_PROFILE, .dflt = "none",
			       .help = "host profile that gives the params, profiles/NAME.yaml"},
	[SL_ROW_AT_DATA] = {.key = "pool.data.disks", .type = SL_ROW_DISKS, .dflt = "", .min = 1,
			    .max = SL_BOX_DATA_MAX, .help = "disks of the data vdev"},
	[SL_ROW_AT_LOG] = {.key = "pool.log", .type = SL_ROW_DISKS, .dflt = "none", .min = 0,
			   .max = SL_BOX_LOG_MAX, .help = "log devices (SLOG), none for a pool without"},
	[SL_ROW_AT_SPECIAL] = {.key = "pool.special", .type = SL_ROW_DISKS, .dflt = "none", .min = 0,
			       .max = SL_BOX_SPECIAL_MAX,
			       .help = "special vdevs, for metadata and small blocks; none for a pool without"},
	[SL_ROW_AT_CACHE] = {.key = "pool.cache", .type = SL_ROW_DISKS, .dflt = "none", .min = 0,
			     .max = SL_BOX_CACHE_MAX, .help = "cache devices (L2ARC), none for a pool without"},
};

static const struct sl_schema_row workload_rows[] = {
#define SL_WL_NUM(m, k, u, field, d, lo, hi, h) \
	{.key = (k), .type = SL_ROW_NUMBER, .unit = (u), .offset = offsetof(struct sl_workload, field), .dflt = (d), \
	 .min = (lo), .max = (hi), .kinds = (m), .help = (h)},
#define SL_WL_INT(m, k, field, d, lo, hi, h) \
	{.key = (k), .type = SL_ROW_INT, .offset = offsetof(struct sl_workload, field), .dflt = (d), .min = (lo), \
	 .max = (hi), .kinds = (m), .help = (h)},
#define SL_WL_ENUM(m, k, field, d, w, h) \
	{.key = (k), .type = SL_ROW_ENUM, .offset = offsetof(struct sl_workload, field), .dflt = (d), .words = (w), \
	 .kinds = (m), .help = (h)},
#include "sim/box/workload.def"
#undef SL_WL_NUM
#undef SL_WL_INT
#undef SL_WL_ENUM
};

static const struct sl_schema_row figure_rows[SL_N_FIGURES] = {
#define SL_FIGURE(m, k, u, field, d, lo, hi, h) \
	{.key = (k), .type = (u) == SL_UNIT_NONE && (lo) == 0 && (hi) == 1 ? SL_ROW_SWITCH : SL_ROW_NUMBER, \
	 .unit = (u), .offset = offsetof(struct sl_dev_spec, field), .dflt = (d), .min = (lo), .max = (hi), \
	 .kinds = (m), .help = (h)},
#define SL_FIGURE_ENUM(m, k, field, d, w, h) \
	{.key = (k), .type = SL_ROW_ENUM, .offset = offsetof(struct sl_dev_spec, field), .dflt = (d), .words = (w), \
	 .max = WORDS_MAX, .kinds = (m), .help = (h)},
#include "sim/device/figures.def"
#undef SL_FIGURE
#undef SL_FIGURE_ENUM
};
/* clang-format on */

struct sl_schema sl_schema_keys(void)
{
	return (struct sl_schema){.rows = key_rows, .n = SL_N_ROWS};
}

struct sl_schema sl_schema_workload(void)
{
	return (struct sl_schema){.rows = workload_rows,
				  .n = sizeof(workload_rows) / sizeof(workload_rows[0])};
}

struct sl_schema sl_schema_figures(void)
{
	return (struct sl_schema){.rows = figure_rows, .n = SL_N_FIGURES};
}

int sl_schema_find(struct sl_schema table, const char *key, unsigned mask)
{
	for (int i = 0; i < table.n; i++) {
		const struct sl_schema_row *row = &table.rows[i];

		if ((row->kinds == 0 || (row->kinds & mask) != 0) && strcmp(row->key, key) == 0) {
			return i;
		}
	}
	return -1;
}

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

/* Edit distance with swaps of neighbours; names of SL_NAME_MAX and more are far from everything. */
static int distance(const char *a, const char *b)
{
	int rows[3][SL_NAME_MAX + 1];
	int *before = rows[0], *last = rows[1], *now = rows[2];
	int n = (int)strnlen(a, SL_NAME_MAX), m = (int)strnlen(b, SL_NAME_MAX);

	if (n == SL_NAME_MAX || m == SL_NAME_MAX) {
		return SL_NAME_MAX;
	}
	for (int j = 0; j <= m; j++) {
		last[j] = before[j] = j;
	}
	for (int i = 1; i <= n; i++) {
		int *spare = before;

		now[0] = i;
		for (int j = 1; j <= m; j++) {
			int change = last[j - 1] + (a[i - 1] != b[j - 1]);

			now[j] = min_int(change, min_int(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
				now[j] = min_int(now[j], before[j - 2] + 1);
			}
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[m];
}

static bool is_last_part(const char *key, const char *part)
{
	size_t n = strlen(key), m = strlen(part);

	return n > m && key[n - m - 1] == '.' && strcmp(key + n - m, part) == 0;
}

struct sl_nearest sl_nearest_to(const char *text)
{
	int len = (int)strnlen(text, SL_NAME_MAX);

	return (struct sl_nearest){.text = text, .score = 1 + (len / 3 > 1 ? len / 3 : 1)};
}

void sl_nearest_offer(struct sl_nearest *nearest, const char *candidate)
{
	int score = distance(nearest->text, candidate);

	if (is_last_part(candidate, nearest->text)) {
		score = 0; /* "zil.commit_cpu" for "params.zil.commit_cpu" */
	} else if (score > 1 && strlen(nearest->text) >= 4 && strstr(candidate, nearest->text)) {
		score = 1; /* "s3700" for "intel-dc-s3700-100" */
	}
	if (score < nearest->score) {
		nearest->score = score;
		nearest->best = candidate;
	}
}

const char *sl_nearest_hint(const struct sl_nearest *nearest, const char *otherwise, char *buf, size_t size)
{
	if (nearest->best) {
		(void)snprintf(buf, size, "did you mean '%.63s'?", nearest->best);
	} else {
		(void)snprintf(buf, size, "%s", otherwise);
	}
	return buf;
}

const char *sl_schema_hint(struct sl_schema table, const char *key, const char *otherwise, char *buf,
			   size_t size)
{
	struct sl_nearest nearest = sl_nearest_to(key);

	for (int i = 0; i < table.n; i++) {
		sl_nearest_offer(&nearest, table.rows[i].key);
	}
	return sl_nearest_hint(&nearest, otherwise, buf, size);
}

/* Length of the first word of "a|b|c". */
static size_t word_length(const char *words)
{
	return strcspn(words, "|");
}

int sl_schema_word(const char *words, const char *text)
{
	size_t len = strlen(text);

	for (int i = 0;; i++) {
		size_t n = word_length(words);

		if (n == len && memcmp(words, text, n) == 0) {
			return i;
		}
		if (words[n] == '\0') {
			return -1;
		}
		words += n + 1;
	}
}

/* "a, b or c" */
static void words_list(const char *words, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	while (at < size) {
		size_t n = word_length(words);
		bool end = words[n] == '\0';
		bool next_last = !end && words[n + 1 + word_length(words + n + 1)] == '\0';
		int put = snprintf(buf + at, size - at, "%.*s%s", (int)n, words,
				   end         ? ""
				   : next_last ? " or "
					       : ", ");

		if (end || put < 0) {
			return;
		}
		at += (size_t)put;
		words += n + 1;
	}
}

static int parse_enum(const struct sl_schema_row *row, const char *text, double *ret, struct sl_err *err)
{
	int at = sl_schema_word(row->words, text);
	char list[160];

	if (at < 0) {
		words_list(row->words, list, sizeof(list));
		return sl_err_set(err, -EINVAL, "'%.40s' is not known; write %s", text, list);
	}
	*ret = at;
	return 0;
}

static int parse_int(const char *text, double *ret, struct sl_err *err)
{
	const char *digits = text + (text[0] == '-');
	size_t n = strspn(digits, "0123456789");

	/* 15 digits are exact in a double. */
	if (n == 0 || n > 15 || digits[n] != '\0') {
		return sl_err_set(err, -EINVAL, "'%.40s' is not a whole number; write digits only", text);
	}
	*ret = (double)strtoll(text, NULL, 10);
	return 0;
}

int sl_schema_check(const struct sl_schema_row *row, double value, struct sl_err *err)
{
	char lo[48], hi[48];

	if (row->type == SL_ROW_ENUM || (value >= row->min && value <= row->max)) {
		return 0;
	}
	sl_units_format(row->min, row->unit, lo, sizeof(lo));
	sl_units_format(row->max, row->unit, hi, sizeof(hi));
	return sl_err_set(err, -ERANGE, "out of range; write a value from %s to %s", lo, hi);
}

int sl_schema_parse(const struct sl_schema_row *row, const char *text, double *ret, struct sl_err *err)
{
	int rc;

	if (row->type == SL_ROW_ENUM) {
		return parse_enum(row, text, ret, err);
	}
	if (row->type == SL_ROW_SWITCH && sl_schema_word("no|yes", text) >= 0) {
		*ret = sl_schema_word("no|yes", text);
		return 0;
	}
	rc = row->type == SL_ROW_INT ? parse_int(text, ret, err) : sl_units_parse(text, row->unit, ret, err);
	if (rc) {
		return -EINVAL;
	}
	rc = sl_schema_check(row, *ret, err);
	if (rc) {
		sl_err_wrap(err, "'%.40s'", text);
		return -EINVAL;
	}
	return 0;
}

void sl_schema_store(const struct sl_schema_row *row, double value, void *object)
{
	void *field = (char *)object + row->offset;

	if (row->type == SL_ROW_INT) {
		*(int64_t *)field = (int64_t)value;
	} else if (row->type == SL_ROW_ENUM) {
		*(int *)field = (int)value;
	} else {
		*(double *)field = value;
	}
}

static const char provenance_words[] = "default|given|spec|measured|fitted|assumed|derived|fudge";

int sl_schema_provenance(const char *text)
{
	int at = sl_schema_word(provenance_words, text);

	return at >= SL_PROV_SPEC ? at : -1;
}

const char *sl_provenance_name(enum sl_provenance kind)
{
	switch (kind) {
	case SL_PROV_DEFAULT:
		return "default";
	case SL_PROV_GIVEN:
		return "given";
	case SL_PROV_SPEC:
		return "spec";
	case SL_PROV_MEASURED:
		return "measured";
	case SL_PROV_FITTED:
		return "fitted";
	case SL_PROV_ASSUMED:
		return "assumed";
	case SL_PROV_DERIVED:
		return "derived";
	case SL_PROV_FUDGE:
		return "fudge";
	}
	return "unknown";
}

bool sl_scenario_name_ok(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f || name[i] == ',' || name[i] == '/') {
			return false;
		}
	}
	return len > 0 && len < SL_NAME_MAX;
}

bool sl_scenario_file_name_ok(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < SL_NAME_MAX && name[0] != '.' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") == len;
}
