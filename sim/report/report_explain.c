/* What the reports of explain have in common. */
#include "sim/report/report_explain.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/report/prose.h"

#define WIDTH_DEFAULT 100
#define WIDTH_MIN 60
#define WIDTH_MAX 200

/* What the locale says of the character set; setlocale would change how numbers are printed. */
static bool locale_is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);

		if (value && value[0] != '\0') {
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
		}
	}
	return false;
}

void sl_explain_terminal(FILE *out, struct sl_explain_report *ret)
{
	int width = sl_terminal_width(out, WIDTH_DEFAULT);

	ret->width = width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
	ret->utf8 = isatty(fileno(out)) && locale_is_utf8();
}

const char *sl_explain_quantile_name(enum sl_explain_quantile quantile)
{
	return quantile == SL_EXPLAIN_P50 ? "p50" : "p99";
}

int sl_explain_order(const struct sl_explain_cell *cell, enum sl_what_if ret[SL_WHAT_IFS])
{
	int n = 0;

	for (int what = 0; what < SL_WHAT_IFS; what++) {
		int at = n;

		if (!cell->tried[what]) {
			continue;
		}
		for (; at > 0 && cell->rate[ret[at - 1]] < cell->rate[what]; at--) {
			ret[at] = ret[at - 1];
		}
		ret[at] = (enum sl_what_if)what;
		n++;
	}
	return n;
}

void sl_explain_round_trips(const struct sl_path *path, char *buf, size_t size)
{
	const struct {
		const char *name;
		int n;
	} calls[] = {{"read", path->reads}, {"write", path->writes}, {"commit", path->commits}};
	size_t used = 0;

	(void)snprintf(buf, size, "none");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].n > 0 && used < size) {
			used += (size_t)snprintf(buf + used, size - used, "%s%d %s%s", used ? ", " : "",
						 calls[i].n, calls[i].name, calls[i].n > 1 ? "s" : "");
		}
	}
}

int64_t sl_explain_scale(const struct sl_explain *explain, int workload, enum sl_explain_quantile quantile)
{
	int64_t scale_ns = 0;

	for (int i = 0; i < explain->n_cells; i++) {
		const struct sl_explain_cell *cell = &explain->cells[i];

		if (cell->workload == workload && cell->path[quantile].latency_ns > scale_ns) {
			scale_ns = cell->path[quantile].latency_ns;
		}
	}
	return scale_ns;
}
