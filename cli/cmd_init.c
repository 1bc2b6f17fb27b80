#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/init_answers.h"
#include "cli/init_names.h"
#include "sim/base/options.h"
#include "sim/base/out.h"
#include "sim/base/outfile.h"
#include "sim/base/signals.h"
#include "sim/scenario/paths.h"
#include "sim/scenario/scenario.h"

#define OUTPUT_DEFAULT "my-box.yaml"
#define PROMPT_MAX 512
#define COLUMNS 100
/* Two network cards and a switch, both ways; scenarios/separate-nas-10gbe.yaml has the source. */
#define WIRE_NS INT64_C(50000)

struct init {
	struct sl_words operands;
	struct sl_init answers;
	const char *given[SL_INIT_N]; /* flags; NULL = ask */
	const char *output;
	bool yes, force;
	struct sl_paths paths;
	struct sl_init_names *names; /* owned */
	struct sl_ask *ask;          /* owned */
};

static int init_parse(struct init *in, const struct sl_command *self, int argc, char **argv,
		      struct sl_err *err)
{
	struct sl_option options[SL_INIT_N + 4] = {0};
	bool help;
	int n = 0, rc;

	for (; n < SL_INIT_N; n++) {
		const struct sl_init_question *q = sl_init_question((enum sl_init_at)n);

		options[n] = (struct sl_option){q->flag, q->arg, q->text, SL_OPT_TEXT, &in->given[n], 0, 0};
	}
	options[n++] = (struct sl_option){
	    "output", "FILE", "the scenario to write (default " OUTPUT_DEFAULT ")", SL_OPT_TEXT, &in->output,
	    0,        0};
	options[n++] = (struct sl_option){
	    "yes", NULL, "ask nothing: defaults for what is not given", SL_OPT_FLAG, &in->yes, 0, 0};
	options[n++] = (struct sl_option){"force", NULL, "overwrite FILE", SL_OPT_FLAG, &in->force, 0, 0};
	in->output = OUTPUT_DEFAULT;
	rc = sl_options_parse(options, argc, argv, &in->operands, &help, err);
	if (rc == 0 && help) {
		printf("usage: sloglab %s [OPTION]...\n%s\n\n", self->name, self->summary);
		sl_options_print(options, stdout);
		return 1;
	}
	if (rc == 0 && in->operands.n > 0) {
		rc = sl_err_set(err, -EINVAL, "init: %.60s: takes no argument; --output names the file",
				in->operands.word[0]);
	}
	return rc;
}

/* Before anything is asked: nobody answers questions for an error. */
static int output_check(const struct init *in, struct sl_err *err)
{
	struct stat st;

	if (sl_out_is_stdout(in->output)) {
		return sl_err_set(err, -EINVAL, "--output: name a file: it is loaded to check it");
	}
	if (sl_out_check(in->output, err) < 0) {
		return err->code;
	}
	if (stat(in->output, &st) < 0) {
		return 0;
	}
	if (!S_ISREG(st.st_mode)) {
		return sl_err_set(err, -EINVAL, "%s: is not a regular file; name another", in->output);
	}
	return in->force ? 0
			 : sl_err_set(err, -EEXIST, "%s: exists; name another with --output, or use --force",
				      in->output);
}

/* The name under which the file is loaded to check it means nothing to the user. */
static void rename_in_message(struct sl_err *err, const char *tmp, const char *path)
{
	size_t length = tmp ? strlen(tmp) : 0;
	char rest[sizeof(err->msg)];

	if (length > 0 && strncmp(err->msg, tmp, length) == 0) {
		snprintf(rest, sizeof(rest), "%s", err->msg + length);
		snprintf(err->msg, sizeof(err->msg), "%.120s%.380s", path, rest);
	}
}

/* Writes the scenario into the open file, over what is there. */
static int render(const struct init *in, struct sl_outfile *file, struct sl_err *err)
{
	rewind(file->file);
	sl_init_render(&in->answers, file->file);
	if (fflush(file->file) != 0 || !file->tmp || ftruncate(fileno(file->file), ftello(file->file)) < 0) {
		return sl_err_set(err, -EIO, "%s: cannot write: %s", in->output, strerror(errno));
	}
	return 0;
}

