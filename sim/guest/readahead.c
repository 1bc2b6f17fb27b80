#include "sim/guest/readahead.h"

void sl_readahead_init(struct sl_readahead *ra)
{
	*ra = (struct sl_readahead){.previous = -1};
}

int64_t sl_readahead_mark(const struct sl_readahead *ra)
{
	return ra->size > 0 ? ra->start + ra->size - ra->ahead : -1;
}

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* get_init_ra_size */
static int64_t first_size(int64_t wanted, int64_t limit)
{
	int64_t size = 1;

	while (size < wanted) {
		size *= 2;
	}
	return size <= limit / 32 ? size * 4 : size <= limit / 4 ? size * 2 : limit;
}

/* get_next_ra_size */
static int64_t next_size(int64_t size, int64_t limit)
{
	return size < limit / 16 ? size * 4 : size <= limit / 2 ? size * 2 : limit;
}

static void open_window(struct sl_readahead *ra, int64_t page, int64_t wanted, int64_t limit)
{
	ra->start = page;
	ra->size = first_size(wanted, limit);
	ra->ahead = ra->size > wanted ? ra->size - wanted : ra->size;
}

/* The reader comes to the mark at once, so the next window may as well be part of this one. */
static void join_next(struct sl_readahead *ra, int64_t limit)
{
	int64_t more = next_size(ra->size, limit);

	if (ra->size + more <= limit) {
		ra->ahead = more;
		ra->size += more;
	} else {
		ra->size = limit;
		ra->ahead = limit / 2;
	}
}

struct sl_readahead_window sl_readahead_next(struct sl_readahead *ra, int64_t page, int64_t wanted,
					     int64_t limit, int64_t most)
{
	bool in_turn = ra->size > 0 && (page == sl_readahead_mark(ra) || page == ra->start + ra->size);

	if (limit <= 0) {
		return (struct sl_readahead_window){page, wanted, true};
	}
	if (wanted > limit && most > limit) {
		limit = min(wanted, most);
	}
	if (page > 0 && in_turn) {
		ra->start += ra->size;
		ra->size = ra->ahead = next_size(ra->size, limit);
	} else if (page == 0 || wanted > limit || (page >= ra->previous && page - ra->previous <= 1)) {
		open_window(ra, page, wanted, limit);
	} else {
		return (struct sl_readahead_window){page, wanted, true};
	}
	if (page == ra->start && ra->size == ra->ahead) {
		join_next(ra, limit);
	}
	return (struct sl_readahead_window){ra->start, ra->size, false};
}

void sl_readahead_read(struct sl_readahead *ra, int64_t last_page)
{
	ra->previous = last_page;
}
