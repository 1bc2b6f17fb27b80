/* Questions of a scenario, and the metric a workload reports. */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/scenario/lib.h"

#define VARIANTS "variants: {a: {}, b: {}}\n"
#define ASK "questions: [{ask: Why?, workload: w, compare: [b, a]"

Test(scenario_questions, are_read_with_their_variants)
{
	struct sl_scenario *sc =
	    load_text(HEAD VARIANTS ASK
		      ", because: so, expect: [1.5, 3]}, {ask: What?, workload: f, compare: [a, b]}]\n");
	const struct sl_question *first, *second;

	cr_assert_eq(sl_scenario_questions(sc), 2);
	first = sl_scenario_question(sc, 0);
	second = sl_scenario_question(sc, 1);
	cr_assert_str_eq(first->ask, "Why?");
	cr_assert_str_eq(first->because, "so");
	cr_assert_eq(first->workload, 0);
	cr_assert_eq(first->variants[0], 1);
	cr_assert_eq(first->variants[1], 0);
	cr_assert_str_eq(second->because, "");
	cr_assert(sl_question_holds(first, 100, 150) && sl_question_holds(first, 100, 300));
	cr_assert_not(sl_question_holds(first, 100, 149));
	cr_assert_not(sl_question_holds(first, 100, 301));
	cr_assert(sl_question_holds(second, 100, 1), "a question that expects nothing");
	cr_assert_eq(second->workload, 1);
	sl_scenario_free(sc);
	sc = load_text(HEAD);
	cr_assert_eq(sl_scenario_questions(sc), 0);
	sl_scenario_free(sc);
}

Test(scenario_questions, that_are_wrong_are_named)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	    {"questions: {}\n", "t.yaml:6:12: questions: is a map; write a list"},
	    {"questions: [why]\n", "t.yaml:6:13: questions: is a value; write a map"},
	    {"questions: [{ask: Why?, workload: w}]\n", "t.yaml:6:13: questions: 'compare' is missing"},
	    {"questions: [{workload: w, compare: [a, b]}]\n", "'ask' is missing"},
	    {"questions: [{ask: Why?, compare: [a, b]}]\n", "'workload' is missing"},
	    {"questions: [{ask: Why?, workload: x}]\n", "t.yaml:6:35: workload: 'x' is not in the scenario"},
	    {"questions: [{ask: Why?, compare: [a]}]\n", "compare: write two variants"},
	    {"questions: [{ask: Why?, compare: [a, c]}]\n",
	     "t.yaml:6:38: compare: 'c' is not in the scenario"},
	    {"questions: [{asks: Why?}]\n", "t.yaml:6:14: unknown key 'asks'; a question has ask, workload"},
	    {"questions: [{ask: Why?, expect: 2}]\n", "expect: write the least and the most"},
	    {"questions: [{ask: Why?, expect: [2]}]\n", "expect: write the least and the most"},
	    {"questions: [{ask: Why?, expect: [2, 1]}]\n", "expect: the second must not be below the first"},
	    {"questions: [{ask: Why?, expect: [2, x]}]\n", "t.yaml:6:37: expect: "},
	    {"questions: [{ask: Why?, expect: [-1, 2]}]\n", "expect: "},
	    {"questions: [{ask: \"a\\nb\"}]\n", "ask: must be one line"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc = NULL;
		struct sl_err err = {0};
		char text[1024];

		(void)snprintf(text, sizeof(text), HEAD VARIANTS "%s", cases[i].text);
		cr_assert_eq(sl_scenario_load_buffer(text, strlen(text), "t.yaml", DATA_DIR, &sc, &err),
			     -EINVAL, "%zu", i);
		cr_assert_not_null(strstr(err.msg, cases[i].message), "%zu\ngot  %s\nwant %s", i, err.msg,
				   cases[i].message);
	}
}
