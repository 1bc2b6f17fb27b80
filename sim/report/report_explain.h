/* Reports of explain: terminal, JSON, HTML, and the questions of --ask. They only render. */
#ifndef SL_REPORT_REPORT_EXPLAIN_H
#define SL_REPORT_REPORT_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/err.h"
#include "sim/report/page.h"
#include "sim/stack/explain.h"

struct sl_explain_report {
	const struct sl_explain *explain;
	int width; /* of the terminal, in columns */
	bool utf8; /* it shows block characters */
};

/* Width and character set of `out`: 100 columns of ASCII where it is no terminal. */
void sl_explain_terminal(FILE *out, struct sl_explain_report *ret);

/* Waterfalls, tables and conclusions of every workload. */
int sl_explain_text(const struct sl_explain_report *report, FILE *out, struct sl_err *err);

/* Asks on `out` for guesses of each workload, reads them from `in`, and says how near they are. An end of
 * input means no guess. */
void sl_explain_ask(const struct sl_explain_report *report, FILE *in, FILE *out);

/* arg is a struct sl_explain_report *: for sl_out_write. */
int sl_explain_json(void *arg, FILE *out, struct sl_err *err);
int sl_explain_html(void *arg, FILE *out, struct sl_err *err);

/* What the page says, for a page that says more. */
void sl_explain_html_body(const struct sl_explain *explain, struct sl_page *page);

/* Waterfall of one path, drawn to `scale_ns` so that several can be compared, as an inline SVG element. */
void sl_explain_svg_path(const struct sl_path *path, int64_t scale_ns, const char *title, FILE *out);
/* The changes of a cell as bars, by gain. */
void sl_explain_svg_what_ifs(const struct sl_explain_cell *cell, const char *unit, FILE *out);

/* "p50", "p99" */
const char *sl_explain_quantile_name(enum sl_explain_quantile quantile);

/* Changes that were tried on `cell`, largest gain first; returns how many. */
int sl_explain_order(const struct sl_explain_cell *cell, enum sl_what_if ret[SL_WHAT_IFS]);

/* "3 writes", "1 write, 1 commit", "none" */
void sl_explain_round_trips(const struct sl_path *path, char *buf, size_t size);

/* Longest path of the workload at this quantile, in ns. */
int64_t sl_explain_scale(const struct sl_explain *explain, int workload, enum sl_explain_quantile quantile);

#endif
