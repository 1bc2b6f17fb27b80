#include "sim/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last two components: the same wherever the program and the scenario lie. */
static const char *where_cut(const char *where)
{
	const char *last = strrchr(where, '/');

	while (last && last > where && last[-1] != '/') {
		last--;
	}
	return last && last[0] != '/' ? last : where;
}

static struct sl_param_row *list_add(struct sl_param_list *list)
{
	if (list->n == list->capacity) {
		int capacity = list->capacity ? 2 * list->capacity : 128;
		struct sl_param_row *rows = realloc(list->rows, (size_t)capacity * sizeof(*rows));

		if (!rows) {
			return NULL;
		}
		list->rows = rows;
		list->capacity = capacity;
	}
	memset(&list->rows[list->n], 0, sizeof(list->rows[0]));
	return &list->rows[list->n++];
}

/* The row of `index` (they start at `first`) that says the same as `p`. */
static struct sl_param_row *list_same(struct sl_param_list *list, int first, const struct sl_param *p)
{
	for (int i = first; i < list->n; i++) {
		const struct sl_param *q = &list->rows[i].param;

		if (strcmp(p->text, q->text) == 0 && strcmp(p->where, q->where) == 0 && p->kind == q->kind) {
			return &list->rows[i];
		}
	}
	return NULL;
}

static int list_add_param(const struct sl_report *report, struct sl_param_list *list, int index)
{
	const struct sl_scenario *sc = report->result->scenario;
	int variants = sl_scenario_variants(sc);
	int first = list->n;

	for (int v = 0; v < variants; v++) {
		struct sl_param_row *row;
		struct sl_param p;

		if (!sl_report_has_variant(report, v) || sl_scenario_param(sc, v, index, &p) < 0) {
			continue;
		}
		row = list_same(list, first, &p);
		if (!row) {
			row = list_add(list);
			if (!row) {
				return -ENOMEM;
			}
			row->param = p;
			row->where = where_cut(p.where);
			row->variants = calloc((size_t)variants, sizeof(bool));
			if (!row->variants) {
				return -ENOMEM;
			}
		}
		row->variants[v] = true;
		row->n_variants++;
	}
	return 0;
}

int sl_param_list_make(const struct sl_report *report, struct sl_param_list *ret)
{
	const struct sl_scenario *sc = report->result->scenario;
	int n = sl_scenario_params(sc);

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < n; i++) {
		if (list_add_param(report, ret, i) < 0) {
			sl_param_list_fini(ret);
			return -ENOMEM;
		}
	}
	n = sl_scenario_figures(sc);
	for (int i = 0; i < n; i++) {
		struct sl_param_row *row;
		struct sl_param p;

		if (sl_scenario_figure(sc, i, &p) < 0) {
			continue;
		}
		row = list_add(ret);
		if (!row) {
			sl_param_list_fini(ret);
			return -ENOMEM;
		}
		row->param = p;
		row->where = where_cut(p.where);
		row->device = true;
	}
	return 0;
}

void sl_param_list_fini(struct sl_param_list *list)
{
	for (int i = 0; i < list->n; i++) {
		free(list->rows[i].variants);
	}
	free(list->rows);
	memset(list, 0, sizeof(*list));
}

bool sl_report_has_variant(const struct sl_report *report, int variant)
{
	for (int i = 0; i < report->result->n_cells; i++) {
		if (report->result->cells[i].variant == variant) {
			return true;
		}
	}
	return false;
}

bool sl_report_note(const struct sl_report *report, int variant, char *buf, size_t size)
{
	const struct sl_scenario *sc = report->result->scenario;
	char note[SL_REPORT_NOTE_MAX - SL_DEV_NAME_MAX - 2], other[sizeof(note)];
	bool news =
	    sl_report_has_variant(report, variant) && sl_scenario_note(sc, variant, note, sizeof(note));

	for (int v = 0; news && v < variant; v++) {
		news = !sl_report_has_variant(report, v) || !sl_scenario_note(sc, v, other, sizeof(other)) ||
		       strcmp(note, other) != 0;
	}
	if (news) {
		(void)snprintf(buf, size, "%s: %s", sl_scenario_variant_name(sc, variant), note);
	}
	return news;
}

bool sl_report_has_workload(const struct sl_report *report, int workload)
{
	for (int i = 0; i < report->result->n_cells; i++) {
		if (report->result->cells[i].workload == workload) {
			return true;
		}
	}
	return false;
}

bool sl_report_has_engine(const struct sl_report *report, enum sl_engine engine)
{
	for (int i = 0; i < report->result->n_cells; i++) {
		if (report->result->cells[i].engine == engine) {
			return true;
		}
	}
	return false;
}

enum sl_engine sl_report_predictor(const struct sl_report *report)
{
	bool lab = sl_report_has_engine(report, SL_ENGINE_MODEL_LAB);

