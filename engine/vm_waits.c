#include "engine/vm_waits.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/runwait.h"

#define PROCESSES_MAX 256

/* First those that are to be looked at, then those that were. */
struct found {
	int n;
	pid_t pid[PROCESSES_MAX];
};

static bool name_begins(pid_t pid, const char *with)
{
	char path[64], name[64] = "";
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file) {
		(void)!fgets(name, sizeof(name), file);
		(void)fclose(file);
	}
	return strncmp(name, with, strlen(with)) == 0;
}

/* Adds the children that its first thread has. */
static void children_add(pid_t pid, struct found *found)
{
	char path[64];
	FILE *file;
	int child;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	/* NOLINTNEXTLINE(cert-err34-c): numbers of the kernel */
	while (file && found->n < PROCESSES_MAX && fscanf(file, "%d", &child) == 1) {
		found->pid[found->n++] = child;
	}
	if (file) {
		(void)fclose(file);
	}
}

void sl_vm_waits_below(pid_t top, const char *machine, struct sl_vm_waits *ret)
{
	struct found found = {.n = 1, .pid = {top}};
	bool machines = false, server = false, all = true;

	*ret = (struct sl_vm_waits){0};
	for (int i = 0; i < found.n; i++) {
		bool is_machine = name_begins(found.pid[i], machine);
		int64_t wait_ns;

		all = sl_runwait_ns(found.pid[i], &wait_ns) == 0 && all;
		*(is_machine ? &ret->machines_wall_ns : &ret->server_wall_ns) += wait_ns;
		machines = machines || is_machine;
		server = server || !is_machine;
		children_add(found.pid[i], &found);
	}
	ret->known = machines && server && all;
}

void sl_vm_waits_read(const char *dir, struct sl_vm_waits *ret)
{
	char path[PATH_MAX], line[32] = "";
	FILE *file = NULL;
	long top = 0;

	*ret = (struct sl_vm_waits){0};
	if (snprintf(path, sizeof(path), "%s/host.pid", dir) < (int)sizeof(path)) {
		file = fopen(path, "re");
	}
	if (file) {
		top = fgets(line, sizeof(line), file) ? strtol(line, NULL, 10) : 0;
		(void)fclose(file);
	}
	if (top > 0) {
		sl_vm_waits_below((pid_t)top, "qemu-system", ret);
	}
}
