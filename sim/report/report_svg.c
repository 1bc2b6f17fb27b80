/* One workload as bars: per variant what was published, predicted and measured, on one scale from zero. */
#include <math.h>

#include "sim/report/page.h"
#include "sim/report/report.h"

/* In units of the view box; the page scales it. */
#define CHART_WIDTH 400
#define CHART_BAR_MAX 296.0 /* leaves room for value and error behind the longest bar */
#define CHART_BAR 16
#define CHART_BAR_STEP 19
#define CHART_NAME 19
#define CHART_GAP 11

struct bar {
	const char *series; /* name, and class of what is to be trusted */
	bool doubted;
	double value, ci95;
	bool has_error;
	double error_pct;
};

#define BARS_MAX 4

/* The bars of one variant, in the order of the legend. */
static int bars_of(const struct sl_report *report, int variant, int workload, struct bar bars[BARS_MAX])
{
	const struct sl_result *result = report->result;
	const struct sl_cell *predicted =
	    sl_result_find(result, variant, workload, sl_report_predictor(report));
	const struct sl_cell *real = sl_result_find(result, variant, workload, sl_report_real(report));
	const struct sl_cell *beside =
	    sl_report_has_beside(report) ? sl_result_find(result, variant, workload, SL_ENGINE_LIVE) : NULL;
	const struct sl_cell *any = predicted ? predicted : real;
	int n = 0;

	if (any && any->has_published) {
		bars[n++] = (struct bar){.series = "published", .value = any->published};
	}
	if (predicted) {
		bars[n++] = (struct bar){.series = "predicted",
					 .value = predicted->value,
					 .ci95 = predicted->n_samples > 1 ? predicted->ci95 : 0,
					 .has_error = predicted->has_published,
					 .error_pct = predicted->error_pct};
	}
	if (real) {
		bars[n++] = (struct bar){.series = "measured",
					 .doubted = !sl_report_trusted(report, real),
					 .value = real->value,
					 .ci95 = real->n_samples > 1 ? real->ci95 : 0,
					 .has_error = predicted != NULL,
					 .error_pct = predicted ? sl_report_difference(real, predicted) : 0};
	}
	if (beside) {
		bars[n++] = (struct bar){.series = "live",
					 .value = beside->value,
					 .ci95 = beside->n_samples > 1 ? beside->ci95 : 0};
	}
	return n;
}

static double chart_max(const struct sl_report *report, int workload, int *ret_height)
{
	struct bar bars[BARS_MAX];
	double max = 0;

	*ret_height = 0;
	for (int v = 0; v < sl_scenario_variants(report->result->scenario); v++) {
		int n = bars_of(report, v, workload, bars);

		for (int i = 0; i < n; i++) {
			max = fmax(max, bars[i].value + bars[i].ci95);
		}
		*ret_height += n ? CHART_NAME + n * CHART_BAR_STEP + CHART_GAP : 0;
	}
	return max;
}

static void bar_print(const struct bar *bar, double scale, int y, const char *unit, FILE *out)
{
	char value[32], error[32] = "";
	double length = fmax(bar->value * scale, 1.0);
	double end = length;

	sl_report_number(bar->value, value, sizeof(value));
	if (bar->has_error) {
		sl_report_percent(bar->error_pct, error, sizeof(error));
	}
	fprintf(out,
		"<g><title>%s: %s %s%s%s</title><rect class=\"%s\" x=\"0\" y=\"%d\" width=\"%.1f\" "
		"height=\"%d\" rx=\"2\"/>",
		bar->series, value, unit, error[0] ? ", " : "", error, bar->doubted ? "doubted" : bar->series,
		y, length, CHART_BAR);
	if (bar->ci95 > 0) {
		double low = fmax((bar->value - bar->ci95) * scale, 0),
		       high = (bar->value + bar->ci95) * scale;

		fprintf(out, "<path class=\"ci\" d=\"M%.1f %dH%.1fM%.1f %dv8M%.1f %dv8\"/>", low,
			y + CHART_BAR / 2, high, low, y + 4, high, y + 4);
		end = fmax(end, high);
	}
	fprintf(out, "<text x=\"%.1f\" y=\"%d\">%s<tspan class=\"err\" dx=\"6\">%s</tspan></text></g>\n",
		end + 6, y + 12, value, error);
}

void sl_report_svg(const struct sl_report *report, int workload, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_workload *wl = sl_scenario_workload(sc, workload);
	const char *unit = sl_workload_unit(wl);
	struct bar bars[BARS_MAX];
	int height, y = 0;
	double max = chart_max(report, workload, &height);
	double scale = max > 0 ? CHART_BAR_MAX / max : 0;

	fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\">\n<title>", CHART_WIDTH, height);
	sl_html_text(wl->name, out);
	fprintf(out, ": %s by variant</title>\n", unit);
	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		int n = bars_of(report, v, workload, bars);
		char label[SL_REPORT_NAME];

		if (n == 0) {
			continue;
		}
		fprintf(out, "<text class=\"name\" x=\"0\" y=\"%d\">", y + 13);
		sl_html_text(sl_report_variant(sc, v, label), out);
		fputs("</text>\n", out);
		y += CHART_NAME;
		for (int i = 0; i < n; i++) {
			bar_print(&bars[i], scale, y, unit, out);
			y += CHART_BAR_STEP;
		}
		y += CHART_GAP;
	}
	fputs("</svg>\n", out);
}
