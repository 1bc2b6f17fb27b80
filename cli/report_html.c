/* One page that needs nothing else: no script, no font, no image, no request; see the policy in its head. */
#include "cli/full.h"
#include "cli/report.h"
#include "cli/report_costs.h"
#include "sim/scenario/metric.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

static const char page_style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#17202b;--mute:#566273;--card:#f4f6f9;--line:#dbe1e8;"
    "--pub:#98a5b4;--pred:#2563c9;--meas:#d9770a;--live:#0f8a7e;--wait:#e3b341;--good:#15803d;--warn:#a15c00;"
    "--bad:#b91c1c}"
    "\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#10141a;--fg:#e7ebf1;--mute:#9aa6b5;--card:#1a2029;--line:#"
    "2d3642;"
    "--pub:#6c7a8d;--pred:#6aa5ff;--meas:#f3a33c;--live:#3cc7b8;--wait:#8a6d1d;--good:#4ade80;--warn:#fbbf24;"
    "--bad:#f87171}}"
    "\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Liberation Sans\",sans-serif}\n"
    "main{max-width:68rem;margin:0 auto;padding:1.5rem 1.1rem "
    "3rem}h1{font-size:1.7rem;line-height:1.25;margin:.2rem 0}\n"
    "h1.part{margin-top:3rem}\n"
    "h2{font-size:1.2rem;margin:2.4rem 0 .7rem}h3{font-size:1rem;margin:0 0 .6rem}p{margin:.5rem 0}\n"
    ".mute{color:var(--mute)}.small{font-size:.85rem}code{font:.92em ui-monospace,\"DejaVu Sans "
    "Mono\",monospace}\n"
    ".grid{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,15rem),1fr))}\n"
    ".charts{grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr))}\n"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.9rem "
    "1rem;margin:0}\n"
    ".gain b{display:block;font-size:2rem;line-height:1.1;color:var(--pred)}.gain.measured "
    "b{color:var(--meas)}\n"
    ".grid+h3{margin-top:1.5rem}"
    ".legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;margin:.2rem 0 .9rem;padding:0;list-style:none}\n"
    ".legend "
    "i{display:inline-block;width:.85rem;height:.85rem;border-radius:.15rem;margin-right:.4rem;vertical-"
    "align:-.08rem}\n"
    "rect.published{fill:var(--pub)}i.published{background:var(--pub)}rect.predicted{fill:var(--pred)}i."
    "predicted{background:var(--pred)}"
    "rect.work{fill:var(--pred)}i.work{background:var(--pred)}rect.wait{fill:var(--wait)}i.wait{background:"
    "var(--wait)}"
    "path.base{stroke:var(--mute);fill:none;stroke-dasharray:3 3}path.row{stroke:var(--line);fill:none}\n"
    "rect.measured{fill:var(--meas)}i.measured{background:var(--meas)}"
    "rect.live{fill:var(--live)}i.live{background:var(--live)}\n"
    "svg{display:block;width:100%;max-width:30rem;height:auto}svg text{font-size:13px;fill:var(--fg);"
    "font-variant-numeric:tabular-nums}svg .name{font-weight:600}svg .err{fill:var(--mute)}"
    ".ci{stroke:var(--fg);fill:none;stroke-width:1.2}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}\n"
    "th,td{padding:.32rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap;"
    "font-variant-numeric:tabular-nums}th{color:var(--mute);font-weight:600}\n"
    "td.l,th.l{text-align:left}td.w{white-space:normal;min-width:11rem;overflow-wrap:anywhere}"
    "tr.group>*{border-top:2px solid var(--line)}\n"
    "td:first-child,th:first-child{padding-left:0}.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:"
    "var(--bad)}\n"
    "td.bar{background:linear-gradient(90deg,var(--line) var(--u),transparent var(--u)) 0 100%/100% .28rem "
    "no-repeat}\n"
    ".tag{border:1px solid var(--line);border-radius:.8rem;padding:0 .5rem;font-size:.82rem}"
    ".tag.fitted{color:var(--pred)}.tag.assumed{color:var(--warn)}.tag.fudge{color:var(--bad)}\n"
    "ul.notes{margin:.3rem 0;padding-left:1.2rem}\n"
    "@media print{body{font-size:10pt}main{max-width:none;padding:0}.card,svg,tr{break-inside:avoid}"
    "h2,h3{break-after:avoid}table{font-size:8pt}td,th{white-space:normal}.scroll{overflow:visible}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

static const char *error_class(double pct)
{
	double size = fabs(pct);

	return size <= 6 ? "good" : size <= 12 ? "warn" : "bad";
}

/* The first word like "1.27x" in `text`: what a reader wants in large type. False when there is none. */
static bool gain_ratio(const char *text, char *buf, size_t size)
{
	for (const char *p = text; *p; p++) {
		size_t n = strspn(p, "0123456789.");

		if (n > 0 && n < size && p[n] == 'x' && !isalnum((unsigned char)p[n + 1])) {
			snprintf(buf, size, "%.*s", (int)n, p);
			return true;
		}
		p += n > 0 ? n - 1 : 0;
	}
	return false;
}

