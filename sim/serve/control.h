/*
 * A control socket: a client sends lines, each is answered by lines, of which the last is "ok" or begins with
 * "error: "; the line "usage" before such an answer says that the command is none of the server's.
 */
#ifndef SL_SERVE_CONTROL_H
#define SL_SERVE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/err.h"
#include "sim/base/loop.h"

#define SL_CONTROL_LINE_MAX 512
#define SL_CONTROL_REPLY_MAX 65536

struct sl_control;

/* `command` (without its newline, may be changed) is done by `run`, which writes lines of text into
 * reply[0..size), each ended by a newline, and returns 0, or a negative errno with a message in `err`.
 * -EADDRINUSE etc. as sl_listener_unix. */
int sl_control_new(struct sl_loop *loop, const char *path,
		   int (*run)(void *arg, char *command, char *reply, size_t size, struct sl_err *err),
		   void *arg, struct sl_control **ret, struct sl_err *err);
/* Accepts NULL. */
void sl_control_free(struct sl_control *control);

/* The client: sends one line to the server at `path` and fills reply with what comes before "ok". -EPROTO
 * with the server's message for "error: ", -EINVAL with it where the command made no sense. */
int sl_control_ask(const char *path, const char *command, char *reply, size_t size, struct sl_err *err);

/* For commands that take long. */
struct sl_control_patience {
	int timeout_s;
	bool (*stopped)(void); /* looked at every second; may be NULL */
};
/* -EINTR when stopped() says true: the server goes on with the command. */
int sl_control_ask_within(const char *path, const char *command, const struct sl_control_patience *patience,
			  char *reply, size_t size, struct sl_err *err);

#endif
