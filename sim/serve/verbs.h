/* The commands of a control socket: a table of verbs, and a line split into words for one of them. */
#ifndef SL_SERVE_VERBS_H
#define SL_SERVE_VERBS_H

#include <stddef.h>

#include "sim/base/err.h"

#define SL_VERB_WORDS_MAX 6

struct sl_verb_call {
	int n;
	const char *word[SL_VERB_WORDS_MAX]; /* the verb itself is the first */
	char *reply;                         /* lines of answer; "" before */
	size_t size;                         /* room for them */
	struct sl_err *err;
};

struct sl_verb {
	const char *name, *usage;
	int least, most; /* words */
	/* 0, or a negative errno with a message in call->err. */
	int (*run)(void *arg, const struct sl_verb_call *call);
};

/* Runs the verb that `line` begins with; `line` is cut into its words. -EINVAL names what there is. `verbs`
 * ends with a NULL name. */
int sl_verbs_run(const struct sl_verb *verbs, void *arg, char *line, char *reply, size_t size,
		 struct sl_err *err);

#endif