/* The sentence without the name of the workload in front, which is the card's heading. */
static const char *gain_tail(const char *text, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(text, name, n) != 0 || (text[n] != ':' && text[n] != ',')) {
		return text;
	}
	return text + n + 1 + strspn(text + n + 1, " ");
}

/* Escaped, with "->" as an arrow. */
static void gain_text(const char *text, FILE *out)
{
	const char *arrow;
	char part[512];

	while ((arrow = strstr(text, "->")) != NULL) {
		snprintf(part, sizeof(part), "%.*s", (int)(arrow - text), text);
		sl_html_text(part, out);
		fputs("\xe2\x86\x92", out);
		text = arrow + 2;
	}
	sl_html_text(text, out);
}

static void page_gain(const struct sl_report *report, int workload, enum sl_engine engine, const char *class,
		      FILE *out)
{
	const char *name = sl_scenario_workload(report->result->scenario, workload)->name;
	char gain[512] = "", ratio[24];

	sl_result_gain(report->result, workload, engine, gain, sizeof(gain));
	if (gain[0] == '\0') {
		return;
	}
	fprintf(out, "<div class=\"card gain %s\"><h3>", class);
	sl_html_text(name, out);
	fprintf(out, " <span class=\"mute small\">%s</span></h3>", class);
	if (gain_ratio(gain, ratio, sizeof(ratio))) {
		fprintf(out, "<b>%s\xc3\x97</b>", ratio);
	}
	fputs("<p>", out);
	gain_text(gain_tail(gain, name), out);
	fputs("</p></div>\n", out);
}

void sl_html_head(const struct sl_scenario *sc, uint64_t seed, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	      "'unsafe-inline'\"/>\n"
	      "<title>",
	      out);
	sl_html_text(sl_scenario_title(sc), out);
	fprintf(out,
		" - sloglab</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<p class=\"mute "
		"small\">sloglab %s, scenario <code>",
		page_style, SL_VERSION);
	sl_html_text(sl_scenario_name(sc), out);
	fprintf(out, "</code>, seed %llu</p>\n<h1>", (unsigned long long)seed);
	sl_html_text(sl_scenario_title(sc), out);
	fputs("</h1>\n", out);
	if (sl_scenario_description(sc)[0] != '\0') {
		fputs("<p class=\"mute\">", out);
		sl_html_text(sl_scenario_description(sc), out);
		fputs("</p>\n", out);
	}
}

void sl_html_end(FILE *out)
{
	fputs("</main>\n</body>\n</html>\n", out);
}

/* A scenario whose variants all have a log device, or are bare disks, has none. */
static bool has_gains(const struct sl_report *report)
{
	char gain[512] = "";

	for (int w = 0; gain[0] == '\0' && w < sl_scenario_workloads(report->result->scenario); w++) {
		sl_result_gain(report->result, w, sl_report_predictor(report), gain, sizeof(gain));
	}
	return gain[0] != '\0';
}

static void page_head(const struct sl_report *report, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	enum sl_engine real = sl_report_real(report);

	sl_html_head(sc, report->result->seed, out);
	if (has_gains(report)) {
		fputs("<h2>What the SLOG brings</h2>\n<div class=\"grid\">\n", out);
		for (int w = 0; w < sl_scenario_workloads(sc); w++) {
			if (sl_report_has_workload(report, w)) {
				page_gain(report, w, sl_report_predictor(report), "predicted", out);
				page_gain(report, w, real, "measured", out);
			}
		}
		fputs("</div>\n", out);
	}
	if (sl_report_has_engine(report, real)) {
		fprintf(
		    out,
		    "<p class=\"mute\">Measured: %s. Predicted: the model with the substitutions listed "
		    "below.</p>\n",
		    real == SL_ENGINE_VM
			? "real OpenZFS, NFS server, QEMU and guest in virtual machines, on modelled disks"
			: "a real NFS client against a server whose pool is modelled");
	}
}

static void page_charts(const struct sl_report *report, bool published, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;

	fputs("<h2>Each workload</h2>\n<ul class=\"legend small\">", out);
	if (published) {
		fputs("<li><i class=\"published\"></i>published</li>", out);
	}
	fputs("<li><i class=\"predicted\"></i>predicted, with its distance from what was published</li>",
	      out);
	if (sl_report_has_engine(report, sl_report_real(report))) {
		fputs(
		    "<li><i class=\"measured\"></i>measured here, with its distance from the prediction</li>",
		    out);
	}
	if (sl_report_has_beside(report)) {
		fputs("<li><i class=\"live\"></i>engine live beside it, another lab: not of this "
		      "prediction</li>",
		      out);
	}
	fputs("</ul>\n<div class=\"grid charts\">\n", out);
	for (int w = 0; w < sl_scenario_workloads(sc); w++) {
		if (!sl_report_has_workload(report, w)) {
			continue;
		}
		fputs("<figure class=\"card\"><h3>", out);
		sl_html_text(sl_scenario_workload(sc, w)->name, out);
		fprintf(out, " <span class=\"mute small\">%s</span></h3>\n",
			sl_workload_unit(sl_scenario_workload(sc, w)));
		sl_report_svg(report, w, out);
		fputs("</figure>\n", out);
	}
	fputs("</div>\n", out);
}

