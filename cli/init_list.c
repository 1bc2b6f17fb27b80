#include "cli/init_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 512
#define COUNT_MAX 1000
#define TIMES_SIGN "\xc3\x97" /* U+00D7 */

static bool all_digits(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && isdigit((unsigned char)text[i])) {
		i++;
	}
	return i == n && n > 0 && n < 5;
}

/* Stars and multiplication signs become an x of its own. */
static bool signs_spread(const char *text, char *out, size_t size)
{
	size_t n = 0;

	for (; *text; text++) {
		bool sign = *text == '*' || strncmp(text, TIMES_SIGN, 2) == 0;
		int wrote = snprintf(out + n, size - n, sign ? " x " : "%c", *text);

		n += (size_t)wrote;
		if (n >= size) {
			return false;
		}
		text += sign && *text != '*';
	}
	out[n] = '\0';
	return true;
}

struct item {
	char *name;
	size_t size;
	int count;
	bool times; /* the last word was an x: a number belongs to it */
};

static void count_set(struct item *item, const char *digits)
{
	item->count = item->count == 0 ? atoi(digits) : -1;
	if (item->count > COUNT_MAX || item->count == 0) {
		item->count = item->count == 0 ? -1 : COUNT_MAX;
	}
	item->times = false;
}

static bool name_add(struct item *item, const char *word)
{
	size_t used = strlen(item->name);

	return snprintf(item->name + used, item->size - used, "%s%s", used ? " " : "", word) <
	       (int)(item->size - used);
}

/* One word: a number in front, "4x", "x4", "x", or a part of the name. */
static bool word_take(struct item *item, char *word)
{
	size_t length = strlen(word), digits = strspn(word, "0123456789");
	bool first = item->name[0] == '\0';

	if (strcasecmp(word, "x") == 0) {
		item->times = item->count == 0;
		item->count =
		    first || item->times ? item->count : -1; /* the x behind "6" is in front of the name */
		return true;
	}
	if (all_digits(word, length) && (item->times || (first && item->count == 0))) {
		count_set(item, word);
		return true;
	}
	if (tolower((unsigned char)word[0]) == 'x' && all_digits(word + 1, length - 1)) {
		count_set(item, word + 1);
		return true;
	}
	if (digits > 0 && digits < 5 && tolower((unsigned char)word[digits]) == 'x' &&
	    (first || word[digits + 1] == '\0')) {
		char *rest = word + digits + 1;

		word[digits] = '\0';
		count_set(item, word);
		return rest[0] == '\0' || name_add(item, rest);
	}
	return name_add(item, word);
}

bool sl_init_item(const char *text, char *name, size_t size, int *ret_count)
{
	struct item item = {.name = name, .size = size};
	char spread[TEXT_MAX], *rest = spread, *word;

	name[0] = '\0';
	if (!signs_spread(text, spread, sizeof(spread))) {
		return false;
	}
	while ((word = strsep(&rest, " \t")) != NULL) {
		if (word[0] != '\0' && !word_take(&item, word)) {
			return false;
		}
	}
	*ret_count = item.times ? -1 : item.count;
	return true;
}

int sl_init_item_tail(char *name)
{
	char *blank = strrchr(name, ' ');
	int count = blank && all_digits(blank + 1, strlen(blank + 1)) ? atoi(blank + 1) : 0;

	if (count < 1 || count > 64) {
		return 0;
	}
	*blank = '\0';
	return count;
}
