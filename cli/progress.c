#include "cli/progress.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/signals.h"

/* The wall clock of the user's patience: never of a model. */
static int64_t progress_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

void sl_progress_start(struct sl_progress *p, FILE *out, const char *what)
{
	const char *term = getenv("TERM");

	p->out = out;
	p->what = what;
	p->terminal = isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
	p->start_ns = progress_now();
	p->shown_ns = p->start_ns;
	p->line_open = false;
}

bool sl_progress_step(void *arg, int done, int total)
{
	struct sl_progress *p = arg;
	int64_t now = progress_now();
	int64_t quiet_ns = p->terminal ? 100000000LL : 5000000000LL;
	bool first = p->terminal && done == 0;

	if ((first || now - p->shown_ns >= quiet_ns) && done < total) {
		p->shown_ns = now;
		p->line_open = p->terminal;
		fprintf(p->out, "%s%d of %d %s", p->terminal ? "\r" : "", done, total, p->what);
		if (done > 0) {
			fprintf(p->out, ", about %lld s left",
				(long long)((now - p->start_ns) / done * (total - done) / 1000000000LL));
		}
		fputs(p->terminal ? "\033[K" : "\n", p->out);
		fflush(p->out);
	}
	return !sl_signals_stopped();
}

void sl_progress_end(struct sl_progress *p)
{
	if (p->line_open) {
		fputs("\r\033[K", p->out);
		fflush(p->out);
		p->line_open = false;
	}
}
