#include "sim/report/page_table.h"

#include <math.h>
#include <stdarg.h>

#include "sim/report/page.h"

/* Up to so many columns a table stands on a large phone, on a small tablet; see page.css. */
#define COLUMNS_FEW 3
#define COLUMNS_SOME 5

/* The name of a column without its mark of alignment. */
static const char *head_name(const char *head)
{
	return head + (head[0] == '<');
}

void sl_page_table_start(struct sl_page_table *table, const char *label, const char *const *heads, int n,
			 FILE *out)
{
	*table = (struct sl_page_table){.out = out, .n = n < SL_PAGE_COLUMNS ? n : SL_PAGE_COLUMNS};
	fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
	sl_html_text(label, out);
	fprintf(out, "\"><table role=\"table\" class=\"%s\">\n<thead role=\"rowgroup\"><tr role=\"row\">",
		n <= COLUMNS_FEW    ? "few"
		: n <= COLUMNS_SOME ? "some"
				    : "many");
	for (int i = 0; i < table->n; i++) {
		table->heads[i] = heads[i];
		fprintf(out, "<th role=\"columnheader\" scope=\"col\"%s>",
			heads[i][0] == '<' ? " class=\"l\"" : "");
		sl_html_text(head_name(heads[i]), out);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody role=\"rowgroup\">\n", out);
}

void sl_page_table_end(struct sl_page_table *table)
{
	fputs("</tbody></table></div>\n", table->out);
}

void sl_page_table_group(struct sl_page_table *table, const char *name, const char *unit)
{
	fprintf(table->out,
		"<tr role=\"row\" class=\"group\"><th role=\"rowheader\" class=\"l\" colspan=\"%d\">",
		table->n);
	sl_html_text(name, table->out);
	if (unit[0] != '\0') {
		fputs(" <span class=\"mute small\">", table->out);
		sl_html_text(unit, table->out);
		fputs("</span>", table->out);
	}
	fputs("</th></tr>\n", table->out);
}

void sl_page_row(struct sl_page_table *table, const char *class)
{
	table->at = 0;
	fprintf(table->out, "<tr role=\"row\"%s%s%s>", class ? " class=\"" : "", class ? class : "",
		class ? "\"" : "");
}

void sl_page_row_end(struct sl_page_table *table)
{
	fputs("</tr>\n", table->out);
}

void sl_page_field(struct sl_page_table *table, const char *class)
{
	const char *head = table->at < table->n ? table->heads[table->at] : "";
	const char *left = head[0] == '<' ? "l" : "";

	if (table->at == 0) {
		fputs("<th role=\"rowheader\" scope=\"row\"", table->out);
	} else {
		fputs("<td role=\"cell\" data-head=\"", table->out);
		sl_html_text(head_name(head), table->out);
		fputc('"', table->out);
	}
	if (left[0] != '\0' || class) {
		fprintf(table->out, " class=\"%s%s%s\"", left, left[0] != '\0' && class ? " " : "",
			class ? class : "");
	}
	fputc('>', table->out);
}

void sl_page_field_end(struct sl_page_table *table)
{
	fputs(table->at == 0 ? "</th>" : "</td>", table->out);
	table->at++;
}

void sl_page_put(struct sl_page_table *table, const char *class, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	sl_page_field(table, class);
	sl_html_text(text, table->out);
	sl_page_field_end(table);
}

void sl_page_put_share(struct sl_page_table *table, double share)
{
	double percent = share * 100;

	sl_page_field(table, percent >= 90 ? "full" : NULL);
	fprintf(table->out,
		"<span><span class=\"share\"><i style=\"width:%.0f%%\"></i></span> <b>%.0f %%</b></span>",
		fmin(fmax(percent, 0), 100), percent);
	sl_page_field_end(table);
}
