/* The parts of a run's page. */
#ifndef SL_REPORT_REPORT_HTML_H
#define SL_REPORT_REPORT_HTML_H

#include "sim/report/page.h"
#include "sim/report/report.h"

/* What it opens with: what the SLOG brings, costs, lasts and saves, and the box. A measurement that is not to
 * be trusted is named above it and is none of its values. */
void sl_html_run_answer(const struct sl_report *report, struct sl_page *page);

/* What the scenario teaches, or that it is another box; its questions, answered with figures. */
void sl_html_teaches(const struct sl_report *report, struct sl_page *page);
void sl_html_questions(const struct sl_report *report, struct sl_page *page);

/* How busy everything was, how well the clock was kept, substitutions, warnings, every parameter. 0 or
 * -ENOMEM. */
int sl_html_details(const struct sl_report *report, struct sl_page *page);

#endif
