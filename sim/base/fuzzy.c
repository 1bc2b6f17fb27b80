#include "sim/base/fuzzy.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/suggest.h"

#define TEXT_MAX 128
#define WORDS_MAX 16

/* How a name holds a word; the less, the better. */
enum fit {
	FIT_WORD,
	FIT_BEGINNING,
	FIT_INSIDE,
	FIT_NONE
};

struct words {
	char text[TEXT_MAX]; /* lower case, each word ended by a NUL */
	int n;
	const char *word[WORDS_MAX];
};

/* Splits at blanks, '-' and '_'; what is too long is cut. */
static void words_split(const char *text, struct words *w)
{
	char *rest = w->text, *word;
	size_t i = 0;

	for (; text[i] && i + 1 < sizeof(w->text); i++) {
		w->text[i] = (char)tolower((unsigned char)text[i]);
	}
	w->text[i] = '\0';
	w->n = 0;
	while ((word = strsep(&rest, " \t-_")) != NULL && w->n < WORDS_MAX) {
		if (word[0] != '\0') {
			w->word[w->n++] = word;
		}
	}
}

/* "80gb" means the word 80 of a name; "2tb" is a word of its own in some. */
static bool same_word(const char *typed, const char *word)
{
	size_t length = strlen(word);

	return strncmp(typed, word, length) == 0 &&
	       (typed[length] == '\0' || (length > 0 && isdigit((unsigned char)word[length - 1]) &&
					  strcmp(typed + length, "gb") == 0));
}

static enum fit word_fit(const char *typed, const struct words *name)
{
	enum fit best = FIT_NONE;

	for (int i = 0; i < name->n; i++) {
		enum fit fit = same_word(typed, name->word[i])                     ? FIT_WORD
			       : strncmp(name->word[i], typed, strlen(typed)) == 0 ? FIT_BEGINNING
			       : strstr(name->word[i], typed)                      ? FIT_INSIDE
										   : FIT_NONE;

		best = fit < best ? fit : best;
	}
	return best;
}

/* The worst fit of any of the words. */
static enum fit name_fit(const struct words *typed, const char *name)
{
	enum fit worst = FIT_WORD;
	struct words parts;

	words_split(name, &parts);
	for (int i = 0; i < typed->n; i++) {
		enum fit fit = word_fit(typed->word[i], &parts);

		worst = fit > worst ? fit : worst;
	}
	return typed->n > 0 ? worst : FIT_NONE;
}

static bool same_name(const struct words *typed, const char *name)
{
	struct words parts;

	words_split(name, &parts);
	if (parts.n != typed->n) {
		return false;
	}
	for (int i = 0; i < parts.n; i++) {
		if (strcmp(parts.word[i], typed->word[i]) != 0) {
			return false;
		}
	}
	return true;
}

static void find(const struct words *typed, const char *const *names, int n, struct sl_fuzzy *ret)
{
	enum fit best = FIT_NONE;

	ret->n = 0;
	for (int i = 0; i < n && i < SL_FUZZY_MAX; i++) {
		enum fit fit = name_fit(typed, names[i]);

		if (same_name(typed, names[i])) {
			ret->n = 1;
			ret->hit[0] = i;
			break;
		}
		if (fit < best) {
			ret->n = 0;
			best = fit;
		}
		if (fit == best && fit != FIT_NONE) {
			ret->hit[ret->n++] = i;
		}
	}
	ret->kind = ret->n == 0 ? SL_FUZZY_NONE : ret->n == 1 ? SL_FUZZY_ONE : SL_FUZZY_SEVERAL;
}

/* The word of any of the names that is spelt like `typed`; NULL when none is. It points into `parts`. */
static const char *near_word(const char *typed, const char *const *names, int n, struct words *parts)
{
	const char *near = NULL;

	for (int i = 0; i < n && !near; i++) {
		words_split(names[i], parts);
		if (strlen(typed) > 2) {
			near = sl_suggest(typed, parts->word, parts->n);
		}
	}
	return near;
}

/* Each word that no name holds is replaced by the one it is spelt like. */
static void find_misspelt(struct words *typed, const char *const *names, int n, struct sl_fuzzy *ret)
{
	struct words parts[WORDS_MAX];

	for (int i = 0; i < typed->n; i++) {
		struct words one = {.n = 1, .word = {typed->word[i]}};

		find(&one, names, n, ret);
		if (ret->kind == SL_FUZZY_NONE) {
			const char *near = near_word(typed->word[i], names, n, &parts[i]);

			typed->word[i] = near ? near : typed->word[i];
		}
	}
	find(typed, names, n, ret);
}

void sl_fuzzy_find(const char *typed, const char *const *names, int n, struct sl_fuzzy *ret)
{
	struct words words;
	const char *near;

	words_split(typed, &words);
	find(&words, names, n, ret);
	if (ret->kind != SL_FUZZY_NONE || words.n == 0) {
		return;
	}
	near = sl_suggest(typed, names, n);
	for (int i = 0; i < n && i < SL_FUZZY_MAX && near; i++) {
		if (names[i] == near) {
			*ret = (struct sl_fuzzy){.kind = SL_FUZZY_NEAR, .n = 1, .hit = {i}};
			return;
		}
	}
	find_misspelt(&words, names, n, ret);
	ret->kind = ret->n > 0 ? SL_FUZZY_NEAR : SL_FUZZY_NONE;
}
