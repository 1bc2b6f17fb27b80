#include "sim/report/report_costs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/report/page_table.h"
#include "sim/report/prose.h"

#define INDENT 2

void sl_costs_bytes(double bytes, char *buf, size_t size)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
	int step = 0;

	while (step < 5 && bytes >= 999.5) {
		bytes /= 1000;
		step++;
	}
	snprintf(buf, size, "%.*f %s", bytes < 9.95 && step > 0 ? 1 : 0, bytes, units[step]);
}

void sl_costs_loss(const struct sl_loss *loss, char *buf, size_t size)
{
	char time[32];

	if (loss->seconds <= 0) {
		snprintf(buf, size, "nothing");
		return;
	}
	sl_units_time((int64_t)(loss->seconds * 1e9), time, sizeof(time));
	snprintf(buf, size, "%s %s", loss->at_least ? "at least" : "up to", time);
}

static json_t *figure_or_null(double value)
{
	return value > 0 ? sl_json_figure(value) : json_null();
}

json_t *sl_costs_json_loss(const struct sl_loss *loss)
{
	if (!loss->known) {
		return json_null();
	}
	return json_pack("{s:o, s:b, s:I, s:I, s:o}", "seconds", sl_json_figure(loss->seconds), "at_least",
			 loss->at_least, "writes", (json_int_t)loss->writes, "bytes", (json_int_t)loss->bytes,
			 "why", loss->why[0] ? sl_json_text(loss->why) : json_null());
}

json_t *sl_costs_json_endurance(const struct sl_endurance *e)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "log_bytes_per_day",
			 sl_json_figure(e->log_bytes_per_day), "log_bytes_per_operation",
			 sl_json_figure(e->bytes_per_op), "device",
			 e->device[0] ? sl_json_text(e->device) : json_null(), "rated_bytes",
			 figure_or_null(e->rated_bytes), "years", figure_or_null(e->years));
}

json_t *sl_costs_json_log_space(const struct sl_measure *measure)
{
	if (measure->log_room_bytes == 0) {
		return json_null();
	}
	return json_pack("{s:I, s:I, s:I}", "peak_bytes", (json_int_t)measure->log_peak_bytes, "room_bytes",
			 (json_int_t)measure->log_room_bytes, "needed_bytes",
			 (json_int_t)measure->log_need_bytes);
}

bool sl_costs_endurance(const struct sl_scenario *sc, const struct sl_cell *cell, struct sl_endurance *ret)
{
	struct sl_box box;

	if (cell->engine >= SL_ENGINE_LIVE || cell->measure.data_bytes + cell->measure.log_bytes <= 0 ||
	    sl_scenario_box(sc, cell->variant, &box, NULL) < 0) {
		return false;
	}
	sl_endurance_of(&box, &cell->measure, ret);
	return true;
}

const struct sl_cell *sl_costs_worst_loss(const struct sl_report *report, int variant)
{
	const struct sl_result *result = report->result;
	const struct sl_cell *worst = NULL;

	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (cell->variant == variant && cell->measure.loss.known &&
		    (!worst || cell->measure.loss.seconds > worst->measure.loss.seconds)) {
			worst = cell;
		}
	}
	return worst;
}

const struct sl_cell *sl_costs_worst_wear(const struct sl_report *report, int variant,
					  struct sl_endurance *ret)
{
	const struct sl_result *result = report->result;
	const struct sl_cell *worst = NULL;

	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];
		struct sl_endurance e;

		if (cell->variant != variant || !sl_costs_endurance(result->scenario, cell, &e) ||
		    e.device[0] == '\0') {
			continue;
		}
		if (!worst || e.device_bytes_per_day > ret->device_bytes_per_day) {
			worst = cell;
			*ret = e;
		}
	}
	return worst;
}

/* The cell of a variant with log devices whose log takes up the most; NULL: there is none. */
static const struct sl_cell *most_log(const struct sl_report *report, int variant)
{
	const struct sl_result *result = report->result;
	const struct sl_cell *most = NULL;

	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (cell->variant == variant && cell->measure.log_room_bytes > 0 &&
		    (!most || cell->measure.log_need_bytes > most->measure.log_need_bytes)) {
			most = cell;
		}
	}
	return most;
}

/* "1.3 GB of 8.0 GB", "1.0 GB of 1.0 GB, full: at least 4.3 GB would be in use". */
static void log_space(const struct sl_measure *m, char *buf, size_t size)
{
	char peak[32], room[32], need[32];

	sl_costs_bytes((double)m->log_peak_bytes, peak, sizeof(peak));
	sl_costs_bytes((double)m->log_room_bytes, room, sizeof(room));
	sl_costs_bytes((double)m->log_need_bytes, need, sizeof(need));
	if (m->log_need_bytes > m->log_peak_bytes) {
		snprintf(buf, size, "%s of %s, full: at least %s would be in use", peak, room, need);
	} else {
		snprintf(buf, size, "%s of %s", peak, room);
	}
}

