/* The word the user probably meant. */
#ifndef SL_BASE_SUGGEST_H
#define SL_BASE_SUGGEST_H

/* The nearest of n words by edit distance (swapped neighbours count one), NULL when none is near: a third of
 * the letters, at least one, may be wrong. */
const char *sl_suggest(const char *typed, const char *const *words, int n);

#endif
