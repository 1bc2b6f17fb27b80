/* The commands of `sloglab disk`: one file each, found through the table in cmd_disk.c. */
#ifndef SL_CLI_DISK_H
#define SL_CLI_DISK_H

#include "cli/cli.h"

int sl_cmd_disk_list(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_disk_show(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_disk_test(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_disk_serve(const struct sl_command *self, int argc, char **argv, struct sl_err *err);
int sl_cmd_disk_replay(const struct sl_command *self, int argc, char **argv, struct sl_err *err);

#endif