struct line {
	char text[1024];
	size_t used;
};

static void line_add(struct line *line, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void line_add(struct line *line, const char *fmt, ...)
{
	size_t room = sizeof(line->text) - line->used;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line->text + line->used, room, fmt, args);
	va_end(args);
	if (n > 0) {
		line->used += (size_t)n < room ? (size_t)n : room - 1;
	}
}

/* Running text below a heading; nothing when it is empty. */
static void line_print(const struct line *line, FILE *out)
{
	if (line->used > 0) {
		sl_prose(line->text, INDENT, sl_prose_width(out), out);
	}
}

/* A paragraph for each variant that loses something, one for all that do not. */
static void text_losses(const struct sl_report *report, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	struct line safe = {0};
	bool headed = false, short_run = false;

	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		const struct sl_cell *cell = sl_costs_worst_loss(report, v);
		char loss[48], label[SL_REPORT_NAME];
		const char *name = sl_report_variant(sc, v, label);
		struct line line = {0};

		if (!cell) {
			continue;
		}
		fputs(headed ? "" : "lost at a power cut:\n", out);
		headed = true;
		if (cell->measure.loss.seconds <= 0) {
			line_add(&safe, "%s%s", safe.used > 0 ? ", " : "", name);
			continue;
		}
		sl_costs_loss(&cell->measure.loss, loss, sizeof(loss));
		short_run |= cell->measure.loss.at_least;
		line_add(&line, "%s: %s, %" PRIu64 " writes: %s", name, loss, cell->measure.loss.writes,
			 cell->measure.loss.why);
		line_print(&line, out);
	}
	if (safe.used > 0) {
		line_add(&safe, ": nothing");
	}
	line_print(&safe, out);
	if (short_run) {
		fputs("  at least: the run is shorter than two transaction groups, which can be lost\n", out);
	}
}

/* What a load writes, and reads. */
static void data_text(const struct sl_workload *workload, const struct sl_box *box, char *buf, size_t size)
{
	double ratio = sl_workload_ratio(workload, box);

	if (sl_workload_writes_zeros(workload)) {
		snprintf(buf, size,
			 "zero bytes, holes where the pool compresses: no disk writes or reads them");
	} else if (ratio > 1) {
		snprintf(buf, size, "bytes that compress to 1/%.3g", ratio);
	} else {
		snprintf(buf, size, "random bytes");
	}
}

static bool was_run(const struct sl_result *result, int w)
{
	for (int i = 0; i < result->n_cells; i++) {
		if (result->cells[i].workload == w) {
			return true;
		}
	}
	return false;
}

/* One line: neighbours that write the same are named together. */
static void text_data(const struct sl_report *report, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	struct line line = {0};
	char last[96] = "";

	for (int w = 0; w < sl_scenario_workloads(sc); w++) {
		const struct sl_workload *workload = sl_scenario_workload(sc, w);
		bool has_data = workload->kind == SL_WL_FILEIO || workload->kind == SL_WL_SYNCWRITE;
		char text[96];
		struct sl_box box;

		if (!has_data || !was_run(report->result, w) || sl_scenario_box(sc, 0, &box, NULL) < 0) {
			continue;
		}
		data_text(workload, &box, text, sizeof(text));
		if (last[0] != '\0' && strcmp(text, last) != 0) {
			line_add(&line, ": %s; %s", last, workload->name);
		} else {
			line_add(&line, "%s%s", line.used > 0 ? ", " : "", workload->name);
		}
		memcpy(last, text, sizeof(last));
	}
	if (line.used > 0) {
		line_add(&line, ": %s", last);
		fputs("data of the loads:\n", out);
		line_print(&line, out);
	}
}

static void text_wear(const struct sl_report *report, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	struct line line = {0};

	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		struct sl_endurance e = {0};
		const struct sl_cell *cell = sl_costs_worst_wear(report, v, &e);
		char bytes[32], span[32], label[SL_REPORT_NAME];

		if (cell) {
			sl_costs_bytes(e.log_bytes_per_day, bytes, sizeof(bytes));
			sl_endurance_span(&e, span, sizeof(span));
			line_add(&line, "%s%s %s (%s: %s of log a day)", line.used > 0 ? "; " : "",
				 sl_report_variant(sc, v, label), span,
				 sl_scenario_workload(sc, cell->workload)->name, bytes);
		}
	}
	fputs(line.used > 0 ? "rated endurance lasts, at this load day and night:\n" : "", out);
	line_print(&line, out);
}

