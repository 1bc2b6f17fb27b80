#include "sim/serve/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int verb_unknown(const struct sl_verb *verbs, struct sl_err *err)
{
	char names[200] = "";
	size_t used = 0;

	for (const struct sl_verb *verb = verbs; verb->name && used < sizeof(names); verb++) {
		const char *between = verb == verbs ? "" : verb[1].name ? ", " : " or ";

		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", between, verb->name);
	}
	return sl_err_set(err, -EINVAL, "unknown command; say %s", names);
}

int sl_verbs_run(const struct sl_verb *verbs, void *arg, char *line, char *reply, size_t size,
		 struct sl_err *err)
{
	struct sl_verb_call call = {.reply = reply, .size = size, .err = err};
	char *rest = NULL;

	for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
		if (call.n == SL_VERB_WORDS_MAX) {
			return sl_err_set(err, -EINVAL, "too many words");
		}
		call.word[call.n++] = word;
	}
	for (const struct sl_verb *verb = verbs; call.n > 0 && verb->name; verb++) {
		if (strcmp(verb->name, call.word[0]) != 0) {
			continue;
		}
		if (call.n < verb->least || call.n > verb->most) {
			return sl_err_set(err, -EINVAL, "usage: %s", verb->usage);
		}
		reply[0] = '\0';
		return verb->run(arg, &call);
	}
	return verb_unknown(verbs, err);
}
