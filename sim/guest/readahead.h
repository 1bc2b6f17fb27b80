/*
 * Read-ahead of one open file: which pages a read asks the disk for beyond its own (Linux: ondemand_readahead
 * of mm/readahead.c, read_ahead_kb). Pure: no pages are kept here. All numbers are pages.
 *
 * A read at the start of the file, or right behind the last one, opens a window of 2 to 4 times its size, up
 * to the limit. A page of the window carries a mark; the read that comes to it asks for the next window,
 * twice to four times as large, so that it is on its way while this one is read. Other reads get what they
 * ask for and no more.
 */
#ifndef SL_GUEST_READAHEAD_H
#define SL_GUEST_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>

struct sl_readahead {
	int64_t start, size, ahead; /* the window, and how much of it lies behind its mark */
	int64_t previous;           /* last page that was read, -1 before the first */
};

struct sl_readahead_window {
	int64_t start, size;
	bool random; /* only what was asked for */
};

void sl_readahead_init(struct sl_readahead *ra);

/* The page with the mark; -1 when there is none. */
int64_t sl_readahead_mark(const struct sl_readahead *ra);

/* A read that wants `wanted` pages from `page` on finds that one missing, or comes to the mark. `limit` is
 * read_ahead_kb, `most` what the disk takes in one request: a read that is larger gets so much at once. */
struct sl_readahead_window sl_readahead_next(struct sl_readahead *ra, int64_t page, int64_t wanted,
					     int64_t limit, int64_t most);

/* A read has ended with this page. */
void sl_readahead_read(struct sl_readahead *ra, int64_t last_page);

#endif
