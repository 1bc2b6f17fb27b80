#include "cli/progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/base/signals.h"

void sl_progress_start(struct sl_progress *p, FILE *out, const char *what)
{
	const char *term = getenv("TERM");

	p->out = out;
	p->what = what;
	p->terminal = isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
	p->start_ns = sl_clock_ns();
	p->shown_ns = p->start_ns;
	p->line_open = false;
}

/* Whether the next line is due; a terminal sees the first at once. */
static bool line_due(struct sl_progress *p, int done, int64_t now)
{
	int64_t quiet_ns = p->terminal ? 100000000LL : 5000000000LL;

	if (!(p->terminal && done == 0) && now - p->shown_ns < quiet_ns) {
		return false;
	}
	p->shown_ns = now;
	p->line_open = p->terminal;
	return true;
}

/* Whole lines only, each in one piece: what other processes and stdout print stays before or behind it. */
static void line_print(struct sl_progress *p, const char *text, int done, int total, int64_t now)
{
	char left[64] = "";

	if (done > 0) {
		snprintf(left, sizeof(left), ", about %lld s left",
			 (long long)((now - p->start_ns) / done * (total - done) / 1000000000LL));
	}
	fflush(stdout);
	fprintf(p->out, "%s%s%s%s", p->terminal ? "\r" : "", text, left, p->terminal ? "\033[K" : "\n");
	fflush(p->out);
}

bool sl_progress_step(void *arg, int done, int total)
{
	struct sl_progress *p = arg;
	int64_t now = sl_clock_ns();

	if (done < total && line_due(p, done, now)) {
		char text[128];

		snprintf(text, sizeof(text), "%d of %d %s", done, total, p->what);
		line_print(p, text, done, total, now);
	}
	return !sl_signals_stopped();
}

void sl_progress_work(struct sl_progress *p, const char *text, int done_s, int total_s)
{
	int64_t now = sl_clock_ns();

	if (line_due(p, done_s, now)) {
		char whole[256];

		snprintf(whole, sizeof(whole), "%.200s, %d %%", text,
			 total_s > 0 ? (int)(100LL * done_s / total_s) : 0);
		line_print(p, whole, done_s, total_s, now);
	}
}

void sl_progress_end(struct sl_progress *p)
{
	if (p->line_open) {
		fputs("\r\033[K", p->out);
		fflush(p->out);
		p->line_open = false;
	}
}
