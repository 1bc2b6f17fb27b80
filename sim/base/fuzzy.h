/* What a user means by a name: the name itself, parts of it in any order, or a misspelt one. */
#ifndef SL_BASE_FUZZY_H
#define SL_BASE_FUZZY_H

#define SL_FUZZY_MAX 512

enum sl_fuzzy_kind {
	SL_FUZZY_NONE,    /* no name is near */
	SL_FUZZY_ONE,     /* exactly one is meant */
	SL_FUZZY_SEVERAL, /* each of `hit` fits as well */
	SL_FUZZY_NEAR     /* none fits, hit[0] is spelt like it: to be confirmed */
};

struct sl_fuzzy {
	enum sl_fuzzy_kind kind;
	int n; /* hits */
	int hit[SL_FUZZY_MAX];
};

/*
 * Looks for `typed` among n names (at most SL_FUZZY_MAX) that are words joined by '-'. Upper case, blanks and
 * '_' do not matter, nor the order of the words. The whole name counts most; then names that have each typed
 * word as a word ("s3700 200", also as "200gb"); then as the beginning of a word; then anywhere in the name.
 */
void sl_fuzzy_find(const char *typed, const char *const *names, int n, struct sl_fuzzy *ret);

#endif
