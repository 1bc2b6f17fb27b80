/* Progress of a run on stderr: one line with the time left on a terminal, plain lines elsewhere. */
#ifndef SL_CLI_PROGRESS_H
#define SL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sl_progress {
	FILE *out;
	const char *what; /* "cells", "evaluations" */
	bool terminal;
	int64_t start_ns, shown_ns; /* CLOCK_MONOTONIC */
	bool line_open;
};

void sl_progress_start(struct sl_progress *p, FILE *out, const char *what);
/* Fits sl_run_options.progress and sl_fit_options.progress; arg is the struct. False after Ctrl-C. */
bool sl_progress_step(void *arg, int done, int total);
/* The same for work measured in seconds: "TEXT, 41 %, about 90 s left". */
void sl_progress_work(struct sl_progress *p, const char *text, int done_s, int total_s);
/* Erases the line. */
void sl_progress_end(struct sl_progress *p);

#endif
