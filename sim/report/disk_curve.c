#include "sim/report/disk_curve.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "sim/base/csv.h"
#include "sim/base/json.h"
#include "sim/device/ssd.h"
#include "sim/report/page.h"
#include "sim/report/report.h"
#include "sim/report/table.h"
#include "sim/scenario/scenario.h"

#define TABLE_ROWS 30
#define MINUTE 60e9
#define SVG_WIDTH 800
#define SVG_HEIGHT 400
#define SVG_MARGIN 60

void sl_disk_curve_text(const struct sl_disk_curve *curve, FILE *out)
{
	static const char *const headings[] = {"minute", "IOPS", "MB/s", "latency", "WA"};
	const struct sl_ssd_curve *data = &curve->data;
	struct sl_table *table = sl_table_new(headings, sizeof(headings) / sizeof(headings[0]));
	int step = (data->iops.n + TABLE_ROWS - 1) / TABLE_ROWS;

	fprintf(out, "%s (model): 4 KiB random writes, depth 32\n", curve->name);
	for (int i = step - 1; table && step > 0 && i < data->iops.n && sl_table_row(table); i += step) {
		const struct sl_ssd_sample *last = &data->samples[i];
		int64_t from_ns = last->end_ns - step * data->iops.step_ns;
		double iops = sl_series_mean(&data->iops, from_ns, last->end_ns);
		char latency[32];

		sl_units_time((int64_t)last->latency_ns, latency, sizeof(latency));
		sl_table_put(table, SL_TINT_NONE, "%.1f", (double)last->end_ns / MINUTE);
		sl_table_put(table, SL_TINT_BOLD, "%.0f", iops);
		sl_table_put(table, SL_TINT_NONE, "%.1f", iops * (double)data->block_bytes / 1e6);
		sl_table_put(table, SL_TINT_NONE, "%s", latency);
		sl_table_put(table, SL_TINT_NONE, "%.2f", last->write_amplification);
	}
	if (table) {
		sl_table_print(table, out);
	}
	sl_table_free(table);
	if (data->fill_ns > 0) {
		fprintf(out, "written once over after %.0f minutes\n", (double)data->fill_ns / MINUTE);
	}
	if (curve->steady_ns >= 0) {
		fprintf(out, "steady from minute %.0f (10-minute means within 3 %% of the last)\n",
			(double)curve->steady_ns / MINUTE);
	}
	fprintf(out, "write amplification %.2f", data->report.write_amplification);
	if (data->report.endurance_used > 0) {
		fprintf(out, ", %.2g %% of the rated endurance used", data->report.endurance_used * 100);
	}
	fprintf(out, "; simulated 1/%u of the drive\n", data->scale);
}

int sl_disk_curves_csv(void *arg, FILE *out, struct sl_err *err)
{
	static const char *const headings[] = {"disk", "minute", "iops", "latency_ns", "write_amplification"};
	const struct sl_disk_curves *all = arg;
	struct sl_csv csv;

	sl_csv_init(&csv, out);
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
		sl_csv_text(&csv, headings[i]);
	}
	sl_csv_end_row(&csv);
	for (int c = 0; c < all->n; c++) {
		for (int i = 0; i < all->curves[c].data.iops.n; i++) {
			const struct sl_ssd_sample *sample = &all->curves[c].data.samples[i];

			sl_csv_text(&csv, all->curves[c].name);
			sl_csv_figure(&csv, (double)sample->end_ns / MINUTE);
			sl_csv_figure(&csv, all->curves[c].data.iops.rate[i]);
			sl_csv_figure(&csv, sample->latency_ns);
			sl_csv_figure(&csv, sample->write_amplification);
			sl_csv_end_row(&csv);
		}
	}
	return sl_csv_finish(&csv, err);
}

static json_t *json_curve(const struct sl_disk_curve *curve)
{
	json_t *samples = json_array();

	for (int i = 0; i < curve->data.iops.n; i++) {
		const struct sl_ssd_sample *sample = &curve->data.samples[i];

		json_array_append_new(samples,
				      json_pack("{s:o, s:o, s:o, s:o}", "minute",
						sl_json_figure((double)sample->end_ns / MINUTE), "iops",
						sl_json_figure(curve->data.iops.rate[i]), "latency_ns",
						sl_json_figure(sample->latency_ns), "write_amplification",
						sl_json_figure(sample->write_amplification)));
	}
	return json_pack(
	    "{s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "disk", curve->name, "scale", (int)curve->data.scale,
	    "steady_minute",
	    curve->steady_ns >= 0 ? sl_json_figure((double)curve->steady_ns / MINUTE) : json_null(),
	    "fill_minute",
	    curve->data.fill_ns > 0 ? sl_json_figure((double)curve->data.fill_ns / MINUTE) : json_null(),
	    "write_amplification", sl_json_figure(curve->data.report.write_amplification), "endurance_used",
	    sl_json_figure(curve->data.report.endurance_used), "samples", samples);
}

