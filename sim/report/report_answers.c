/* The scenario's questions with the figures that answer them, and what the scenario teaches. */
#include <string.h>

#include "sim/report/prose.h"
#include "sim/report/report_html.h"

/* Instead of what the scenario says of its own box. */
#define OTHER_BOX                                                                                          \
	"the box was changed by --set (* = not what the name says): no error against published, and what " \
	"the scenario teaches of its own box is left out"

struct answer {
	const struct sl_question *question;
	char figures[384];    /* "oltp2: none 148 -> s3500 189 TPS, +28 % (1.28x)" */
	char unexpected[128]; /* "" when it is as the scenario expects */
};

static void answer_waits(const struct sl_cell *const cells[2], char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (int i = 0; i < 2; i++) {
		double share = sl_report_log_share(cells[i]);

		if (share > 0 && at < size) {
			at += (size_t)snprintf(buf + at, size - at, "%s %.0f us",
					       at > 0 ? " ->" : "; a write waits for the log device",
					       share * 1e6 / cells[i]->measure.rate);
		}
	}
}

/* False when one of the two cells was not run. */
static bool answer_make(const struct sl_report *report, const struct sl_question *question,
			struct answer *ret)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_workload *workload = sl_scenario_workload(sc, question->workload);
	const struct sl_cell *cells[2];
	char text[2][32], change[32], waits[96], names[2][SL_REPORT_NAME];

	for (int i = 0; i < 2; i++) {
		cells[i] = sl_result_find(report->result, question->variants[i], question->workload,
					  sl_report_predictor(report));
		if (!cells[i] || cells[i]->value <= 0) {
			return false;
		}
		sl_report_number(cells[i]->value, text[i], sizeof(text[i]));
	}
	sl_report_percent(sl_report_difference(cells[1], cells[0]), change, sizeof(change));
	answer_waits(cells, waits, sizeof(waits));
	ret->question = question;
	snprintf(ret->figures, sizeof(ret->figures), "%s: %s %s -> %s %s %s, %s (%.3gx)%s", workload->name,
		 sl_report_variant(sc, question->variants[0], names[0]), text[0],
		 sl_report_variant(sc, question->variants[1], names[1]), text[1], sl_workload_unit(workload),
		 change, cells[1]->value / cells[0]->value, waits);
	ret->unexpected[0] = '\0';
	if (!sl_question_holds(question, cells[0]->value, cells[1]->value)) {
		snprintf(ret->unexpected, sizeof(ret->unexpected),
			 "not what the scenario expects of its own box: %.3gx to %.3gx", question->expect_min,
			 question->expect_max);
	}
	return true;
}

void sl_report_answers(const struct sl_report *report, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	int width = sl_prose_width(out);
	bool own = sl_report_touched(report) == SL_TOUCH_NONE;
	struct answer answer;

	for (int i = 0; i < sl_scenario_questions(sc); i++) {
		if (!answer_make(report, sl_scenario_question(sc, i), &answer)) {
			continue;
		}
		sl_prose(answer.question->ask, 0, width, out);
		sl_prose(answer.figures, 2, width, out);
		if (answer.question->because[0] != '\0' && own) {
			sl_prose(answer.question->because, 2, width, out);
		}
		if (answer.unexpected[0] != '\0') {
			sl_prose(answer.unexpected, 2, width, out);
		}
	}
	if (sl_scenario_teaches(sc)[0] != '\0' && own) {
		fputs("what it teaches:\n", out);
		sl_prose(sl_scenario_teaches(sc), 2, width, out);
	} else if (!own) {
		sl_prose(OTHER_BOX, 0, width, out);
	}
}

static void html_answer(const struct answer *answer, bool own, FILE *out)
{
	fputs("<h3>", out);
	sl_html_text(answer->question->ask, out);
	fputs("</h3>\n", out);
	sl_html_paragraph(NULL, answer->figures, out);
	sl_html_paragraph("mute", own ? answer->question->because : "", out);
	sl_html_paragraph("mute", answer->unexpected, out);
}

void sl_html_teaches(const struct sl_report *report, struct sl_page *page)
{
	const struct sl_scenario *sc = report->result->scenario;

	if (sl_report_touched(report) != SL_TOUCH_NONE) {
		sl_page_section(page, "Another box");
		sl_html_paragraph("warn", OTHER_BOX, sl_page_out(page));
	} else if (sl_scenario_teaches(sc)[0] != '\0') {
		sl_page_says(page, "What it teaches", sl_scenario_teaches(sc));
	}
}

void sl_html_questions(const struct sl_report *report, struct sl_page *page)
{
	const struct sl_scenario *sc = report->result->scenario;
	bool own = sl_report_touched(report) == SL_TOUCH_NONE, any = false;
	struct answer answer;

	for (int i = 0; i < sl_scenario_questions(sc); i++) {
		if (answer_make(report, sl_scenario_question(sc, i), &answer)) {
			if (!any) {
				sl_page_section(page, "Questions");
			}
			any = true;
			html_answer(&answer, own, sl_page_out(page));
		}
	}
}
