/* The pages: markup that an XML parser takes, harmless text, the answer, the drawing, tables. */
#include "sim/report/page.h"
#include "sim/report/page_table.h"
#include "tests/unit/report/lib.h"

/* Start and end tags pair up, attributes are quoted, and no bare & < > is in the text: an XML parser's view.
 */
static void assert_well_formed(const char *page)
{
	char stack[64][16];
	int depth = 0;

	for (const char *p = strstr(page, "<html"); *p; p++) {
		if (*p == '&') {
			size_t n = 1 + strcspn(p + 1, "; &<");

			cr_assert(p[n] == ';', "bare & at %.40s", p);
			continue;
		}
		cr_assert(*p != '>', "bare > before %.40s", p);
		if (*p != '<') {
			continue;
		}
		bool end = p[1] == '/';
		const char *name = p + 1 + end;
		size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
		int quotes = 0;

		cr_assert(n > 0 && n < 16, "bare < at %.40s", p);
		for (p = name + n; *p && (*p != '>' || quotes % 2); p++) {
			quotes += *p == '"';
			cr_assert(*p != '<', "< inside a tag: %.40s", name);
		}
		cr_assert(*p == '>' && quotes % 2 == 0, "%.40s", name);
		if (end) {
			cr_assert(depth > 0 && strncmp(stack[depth - 1], name, n) == 0 &&
				      stack[depth - 1][n] == '\0',
				  "</%.*s> does not close <%s>", (int)n, name, depth ? stack[depth - 1] : "");
			depth--;
		} else if (p[-1] != '/') {
			cr_assert(depth < 64);
			snprintf(stack[depth++], 16, "%.*s", (int)n, name);
		}
		if (!end && n == 5 && strncmp(name, "style", 5) == 0) {
			p = strstr(p, "</style>") - 1; /* CSS is not markup */
		}
	}
	cr_assert_eq(depth, 0, "<%s> is never closed", depth ? stack[depth - 1] : "");
}

static void assert_contains(const char *text, const char *part)
{
	cr_assert_not_null(strstr(text, part), "missing: %s", part);
}

static void assert_lacks(const char *text, const char *part)
{
	cr_assert_null(strstr(text, part), "found: %s", part);
}

Test(html, is_well_formed_and_holds_every_figure)
{
	static const char *const parts[] = {"191",
					    "149",
					    "188",
					    "151",
					    ">60.0<",
					    ">58.0<",
					    "+1.7 %",
					    "-1.0 %",
					    "-3.3 %",
					    "calibrate",
					    "predict",
					    "97 %",
					    "1.23ms",
					    "params.<wbr/>zil.<wbr/>commit_<wbr/>cpu",
					    "0.7ms",
					    "fitted",
					    "report/hostile.<wbr/>yaml:15:",
					    "intel-dc-s3500-80.<wbr/>write_<wbr/>latency",
					    "catalogue/intel-dc-s3500-80.<wbr/>yaml:"};
	struct made m;
	char *page;

	made_init(&m, true);
	page = rendered(sl_report_html, &m);
	assert_well_formed(page);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		assert_contains(page, parts[i]);
	}
	free(page);
	made_fini(&m);
}

/* As the table has a column for it; what live measured is no error of the prediction for virtual machines. */
Test(html, has_a_bar_for_live_beside_virtual_machines)
{
	struct made m;
	char *page;

	made_init(&m, true);
	page = rendered(sl_report_html, &m);
	assert_lacks(page, "class=\"live\"");
	free(page);
	made_cell(&m, 0, 0, SL_ENGINE_VM, 54);
	page = rendered(sl_report_html, &m);
	assert_well_formed(page);
	assert_contains(page, "<title>measured: 54.0 writes/s, -10.0 %</title><rect class=\"measured\"");
	assert_contains(page, "<title>live: 58.0 writes/s</title><rect class=\"live\"");
	assert_contains(page, "<i class=\"live\"></i>");
	free(page);
	made_fini(&m);
}

