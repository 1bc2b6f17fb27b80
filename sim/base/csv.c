#include "sim/base/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <string.h>

static void csv_check(struct sl_csv *csv, bool ok)
{
	if (!ok && csv->error == 0) {
		csv->error = errno != 0 ? -errno : -EIO;
	}
}

static void csv_put(struct sl_csv *csv, const char *text, size_t size)
{
	if (csv->error == 0) {
		errno = 0;
		csv_check(csv, fwrite(text, 1, size, csv->out) == size);
	}
}

static void csv_begin_cell(struct sl_csv *csv)
{
	if (csv->in_row) {
		csv_put(csv, ",", 1);
	}
	csv->in_row = true;
}

void sl_csv_init(struct sl_csv *csv, FILE *out)
{
	*csv = (struct sl_csv){.out = out};
}

void sl_csv_text(struct sl_csv *csv, const char *text)
{
	csv_begin_cell(csv);
	if (text == NULL) {
		return;
	}
	if (text[strcspn(text, ",\"\r\n")] == '\0') {
		csv_put(csv, text, strlen(text));
		return;
	}
	csv_put(csv, "\"", 1);
	for (const char *c = text; *c != '\0'; c++) {
		csv_put(csv, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
	}
	csv_put(csv, "\"", 1);
}

void sl_csv_int(struct sl_csv *csv, int64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, value);
	sl_csv_text(csv, text);
}

void sl_csv_figure(struct sl_csv *csv, double value)
{
	char text[32] = "";
	locale_t c_locale, before;

	if (__builtin_isfinite(value)) {
		c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		before = uselocale(c_locale);
		(void)snprintf(text, sizeof(text), "%.6g", value);
		(void)uselocale(before);
		freelocale(c_locale);
	}
	sl_csv_text(csv, text);
}

void sl_csv_end_row(struct sl_csv *csv)
{
	csv_put(csv, "\n", 1);
	csv->in_row = false;
}

int sl_csv_finish(struct sl_csv *csv, struct sl_err *err)
{
	if (csv->error == 0) {
		errno = 0;
		csv_check(csv, fflush(csv->out) == 0);
	}
	if (csv->error != 0) {
		return sl_err_set(err, csv->error, "cannot write CSV: %s", strerror(-csv->error));
	}
	return 0;
}
