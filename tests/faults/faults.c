#include "tests/faults/faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/faults/trap.h"

#define PATH_BYTES 512
#define FRAMES_MAX 14

/* What can happen to a call. */
enum {
	GROWS = 1 << SL_FAULT_ENOSPC,
	FAILS = 1 << SL_FAULT_EIO,
	TEARS = 1 << SL_FAULT_SHORT,
	WAITS = 1 << SL_FAULT_EINTR,
	MAKES = 1 << SL_FAULT_EMFILE,
	TALKS = 1 << SL_FAULT_RESET
};

/* Where the call says which file it means. */
enum place {
	BY_FD,
	BY_PATH,
	BY_DIR_AND_PATH,
	NOWHERE
};

struct rule {
	int nr;
	const char *name;
	unsigned faults;
	enum place place;
};

static const struct rule rules[] = {
    {SYS_write, "write", GROWS | FAILS | TEARS | WAITS | TALKS, BY_FD},
    {SYS_pwrite64, "pwrite", GROWS | FAILS | TEARS | WAITS, BY_FD},
    {SYS_writev, "writev", GROWS | FAILS | TEARS | WAITS | TALKS, BY_FD},
    {SYS_pwritev, "pwritev", GROWS | FAILS | TEARS | WAITS, BY_FD},
    {SYS_pwritev2, "pwritev2", GROWS | FAILS | TEARS | WAITS, BY_FD},
    {SYS_copy_file_range, "copy_file_range", FAILS, BY_FD},
    {SYS_read, "read", FAILS | TEARS | WAITS | TALKS, BY_FD},
    {SYS_pread64, "pread", FAILS | TEARS | WAITS, BY_FD},
    {SYS_readv, "readv", FAILS | TEARS | WAITS | TALKS, BY_FD},
    {SYS_preadv, "preadv", FAILS | TEARS | WAITS, BY_FD},
    {SYS_getdents64, "getdents", FAILS, BY_FD},
    {SYS_fsync, "fsync", GROWS | FAILS, BY_FD},
    {SYS_fdatasync, "fdatasync", GROWS | FAILS, BY_FD},
    {SYS_ftruncate, "ftruncate", GROWS | FAILS, BY_FD},
    {SYS_fallocate, "fallocate", GROWS | FAILS, BY_FD},
    {SYS_utimensat, "utimensat", FAILS, BY_DIR_AND_PATH},
    {SYS_fstat, "fstat", FAILS, BY_FD},
    {SYS_newfstatat, "fstatat", FAILS, BY_DIR_AND_PATH},
    {SYS_stat, "stat", FAILS, BY_PATH},
    {SYS_lstat, "lstat", FAILS, BY_PATH},
    {SYS_access, "access", FAILS, BY_PATH},
    {SYS_faccessat, "faccessat", FAILS, BY_DIR_AND_PATH},
    {SYS_faccessat2, "faccessat2", FAILS, BY_DIR_AND_PATH},
    {SYS_close, "close", FAILS, BY_FD},
    {SYS_open, "open", GROWS | FAILS | MAKES, BY_PATH},
    {SYS_openat, "openat", GROWS | FAILS | MAKES, BY_DIR_AND_PATH},
    {SYS_rename, "rename", GROWS | FAILS, BY_PATH},
    {SYS_renameat, "renameat", GROWS | FAILS, BY_DIR_AND_PATH},
    {SYS_renameat2, "renameat2", GROWS | FAILS, BY_DIR_AND_PATH},
    {SYS_mkdir, "mkdir", GROWS | FAILS, BY_PATH},
    {SYS_mkdirat, "mkdirat", GROWS | FAILS, BY_DIR_AND_PATH},
    {SYS_unlink, "unlink", FAILS, BY_PATH},
    {SYS_unlinkat, "unlinkat", FAILS, BY_DIR_AND_PATH},
    {SYS_accept, "accept", MAKES | WAITS | TALKS, BY_FD},
    {SYS_accept4, "accept4", MAKES | WAITS | TALKS, BY_FD},
    {SYS_sendto, "send", TEARS | WAITS | TALKS, BY_FD},
    {SYS_sendmsg, "sendmsg", WAITS | TALKS, BY_FD},
    {SYS_recvfrom, "recv", TEARS | WAITS | TALKS, BY_FD},
    {SYS_recvmsg, "recvmsg", WAITS | TALKS, BY_FD},
    {SYS_socket, "socket", MAKES, NOWHERE},
    {SYS_pipe2, "pipe", MAKES, NOWHERE},
    {SYS_epoll_create1, "epoll_create", MAKES, NOWHERE},
    {SYS_eventfd2, "eventfd", MAKES, NOWHERE},
    {SYS_timerfd_create, "timerfd_create", MAKES, NOWHERE},
};

#define RULES (sizeof(rules) / sizeof(rules[0]))

