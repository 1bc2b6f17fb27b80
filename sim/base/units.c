#include "sim/base/units.h"

#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct suffix {
	const char *name;
	double factor;
};

/* Order: what sl_units_format prefers among texts of equal length. */
static const struct suffix none_suffixes[] = {{"", 1}, {NULL, 0}};
static const struct suffix time_suffixes[] = {{"s", 1e9},    {"ms", 1e6},   {"us", 1e3}, {"ns", 1},
					      {"min", 60e9}, {"h", 3600e9}, {NULL, 0}};
static const struct suffix byte_suffixes[] = {
    {"B", 1},    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
    {"KB", 1e3}, {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {NULL, 0}};
/* As ZFS, QEMU and fio read sizes, and Kubernetes writes them; never printed. */
static const struct suffix byte_letters[] = {{"K", 0x1p10},  {"M", 0x1p20},  {"G", 0x1p30},  {"T", 0x1p40},
					     {"k", 0x1p10},  {"m", 0x1p20},  {"g", 0x1p30},  {"t", 0x1p40},
					     {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40},
					     {"kB", 1e3},    {NULL, 0}};
/* As people say shares; never printed. */
static const struct suffix share_signs[] = {{"%", 0.01}, {NULL, 0}};
static const struct suffix rate_suffixes[] = {{"B/s", 1},           {"KiB/s", 0x1p10}, {"MiB/s", 0x1p20},
					      {"GiB/s", 0x1p30},    {"TiB/s", 0x1p40}, {"KB/s", 1e3},
					      {"MB/s", 1e6},        {"GB/s", 1e9},     {"TB/s", 1e12},
					      {"Mbit/s", 125000.0}, {"Gbit/s", 125e6}, {NULL, 0}};
static const struct suffix link_suffixes[] = {{"GbE", 125e6},    {"B/s", 1},    {"KB/s", 1e3},
					      {"MB/s", 1e6},     {"GB/s", 1e9}, {"Mbit/s", 125000.0},
					      {"Gbit/s", 125e6}, {NULL, 0}};
static const struct suffix data_suffixes[] = {{"x", 1}, {NULL, 0}};
static const struct suffix iops_suffixes[] = {{"/s", 1}, {"IOPS", 1}, {NULL, 0}};

static const struct {
	const struct suffix *suffixes;
	const char *form; /* how the right text looks, for messages */
} kinds[] = {
    [SL_UNIT_NONE] = {none_suffixes, "a plain number such as 4 or 0.5, or a share such as 50%"},
    [SL_UNIT_TIME] = {time_suffixes, "a time with one of ns, us, ms, s, min, h, such as 0.15ms"},
    [SL_UNIT_BYTES] =
	{byte_suffixes,
	 "a size such as 6GiB: B; KiB, MiB, GiB, TiB or K, M, G, T, powers of 1024; KB, MB, GB, TB, of "
	 "1000"},
    [SL_UNIT_RATE] = {rate_suffixes, "a rate such as 100MB/s, 90MiB/s or 1Gbit/s"},
    [SL_UNIT_LINK] = {link_suffixes, "virtual, or a line rate such as 10GbE"},
    [SL_UNIT_IOPS] = {iops_suffixes, "a rate such as 500/s or 500IOPS"},
    [SL_UNIT_DATA] = {data_suffixes, "a word, zero or random, or how far it compresses, such as 2.0x"},
};

/* Words in place of a number. */
static const struct {
	enum sl_unit unit;
	const char *name;
	double value;
} words[] = {{SL_UNIT_LINK, "virtual", 0},
	     {SL_UNIT_DATA, "auto", -1},
	     {SL_UNIT_DATA, "zero", 0},
	     {SL_UNIT_DATA, "random", 1}};

static const char *skip_digits(const char *p)
{
	while (*p >= '0' && *p <= '9') {
		p++;
	}
	return p;
}

/* End of the plain decimal at `text` ([-]digits[.digits][e[+-]digits]), NULL when there is none. */
static const char *number_end(const char *text)
{
	const char *p = *text == '-' ? text + 1 : text;
	const char *end = skip_digits(p);

	if (end == p) {
		return NULL;
	}
	if (*end == '.') {
		p = end + 1;
		end = skip_digits(p);
		if (end == p) {
			return NULL;
		}
	}
	if (*end == 'e' || *end == 'E') {
		p = end[1] == '+' || end[1] == '-' ? end + 2 : end + 1;
		end = skip_digits(p);
		if (end == p) {
			return NULL;
		}
	}
	return end;
}

/* The decimal point is '.' whatever the user's locale says. number_end() has checked the form. */
static bool number_value(const char *text, double *ret)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t before = uselocale(c_locale);

	errno = 0;
	*ret = strtod(text, NULL);
	(void)uselocale(before);
	freelocale(c_locale);
	return errno == 0;
}

