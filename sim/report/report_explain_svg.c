/* Waterfalls and bars as inline SVG; the page scales them. */
#include <math.h>

#include "sim/report/page.h"
#include "sim/report/report.h"
#include "sim/report/report_explain.h"

/* In units of the view box. */
#define WIDTH 400
#define LABEL_WIDTH 92
#define BARS_WIDTH 192.0
#define ROW 21
#define AXIS 20 /* below the rows */
#define TICKS 4 /* at most, beside 0 */
#define ROW_BAR 13
#define CHANGE_ROW 37
#define CHANGE_BARS 300.0 /* leaves room for the figure behind the longest bar */

static int rows_of(const struct sl_path *path)
{
	int rows = 0;

	for (int layer = 0; layer < SL_LAYERS; layer++) {
		rows += path->service_ns[layer] + path->waiting_ns[layer] > 0;
	}
	return rows;
}

static void time_text(const struct sl_path *path, int layer, char *buf, size_t size)
{
	char service[32], waiting[32];

	sl_units_time(path->service_ns[layer], service, sizeof(service));
	sl_units_time(path->waiting_ns[layer], waiting, sizeof(waiting));
	snprintf(buf, size, "%s%s%s", path->service_ns[layer] > 0 ? service : "",
		 path->waiting_ns[layer] > 0 ? "+" : "", path->waiting_ns[layer] > 0 ? waiting : "");
}

static void path_row(const struct sl_path *path, int layer, double per_ns, int y, FILE *out)
{
	char text[72];

	time_text(path, layer, text, sizeof(text));
	fprintf(out, "<g><title>%s: %s</title><path class=\"row\" d=\"M0 %dH%d\"/>",
		sl_layer_name((enum sl_layer)layer), text, y + ROW - 2, WIDTH);
	fprintf(out, "<text x=\"0\" y=\"%d\">%s</text>", y + 14, sl_layer_name((enum sl_layer)layer));
	for (int i = 0; i < path->n_segments; i++) {
		const struct sl_segment *s = &path->segments[i];

		if ((int)s->layer == layer) {
			fprintf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>",
				s->waiting ? "wait" : "work", LABEL_WIDTH + (double)s->start_ns * per_ns,
				y + 3, fmax((double)(s->end_ns - s->start_ns) * per_ns, 0.5), ROW_BAR);
		}
	}
	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text></g>\n", WIDTH, y + 14, text);
}

/* The step between ticks of a scale: 1, 2 or 5 of a power of ten, so that there are at most TICKS. */
static int64_t tick_step(int64_t scale_ns)
{
	static const int64_t steps[] = {1, 2, 5};
	int64_t power = 1;

	while (true) {
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			if (steps[i] * power * TICKS >= scale_ns) {
				return steps[i] * power;
			}
		}
		power *= 10;
	}
}

/* Lines behind the rows, and the times that they stand for. */
static void path_axis(int64_t scale_ns, double per_ns, int height, FILE *out)
{
	int64_t step = tick_step(scale_ns);

	for (int64_t at = 0; scale_ns > 0 && at <= scale_ns; at += step) {
		double x = LABEL_WIDTH + (double)at * per_ns;
		char text[32];

		sl_units_time(at, text, sizeof(text));
		fprintf(out,
			"<path class=\"axis\" d=\"M%.1f 0V%d\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\" "
			"text-anchor=\"middle\">%s</text>\n",
			x, height + 4, x, height + 16, at == 0 ? "0" : text);
	}
}

void sl_explain_svg_path(const struct sl_path *path, int64_t scale_ns, const char *title, FILE *out)
{
	double per_ns = scale_ns > 0 ? BARS_WIDTH / (double)scale_ns : 0;
	int y = 0, height = rows_of(path) * ROW;

	fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\">\n<title>", WIDTH, height + AXIS);
	sl_html_text(title, out);
	fputs("</title>\n", out);
	path_axis(scale_ns, per_ns, height, out);
	for (int layer = 0; layer < SL_LAYERS; layer++) {
		if (path->service_ns[layer] + path->waiting_ns[layer] > 0) {
			path_row(path, layer, per_ns, y, out);
			y += ROW;
		}
	}
	fputs("</svg>\n", out);
}

static void change_row(const struct sl_explain_cell *cell, enum sl_what_if what, double scale, int y,
		       FILE *out)
{
	char rate[32], percent[32];
	double length = fmax(cell->rate[what] * scale, 1);

	sl_report_number(cell->rate[what], rate, sizeof(rate));
	sl_report_percent(sl_what_if_gain(cell, what), percent, sizeof(percent));
	fprintf(out, "<text x=\"0\" y=\"%d\">%s</text>\n", y + 13, sl_what_if_name(what));
	fprintf(out,
		"<rect class=\"%s\" x=\"0\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>"
		"<text x=\"%.1f\" y=\"%d\">%s<tspan class=\"err\" dx=\"6\">%s</tspan></text>\n",
		what == SL_WHAT_IF_SYNC_DISABLED ? "published" : "predicted", y + 17, length, ROW_BAR,
		length + 6, y + 28, rate, percent);
}

void sl_explain_svg_what_ifs(const struct sl_explain_cell *cell, const char *unit, FILE *out)
{
	enum sl_what_if order[SL_WHAT_IFS];
	int n = sl_explain_order(cell, order);
	double max = n > 0 ? fmax(cell->rate[order[0]], cell->value) : 0;
	double scale = max > 0 ? CHANGE_BARS / max : 0, base = cell->value * scale;

	fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\">\n<title>%s with each change</title>\n", WIDTH,
		n * CHANGE_ROW, unit);
	for (int i = 0; i < n; i++) {
		change_row(cell, order[i], scale, i * CHANGE_ROW, out);
		fprintf(out, "<path class=\"base\" d=\"M%.1f %dv%d\"/>\n", base, i * CHANGE_ROW + 15, 17);
	}
	fputs("</svg>\n", out);
}
