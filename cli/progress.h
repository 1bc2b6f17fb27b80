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
/* Erases the line. */
void sl_progress_end(struct sl_progress *p);

#endif
