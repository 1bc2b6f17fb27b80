/* A command that is a family of commands: `sloglab disk COMMAND`, `sloglab image COMMAND`. */
#ifndef SL_CLI_GROUP_H
#define SL_CLI_GROUP_H

#include "cli/cli.h"

#define SL_GROUP_MAX 16

/*
 * Hands over to the member that argv[1] names, or prints help. `members` are at most SL_GROUP_MAX, then an
 * entry whose name is NULL; they are named as in the usage line: "disk serve". Returns an exit code.
 */
int sl_group_run(const struct sl_command *self, const struct sl_command *members, int argc, char **argv,
		 struct sl_err *err);

#endif
