/* The list of acknowledgements of `sloglab-load audit`, each call failing once: a list that came short would
 * hide losses. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loadgen/audit.h"
#include "loadgen/audit_log.h"
#include "tests/faults/faults.h"

#define ACKS 1000

struct shared {
	struct sl_faults_state state;
	int rc;
	uint64_t acked;
	char msg[512];
};

static struct shared *shared;

static void list_write(const char *path)
{
	struct sl_audit_log log;
	struct sl_err err = {0};

	shared->rc = sl_audit_log_create(path, 7, 512, true, &log, &err);
	for (uint64_t i = 0; i < ACKS && shared->rc == 0; i++) {
		shared->rc = sl_audit_log_add(&log, i, &err);
		shared->acked += shared->rc == 0;
	}
	(void)snprintf(shared->msg, sizeof(shared->msg), "%s", err.msg);
}

/* `acked`: as many as the list has. */
static void list_read(const char *path)
{
	struct sl_audit_acks acks;
	struct sl_err err = {0};

	shared->rc = sl_audit_acks_read(path, &acks, &err);
	for (uint64_t i = 0; i < ACKS && shared->rc == 0; i++) {
		shared->acked += sl_audit_acks_has(&acks, i);
	}
	(void)snprintf(shared->msg, sizeof(shared->msg), "%s", err.msg);
}

/* Runs fn in a child with this fault; false when it met none. */
static bool in_child(void (*fn)(const char *path), const char *path, const struct sl_faults_plan *plan)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		memset(shared, 0, sizeof(*shared));
		if (sl_faults_start(plan, &shared->state) != 0) {
			_exit(99);
		}
		fn(path);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "%s", shared->state.what);
	return shared->state.injected != 0;
}

static void begin(char *path)
{
	int fd = mkstemp(path);

	cr_assert(fd >= 0);
	close(fd);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(shared != MAP_FAILED);
}

Test(acks_faults, a_list_that_cannot_be_read_is_not_a_short_one)
{
	char path[] = "/dev/shm/sloglab-acks-XXXXXX";
	struct sl_faults_plan none = {.kind = SL_FAULT_NOMEM};

	begin(path);
	(void)in_child(list_write, path, &none);
	cr_assert_eq(shared->acked, ACKS);
	for (int kind = SL_FAULT_NONE + 1; kind < SL_FAULT_KINDS; kind++) {
		struct sl_faults_plan plan = {.kind = (enum sl_fault)kind, .at = 1, .under = path};

		for (; in_child(list_read, path, &plan); plan.at++) {
			cr_assert(shared->rc == 0 ? shared->acked == ACKS : shared->msg[0] != '\0', "%s: %lu",
				  shared->state.what, (unsigned long)shared->acked);
			cr_assert_neq(shared->rc, -EINVAL, "%s: %s", shared->state.what, shared->msg);
		}
	}
	unlink(path);
}

Test(acks_faults, what_is_acknowledged_is_in_the_list)
{
	char path[] = "/dev/shm/sloglab-acks-XXXXXX";

	begin(path);
	for (int kind = SL_FAULT_NONE + 1; kind < SL_FAULT_KINDS; kind++) {
		struct sl_faults_plan plan = {.kind = (enum sl_fault)kind, .at = 1, .under = path},
				      none = plan;
		bool met = true;

		none.at = 0;
		for (; met; plan.at += 50) {
			uint64_t acked;

			cr_assert_eq(truncate(path, 0), 0);
			met = in_child(list_write, path, &plan);
			cr_assert(shared->rc == 0 || shared->msg[0] != '\0', "%s", shared->state.what);
			cr_assert(kind != SL_FAULT_EINTR || shared->rc == 0, "%s", shared->msg);
			acked = shared->acked;
			/* An empty list: it could not be made. */
			(void)in_child(list_read, path, &none);
			cr_assert(acked == 0 || (shared->rc == 0 && shared->acked >= acked), "%d %s", kind,
				  shared->msg);
		}
	}
	unlink(path);
}