/* 0.57s must be 570000000 ns although 0.57 is not a binary fraction. */
static double snap_to_integer(double value)
{
	double size = value < 0 ? -value : value;
	double nearest;

	if (size >= 0x1p52) {
		return value;
	}
	nearest = (double)(int64_t)(size + 0.5);
	if (size > nearest + 1e-12 * size || size < nearest - 1e-12 * size) {
		return value;
	}
	return value < 0 ? -nearest : nearest;
}

static const struct suffix *find(const struct suffix *suffixes, const char *name)
{
	for (const struct suffix *s = suffixes; s->name != NULL; s++) {
		if (strcmp(name, s->name) == 0) {
			return s;
		}
	}
	return NULL;
}

/* The unit at `end`, perhaps behind a space; NULL when it is none of `unit`. */
static const struct suffix *suffix_at(const char *end, enum sl_unit unit)
{
	const char *name = end[0] == ' ' && end[1] != '\0' ? end + 1 : end;
	const struct suffix *suffix = find(kinds[unit].suffixes, name);

	if (!suffix && unit == SL_UNIT_BYTES) {
		return find(byte_letters, name);
	}
	return !suffix && unit == SL_UNIT_NONE ? find(share_signs, name) : suffix;
}

const char *sl_units_suffix(const char *text, enum sl_unit unit, double *ret_size)
{
	const char *end = number_end(text);
	const struct suffix *suffix = end ? suffix_at(end, unit) : NULL;

	if (suffix) {
		*ret_size = suffix->factor;
	}
	return suffix ? suffix->name : NULL;
}

int sl_units_parse(const char *text, enum sl_unit unit, double *ret, struct sl_err *err)
{
	const char *end = number_end(text);
	const struct suffix *suffix;
	double value;

	assert((size_t)unit < sizeof(kinds) / sizeof(kinds[0]));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (unit == words[i].unit && strcmp(text, words[i].name) == 0) {
			*ret = words[i].value;
			return 0;
		}
	}
	if (end == NULL) {
		return sl_err_set(err, -EINVAL, "\"%.40s\" is not a number; write %s", text,
				  kinds[unit].form);
	}
	suffix = suffix_at(end, unit);
	if (suffix == NULL) {
		return sl_err_set(err, -EINVAL, "\"%.40s\" has %s; write %s", text,
				  *end == '\0' ? "no unit" : "a wrong unit", kinds[unit].form);
	}
	if (!number_value(text, &value) || !__builtin_isfinite(value * suffix->factor)) {
		return sl_err_set(err, -EINVAL, "\"%.40s\" is out of range; write %s", text,
				  kinds[unit].form);
	}
	if (unit == SL_UNIT_DATA && value < 1) {
		return sl_err_set(err, -EINVAL, "\"%.40s\" is less than 1x; write %s", text,
				  kinds[unit].form);
	}
	*ret = snap_to_integer(value * suffix->factor);
	return 0;
}

/* The length the text would have, made worse by whatever a user would not write: 0.15ms, 1e+06ns. */
static size_t text_cost(const char *text, double shown)
{
	size_t cost = strlen(text);

	if (shown < 1.0 && shown > -1.0) {
		cost += 100;
	}
	if (strchr(text, 'e') != NULL) {
		cost += 100;
	}
	return cost;
}

void sl_units_format(double value, enum sl_unit unit, char *buf, size_t size)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t before = uselocale(c_locale);
	size_t best_cost = SIZE_MAX;
	char text[48], number[32];

	assert((size_t)unit < sizeof(kinds) / sizeof(kinds[0]) && size > 0);
	for (const struct suffix *s = kinds[unit].suffixes; s->name != NULL; s++) {
		double shown = value / s->factor;
		size_t cost;

		(void)snprintf(number, sizeof(number), "%.6g", shown);
		cost = text_cost(number, shown) + strlen(s->name);
		if (cost < best_cost) {
			best_cost = cost;
			(void)snprintf(text, sizeof(text), "%s%s", number, s->name);
		}
	}
	(void)uselocale(before);
	freelocale(c_locale);
	(void)snprintf(buf, size, "%s", text);
}

void sl_units_figure(double value, enum sl_unit unit, int digits, char *buf, size_t size)
{
	static const char *const times[] = {"ns", "us", "ms", "s"};
	static const char *const rates[] = {"B/s", "KB/s", "MB/s", "GB/s"};
	const char *const *names = unit == SL_UNIT_TIME ? times : rates;
	int step = 0;

	if (value == 0 || (unit != SL_UNIT_TIME && unit != SL_UNIT_RATE)) {
		sl_units_format(value, unit, buf, size);
		return;
	}
	while (step < 3 && fabs(value) >= 999.9995) {
		value /= 1000;
		step++;
	}
	snprintf(buf, size, "%.*g%s", digits, value, names[step]);
}

void sl_units_time(int64_t ns, char *buf, size_t size)
{
	sl_units_figure((double)ns, SL_UNIT_TIME, 3, buf, size);
}
