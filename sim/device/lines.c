#include "sim/device/lines.h"

#include <errno.h>
#include <stdlib.h>

#define WORD_BITS 64

static bool is_dirty(const struct sl_lines *lines, int64_t index)
{
	return (lines->level[0][index / WORD_BITS] >> (index % WORD_BITS) & 1) != 0;
}

static void mark(struct sl_lines *lines, int64_t index)
{
	for (int i = 0; i < SL_LINES_LEVELS; i++) {
		lines->level[i][index / WORD_BITS] |= UINT64_C(1) << (index % WORD_BITS);
		index /= WORD_BITS;
	}
}

static void unmark(struct sl_lines *lines, int64_t index)
{
	for (int i = 0; i < SL_LINES_LEVELS; i++) {
		uint64_t *word = &lines->level[i][index / WORD_BITS];

		*word &= ~(UINT64_C(1) << (index % WORD_BITS));
		if (*word != 0) {
			return;
		}
		index /= WORD_BITS;
	}
}

/* Words of a level. */
static int64_t words(int64_t count, int level)
{
	for (int i = 0; i <= level; i++) {
		count = (count + WORD_BITS - 1) / WORD_BITS;
	}
	return count;
}

/* First marked bit at or behind `from` of a level, -1 when there is none: up until a word has one, then down.
 */
static int64_t next_mark(const struct sl_lines *lines, int level, int64_t from)
{
	int64_t n = words(lines->count, level), word = from / WORD_BITS;
	uint64_t bits;

	if (word >= n) {
		return -1;
	}
	bits = lines->level[level][word] & (UINT64_MAX << (from % WORD_BITS));
	if (bits == 0) {
		if (level + 1 == SL_LINES_LEVELS) {
			/* The top level is short. */
			do {
				word++;
			} while (word < n && lines->level[level][word] == 0);
			word = word < n ? word : -1;
		} else {
			word = next_mark(lines, level + 1, word + 1);
		}
		if (word < 0) {
			return -1;
		}
		bits = lines->level[level][word];
	}
	return word * WORD_BITS + __builtin_ctzll(bits);
}

int sl_lines_init(struct sl_lines *lines, int64_t count)
{
	*lines = (struct sl_lines){.count = count, .range = calloc((size_t)count, 1)};
	for (int i = 0; i < SL_LINES_LEVELS; i++) {
		lines->level[i] = calloc((size_t)words(count, i), sizeof(lines->level[i][0]));
		if (!lines->level[i] || !lines->range) {
			sl_lines_fini(lines);
			return -ENOMEM;
		}
	}
	return 0;
}

void sl_lines_fini(struct sl_lines *lines)
{
	for (int i = 0; i < SL_LINES_LEVELS; i++) {
		free(lines->level[i]);
		lines->level[i] = NULL;
	}
	free(lines->range);
	lines->range = NULL;
}

int sl_lines_add(struct sl_lines *lines, const struct sl_line *line)
{
	int first = line->first, last = line->last, before = 0;

	if (is_dirty(lines, line->index)) {
		int old_first = lines->range[line->index] >> 4, old_last = lines->range[line->index] & 15;

		before = old_last - old_first + 1;
		first = first < old_first ? first : old_first;
		last = last > old_last ? last : old_last;
	} else {
		mark(lines, line->index);
		lines->dirty++;
	}
	lines->range[line->index] = (uint8_t)(first << 4 | last);
	return last - first + 1 - before;
}

bool sl_lines_take(struct sl_lines *lines, int64_t from, struct sl_line *ret)
{
	int64_t index = next_mark(lines, 0, from);

	index = index >= 0 ? index : next_mark(lines, 0, 0);
	if (index < 0) {
		return false;
	}
	*ret = (struct sl_line){index, lines->range[index] >> 4, lines->range[index] & 15};
	unmark(lines, index);
	lines->dirty--;
	return true;
}

bool sl_lines_has(const struct sl_lines *lines, const struct sl_line *line)
{
	uint8_t range = lines->range[line->index];

	return is_dirty(lines, line->index) && range >> 4 <= line->first && line->last <= (range & 15);
}
