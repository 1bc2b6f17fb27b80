#include "loadgen/target.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <nfsc/libnfs.h> /* before the raw headers, which need its types */

#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw.h>

#include "loadgen/meter.h"
#include "sim/base/clock.h"

#define POLL_MAX_NS 100000000
#define NULL_MAX 10000u
#define DEFAULT_FILE "/sloglab-load.dat" /* of a URL that ends with the export */

struct sl_target {
	struct nfs_context *nfs;
	struct nfs_url *url;
	char *name; /* the URL, as given */
	int64_t timeout_ns;
	bool closing;
	/* The one step that is waited for. */
	struct {
		bool done;
		int status;
		void *data;
		struct nfs_stat_64 stat;
	} wait;
};

/* libnfs's texts may have several lines; errors here have one. */
static const char *nfs_text(const struct sl_target *target, char *buf, size_t size)
{
	const char *text = nfs_get_error(target->nfs);
	size_t n = 0;

	for (; text && *text && n + 1 < size; text++) {
		buf[n++] = (char)(*text == '\n' || *text == '\r' ? ' ' : *text);
	}
	while (n > 0 && buf[n - 1] == ' ') {
		n--;
	}
	buf[n] = '\0';
	return n > 0 ? buf : "no reason given";
}

int sl_target_failed(const struct sl_target *target, const char *what, int status, struct sl_err *err)
{
	char text[200];

	if (status >= 0) {
		status = -EIO; /* it did less than it should have */
	}
	return sl_err_set(err, status, "%s: %s: %s (%s)", target->name, what, strerror(-status),
			  nfs_text(target, text, sizeof(text)));
}

static int service(struct sl_target *target, int events, struct sl_err *err)
{
	return nfs_service(target->nfs, events) < 0 ? sl_target_failed(target, "connection lost", -EIO, err)
						    : 0;
}

/* Sends what was queued without asking whether there is room: there nearly always is. libnfs wants both
 * events only while it is connected; before that, POLLOUT would tell it that it is. */
static int send_queued(struct sl_target *target, struct sl_err *err)
{
	const int both = POLLIN | POLLOUT;

	return (nfs_which_events(target->nfs) & both) == both ? service(target, POLLOUT, err) : 0;
}

static int service_once(struct sl_target *target, int64_t timeout_ns, struct sl_err *err)
{
	int rc = send_queued(target, err);
	struct pollfd pfd = {.fd = nfs_get_fd(target->nfs), .events = (short)nfs_which_events(target->nfs)};
	struct timespec ts;
	int got;

	if (rc) {
		return rc;
	}
	if (timeout_ns > POLL_MAX_NS) {
		timeout_ns = POLL_MAX_NS;
	}
	ts.tv_sec = timeout_ns / 1000000000;
	ts.tv_nsec = timeout_ns % 1000000000;
	got = ppoll(&pfd, 1, &ts, NULL);
	if (got < 0 && errno != EINTR) {
		return sl_err_set(err, -errno, "%s: poll: %s", target->name, strerror(errno));
	}
	/* Also when nothing happened: libnfs's timeouts live there. */
	return service(target, got > 0 ? pfd.revents : 0, err);
}

/* Serves the connection until the step is done. */
static int wait_done(struct sl_target *target, const char *what, struct sl_err *err)
{
	int64_t end_ns = sl_clock_ns() + target->timeout_ns;

	while (!target->wait.done) {
		int64_t left_ns = end_ns - sl_clock_ns();
		int rc;

		if (left_ns <= 0) {
			return sl_err_set(err, -ETIMEDOUT, "%s: %s: no answer within %lld s", target->name,
					  what, (long long)(target->timeout_ns / 1000000000));
		}
		rc = service_once(target, left_ns, err);
		/* libnfs reports a refused connection both ways; the step's own status says more. */
		if (rc && !target->wait.done) {
			return rc;
		}
	}
	return target->wait.status < 0 ? sl_target_failed(target, what, target->wait.status, err) : 0;
}

