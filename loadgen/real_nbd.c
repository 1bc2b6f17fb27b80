/* NBD exports through libnbd, asynchronous: every wait has a limit. */
#include <errno.h>
#include <libnbd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadgen/real_disk_inner.h"
#include "sim/base/clock.h"
#include "sim/base/loop.h"

#define WAIT_NS INT64_C(10000000000)

struct real_nbd {
	struct sl_real_disk disk;
	struct nbd_handle *handle;
	bool flush;
};

static struct real_nbd *nbd_of(struct sl_real_disk *disk)
{
	return sl_container_of(disk, struct real_nbd, disk);
}

static int failed(const struct real_nbd *nbd, struct sl_err *err)
{
	int code = nbd_get_errno();
	const char *text = nbd_get_error();

	return sl_err_set(err, code > 0 ? -code : -EIO, "%.200s: %.200s", nbd->disk.name,
			  text ? text : "failed");
}

/* Serves the connection once, until `end_ns` at the longest. */
static int step(const struct real_nbd *nbd, int64_t end_ns, struct sl_err *err)
{
	int64_t left_ns = end_ns - sl_clock_ns();
	int rc;

	if (left_ns <= 0) {
		return sl_err_set(err, -ETIMEDOUT, "%.200s: no answer within 10 s", nbd->disk.name);
	}
	rc = nbd_poll(nbd->handle, (int)(left_ns / 1000000) + 1);
	return rc < 0 ? failed(nbd, err) : 0;
}

/* Waits for one command. Its number is retired. */
static int wait_for(const struct real_nbd *nbd, int64_t cookie, struct sl_err *err)
{
	int64_t end_ns = sl_clock_ns() + WAIT_NS;
	int rc;

	if (cookie < 0) {
		return failed(nbd, err);
	}
	while ((rc = nbd_aio_command_completed(nbd->handle, (uint64_t)cookie)) == 0) {
		rc = step(nbd, end_ns, err);
		if (rc < 0) {
			return rc;
		}
	}
	return rc < 0 ? failed(nbd, err) : 0;
}

static int nbd_sync(struct sl_real_disk *disk, int64_t offset, int64_t bytes, struct sl_err *err)
{
	struct real_nbd *nbd = nbd_of(disk);
	int rc = wait_for(nbd,
			  nbd_aio_pwrite(nbd->handle, disk->buffer, (size_t)bytes, (uint64_t)offset,
					 NBD_NULL_COMPLETION, 0),
			  err);

	if (rc == 0 && nbd->flush) {
		rc = wait_for(nbd, nbd_aio_flush(nbd->handle, NBD_NULL_COMPLETION, 0), err);
	}
	return rc;
}

/* Requests outstanding. */
struct window {
	int64_t cookies[SL_REAL_DEPTH_MAX]; /* 0 = free */
	char *buffers;
	int depth;
	uint64_t done;
};

static int window_send(struct real_nbd *nbd, struct window *window, bool write, int64_t bytes, int at,
		       struct sl_err *err)
{
	uint64_t offset = (uint64_t)sl_real_disk_place(&nbd->disk, bytes);
	char *buffer = window->buffers + at * bytes;

	window->cookies[at] =
	    write ? nbd_aio_pwrite(nbd->handle, buffer, (size_t)bytes, offset, NBD_NULL_COMPLETION, 0)
		  : nbd_aio_pread(nbd->handle, buffer, (size_t)bytes, offset, NBD_NULL_COMPLETION, 0);
	if (window->cookies[at] < 0) {
		window->cookies[at] = 0;
		return failed(nbd, err);
	}
	return 0;
}

/* Takes what is done out of the window. Returns how many, or a negative errno. */
static int window_reap(struct real_nbd *nbd, struct window *window, struct sl_err *err)
{
	int n = 0;

	for (int i = 0; i < window->depth; i++) {
		int rc = window->cookies[i]
			     ? nbd_aio_command_completed(nbd->handle, (uint64_t)window->cookies[i])
			     : 0;

		if (rc < 0) {
			window->cookies[i] = 0;
			return failed(nbd, err);
		}
		if (rc > 0) {
			window->cookies[i] = 0;
			window->done++;
			n++;
		}
	}
	return n;
}

static int window_run(struct real_nbd *nbd, struct window *window, bool write, int64_t bytes,
		      struct sl_err *err)
{
	int64_t end_ns = sl_clock_ns() + nbd->disk.options.time_ns, late_ns = sl_clock_ns() + WAIT_NS;
	int rc = 0;

