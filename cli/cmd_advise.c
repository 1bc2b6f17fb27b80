#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "sim/base/out.h"
#include "sim/base/signals.h"
#include "sim/report/report_advise.h"
#include "sim/scenario/drives.h"
#include "sim/scenario/session.h"

#define ROWS_DEFAULT 20

struct advise {
	struct sl_words operands, variant, workload, catalogue, set;
	uint64_t budget, repeat, seed, rows, years;
	bool mirrored;
	const char *arithmetic, *json, *html;
	struct sl_session session, shelf; /* shelf: the same file, for loading drives */
	struct sl_chosen variants, workloads;
	struct sl_drives drives;
	bool named;
	struct sl_advice advice;
};

static int advise_parse(struct advise *a, const struct sl_command *self, int argc, char **argv,
			struct sl_err *err)
{
	const struct sl_option options[] = {
	    {"variant", "BASE", "the box as it is (default: the first variant)", SL_OPT_WORDS, &a->variant, 0,
	     0},
	    {"workload", "A,B", "only these workloads", SL_OPT_WORDS, &a->workload, 0, 0},
	    {"budget", "N", "leave out what costs more than N dollars, or has no price", SL_OPT_NUMBER,
	     &a->budget, 1, 1000000},
	    {"catalogue", "A,B|all", "drives to try as SLOG (default all)", SL_OPT_WORDS, &a->catalogue, 0,
	     0},
	    {"years", "N", "what is bought must last so long at the load, day and night (default 3)",
	     SL_OPT_NUMBER, &a->years, 1, 100},
	    {"mirrored", NULL, "buy mirrors only: the log must outlive one of its drives", SL_OPT_FLAG,
	     &a->mirrored, 0, 0},
	    {"seed", "N", "first seed (default 1)", SL_OPT_NUMBER, &a->seed, 0, INT64_MAX},
	    {"repeat", "N", "pairs of runs per row (default 3)", SL_OPT_NUMBER, &a->repeat, 1,
	     SL_SAMPLES_MAX},
	    {"set", "KEY=VALUE", "override a key of the scenario in every variant; may be repeated",
	     SL_OPT_WORDS, &a->set, 0, 0},
	    {"rows", "N", "rows per table on the terminal (default 20, 0 = all)", SL_OPT_NUMBER, &a->rows, 0,
	     100000},
	    {"show-arithmetic", "ROW", "how the figures of this row (rank or name) came about", SL_OPT_TEXT,
	     &a->arithmetic, 0, 0},
	    {"json", "FILE", "write the advice as JSON; - is stdout, the tables then go to stderr",
	     SL_OPT_TEXT, &a->json, 0, 0},
	    {"html", "FILE", "write the advice as a self-contained page", SL_OPT_TEXT, &a->html, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	bool help;
	int rc;

	a->seed = 1;
	a->repeat = 3;
	a->years = 3;
	a->rows = ROWS_DEFAULT;
	rc = sl_options_parse(options, argc, argv, &a->operands, &help, err);
	if (rc == 0 && help) {
		printf("usage: sloglab %s %s [OPTION]...\n%s\n\n", self->name, self->args, self->summary);
		sl_options_print(options, stdout);
		return 1;
	}
	return rc;
}

static int advise_check(struct advise *a, struct sl_err *err)
{
	if (a->operands.n != 1) {
		return sl_err_set(err, -EINVAL, "advise: %s; usage: sloglab advise SCENARIO [OPTION]...",
				  a->operands.n ? "more than one scenario" : "scenario missing");
	}
	if ((a->json && sl_out_check(a->json, err) < 0) || (a->html && sl_out_check(a->html, err) < 0)) {
		return err->code;
	}
	if (a->json && a->html && sl_out_is_stdout(a->json) && sl_out_is_stdout(a->html)) {
		return sl_err_set(err, -EINVAL, "only one of --json and --html can go to stdout");
	}
	return 0;
}

static int drives_list(struct advise *a, const char *list, struct sl_err *err)
{
	int rc = 0;

	while (rc == 0 && *list) {
		size_t length = strcspn(list, ",");

		if (length == 3 && strncmp(list, "all", 3) == 0) {
			rc = sl_drives_all(&a->drives, &a->session.paths, a->operands.word[0], err);
		} else if (length > 0) {
			a->named = true;
			rc = sl_drives_add(&a->drives, list, length, err);
		}
		list += length;
		list += *list == ',';
	}
	return rc;
}

static int drives_find(struct advise *a, struct sl_err *err)
{
	int rc =
	    a->catalogue.n == 0 ? sl_drives_all(&a->drives, &a->session.paths, a->operands.word[0], err) : 0;

	for (int i = 0; rc == 0 && i < a->catalogue.n; i++) {
		rc = drives_list(a, a->catalogue.word[i], err);
	}
	return rc;
}

static int advise_prepare(struct advise *a, struct sl_err *err)
{
	int rc = sl_session_open(&a->session, a->operands.word[0], &a->set, err);

	if (rc == 0) {
		rc = sl_session_open(&a->shelf, a->operands.word[0], NULL, err);
	}
	if (rc == 0) {
		rc = sl_session_variants(&a->session, "variant", &a->variant, &a->variants, err);
	}
	if (rc == 0 && a->variants.n > 1) {
		rc = sl_err_set(err, -EINVAL, "--variant: one variant only: the box as it is");
	}
	if (rc == 0) {
		rc = sl_session_workloads(&a->session, "workload", &a->workload, &a->workloads, err);
	}
	return rc == 0 ? drives_find(a, err) : rc;
}

/* Is ROW of --show-arithmetic in any table? */
static int arithmetic_check(const struct advise *a, struct sl_err *err)
{
	for (int i = 0; a->arithmetic && i < a->advice.n_tables; i++) {
		if (sl_advice_find(&a->advice, &a->advice.tables[i], a->arithmetic) >= 0) {
			return 0;
		}
	}
	return a->arithmetic && a->advice.n_tables > 0
		   ? sl_err_set(err, -ENOENT,
				"--show-arithmetic: \"%.60s\" is neither a rank nor the name of a row",
				a->arithmetic)
		   : 0;
}

static int advise_print(const struct advise *a, struct sl_advise_report *report, struct sl_err *err)
{
	bool to_stderr = (a->json && sl_out_is_stdout(a->json)) || (a->html && sl_out_is_stdout(a->html));
	FILE *out = to_stderr ? stderr : stdout;
	int rc = sl_report_advise_text(report, out, err);

	if (rc == 0 && a->arithmetic) {
		sl_report_advise_arithmetic(report, a->arithmetic, out);
		rc = arithmetic_check(a, err);
	}
	return rc;
}

/* A --set that rows contradict: it is meant for the box as it is, and the rows that change the key go on. */
static void advise_explain_sets(const struct advise *a)
{
	for (int i = 0; i < a->set.n; i++) {
		const char *word = a->set.word[i], *what;
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)strcspn(word, "="), word);
		what = sl_advice_changes(key);
		if (what) {
			fprintf(stderr,
				"--set %s: that is the box as it is; rows that try %s change it again\n",
				word, what);
		}
	}
}