Test(html, asks_nobody_for_anything)
{
	static const char data_dir[] = DATA_DIR;
	static const char *const forbidden[] = {"http:",   "https:",      "src=",    "href=\"/", "url(",
						"@import", "<link",       "<script", "<iframe",  "<img",
						"<object", "javascript:", data_dir};
	struct made m;
	char *page;

	made_init(&m, true);
	page = rendered(sl_report_html, &m);
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		/* The hostile source text may be there, but only escaped. */
		for (const char *p = page; (p = strstr(p, forbidden[i])) != NULL; p++) {
			cr_assert(strncmp(p - 8, "&lt;img ", 8) == 0, "%.60s", p - 8);
		}
	}
	/* Links lead to places in the page only. */
	for (const char *p = page; (p = strstr(p, "href=")) != NULL; p++) {
		cr_assert(strncmp(p, "href=\"#", 7) == 0, "%.60s", p);
	}
	assert_contains(page, "default-src 'none'");
	free(page);
	made_fini(&m);
}

Test(html, escapes_what_the_scenario_says)
{
	struct made m;
	char *page;

	made_init(&m, true);
	page = rendered(sl_report_html, &m);
	assert_contains(page, "&lt;script&gt;alert(&#39;title&#39;)&lt;/script&gt; &amp; &quot;quotes&quot;");
	assert_contains(page, "a &lt;img src=x onerror=alert(1)&gt; &amp; b");
	assert_contains(page, "&lt;b&gt;w&amp;1");
	assert_contains(page, "&lt;u&gt;late&lt;/u&gt;");
	assert_contains(page, "&lt;s&gt;ESXi&lt;/s&gt;");
	assert_lacks(page, "<b>w");
	assert_lacks(page, "=s3500<i>");
	free(page);
	made_fini(&m);
}

Test(html, text_with_broken_bytes_is_made_harmless)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	sl_html_text("a\x01\x7f<\xc3\xa4>", out);
	fputc('|', out);
	sl_html_text("b\xff\xc3", out);
	fclose(out);
	cr_assert_str_eq(text, "a??&lt;\xc3\xa4&gt;|b??");
	free(text);
}

/* "a", "b" and "c" are words; a key is broken behind their dots and underscores only. */
Test(html, keys_are_broken_between_words)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	sl_html_key("a.b_<c>", out);
	fputc('|', out);
	sl_html_key("abc.", out);
	fclose(out);
	cr_assert_str_eq(text, "a.<wbr/>b_<wbr/>&lt;c&gt;|abc.");
	free(text);
}

/* On a phone a row is a card: each field must say what it is. */
Test(table, fields_carry_the_names_of_their_columns)
{
	static const char *const heads[] = {"<drive", "price", "<note"};
	struct sl_page_table table;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	sl_page_table_start(&table, "What \"x\" costs", heads, 3, out);
	sl_page_row(&table, NULL);
	sl_page_put(&table, NULL, "s3700 & co");
	sl_page_put(&table, "bad", "$%d", 203);
	sl_page_put(&table, NULL, "-");
	sl_page_row_end(&table);
	sl_page_table_end(&table);
	fclose(out);
	assert_contains(text, "role=\"region\" tabindex=\"0\" aria-label=\"What &quot;x&quot; costs\"");
	assert_contains(text, "<th role=\"rowheader\" scope=\"row\" class=\"l\">s3700 &amp; co</th>");
	assert_contains(text, "<td role=\"cell\" data-head=\"price\" class=\"bad\">$203</td>");
	assert_contains(text, "<td role=\"cell\" data-head=\"note\" class=\"l\">-</td>");
	free(text);
}

/* Measured 100 -> 250, that is 2.50x; the model with the same substitutions says 100 -> 150. */
static void made_gains(struct made *m, bool trusted)
{
	made_init(m, false);
	made_cell(m, 0, 1, SL_ENGINE_MODEL_LAB, 100);
	made_cell(m, 1, 1, SL_ENGINE_MODEL_LAB, 150);
	made_cell(m, 0, 1, SL_ENGINE_VM, 100);
	made_cell(m, 1, 1, SL_ENGINE_VM, 250);
	m->result.cells[m->result.n_cells - 1].untrusted = !trusted;
	snprintf(m->result.cells[m->result.n_cells - 1].warning, 64, "this machine's CPU was <busy>");
}

Test(answer, is_what_was_measured)
{
	struct made m;
	char *page;

	made_gains(&m, true);
	page = rendered(sl_report_html, &m);
	assert_well_formed(page);
	assert_contains(page, "<dd class=\"value\">2.50\xc3\x97</dd>");
	assert_lacks(page, "Not to be trusted");
	free(page);
	made_fini(&m);
}

