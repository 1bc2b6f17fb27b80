/*
 * The faults of faults.h in any program: LD_PRELOAD=libsl_faults.so SL_FAULT=KIND:N SL_FAULT_STATE=FILE
 * [SL_FAULT_UNDER=PATH]. FILE becomes a struct sl_faults_state, which `faults_drive` reads, also after a
 * kill.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/faults/faults.h"

static void give_up(const char *why)
{
	(void)fprintf(stderr, "libsl_faults: %s\n", why);
	_exit(99);
}

__attribute__((constructor)) static void faults_from_environment(void)
{
	const char *fault = getenv("SL_FAULT"), *path = getenv("SL_FAULT_STATE");
	const char *colon = fault ? strchr(fault, ':') : NULL;
	struct sl_faults_plan plan = {.under = getenv("SL_FAULT_UNDER")};
	struct sl_faults_state *state;
	char name[16] = "";
	int fd;

	if (!fault) {
		return;
	}
	if (!colon || !path || colon - fault >= (ptrdiff_t)sizeof(name)) {
		give_up("SL_FAULT=KIND:N and SL_FAULT_STATE=FILE are wanted");
	}
	memcpy(name, fault, (size_t)(colon - fault));
	plan.kind = sl_fault_from_name(name);
	plan.at = strtoull(colon + 1, NULL, 10);
	plan.lasting = colon[strlen(colon) - 1] == '+';
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	state = fd >= 0 && ftruncate(fd, sizeof(*state)) == 0
		    ? mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
		    : MAP_FAILED;
	if (plan.kind == SL_FAULT_NONE || state == MAP_FAILED) {
		give_up("no such fault, or no state file");
	}
	(void)close(fd);
	if (sl_faults_start(&plan, state) != 0) {
		give_up("the kernel has no system call filters");
	}
}
