/* `sloglab image`: the command that has a file of its own. */
#ifndef SL_CLI_IMAGE_H
#define SL_CLI_IMAGE_H

#include "cli/cli.h"

int sl_cmd_image_build(const struct sl_command *self, int argc, char **argv, struct sl_err *err);

#endif
