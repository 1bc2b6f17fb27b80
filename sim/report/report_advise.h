/* What advise found: terminal, one row's arithmetic, JSON, HTML. They only render. */
#ifndef SL_REPORT_REPORT_ADVISE_H
#define SL_REPORT_REPORT_ADVISE_H

#include <stdio.h>

#include "sim/report/page.h"
#include "sim/stack/advise.h"

struct sl_advise_report {
	const struct sl_advice *advice;
	int rows_max; /* per table on the terminal; 0 = all */
};

/* A table per workload, with its verdict and its limit; then the sources of the prices. -ENOMEM. */
int sl_report_advise_text(const struct sl_advise_report *report, FILE *out, struct sl_err *err);

/* How the figures of one row came about, in every table that has it. `row` is a rank or a name. */
void sl_report_advise_arithmetic(const struct sl_advise_report *report, const char *row, FILE *out);

/* arg is a struct sl_advise_report *: for sl_out_write. */
int sl_report_advise_json(void *arg, FILE *out, struct sl_err *err);
int sl_report_advise_html(void *arg, FILE *out, struct sl_err *err);

/* What the page says, for a page that says more. */
void sl_advise_html_body(const struct sl_advice *advice, struct sl_page *page);

/* "$113", "free", "?": what a candidate costs. */
void sl_advise_price(const struct sl_candidate *candidate, char *buf, size_t size);
/* Where the price of a drive comes from; NULL when it has none, nobody says, or no row has it
 * (it is above the budget). */
const char *sl_advise_price_source(const struct sl_advice *advice, int drive);

#endif
