#include "sim/guest/page_reads.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/guest/extents.h"
#include "sim/guest/page_cache.h"
#include "sim/guest/readahead.h"

struct sl_read_file {
	struct sl_readahead ahead;
	struct sl_extents here, coming; /* pages in memory, and on their way there */
	struct sl_page_read *waiting, **waiting_end;
};

struct read_io {
	void *pool_link;
	struct sl_page_reads *reads;
	struct sl_read_file *file;
	struct sl_extent range;
	struct sl_hyp_req req;
};

static int64_t page_down(int64_t bytes)
{
	return bytes / SL_PAGE * SL_PAGE;
}

static int64_t page_up(int64_t bytes)
{
	return page_down(bytes + SL_PAGE - 1);
}

/* The read has what it wanted. */
static void read_end(struct sl_read_file *file, const struct sl_page_read *req)
{
	if (req->random) {
		(void)sl_extents_remove(&file->here, req->start, req->end);
	}
}

static void io_done(struct sl_timer *timer, int64_t now_ns)
{
	struct read_io *io = sl_container_of(timer, struct read_io, req.done);
	struct sl_read_file *file = io->file;
	struct sl_page_read **at = &file->waiting, *ready = NULL, **tail = &ready;

	(void)sl_extents_remove(&file->coming, io->range.start, io->range.end);
	(void)sl_extents_add(&file->here, io->range.start, io->range.end);
	sl_slab_put(&io->reads->ios, io);
	while (*at) {
		struct sl_page_read *req = *at;

		if (sl_extents_covers(&file->here, req->start, req->end)) {
			*at = req->next;
			*tail = req;
			tail = &req->next;
		} else {
			at = &req->next;
		}
	}
	file->waiting_end = at;
	*tail = NULL;
	while (ready) {
		struct sl_page_read *req = ready;

		ready = req->next;
		read_end(file, req);
		sl_timer_fire(&req->done, now_ns);
	}
}

/* Asks the disk for what of the range is neither here nor coming. */
static void fetch(struct sl_page_reads *reads, int64_t now_ns, const struct sl_page_read *req,
		  struct sl_extent range)
{
	struct sl_read_file *file = &reads->files[req->file];
	int64_t max_bytes = reads->config.disk->max_io_bytes;

	range.end = range.end < reads->config.stride ? range.end : reads->config.stride;
	while (range.start < range.end) {
		struct sl_extent known = {0, 0}, coming = {range.end, range.end};
		struct read_io *io;
		int64_t end = range.end;

		if (sl_extents_find(&file->here, range.start, &known) && known.start < end) {
			end = known.start;
		}
		if (sl_extents_find(&file->coming, range.start, &coming) && coming.start < end) {
			known = coming;
			end = coming.start;
		}
		if (end <= range.start) { /* known from here on */
			range.start = known.end;
			continue;
		}
		end = end - range.start > max_bytes ? range.start + max_bytes : end;
		io = sl_slab_get(&reads->ios);
		io->reads = reads;
		io->file = file;
		io->range = (struct sl_extent){range.start, end};
		io->req = (struct sl_hyp_req){
		    .done.fire = io_done,
		    .op = SL_HYP_READ,
		    .zero = req->zero,
		    .bytes = (uint32_t)(end - range.start),
		    .offset_bytes =
			reads->config.start + (int64_t)req->file * reads->config.stride + range.start,
		    .tag = req->tag,
		};
		(void)sl_extents_add(&file->coming, range.start, end);
		sl_hyp_submit(reads->config.disk, now_ns, &io->req);
		range.start = end;
	}
}

/* The next window, as a read that wants all from `at` on comes to a missing page or to the mark there. */
static void fetch_window(struct sl_page_reads *reads, int64_t now_ns, struct sl_page_read *req, int64_t at)
{
	struct sl_readahead_window window = sl_readahead_next(
	    &reads->files[req->file].ahead, at / SL_PAGE, (req->end - at) / SL_PAGE,
	    reads->config.read_ahead_bytes / SL_PAGE, reads->config.disk->max_io_bytes / SL_PAGE);

	req->random = req->random || window.random;
	fetch(reads, now_ns, req,
	      (struct sl_extent){window.start * SL_PAGE, (window.start + window.size) * SL_PAGE});
}

/* The end of what is here or coming from `at` on; `at` itself when that page is missing. */
static int64_t known_until(const struct sl_read_file *file, int64_t at)
{
	struct sl_extent range;

	if (sl_extents_find(&file->here, at, &range) && range.start <= at) {
		return range.end;
	}
	if (sl_extents_find(&file->coming, at, &range) && range.start <= at) {
		return range.end;
	}
	return at;
}

bool sl_page_read_hits(struct sl_page_reads *reads, uint32_t file_index, int64_t start, int64_t end)
{
	struct sl_read_file *file = &reads->files[file_index];
	int64_t mark = sl_readahead_mark(&file->ahead) * SL_PAGE;

	if ((mark >= page_down(start) && mark < end) ||
	    !sl_extents_covers(&file->here, page_down(start), page_up(end))) {
		return false;
	}
	sl_readahead_read(&file->ahead, (end - 1) / SL_PAGE);
	return true;
}

bool sl_page_read_start(struct sl_page_reads *reads, int64_t now_ns, struct sl_page_read *req)
{
	struct sl_read_file *file = &reads->files[req->file];

	req->start = page_down(req->start);
	req->end = page_up(req->end);
	req->random = false;
	for (int64_t at = req->start; at < req->end;) {
		int64_t mark = sl_readahead_mark(&file->ahead) * SL_PAGE;
		int64_t until = known_until(file, at);

		if (until == at) {
			fetch_window(reads, now_ns, req, at);
			if (known_until(file, at) == at) { /* the window lies further on */
				fetch(reads, now_ns, req, (struct sl_extent){at, req->end});
				break;
			}
		} else if (mark >= at && mark < until && mark < req->end) {
			fetch_window(reads, now_ns, req, mark);
			at = mark + SL_PAGE;
		} else {
			at = until;
		}
	}
	sl_readahead_read(&file->ahead, (req->end - 1) / SL_PAGE);
	if (sl_extents_covers(&file->here, req->start, req->end)) {
		read_end(file, req);
		return true;
	}
	req->next = NULL;
	*file->waiting_end = req;
	file->waiting_end = &req->next;
	return false;
}

int sl_page_reads_init(struct sl_page_reads *reads, const struct sl_page_reads_config *config,
		       uint32_t n_files)
{
	*reads = (struct sl_page_reads){.config = *config, .n_files = n_files};
	sl_slab_init(&reads->ios, sizeof(struct read_io));
	reads->files = calloc(n_files, sizeof(*reads->files));
	if (!reads->files) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_files; i++) {
		sl_readahead_init(&reads->files[i].ahead);
		reads->files[i].waiting_end = &reads->files[i].waiting;
	}
	return 0;
}

void sl_page_reads_fini(struct sl_page_reads *reads)
{
	for (uint32_t i = 0; reads->files && i < reads->n_files; i++) {
		sl_extents_fini(&reads->files[i].here);
		sl_extents_fini(&reads->files[i].coming);
	}
	free(reads->files);
	reads->files = NULL;
	sl_slab_fini(&reads->ios);
}