/* Renders and loads; where the storage is behind a wire, what that adds to the profile's delay of a call. */
static int render_checked(struct init *in, struct sl_outfile *file, struct sl_err *err)
{
	struct sl_scenario *sc = NULL;
	struct sl_box box;
	int rc;

	in->answers.wire_delay_ns = 0;
	rc = render(in, file, err);
	if (rc == 0) {
		rc = sl_scenario_load(file->tmp, in->paths.data, &sc, err);
		rename_in_message(err, file->tmp, in->output);
	}
	if (rc == 0 && sl_init_separate(&in->answers)) {
		rc = sl_scenario_box(sc, 0, &box, err);
		if (rc == 0) {
			in->answers.wire_delay_ns = (int64_t)box.hyp_op_delay_ns + WIRE_NS;
			rc = render(in, file, err);
		}
	}
	sl_scenario_free(sc);
	return rc;
}

/* Would the scenario load as it is now? What is wrong is said without the place in a file that is not there.
 */
static int try_answers(struct init *in, struct sl_err *err)
{
	struct sl_outfile file;
	size_t length = strlen(in->output);
	char rest[sizeof(err->msg)];
	int rc = sl_outfile_open(&file, in->output, err);

	if (rc < 0) {
		return rc;
	}
	rc = render_checked(in, &file, err);
	sl_outfile_discard(&file);
	if (rc < 0 && strncmp(err->msg, in->output, length) == 0) {
		size_t place = length + strspn(err->msg + length, ":0123456789");

		snprintf(rest, sizeof(rest), "%s", err->msg + place + strspn(err->msg + place, " "));
		snprintf(err->msg, sizeof(err->msg), "%s", rest);
	}
	return rc;
}

/* The answers so far as the command that goes on from there: no answer is lost. */
static void answers_print(const struct init *in)
{
	fputs("To go on from here:\n  sloglab init", stderr);
	for (int i = 0; i < SL_INIT_N; i++) {
		if (in->answers.known[i]) {
			bool plain = !strpbrk(in->answers.answer[i], " ,");

			fprintf(stderr, " --%s %s%s%s", sl_init_question((enum sl_init_at)i)->flag,
				plain ? "" : "'", in->answers.answer[i], plain ? "" : "'");
		}
	}
	if (strcmp(in->output, OUTPUT_DEFAULT) != 0) {
		fprintf(stderr, " --output %s", in->output);
	}
	fputc('\n', stderr);
}

/* What "?" shows: a sentence, and the names where there are some. */
static void help_print(const struct init *in, enum sl_init_at at)
{
	const char *const *choice;
	int n = sl_init_choices(at, in->names, &choice);
	int wide = 1;

	fprintf(stderr, "  %s\n", sl_init_question(at)->help);
	for (int i = 0; i < n; i++) {
		int length = (int)strlen(choice[i]) + 2;

		wide = length > wide ? length : wide;
	}
	for (int i = 0; i < n; i++) {
		bool last = i + 1 == n || (i + 1) % (COLUMNS / wide > 0 ? COLUMNS / wide : 1) == 0;

		fprintf(stderr, "%s%-*s%s", i % (COLUMNS / wide) == 0 ? "  " : "", last ? 0 : wide, choice[i],
			last ? "\n" : "");
	}
}

/* Takes an answer, if the whole would load with it. */
static int answer_try(struct init *in, enum sl_init_at at, const char *text, char *suggestion,
		      struct sl_err *err)
{
	struct sl_init before = in->answers;
	int rc = sl_init_take(&in->answers, at, text, in->names, suggestion, err);

	if (rc == 0) {
		sl_init_settle(&in->answers);
		rc = try_answers(in, err);
	}
	if (rc < 0) {
		in->answers = before;
	}
	return rc;
}

/* One answer; an empty one takes what stands in brackets. -EINVAL: a wrong one. `offer` is that text. */
static int ask_once(struct init *in, enum sl_init_at at, char *offer, struct sl_err *err)
{
	const struct sl_init_question *q = sl_init_question(at);
	char prompt[PROMPT_MAX], text[2 * SL_INIT_ANSWER_MAX], suggestion[SL_INIT_ANSWER_MAX];
	struct sl_ask_words words;
	int rc;

	words.n = sl_init_choices(at, in->names, &words.word);
	snprintf(prompt, sizeof(prompt), "%s%s%s%s [%s]: ", q->text, q->kind == SL_INIT_WORD ? " (" : "",
		 q->kind == SL_INIT_WORD ? q->arg : "", q->kind == SL_INIT_WORD ? ")" : "", offer);
	rc = sl_ask_line(in->ask, prompt, &words, text, sizeof(text));
	if (rc == -EINTR) {
		return sl_err_set(err, rc, "interrupted: nothing was written");
	}
	if (rc < 0) {
		return sl_err_set(
		    err, -EPIPE,
		    "init: the input ended at --%s; nothing was written; --yes takes the defaults", q->flag);
	}
	if (strcmp(text, "?") == 0 && sl_ask_terminal(in->ask)) {
		help_print(in, at);
		return -EAGAIN;
	}
	rc = answer_try(in, at, text[0] ? text : offer, suggestion, err);
	if (rc == -EINVAL && suggestion[0] != '\0') {
		snprintf(offer, SL_INIT_ANSWER_MAX, "%s", suggestion);
	}
	if (rc == 0 && text[0] && strcmp(text, in->answers.answer[at]) != 0 && sl_ask_terminal(in->ask)) {
		fprintf(stderr, "  = %s\n", in->answers.answer[at]);
	}
	return rc;
}