static void wait_cb(int status, struct nfs_context *nfs, void *data, void *arg)
{
	struct sl_target *target = arg;

	(void)nfs;
	target->wait.done = true;
	target->wait.status = status;
	target->wait.data = status >= 0 ? data : NULL;
}

static void wait_stat_cb(int status, struct nfs_context *nfs, void *data, void *arg)
{
	struct sl_target *target = arg;

	if (status >= 0) {
		target->wait.stat = *(struct nfs_stat_64 *)data;
	}
	wait_cb(status, nfs, data, arg);
}

static void wait_null_cb(struct rpc_context *rpc, int status, void *data, void *arg)
{
	(void)rpc;
	wait_cb(status == RPC_STATUS_SUCCESS ? 0 : -EIO, NULL, data, arg);
}

/* `queued` is what the libnfs call said. */
static int step(struct sl_target *target, const char *what, int queued, struct sl_err *err)
{
	return queued < 0 ? sl_target_failed(target, what, -EIO, err) : wait_done(target, what, err);
}

/* Status and data are the callback's to set. */
static void wait_begin(struct sl_target *target)
{
	target->wait.done = false;
}

static int url_parse(struct sl_target *target, bool folder, struct sl_err *err)
{
	char text[200];
	char *url = NULL;

	if (strncmp(target->name, "nfs://", 6) != 0) {
		(void)sl_err_set(err, -EINVAL, "\"%.100s\": not a URL of the form nfs://SERVER/EXPORT/FILE",
				 target->name);
		return -EINVAL;
	}
	/* Looking for exports below this one costs calls at every mount, and libnfs 4.0.0 leaks the answer.
	 */
	if (asprintf(&url, "%s%cauto-traverse-mounts=0", target->name,
		     strchr(target->name, '?') ? '&' : '?') < 0) {
		(void)sl_err_set(err, -ENOMEM, "out of memory");
		return -ENOMEM;
	}
	target->url = folder ? nfs_parse_url_dir(target->nfs, url) : nfs_parse_url_full(target->nfs, url);
	free(url);
	if (!target->url) {
		(void)sl_err_set(err, -EINVAL,
				 "\"%.100s\": %s; use nfs://SERVER/EXPORT/FILE[?nfsport=N&mountport=N]",
				 target->name, nfs_text(target, text, sizeof(text)));
		return -EINVAL;
	}
	return 0;
}

/* libnfs cuts the file off the path and leaves nothing of "/". */
static const char *target_export(const struct sl_target *target)
{
	return target->url->path[0] ? target->url->path : "/";
}

