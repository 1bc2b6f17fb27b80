/* Reports of a run: terminal, JSON, CSV, HTML. They only render; what was measured is in sl_result. */
#ifndef SL_REPORT_REPORT_H
#define SL_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/err.h"
#include "sim/stack/fit.h"
#include "sim/stack/result.h"
#include "sim/stack/timing.h"

struct sl_full; /* sim/report/full.h */

struct sl_report {
	const struct sl_result *result;
	const struct sl_timing *timings;
	int n_timings;
	const struct sl_evidence *evidence;
	int n_evidence;
	bool interrupted;
	const struct sl_full
	    *full; /* for the page: where the time goes, what a cut takes, what to buy; or NULL */
};

/* A parameter with the variants it holds for. */
struct sl_param_row {
	struct sl_param param;
	const char *where; /* param.where with one folder only: the same everywhere */
	bool device;       /* a figure of a device of the catalogue */
	bool *variants;    /* by index; NULL for devices' figures */
	int n_variants;    /* how many are set */
};

struct sl_param_list {
	int n, capacity;
	struct sl_param_row *rows;
};

/* Every parameter of the variants that have a cell, in the order of keys.def, equal values merged; then the
 * devices' figures. 0 or -ENOMEM. Release with sl_param_list_fini. */
int sl_param_list_make(const struct sl_report *report, struct sl_param_list *ret);
void sl_param_list_fini(struct sl_param_list *list);

#define SL_REPORT_NAME 80

/* Has variant / workload / engine any cell? */
bool sl_report_has_variant(const struct sl_report *report, int variant);
/* "VARIANT: what is worth a word about the layout of its disks"; false where nothing is, and where a variant
 * before it says the same. */
#define SL_REPORT_NOTE_MAX 512
bool sl_report_note(const struct sl_report *report, int variant, char *buf, size_t size);
bool sl_report_has_workload(const struct sl_report *report, int workload);
bool sl_report_has_engine(const struct sl_report *report, enum sl_engine engine);
/* The engine whose prediction is shown: the model, or the model with substitutions beside a real engine. */
enum sl_engine sl_report_predictor(const struct sl_report *report);
/* The engine whose measurements are shown: live, unless there are those of virtual machines. */
enum sl_engine sl_report_real(const struct sl_report *report);
/* Has engine live cells besides those of virtual machines? */
bool sl_report_has_beside(const struct sl_report *report);
const struct sl_timing *sl_report_timing(const struct sl_report *report, int variant, int workload);
/* Was the cell measured on a clock that was kept, and did the modelled disks set its rate? True of computed
 * ones. */
bool sl_report_trusted(const struct sl_report *report, const struct sl_cell *cell);
/* Are both cells of the gain of `workload` by `engine`? True where there is none. */
bool sl_report_gain_trusted(const struct sl_report *report, int workload, enum sl_engine engine);
/* Is there a cell that is not? */
bool sl_report_doubted(const struct sl_report *report);
/* Anything that was measured for real: its distance from `predicted`, in %. */
double sl_report_difference(const struct sl_cell *measured, const struct sl_cell *predicted);
const struct sl_evidence *sl_report_evidence(const struct sl_report *report, int variant, int workload);
const char *sl_role_name(enum sl_role role);
/* What --set did to the variants that have cells, at worst. */
enum sl_touch sl_report_touched(const struct sl_report *report);
/* The variant's name, "none*" when --set made it another box than its name says; a string in buf. */
const char *sl_report_variant(const struct sl_scenario *sc, int variant, char buf[SL_REPORT_NAME]);
/* Share of the time in which the log device worked or was waited for, 0 without one. */
double sl_report_log_share(const struct sl_cell *cell);

/* What stands behind a measured value whose timing is not to be trusted, "" behind another. */
const char *sl_report_mark(const struct sl_cell *cell);
/* "148", "27.4", "0.151": at least three digits. */
void sl_report_number(double value, char *buf, size_t size);
/* "1.1", "14": a half width, two digits. */
void sl_report_ci(double value, char *buf, size_t size);
/* "+1.2 %" */
void sl_report_percent(double value, char *buf, size_t size);

/* The table and what belongs below it. */
int sl_report_text(const struct sl_report *report, FILE *out, struct sl_err *err);

/* The scenario's questions, answered with figures, and what it teaches, for the terminal. A question whose
 * cells were not run is left out. */
void sl_report_answers(const struct sl_report *report, FILE *out);

/* The last words of a server: "timing not trustworthy: ..." and why, or nothing. */
void sl_report_trust(const struct sl_trust *trust, FILE *out);

/* Beside engine vm: what live would need here (`missing`, else ""), or a line for each of its cells in
 * `result`: how far it is from its own model(lab). */
void sl_report_beside(const struct sl_result *result, const char *missing, FILE *out);

/* arg is a struct sl_report *: for sl_out_write. */
int sl_report_json(void *arg, FILE *out, struct sl_err *err);
int sl_report_csv(void *arg, FILE *out, struct sl_err *err);
int sl_report_html(void *arg, FILE *out, struct sl_err *err);

/* One chart of a workload as an inline SVG element. */
void sl_report_svg(const struct sl_report *report, int workload, FILE *out);

/* What a fit found. */
int sl_report_fit_text(const struct sl_fit *fit, const struct sl_held *held, FILE *out, struct sl_err *err);

struct sl_fit_report {
	const struct sl_fit *fit;
	const struct sl_report *report;
	struct sl_held held;
};

/* arg is a struct sl_fit_report *. */
int sl_report_fit_json(void *arg, FILE *out, struct sl_err *err);

#endif
