/* `sloglab disk COMMAND`: hands over to the command. */
#include <stddef.h>

#include "cli/disk.h"
#include "cli/group.h"

static const struct sl_command commands[] = {
    {"disk list", "", "the catalogue: size, latency of a synchronous write, endurance, price",
     sl_cmd_disk_list},
    {"disk show", "NAME...", "every figure of a device with its origin", sl_cmd_disk_show},
    {"disk test", "NAME... | --file PATH | --nbd URI",
     "latency by size, IOPS by depth and saturation, of models or of a real disk", sl_cmd_disk_test},
    {"disk serve", "DEVICE[=NAME][,size=SIZE]...", "modelled disks as real block devices over NBD",
     sl_cmd_disk_serve},
    {"disk ctl", "SOCKET COMMAND...",
     "tell a running server: latency, powercut, fail, pull, attach, slow, status, quit", sl_cmd_ctl},
    {"disk replay", "LOG", "build an image that a power cut could have left, from a write log",
     sl_cmd_disk_replay},
    {NULL, NULL, NULL, NULL}};

int sl_cmd_disk(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	return sl_group_run(self, commands, argc, argv, err);
}
