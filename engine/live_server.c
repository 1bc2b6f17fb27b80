#include "engine/live_server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/serving.h"
#include "sim/datastore/pacer.h"
#include "sim/datastore/pool_server.h"

/* Longer than this it takes for nothing but the end, when it writes its files. */
#define ANSWER_MS 60000
#define SLICE_MS 100
#define NFS_WRITE 7 /* RFC 1813 */

/* What is asked of the child: one byte. */
enum order {
	ORDER_LATENCY_OFF,
	ORDER_LATENCY_ON,
	ORDER_TIMING,
	ORDER_STOP
};

/* Its answer, and its first words. */
struct answer {
	int code; /* 0, or a negative errno with a message */
	uint16_t nfs_port, mount_port;
	struct sl_timing timing;
	struct sl_live_calls calls;
	uint64_t errors;
	char msg[400];
};

/* What the child holds while it serves. */
struct server {
	struct sl_io orders;
	struct sl_loop *wall;
	struct sl_pool_server *pool;
	double dilate;
};

static struct sl_datastore *datastore_of(struct server *server)
{
	return sl_pool_server_datastore(server->pool);
}

/* Child */

static void answer_send(int fd, const struct answer *answer)
{
	while (send(fd, answer, sizeof(*answer), 0) < 0 && errno == EINTR) {
	}
}

static void answer_fill(struct server *server, struct answer *ret)
{
	const struct sl_datastore_timing *t = sl_datastore_timing(datastore_of(server));

	const struct sl_nfs3_stats *calls = sl_datastore_stats(datastore_of(server));

	*ret = (struct answer){
	    .calls = {(double)calls->reads, (double)calls->writes, (double)calls->commits,
		      (double)calls->procs[NFS_WRITE].bytes},
	    .timing = {.lateness_p50_wall_ns = sl_hist_quantile(&t->lateness_wall_ns, 0.5),
		       .lateness_p99_wall_ns = sl_hist_quantile(&t->lateness_wall_ns, 0.99),
		       .modelled_p50_wall_ns =
			   sl_trust_wall_ns(sl_hist_quantile(&t->modelled_model_ns, 0.5), server->dilate),
		       .modelled_p99_wall_ns =
			   sl_trust_wall_ns(sl_hist_quantile(&t->modelled_model_ns, 0.99), server->dilate),
		       .credit_used_ns = t->credit_used_ns},
	    .errors = t->errors};
}

static void orders_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	struct server *server = sl_container_of(io, struct server, orders);
	struct answer answer;
	char order = ORDER_STOP;
	ssize_t n = recv(io->fd, &order, 1, MSG_DONTWAIT);

	(void)events;
	(void)now_ns;
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n <= 0 || order == ORDER_STOP) {
		sl_loop_stop(server->wall);
		return;
	}
	if (order != ORDER_TIMING) {
		sl_pacer_latency(sl_datastore_pacer(datastore_of(server)), order == ORDER_LATENCY_ON);
	}
	answer_fill(server, &answer);
	answer_send(io->fd, &answer);
}

static int server_build(struct server *server, const struct sl_live_server_config *config, struct sl_err *err)
{
	struct sl_pool_server_config pool = {.box = config->box,
					     .seed = config->seed,
					     .pace = config->dilate,
					     .datastore = {
						 .dir = config->dir,
						 .export_path = SL_LIVE_EXPORT,
						 .credit_cap_ns = SL_SERVING_CREDIT_NS,
						 .portmap_port = config->portmap_port,
					     }};
	int rc;

	server->dilate = config->dilate;
	server->wall = sl_loop_new_wall(err);
	if (!server->wall) {
		return err->code;
	}
	rc = sl_loop_io_add(server->wall, &server->orders, err);
	if (rc < 0) {
		return rc;
	}
	pool.datastore.loop = server->wall;
	rc = sl_pool_server_new(&pool, &server->pool, err);
	if (rc == 0) {
		sl_pacer_latency(sl_datastore_pacer(datastore_of(server)), !config->free);
	}
	return rc;
}

struct child {
	const struct sl_live_server_config *config;
	int fd;
};

/* The life of the child: first words, serve until told to stop, last words. */
static int server_main(void *arg)
{
	const struct child *child = arg;
	struct server server = {
	    .orders = {.fd = child->fd, .events = EPOLLIN, .fire = orders_fire},
	};
	struct answer hello = {0}, goodbye = {0};
	struct sl_err err = {0};

	(void)signal(SIGPIPE, SIG_IGN);
	hello.code = server_build(&server, child->config, &err);
	snprintf(hello.msg, sizeof(hello.msg), "%.399s", err.msg);
	if (hello.code == 0) {
		hello.nfs_port = sl_datastore_nfs_port(datastore_of(&server));
		hello.mount_port = sl_datastore_mount_port(datastore_of(&server));
	}
	answer_send(child->fd, &hello);
	if (hello.code < 0) {
		return 1;
	}
	goodbye.code = sl_loop_run(server.wall, &err);
	answer_fill(&server, &goodbye);
	sl_pool_server_free(server.pool);
	sl_loop_free(server.wall);
	answer_send(child->fd, &goodbye);
	return goodbye.code < 0;
}

