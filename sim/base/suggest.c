#include "sim/base/suggest.h"

#include <string.h>

#define SUGGEST_MAX 63

static int min3(int a, int b, int c)
{
	int low = a < b ? a : b;

	return low < c ? low : c;
}

/* Optimal string alignment distance; both words are at most SUGGEST_MAX bytes long. */
static int distance(const char *a, const char *b)
{
	int rows[3][SUGGEST_MAX + 1];
	int *before = rows[0], *last = rows[1], *row = rows[2];
	int la = (int)strlen(a), lb = (int)strlen(b);

	for (int j = 0; j <= lb; j++) {
		last[j] = j;
		before[j] = j;
	}
	for (int i = 1; i <= la; i++) {
		int *spare = before;

		row[0] = i;
		for (int j = 1; j <= lb; j++) {
			row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j]) {
				row[j] = before[j - 2] + 1;
			}
		}
		before = last;
		last = row;
		row = spare;
	}
	return last[lb];
}

const char *sl_suggest(const char *typed, const char *const *words, int n)
{
	int length = (int)strlen(typed);
	int best = length / 3 > 1 ? length / 3 : 1;
	const char *near = NULL;

	if (length > SUGGEST_MAX) {
		return NULL;
	}
	for (int i = 0; i < n; i++) {
		int d;

		if (strlen(words[i]) > SUGGEST_MAX) {
			continue;
		}
		d = distance(typed, words[i]);
		if (d <= best && (!near || d < best)) {
			best = d;
			near = words[i];
		}
	}
	return near;
}
