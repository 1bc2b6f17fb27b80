#include "cli/progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/signals.h"
#include "sim/base/clock.h"

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
	fputs(p->terminal ? "\r" : "", p->out);
	return true;
}

static void line_end(struct sl_progress *p, int done, int total, int64_t now)
{
	if (done > 0) {
		fprintf(p->out, ", about %lld s left",
			(long long)((now - p->start_ns) / done * (total - done) / 1000000000LL));
	}
	fputs(p->terminal ? "\033[K" : "\n", p->out);
	fflush(p->out);
}

bool sl_progress_step(void *arg, int done, int total)
{
	struct sl_progress *p = arg;
	int64_t now = sl_clock_ns();

	if (done < total && line_due(p, done, now)) {
		fprintf(p->out, "%d of %d %s", done, total, p->what);
		line_end(p, done, total, now);
	}
	return !sl_signals_stopped();
}

void sl_progress_work(struct sl_progress *p, const char *text, int done_s, int total_s)
{
	int64_t now = sl_clock_ns();

	if (line_due(p, done_s, now)) {
		fprintf(p->out, "%s, %d %%", text, total_s > 0 ? (int)(100LL * done_s / total_s) : 0);
		line_end(p, done_s, total_s, now);
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
