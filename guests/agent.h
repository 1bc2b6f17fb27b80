/* Commands inside a virtual machine, through its guest agent (guest-exec). What comes back is the guest's:
 * hostile. */
#ifndef SL_GUESTS_AGENT_H
#define SL_GUESTS_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct sl_vm;

/* One command of /bin/sh in the machine, and what became of it. Zero-initialise; release with
 * sl_agent_command_fini. */
struct sl_agent_command {
	int64_t pid;
	bool exited, truncated;
	int code;          /* exit code, or 128 + signal */
	char *out, *error; /* owned, terminated; NULL = nothing. Control characters may be in them. */
};

/* Does the agent answer? A machine's agent is there a moment before libvirt knows. */
bool sl_agent_answers(struct sl_vm *vm);

/* Starts it. */
int sl_agent_start(struct sl_vm *vm, const char *shell, struct sl_agent_command *ret, struct sl_err *err);
/* Fills in the rest once it has exited. */
int sl_agent_poll(struct sl_vm *vm, struct sl_agent_command *command, struct sl_err *err);
void sl_agent_command_fini(struct sl_agent_command *command);

/* Start and poll until it has exited, at most timeout_ms (-ETIME), as long as stopped() (may be NULL) does
 * not say true (-EINTR). An exit code other than 0 is -EIO with the command's last words. *ret_out (may be
 * NULL) is what it printed, freed by the caller. */
int sl_agent_run(struct sl_vm *vm, const char *shell, int timeout_ms, bool (*stopped)(void), char **ret_out,
		 struct sl_err *err);

/* Parts, for tests. The answer to guest-exec-status -> command; -EPROTO when it makes no sense. */
int sl_agent_parse_status(const char *answer, struct sl_agent_command *command, struct sl_err *err);

#endif
