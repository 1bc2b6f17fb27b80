#include "sim/report/fudges.h"
#include "sim/report/report.h"
#include "sim/report/report_costs.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim/report/gain.h"
#include "sim/report/report_paired.h"
#include "sim/report/table.h"

/* Beyond these the colour says so: the acceptance limit of a calibrate cell, and twice about that. */
#define ERROR_GOOD_PCT 6.0
#define ERROR_BAD_PCT 12.0

/* Which columns a table has. */
struct shape {
	enum sl_engine predictor, real;
	bool live, beside, published, ci; /* beside: engine live besides another */
};

static enum sl_tint tint_error(double pct)
{
	double size = fabs(pct);

	return size <= ERROR_GOOD_PCT ? SL_TINT_GOOD : size <= ERROR_BAD_PCT ? SL_TINT_WARN : SL_TINT_BAD;
}

static struct shape shape_of(const struct sl_report *report)
{
	struct shape shape = {.predictor = sl_report_predictor(report), .real = sl_report_real(report)};

	shape.live = sl_report_has_engine(report, shape.real);
	shape.beside = sl_report_has_beside(report);
	for (int i = 0; i < report->result->n_cells; i++) {
		const struct sl_cell *cell = &report->result->cells[i];

		shape.published |= cell->has_published;
		shape.ci |= cell->n_samples > 1;
	}
	return shape;
}

static struct sl_table *table_make(const struct shape *shape)
{
	const char *headings[SL_TABLE_COLUMNS];
	int n = 0;

	headings[n++] = "<workload";
	headings[n++] = "<variant";
	headings[n++] = shape->predictor == SL_ENGINE_MODEL_LAB ? "model(lab)" : "predicted";
	if (shape->ci) {
		headings[n++] = "95 %";
	}
	if (shape->live) {
		headings[n++] = sl_engine_name(shape->real);
		headings[n++] = "difference";
		headings[n++] = "late p99";
	}
	if (shape->beside) {
		headings[n++] = sl_engine_name(SL_ENGINE_LIVE);
	}
	if (shape->published) {
		headings[n++] = "published";
		headings[n++] = "error";
		headings[n++] = "<role";
	}
	headings[n++] = "<unit";
	return sl_table_new(headings, n);
}

static void put_value(struct sl_table *table, const struct sl_cell *cell)
{
	char text[32] = "-";

	if (cell) {
		sl_report_number(cell->value, text, sizeof(text));
	}
	sl_table_put(table, cell && cell->untrusted ? SL_TINT_BAD : SL_TINT_BOLD, "%s%s", text,
		     cell ? sl_report_mark(cell) : "");
}

static void put_live(struct sl_table *table, const struct sl_report *report, const struct sl_cell *live,
		     const struct sl_cell *predicted)
{
	char text[32] = "-";
	const struct sl_timing *timing =
	    live ? sl_report_timing(report, live->variant, live->workload) : NULL;

	put_value(table, live);
	if (live && predicted) {
		double pct = sl_report_difference(live, predicted);

		sl_report_percent(pct, text, sizeof(text));
		sl_table_put(table, tint_error(pct), "%s", text);
	} else {
		sl_table_put(table, SL_TINT_NONE, "-");
	}
	if (timing) {
		sl_units_time(timing->lateness_p99_wall_ns, text, sizeof(text));
		sl_table_put(table, timing->trustworthy ? SL_TINT_NONE : SL_TINT_BAD, "%s", text);
	} else {
		sl_table_put(table, SL_TINT_NONE, "-");
	}
}

static void put_published(struct sl_table *table, const struct sl_cell *cell)
{
	char text[32];

	if (!cell->has_published) {
		sl_table_put(table, SL_TINT_DIM, "-");
		sl_table_put(table, SL_TINT_DIM, "-");
		sl_table_put(table, SL_TINT_DIM, "-");
		return;
	}
	sl_report_number(cell->published, text, sizeof(text));
	sl_table_put(table, SL_TINT_NONE, "%s", text);
	sl_report_percent(cell->error_pct, text, sizeof(text));
	sl_table_put(table, tint_error(cell->error_pct), "%s", text);
	sl_table_put(table, SL_TINT_DIM, "%s", sl_role_name(cell->role));
}

