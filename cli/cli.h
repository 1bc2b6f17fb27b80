/* The commands of `sloglab`: one file each, found through the table in main.c. Only this room prints. */
#ifndef SL_CLI_CLI_H
#define SL_CLI_CLI_H

#include "sim/base/err.h"
#include "sim/base/options.h"

enum {
	SL_EXIT_OK = 0,
	SL_EXIT_FAILED = 1,       /* the run failed */
	SL_EXIT_USAGE = 2,        /* usage or invalid input: nothing ran */
	SL_EXIT_INTERRUPTED = 130 /* Ctrl-C */
};

struct sl_command {
	const char *name;
	const char *args;    /* positional arguments, for the usage line */
	const char *summary; /* one line */
	/* argv[0] is the command. Returns an exit code; a message in `err` is printed by the caller, once. */
	int (*run)(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
};

#define SL_COMMANDS_MAX 32

/* At most SL_COMMANDS_MAX, then an entry whose name is NULL. */
const struct sl_command *sl_commands(void);

int sl_cmd_run(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_explain(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_init(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_advise(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_powercut(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_calibrate(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_fit(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_serve(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_ctl(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_store(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_vm(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_disk(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_image(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_doctor(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_help(const struct sl_command *self, int argc, char **argv, struct sl_err *err);

#endif
