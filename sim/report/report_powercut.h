/* Reports of powercut: terminal, JSON, HTML. They only render. */
#ifndef SL_REPORT_REPORT_POWERCUT_H
#define SL_REPORT_REPORT_POWERCUT_H

#include <stdio.h>

#include "sim/base/err.h"
#include "sim/report/page.h"
#include "sim/stack/powercut.h"

/* The table of verdicts, who answers for what is lost, and how the boxes came back. */
int sl_powercut_text(const struct sl_powercut *powercut, FILE *out, struct sl_err *err);

/* arg is a struct sl_powercut *: for sl_out_write. */
int sl_powercut_json(void *arg, FILE *out, struct sl_err *err);
int sl_powercut_html(void *arg, FILE *out, struct sl_err *err);

/* What the page says, for a page that says more. */
void sl_powercut_html_body(const struct sl_powercut *powercut, struct sl_page *page);

/* "The whole box loses its power at 1000 random events." */
void sl_powercut_what(const struct sl_powercut *powercut, char *buf, size_t size);

/* "0 lost", "up to 12 writes, 96 KiB, 0.034 s: hdd-... kept it ..."; of one cut without "up to" */
void sl_powercut_verdict(const struct sl_verdict *verdict, char *buf, size_t size);

/* How the box came back from the worst cut: "txg 7 imported, 31 log blocks replayed". */
void sl_powercut_return(const struct sl_powercut *powercut, const struct sl_verdict *verdict, char *buf,
			size_t size);

#endif
