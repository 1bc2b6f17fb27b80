#include "sim/serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64
#define ACCEPTS 16 /* per turn, so that a flood of connections does not starve the others */

static void spare_open(struct sl_listener *listener)
{
	listener->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Out of descriptors: the client is turned away, or its connection would wake the loop for ever. */
static void client_refuse(struct sl_listener *listener)
{
	int fd;

	if (listener->spare_fd < 0) {
		return;
	}
	close(listener->spare_fd);
	fd = accept4(listener->io.fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0) {
		close(fd);
	}
	spare_open(listener);
}

static void listener_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	struct sl_listener *listener = sl_container_of(io, struct sl_listener, io);

	(void)events;
	(void)now_ns;
	for (int i = 0; i < ACCEPTS; i++) {
		int on = 1;
		int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE) {
				client_refuse(listener);
			}
			return;
		}
		if (!listener->path) {
			(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		}
		listener->accepted(listener->arg, fd);
	}
}

void sl_listener_init(struct sl_listener *listener, struct sl_loop *loop, void (*accepted)(void *arg, int fd),
		      void *arg)
{
	*listener = (struct sl_listener){.io = {.fd = -1, .events = EPOLLIN, .fire = listener_fire},
					 .loop = loop,
					 .accepted = accepted,
					 .arg = arg,
					 .spare_fd = -1};
}

static int address_of(const char *path, struct sockaddr_un *ret, struct sl_err *err)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(ret->sun_path)) {
		return sl_err_set(err, -ENAMETOOLONG,
				  "socket %s: longer than %zu bytes; choose a shorter path", path,
				  sizeof(ret->sun_path) - 1);
	}
	memcpy(ret->sun_path, path, strlen(path));
	return 0;
}

int sl_unix_connect(const char *path, struct sl_err *err)
{
	struct sockaddr_un at;
	int rc = address_of(path, &at, err);
	int fd;

	if (rc < 0) {
		return rc;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return sl_err_set(err, -errno, "no socket: %s", strerror(errno));
	}
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		rc = -errno;
		close(fd);
		return sl_err_set(err, rc, "socket %s: cannot connect: %s", path, strerror(-rc));
	}
	return fd;
}

/* Removes the socket of a server that is no more. */
static int stale_remove(const char *path, struct sl_err *err)
{
	struct stat st;
	int fd;

	if (lstat(path, &st) < 0) {
		return 0;
	}
	if (!S_ISSOCK(st.st_mode)) {
		return sl_err_set(err, -EEXIST,
				  "socket %s: there is a file of that name; choose another path", path);
	}
	fd = sl_unix_connect(path, NULL);
	if (fd >= 0) {
		close(fd);
		return sl_err_set(err, -EADDRINUSE,
				  "socket %s: in use by another server; stop it or choose another path",
				  path);
	}
	if (fd == -ECONNREFUSED && unlink(path) < 0 && errno != ENOENT) {
		return sl_err_set(err, -errno, "socket %s: cannot be replaced: %s", path, strerror(errno));
	}
	return 0;
}

int sl_listener_unix(struct sl_listener *listener, const char *path, struct sl_err *err)
{
	struct sockaddr_un at;
	int rc = address_of(path, &at, err);
	int fd;

	if (rc == 0) {
		rc = stale_remove(path, err);
	}
	if (rc < 0) {
		return rc;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return sl_err_set(err, -errno, "no socket: %s", strerror(errno));
	}
	listener->io.fd = fd;
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		return sl_err_set(err, -errno, "socket %s: cannot listen: %s", path, strerror(errno));
	}
	listener->path = strdup(path);
	if (!listener->path) {
		(void)unlink(path);
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	if (listen(fd, BACKLOG) < 0) {
		return sl_err_set(err, -errno, "socket %s: cannot listen: %s", path, strerror(errno));
	}
	spare_open(listener);
	return sl_loop_io_add(listener->loop, &listener->io, err);
}

int sl_bind_error(int code, const char *address, uint16_t port, struct sl_err *err)
{
	static const struct {
		int code;
		const char *remedy;
	} known[] = {
	    {EADDRINUSE, "already in use; stop the other server or choose another port"},
	    {EACCES, "not permitted; choose a port above 1023 or run as root"},
	    {EADDRNOTAVAIL, "not an address of this machine; use 127.0.0.1"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].code == code) {
			return sl_err_set(err, -code, "port %s:%u: %s", address, port, known[i].remedy);
		}
	}
	return sl_err_set(err, -code, "port %s:%u: cannot listen: %s", address, port, strerror(code));
}

int sl_listener_tcp(struct sl_listener *listener, const char *address, uint16_t port, struct sl_err *err)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
	socklen_t size = sizeof(at);
	int on = 1;
	int fd;

	if (inet_pton(AF_INET, address, &at.sin_addr) != 1) {
		return sl_err_set(err, -EINVAL, "bind \"%.64s\": not an IPv4 address; use 127.0.0.1",
				  address);
	}
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return sl_err_set(err, -errno, "no socket: %s", strerror(errno));
	}
	listener->io.fd = fd;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &size) < 0) {
		return sl_bind_error(errno, address, port, err);
	}
	listener->port = ntohs(at.sin_port);
	spare_open(listener);
	return sl_loop_io_add(listener->loop, &listener->io, err);
}

void sl_listener_close(struct sl_listener *listener)
{
	if (listener->io.fd >= 0) {
		sl_loop_io_del(listener->loop, &listener->io);
		close(listener->io.fd);
		listener->io.fd = -1;
	}
	if (listener->path) {
		(void)unlink(listener->path);
		free(listener->path);
		listener->path = NULL;
	}
	if (listener->spare_fd >= 0) {
		close(listener->spare_fd);
		listener->spare_fd = -1;
	}
}
