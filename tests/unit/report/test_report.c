#include <jansson.h>
#include <math.h>

#include "sim/report/table.h"
#include "tests/unit/report/lib.h"

Test(format, numbers_have_three_digits)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0"},        {0.1514, "0.151"}, {1.234, "1.23"}, {9.994, "9.99"}, {9.996, "10.0"},
		     {27.44, "27.4"}, {99.94, "99.9"},   {99.96, "100"},  {148.2, "148"},  {1120.4, "1120"}};
	char text[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sl_report_number(cases[i].value, text, sizeof(text));
		cr_assert_str_eq(text, cases[i].text);
	}
}

Test(format, percent_has_a_sign_and_no_negative_zero)
{
	char text[32];

	sl_report_percent(-0.04, text, sizeof(text));
	cr_assert_str_eq(text, "+0.0 %");
	sl_report_percent(-3.55, text, sizeof(text));
	cr_assert(text[0] == '-', "%s", text);
}

/* What the fit prints must be what the scenario reads. */
Test(format, figures_can_be_parsed_again)
{
	static const struct {
		double value;
		enum sl_unit unit;
	} cases[] = {{0, SL_UNIT_TIME},      {7, SL_UNIT_TIME},        {712345, SL_UNIT_TIME},
		     {6.71e6, SL_UNIT_TIME}, {999999.7, SL_UNIT_TIME}, {5e12, SL_UNIT_TIME},
		     {1.8e7, SL_UNIT_RATE},  {3e9, SL_UNIT_RATE},      {999, SL_UNIT_RATE},
		     {0.2, SL_UNIT_NONE},    {4400, SL_UNIT_BYTES},    {200, SL_UNIT_IOPS}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_err err = {0};
		char text[48];
		double again;

		sl_units_figure(cases[i].value, cases[i].unit, 6, text, sizeof(text));
		cr_assert_eq(sl_units_parse(text, cases[i].unit, &again, &err), 0, "%s: %s", text, err.msg);
		cr_assert(fabs(again - cases[i].value) <= 1e-5 * cases[i].value, "%s", text);
	}
}

static void assert_contains(const char *text, const char *part)
{
	cr_assert_not_null(strstr(text, part), "missing: %s", part);
}

static void assert_lacks(const char *text, const char *part)
{
	cr_assert_null(strstr(text, part), "found: %s", part);
}

Test(csv, quotes_and_defuses_formulas)
{
	struct made m;
	char *text;

	made_init(&m, false);
	text = rendered(sl_report_csv, &m);
	assert_contains(text,
			"variant,workload,engine,unit,value,ci95,samples,published,error_pct,role,rate,"
			"bytes_per_second,mean_ns,p50_ns,p95_ns,p99_ns,p999_ns,max_ns,warning,trustworthy\n");
	assert_contains(text, "none,\"oltp\"\"2'\",model,TPS,149.49,2.5,2,151,-1,calibrate,149.49,,1300000,"
			      "1234567,2000000,3000000,"
			      "4000000,5000000,,true\n");
	assert_contains(text, "\n'=s3500<i>,");
	assert_contains(text, "191.123,");
	free(text);
	made_fini(&m);
}

Test(json, is_the_same_every_time_and_has_six_digits)
{
	struct made m, n;
	char *first, *second;

	made_init(&m, true);
	made_init(&n, true);
	first = rendered(sl_report_json, &m);
	second = rendered(sl_report_json, &n);
	cr_assert_str_eq(first, second);
	assert_contains(first, "\"value\": 191.123,");
	assert_lacks(first, "191.1234");
	assert_contains(first, "\"seed\": 7");
	assert_contains(first, "\"mean\": 1300000,");
	assert_contains(first, "\"p999\": 4000000,");
	assert_contains(first, "\"max\": 5000000");
	free(first);
	free(second);
	made_fini(&m);
	made_fini(&n);
}

Test(json, every_parameter_has_its_origin)
{
	struct made m;
	char *text;
	json_t *root, *params, *p;
	size_t i;
	int fitted = 0, devices = 0;

	made_init(&m, false);
	text = rendered(sl_report_json, &m);
	root = json_loads(text, 0, NULL);
	cr_assert_not_null(root);
	params = json_object_get(root, "params");
	cr_assert(json_array_size(params) >= (size_t)sl_scenario_params(m.sc));
	json_array_foreach(params, i, p)
	{
		const char *kind = json_string_value(json_object_get(p, "kind"));

		cr_assert(strlen(json_string_value(json_object_get(p, "where"))) > 0);
		fitted += strcmp(kind, "fitted") == 0;
		devices += json_is_true(json_object_get(p, "device"));
	}
	cr_assert_eq(fitted, 2); /* one of the box, and the raw size of its log device */
	cr_assert(devices > 5);
	json_decref(root);
	free(text);
	made_fini(&m);
}

