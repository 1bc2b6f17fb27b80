#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "sim/base/options.h"
#include "sim/base/suggest.h"

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

Test(options, reads_units_and_choices)
{
	static const struct {
		const char *word;
		int64_t time_ns;
		uint64_t bytes;
		unsigned mode;
	} cases[] = {
	    {"--time=1.5ms", 1500000, 0, 0}, {"--time=10s", 10000000000, 0, 0},
	    {"--size=16KiB", 0, 16384, 0},   {"--size=1MiB", 0, 1048576, 0},
	    {"--mode=rd", 0, 0, 0},          {"--mode=rndwr", 0, 0, 1},
	    {"--mode=wr", 0, 0, 2},
	};
	static const char *const wrong[][2] = {
	    {"--time=5", "--time: "},
	    {"--time=11s", "--time: \"11s\" is not between 1ms and 10s"},
	    {"--time=0.9ms", "--time: \"0.9ms\" is not between 1ms and 10s"},
	    {"--size=2MiB", "--size: \"2MiB\" is not between 0B and 1MiB"},
	    {"--size=nan", "--size: "},
	    {"--mode=rnd", "--mode: \"rnd\" is none of rd|rndwr|wr"},
	    {"--mode=rd|rndwr", "--mode: \"rd|rndwr\" is none of rd|rndwr|wr"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) + sizeof(wrong) / sizeof(wrong[0]); i++) {
		size_t n = sizeof(cases) / sizeof(cases[0]);
		int64_t time_ns = 0;
		uint64_t bytes = 0;
		unsigned mode = 0;
		const struct sl_option options[] = {
		    {"time", "TIME", "", SL_OPT_TIME, &time_ns, 1000000, 10000000000},
		    {"size", "BYTES", "", SL_OPT_BYTES, &bytes, 0, 1048576},
		    {"mode", "rd|rndwr|wr", "", SL_OPT_CHOICE, &mode, 0, 0},
		    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
		char word[64], name[] = "x";
		char *argv[] = {name, word, NULL};
		struct sl_words operands;
		struct sl_err err = {0};
		bool help;

		snprintf(word, sizeof(word), "%s", i < n ? cases[i].word : wrong[i - n][0]);
		if (i < n) {
			cr_assert_eq(sl_options_parse(options, 2, argv, &operands, &help, &err), 0, "%s: %s",
				     word, err.msg);
			cr_assert_eq(time_ns, cases[i].time_ns, "%s", word);
			cr_assert_eq(bytes, cases[i].bytes, "%s", word);
			cr_assert_eq(mode, cases[i].mode, "%s", word);
		} else {
			cr_assert_eq(sl_options_parse(options, 2, argv, &operands, &help, &err), -EINVAL,
				     "%s", word);
			cr_assert(strncmp(err.msg, wrong[i - n][1], strlen(wrong[i - n][1])) == 0, "%s",
				  err.msg);
		}
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
