#include "cli/cli.h"
int sl_cmd_doctor(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	(void)self;
	(void)argc;
	(void)argv;
	(void)err;
	return 0;
}
