/* What the control socket of a lab can do: the verbs, and the client's side of them. */
#ifndef SL_ENGINE_LAB_CONTROL_H
#define SL_ENGINE_LAB_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/lab_plan.h"
#include "guests/lab.h"
#include "guests/process.h"

struct sl_lab_control {
	struct sl_lab *lab;
	const struct sl_lab_plan *plan;
	struct sl_loop *loop;
	const char *disks_control;
};

/* One line: "status", "pool VARIANT", "exec MACHINE FILE", "poll MACHINE PID FILE", "kill MACHINE",
 * "start MACHINE", "up", "down". */
int sl_lab_command(const struct sl_lab_control *control, char *line, char *reply, size_t size,
		   struct sl_err *err);

/* The client. */

/* A lab by its folder, and when waiting for it has an end: stopped() says true after Ctrl-C. */
struct sl_lab_at {
	const char *dir;
	bool (*stopped)(void);
};

/* Says `fmt` to the lab; reply may be NULL. -ENOENT, -ECONNREFUSED: the lab is not up. */
int sl_lab_ask(const struct sl_lab_at *lab, char *reply, size_t size, struct sl_err *err, const char *fmt,
	       ...) __attribute__((format(printf, 5, 6)));
/* "down", with less patience: a host that hangs is ended by force. */
int sl_lab_tell_down(const char *dir, struct sl_err *err);
/* As sl_lab_ask, to its disk server. */
int sl_lab_ask_disks(const char *dir, const char *command, char *reply, size_t size, struct sl_err *err);

/* A command of /bin/sh in a machine, and its end. */
struct sl_lab_run {
	int code;
	char *out, *error; /* owned, never NULL after success */
};
/* Patience: its time and stopped(). -ETIME, -EINTR when stopped() says true; the command goes on in the
 * machine then. */
int sl_lab_run(const char *dir, const char *machine, const char *shell, const struct sl_patience *patience,
	       struct sl_lab_run *ret, struct sl_err *err);
void sl_lab_run_fini(struct sl_lab_run *run);

/* sl_lab_run of what `fmt` says, until lab->stopped(); an exit code other than 0 is -EIO with its last words.
 * *ret_out (may be NULL) is what it printed, freed by the caller. */
int sl_lab_tell(const struct sl_lab_at *lab, const char *machine, int timeout_ms, char **ret_out,
		struct sl_err *err, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
