/* Verdicts as a page: one card per cell that lost something, the table of all, the notes. */
#include <inttypes.h>

#include "cli/report.h"
#include "cli/report_costs.h"
#include "cli/report_powercut.h"

static void cell_name(const struct sl_powercut *powercut, const struct sl_verdict *v, FILE *out)
{
	sl_html_text(sl_scenario_workload(powercut->scenario, v->workload)->name, out);
	fputs(", ", out);
	sl_html_text(sl_scenario_variant_name(powercut->scenario, v->variant), out);
}

static const char *verdict_class(const struct sl_verdict *v)
{
	if (v->worst.lost == 0) {
		return "good";
	}
	return v->worst.cause == SL_CAUSE_DISABLED ? "warn" : "bad";
}

/* On a phone a row is read as a card: the sentence says all that the table does. */
static void page_card(const struct sl_powercut *powercut, const struct sl_verdict *v, FILE *out)
{
	char text[320];

	fputs("<div class=\"card\"><h3>", out);
	cell_name(powercut, v, out);
	fprintf(out, "</h3><p><b class=\"%s\">", verdict_class(v));
	sl_powercut_verdict(v, text, sizeof(text));
	sl_html_text(text, out);
	fputs("</b></p><p class=\"mute small\">", out);
	sl_powercut_return(powercut, v, text, sizeof(text));
	sl_html_text(text, out);
	fputs("</p></div>\n", out);
}

static void page_row(const struct sl_powercut *powercut, const struct sl_verdict *v, FILE *out)
{
	char bytes[32] = "-", window[32] = "-";

	if (v->worst.lost > 0) {
		sl_costs_bytes((double)v->worst.lost_bytes, bytes, sizeof(bytes));
		sl_report_time(v->window_ns, window, sizeof(window));
	}
	fputs("<tr><td class=\"l\">", out);
	cell_name(powercut, v, out);
	fprintf(out,
		"</td><td class=\"%s\">%" PRIu64 "</td><td>%s</td><td>%s</td><td>%" PRIu64 "</td><td>%" PRIu64
		" of %" PRIu64 "</td></tr>\n",
		verdict_class(v), v->worst.lost, bytes, window,
		v->n_cuts == 1 ? v->worst.acknowledged : v->acknowledged, v->lossy, v->n_cuts);
}

void sl_powercut_html_body(const struct sl_powercut *powercut, FILE *out)
{
	char text[320];

	fputs("<p>", out);
	sl_powercut_what(powercut, text, sizeof(text));
	sl_html_text(text, out);
	fputs(". Lost: acknowledged writes that are gone, at the worst cut.</p>\n<h2>What a power cut "
	      "takes</h2>\n"
	      "<div class=\"scroll\"><table>\n<thead><tr><th class=\"l\">workload, variant</th><th>lost</th>"
	      "<th>bytes</th><th>window</th><th>acknowledged</th><th>cuts with "
	      "loss</th></tr></thead>\n<tbody>\n",
	      out);
	for (int i = 0; i < powercut->n_verdicts; i++) {
		page_row(powercut, &powercut->verdicts[i], out);
	}
	fputs("</tbody></table></div>\n<h2>The layer that lied, and how the box came back</h2>\n"
	      "<div class=\"grid\">\n",
	      out);
	for (int i = 0; i < powercut->n_verdicts; i++) {
		page_card(powercut, &powercut->verdicts[i], out);
	}
	fputs("</div>\n", out);
	if (powercut->n_notes > 0) {
		fputs("<h2>Notes</h2>\n<ul class=\"notes small\">\n", out);
		for (int i = 0; i < powercut->n_notes; i++) {
			fputs("<li>", out);
			sl_html_text(powercut->notes[i], out);
			fputs("</li>\n", out);
		}
		fputs("</ul>\n", out);
	}
}

int sl_powercut_html(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_powercut *powercut = arg;

	(void)err;
	sl_html_head(powercut->scenario, powercut->options.seed, out);
	sl_powercut_html_body(powercut, out);
	sl_html_end(out);
	return 0;
}
