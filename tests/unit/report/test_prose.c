#include <criterion/criterion.h>
#include <stdlib.h>

#include "sim/report/prose.h"

static char *prose(const char *text, int indent, int width)
{
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);

	cr_assert_not_null(out);
	sl_prose(text, indent, width, out);
	fclose(out);
	return made;
}

Test(prose, breaks_between_words)
{
	static const struct {
		const char *text;
		int indent, width;
		const char *want;
	} cases[] = {
	    {"a disk spins", 2, 8, "  a disk\n  spins\n"},
	    {"a disk spins", 0, 80, "a disk spins\n"},
	    {"  a \n\n disk\t", 0, 80, "a disk\n"},
	    {"unbreakable so", 2, 4, "  unbreakable\n  so\n"},
	    {"\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4", 0, 6,
	     "\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\n"},
	    {"", 2, 8, "\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *made = prose(cases[i].text, cases[i].indent, cases[i].width);

		cr_assert_str_eq(made, cases[i].want, "case %zu", i);
		free(made);
	}
}
