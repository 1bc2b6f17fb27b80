/* Numbers with units, and the error object that carries their messages. */
#include <criterion/criterion.h>
#include <errno.h>
#include <locale.h>

#include "sim/base/err.h"
#include "sim/base/units.h"

static const struct {
	const char *text;
	enum sl_unit unit;
	double value;
} good[] = {
    {"4", SL_UNIT_NONE, 4},
    {"-0.5", SL_UNIT_NONE, -0.5},
    {"1e6", SL_UNIT_NONE, 1e6},
    {"2.5e-3", SL_UNIT_NONE, 0.0025},
    {"0.15ms", SL_UNIT_TIME, 150000},
    {"0.57s", SL_UNIT_TIME, 570000000},
    {"150us", SL_UNIT_TIME, 150000},
    {"7ns", SL_UNIT_TIME, 7},
    {"60s", SL_UNIT_TIME, 60e9},
    {"2min", SL_UNIT_TIME, 120e9},
    {"1.5h", SL_UNIT_TIME, 5400e9},
    {"1e3s", SL_UNIT_TIME, 1e12},
    {"-1ms", SL_UNIT_TIME, -1e6},
    {"512B", SL_UNIT_BYTES, 512},
    {"6GiB", SL_UNIT_BYTES, 6442450944.0},
    {"128KiB", SL_UNIT_BYTES, 131072},
    {"80GB", SL_UNIT_BYTES, 80e9},
    {"1.5TiB", SL_UNIT_BYTES, 1.5 * 1099511627776.0},
    {"16K", SL_UNIT_BYTES, 16384},
    {"64G", SL_UNIT_BYTES, 68719476736.0},
    {"16k", SL_UNIT_BYTES, 16384}, /* as fio reads it */
    {"2Gi", SL_UNIT_BYTES, 2147483648.0},
    {"4kB", SL_UNIT_BYTES, 4000},
    {"64 GiB", SL_UNIT_BYTES, 68719476736.0},
    {"3.1 ms", SL_UNIT_TIME, 3100000},
    {"272 MB/s", SL_UNIT_RATE, 272e6},
    {"100MB/s", SL_UNIT_RATE, 100e6},
    {"90MiB/s", SL_UNIT_RATE, 94371840},
    {"1Gbit/s", SL_UNIT_RATE, 125e6},
    {"10GbE", SL_UNIT_LINK, 1.25e9},
    {"virtual", SL_UNIT_LINK, 0},
    {"100Mbit/s", SL_UNIT_RATE, 12.5e6},
    {"500/s", SL_UNIT_IOPS, 500},
    {"75000IOPS", SL_UNIT_IOPS, 75000},
    {"auto", SL_UNIT_DATA, -1},
    {"zero", SL_UNIT_DATA, 0},
    {"random", SL_UNIT_DATA, 1},
    {"2.5x", SL_UNIT_DATA, 2.5},
    {"80%", SL_UNIT_NONE, 0.8},
    {"5 %", SL_UNIT_NONE, 0.05},
};

static const struct {
	const char *text;
	enum sl_unit unit;
	const char *says; /* part of the message, beside the text itself */
} bad[] = {
    {"", SL_UNIT_NONE, "not a number"},       {"4x", SL_UNIT_NONE, "wrong unit"},
    {"2", SL_UNIT_DATA, "no unit"},           {"0.5x", SL_UNIT_DATA, "less than 1x"},
    {"zeros", SL_UNIT_DATA, "not a number"},  {"zero", SL_UNIT_NONE, "not a number"},
    {"nan", SL_UNIT_NONE, "not a number"},    {"inf", SL_UNIT_NONE, "not a number"},
    {"-inf", SL_UNIT_NONE, "not a number"},   {"infs", SL_UNIT_TIME, "not a number"},
    {"yes", SL_UNIT_NONE, "not a number"},    {"no", SL_UNIT_NONE, "not a number"},
    {"0x10", SL_UNIT_NONE, "wrong unit"},     {"1e999", SL_UNIT_NONE, "out of range"},
    {"1e-999", SL_UNIT_NONE, "out of range"}, {"1e305h", SL_UNIT_TIME, "out of range"},
    {"5 ", SL_UNIT_NONE, "wrong unit"},       {" 5", SL_UNIT_NONE, "not a number"},
    {"5  ms", SL_UNIT_TIME, "wrong unit"},    {"5 ", SL_UNIT_TIME, "wrong unit"},
    {"6 gib", SL_UNIT_BYTES, "wrong unit"},   {"6gb", SL_UNIT_BYTES, "wrong unit"},
    {"+5", SL_UNIT_NONE, "not a number"},     {"5.", SL_UNIT_NONE, "not a number"},
    {".5", SL_UNIT_NONE, "not a number"},     {"1,5", SL_UNIT_NONE, "wrong unit"},
    {"1e", SL_UNIT_NONE, "not a number"},     {"1e+", SL_UNIT_NONE, "not a number"},
    {"-", SL_UNIT_NONE, "not a number"},      {"--1", SL_UNIT_NONE, "not a number"},
    {"1_000", SL_UNIT_NONE, "wrong unit"},    {"0.15", SL_UNIT_TIME, "no unit"},
    {"0", SL_UNIT_TIME, "no unit"},           {"6GiB", SL_UNIT_TIME, "wrong unit"},
    {"6gib", SL_UNIT_BYTES, "wrong unit"},    {"6G", SL_UNIT_RATE, "wrong unit"},
    {"100MB", SL_UNIT_RATE, "wrong unit"},    {"100MB/sec", SL_UNIT_RATE, "wrong unit"},
    {"5ms", SL_UNIT_NONE, "wrong unit"},      {"5", SL_UNIT_IOPS, "no unit"},
    {"5Hz", SL_UNIT_IOPS, "wrong unit"},
};