static void text_log_space(const struct sl_report *report, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	struct line line = {0};

	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		const struct sl_cell *cell = most_log(report, v);
		char space[160], label[SL_REPORT_NAME];

		if (cell) {
			log_space(&cell->measure, space, sizeof(space));
			line_add(&line, "%s%s %s (%s)", line.used > 0 ? "; " : "",
				 sl_report_variant(sc, v, label), space,
				 sl_scenario_workload(sc, cell->workload)->name);
		}
	}
	fputs(line.used > 0 ? "of the log devices in use at most:\n" : "", out);
	line_print(&line, out);
}

void sl_costs_text(const struct sl_report *report, FILE *out)
{
	text_losses(report, out);
	text_wear(report, out);
	text_log_space(report, out);
	text_data(report, out);
}

/* What one cell loses and wears; the head of its row is its variant. */
static void html_row(const struct sl_report *report, const struct sl_cell *cell, struct sl_page_table *table)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_loss *loss = &cell->measure.loss;
	struct sl_endurance e;
	char lost[48], bytes[32] = "-", span[32] = "-", space[160] = "-", label[SL_REPORT_NAME];

	if (sl_costs_endurance(sc, cell, &e)) {
		sl_costs_bytes(e.log_bytes_per_day, bytes, sizeof(bytes));
		sl_endurance_span(&e, span, sizeof(span));
	}
	if (cell->measure.log_room_bytes > 0) {
		log_space(&cell->measure, space, sizeof(space));
	}
	sl_costs_loss(loss, lost, sizeof(lost));
	sl_page_row(table, NULL);
	sl_page_put(table, NULL, "%s", sl_report_variant(sc, cell->variant, label));
	sl_page_put(table, loss->seconds > 0 ? "n warn" : "n good", "%s", lost);
	sl_page_put(table, NULL, "%" PRIu64, loss->writes);
	sl_page_put(table, "n", "%s", bytes);
	sl_page_put(table, "n", "%s", span);
	sl_page_put(table, NULL, "%s", space);
	sl_page_put(table, NULL, "%s", loss->why);
	sl_page_row_end(table);
}

static const char *const cost_heads[] = {"<variant", "lost at a cut", "writes",   "log a day",
					 "it lasts", "log in use",    "<who lied"};
#define COST_HEADS (int)(sizeof(cost_heads) / sizeof(cost_heads[0]))

/* Each variant under the load that is worst for it: for its loss, or where none loses, for its device. */
static void html_worst(const struct sl_report *report, FILE *out)
{
	struct sl_page_table table;

	sl_page_table_start(&table, "Loss and wear at worst", cost_heads, COST_HEADS, out);
	for (int v = 0; v < sl_scenario_variants(report->result->scenario); v++) {
		const struct sl_cell *cell = sl_costs_worst_loss(report, v), *wears;
		struct sl_endurance e = {0};

		if (cell && cell->measure.loss.seconds <= 0) {
			wears = sl_costs_worst_wear(report, v, &e);
			cell = wears ? wears : cell;
		}
		if (cell) {
			html_row(report, cell, &table);
		}
	}
	sl_page_table_end(&table);
}

static void html_all(const struct sl_report *report, FILE *out)
{
	const struct sl_result *result = report->result;
	struct sl_page_table table;

	sl_page_table_start(&table, "Loss and wear of each workload", cost_heads, COST_HEADS, out);
	for (int w = 0; w < sl_scenario_workloads(result->scenario); w++) {
		bool headed = false;

		for (int i = 0; i < result->n_cells; i++) {
			if (result->cells[i].workload != w || !result->cells[i].measure.loss.known) {
				continue;
			}
			if (!headed) {
				sl_page_table_group(&table, sl_scenario_workload(result->scenario, w)->name,
						    "");
			}
			headed = true;
			html_row(report, &result->cells[i], &table);
		}
	}
	sl_page_table_end(&table);
}

void sl_costs_html(const struct sl_report *report, struct sl_page *page)
{
	bool any = false;

	for (int i = 0; i < report->result->n_cells; i++) {
		any |= report->result->cells[i].measure.loss.known;
	}
	if (!any) {
		return;
	}
	sl_page_section(page, "What a power cut takes, and how long the log lasts");
	fputs("<p class=\"mute\">The worst of some hundred cuts of the whole box, and of all workloads: how "
	      "old "
	      "the oldest acknowledged write is that is gone, and how many are. The log at this load day and "
	      "night, against what the device is rated for. <code>sloglab powercut</code> tells more.</p>\n",
	      sl_page_out(page));
	html_worst(report, sl_page_out(page));
	sl_page_fold(page, "Each workload");
	html_all(report, sl_page_out(page));
	sl_page_unfold(page);
}