/* pool.log differs between the variants: two rows; everything else is one. */
Test(params, equal_values_are_merged)
{
	struct sl_param_list list;
	struct made m;
	int logs = 0, others = 0;

	made_init(&m, false);
	cr_assert_eq(sl_param_list_make(&m.report, &list), 0);
	for (int i = 0; i < list.n; i++) {
		if (strcmp(list.rows[i].param.key, "pool.log") == 0) {
			cr_assert_eq(list.rows[i].n_variants, 1);
			logs++;
		} else if (!list.rows[i].device) {
			cr_assert_eq(list.rows[i].n_variants, 2, "%s", list.rows[i].param.key);
			others++;
		}
	}
	cr_assert_eq(logs, 2);
	cr_assert_eq(others, sl_scenario_params(m.sc) - 1);
	sl_param_list_fini(&list);
	made_fini(&m);
}

Test(text, has_a_row_per_cell_and_the_errors_below)
{
	struct made m;
	struct sl_err err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	made_init(&m, false);
	cr_assert_eq(sl_report_text(&m.report, out, &err), 0);
	fclose(out);
	assert_contains(text, "RMS error: calibrate cells 1.00 % over 1 (median 1.00 %); predict cells 1.66 "
			      "% over 1 (median 1.66 %)\n");
	assert_contains(text, "oltp\"2'   none             149");
	assert_contains(text, "parameters: 2 fitted, 0 fudge");
	assert_lacks(text, "\033");
	free(text);
	made_fini(&m);
}

Test(table, aligns_by_columns_on_the_screen)
{
	static const char *const headings[] = {"<name", "n"};
	struct sl_table *table = sl_table_new(headings, 2);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert(sl_table_row(table));
	sl_table_put(table, SL_TINT_BAD, "\xc3\xa4\x1b[1m");
	sl_table_put(table, SL_TINT_NONE, "%d", 5);
	cr_assert(sl_table_row(table));
	sl_table_put(table, SL_TINT_NONE, "abcdefg");
	sl_table_put(table, SL_TINT_NONE, "%d", 50);
	sl_table_put(table, SL_TINT_NONE, "too many");
	sl_table_print(table, out);
	fclose(out);
	cr_assert_str_eq(text, "name      n\n-----------\n\xc3\xa4?[1m     5\nabcdefg  50\n");
	free(text);
	sl_table_free(table);
}

/* The live cell of made_init, judged as starved: 30 % where 10 % is allowed. */
static void made_untrusted(struct made *m)
{
	const struct sl_trust_input input = {
	    .lateness_p99_wall_ns = 400000,
	    .modelled_p50_wall_ns = 9000000,
	    .measured_wall_ns = 10000000000,
	    .waits = {[SL_TRUST_CLIENT] = {.present = true, .wait_wall_ns = 3000000000}}};

	made_init(m, true);
	for (int i = 0; i < m->result.n_cells; i++) {
		m->result.cells[i].untrusted = m->result.cells[i].engine == SL_ENGINE_LIVE;
	}
	sl_trust_judge(&input, &m->timing.trust);
	m->timing.trustworthy = m->timing.trust.verdict == SL_TRUST_YES;
	cr_assert(!m->timing.trustworthy);
}

Test(trust, an_untrusted_figure_is_marked_in_table_json_csv_and_page)
{
	struct made m;
	struct sl_err err = {0};
	char *text = NULL, *json, *csv, *page;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	made_untrusted(&m);
	cr_assert_eq(sl_report_text(&m.report, out, &err), 0);
	fclose(out);
	cr_expect(strstr(text, " 58.0? "), "the measured value: %s", text);
	cr_expect(!strstr(text, " 60.0?"), "the model's is not marked: %s", text);
	json = rendered(sl_report_json, &m);
	cr_expect(strstr(json, "\"reason\": \"waits for a CPU took 30 % of the measured time (load 30 %)\""),
		  "%s", json);
	cr_expect(strstr(json, "\"load\": 0.3"), "%s", json);
	cr_expect(!strstr(json, "\"database\""), "who took no part is left out: %s", json);
	csv = rendered(sl_report_csv, &m);
	cr_expect(strstr(csv, ",live,writes/s,58,"), "%s", csv);
	cr_expect(strstr(csv, ",false\n"), "%s", csv);
	page = rendered(sl_report_html, &m);
	cr_expect(strstr(page, "<span class=\"tag bad\">not to be trusted</span>"), "%s", page);
	cr_expect(strstr(page, "not trustworthy: waits for a CPU took 30 %"), "%s", page);
	free(text);
	free(json);
	free(csv);
	free(page);
	made_fini(&m);
}
