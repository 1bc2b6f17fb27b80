/* A table of text for the terminal: widths from the content, colour only where it is wanted. */
#ifndef SL_REPORT_TABLE_H
#define SL_REPORT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#define SL_TABLE_COLUMNS 12
#define SL_TABLE_TEXT 64

enum sl_tint {
	SL_TINT_NONE,
	SL_TINT_DIM,
	SL_TINT_GOOD,
	SL_TINT_WARN,
	SL_TINT_BAD,
	SL_TINT_BOLD
};

struct sl_table;

/* `columns` headings; a leading '<' means left-aligned, otherwise right. NULL when out of memory. */
struct sl_table *sl_table_new(const char *const *headings, int columns);
void sl_table_free(struct sl_table *table);
/* Starts a row; true, or false when out of memory. */
bool sl_table_row(struct sl_table *table);
/* A line between groups, before the next row. */
void sl_table_rule(struct sl_table *table);
/* Next field of the present row, cut to SL_TABLE_TEXT - 1 bytes; control characters become '?'. */
void sl_table_put(struct sl_table *table, enum sl_tint tint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void sl_table_print(const struct sl_table *table, FILE *out);

/* True when `out` is a terminal, NO_COLOR is unset or empty, and TERM is not "dumb". */
bool sl_tint_wanted(FILE *out);
/* Escape sequence that starts `tint`, "" for none; sl_tint_end() ends it. */
const char *sl_tint_start(enum sl_tint tint);
const char *sl_tint_end(enum sl_tint tint);

#endif
