/* The answer of a run in four values: gain, price, life, loss; and whether to believe it. */
#include <stdio.h>
#include <string.h>

#include "sim/report/report_costs.h"
#include "sim/report/report_html.h"

/* A drive that is used up before is no bargain; `sloglab advise` asks for as many years. */
#define SHORT_YEARS 3

/* What the SLOG brings over all workloads, by one engine. */
struct gains {
	enum sl_engine engine;
	int n;
	bool trusted; /* every cell of them */
	struct sl_gain least, most;
};

static void gains_of(const struct sl_report *report, enum sl_engine engine, struct gains *ret)
{
	*ret = (struct gains){.engine = engine, .trusted = true};
	for (int w = 0; w < sl_scenario_workloads(report->result->scenario); w++) {
		struct sl_gain gain;

		if (!sl_result_gain_find(report->result, w, engine, &gain)) {
			continue;
		}
		ret->trusted &= sl_report_gain_trusted(report, w, engine);
		ret->least = ret->n == 0 || gain.ratio < ret->least.ratio ? gain : ret->least;
		ret->most = ret->n == 0 || gain.ratio > ret->most.ratio ? gain : ret->most;
		ret->n++;
	}
}

static void fact_gain(const struct sl_report *report, const struct gains *gains, struct sl_page *page)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_gain *most = &gains->most;
	const struct sl_workload *workload = sl_scenario_workload(sc, most->slog->workload);
	bool measured = gains->engine >= SL_ENGINE_LIVE;
	char least[16], best[16], before[32], after[32], names[2][SL_REPORT_NAME];
	struct sl_fact fact = {.label = "What the SLOG brings",
			       .tone = measured ? SL_TONE_MEASURED : SL_TONE_PLAIN};

	(void)snprintf(least, sizeof(least), "%.2f", gains->least.ratio);
	(void)snprintf(best, sizeof(best), "%.2f", most->ratio);
	if (strcmp(least, best) == 0) {
		(void)snprintf(fact.value, sizeof(fact.value), "%s\xc3\x97", best);
	} else {
		(void)snprintf(fact.value, sizeof(fact.value), "%s\xe2\x80\x93%s\xc3\x97", least, best);
	}
	sl_result_figure(most->none, workload, before, sizeof(before));
	sl_result_figure(most->slog, workload, after, sizeof(after));
	(void)snprintf(fact.text, sizeof(fact.text), "%s, %s in place of %s; %s%s: %s \xe2\x86\x92 %s %s",
		       measured ? "measured" : "predicted",
		       sl_report_variant(sc, most->slog->variant, names[0]),
		       sl_report_variant(sc, most->none->variant, names[1]), gains->n > 1 ? "most at " : "",
		       workload->name, before, after, sl_workload_unit(workload));
	sl_page_fact(page, &fact);
}

/* Where there is nothing to compare: the first figure. */
static void fact_value(const struct sl_report *report, const struct sl_cell *cell, struct sl_page *page)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_workload *workload = sl_scenario_workload(sc, cell->workload);
	struct sl_fact fact = {.label = "Predicted"};
	char number[32], name[SL_REPORT_NAME];

	sl_report_number(cell->value, number, sizeof(number));
	(void)snprintf(fact.value, sizeof(fact.value), "%s %s", number, sl_workload_unit(workload));
	(void)snprintf(fact.text, sizeof(fact.text), "%s at %s", sl_report_variant(sc, cell->variant, name),
		       workload->name);
	sl_page_fact(page, &fact);
}

/* Of all disks of `spec`; 0 = not known. */
static double price_of(const struct sl_dev_spec *spec)
{
	double sum = 0;

	if (spec->price_usd > 0 || spec->n_members == 0) {
		return spec->price_usd;
	}
	for (int i = 0; i < spec->n_members; i++) {
		double price = price_of(spec->members[i]);

		if (price <= 0) {
			return 0;
		}
		sum += price;
	}
	return sum;
}

static void fact_price(const struct sl_scenario *sc, int variant, const struct sl_box *box,
		       struct sl_page *page)
{
	struct sl_fact fact = {.label = "Price of the SLOG"};
	double sum = 0;
	bool known = true;

	for (int i = 0; i < box->n_log; i++) {
		double price = price_of(&box->log[i]);

		sum += price;
		known &= price > 0;
	}
	if (known) {
		(void)snprintf(fact.value, sizeof(fact.value), "$%.0f", sum);
	} else {
		(void)snprintf(fact.value, sizeof(fact.value), "not known");
	}
	(void)snprintf(fact.text, sizeof(fact.text), "%s: %d x %s", sl_scenario_variant_name(sc, variant),
		       box->n_log, box->log[0].name);
	if (known && box->log[0].price_year > 0) {
		size_t used = strlen(fact.text);

		(void)snprintf(fact.text + used, sizeof(fact.text) - used, ", a price of %.0f",
			       box->log[0].price_year);
	}
	sl_page_fact(page, &fact);
}

