/* Verdicts as a page: one card per cell that lost something, the table of all, the notes. */
#include <inttypes.h>
#include <string.h>

#include "sim/report/page_table.h"
#include "sim/report/report.h"
#include "sim/report/report_costs.h"
#include "sim/report/report_powercut.h"

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

static void page_card(const struct sl_powercut *powercut, const struct sl_verdict *v, FILE *out)
{
	char text[320], *why;

	fputs("<div class=\"card\"><h3>", out);
	cell_name(powercut, v, out);
	fprintf(out, "</h3><p><b class=\"%s\">", verdict_class(v));
	sl_powercut_verdict(v, text, sizeof(text));
	why = strstr(text, ": ");
	if (why) {
		*why = '\0';
	}
	sl_html_text(text, out);
	fputs("</b></p>", out);
	sl_html_paragraph(NULL, why ? why + 2 : "", out);
	sl_powercut_return(powercut, v, text, sizeof(text));
	sl_html_paragraph("mute small", text, out);
	fputs("</div>\n", out);
}

/* Those that lost something, or the others; returns how many. */
static int page_cards(const struct sl_powercut *powercut, bool lossy, FILE *out)
{
	int n = 0;

	fputs("<div class=\"grid\">\n", out);
	for (int i = 0; i < powercut->n_verdicts; i++) {
		if ((powercut->verdicts[i].worst.lost > 0) == lossy) {
			page_card(powercut, &powercut->verdicts[i], out);
			n++;
		}
	}
	fputs("</div>\n", out);
	return n;
}

static void page_row(const struct sl_powercut *powercut, const struct sl_verdict *v,
		     struct sl_page_table *table)
{
	char bytes[32] = "-", window[32] = "-";

	if (v->worst.lost > 0) {
		sl_costs_bytes((double)v->worst.lost_bytes, bytes, sizeof(bytes));
		sl_units_time(v->window_ns, window, sizeof(window));
	}
	sl_page_row(table, NULL);
	sl_page_put(table, NULL, "%s", sl_scenario_variant_name(powercut->scenario, v->variant));
	sl_page_put(table, verdict_class(v), "%" PRIu64, v->worst.lost);
	sl_page_put(table, NULL, "%s", bytes);
	sl_page_put(table, NULL, "%s", window);
	sl_page_put(table, NULL, "%" PRIu64, v->n_cuts == 1 ? v->worst.acknowledged : v->acknowledged);
	sl_page_put(table, NULL, "%" PRIu64 " of %" PRIu64, v->lossy, v->n_cuts);
	sl_page_row_end(table);
}

static void page_table(const struct sl_powercut *powercut, FILE *out)
{
	static const char *const heads[] = {"<variant",       "writes lost",  "bytes",
					    "oldest of them", "acknowledged", "cuts with loss"};
	struct sl_page_table table;

	sl_page_table_start(&table, "What each cut takes", heads, 6, out);
	for (int i = 0; i < powercut->n_verdicts; i++) {
		const struct sl_verdict *v = &powercut->verdicts[i];

		if (i == 0 || v->workload != powercut->verdicts[i - 1].workload) {
			sl_page_table_group(&table,
					    sl_scenario_workload(powercut->scenario, v->workload)->name, "");
		}
		page_row(powercut, v, &table);
	}
	sl_page_table_end(&table);
}

void sl_powercut_html_body(const struct sl_powercut *powercut, struct sl_page *page)
{
	FILE *out = sl_page_out(page);
	char text[320];

	sl_page_section(page, "What each cut takes");
	fputs("<p class=\"mute\">", out);
	sl_powercut_what(powercut, text, sizeof(text));
	sl_html_text(text, out);
	fputs(". Lost: acknowledged writes that are gone, at the worst cut.</p>\n", out);
	page_table(powercut, out);
	sl_page_section(page, "The layer that lied, and how the box came back");
	if (page_cards(powercut, true, out) == 0) {
		fputs("<p>None did: nothing is lost.</p>\n", out);
	}
	sl_page_fold(page, "How the boxes came back that lost nothing");
	if (page_cards(powercut, false, out) == 0) {
		fputs("<p>There is none.</p>\n", out);
	}
	sl_page_unfold(page);
	if (powercut->n_notes > 0) {
		sl_page_section(page, "Notes");
		fputs("<ul class=\"notes small\">\n", out);
		for (int i = 0; i < powercut->n_notes; i++) {
			fputs("<li>", out);
			sl_html_text(powercut->notes[i], out);
			fputs("</li>\n", out);
		}
		fputs("</ul>\n", out);
	}
}