int sl_disk_curves_json(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_disk_curves *all = arg;
	json_t *array = json_array(), *root;
	int rc;

	for (int c = 0; c < all->n; c++) {
		json_array_append_new(array, json_curve(&all->curves[c]));
	}
	root = json_pack("{s:s, s:o}", "schema", "sloglab-disk-saturation/1", "curves", array);
	if (!root) {
		return sl_err_set(err, -ENOMEM, "JSON: out of memory");
	}
	rc = sl_json_write(root, out, err);
	json_decref(root);
	return rc;
}

/* The next 1, 2 or 5 times a power of ten. */
static double round_up(double value)
{
	double step = 1;

	while (step * 10 < value) {
		step *= 10;
	}
	return value <= step ? step : value <= 2 * step ? 2 * step : value <= 5 * step ? 5 * step : 10 * step;
}

static void svg_axes(const struct sl_disk_curves *all, double top, FILE *out)
{
	int width = SVG_WIDTH - 2 * SVG_MARGIN, height = SVG_HEIGHT - 2 * SVG_MARGIN;

	for (int i = 0; i <= 4; i++) {
		int x = SVG_MARGIN + width * i / 4, y = SVG_HEIGHT - SVG_MARGIN - height * i / 4;

		fprintf(out, "<path d=\"M%d %dH%d\" stroke=\"#ddd\"/>", SVG_MARGIN, y,
			SVG_WIDTH - SVG_MARGIN);
		fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.0f</text>", SVG_MARGIN - 6, y + 4,
			top * i / 4);
		fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%.4g</text>\n", x,
			SVG_HEIGHT - SVG_MARGIN + 18, (double)all->minutes * i / 4);
	}
	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">minutes</text>\n", SVG_WIDTH / 2,
		SVG_HEIGHT - 12);
	fprintf(out, "<text x=\"%d\" y=\"24\">4 KiB random writes per second, depth 32 (model)</text>\n",
		SVG_MARGIN);
}

static void svg_curve(const struct sl_disk_curves *all, int at, double top, FILE *out)
{
	static const char *const colours[SL_DISK_CURVES_MAX] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
								"#56b4e9", "#e69f00", "#000000", "#999999"};
	const struct sl_disk_curve *curve = &all->curves[at];
	double width = SVG_WIDTH - 2 * SVG_MARGIN, height = SVG_HEIGHT - 2 * SVG_MARGIN;

	fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" points=\"", colours[at]);
	for (int i = 0; i < curve->data.iops.n; i++) {
		const struct sl_ssd_sample *sample = &curve->data.samples[i];
		double minute = ((double)sample->end_ns - (double)curve->data.iops.step_ns / 2) / MINUTE;

		fprintf(out, "%.1f,%.1f ", SVG_MARGIN + width * minute / (double)all->minutes,
			SVG_HEIGHT - SVG_MARGIN - height * curve->data.iops.rate[i] / top);
	}
	fprintf(out, "\"/>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"%s\">", SVG_WIDTH - SVG_MARGIN,
		44 + 16 * at, colours[at]);
	sl_html_text(curve->name, out);
	fputs("</text>\n", out);
}

int sl_disk_curves_svg(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_disk_curves *all = arg;
	double top = 1;

	(void)err;

	for (int c = 0; c < all->n; c++) {
		for (int i = 0; i < all->curves[c].data.iops.n; i++) {
			top = fmax(top, all->curves[c].data.iops.rate[i]);
		}
	}
	top = round_up(top);
	fprintf(
	    out,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
	    "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
	    SVG_WIDTH, SVG_HEIGHT);
	svg_axes(all, top, out);
	for (int c = 0; c < all->n; c++) {
		svg_curve(all, c, top, out);
	}
	fputs("</svg>\n", out);
	return 0;
}