/* Parent */

static int answer_read(struct sl_live_server *server, struct answer *ret, struct sl_err *err)
{
	for (int waited_ms = 0; waited_ms < ANSWER_MS; waited_ms += SLICE_MS) {
		struct pollfd in = {.fd = server->channel, .events = POLLIN};

		if (poll(&in, 1, SLICE_MS) > 0) {
			ssize_t n = recv(server->channel, ret, sizeof(*ret), MSG_DONTWAIT);

			if (n == (ssize_t)sizeof(*ret)) {
				return 0;
			}
			if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
				return sl_process_check(&server->process, err) < 0
					   ? err->code
					   : sl_err_set(err, -EPIPE, "datastore: the server died");
			}
		}
		if (server->stopped && server->stopped()) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		if (sl_process_check(&server->process, err) < 0) {
			return err->code;
		}
	}
	return sl_err_set(err, -ETIME, "datastore: no answer in %d s; is the machine overloaded? run again",
			  ANSWER_MS / 1000);
}

static int ask(struct sl_live_server *server, enum order order, struct answer *ret, struct sl_err *err)
{
	char byte = (char)order;

	(void)send(server->channel, &byte, 1, MSG_NOSIGNAL); /* a dead one is seen by the reading */
	return answer_read(server, ret, err);
}

int sl_live_server_start(const struct sl_live_server_config *config, struct sl_live_server *ret,
			 struct sl_err *err)
{
	struct child child = {.config = config};
	/* A late reply looks like a slow disk, so other work waits for the server. Where that is not allowed
	 * (no root), the lateness tells. The kernel leaves the others 5 % even if it should never sleep. */
	const struct sl_process_spec spec = {
	    .name = "datastore", .main = server_main, .arg = &child, .priority = SL_PRIORITY_REALTIME};
	struct answer hello;
	int ends[2], rc;

	memset(ret, 0, sizeof(*ret));
	ret->stopped = config->stopped;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		return sl_err_set(err, -errno, "socketpair: %s", strerror(errno));
	}
	child.fd = ends[1];
	rc = sl_process_start(&spec, &ret->process, err);
	close(ends[1]);
	ret->channel = ends[0];
	if (rc < 0) {
		close(ends[0]);
		return rc;
	}
	rc = answer_read(ret, &hello, err);
	if (rc == 0 && hello.code < 0) {
		rc = sl_err_set(err, hello.code, "datastore: %s", hello.msg);
	}
	if (rc < 0) {
		sl_live_server_kill(ret);
		return rc;
	}
	ret->nfs_port = hello.nfs_port;
	ret->mount_port = hello.mount_port;
	return 0;
}

int sl_live_server_latency(struct sl_live_server *server, bool on, struct sl_err *err)
{
	struct answer answer;

	return ask(server, on ? ORDER_LATENCY_ON : ORDER_LATENCY_OFF, &answer, err);
}

int sl_live_server_timing(struct sl_live_server *server, struct sl_timing *ret,
			  struct sl_live_calls *ret_calls, struct sl_err *err)
{
	struct answer answer;
	int rc = ask(server, ORDER_TIMING, &answer, err);

	if (rc == 0) {
		ret->lateness_p50_wall_ns = answer.timing.lateness_p50_wall_ns;
		ret->lateness_p99_wall_ns = answer.timing.lateness_p99_wall_ns;
		ret->modelled_p50_wall_ns = answer.timing.modelled_p50_wall_ns;
		ret->modelled_p99_wall_ns = answer.timing.modelled_p99_wall_ns;
		ret->credit_used_ns = answer.timing.credit_used_ns;
		*ret_calls = answer.calls;
	}
	return rc;
}

int sl_live_server_stop(struct sl_live_server *server, struct sl_err *err)
{
	struct answer goodbye = {0};
	int rc = ask(server, ORDER_STOP, &goodbye, err);

	sl_live_server_kill(server);
	if (rc == 0 && goodbye.errors > 0) {
		return sl_err_set(
		    err, -EIO,
		    "datastore: the folder for its files could not be written; set TMPDIR to one with room");
	}
	return rc;
}

void sl_live_server_kill(struct sl_live_server *server)
{
	if (server->process.name) {
		sl_process_stop(&server->process, SIGKILL, 0);
		close(server->channel);
		server->process.name = NULL;
	}
}
