/* `sloglab disk COMMAND`: hands over to the command. */
#include <errno.h>
#include <string.h>

#include "cli/disk.h"
#include "sim/base/suggest.h"

/* Names as in the usage line: "disk serve". */
static const struct sl_command commands[] = {
    {"disk list", "", "the catalogue: size, latency of a synchronous write, endurance, price",
     sl_cmd_disk_list},
    {"disk show", "NAME...", "every figure of a device with its origin", sl_cmd_disk_show},
    {"disk test", "NAME... | --file PATH | --nbd URI",
     "latency by size, IOPS by depth and saturation, of models or of a real disk", sl_cmd_disk_test},
    {"disk serve", "DEVICE[=NAME][,size=SIZE]...", "modelled disks as real block devices over NBD",
     sl_cmd_disk_serve},
    {"disk ctl", "SOCKET COMMAND...", "tell a running server: latency, powercut, fail, slow, status, quit",
     sl_cmd_disk_ctl},
    {"disk replay", "LOG", "build an image that a power cut could have left, from a write log",
     sl_cmd_disk_replay},
    {NULL, NULL, NULL, NULL}};

static const char *short_name(const struct sl_command *command)
{
	return command->name + strlen("disk ");
}

static void help_print(const struct sl_command *self)
{
	char left[64];

	printf("usage: sloglab %s %s\n%s\n\n", self->name, self->args, self->summary);
	for (const struct sl_command *c = commands; c->name; c++) {
		(void)snprintf(left, sizeof(left), "%s %s", short_name(c), c->args);
		printf("  %-40s %s\n", left, c->summary);
	}
}

int sl_cmd_disk(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	const char *names[16];
	const char *near;
	int n = 0;

	if (argc < 2) {
		(void)sl_err_set(err, -EINVAL, "disk: command missing; see sloglab disk --help");
		return SL_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help_print(self);
		return SL_EXIT_OK;
	}
	for (const struct sl_command *c = commands; c->name; c++) {
		names[n++] = short_name(c);
		if (strcmp(short_name(c), argv[1]) == 0) {
			return c->run(c, argc - 1, argv + 1, err);
		}
	}
	near = sl_suggest(argv[1], names, n);
	(void)sl_err_set(err, -EINVAL, "disk %.60s: unknown command; %s%s", argv[1],
			 near ? "did you mean " : "see sloglab disk --help", near ? near : "");
	return SL_EXIT_USAGE;
}
