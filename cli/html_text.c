#include "cli/report.h"

#include <jansson.h>

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
