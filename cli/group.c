#include "cli/group.h"

#include <errno.h>
#include <string.h>

#include "sim/base/suggest.h"

static const char *short_name(const struct sl_command *self, const struct sl_command *member)
{
	return member->name + strlen(self->name) + 1;
}

static void help_print(const struct sl_command *self, const struct sl_command *members)
{
	char left[64];

	printf("usage: sloglab %s %s\n%s\n\n", self->name, self->args, self->summary);
	for (const struct sl_command *c = members; c->name; c++) {
		(void)snprintf(left, sizeof(left), "%s %s", short_name(self, c), c->args);
		printf("  %-40s %s\n", left, c->summary);
	}
}

int sl_group_run(const struct sl_command *self, const struct sl_command *members, int argc, char **argv,
		 struct sl_err *err)
{
	const char *names[SL_GROUP_MAX];
	const char *near;
	int n = 0;

	if (argc < 2) {
		(void)sl_err_set(err, -EINVAL, "%s: command missing; see sloglab %s --help", self->name,
				 self->name);
		return SL_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help_print(self, members);
		return SL_EXIT_OK;
	}
	for (const struct sl_command *c = members; c->name; c++) {
		names[n++] = short_name(self, c);
		if (strcmp(short_name(self, c), argv[1]) == 0) {
			return c->run(c, argc - 1, argv + 1, err);
		}
	}
	near = sl_suggest(argv[1], names, n);
	if (near) {
		(void)sl_err_set(err, -EINVAL, "%s %.60s: unknown command; did you mean %s?", self->name,
				 argv[1], near);
	} else {
		(void)sl_err_set(err, -EINVAL, "%s %.60s: unknown command; see sloglab %s --help", self->name,
				 argv[1], self->name);
	}
	return SL_EXIT_USAGE;
}
