#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "cli/options.h"
#include "cli/suggest.h"

struct target {
	bool flag;
	const char *text;
	uint64_t number;
	struct sl_words words;
	struct sl_words operands;
	bool help;
	struct sl_err err;
};

#define WORDS_OF_CASE 6

static int parse(struct target *t, const char *const words[WORDS_OF_CASE])
{
	const struct sl_option options[] = {{"variant", "A", "", SL_OPT_WORDS, &t->words, 0, 0},
					    {"verbose", NULL, "", SL_OPT_FLAG, &t->flag, 0, 0},
					    {"json", "FILE", "", SL_OPT_TEXT, &t->text, 0, 0},
					    {"repeat", "N", "", SL_OPT_NUMBER, &t->number, 1, 64},
					    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	char copies[WORDS_OF_CASE][64] = {{0}};
	char *argv[WORDS_OF_CASE + 2] = {copies[0]};
	int argc = 1;

	memset(t, 0, sizeof(*t));
	for (int i = 0; i < WORDS_OF_CASE && words[i]; i++) {
		/* The parser keeps pointers: give it the literal, which outlives this call. */
		argv[argc++] = strdup(words[i]);
	}
	int rc = sl_options_parse(options, argc, argv, &t->operands, &t->help, &t->err);

	for (int i = 1; i < argc; i++) {
		bool kept = t->text && t->text >= argv[i] && t->text <= argv[i] + strlen(argv[i]);

		if (kept) {
			t->text = words[i - 1] + (t->text - argv[i]);
		}
		free(argv[i]);
	}
	return rc;
}

Test(options, takes_values_in_both_forms_and_prefixes)
{
	static const struct {
		const char *words[WORDS_OF_CASE];
		const char *text;
		uint64_t number;
		int n_words, n_operands;
		bool flag, help;
	} cases[] = {
	    {{"s", "--json", "f"}, "f", 0, 0, 1, false, false},
	    {{"--json=f", "s"}, "f", 0, 0, 1, false, false},
	    {{"--js=f"}, "f", 0, 0, 0, false, false},
	    {{"--json=-"}, "-", 0, 0, 0, false, false},
	    {{"--json", "-"}, "-", 0, 0, 0, false, false},
	    {{"--repeat", "64", "--verb"}, NULL, 64, 0, 0, true, false},
	    {{"--variant=a,b", "--variant", "c"}, NULL, 0, 2, 0, false, false},
	    {{"--", "--json"}, NULL, 0, 0, 1, false, false},
	    {{"-"}, NULL, 0, 0, 1, false, false},
	    {{"s", "--help", "--nonsense"}, NULL, 0, 0, 1, false, true},
	    {{"-h"}, NULL, 0, 0, 0, false, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target t;

		cr_assert_eq(parse(&t, cases[i].words), 0, "case %zu: %s", i, t.err.msg);
		cr_assert_eq(t.text == NULL, cases[i].text == NULL, "case %zu", i);
		if (t.text) {
			cr_assert_str_eq(t.text, cases[i].text, "case %zu", i);
		}
		cr_assert_eq(t.number, cases[i].number, "case %zu", i);
		cr_assert_eq(t.words.n, cases[i].n_words, "case %zu", i);
		cr_assert_eq(t.operands.n, cases[i].n_operands, "case %zu", i);
		cr_assert_eq(t.flag, cases[i].flag, "case %zu", i);
		cr_assert_eq(t.help, cases[i].help, "case %zu", i);
	}
}

Test(options, says_what_is_wrong_and_what_would_be_right)
{
	static const struct {
		const char *words[WORDS_OF_CASE];
		const char *message;
	} cases[] = {
	    {{"--jsn=f"}, "--jsn: unknown option; did you mean --json?"},
	    {{"--hepl"}, "--hepl: unknown option; did you mean --help?"},
	    {{"--xyzzy"}, "--xyzzy: unknown option; see --help"},
	    {{"--v"}, "--v: ambiguous option; write it out, see --help"},
	    {{"--json"}, "--json: value missing; give --json FILE"},
	    {{"--json="}, "--json: empty value; give FILE"},
	    {{"--verbose=1"}, "--verbose: takes no value"},
	    {{"-x"}, "-x: unknown option; options are written --name, see --help"},
	    {{"--repeat=0"}, "--repeat: \"0\" is not a whole number from 1 to 64"},
	    {{"--repeat=65"}, "--repeat: \"65\" is not a whole number from 1 to 64"},
	    {{"--repeat=4x"}, "--repeat: \"4x\" is not a whole number from 1 to 64"},
	    {{"--repeat=-1"}, "--repeat: \"-1\" is not a whole number from 1 to 64"},
	    {{"--repeat= 1"}, "--repeat: \" 1\" is not a whole number from 1 to 64"},
	    {{"--repeat=99999999999999999999999"},
	     "--repeat: \"99999999999999999999999\" is not a whole number from 1 to 64"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target t;

		cr_assert_eq(parse(&t, cases[i].words), -EINVAL, "case %zu", i);
		cr_assert_str_eq(t.err.msg, cases[i].message);
	}
}

Test(suggest, finds_the_near_word_only)
{
	static const char *const words[] = {"run", "fit", "doctor", "help", "s3700-enc-off"};
	static const struct {
		const char *typed, *near;
	} cases[] = {
	    {"rnu", "run"},      {"fitt", "fit"}, {"docter", "doctor"}, {"s3700-enc-of", "s3700-enc-off"},
	    {"explain", NULL},   {"xyz", NULL},   {"", NULL},           {"hepl", "help"},
	    {"dcotro", "doctor"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *near = sl_suggest(cases[i].typed, words, 5);

		cr_assert_eq(near == NULL, cases[i].near == NULL, "%s -> %s", cases[i].typed,
			     near ? near : "nothing");
		if (near) {
			cr_assert_str_eq(near, cases[i].near);
		}
	}
}

Test(suggest, survives_long_words)
{
	char typed[5000];
	const char *words[2] = {"run", typed};

	memset(typed, 'r', sizeof(typed) - 1);
	typed[sizeof(typed) - 1] = '\0';
	cr_assert_null(sl_suggest(typed, words, 2));
	cr_assert_str_eq(sl_suggest("rum", words, 2), "run");
}
