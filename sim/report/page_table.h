/* A table of a page. It fits its room: where its columns do not, each row becomes a card whose fields carry
 * the names of their columns, and what still does not fit scrolls, by keyboard too. */
#ifndef SL_REPORT_PAGE_TABLE_H
#define SL_REPORT_PAGE_TABLE_H

#include <stdio.h>

#define SL_PAGE_COLUMNS 20

struct sl_page_table {
	FILE *out;
	const char *heads[SL_PAGE_COLUMNS];
	int n, at; /* columns; the next field of the row */
};

/* Starts a table of `n` columns; a leading '<' of a head means left-aligned, otherwise right. Heads are
 * borrowed until its end. `label` says what the table is of. The first field of a row is its heading. */
void sl_page_table_start(struct sl_page_table *table, const char *label, const char *const *heads, int n,
			 FILE *out);
void sl_page_table_end(struct sl_page_table *table);

/* A line over all columns that says what the rows below it have in common; `unit` may be "". */
void sl_page_table_group(struct sl_page_table *table, const char *name, const char *unit);

/* Starts and ends a row; `class` may be NULL. */
void sl_page_row(struct sl_page_table *table, const char *class);
void sl_page_row_end(struct sl_page_table *table);

/* Next field with this text; `class` may be NULL. */
void sl_page_put(struct sl_page_table *table, const char *class, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for markup of one's own between the two calls. */
void sl_page_field(struct sl_page_table *table, const char *class);
void sl_page_field_end(struct sl_page_table *table);

/* Next field: a share of the time as a bar, on the same scale in every column. */
void sl_page_put_share(struct sl_page_table *table, double share);

#endif
