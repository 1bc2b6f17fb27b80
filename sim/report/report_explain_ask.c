/* A teacher's questions: guess first, then look. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/report.h"
#include "sim/report/report_explain.h"

#define ANSWER_MAX 64

/* One line without its end; false at the end of input. */
static bool read_line(FILE *in, char answer[ANSWER_MAX])
{
	size_t used = 0;
	int c;

	while ((c = fgetc(in)) != EOF && c != '\n') {
		if (used < ANSWER_MAX - 1) {
			answer[used++] = (char)c;
		}
	}
	answer[used] = '\0';
	return c != EOF;
}

/* A number of at least `min`, asked for until there is one. False: no guess. */
static bool ask_number(FILE *in, FILE *out, double min, double max, double *ret)
{
	char answer[ANSWER_MAX], *end;

	do {
		fputs("> ", out);
		fflush(out);
		if (!read_line(in, answer) || answer[strspn(answer, " \t")] == '\0') {
			return false;
		}
		*ret = strtod(answer, &end);
		if (end != answer && end[strspn(end, " \t")] == '\0' && *ret >= min && *ret <= max) {
			return true;
		}
		fputs("a number, please; an empty line gives up", out);
		fputc('\n', out);
	} while (true);
}

static void ask_layer(const struct sl_path *path, FILE *in, FILE *out)
{
	int layers[SL_LAYERS], n = 0;
	enum sl_layer most = sl_path_most(path);
	char time[32];
	double guess;

	sl_units_time(path->latency_ns, time, sizeof(time));
	fprintf(out, "The median %s takes %s. Which layer takes most of it?\n", path->name, time);
	for (int layer = 0; layer < SL_LAYERS; layer++) {
		if (path->service_ns[layer] + path->waiting_ns[layer] > 0) {
			layers[n++] = layer;
			fprintf(out, "  %d  %s\n", n, sl_layer_name((enum sl_layer)layer));
		}
	}
	if (!ask_number(in, out, 1, n, &guess)) {
		fputs("No guess. ", out);
	} else {
		fputs(layers[(int)guess - 1] == (int)most ? "Right. " : "No. ", out);
	}
	fprintf(out, "%s takes %.0f %% of it.\n\n", sl_layer_name(most),
		100 * (double)(path->service_ns[most] + path->waiting_ns[most]) / (double)path->latency_ns);
}

static void ask_change(const struct sl_explain_cell *cell, const char *variant, const char *unit,
		       enum sl_what_if what, FILE *in, FILE *out)
{
	char now[32], then[32], percent[32];
	double guess;

	sl_report_number(cell->value, now, sizeof(now));
	sl_report_number(cell->rate[what], then, sizeof(then));
	sl_report_percent(sl_what_if_gain(cell, what), percent, sizeof(percent));
	fprintf(out, "%s gives %s %s. How many with this change: %s?\n", variant, now, unit,
		sl_what_if_name(what));
	if (!ask_number(in, out, 0, 1e12, &guess)) {
		fputs("No guess. ", out);
	} else {
		fprintf(out, "Your guess is %.0f %% off. ",
			cell->rate[what] > 0 ? fabs(guess / cell->rate[what] - 1) * 100 : 100.0);
	}
	fprintf(out, "It is %s %s, %s.\n\n", then, unit, percent);
}

void sl_explain_ask(const struct sl_explain_report *report, FILE *in, FILE *out)
{
	const struct sl_scenario *sc = report->explain->scenario;

	for (int w = 0; w < sl_scenario_workloads(sc); w++) {
		const struct sl_explain_cell *cell = sl_explain_subject(report->explain, w);
		const struct sl_workload *workload = sl_scenario_workload(sc, w);
		enum sl_what_if slog = (enum sl_what_if)SL_LAYER_LOG_DISK;
		const char *variant;
		int best;

		if (!cell || !cell->has_path || cell->path[SL_EXPLAIN_P50].latency_ns == 0) {
			continue;
		}
		variant = sl_scenario_variant_name(sc, cell->variant);
		fprintf(out, "== %s with %s\n\n", workload->name, variant);
		ask_layer(&cell->path[SL_EXPLAIN_P50], in, out);
		if (cell->tried[slog]) {
			ask_change(cell, variant, sl_speed_unit(workload), slog, in, out);
		}
		best = sl_what_if_best(cell);
		if (best >= 0 && best != (int)slog) {
			ask_change(cell, variant, sl_speed_unit(workload), (enum sl_what_if)best, in, out);
		}
	}
}