Test(units, numbers_with_their_unit_are_read)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct sl_err err = {0};
		double value = -1;

		cr_assert_eq(sl_units_parse(good[i].text, good[i].unit, &value, &err), 0, "%s", err.msg);
		cr_assert_eq(value, good[i].value, "%s: %.17g", good[i].text, value);
	}
}

Test(units, everything_else_is_one_line_that_names_the_text_and_what_would_be_right)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sl_err err = {0};
		double value = -1;

		cr_assert_eq(sl_units_parse(bad[i].text, bad[i].unit, &value, &err), -EINVAL, "%s",
			     bad[i].text);
		cr_assert_eq(value, -1, "an error must leave the result alone");
		cr_assert(strstr(err.msg, bad[i].text) != NULL, "%s", err.msg);
		cr_assert(strstr(err.msg, bad[i].says) != NULL, "%s: %s", bad[i].text, err.msg);
		cr_assert(strstr(err.msg, "; write a") != NULL, "%s", err.msg);
		cr_assert(strchr(err.msg, '\n') == NULL);
	}
}

Test(units, a_long_text_is_cut_in_the_message)
{
	struct sl_err err = {0};
	char text[2000];
	double value;

	memset(text, '9', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	cr_assert_eq(sl_units_parse(text, SL_UNIT_TIME, &value, &err), -EINVAL);
	cr_assert(strlen(err.msg) < 200, "%s", err.msg);
}

static const struct {
	double value;
	enum sl_unit unit;
	const char *text;
} shown[] = {
    {150000, SL_UNIT_TIME, "150us"},   {1500000, SL_UNIT_TIME, "1.5ms"},
    {1000, SL_UNIT_TIME, "1us"},       {60e9, SL_UNIT_TIME, "60s"},
    {3600e9, SL_UNIT_TIME, "1h"},      {0, SL_UNIT_TIME, "0s"},
    {0.5, SL_UNIT_TIME, "0.5ns"},      {6442450944.0, SL_UNIT_BYTES, "6GiB"},
    {131072, SL_UNIT_BYTES, "128KiB"}, {80e9, SL_UNIT_BYTES, "80GB"},
    {512, SL_UNIT_BYTES, "512B"},      {100e6, SL_UNIT_RATE, "100MB/s"},
    {125e6, SL_UNIT_RATE, "125MB/s"},  {500, SL_UNIT_IOPS, "500/s"},
    {0.25, SL_UNIT_NONE, "0.25"},      {-3, SL_UNIT_NONE, "-3"},
};

Test(units, values_are_shown_in_their_usual_form)
{
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		char buf[32];

		sl_units_format(shown[i].value, shown[i].unit, buf, sizeof(buf));
		cr_assert_str_eq(buf, shown[i].text);
	}
}

Test(units, what_is_shown_can_be_read_again)
{
	static const enum sl_unit units[] = {SL_UNIT_NONE, SL_UNIT_TIME, SL_UNIT_BYTES, SL_UNIT_RATE,
					     SL_UNIT_IOPS};

	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		double x = 1e-3;

		for (int i = 0; i < 24; i++) {
			struct sl_err err = {0};
			double back;
			char buf[32];

			sl_units_format(x, units[u], buf, sizeof(buf));
			cr_assert_eq(sl_units_parse(buf, units[u], &back, &err), 0, "%s", err.msg);
			cr_assert(back > x * (1 - 1e-5) && back < x * (1 + 1e-5), "%g became %s", x, buf);
			x *= 7.3;
		}
	}
}

Test(units, the_form_does_not_fit_and_is_cut)
{
	char buf[4] = "xxx";

	sl_units_format(150000, SL_UNIT_TIME, buf, sizeof(buf));
	cr_assert_str_eq(buf, "150");
}

Test(err, set_returns_the_code_and_keeps_one_line)
{
	struct sl_err err = {0};

	cr_assert_eq(sl_err_set(&err, -ENOENT, "%s:%d: no such device", "a.yaml", 3), -ENOENT);
	cr_assert_eq(err.code, -ENOENT);
	cr_assert_str_eq(err.msg, "a.yaml:3: no such device");
	cr_assert_eq(sl_err_set(NULL, -EIO, "nobody listens"), -EIO);
	cr_assert_eq(sl_err_set(&err, -EINVAL, "bad key \"%s\"", "a\nb\x1b[31m"), -EINVAL);
	cr_assert_str_eq(err.msg, "bad key \"a?b?[31m\"");
}

Test(err, wrap_puts_context_before_the_cause)
{
	struct sl_err err = {0};

	(void)sl_err_set(&err, -ENOSPC, "disk full");
	cr_assert_eq(sl_err_wrap(&err, "cannot save %s", "report.html"), -ENOSPC);
	cr_assert_eq(sl_err_wrap(&err, "run"), -ENOSPC);
	cr_assert_str_eq(err.msg, "run: cannot save report.html: disk full");
	cr_assert_eq(sl_err_wrap(NULL, "nobody listens"), -EIO);
}

Test(err, messages_that_do_not_fit_are_cut_and_the_cause_outlives_the_context)
{
	struct sl_err err = {0};
	char text[2000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	(void)sl_err_set(&err, -EIO, "cause %s", text);
	cr_assert_eq(strlen(err.msg), sizeof(err.msg) - 1);
	(void)sl_err_wrap(&err, "context");
	cr_assert_eq(strlen(err.msg), sizeof(err.msg) - 1);
	cr_assert_eq(strncmp(err.msg, "context: cause xxx", 18), 0);
	(void)sl_err_wrap(&err, "%s", text);
	cr_assert_eq(strncmp(err.msg, "context: cause xxx", 18), 0);
}
