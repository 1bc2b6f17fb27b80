/* The write log of the disk server, written and replayed, each call failing once. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/disks/disk_cache.h"
#include "sim/disks/writelog.h"
#include "tests/faults/faults.h"

#define DISK_BYTES (256 * 1024)
#define WRITE_BYTES 16384
#define WRITES 45

struct shared {
	struct sl_faults_state state;
	int rc;
	char msg[512];
};

struct paths {
	char dir[48], log[64], base[64], image[64];
};

static struct shared *shared;

/* Writes, and a flush after each tenth: the last ones have none, of a disk that forgets what is not flushed.
 */
static int log_write(const char *path)
{
	struct sl_writelog_disk disk = {.name = "d", .size_bytes = DISK_BYTES, .unit_bytes = SL_CACHE_PAGE};
	static uint8_t bytes[WRITE_BYTES];
	struct sl_err err = {0};
	struct sl_writelog *log;
	int rc = sl_writelog_create(path, &disk, 1, &log, &err);

	if (rc) {
		(void)snprintf(shared->msg, sizeof(shared->msg), "%s", err.msg);
		return rc;
	}
	for (int i = 0; i < WRITES; i++) {
		struct sl_disk_change change = {.mark = sl_writelog_mark(log),
						.offset_bytes = (int64_t)(i * 7 % 16) * WRITE_BYTES,
						.bytes = WRITE_BYTES};

		memset(bytes, i + 1, sizeof(bytes));
		sl_writelog_add(log, SL_WRITELOG_WRITE, 0, &change, bytes);
		if (i % 10 == 9) {
			change = (struct sl_disk_change){.mark = sl_writelog_mark(log)};
			sl_writelog_add(log, SL_WRITELOG_FLUSH, 0, &change, NULL);
		}
	}
	return sl_writelog_close(log);
}

static int log_replay(const struct paths *paths)
{
	struct sl_writelog_cut cut = {.path = paths->log,
				      .disk = "d",
				      .image = paths->image,
				      .base = paths->base,
				      .at = UINT64_MAX,
				      .seed = 1};
	struct sl_writelog_counts counts;
	struct sl_err err = {0};
	int rc = sl_writelog_replay(&cut, &counts, &err);

	(void)snprintf(shared->msg, sizeof(shared->msg), "%s", err.msg);
	return rc;
}

static void in_child(const struct paths *paths, const struct sl_faults_plan *plan, bool replay)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		if (sl_faults_start(plan, &shared->state) != 0) {
			_exit(99);
		}
		shared->rc = replay ? log_replay(paths) : log_write(paths->log);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: ended with status %#x",
		  shared->state.what, (unsigned)status);
}

static size_t file_load(const char *path, uint8_t **ret)
{
	FILE *file = fopen(path, "re");
	size_t size;

	*ret = malloc(4u << 20);
	cr_assert(file && *ret);
	size = fread(*ret, 1, 4u << 20, file);
	fclose(file);
	return size;
}

static bool same_files(const char *path, const char *other)
{
	uint8_t *a, *b;
	size_t bytes = file_load(path, &a), others = file_load(other, &b);
	bool same = bytes == others && memcmp(a, b, bytes) == 0;

	free(a);
	free(b);
	return same;
}

static void base_write(const struct paths *paths)
{
	FILE *file = fopen(paths->base, "we");

	cr_assert(file != NULL);
	for (int i = 0; i < DISK_BYTES; i++) {
		cr_assert(fputc('b', file) != EOF);
	}
	cr_assert_eq(fclose(file), 0);
}

static void begin(struct paths *paths)
{
	struct sl_faults_plan none = {.kind = SL_FAULT_NOMEM};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(shared != MAP_FAILED);
	(void)snprintf(paths->dir, sizeof(paths->dir), "/dev/shm/sloglab-replay-XXXXXX");
	cr_assert(mkdtemp(paths->dir) != NULL);
	(void)snprintf(paths->log, sizeof(paths->log), "%s/log", paths->dir);
	(void)snprintf(paths->base, sizeof(paths->base), "%s/base", paths->dir);
	(void)snprintf(paths->image, sizeof(paths->image), "%s/image", paths->dir);
	base_write(paths);
	in_child(paths, &none, false);
	cr_assert_eq(shared->rc, 0);
}

static void end(const struct paths *paths)
{
	char command[80];

	(void)snprintf(command, sizeof(command), "rm -r '%s'", paths->dir);
	cr_assert_eq(system(command), 0);
}

/* Runs with each fault: it is told, or `made` is what it is without one. */
static void every_call(const struct paths *paths, bool replay, const char *made, const char *want)
{
	int wrong = 0, cycles = 0;

	for (int kind = SL_FAULT_NONE + 1; kind < SL_FAULT_KINDS; kind++) {
		struct sl_faults_plan plan = {.kind = (enum sl_fault)kind, .at = 0, .under = paths->dir};

		do {
			plan.at++;
			memset(shared, 0, sizeof(*shared));
			in_child(paths, &plan, replay);
			cycles += shared->state.injected != 0;
			if (shared->rc == 0 && !same_files(made, want)) {
				fprintf(stderr, "%s: silent\n", shared->state.what);
				wrong++;
			}
			if (shared->rc != 0 && ((replay && shared->msg[0] == '\0') ||
						kind == SL_FAULT_SHORT || shared->rc == -EINVAL)) {
				fprintf(stderr, "%s: %d: %s\n", shared->state.what, shared->rc, shared->msg);
				wrong++;
			}
		} while (shared->state.injected);
	}
	cr_assert_eq(wrong, 0);
	cr_assert(cycles > 20, "only %d", cycles);
}

Test(replay_faults, an_image_is_right_or_refused_whatever_call_fails)
{
	struct sl_faults_plan none = {.kind = SL_FAULT_NOMEM};
	struct paths paths;
	char want[70];

	begin(&paths);
	in_child(&paths, &none, true);
	cr_assert_eq(shared->rc, 0, "%s", shared->msg);
	(void)snprintf(want, sizeof(want), "%s/want", paths.dir);
	cr_assert_eq(rename(paths.image, want), 0);
	every_call(&paths, true, paths.image, want);
	end(&paths);
}

Test(replay_faults, a_log_that_could_not_be_written_says_so_when_it_is_closed)
{
	struct paths paths;
	char want[70];

	begin(&paths);
	(void)snprintf(want, sizeof(want), "%s/want", paths.dir);
	cr_assert_eq(rename(paths.log, want), 0);
	every_call(&paths, false, paths.log, want);
	end(&paths);
}
