#include "sim/report/prose.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Longer lines are hard to read. */
#define WIDTH_MAX 100

#define BLANKS " \t\n"

/* Columns of `size` bytes of UTF-8: continuation bytes take none. */
static int columns(const char *text, size_t size)
{
	int n = 0;

	for (size_t i = 0; i < size; i++) {
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	}
	return n;
}

void sl_prose(const char *text, int indent, int width, FILE *out)
{
	int at = 0;

	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
		size_t size = strcspn(text, BLANKS);
		int word = columns(text, size);

		if (at > 0 && at + 1 + word > width) {
			fputc('\n', out);
			at = 0;
		}
		fprintf(out, "%*s%.*s", at == 0 ? indent : 1, "", (int)size, text);
		at += (at == 0 ? indent : 1) + word;
		text += size;
	}
	fputc('\n', out);
}

int sl_terminal_width(FILE *out, int otherwise)
{
	struct winsize size;
	int fd = fileno(out);

	if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
		return otherwise;
	}
	return size.ws_col;
}

int sl_prose_width(FILE *out)
{
	int width = sl_terminal_width(out, WIDTH_MAX);

	return width < WIDTH_MAX ? width : WIDTH_MAX;
}