static const struct {
	const char *name;
	int code;
} kinds[SL_FAULT_KINDS] = {
    [SL_FAULT_NONE] = {"none", 0},
    [SL_FAULT_ENOSPC] = {"enospc", ENOSPC},
    [SL_FAULT_EIO] = {"eio", EIO},
    [SL_FAULT_SHORT] = {"short", 0},
    [SL_FAULT_EINTR] = {"eintr", EINTR},
    [SL_FAULT_EMFILE] = {"emfile", EMFILE},
    [SL_FAULT_RESET] = {"reset", ECONNRESET},
    [SL_FAULT_NOMEM] = {"nomem", ENOMEM},
};

/* Calls come from anywhere, and malloc has no argument for these. */
static struct sl_faults_plan faults_plan;
static struct sl_faults_state *faults_state; /* NULL: nobody counts */
static int faults_broken; /* what fails for good: number of the call + 1, -1: allocations */

const char *sl_fault_name(enum sl_fault kind)
{
	return kinds[kind].name;
}

enum sl_fault sl_fault_from_name(const char *name)
{
	for (int kind = SL_FAULT_NONE + 1; kind < SL_FAULT_KINDS; kind++) {
		if (strcmp(kinds[kind].name, name) == 0) {
			return (enum sl_fault)kind;
		}
	}
	return SL_FAULT_NONE;
}

static void text_add(char *text, size_t size, const char *more)
{
	size_t used = strlen(text), bytes = strlen(more);

	if (bytes > size - 1 - used) {
		bytes = size - 1 - used;
	}
	memcpy(text + used, more, bytes);
	text[used + bytes] = '\0';
}

/* Hexadecimal digits of `value`: printf may allocate. */
static void number_add(char *text, size_t size, unsigned long value)
{
	char digits[20];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	text_add(text, size, digits + at);
}

static void callers_add(char *text, size_t size)
{
	void *frames[FRAMES_MAX];
	int count = backtrace(frames, FRAMES_MAX);

	for (int i = 2; i < count; i++) {
		Dl_info info;

		if (dladdr(frames[i], &info) && info.dli_fname) {
			const char *slash = strrchr(info.dli_fname, '/');

			text_add(text, size, " ");
			text_add(text, size, slash ? slash + 1 : info.dli_fname);
			text_add(text, size, "+0x");
			number_add(text, size, (unsigned long)((char *)frames[i] - (char *)info.dli_fbase));
		}
	}
}

static void note(const char *name, const char *path)
{
	struct sl_faults_state *state = faults_state;

	faults_state = NULL; /* what follows is not counted */
	text_add(state->what, sizeof(state->what), kinds[faults_plan.kind].name);
	text_add(state->what, sizeof(state->what), faults_plan.lasting ? " for good " : " ");
	text_add(state->what, sizeof(state->what), name);
	text_add(state->what, sizeof(state->what), " ");
	text_add(state->what, sizeof(state->what), path);
	callers_add(state->what, sizeof(state->what));
	__atomic_store_n(&state->injected, 1, __ATOMIC_RELEASE);
	faults_state = faults_plan.lasting ? state : NULL;
}

/* Is it this call's turn? Only one thread is told so, unless the fault lasts. */
static bool turn_take(int nr, const char *name, const char *path)
{
	if (faults_broken) {
		return faults_broken == nr;
	}
	if (__atomic_add_fetch(&faults_state->calls, 1, __ATOMIC_RELAXED) != faults_plan.at) {
		return false;
	}
	note(name, path);
	faults_broken = faults_plan.lasting ? nr : 0;
	return true;
}

/* The path of a descriptor, "socket:[...]" and the like for what is no file; "" when it is not open. */
static void fd_path(int fd, char path[PATH_BYTES])
{
	char link[32] = "/proc/self/fd/", digits[12];
	size_t at = sizeof(digits) - 1;
	long got;

	if (fd == AT_FDCWD) {
		got = SL_TRAP_CALL(SYS_getcwd, path, PATH_BYTES, 0, 0) - 1;
	} else {
		unsigned left = (unsigned)fd;

		digits[at] = '\0';
		do {
			digits[--at] = (char)('0' + left % 10);
			left /= 10;
		} while (left);
		text_add(link, sizeof(link), digits + at);
		got = SL_TRAP_CALL(SYS_readlink, link, path, PATH_BYTES - 1, 0);
	}
	path[got > 0 ? got : 0] = '\0';
}

static void call_path(const struct rule *rule, const unsigned long args[6], char path[PATH_BYTES])
{
	const char *name = rule->place == BY_PATH           ? (const char *)args[0]
			   : rule->place == BY_DIR_AND_PATH ? (const char *)args[1]
							    : NULL;

	path[0] = '\0';
	if (rule->place == NOWHERE) {
		return;
	}
	if (!name || name[0] != '/') {
		fd_path(rule->place == BY_PATH ? AT_FDCWD : (int)args[0], path);
	}
	if (name && name[0] != '\0') {
		text_add(path, PATH_BYTES, name[0] == '/' ? "" : "/");
		text_add(path, PATH_BYTES, name);
	}
}

