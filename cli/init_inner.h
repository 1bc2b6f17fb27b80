/* What the files of init's answers share. */
#ifndef SL_CLI_INIT_INNER_H
#define SL_CLI_INIT_INNER_H

#include <stddef.h>

#include "cli/init_answers.h"

/* The word of the question that `text` means, by its beginning or another name for it: its index, or -EINVAL
 * with a message, and in `suggestion` the word that is spelt like it. */
int sl_init_find_word(const struct sl_init_question *q, const char *text, char *suggestion,
		      struct sl_err *err);

/* Word `index` of the question into buf, which is returned. */
const char *sl_init_word(const struct sl_init_question *q, int index, char *buf, size_t size);

/* The one of n names that `text` means: its index, or -EINVAL, as above. `what`: "drive of the catalogue". */
int sl_init_find_name(const struct sl_init_question *q, const char *text, const char *const *names, int n,
		      const char *what, char *suggestion, struct sl_err *err);

/* The answers about the pool; they store what they understood, and nothing of what they did not. */
int sl_init_take_pool(struct sl_init *a, const struct sl_init_question *q, const char *text,
		      const struct sl_init_names *names, char *suggestion, struct sl_err *err);
int sl_init_take_layout(struct sl_init *a, const struct sl_init_question *q, const char *text,
			char *suggestion, struct sl_err *err);
int sl_init_take_vdevs(struct sl_init *a, const struct sl_init_question *q, const char *text,
		       char *suggestion, struct sl_err *err);
int sl_init_take_logs(struct sl_init *a, const struct sl_init_question *q, const char *text,
		      const struct sl_init_names *names, char *suggestion, struct sl_err *err);

#endif