Test(answer, is_no_measurement_that_is_not_to_be_trusted)
{
	struct made m;
	char *page;

	made_gains(&m, false);
	page = rendered(sl_report_html, &m);
	assert_well_formed(page);
	assert_contains(page, "<dd class=\"value\">1.50\xc3\x97</dd>");
	assert_lacks(page, "<dd class=\"value\">2.50");
	/* Why, above everything; and a mark wherever the figure stands. */
	assert_contains(page, "<strong>Not to be trusted</strong>");
	assert_contains(page, "engine vm: this machine&#39;s CPU was &lt;busy&gt;</li>");
	assert_contains(page, "<strong class=\"bad\">2.50\xc3\x97</strong>");
	assert_contains(page, "<rect class=\"doubted\"");
	assert_contains(page, "<b>250</b>");
	cr_assert(strstr(page, "Not to be trusted") < strstr(page, "class=\"value\""));
	free(page);
	made_fini(&m);
}

Test(answer, is_marked_on_the_terminal_too)
{
	struct made m;
	struct sl_err err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	made_gains(&m, false);
	cr_assert_eq(sl_report_text(&m.report, out, &err), 0);
	fclose(out);
	assert_contains(
	    text, "vm, oltp\"2', 2 threads: 100 -> 250 TPS with =s3500<i>, 2.50x; guest vCPUs 97 % busy; "
		  "not to be trusted, see below\n");
	assert_contains(
	    text, "model(lab), oltp\"2', 2 threads: 100 -> 150 TPS with =s3500<i>, 1.50x; guest vCPUs 97 % "
		  "busy\n");
	free(text);
	made_fini(&m);
}

/* Every section has its line in the contents, which lead to it. */
Test(page, contents_lead_to_every_section)
{
	struct made m;
	char *page;
	int n = 0;

	made_init(&m, true);
	page = rendered(sl_report_html, &m);
	for (const char *p = page; (p = strstr(p, "<h2 id=\"")) != NULL; p++) {
		char link[32];

		snprintf(link, sizeof(link), "<a href=\"#%.*s\"", (int)strcspn(p + 8, "\""), p + 8);
		assert_contains(page, link);
		n++;
	}
	/* Each workload, All figures, busy, clock, Substitutions, Warnings, Every parameter. */
	cr_assert_eq(n, 7);
	free(page);
	made_fini(&m);
}

static char *drawn(const struct sl_scenario *sc, int variant, int workload, const struct sl_measure *measure)
{
	struct sl_box_drawing drawing = {
	    .scenario = sc, .variant = variant, .workload = workload, .measure = measure};
	char *text = NULL, *page;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	sl_box_mark_busiest(&drawing);
	sl_box_svg(&drawing, out);
	fclose(out);
	cr_assert(asprintf(&page, "<html>%s</html>", text) > 0);
	free(text);
	assert_well_formed(page);
	return page;
}

static int count(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)) != NULL; text++) {
		n++;
	}
	return n;
}

Test(drawing, shows_every_layer_and_marks_the_busiest)
{
	static const char *const layers[] = {"Database", "ext4 + jbd2", "NFS client",
					     "Network",  "NFS server",  "ZFS",
					     "ZIL",      "SLOG",        "Data disks"};
	const struct sl_measure measure = {
	    .n_resources = 3, .resources = {{"guest vCPUs", 0.4}, {"ZIL", 0.8}, {"log device", 0.6}}};
	struct made m;
	char *svg;

	made_init(&m, false);
	svg = drawn(m.sc, 1, 1, &measure);
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		cr_assert(count(svg, layers[i]) >= 2, "%s: drawn, and in words", layers[i]);
	}
	cr_assert_eq(count(svg, "layer hot"), 1);
	assert_contains(svg, ">ZIL<tspan class=\"mark\"");
	assert_contains(svg, "logbias=latency, 80 % busy, busiest.");
	assert_contains(svg, "hdd-7200-desktop x 3");
	assert_contains(svg, "intel-dc-s3500-80");
	assert_contains(svg, "<title id=\"box-title\">The box: =s3500&lt;i&gt;</title>");
	free(svg);
	made_fini(&m);
}

/* Without a log device its place is empty, and its blocks go where they go. */
Test(drawing, shows_that_there_is_no_slog)
{
	struct made m;
	char *svg;

	made_init(&m, false);
	svg = drawn(m.sc, 0, 1, NULL);
	assert_contains(svg, "no SLOG");
	assert_contains(svg, "layer absent");
	assert_contains(svg, "commits, txgs");
	assert_lacks(svg, "layer hot");
	assert_lacks(svg, "% busy");
	free(svg);
	made_fini(&m);
}