/* On a terminal a wrong answer is asked again, however often. */
static int ask(struct init *in, enum sl_init_at at, struct sl_err *err)
{
	char offer[SL_INIT_ANSWER_MAX];
	int rc;

	snprintf(offer, sizeof(offer), "%s", in->answers.answer[at]);
	do {
		rc = ask_once(in, at, offer, err);
		if (rc == -EINVAL && sl_ask_terminal(in->ask)) {
			fprintf(stderr, "  %s\n", err->msg);
			*err = (struct sl_err){0};
			rc = -EAGAIN;
		}
	} while (rc == -EAGAIN);
	return rc;
}

/* What the flags say, and whether it goes together. */
static int take_given(struct init *in, struct sl_err *err)
{
	char suggestion[SL_INIT_ANSWER_MAX];
	int rc = 0;

	for (int i = 0; rc == 0 && i < SL_INIT_N; i++) {
		rc = in->given[i] ? sl_init_take(&in->answers, (enum sl_init_at)i, in->given[i], in->names,
						 suggestion, err)
				  : 0;
	}
	if (rc == 0) {
		sl_init_settle(&in->answers);
		rc = try_answers(in, err);
	}
	return rc;
}

static int ask_all(struct init *in, struct sl_err *err)
{
	int rc = sl_ask_new(&in->ask, err);

	if (rc == 0 && sl_ask_terminal(in->ask)) {
		fputs("? explains a question, Tab completes names, Enter takes what stands in brackets.\n",
		      stderr);
	}
	for (int i = 0; rc == 0 && i < SL_INIT_N; i++) {
		enum sl_init_at at = (enum sl_init_at)i;

		rc = in->answers.known[at] || !sl_init_asked(&in->answers, at) ? 0 : ask(in, at, err);
	}
	return rc;
}

static int answer_all(struct init *in, struct sl_err *err)
{
	int rc = sl_init_names_load(in->paths.data, &in->names, err);

	sl_init_defaults(&in->answers);
	rc = rc == 0 ? take_given(in, err) : rc;
	return rc == 0 && !in->yes ? ask_all(in, err) : rc;
}

/* Writes the scenario beside its place, loads it, and puts it there when that worked. */
static int write_checked(struct init *in, struct sl_err *err)
{
	struct sl_outfile file;
	int rc = sl_outfile_open(&file, in->output, err);

	if (rc < 0) {
		return rc;
	}
	rc = render_checked(in, &file, err);
	if (rc < 0) {
		sl_outfile_discard(&file);
		return rc;
	}
	return sl_outfile_commit(&file, err);
}

static int init_run(struct init *in, struct sl_err *err)
{
	int rc = output_check(in, err);

	rc = rc == 0 ? sl_paths_find(&in->paths, err) : rc;
	rc = rc == 0 ? answer_all(in, err) : rc;
	/* Somebody may have made it while the questions were answered. */
	rc = rc == 0 ? output_check(in, err) : rc;
	rc = rc == 0 ? write_checked(in, err) : rc;
	if (rc < 0 && in->ask && sl_ask_terminal(in->ask)) {
		answers_print(in);
	}
	sl_ask_free(in->ask);
	sl_init_names_free(in->names);
	return rc;
}

int sl_cmd_init(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct init in = {0};
	int rc = init_parse(&in, self, argc, argv, err);

	if (rc > 0) {
		return SL_EXIT_OK;
	}
	rc = rc == 0 ? init_run(&in, err) : rc;
	if (rc == -EINTR) {
		return SL_EXIT_INTERRUPTED;
	}
	if (rc < 0) {
		return SL_EXIT_USAGE;
	}
	printf("%s: written. Next:\n  sloglab run %s\n  sloglab advise %s\n", in.output, in.output,
	       in.output);
	return SL_EXIT_OK;
}