	while (rc >= 0 && sl_clock_ns() < end_ns) {
		if (sl_real_disk_stopped(&nbd->disk)) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		for (int i = 0; rc >= 0 && i < window->depth; i++) {
			rc = window->cookies[i] == 0 ? window_send(nbd, window, write, bytes, i, err) : 0;
		}
		rc = rc >= 0 ? step(nbd, late_ns, err) : rc;
		rc = rc >= 0 ? window_reap(nbd, window, err) : rc;
		late_ns = rc > 0 ? sl_clock_ns() + WAIT_NS : late_ns;
	}
	return rc < 0 ? rc : 0;
}

/* Leaves no command that would write to freed buffers. */
static int window_end(struct real_nbd *nbd, struct window *window, struct sl_err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < window->depth; i++) {
		if (window->cookies[i]) {
			rc = wait_for(nbd, window->cookies[i], err);
		}
	}
	return rc;
}

static int nbd_iops(struct sl_real_disk *disk, bool write, int64_t bytes, int depth, double *ret,
		    struct sl_err *err)
{
	struct real_nbd *nbd = nbd_of(disk);
	struct window window = {.depth = depth, .buffers = malloc((size_t)(bytes * depth))};
	int64_t start_ns = sl_clock_ns(), took_ns;
	struct sl_err later = {0};
	int rc;

	if (!window.buffers) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	for (int i = 0; i < depth; i++) {
		memcpy(window.buffers + i * bytes, disk->buffer, (size_t)bytes);
	}
	rc = window_run(nbd, &window, write, bytes, err);
	took_ns = sl_clock_ns() - start_ns;
	*ret = took_ns > 0 ? (double)window.done * 1e9 / (double)took_ns : 0;
	if (window_end(nbd, &window, &later) < 0) {
		/* The connection is lost; with it go its commands, and only then their buffers. */
		nbd_close(nbd->handle);
		nbd->handle = NULL;
		rc = rc < 0 ? rc : sl_err_set(err, later.code, "%s", later.msg);
	}
	free(window.buffers);
	return rc;
}

static void nbd_disk_close(struct sl_real_disk *disk)
{
	struct real_nbd *nbd = nbd_of(disk);

	if (nbd->handle) {
		nbd_close(nbd->handle);
	}
	free(nbd);
}

static const struct sl_real_disk_ops nbd_ops = {.sync = nbd_sync, .iops = nbd_iops, .close = nbd_disk_close};

static int connect_to(struct real_nbd *nbd, const char *uri, struct sl_err *err)
{
	int64_t end_ns = sl_clock_ns() + WAIT_NS;
	int rc = 0;

	nbd->handle = nbd_create();
	if (!nbd->handle ||
	    nbd_set_strict_mode(nbd->handle, LIBNBD_STRICT_MASK & ~(uint32_t)LIBNBD_STRICT_ALIGN) < 0 ||
	    nbd_aio_connect_uri(nbd->handle, uri) < 0) {
		return failed(nbd, err);
	}
	while (rc == 0 && nbd_aio_is_connecting(nbd->handle)) {
		rc = step(nbd, end_ns, err);
	}
	return rc == 0 && nbd_aio_is_ready(nbd->handle) != 1 ? failed(nbd, err) : rc;
}

int sl_real_nbd_open(const char *uri, const struct sl_real_disk_options *options, struct sl_real_disk **ret,
		     struct sl_err *err)
{
	struct real_nbd *nbd;
	int rc;

	if (!options->destroy_ok) {
		return sl_err_set(err, -EPERM,
				  "%.200s: the test would overwrite the export; add --yes-destroy-data", uri);
	}
	nbd = calloc(1, sizeof(*nbd));
	if (!nbd) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = sl_real_disk_init(&nbd->disk, &nbd_ops, uri, options, err);
	rc = rc == 0 ? connect_to(nbd, uri, err) : rc;
	if (rc == 0 && nbd_is_read_only(nbd->handle) != 0) {
		rc = sl_err_set(err, -EROFS, "%.200s: the export is read-only", uri);
	}
	rc = rc == 0 ? sl_real_disk_size(&nbd->disk, nbd_get_size(nbd->handle), err) : rc;
	if (rc < 0) {
		sl_real_disk_close(&nbd->disk);
		return rc;
	}
	nbd->flush = nbd_can_flush(nbd->handle) == 1;
	if (!nbd->flush) {
		(void)snprintf(nbd->disk.note, sizeof(nbd->disk.note),
			       "the export has no flush: writes are taken as stable");
	}
	*ret = &nbd->disk;
	return 0;
}
