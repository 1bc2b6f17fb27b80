/* A line of a control socket: one verb of a table with its words, or what would have been right. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/serve/verbs.h"

static int count_words(void *arg, const struct sl_verb_call *call)
{
	*(int *)arg = call->n;
	(void)snprintf(call->reply, call->size, "%s", call->word[call->n - 1]);
	return 0;
}

static const struct sl_verb three[] = {{"stall", "stall SECONDS", 2, 2, count_words},
				       {"cut", "cut", 1, 1, count_words},
				       {"say", "say WORD...", 2, 6, count_words},
				       {0}};

struct said {
	int rc, words; /* words: 0, nothing was run */
	char reply[64];
	struct sl_err err;
};

static struct said say(const char *text)
{
	struct said said = {0};
	char line[128];

	(void)snprintf(line, sizeof(line), "%s", text);
	said.rc = sl_verbs_run(three, &said.words, line, said.reply, sizeof(said.reply), &said.err);
	return said;
}

Test(verbs, the_verb_runs_with_its_words)
{
	struct said said = say(" stall\t5 \r");

	cr_assert_eq(said.rc, 0, "%s", said.err.msg);
	cr_assert_eq(said.words, 2);
	cr_assert_str_eq(said.reply, "5");
	cr_assert_eq(say("cut").words, 1);
	cr_assert_eq(say("say 2 3 4 5 6").words, 6);
}

Test(verbs, an_unknown_one_is_told_which_there_are)
{
	cr_assert_eq(say("stal 5").rc, -EINVAL);
	cr_assert_str_eq(say("stal 5").err.msg, "unknown command; say stall, cut or say");
	cr_assert_str_eq(say("").err.msg, "unknown command; say stall, cut or say");
	cr_assert_eq(say("").words, 0);
}

Test(verbs, a_word_too_few_or_too_many_is_told_the_usage)
{
	cr_assert_str_eq(say("stall").err.msg, "usage: stall SECONDS");
	cr_assert_str_eq(say("stall 5 6").err.msg, "usage: stall SECONDS");
	cr_assert_str_eq(say("cut now").err.msg, "usage: cut");
	cr_assert_str_eq(say("say 2 3 4 5 6 7").err.msg, "too many words");
	cr_assert_eq(say("say 2 3 4 5 6 7").words, 0);
}