static void td_percent(double pct, FILE *out)
{
	char text[32];

	sl_report_percent(pct, text, sizeof(text));
	fprintf(out, "<td class=\"%s\">%s</td>", error_class(pct), text);
}

static void td_value(double value, FILE *out)
{
	char text[32];

	sl_report_number(value, text, sizeof(text));
	fprintf(out, "<td>%s</td>", text);
}

static void td_time(int64_t ns, FILE *out)
{
	char text[32] = "-";

	if (ns > 0) {
		sl_report_time(ns, text, sizeof(text));
	}
	fprintf(out, "<td>%s</td>", text);
}

static void td_text(const char *text, FILE *out)
{
	fputs("<td class=\"l\">", out);
	sl_html_text(text, out);
	fputs("</td>", out);
}

static void page_cell(const struct sl_report *report, const struct sl_cell *cell, bool published, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_workload *workload = sl_scenario_workload(sc, cell->workload);
	const struct sl_measure *m = &cell->measure;
	char label[SL_REPORT_NAME];
	const int64_t times[] = {m->mean_ns, m->p50_ns, m->p95_ns, m->p99_ns, m->p999_ns, m->max_ns};

	td_text(workload->name, out);
	td_text(sl_report_variant(sc, cell->variant, label), out);
	td_text(sl_engine_name(cell->engine), out);
	td_value(cell->value, out);
	if (cell->n_samples > 1) {
		char text[32];

		sl_report_ci(cell->ci95, text, sizeof(text));
		fprintf(out, "<td>\xc2\xb1%s</td>", text);
	} else {
		fputs("<td class=\"mute\">-</td>", out);
	}
	td_text(sl_workload_unit(workload), out);
	if (published && cell->has_published) {
		td_value(cell->published, out);
		td_percent(cell->error_pct, out);
		td_text(sl_role_name(cell->role), out);
	} else if (published) {
		fputs("<td>-</td><td>-</td><td class=\"l\">-</td>", out);
	}
	if (sl_workload_bytes(workload) > 0) {
		td_value(cell->measure.rate * sl_workload_bytes(workload) / 1e6, out);
	} else {
		fputs("<td class=\"mute\">-</td>", out);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		td_time(times[i], out);
	}
}

static void page_rms(const struct sl_report *report, FILE *out)
{
	static const enum sl_role roles[] = {SL_ROLE_CALIBRATE, SL_ROLE_PREDICT};
	static const char *const what[] = {"cells the parameters were fitted on",
					   "cells that were only predicted"};

	for (int i = 0; i < 2; i++) {
		int n = 0;
		double rms = sl_result_rms(report->result, roles[i], sl_report_predictor(report), &n);

		if (n > 0) {
			fprintf(
			    out,
			    "<p>Error of the %s: <strong>%.2f %%</strong> RMS over %d, median %.2f %%.</p>\n",
			    what[i], rms, n,
			    sl_result_median_error(report->result, roles[i], sl_report_predictor(report)));
		}
	}
}

static void page_cells(const struct sl_report *report, bool published, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;

	fputs("<h2>All figures</h2>\n", out);
	page_rms(report, out);
	fputs("<p class=\"mute\">\xc2\xb1, 95 %: the noise of the seed (model) or of repeats on this "
	      "machine, not "
	      "of the parameters.</p>\n",
	      out);
	fputs("<div class=\"scroll\"><table>\n<thead><tr><th class=\"l\">workload</th><th "
	      "class=\"l\">variant</th>"
	      "<th class=\"l\">engine</th><th>value</th><th>95 %</th><th class=\"l\">unit</th>",
	      out);
	fputs(published ? "<th>published</th><th>error</th><th class=\"l\">role</th>" : "", out);
	fputs(
	    "<th>MB/s</th><th>mean</th><th>p50</th><th>p95</th><th>p99</th><th>p99.9</th><th>max</th></tr></"
	    "thead>\n<tbody>\n",
	    out);
	for (int w = 0; w < sl_scenario_workloads(sc); w++) {
		bool first = true;

		for (int i = 0; i < report->result->n_cells; i++) {
			const struct sl_cell *cell = &report->result->cells[i];

			if (cell->workload == w) {
				fputs(first ? "<tr class=\"group\">" : "<tr>", out);
				page_cell(report, cell, published, out);
				fputs("</tr>\n", out);
				first = false;
			}
		}
	}
	fputs("</tbody></table></div>\n", out);
}

int sl_report_html(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_report *report = arg;
	bool published = false;
	int rc;

	for (int i = 0; i < report->result->n_cells; i++) {
		published |= report->result->cells[i].has_published;
	}
	page_head(report, out);
	page_charts(report, published, out);
	sl_html_answers(report, out);
	page_cells(report, published, out);
	sl_costs_html(report, out);
	if (report->full) {
		sl_full_html(report->full, out);
	}
	rc = sl_html_details(report, out);
	sl_html_end(out);
	return rc < 0 ? sl_err_set(err, rc, "HTML: out of memory") : 0;
}
