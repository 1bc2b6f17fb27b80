/* Text that is safe between tags and inside attributes. */
#include "sim/report/page.h"

#include <jansson.h>
#include <string.h>

/* Valid UTF-8 without control characters? jansson checks the former for us. */
static bool text_is_utf8(const char *text)
{
	json_t *string = json_string(text);

	json_decref(string);
	return string != NULL;
}

void sl_html_text(const char *text, FILE *out)
{
	bool utf8 = text_is_utf8(text);

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		switch (c) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(c < 0x20 || c == 0x7f || (c >= 0x80 && !utf8) ? '?' : c, out);
			break;
		}
	}
}

void sl_html_key(const char *key, FILE *out)
{
	while (*key) {
		size_t n = strcspn(key, "._");
		char part[128];

		n += key[n] != '\0';
		n = n < sizeof(part) ? n : sizeof(part) - 1;
		memcpy(part, key, n);
		part[n] = '\0';
		sl_html_text(part, out);
		key += n;
		fputs(*key ? "<wbr/>" : "", out);
	}
}

void sl_html_paragraph(const char *class, const char *text, FILE *out)
{
	if (text[0] == '\0') {
		return;
	}
	fputs("<p", out);
	if (class) {
		fprintf(out, " class=\"%s\"", class);
	}
	fputc('>', out);
	sl_html_text(text, out);
	fputs("</p>\n", out);
}