static int put_row(struct sl_table *table, const struct sl_report *report, const struct shape *shape,
		   int variant, int workload)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_cell *predicted = sl_result_find(report->result, variant, workload, shape->predictor);
	const struct sl_cell *live = sl_result_find(report->result, variant, workload, shape->real);
	const struct sl_cell *any = predicted ? predicted : live;
	char text[32], name[SL_REPORT_NAME];

	if (!any) {
		return 0;
	}
	if (!sl_table_row(table)) {
		return -ENOMEM;
	}
	sl_table_put(table, SL_TINT_NONE, "%s", sl_scenario_workload(sc, workload)->name);
	sl_table_put(table, SL_TINT_NONE, "%s", sl_report_variant(sc, variant, name));
	put_value(table, predicted);
	if (shape->ci) {
		sl_report_ci(any->ci95, text, sizeof(text));
		sl_table_put(table, SL_TINT_DIM, "+-%s", text);
	}
	if (shape->live) {
		put_live(table, report, live, predicted);
	}
	if (shape->beside) {
		put_value(table, sl_result_find(report->result, variant, workload, SL_ENGINE_LIVE));
	}
	if (shape->published) {
		put_published(table, any);
	}
	sl_table_put(table, SL_TINT_DIM, "%s", sl_workload_unit(sl_scenario_workload(sc, workload)));
	return 0;
}

static int print_table(const struct sl_report *report, const struct shape *shape, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	struct sl_table *table = table_make(shape);
	int rc = table ? 0 : -ENOMEM;

	for (int w = 0; rc == 0 && w < sl_scenario_workloads(sc); w++) {
		sl_table_rule(table);
		for (int v = 0; rc == 0 && v < sl_scenario_variants(sc); v++) {
			rc = put_row(table, report, shape, v, w);
		}
	}
	if (rc == 0) {
		sl_table_print(table, out);
	}
	sl_table_free(table);
	return rc;
}

static void print_rms(const struct sl_report *report, enum sl_engine engine, FILE *out)
{
	static const enum sl_role roles[] = {SL_ROLE_CALIBRATE, SL_ROLE_PREDICT};
	bool any = false;

	for (int i = 0; i < 2; i++) {
		int n = 0;
		double rms = sl_result_rms(report->result, roles[i], engine, &n);

		if (n > 0) {
			fprintf(out, "%s %s cells %.2f %% over %d (median %.2f %%)",
				any ? ";" : "RMS error:", sl_role_name(roles[i]), rms, n,
				sl_result_median_error(report->result, roles[i], engine));
			any = true;
		}
	}
	fputs(any ? "\n" : "", out);
}

static void print_gains(const struct sl_report *report, enum sl_engine engine, const char *prefix, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	char gain[512];

	for (int w = 0; w < sl_scenario_workloads(sc); w++) {
		if (!sl_report_has_workload(report, w)) {
			continue;
		}
		if (sl_gain_text(report->result, w, engine, gain, sizeof(gain))) {
			fprintf(out, "%s%s%s\n", prefix, gain,
				sl_report_gain_trusted(report, w, engine) ? ""
									  : "; not to be trusted, see below");
		}
	}
}

static int print_provenance(const struct sl_report *report, FILE *out)
{
	static const enum sl_provenance kinds[] = {SL_PROV_FITTED, SL_PROV_FUDGE,    SL_PROV_ASSUMED,
						   SL_PROV_SPEC,   SL_PROV_MEASURED, SL_PROV_DERIVED,
						   SL_PROV_GIVEN,  SL_PROV_DEFAULT};
	struct sl_param_list list;
	int rc = sl_param_list_make(report, &list);

	if (rc < 0) {
		return rc;
	}
	fputs("parameters:", out);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		int n = 0;

		for (int i = 0; i < list.n; i++) {
			n += list.rows[i].param.kind == kinds[k];
		}
		fprintf(out, "%s %d %s", k ? "," : "", n, sl_provenance_name(kinds[k]));
	}
	fputs(" (--html or --json lists each with its source)\n", out);
	sl_param_list_fini(&list);
	return 0;
}