	return lab ? SL_ENGINE_MODEL_LAB : SL_ENGINE_MODEL;
}

enum sl_engine sl_report_real(const struct sl_report *report)
{
	return sl_report_has_engine(report, SL_ENGINE_VM) ? SL_ENGINE_VM : SL_ENGINE_LIVE;
}

bool sl_report_has_beside(const struct sl_report *report)
{
	return sl_report_real(report) != SL_ENGINE_LIVE && sl_report_has_engine(report, SL_ENGINE_LIVE);
}

const struct sl_evidence *sl_report_evidence(const struct sl_report *report, int variant, int workload)
{
	for (int i = 0; i < report->n_evidence; i++) {
		if (report->evidence[i].variant == variant && report->evidence[i].workload == workload) {
			return &report->evidence[i];
		}
	}
	return NULL;
}

const char *sl_report_mark(const struct sl_cell *cell)
{
	return cell->untrusted ? "?" : "";
}

const struct sl_timing *sl_report_timing(const struct sl_report *report, int variant, int workload)
{
	for (int i = 0; i < report->n_timings; i++) {
		if (report->timings[i].variant == variant && report->timings[i].workload == workload) {
			return &report->timings[i];
		}
	}
	return NULL;
}

bool sl_report_trusted(const struct sl_report *report, const struct sl_cell *cell)
{
	const struct sl_timing *timing = cell->engine == sl_report_real(report)
					     ? sl_report_timing(report, cell->variant, cell->workload)
					     : NULL;

	return !cell->untrusted && (!timing || timing->trustworthy);
}

bool sl_report_gain_trusted(const struct sl_report *report, int workload, enum sl_engine engine)
{
	struct sl_gain gain;

	return !sl_result_gain_find(report->result, workload, engine, &gain) ||
	       (sl_report_trusted(report, gain.none) && sl_report_trusted(report, gain.slog));
}

bool sl_report_doubted(const struct sl_report *report)
{
	for (int i = 0; i < report->result->n_cells; i++) {
		if (!sl_report_trusted(report, &report->result->cells[i])) {
			return true;
		}
	}
	return false;
}

double sl_report_difference(const struct sl_cell *measured, const struct sl_cell *predicted)
{
	return predicted->value > 0 ? (measured->value / predicted->value - 1) * 100 : 0;
}

enum sl_touch sl_report_touched(const struct sl_report *report)
{
	const struct sl_scenario *sc = report->result->scenario;
	enum sl_touch worst = SL_TOUCH_NONE;

	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		enum sl_touch change =
		    sl_report_has_variant(report, v) ? sl_scenario_touched(sc, v) : SL_TOUCH_NONE;

		worst = change > worst ? change : worst;
	}
	return worst;
}

const char *sl_report_variant(const struct sl_scenario *sc, int variant, char buf[SL_REPORT_NAME])
{
	(void)snprintf(buf, SL_REPORT_NAME, "%s%s", sl_scenario_variant_name(sc, variant),
		       sl_scenario_touched(sc, variant) == SL_TOUCH_NAME ? "*" : "");
	return buf;
}

double sl_report_log_share(const struct sl_cell *cell)
{
	for (int i = 0; i < cell->measure.n_resources; i++) {
		if (strcmp(cell->measure.resources[i].name, "log device") == 0) {
			return cell->measure.resources[i].utilisation;
		}
	}
	return 0;
}

const char *sl_role_name(enum sl_role role)
{
	switch (role) {
	case SL_ROLE_CALIBRATE:
		return "calibrate";
	case SL_ROLE_PREDICT:
		return "predict";
	case SL_ROLE_NONE:
		break;
	}
	return "";
}

void sl_report_number(double value, char *buf, size_t size)
{
	double magnitude = fabs(value);
	int decimals = magnitude >= 99.95 || magnitude < 1e-9 ? 0
		       : magnitude >= 9.995                   ? 1
		       : magnitude >= 0.9995                  ? 2
		       : magnitude >= 0.09995                 ? 3
		       : magnitude >= 0.009995                ? 4
							      : 5;

	snprintf(buf, size, "%.*f", decimals, value);
}

void sl_report_ci(double value, char *buf, size_t size)
{
	if (value >= 9.5) {
		snprintf(buf, size, "%.0f", value);
	} else {
		snprintf(buf, size, "%.2g", value);
	}
}

void sl_report_percent(double value, char *buf, size_t size)
{
	snprintf(buf, size, "%+.1f %%", fabs(value) < 0.05 ? 0.0 : value);
}

void sl_report_trust(const struct sl_trust *trust, FILE *out)
{
	if (trust->verdict != SL_TRUST_YES) {
		fprintf(out, "timing not trustworthy: %s%s\n", trust->reason,
			trust->verdict == SL_TRUST_UNKNOWN ? "" : "; use --dilate or a quieter machine");
	}
}
