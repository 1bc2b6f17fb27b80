#include "sim/report/page.h"

#include <errno.h>
#include <page_css.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SECTIONS_MAX 96
#define DOUBTS_MAX 8
#define TITLE_MAX 96

struct section {
	char title[TITLE_MAX];
	bool part;
};

struct sl_page {
	FILE *body; /* what the sections hold so far */
	char *text;
	size_t size;
	int n_sections; /* all of them; only the first SECTIONS_MAX are in the contents */
	struct section sections[SECTIONS_MAX];
	bool in_section, in_fold;
	const char *says_title;
	char *says; /* NULL: nothing */
	bool no_memory;
	int n_facts, n_doubts;
	struct sl_fact facts[SL_PAGE_FACTS];
	char doubts[DOUBTS_MAX][512];
	bool has_box;
	struct sl_box_drawing box;
};

const char *sl_tone_class(enum sl_tone tone)
{
	static const char *const names[] = {"", "good", "warn", "bad", "measured"};

	return names[tone];
}

void sl_page_fact(struct sl_page *page, const struct sl_fact *fact)
{
	if (page->n_facts < SL_PAGE_FACTS) {
		page->facts[page->n_facts++] = *fact;
	}
}

void sl_page_says(struct sl_page *page, const char *title, const char *text)
{
	page->says_title = title;
	free(page->says);
	page->says = strdup(text);
	page->no_memory |= !page->says;
}

void sl_page_doubt(struct sl_page *page, const char *fmt, ...)
{
	va_list args;

	if (page->n_doubts < DOUBTS_MAX) {
		va_start(args, fmt);
		(void)vsnprintf(page->doubts[page->n_doubts++], sizeof(page->doubts[0]), fmt, args);
		va_end(args);
	}
}

void sl_page_box(struct sl_page *page, const struct sl_box_drawing *drawing)
{
	page->box = *drawing;
	page->has_box = true;
}

FILE *sl_page_out(struct sl_page *page)
{
	return page->body;
}

void sl_page_unfold(struct sl_page *page)
{
	fputs(page->in_fold ? "</details>\n" : "", page->body);
	page->in_fold = false;
}

static void section_end(struct sl_page *page)
{
	sl_page_unfold(page);
	fputs(page->in_section ? "</section>\n" : "", page->body);
	page->in_section = false;
}

/* Returns its number, which names it in the page. */
static int contents_add(struct sl_page *page, const char *title, bool part)
{
	int at = page->n_sections++;

	if (at < SECTIONS_MAX) {
		(void)snprintf(page->sections[at].title, TITLE_MAX, "%s", title);
		page->sections[at].part = part;
	}
	return at + 1;
}

void sl_page_part(struct sl_page *page, const char *title)
{
	section_end(page);
	fprintf(page->body, "<h2 class=\"part\" id=\"s%d\">", contents_add(page, title, true));
	sl_html_text(title, page->body);
	fputs("</h2>\n", page->body);
}

void sl_page_section(struct sl_page *page, const char *title)
{
	int number;

	section_end(page);
	number = contents_add(page, title, false);
	fprintf(page->body, "<section aria-labelledby=\"s%d\"><h2 id=\"s%d\">", number, number);
	sl_html_text(title, page->body);
	fputs("</h2>\n", page->body);
	page->in_section = true;
}

void sl_page_fold(struct sl_page *page, const char *fmt, ...)
{
	char text[256];
	va_list args;

	sl_page_unfold(page);
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fputs("<details><summary>", page->body);
	sl_html_text(text, page->body);
	fputs("</summary>\n", page->body);
	page->in_fold = true;
}

static void write_head(const struct sl_scenario *sc, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	      "'unsafe-inline'\"/>\n"
	      "<title>",
	      out);
	sl_html_text(sl_scenario_title(sc), out);
	fputs(" - sloglab</title>\n<style>\n", out);
	fputs(page_css, out);
	fputs("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n"
	      "<div class=\"page\">\n",
	      out);
}