/* The verdicts with the oldest loss and with most writes lost; the first where nothing is lost. */
static void worst_of(const struct sl_powercut *powercut, const struct sl_verdict **ret_oldest,
		     const struct sl_verdict **ret_most)
{
	*ret_oldest = *ret_most = &powercut->verdicts[0];
	for (int i = 1; i < powercut->n_verdicts; i++) {
		const struct sl_verdict *v = &powercut->verdicts[i];

		if (v->worst.lost > (*ret_most)->worst.lost) {
			*ret_most = v;
		}
		if (v->worst.lost > 0 &&
		    ((*ret_oldest)->worst.lost == 0 || v->window_ns > (*ret_oldest)->window_ns)) {
			*ret_oldest = v;
		}
	}
}

/* "none under rndwr" */
static void cell_text(const struct sl_powercut *powercut, const struct sl_verdict *v, const char *what,
		      struct sl_fact *fact)
{
	(void)snprintf(fact->text, sizeof(fact->text), "%s under %s%s",
		       sl_scenario_variant_name(powercut->scenario, v->variant),
		       sl_scenario_workload(powercut->scenario, v->workload)->name, what);
}

static void page_facts(const struct sl_powercut *powercut, const struct sl_verdict *oldest,
		       const struct sl_verdict *most, struct sl_page *page)
{
	struct sl_fact lost = {.label = "Lost at most", .tone = SL_TONE_GOOD, .value = "nothing"};
	struct sl_fact age = {.label = "The oldest of them", .value = "-"};
	struct sl_fact often = {.label = "Cuts with a loss"};
	struct sl_fact safe = {.label = "Cells that lose nothing"};
	int n_safe = 0;

	for (int i = 0; i < powercut->n_verdicts; i++) {
		n_safe += powercut->verdicts[i].worst.lost == 0;
	}
	if (most->worst.lost > 0) {
		lost.tone = most->worst.cause == SL_CAUSE_DISABLED ? SL_TONE_WARN : SL_TONE_BAD;
		(void)snprintf(lost.value, sizeof(lost.value), "%" PRIu64 " write%s", most->worst.lost,
			       most->worst.lost == 1 ? "" : "s");
		cell_text(powercut, most, ", acknowledged before the cut", &lost);
		sl_units_time(oldest->window_ns, age.value, sizeof(age.value));
		cell_text(powercut, oldest, "", &age);
	}
	(void)snprintf(often.value, sizeof(often.value), "%" PRIu64 " of %" PRIu64, oldest->lossy,
		       oldest->n_cuts);
	cell_text(powercut, oldest, oldest->why[0] ? ": " : "", &often);
	(void)snprintf(often.text + strlen(often.text), sizeof(often.text) - strlen(often.text), "%s",
		       oldest->why);
	(void)snprintf(safe.value, sizeof(safe.value), "%d of %d", n_safe, powercut->n_verdicts);
	(void)snprintf(safe.text, sizeof(safe.text), "a cell is one variant under one workload");
	sl_page_fact(page, &lost);
	sl_page_fact(page, &age);
	sl_page_fact(page, &often);
	sl_page_fact(page, &safe);
}

/* The layer that answers for the loss; false where none does. */
static bool guilty(const struct sl_outcome *worst, enum sl_layer *ret)
{
	static const enum sl_layer layers[SL_CAUSES] = {
	    [SL_CAUSE_DISABLED] = SL_LAYER_ZIL,    [SL_CAUSE_CLIENT] = SL_LAYER_HYP,
	    [SL_CAUSE_MEMORY] = SL_LAYER_LOG_DISK, [SL_CAUSE_UNFLUSHED] = SL_LAYER_ZIL,
	    [SL_CAUSE_EARLY] = SL_LAYER_ZIL,       [SL_CAUSE_LOG_LOST] = SL_LAYER_LOG_DISK,
	    [SL_CAUSE_DISK_CACHE] = SL_LAYER_FS,
	};

	if (worst->lost == 0 || worst->cause == SL_CAUSE_NONE || worst->cause == SL_CAUSE_UNEXPLAINED) {
		return false;
	}
	if (worst->cause == SL_CAUSE_LIAR || worst->cause == SL_CAUSE_UNREACHED) {
		*ret = worst->on_log ? SL_LAYER_LOG_DISK : SL_LAYER_DATA_DISK;
	} else {
		*ret = layers[worst->cause];
	}
	return true;
}

static int fill(struct sl_page *page, const void *arg, struct sl_err *err)
{
	const struct sl_powercut *powercut = arg;
	const struct sl_verdict *worst, *most;

	(void)err;
	if (powercut->n_verdicts > 0) {
		struct sl_box_drawing box = {.scenario = powercut->scenario, .mark = "lost here"};

		worst_of(powercut, &worst, &most);
		box.variant = worst->variant;
		box.workload = worst->workload;
		box.has_hot = guilty(&worst->worst, &box.hot);
		page_facts(powercut, worst, most, page);
		sl_page_box(page, &box);
	}
	sl_powercut_html_body(powercut, page);
	return 0;
}

int sl_powercut_html(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_powercut *powercut = arg;

	return sl_page_write(powercut->scenario, powercut->options.seed, "powercut", fill, powercut, out,
			     err);
}