static int advise_run(struct advise *a, struct sl_err *err)
{
	struct sl_progress progress;
	struct sl_advise_options options = {
	    .base_variant = a->variants.n ? a->variants.index[0] : 0,
	    .workloads = a->workloads.index,
	    .n_workloads = a->workloads.n,
	    .drives = a->drives.list,
	    .n_drives = a->drives.n,
	    .named = a->named,
	    .budget_usd = (double)a->budget,
	    .repeat = (int)a->repeat,
	    .years = (double)a->years,
	    .mirrored = a->mirrored,
	    .seed = a->seed,
	    .progress = sl_progress_step,
	    .progress_arg = &progress,
	    .stopped = sl_signals_stopped,
	};
	int rc;

	sl_progress_start(&progress, stderr, "runs");
	rc = sl_advise_run(a->session.sc, a->shelf.sc, &options, &a->advice, err);
	sl_progress_end(&progress);
	advise_explain_sets(a);
	for (int i = 0; i < a->advice.n_notes; i++) {
		fprintf(stderr, "%s\n", a->advice.notes[i]);
	}
	return rc;
}

static int advise_do(struct advise *a, struct sl_err *err)
{
	struct sl_advise_report report = {.advice = &a->advice, .rows_max = (int)a->rows};
	int rc = advise_run(a, err);

	if (rc < 0) {
		return rc == -EINVAL ? SL_EXIT_USAGE : SL_EXIT_FAILED;
	}
	if (advise_print(a, &report, err) < 0) {
		return SL_EXIT_FAILED;
	}
	if (a->advice.stopped) {
		sl_err_set(err, -EINTR,
			   "interrupted: only complete tables stand above, no files were written");
		return SL_EXIT_INTERRUPTED;
	}
	if (a->advice.n_tables == 0) {
		sl_err_set(err, -EINVAL, "advise: nothing could be compared; the lines above say why");
		return SL_EXIT_FAILED;
	}
	if ((a->json && sl_out_write(a->json, sl_report_advise_json, &report, err) < 0) ||
	    (a->html && sl_out_write(a->html, sl_report_advise_html, &report, err) < 0)) {
		return SL_EXIT_FAILED;
	}
	return SL_EXIT_OK;
}

int sl_cmd_advise(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct advise a = {0};
	int code = SL_EXIT_USAGE;
	int rc = advise_parse(&a, self, argc, argv, err);

	if (rc > 0) {
		return SL_EXIT_OK;
	}
	if (rc == 0 && advise_check(&a, err) == 0 && advise_prepare(&a, err) == 0) {
		code = advise_do(&a, err);
	}
	sl_advice_fini(&a.advice);
	free(a.variants.index);
	free(a.workloads.index);
	sl_session_close(&a.shelf);
	sl_session_close(&a.session);
	return code;
}