/* libnfs leaves Nagle's algorithm on: a second call in flight could wait for the answer to the first. */
static void no_delay(const struct sl_target *target)
{
	int on = 1;

	(void)setsockopt(nfs_get_fd(target->nfs), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int sl_target_open(const char *url, bool folder, int64_t timeout_ns, struct sl_target **ret,
		   struct sl_err *err)
{
	struct sl_target *target = calloc(1, sizeof(*target));
	int rc;

	if (!target) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	target->timeout_ns = timeout_ns;
	target->name = strdup(url);
	target->nfs = nfs_init_context();
	if (!target->name || !target->nfs) {
		sl_target_close(target);
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = url_parse(target, folder, err);
	if (rc == 0) {
		wait_begin(target);
		rc = step(
		    target, "cannot mount",
		    nfs_mount_async(target->nfs, target->url->server, target_export(target), wait_cb, target),
		    err);
	}
	if (rc) {
		sl_target_close(target);
		return rc;
	}
	no_delay(target);
	*ret = target;
	return 0;
}

void sl_target_close(struct sl_target *target)
{
	if (!target) {
		return;
	}
	target->closing = true;
	if (target->url) {
		nfs_destroy_url(target->url);
	}
	if (target->nfs) {
		nfs_destroy_context(target->nfs);
	}
	free(target->name);
	free(target);
}

const char *sl_target_file(const struct sl_target *target)
{
	return strcmp(target->url->file, "/") == 0 ? DEFAULT_FILE : target->url->file;
}

static int order_ns(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

int64_t sl_target_median_ns(int64_t *all, uint32_t count)
{
	assert(count > 0);
	qsort(all, count, sizeof(*all), order_ns);
	return all[count / 2];
}

int sl_target_null_ns(struct sl_target *target, uint32_t count, int64_t *ret_ns, struct sl_err *err)
{
	struct rpc_context *rpc = nfs_get_rpc_context(target->nfs);
	int64_t *all;
	int rc = 0;

	count = count < 1 ? 1 : count > NULL_MAX ? NULL_MAX : count;
	all = malloc(count * sizeof(*all));
	if (!all) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < count && rc == 0; i++) {
		int64_t start_ns = sl_clock_ns();

		wait_begin(target);
		rc = step(target, "NULL call", rpc_nfs3_null_async(rpc, wait_null_cb, target), err);
		all[i] = sl_clock_ns() - start_ns;
	}
	if (rc == 0) {
		*ret_ns = sl_target_median_ns(all, count);
	}
	free(all);
	return rc;
}

int sl_target_open_file(struct sl_target *target, const char *path, int flags, struct nfsfh **ret,
			struct sl_err *err)
{
	char what[160];
	int rc;

	(void)snprintf(what, sizeof(what), "cannot open %.120s", path);
	wait_begin(target);
	rc = step(target, what, nfs_open2_async(target->nfs, path, flags, 0644, wait_cb, target), err);
	if (rc == 0) {
		*ret = target->wait.data;
	}
	return rc;
}

int sl_target_truncate(struct sl_target *target, struct nfsfh *fh, uint64_t bytes, struct sl_err *err)
{
	wait_begin(target);
	return step(target, "cannot set the size",
		    nfs_ftruncate_async(target->nfs, fh, bytes, wait_cb, target), err);
}

int sl_target_size(struct sl_target *target, struct nfsfh *fh, uint64_t *ret_bytes, struct sl_err *err)
{
	int rc;

	wait_begin(target);
	rc = step(target, "cannot get the size", nfs_fstat64_async(target->nfs, fh, wait_stat_cb, target),
		  err);
	if (rc == 0) {
		*ret_bytes = target->wait.stat.nfs_size;
	}
	return rc;
}

int sl_target_remove(struct sl_target *target, const char *path, struct sl_err *err)
{
	char what[160];

	(void)snprintf(what, sizeof(what), "cannot remove %.120s", path);
	wait_begin(target);
	return step(target, what, nfs_unlink_async(target->nfs, path, wait_cb, target), err);
}

int sl_target_close_file(struct sl_target *target, struct nfsfh *fh, struct sl_err *err)
{
	wait_begin(target);
	return step(target, "cannot close", nfs_close_async(target->nfs, fh, wait_cb, target), err);
}

static void op_cb(int status, struct nfs_context *nfs, void *data, void *arg)
{
	struct sl_target_op *op = arg;

	(void)nfs;
	/* Destroying the context calls back for everything in flight, whose owners may be gone. */
	if (!op->target->closing) {
		op->done(op, status, status >= 0 ? data : NULL);
	}
}

int sl_target_write(struct sl_target *target, struct nfsfh *fh, uint64_t offset, const void *buf,
		    uint32_t bytes, struct sl_target_op *op)
{
	op->target = target;
	return nfs_pwrite_async(target->nfs, fh, offset, bytes, buf, op_cb, op) < 0 ? -ENOMEM : 0;
}

int sl_target_read(struct sl_target *target, struct nfsfh *fh, uint64_t offset, uint32_t bytes,
		   struct sl_target_op *op)
{
	op->target = target;
	return nfs_pread_async(target->nfs, fh, offset, bytes, op_cb, op) < 0 ? -ENOMEM : 0;
}

int sl_target_commit(struct sl_target *target, struct nfsfh *fh, struct sl_target_op *op)
{
	op->target = target;
	return nfs_fsync_async(target->nfs, fh, op_cb, op) < 0 ? -ENOMEM : 0;
}

int sl_target_poll(struct sl_target *target, int64_t timeout_ns, struct sl_err *err)
{
	return service_once(target, timeout_ns, err);
}