static void print_timings(const struct sl_report *report, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;

	for (int i = 0; i < report->n_timings; i++) {
		const struct sl_timing *t = &report->timings[i];
		char late50[32], late99[32], modelled[32], rtt[32];

		sl_units_time(t->lateness_p50_wall_ns, late50, sizeof(late50));
		sl_units_time(t->lateness_p99_wall_ns, late99, sizeof(late99));
		sl_units_time(t->modelled_p50_wall_ns, modelled, sizeof(modelled));
		fprintf(out, "timing of %s on %s: replies late by %s (p50), %s (p99) where %s is modelled",
			sl_scenario_workload(sc, t->workload)->name, sl_scenario_variant_name(sc, t->variant),
			late50, late99, modelled);
		if (t->null_rtt_ns > 0) {
			sl_units_time(t->null_rtt_ns, rtt, sizeof(rtt));
			fprintf(out, "; NULL call %s", rtt);
		}
		if (t->reads + t->writes + t->commits > 0) {
			fprintf(out, "; per operation %.2f READ, %.2f WRITE of %.1f KiB, %.2f COMMIT",
				t->reads, t->writes, t->write_bytes / 1024, t->commits);
		}
		fputc('\n', out);
	}
}

static void print_warnings(const struct sl_report *report, FILE *out)
{
	const struct sl_result *result = report->result;
	bool colour = sl_tint_wanted(out);
	enum sl_tint tint = colour ? SL_TINT_WARN : SL_TINT_NONE;
	char name[SL_REPORT_NAME];

	for (int i = 0; i < result->n_substitutions; i++) {
		fprintf(out, "substitution: %s\n", result->substitutions[i]);
	}
	for (int v = 0; v < sl_scenario_variants(result->scenario); v++) {
		char note[SL_REPORT_NOTE_MAX];

		if (sl_report_note(report, v, note, sizeof(note))) {
			fprintf(out, "%snote: %s%s\n", sl_tint_start(tint), note, sl_tint_end(tint));
		}
	}
	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (cell->warning[0] != '\0') {
			fprintf(out, "%swarning: %s on %s, %s: %s%s\n", sl_tint_start(tint),
				sl_scenario_workload(result->scenario, cell->workload)->name,
				sl_report_variant(result->scenario, cell->variant, name),
				sl_engine_name(cell->engine), cell->warning, sl_tint_end(tint));
		}
	}
}

/* Has `sc` a variant with a cell that uses the device? */
static bool has_disk(const struct sl_dev_spec *disks, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(disks[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

static bool uses_device(const struct sl_report *report, const char *name)
{
	const struct sl_scenario *sc = report->result->scenario;

	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		struct sl_box box;

		if (!sl_report_has_variant(report, v) || sl_scenario_box(sc, v, &box, NULL) < 0) {
			continue;
		}
		if (has_disk(box.data, box.n_data, name) || has_disk(box.log, box.n_log, name) ||
		    has_disk(box.special, box.n_special, name) || has_disk(box.cache, box.n_cache, name)) {
			return true;
		}
	}
	return false;
}

/* Devices of which nothing public says how fast they are. */
static void print_assumed(const struct sl_report *report, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;

	for (int i = 0; i < sl_scenario_devices(sc); i++) {
		const struct sl_dev_spec *spec = sl_scenario_device_spec(sc, i);

		if (spec->assumed && uses_device(report, spec->name)) {
			fprintf(out, "assumed: no figure of the speed of %s is public\n", spec->name);
		}
	}
}

/* What a half width is of: said wherever one is printed. */
static void print_noise(const struct shape *shape, FILE *out)
{
	if (shape->ci) {
		fprintf(out, "95 %%, +-: the noise of %s only, not of the parameters\n",
			shape->live ? "the seed (model) and of repeats on this machine" : "the seed");
	}
}

int sl_report_text(const struct sl_report *report, FILE *out, struct sl_err *err)
{
	struct shape shape = shape_of(report);
	int rc;

	if (report->result->n_cells == 0) {
		fputs("nothing was measured\n", out);
		return 0;
	}
	fprintf(out, "%s\n\n", sl_scenario_title(report->result->scenario));
	rc = print_table(report, &shape, out);
	if (rc == 0) {
		fputc('\n', out);
		print_noise(&shape, out);
		print_rms(report, shape.predictor, out);
		print_gains(report, shape.predictor, shape.live ? "model(lab), " : "", out);
		print_gains(report, shape.real, shape.real == SL_ENGINE_VM ? "vm, " : "live, ", out);
		if (shape.beside) {
			print_gains(report, SL_ENGINE_LIVE, "live, ", out);
		}
		sl_report_paired_text(report, out);
		sl_costs_text(report, out);
		sl_report_answers(report, out);
		print_timings(report, out);
		print_warnings(report, out);
		print_assumed(report, out);
		sl_fudges_text(report->result->scenario, out);
		rc = print_provenance(report, out);
	}
	return rc < 0 ? sl_err_set(err, rc, "out of memory") : 0;
}
