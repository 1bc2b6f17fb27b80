#include "sim/report/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct field {
	char text[SL_TABLE_TEXT];
	enum sl_tint tint;
};

struct row {
	bool rule; /* a line above */
	int n;
	struct field fields[SL_TABLE_COLUMNS];
};

struct sl_table {
	int columns;
	const char *headings[SL_TABLE_COLUMNS];
	bool left[SL_TABLE_COLUMNS];
	bool rule_next;
	int n_rows, capacity;
	struct row *rows;
};

/* Columns on the screen: bytes that do not continue a UTF-8 sequence. */
static int text_width(const char *text)
{
	int width = 0;

	for (; *text; text++) {
		width += ((unsigned char)*text & 0xc0) != 0x80;
	}
	return width;
}

static void text_print(FILE *out, const char *text, int width, bool left, bool last)
{
	int pad = width - text_width(text);

	fprintf(out, "%*s%s%*s", left ? 0 : pad, "", text, left && !last ? pad : 0, "");
}

static void table_widths(const struct sl_table *table, int width[SL_TABLE_COLUMNS])
{
	memset(width, 0, SL_TABLE_COLUMNS * sizeof(*width));
	for (int c = 0; c < table->columns; c++) {
		width[c] = text_width(table->headings[c]);
		for (int r = 0; r < table->n_rows; r++) {
			int w = c < table->rows[r].n ? text_width(table->rows[r].fields[c].text) : 0;

			width[c] = w > width[c] ? w : width[c];
		}
	}
}

static void table_line(const struct sl_table *table, const int *width, FILE *out)
{
	for (int c = 0; c < table->columns; c++) {
		for (int i = 0; i < width[c] + (c > 0 ? 2 : 0); i++) {
			fputc('-', out);
		}
	}
	fputc('\n', out);
}

struct sl_table *sl_table_new(const char *const *headings, int columns)
{
	struct sl_table *table = calloc(1, sizeof(*table));

	if (table) {
		table->columns = columns;
		for (int c = 0; c < columns; c++) {
			table->left[c] = headings[c][0] == '<';
			table->headings[c] = headings[c] + (table->left[c] ? 1 : 0);
		}
	}
	return table;
}

void sl_table_free(struct sl_table *table)
{
	if (table) {
		free(table->rows);
		free(table);
	}
}

bool sl_table_row(struct sl_table *table)
{
	struct row *row;

	if (table->n_rows == table->capacity) {
		int capacity = table->capacity ? 2 * table->capacity : 32;
		struct row *rows = realloc(table->rows, (size_t)capacity * sizeof(*rows));

		if (!rows) {
			return false;
		}
		table->rows = rows;
		table->capacity = capacity;
	}
	row = &table->rows[table->n_rows++];
	row->n = 0;
	row->rule = table->rule_next;
	table->rule_next = false;
	return true;
}

void sl_table_rule(struct sl_table *table)
{
	table->rule_next = table->n_rows > 0;
}

void sl_table_put(struct sl_table *table, enum sl_tint tint, const char *fmt, ...)
{
	struct row *row = table->n_rows > 0 ? &table->rows[table->n_rows - 1] : NULL;
	struct field *field;
	va_list args;

	if (!row || row->n == table->columns) {
		return;
	}
	field = &row->fields[row->n++];
	field->tint = tint;
	va_start(args, fmt);
	vsnprintf(field->text, sizeof(field->text), fmt, args);
	va_end(args);
	for (char *p = field->text; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f) {
			*p = '?';
		}
	}
}

void sl_table_print(const struct sl_table *table, FILE *out)
{
	bool colour = sl_tint_wanted(out);
	int width[SL_TABLE_COLUMNS];

	table_widths(table, width);
	for (int c = 0; c < table->columns; c++) {
		fputs(c ? "  " : "", out);
		text_print(out, table->headings[c], width[c], table->left[c], c == table->columns - 1);
	}
	fputc('\n', out);
	table_line(table, width, out);
	for (int r = 0; r < table->n_rows; r++) {
		const struct row *row = &table->rows[r];

		if (row->rule) {
			table_line(table, width, out);
		}
		for (int c = 0; c < row->n; c++) {
			enum sl_tint tint = colour ? row->fields[c].tint : SL_TINT_NONE;

			fprintf(out, "%s%s", c ? "  " : "", sl_tint_start(tint));
			text_print(out, row->fields[c].text, width[c], table->left[c], c == row->n - 1);
			fputs(sl_tint_end(tint), out);
		}
		fputc('\n', out);
	}
}

bool sl_tint_wanted(FILE *out)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(fileno(out)) && (!no || no[0] == '\0') && term && strcmp(term, "dumb") != 0;
}

const char *sl_tint_start(enum sl_tint tint)
{
	switch (tint) {
	case SL_TINT_DIM:
		return "\033[2m";
	case SL_TINT_GOOD:
		return "\033[32m";
	case SL_TINT_WARN:
		return "\033[33m";
	case SL_TINT_BAD:
		return "\033[31m";
	case SL_TINT_BOLD:
		return "\033[1m";
	case SL_TINT_NONE:
		break;
	}
	return "";
}

const char *sl_tint_end(enum sl_tint tint)
{
	return tint == SL_TINT_NONE ? "" : "\033[0m";
}
