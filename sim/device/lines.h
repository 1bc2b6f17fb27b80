/*
 * The write cache of a RAID controller for one pair of disks: which lines hold data that is not on the disks
 * yet, and of each the range that is dirty, in sixteenths. Lines are taken out in the order of addresses, as
 * a sweep that starts again at the front.
 */
#ifndef SL_DEVICE_LINES_H
#define SL_DEVICE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#define SL_LINE_UNITS 16
#define SL_LINES_LEVELS 4

struct sl_lines {
	int64_t count;                    /* lines of the pair */
	uint64_t *level[SL_LINES_LEVELS]; /* bit maps, each of the words of the one before */
	uint8_t *range; /* per dirty line: first unit in the high half, last in the low one */
	int64_t dirty;  /* lines */
};

/* A dirty range of one line. */
struct sl_line {
	int64_t index;
	int first, last; /* units */
};

/* 0 or -ENOMEM. Release with sl_lines_fini. */
int sl_lines_init(struct sl_lines *lines, int64_t count);
void sl_lines_fini(struct sl_lines *lines);

/* Marks units first..last of a line dirty; returns how many units more are dirty now. */
int sl_lines_add(struct sl_lines *lines, const struct sl_line *line);

/* Takes out the first dirty line at or behind `from`, else the first of all; false when none is dirty. */
bool sl_lines_take(struct sl_lines *lines, int64_t from, struct sl_line *ret);

/* Are these units of a line all dirty? */
bool sl_lines_has(const struct sl_lines *lines, const struct sl_line *line);

#endif
