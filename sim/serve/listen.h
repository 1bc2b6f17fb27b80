/* Listening sockets of the servers: unix paths and TCP. */
#ifndef SL_SERVE_LISTEN_H
#define SL_SERVE_LISTEN_H

#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/loop.h"

struct sl_listener {
	struct sl_io io; /* fd < 0: not listening */
	struct sl_loop *loop;
	void (*accepted)(void *arg, int fd); /* takes over a non-blocking socket */
	void *arg;
	char *path; /* owned; of a unix socket: removed at the end */
	uint16_t port;
	int spare_fd; /* given up for a moment when descriptors run out */
};

/* Makes `listener` safe to close. */
void sl_listener_init(struct sl_listener *listener, struct sl_loop *loop, void (*accepted)(void *arg, int fd),
		      void *arg);
/* A socket file that nobody answers is a dead server's, and replaced. Errors: -EADDRINUSE (a server answers),
 * -EEXIST (another kind of file), -ENAMETOOLONG, ... */
int sl_listener_unix(struct sl_listener *listener, const char *path, struct sl_err *err);
/* address: IPv4; port 0 = any free one, see listener->port. Errors: -EINVAL (no address), -EADDRINUSE,
 * -EACCES, -EADDRNOTAVAIL, ...; the message names the remedy. */
int sl_listener_tcp(struct sl_listener *listener, const char *address, uint16_t port, struct sl_err *err);
/* The message of a failed bind(), which names the remedy; `code` is its errno. Returns -code. */
int sl_bind_error(int code, const char *address, uint16_t port, struct sl_err *err);
void sl_listener_close(struct sl_listener *listener);

/* Connects to a unix socket: a descriptor, or a negative errno. */
int sl_unix_connect(const char *path, struct sl_err *err);

#endif