/* Can the fault of the plan hit this call? */
static bool rule_fits(const struct rule *rule, const unsigned long args[6], char path[PATH_BYTES])
{
	enum sl_fault kind = faults_plan.kind;
	bool socket, file;

	if (!(rule->faults & 1u << kind) || (faults_plan.only && strcmp(faults_plan.only, rule->name) != 0)) {
		return false;
	}
	if (kind == SL_FAULT_ENOSPC && (rule->nr == SYS_open || rule->nr == SYS_openat) &&
	    !(args[rule->nr == SYS_openat ? 2 : 1] & O_CREAT)) {
		return false;
	}
	if (rule->place == BY_FD && args[0] == STDERR_FILENO) {
		return false;
	}
	call_path(rule, args, path);
	if (faults_plan.under) {
		return strncmp(path, faults_plan.under, strlen(faults_plan.under)) == 0;
	}
	socket = strncmp(path, "socket:", 7) == 0;
	file = path[0] == '/' && (strncmp(path, "/dev/", 5) != 0 || strncmp(path, "/dev/shm/", 9) == 0);
	return rule->place != BY_FD || (socket && kind != SL_FAULT_EIO && kind != SL_FAULT_ENOSPC) ||
	       (file && kind != SL_FAULT_RESET);
}

/* Half of the call; a call of one byte cannot be halved. */
static long call_half(const struct rule *rule, const unsigned long args[6])
{
	bool vector = rule->nr == SYS_writev || rule->nr == SYS_pwritev || rule->nr == SYS_pwritev2 ||
		      rule->nr == SYS_readv || rule->nr == SYS_preadv;
	unsigned long half[6];
	struct iovec first;

	memcpy(half, args, sizeof(half));
	if (vector) {
		first = *(const struct iovec *)args[1];
		first.iov_len = first.iov_len > 1 ? first.iov_len / 2 : 1;
		half[1] = (unsigned long)&first;
		half[2] = 1;
	} else {
		half[2] = args[2] > 1 ? args[2] / 2 : args[2];
	}
	return sl_trap_call(rule->nr, half);
}

static long call_fail(const struct rule *rule, const unsigned long args[6])
{
	if (faults_plan.kind == SL_FAULT_SHORT) {
		return call_half(rule, args);
	}
	if (rule->nr == SYS_close) {
		(void)sl_trap_call(rule->nr, args);
	}
	if (faults_plan.kind == SL_FAULT_RESET && (rule->nr == SYS_accept4 || rule->nr == SYS_accept)) {
		return -ECONNABORTED;
	}
	return -kinds[faults_plan.kind].code;
}

static long on_call(long nr, const unsigned long args[6])
{
	char path[PATH_BYTES];

	for (size_t i = 0; i < RULES && faults_state; i++) {
		if (rules[i].nr == nr) {
			return rule_fits(&rules[i], args, path) &&
				       turn_take(rules[i].nr + 1, rules[i].name, path)
				   ? call_fail(&rules[i], args)
				   : sl_trap_call(nr, args);
		}
	}
	return sl_trap_call(nr, args);
}

int sl_faults_start(const struct sl_faults_plan *plan, struct sl_faults_state *state)
{
	int numbers[RULES];
	void *frame;

	(void)backtrace(&frame, 1); /* the first one loads a library */
	faults_plan = *plan;
	faults_broken = 0;
	memset(state, 0, sizeof(*state));
	faults_state = state;
	if (plan->kind == SL_FAULT_NOMEM) {
		return 0;
	}
	for (size_t i = 0; i < RULES; i++) {
		numbers[i] = rules[i].nr;
	}
	return sl_trap_install(numbers, RULES, on_call);
}

void sl_faults_stop(void)
{
	faults_state = NULL;
}

/* glibc lets a program bring its own malloc, and keeps its own under these names. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static bool memory_fails(const char *name)
{
	if (!faults_state || faults_plan.kind != SL_FAULT_NOMEM || !turn_take(-1, name, "")) {
		return false;
	}
	errno = ENOMEM;
	return true;
}

void *malloc(size_t bytes)
{
	return memory_fails("malloc") ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	return memory_fails("calloc") ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return memory_fails("realloc") ? NULL : __libc_realloc(old, bytes);
}

void *reallocarray(void *old, size_t count, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(count, bytes, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, all);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return memory_fails("aligned_alloc") ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
	void *got = memory_fails("posix_memalign") ? NULL : __libc_memalign(alignment, bytes);

	*ret = got ? got : *ret;
	return got ? 0 : ENOMEM;
}
