#include "cli/live_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/serving.h"
#include "cli/signals.h"
#include "sim/serve/pool_server.h"

/* First message of the child. */
struct hello {
	int code; /* 0, or a negative errno with a message */
	uint16_t nfs_port, mount_port;
	char msg[400];
};

/* Last message of the child. */
struct goodbye {
	int64_t lateness_p50_ns, lateness_p99_ns, modelled_p50_ns, modelled_p99_ns, credit_used_ns;
	uint64_t errors;
};

/* What the child holds while it serves. */
struct server {
	struct sl_serving serving;
	struct sl_pool_server *pool;
};

static int message_write(int fd, const void *bytes, size_t size)
{
	ssize_t n;

	do {
		n = write(fd, bytes, size);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)size ? 0 : -EPIPE;
}

/* Messages are smaller than PIPE_BUF: they arrive whole. Interrupted reads go on: the caller kills the child.
 */
static int message_read(int fd, void *bytes, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, bytes, size);
	} while (n < 0 && errno == EINTR && !sl_signals_stopped());
	return n == (ssize_t)size ? 0 : n < 0 ? -errno : -EPIPE;
}

static int server_build(struct server *server, const struct sl_box *box, uint64_t seed, const char *dir,
			struct sl_err *err)
{
	struct sl_pool_server_config config = {
	    .box = box, .seed = seed, .datastore = {.dir = dir, .credit_cap_ns = SL_SERVING_CREDIT_NS}};
	int rc = sl_serving_init(&server->serving, err);

	if (rc < 0) {
		return rc;
	}
	config.datastore.loop = server->serving.loop;
	return sl_pool_server_new(&config, &server->pool, err);
}

static void server_timing(struct server *server, struct goodbye *ret)
{
	const struct sl_datastore_timing *t = sl_datastore_timing(sl_pool_server_datastore(server->pool));

	ret->lateness_p50_ns = sl_hist_quantile(&t->lateness, 0.5);
	ret->lateness_p99_ns = sl_hist_quantile(&t->lateness, 0.99);
	ret->modelled_p50_ns = sl_hist_quantile(&t->modelled, 0.5);
	ret->modelled_p99_ns = sl_hist_quantile(&t->modelled, 0.99);
	ret->credit_used_ns = t->credit_used_ns;
	ret->errors = t->errors;
}

/* The life of the child: hello, serve until SIGTERM, goodbye. */
static int server_main(const struct sl_box *box, uint64_t seed, const char *dir, int out)
{
	struct server server = {0};
	struct sl_err err = {0};
	struct hello hello = {0};
	struct goodbye goodbye = {0};
	int rc;

	hello.code = server_build(&server, box, seed, dir, &err);
	snprintf(hello.msg, sizeof(hello.msg), "%.399s", err.msg);
	if (hello.code == 0) {
		struct sl_datastore *ds = sl_pool_server_datastore(server.pool);

		hello.nfs_port = sl_datastore_nfs_port(ds);
		hello.mount_port = sl_datastore_mount_port(ds);
	}
	rc = message_write(out, &hello, sizeof(hello));
	if (rc < 0 || hello.code < 0) {
		return 1;
	}
	rc = sl_loop_run(server.serving.loop, &err);
	server_timing(&server, &goodbye);
	if (rc == 0) {
		rc = message_write(out, &goodbye, sizeof(goodbye));
	}
	sl_pool_server_free(server.pool);
	sl_serving_fini(&server.serving);
	return rc < 0;
}

int sl_live_server_start(const struct sl_box *box, uint64_t seed, const char *dir, struct sl_live_server *ret,
			 struct sl_err *err)
{
	pid_t parent = getpid();
	struct hello hello;
	int ends[2];
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return sl_err_set(err, -errno, "pipe: %s", strerror(errno));
	}
	ret->pid = fork();
	if (ret->pid < 0) {
		rc = -errno;
		ret->pid = 0;
		close(ends[0]);
		close(ends[1]);
		return sl_err_set(err, rc, "fork: %s", strerror(-rc));
	}
	if (ret->pid == 0) {
		/* Its own group: Ctrl-C on the terminal is ours to handle. Our death, however sudden, is its
		 * death. */
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sl_signals_reset();
		signal(SIGPIPE, SIG_IGN);
		close(ends[0]);
		_exit(getppid() == parent ? server_main(box, seed, dir, ends[1]) : 1);
	}
	close(ends[1]);
	ret->pipe = ends[0];
	rc = message_read(ret->pipe, &hello, sizeof(hello));
	if (rc == 0 && hello.code < 0) {
		rc = sl_err_set(err, hello.code, "datastore: %s", hello.msg);
	} else if (rc < 0) {
		sl_err_set(err, rc, "datastore: the server died at its start");
	}
	if (rc < 0) {
		sl_live_server_kill(ret);
		return rc;
	}
	ret->nfs_port = hello.nfs_port;
	ret->mount_port = hello.mount_port;
	return 0;
}

int sl_live_server_stop(struct sl_live_server *server, struct sl_timing *ret, struct sl_err *err)
{
	struct goodbye goodbye;
	int rc;

	kill(server->pid, SIGTERM);
	rc = message_read(server->pipe, &goodbye, sizeof(goodbye));
	sl_live_server_kill(server);
	if (rc < 0) {
		return sl_err_set(err, rc, "datastore: the server died");
	}
	if (goodbye.errors > 0) {
		return sl_err_set(
		    err, -EIO,
		    "datastore: the folder for its files could not be written; set TMPDIR to one with room");
	}
	ret->lateness_p50_ns = goodbye.lateness_p50_ns;
	ret->lateness_p99_ns = goodbye.lateness_p99_ns;
	ret->modelled_p50_ns = goodbye.modelled_p50_ns;
	ret->modelled_p99_ns = goodbye.modelled_p99_ns;
	ret->credit_used_ns = goodbye.credit_used_ns;
	return 0;
}

void sl_live_server_kill(struct sl_live_server *server)
{
	if (server->pid > 0) {
		kill(server->pid, SIGKILL);
		while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR) {
		}
		close(server->pipe);
		server->pid = 0;
	}
}
