/* One line of an answer from the user: on a terminal with editing and completion by Tab, else as it comes. */
#ifndef SL_CLI_ASK_H
#define SL_CLI_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/err.h"

struct sl_ask;

/* The names that Tab completes; they must live as long as the question. */
struct sl_ask_words {
	const char *const *word;
	int n;
};

/* -ENOMEM. Free with sl_ask_free, which gives the terminal back as it was. */
int sl_ask_new(struct sl_ask **ret, struct sl_err *err);
void sl_ask_free(struct sl_ask *ask);

/* Is there somebody to whom a question can be put again? */
bool sl_ask_terminal(const struct sl_ask *ask);

/*
 * One line without blanks around it into buf; what does not fit is dropped. On a terminal `prompt` is shown
 * before it, and Tab completes `words`. -EINTR after Ctrl-C, -EPIPE at the end of the input.
 */
int sl_ask_line(struct sl_ask *ask, const char *prompt, const struct sl_ask_words *words, char *buf,
		size_t size);

#endif
