#include "cli/json_text.h"

json_t *sl_json_text(const char *text)
{
	json_t *string = json_string(text);
	char clean[512];
	size_t n;

	if (string) {
		return string;
	}
	for (n = 0; text[n] && n < sizeof(clean) - 1; n++) {
		clean[n] = text[n];
		if ((unsigned char)text[n] >= 0x80) {
			clean[n] = '?';
		}
	}
	clean[n] = '\0';
	return json_string(clean);
}
