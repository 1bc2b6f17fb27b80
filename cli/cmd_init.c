#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/init_scenario.h"
#include "cli/out.h"
#include "cli/paths.h"
#include "cli/signals.h"
#include "sim/base/options.h"
#include "sim/base/outfile.h"
#include "sim/base/suggest.h"
#include "sim/scenario/scenario.h"

#define OUTPUT_DEFAULT "my-box.yaml"
#define TRIES_MAX 5
#define WORDS_MAX 8

enum answer_kind {
	ANSWER_WORD,   /* one of `words` */
	ANSWER_NUMBER, /* whole, from min to max */
	ANSWER_DISKS,  /* "NAME x COUNT, NAME" */
	ANSWER_DRIVE   /* "NAME" or "none" */
};

struct question {
	const char *flag;
	const char *text;
	enum answer_kind kind;
	const char *words; /* "a|b|c" */
	uint64_t min, max;
	size_t at; /* of the answer in struct sl_init */
};

#define AT(field) offsetof(struct sl_init, field)

enum {
	Q_HYPERVISOR,
	Q_NAS_VCPUS,
	Q_DISKS,
	Q_LAYOUT,
	Q_FLUSH,
	Q_SLOG,
	Q_GUEST_VCPUS,
	Q_THREADS,
	Q_ROWS,
	N_QUESTIONS
};

static const struct question questions[N_QUESTIONS] = {
    [Q_HYPERVISOR] = {"hypervisor", "Hypervisor", ANSWER_WORD, "esxi|qemu|proxmox", 0, 0, AT(hypervisor)},
    [Q_NAS_VCPUS] = {"nas-vcpus", "Virtual CPUs of the storage VM", ANSWER_NUMBER, NULL, 1, 128,
		     AT(nas_vcpus)},
    [Q_DISKS] = {"disks", "Disks of the pool, NAME x COUNT", ANSWER_DISKS, NULL, 0, 0, AT(disks)},
    [Q_LAYOUT] = {"layout", "Layout of the pool", ANSWER_WORD, "stripe|mirror|raidz1|raidz2|raidz3", 0, 0,
		  AT(layout)},
    [Q_FLUSH] = {"flush", "Does a cache flush reach the disks (virtual disks on a datastore may ignore it)",
		 ANSWER_WORD, "honoured|ignored", 0, 0, AT(flush)},
    [Q_SLOG] = {"slog", "SLOG to compare with having none: a drive of the catalogue, or none", ANSWER_DRIVE,
		NULL, 0, 0, AT(slog)},
    [Q_GUEST_VCPUS] = {"guest-vcpus", "Virtual CPUs of the database VM", ANSWER_NUMBER, NULL, 1, 128,
		       AT(guest_vcpus)},
    [Q_THREADS] = {"threads", "Threads that commit at the same time", ANSWER_NUMBER, NULL, 1, 1024,
		   AT(threads)},
    [Q_ROWS] = {"rows", "Rows of the table", ANSWER_NUMBER, NULL, 1, 1000000000, AT(rows)},
};

struct init {
	struct sl_words operands;
	struct sl_init answers;
	const char *given[N_QUESTIONS]; /* flags; NULL = ask */
	const char *output;
	bool yes, force;
	struct sl_paths paths;
	char line[2 * SL_INIT_ANSWER_MAX]; /* the latest one read */
};

static char *answer_of(struct sl_init *answers, const struct question *q)
{
	return (char *)answers + q->at;
}

static int init_parse(struct init *in, const struct sl_command *self, int argc, char **argv,
		      struct sl_err *err)
{
	struct sl_option options[N_QUESTIONS + 4] = {0};
	bool help;
	int n = 0, rc;

