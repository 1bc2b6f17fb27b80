#include "sim/serve/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/serve/listen.h"

#define USAGE_LINE "usage\n"
#define CLIENTS_MAX 16
#define ASK_TIMEOUT_S 60

struct client {
	struct sl_io io; /* fd < 0: free */
	struct sl_control *control;
	size_t have;
	char line[SL_CONTROL_LINE_MAX];
};

struct sl_control {
	struct sl_loop *loop;
	struct sl_listener listener;
	int (*run)(void *arg, char *command, char *reply, size_t size, struct sl_err *err);
	void *arg;
	struct client clients[CLIENTS_MAX];
	char reply[SL_CONTROL_REPLY_MAX + sizeof(((struct sl_err *)0)->msg) + 16];
};

static void client_close(struct client *client)
{
	if (client->io.fd >= 0) {
		sl_loop_io_del(client->control->loop, &client->io);
		close(client->io.fd);
		client->io.fd = -1;
	}
}

/* A reply fits the socket's buffer; a client that has left earlier ones unread is dropped. */
static void client_answer(struct client *client, char *line)
{
	struct sl_control *control = client->control;
	struct sl_err err = {0};
	size_t length;
	int rc;

	control->reply[0] = '\0';
	rc = control->run(control->arg, line, control->reply, SL_CONTROL_REPLY_MAX, &err);
	length = strlen(control->reply);
	if (rc < 0) {
		/* A command that makes no sense is another error than one that cannot be done. */
		(void)snprintf(control->reply + length, sizeof(control->reply) - length, "%serror: %s\n",
			       rc == -EINVAL ? USAGE_LINE : "", err.msg);
	} else {
		(void)snprintf(control->reply + length, sizeof(control->reply) - length, "ok\n");
	}
	length = strlen(control->reply);
	if (send(client->io.fd, control->reply, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length) {
		client_close(client);
	}
}

static void client_lines(struct client *client)
{
	char *newline;

	while (client->io.fd >= 0 && (newline = memchr(client->line, '\n', client->have)) != NULL) {
		size_t used = (size_t)(newline - client->line) + 1;
		char line[SL_CONTROL_LINE_MAX];

		memcpy(line, client->line, used);
		line[used - 1] = '\0';
		client->have -= used;
		memmove(client->line, client->line + used, client->have);
		client_answer(client, line);
	}
	if (client->have == sizeof(client->line)) {
		client_close(client); /* no command is that long */
	}
}

static void client_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	struct client *client = sl_container_of(io, struct client, io);
	ssize_t got =
	    recv(io->fd, client->line + client->have, sizeof(client->line) - client->have, MSG_DONTWAIT);

	(void)events;
	(void)now_ns;
	if (got > 0) {
		client->have += (size_t)got;
		client_lines(client);
	} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		client_close(client);
	}
}

static void client_accepted(void *arg, int fd)
{
	struct sl_control *control = arg;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &control->clients[i];

		if (client->io.fd < 0) {
			client->io.fd = fd;
			client->have = 0;
			if (sl_loop_io_add(control->loop, &client->io, NULL) < 0) {
				client->io.fd = -1;
				break;
			}
			return;
		}
	}
	close(fd);
}

int sl_control_new(struct sl_loop *loop, const char *path,
		   int (*run)(void *arg, char *command, char *reply, size_t size, struct sl_err *err),
		   void *arg, struct sl_control **ret, struct sl_err *err)
{
	struct sl_control *control = calloc(1, sizeof(*control));
	int rc;

	if (!control) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	control->loop = loop;
	control->run = run;
	control->arg = arg;
	for (int i = 0; i < CLIENTS_MAX; i++) {
		control->clients[i].control = control;
		control->clients[i].io = (struct sl_io){.fd = -1, .events = EPOLLIN, .fire = client_fire};
	}
	sl_listener_init(&control->listener, loop, client_accepted, control);
	rc = sl_listener_unix(&control->listener, path, err);
	if (rc < 0) {
		sl_control_free(control);
		return rc;
	}
	*ret = control;
	return 0;
}

void sl_control_free(struct sl_control *control)
{
	if (!control) {
		return;
	}
	sl_listener_close(&control->listener);
	for (int i = 0; i < CLIENTS_MAX; i++) {
		client_close(&control->clients[i]);
	}
	free(control);
}

/* Length of the text before the last line when that is whole, -1 when it is not. */
static ssize_t last_line(const char *text, size_t have)
{
	ssize_t at = (ssize_t)have - 1;

	if (have == 0 || text[have - 1] != '\n') {
		return -1;
	}
	while (at > 0 && text[at - 1] != '\n') {
		at--;
	}
	return strncmp(text + at, "ok\n", 3) == 0 || strncmp(text + at, "error: ", 7) == 0 ? at : -1;
}

static int reply_read(int fd, const char *path, const struct sl_control_patience *patience, char *reply,
		      size_t size, struct sl_err *err)
{
	int64_t end_ms = sl_clock_ms() + 1000LL * patience->timeout_s;
	size_t have = 0;
	ssize_t end;

	for (;;) {
		ssize_t got = recv(fd, reply + have, size - 1 - have, 0);

		if (got < 0 && (errno == EINTR || errno == EAGAIN) && patience->stopped &&
		    patience->stopped()) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		if (got < 0 && (errno == EINTR || (errno == EAGAIN && sl_clock_ms() < end_ms))) {
			continue;
		}
		if (got <= 0) {
			return sl_err_set(err, got < 0 ? -errno : -EPIPE,
					  "socket %s: the server did not answer: %s", path,
					  got < 0 ? strerror(errno) : "connection closed");
		}
		have += (size_t)got;
		reply[have] = '\0';
		end = last_line(reply, have);
		if (end >= 0) {
			break;
		}
		if (have == size - 1) {
			return sl_err_set(err, -EPROTO, "socket %s: answer too long", path);
		}
	}
	if (reply[end] == 'e') {
		const char *usage =
		    end >= (ssize_t)strlen(USAGE_LINE) ? reply + end - strlen(USAGE_LINE) : "";
		int rc = strncmp(usage, USAGE_LINE, strlen(USAGE_LINE)) == 0 ? -EINVAL : -EPROTO;

		reply[have - 1] = '\0';
		(void)sl_err_set(err, rc, "%s", reply + end + strlen("error: "));
		reply[end] = '\0';
		return rc;
	}
	reply[end] = '\0';
	return 0;
}

int sl_control_ask(const char *path, const char *command, char *reply, size_t size, struct sl_err *err)
{
	const struct sl_control_patience patience = {.timeout_s = ASK_TIMEOUT_S};

	return sl_control_ask_within(path, command, &patience, reply, size, err);
}

int sl_control_ask_within(const char *path, const char *command, const struct sl_control_patience *patience,
			  char *reply, size_t size, struct sl_err *err)
{
	const struct timeval look = {.tv_sec = 1};
	char line[SL_CONTROL_LINE_MAX];
	int length = snprintf(line, sizeof(line), "%s\n", command);
	int fd, rc;

	if (length >= (int)sizeof(line) || strchr(command, '\n')) {
		return sl_err_set(err, -EINVAL, "command: too long, or more than one line");
	}
	fd = sl_unix_connect(path, err);
	if (fd < 0) {
		return fd;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look));
	if (send(fd, line, (size_t)length, MSG_NOSIGNAL) != length) {
		rc = sl_err_set(err, -errno, "socket %s: cannot send: %s", path, strerror(errno));
	} else {
		rc = reply_read(fd, path, patience, reply, size, err);
	}
	close(fd);
	return rc;
}
