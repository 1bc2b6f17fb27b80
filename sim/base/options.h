/* GNU long options from a table: --name VALUE, --name=VALUE, unambiguous prefixes, `--`, operands in between.
 */
#ifndef SL_BASE_OPTIONS_H
#define SL_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/err.h"

#define SL_WORDS_MAX 64

/* Words in order of appearance; they point into argv. */
struct sl_words {
	int n;
	const char *word[SL_WORDS_MAX];
};

enum sl_option_kind {
	SL_OPT_FLAG,   /* bool */
	SL_OPT_TEXT,   /* const char * */
	SL_OPT_NUMBER, /* uint64_t, between min and max */
	SL_OPT_WORDS,  /* struct sl_words: may be repeated */
	SL_OPT_TIME,   /* int64_t in ns, written with a unit; min and max in ns */
	SL_OPT_BYTES,  /* uint64_t, written with a unit, between min and max */
	SL_OPT_CHOICE  /* unsigned: which of the words in `arg`, "one|two|three" */
};

struct sl_option {
	const char *name; /* without dashes; NULL ends the table */
	const char *arg;  /* name of the value, NULL for flags; the words of a choice */
	const char *help;
	enum sl_option_kind kind;
	void *ret; /* of the type that `kind` says */
	uint64_t min, max;
};

/*
 * Reads argv[1..] into the targets of `options`; operands go to *operands. --help sets *ret_help and stops.
 * Errors: -EINVAL, one line that names the option and what would be right.
 */
int sl_options_parse(const struct sl_option *options, int argc, char **argv, struct sl_words *operands,
		     bool *ret_help, struct sl_err *err);

/* One line per option, then --help. */
void sl_options_print(const struct sl_option *options, FILE *out);

#endif