static void write_contents(const struct sl_page *page, FILE *out)
{
	fputs("<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#answer\">The answer</a></li>\n", out);
	for (int i = 0; i < page->n_sections && i < SECTIONS_MAX; i++) {
		fprintf(out, "<li%s><a href=\"#s%d\">", page->sections[i].part ? " class=\"part\"" : "",
			i + 1);
		sl_html_text(page->sections[i].title, out);
		fputs("</a></li>\n", out);
	}
	fputs("</ul></nav>\n", out);
}

static void write_title(const struct sl_scenario *sc, uint64_t seed, const char *what, FILE *out)
{
	fprintf(out, "<header>\n<p class=\"mute small\">sloglab %s, %s, scenario <code>", SL_VERSION, what);
	sl_html_text(sl_scenario_name(sc), out);
	fprintf(out, "</code>, seed %llu</p>\n<h1>", (unsigned long long)seed);
	sl_html_text(sl_scenario_title(sc), out);
	fputs("</h1>\n", out);
	sl_html_paragraph("mute", sl_scenario_description(sc), out);
	fputs("</header>\n", out);
}

static void write_doubts(const struct sl_page *page, FILE *out)
{
	if (page->n_doubts == 0) {
		return;
	}
	fputs("<div class=\"doubt\" role=\"note\"><p><strong>Not to be trusted</strong></p>\n<ul>\n", out);
	for (int i = 0; i < page->n_doubts; i++) {
		fputs("<li>", out);
		sl_html_text(page->doubts[i], out);
		fputs("</li>\n", out);
	}
	fputs("</ul></div>\n", out);
}

static void write_fact(const struct sl_fact *fact, FILE *out)
{
	fprintf(out, "<div class=\"card %s\"><dt>", sl_tone_class(fact->tone));
	sl_html_text(fact->label, out);
	fputs("</dt><dd class=\"value\">", out);
	sl_html_text(fact->value, out);
	fputs("</dd>", out);
	if (fact->text[0] != '\0') {
		fputs("<dd>", out);
		sl_html_text(fact->text, out);
		fputs("</dd>", out);
	}
	fputs("</div>\n", out);
}

static void write_answer(const struct sl_page *page, FILE *out)
{
	char caption[256];

	fputs("<section class=\"answer\" id=\"answer\" aria-label=\"The answer\">\n", out);
	fputs("<div>\n", out);
	if (page->n_facts > 0) {
		fputs("<dl class=\"facts\">\n", out);
		for (int i = 0; i < page->n_facts; i++) {
			write_fact(&page->facts[i], out);
		}
		fputs("</dl>\n", out);
	}
	if (page->says) {
		fputs("<div class=\"says\"><h2>", out);
		sl_html_text(page->says_title, out);
		fputs("</h2>\n", out);
		sl_html_paragraph(NULL, page->says, out);
		fputs("</div>\n", out);
	}
	fputs("</div>\n", out);
	if (page->has_box) {
		fputs("<figure class=\"box\">\n", out);
		sl_box_svg(&page->box, out);
		sl_box_caption(&page->box, caption, sizeof(caption));
		fputs("<figcaption class=\"mute small\">", out);
		sl_html_text(caption, out);
		fputs("</figcaption></figure>\n", out);
	}
	fputs("</section>\n", out);
}

int sl_page_write(const struct sl_scenario *sc, uint64_t seed, const char *what, sl_page_fill *fill,
		  const void *arg, FILE *out, struct sl_err *err)
{
	struct sl_page *page = calloc(1, sizeof(*page));
	int rc;

	if (page) {
		page->body = open_memstream(&page->text, &page->size);
	}
	if (!page || !page->body) {
		free(page);
		return sl_err_set(err, -ENOMEM, "HTML: out of memory");
	}
	rc = fill(page, arg, err);
	section_end(page);
	if ((fclose(page->body) != 0 || page->no_memory) && rc == 0) {
		rc = sl_err_set(err, -ENOMEM, "HTML: out of memory");
	}
	if (rc == 0) {
		write_head(sc, out);
		write_contents(page, out);
		fputs("<main>\n", out);
		write_title(sc, seed, what, out);
		write_doubts(page, out);
		write_answer(page, out);
		fwrite(page->text, 1, page->size, out);
		fputs("</main>\n</div>\n</body>\n</html>\n", out);
	}
	free(page->text);
	free(page->says);
	free(page);
	return rc;
}
