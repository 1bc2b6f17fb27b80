/*
 * The frame of every page: heading, what the measurement is worth, the answer in large type, a drawing of the
 * box, contents that stay in view, sections. One file without script, font, image or request. A page is
 * filled first and written at the end, so that contents and answer stand before what they are taken from.
 */
#ifndef SL_REPORT_PAGE_H
#define SL_REPORT_PAGE_H

#include <stdio.h>

#include "sim/base/err.h"
#include "sim/report/page_box.h"
#include "sim/scenario/scenario.h"

/* What a figure means for the reader; a colour, beside words that say the same. */
enum sl_tone {
	SL_TONE_PLAIN,
	SL_TONE_GOOD,
	SL_TONE_WARN,
	SL_TONE_BAD,
	SL_TONE_MEASURED
};

/* A large value: "Gain", "1.26x", "s3500 in place of none". */
struct sl_fact {
	enum sl_tone tone;
	const char *label; /* static */
	char value[48];
	char text[320]; /* of what; "" = nothing */
};

struct sl_page;

/* Fills a page. 0 or a negative errno with *err filled. */
typedef int sl_page_fill(struct sl_page *page, const void *arg, struct sl_err *err);

/* Writes the page about `sc` that `fill` fills. `what` names it in its head: "run", "advise". -ENOMEM. */
int sl_page_write(const struct sl_scenario *sc, uint64_t seed, const char *what, sl_page_fill *fill,
		  const void *arg, FILE *out, struct sl_err *err);

/* One more of the values that the page opens with; a page has four of them. */
#define SL_PAGE_FACTS 4
void sl_page_fact(struct sl_page *page, const struct sl_fact *fact);

/* What the values mean, in a sentence or a few, below them. `title` is static. */
void sl_page_says(struct sl_page *page, const char *title, const char *text);

/* Why what follows is not to be trusted, above everything else. Each call is one reason. */
void sl_page_doubt(struct sl_page *page, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The drawing beside the answer. */
void sl_page_box(struct sl_page *page, const struct sl_box_drawing *drawing);

/* A group of sections, for pages that say what several do. */
void sl_page_part(struct sl_page *page, const char *title);

/* Starts a section, with its line in the contents; it ends with the next, or with the page. */
void sl_page_section(struct sl_page *page, const char *title);

/* What most readers can do without: shut until it is clicked. Ends with the section, the next of its kind,
 * or sl_page_unfold. */
void sl_page_fold(struct sl_page *page, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sl_page_unfold(struct sl_page *page);

/* Where the text of the present section goes. */
FILE *sl_page_out(struct sl_page *page);

/* Text with & < > " ' and control characters made harmless, for HTML and SVG. */
void sl_html_text(const char *text, FILE *out);
/* The same of a key: it may be broken behind its dots and underscores, not in mid-word. */
void sl_html_key(const char *key, FILE *out);
/* A paragraph; nothing for an empty text. `class` may be NULL. */
void sl_html_paragraph(const char *class, const char *text, FILE *out);

/* The word of a tone in class="...". */
const char *sl_tone_class(enum sl_tone tone);

#endif