	for (; n < N_QUESTIONS; n++) {
		options[n] = (struct sl_option){
		    questions[n].flag, "ANSWER", questions[n].text, SL_OPT_TEXT, &in->given[n], 0, 0};
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

/* Before anything is asked: nobody answers nine questions for an error. */
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

static int check_word(const struct question *q, const char *text, struct sl_err *err)
{
	char copy[128], list[128] = "";
	const char *words[WORDS_MAX], *near;
	char *rest = copy, *word;
	int n = 0;

	snprintf(copy, sizeof(copy), "%s", q->words);
	while ((word = strsep(&rest, "|")) != NULL && n < WORDS_MAX) {
		size_t used = strlen(list);

		if (strcmp(word, text) == 0) {
			return 0;
		}
		snprintf(list + used, sizeof(list) - used, "%s%s", n ? ", " : "", word);
		words[n++] = word;
	}
	near = sl_suggest(text, words, n);
	return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" is none of %s%s%s%s", q->flag, text, list,
			  near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int check_number(const struct question *q, const char *text, struct sl_err *err)
{
	char *end = NULL;
	unsigned long long value = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;

	if (!end || *end != '\0' || strlen(text) > 12 || value < q->min || value > q->max) {
		return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" is not a whole number from %llu to %llu",
				  q->flag, text, (unsigned long long)q->min, (unsigned long long)q->max);
	}
	return 0;
}

/* Nothing in a name may mean anything to YAML; whether the catalogue has it, loading the result tells. */
static int check_names(const struct question *q, const char *text, struct sl_err *err)
{
	const char *allowed = q->kind == ANSWER_DISKS ? "abcdefghijklmnopqrstuvwxyz0123456789.-, "
						      : "abcdefghijklmnopqrstuvwxyz0123456789.-";

	if (text[0] == '\0' || text[strspn(text, allowed)] != '\0') {
		return sl_err_set(err, -EINVAL, "--%s: \"%.40s\" is no %s of the catalogue; write %s",
				  q->flag, text, q->kind == ANSWER_DISKS ? "list of disks" : "drive",
				  q->kind == ANSWER_DISKS ? "NAME x COUNT" : "its name, or none");
	}
	return 0;
}

/* Checks and stores an answer. */
static int answer_take(struct init *in, const struct question *q, const char *text, struct sl_err *err)
{
	int rc = 0;

	if (strlen(text) >= SL_INIT_ANSWER_MAX) {
		return sl_err_set(err, -EINVAL, "--%s: longer than %d bytes", q->flag,
				  SL_INIT_ANSWER_MAX - 1);
	}
	switch (q->kind) {
	case ANSWER_WORD:
		rc = check_word(q, text, err);
		break;
	case ANSWER_NUMBER:
		rc = check_number(q, text, err);
		break;
	case ANSWER_DISKS:
	case ANSWER_DRIVE:
		rc = check_names(q, text, err);
		break;
	}
	if (rc == 0) {
		snprintf(answer_of(&in->answers, q), SL_INIT_ANSWER_MAX, "%s", text);
	}
	return rc;
}

/* One line without blanks around it into *ret; it lives until the next one. -EINTR after Ctrl-C, -EPIPE at
 * the end of the input. What is beyond any answer's length is dropped. */
static int read_line(struct init *in, char **ret)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char *text = in->line, byte = 0;
	size_t n = 0;
	bool any = false;

	while (byte != '\n') {
		if (sl_signals_poll(&input, 1) == -EINTR) {
			return -EINTR;
		}
		if (read(STDIN_FILENO, &byte, 1) <= 0) {
			break;
		}
		any = true;
		if (n < sizeof(in->line) - 1) {
			text[n++] = byte;
		}
	}
	if (!any) {
		return -EPIPE;
	}
	text[n] = '\0';
	while (n > 0 && isspace((unsigned char)text[n - 1])) {
		text[--n] = '\0';
	}
	*ret = text + strspn(text, " \t");
	return 0;
}

static void prompt(struct init *in, const struct question *q)
{
	fprintf(stderr, "%s%s%s%s [%s]: ", q->text, q->words ? " (" : "", q->words ? q->words : "",
		q->words ? ")" : "", answer_of(&in->answers, q));
}

/* One answer; an empty one takes the default. -EINVAL: a wrong one. */
static int ask_once(struct init *in, int number, struct sl_err *err)
{
	const struct question *q = &questions[number];
	char *text = NULL;
	int rc = read_line(in, &text);

	if (rc == -EINTR) {
		return sl_err_set(err, rc, "interrupted: nothing was written");
	}
	if (rc < 0 || !text) {
		return sl_err_set(err, -EPIPE,
				  "init: the input ended at question %d of %d (--%s); nothing was written; "
				  "--yes takes the defaults",
				  number + 1, N_QUESTIONS, q->flag);
	}
	return text[0] ? answer_take(in, q, text, err) : 0;
}

/* On a terminal a wrong answer is asked again. */
static int ask(struct init *in, int number, struct sl_err *err)
{
	bool terminal = isatty(STDIN_FILENO);
	int rc = -EINVAL;

	for (int tries = 1; rc == -EINVAL && tries <= TRIES_MAX; tries++) {
		if (terminal) {
			prompt(in, &questions[number]);
		}
		rc = ask_once(in, number, err);
		if (rc != -EINVAL || !terminal || tries == TRIES_MAX) {
			return rc;
		}
		fprintf(stderr, "%s\n", err->msg);
		*err = (struct sl_err){0};
	}
	return rc;
}

static int ask_all(struct init *in, struct sl_err *err)
{
	int rc = 0;

	sl_init_defaults(&in->answers);
	for (int i = 0; rc == 0 && i < N_QUESTIONS; i++) {
		rc = in->given[i] ? answer_take(in, &questions[i], in->given[i], err) : 0;
	}
	if (rc == 0 && !in->given[Q_LAYOUT]) {
		sl_init_layout(&in->answers);
	}
	for (int i = 0; rc == 0 && !in->yes && i < N_QUESTIONS; i++) {
		rc = in->given[i] ? 0 : ask(in, i, err);
		if (rc == 0 && i == Q_DISKS && !in->given[Q_LAYOUT]) {
			sl_init_layout(&in->answers);
		}
	}
	return rc;
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

/* Writes the scenario beside its place, loads it, and puts it there when that worked. */
static int write_checked(struct init *in, struct sl_err *err)
{
	struct sl_outfile file;
	struct sl_scenario *sc = NULL;
	int rc = sl_outfile_open(&file, in->output, err);

	if (rc < 0) {
		return rc;
	}
	sl_init_render(&in->answers, file.file);
	if (fflush(file.file) != 0 || !file.tmp) {
		rc = sl_err_set(err, -EIO, "%s: cannot write: %s", in->output, strerror(errno));
	}
	if (rc == 0) {
		rc = sl_scenario_load(file.tmp, in->paths.data, &sc, err);
		rename_in_message(err, file.tmp, in->output);
	}
	sl_scenario_free(sc);
	if (rc < 0) {
		sl_outfile_discard(&file);
		return rc;
	}
	return sl_outfile_commit(&file, err);
}

int sl_cmd_init(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct init in = {0};
	int rc = init_parse(&in, self, argc, argv, err);

	if (rc > 0) {
		return SL_EXIT_OK;
	}
	rc = rc == 0 ? output_check(&in, err) : rc;
	rc = rc == 0 ? sl_paths_find(&in.paths, err) : rc;
	rc = rc == 0 ? ask_all(&in, err) : rc;
	/* Somebody may have made it while the questions were answered. */
	rc = rc == 0 ? output_check(&in, err) : rc;
	rc = rc == 0 ? write_checked(&in, err) : rc;
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
