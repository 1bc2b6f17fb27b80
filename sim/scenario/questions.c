/* Questions that a scenario's report answers by comparing variants. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/scenario/inner.h"

#define QUESTIONS_MAX 16
#define TEXT_MAX 400
#define RATIO_MAX 1e6

static int read_text(const struct sl_reading *r, const yaml_node_t *node, const char *key, const char **ret)
{
	const char *text = sl_yaml_scalar(r->yaml, node, key, r->err);

	if (!text) {
		return -EINVAL;
	}
	if (strlen(text) > TEXT_MAX || strpbrk(text, "\n\t")) {
		return sl_yaml_fail(r->yaml, node, key, r->err,
				    "must be one line of at most %d bytes; shorten it", TEXT_MAX);
	}
	*ret = sl_arena_strdup(&r->sc->arena, text);
	return *ret ? 0 : sl_err_set(r->err, -ENOMEM, "out of memory");
}

static int read_workload(const struct sl_reading *r, const yaml_node_t *node, struct sl_question *question)
{
	const char *text = sl_yaml_scalar(r->yaml, node, "workload", r->err);

	if (!text) {
		return -EINVAL;
	}
	question->workload = sl_scenario_find_workload(r->sc, text);
	return question->workload >= 0
		   ? 0
		   : sl_yaml_fail(r->yaml, node, "workload", r->err,
				  "'%.63s' is not in the scenario; name one of workloads", text);
}

/* [VARIANT, VARIANT] */
static int read_compare(const struct sl_reading *r, const yaml_node_t *node, struct sl_question *question)
{
	if (node->type != YAML_SEQUENCE_NODE || sl_yaml_items(node) != 2) {
		return sl_yaml_fail(r->yaml, node, "compare", r->err,
				    "write two variants, such as [none, s3700]");
	}
	for (int i = 0; i < 2; i++) {
		const yaml_node_t *item = sl_yaml_item(r->yaml, node, i);
		const char *text = sl_yaml_scalar(r->yaml, item, "compare", r->err);

		if (!text) {
			return -EINVAL;
		}
		question->variants[i] = sl_scenario_find_variant(r->sc, text);
		if (question->variants[i] < 0) {
			return sl_yaml_fail(r->yaml, item, "compare", r->err,
					    "'%.63s' is not in the scenario; name one of variants", text);
		}
	}
	return 0;
}

static int read_ratio(const struct sl_reading *r, const yaml_node_t *node, double *ret)
{
	const char *text = sl_yaml_scalar(r->yaml, node, "expect", r->err);

	if (!text) {
		return -EINVAL;
	}
	if (sl_units_parse(text, SL_UNIT_NONE, ret, r->err) < 0) {
		return sl_yaml_wrap(r->yaml, node, "expect", r->err);
	}
	return *ret >= 0 && *ret <= RATIO_MAX ? 0
					      : sl_yaml_fail(r->yaml, node, "expect", r->err,
							     "%s is not from 0 to %.0f", text, RATIO_MAX);
}

/* [LEAST, MOST] */
static int read_expect(const struct sl_reading *r, const yaml_node_t *node, struct sl_question *question)
{
	int rc;

	if (node->type != YAML_SEQUENCE_NODE || sl_yaml_items(node) != 2) {
		return sl_yaml_fail(r->yaml, node, "expect", r->err,
				    "write the least and the most that the second variant gives as a "
				    "multiple of the first, such as [1.5, 3]");
	}
	rc = read_ratio(r, sl_yaml_item(r->yaml, node, 0), &question->expect_min);
	rc = rc ? rc : read_ratio(r, sl_yaml_item(r->yaml, node, 1), &question->expect_max);
	if (rc == 0 && (question->expect_max <= 0 || question->expect_max < question->expect_min)) {
		rc = sl_yaml_fail(r->yaml, node, "expect", r->err, "the second must not be below the first");
	}
	return rc;
}

static int read_entry(const struct sl_reading *r, struct sl_yaml_pair pair, struct sl_question *question)
{
	if (strcmp(pair.key, "ask") == 0) {
		return read_text(r, pair.value, pair.key, &question->ask);
	}
	if (strcmp(pair.key, "because") == 0) {
		return read_text(r, pair.value, pair.key, &question->because);
	}
	if (strcmp(pair.key, "workload") == 0) {
		return read_workload(r, pair.value, question);
	}
	if (strcmp(pair.key, "compare") == 0) {
		return read_compare(r, pair.value, question);
	}
	if (strcmp(pair.key, "expect") == 0) {
		return read_expect(r, pair.value, question);
	}
	return sl_yaml_fail(r->yaml, pair.key_node, NULL, r->err,
			    "unknown key '%.63s'; a question has ask, workload, compare, expect and because",
			    pair.key);
}

static int read_question(const struct sl_reading *r, const yaml_node_t *map, struct sl_question *question)
{
	int rc = sl_yaml_want_map(r->yaml, map, "questions", r->err);

	*question = (struct sl_question){.because = "", .workload = -1, .variants = {-1, -1}};
	for (int i = 0; rc == 0 && i < sl_yaml_pairs(map); i++) {
		rc = read_entry(r, sl_yaml_pair(r->yaml, map, i), question);
	}
	if (rc == 0 && (!question->ask || question->workload < 0 || question->variants[0] < 0)) {
		rc = sl_yaml_fail(r->yaml, map, "questions", r->err,
				  "'%s' is missing; write {ask: TEXT, workload: NAME, compare: [A, B]}",
				  !question->ask           ? "ask"
				  : question->workload < 0 ? "workload"
							   : "compare");
	}
	return rc;
}

int sl_scenario_read_questions(const struct sl_reading *r, const yaml_node_t *list)
{
	int rc = sl_yaml_want_list(r->yaml, list, "questions", r->err), n = rc == 0 ? sl_yaml_items(list) : 0;

	if (rc == 0 && n > QUESTIONS_MAX) {
		return sl_yaml_fail(r->yaml, list, "questions", r->err, "more than %d; drop some",
				    QUESTIONS_MAX);
	}
	r->sc->questions = sl_arena_alloc(&r->sc->arena, ((size_t)n + 1) * sizeof(*r->sc->questions));
	if (!r->sc->questions) {
		return sl_err_set(r->err, -ENOMEM, "out of memory");
	}
	for (int i = 0; rc == 0 && i < n; i++) {
		rc = read_question(r, sl_yaml_item(r->yaml, list, i), &r->sc->questions[i]);
		r->sc->n_questions += rc == 0;
	}
	return rc;
}

int sl_scenario_questions(const struct sl_scenario *sc)
{
	return sc->n_questions;
}

const struct sl_question *sl_scenario_question(const struct sl_scenario *sc, int index)
{
	return &sc->questions[index];
}

bool sl_question_holds(const struct sl_question *question, double first, double second)
{
	return question->expect_max <= 0 ||
	       (second >= question->expect_min * first && second <= question->expect_max * first);
}
