/* Text from anywhere that goes to a terminal. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim/base/utf8.h"

static void cleaned(const char *text, const char *wanted)
{
	char buf[64];

	strcpy(buf, text);
	sl_utf8_clean(buf);
	cr_assert_str_eq(buf, wanted);
}

Test(utf8, what_a_terminal_obeys_becomes_a_question_mark)
{
	cleaned("\x1b[2J", "?[2J");
	cleaned("a\xc2\x9b"
		"2J",
		"a?2J"); /* U+009B, the one-character form of ESC [ */
	cleaned("a\xc2\x85"
		"b",
		"a?b"); /* U+0085, next line */
	cleaned("\xe2\x80\xae"
		"abc",
		"?abc");                /* U+202E, right-to-left override */
	cleaned("\xe2\x81\xa6x", "?x"); /* U+2066, left-to-right isolate */
	cleaned("a\rb\x7f", "a?b?");
}

Test(utf8, bytes_that_are_no_utf8_become_question_marks)
{
	cleaned("\x9b"
		"2J",
		"?2J"); /* a bare byte: C1 of a Latin terminal */
	cleaned("ab\xc3", "ab?");
	cleaned("\xc0\x9b", "??"); /* overlong */
}

Test(utf8, text_stays)
{
	cleaned("Gr\xc3\xb6\xc3\x9f"
		"e \xe2\x80\x93 \xe6\x97\xa5\n\t",
		"Gr\xc3\xb6\xc3\x9f"
		"e \xe2\x80\x93 \xe6\x97\xa5\n\t");
	cleaned("\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
		"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d"); /* Hebrew by itself is no override */
	cleaned("", "");
}