static void fact_life(const struct sl_report *report, int variant, struct sl_page *page)
{
	const struct sl_scenario *sc = report->result->scenario;
	struct sl_fact fact = {.label = "It lasts"};
	struct sl_endurance e = {0};
	const struct sl_cell *cell = sl_costs_worst_wear(report, variant, &e);
	char bytes[32];

	if (!cell || e.device_bytes_per_day <= 0) {
		(void)snprintf(fact.value, sizeof(fact.value), "no wear");
		(void)snprintf(fact.text, sizeof(fact.text), "%s",
			       cell ? "this load writes nothing to it"
				    : "nothing in it wears out by writing");
		sl_page_fact(page, &fact);
		return;
	}
	sl_endurance_span(&e, fact.value, sizeof(fact.value));
	sl_costs_bytes(e.device_bytes_per_day, bytes, sizeof(bytes));
	(void)snprintf(fact.text, sizeof(fact.text), "%s at %s day and night, %s a day; by its rating",
		       e.device, sl_scenario_workload(sc, cell->workload)->name, bytes);
	fact.tone = e.years > 0 && e.years < SHORT_YEARS ? SL_TONE_BAD : SL_TONE_PLAIN;
	sl_page_fact(page, &fact);
}

static void fact_loss(const struct sl_report *report, int variant, int without, struct sl_page *page)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_cell *worst = sl_costs_worst_loss(report, variant);
	const struct sl_cell *before = without >= 0 ? sl_costs_worst_loss(report, without) : NULL;
	struct sl_fact fact = {.label = "Lost at a power cut"};
	char loss[48];
	size_t used;

	if (!worst) {
		return;
	}
	sl_costs_loss(&worst->measure.loss, fact.value, sizeof(fact.value));
	fact.tone = worst->measure.loss.seconds > 0 ? SL_TONE_BAD : SL_TONE_GOOD;
	(void)snprintf(fact.text, sizeof(fact.text), "of acknowledged writes, %s%s%s",
		       sl_scenario_variant_name(sc, variant), worst->measure.loss.why[0] ? ": " : "",
		       worst->measure.loss.why);
	used = strlen(fact.text);
	if (before) {
		sl_costs_loss(&before->measure.loss, loss, sizeof(loss));
		(void)snprintf(fact.text + used, sizeof(fact.text) - used, "; %s: %s",
			       sl_scenario_variant_name(sc, without), loss);
	}
	sl_page_fact(page, &fact);
}

/* Each measurement that is not to be trusted, and why. */
static void doubts(const struct sl_report *report, struct sl_page *page)
{
	const struct sl_result *result = report->result;
	const struct sl_scenario *sc = result->scenario;
	char name[SL_REPORT_NAME];

	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (!sl_report_trusted(report, cell)) {
			sl_page_doubt(
			    page, "%s on %s, engine %s: %s", sl_scenario_workload(sc, cell->workload)->name,
			    sl_report_variant(sc, cell->variant, name), sl_engine_name(cell->engine),
			    cell->warning[0] ? cell->warning : "replies were late");
		}
	}
}

static void drawing(const struct sl_report *report, const struct sl_cell *cell, struct sl_page *page)
{
	struct sl_box_drawing box = {.scenario = report->result->scenario,
				     .variant = cell->variant,
				     .workload = cell->workload,
				     .measure = &cell->measure};

	sl_box_mark_busiest(&box);
	sl_page_box(page, &box);
}

void sl_html_run_answer(const struct sl_report *report, struct sl_page *page)
{
	const struct sl_result *result = report->result;
	enum sl_engine predictor = sl_report_predictor(report);
	struct gains gains, real;
	const struct sl_cell *subject = NULL;
	struct sl_box box;

	doubts(report, page);
	gains_of(report, predictor, &gains);
	gains_of(report, sl_report_real(report), &real);
	if (real.n > 0 && real.trusted) {
		fact_gain(report, &real, page);
	} else if (gains.n > 0) {
		fact_gain(report, &gains, page);
	}
	for (int i = 0; i < result->n_cells && !subject; i++) {
		subject = result->cells[i].engine == predictor ? &result->cells[i] : NULL;
	}
	if (gains.n > 0) {
		subject = gains.most.slog;
	} else if (subject) {
		fact_value(report, subject, page);
	}
	if (!subject || sl_scenario_box(result->scenario, subject->variant, &box, NULL) < 0) {
		return;
	}
	if (box.n_log > 0) {
		fact_price(result->scenario, subject->variant, &box, page);
		fact_life(report, subject->variant, page);
	}
	fact_loss(report, subject->variant, gains.n > 0 ? gains.most.none->variant : -1, page);
	drawing(report, subject, page);
}
