#include "sim/base/utf8.h"

#include <string.h>

size_t sl_utf8_decode(const unsigned char *p, size_t left, uint32_t *ret)
{
	static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = p[0] < 0x80         ? 1
		     : (p[0] >> 5) == 6  ? 2
		     : (p[0] >> 4) == 14 ? 3
		     : (p[0] >> 3) == 30 ? 4
					 : 0;
	uint32_t code;

	if (len == 0 || len > left) {
		return 0;
	}
	code = len == 1 ? p[0] : p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			return 0;
		}
		code = code << 6 | (p[i] & 0x3fu);
	}
	*ret = code;
	return code < lowest[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : len;
}

bool sl_utf8_is_text(uint32_t code)
{
	if (code < 0x20) {
		return code == '\t' || code == '\n' || code == '\r';
	}
	if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) {
		return false;
	}
	return (code < 0x7f || code >= 0xa0) && code != 0xfeff && code != 0xfffe && code != 0xffff;
}

void sl_utf8_clean(char *text)
{
	size_t left = strlen(text), at = 0, to = 0;

	while (at < left) {
		uint32_t code = 0;
		size_t len = sl_utf8_decode((const unsigned char *)text + at, left - at, &code);

		if (len > 0 && sl_utf8_is_text(code) && code != '\r') {
			memmove(text + to, text + at, len);
			to += len;
		} else {
			text[to++] = '?';
		}
		at += len > 0 ? len : 1;
	}
	text[to] = '\0';
}
