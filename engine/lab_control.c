#include "engine/lab_control.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guests/agent.h"
#include "guests/hypervisor.h"
#include "sim/base/clock.h"
#include "sim/base/loop.h"
#include "sim/serve/control.h"
#include "sim/serve/verbs.h"

#define COMMAND_MAX 16384
#define TELL_MAX 4096
#define POLL_MS 100
#define STEPS_S 1200
#define ANSWER_S 60
#define OUTPUT_MAX ((size_t)16 << 20)

/* The host's side. Commands and their output go through files of the lab's folder: a line of the socket is
 * short. */

static int machine_of(const char *word, enum sl_lab_machine *ret, struct sl_err *err)
{
	if (strcmp(word, "storage") == 0) {
		*ret = SL_LAB_STORAGE;
	} else if (strcmp(word, "guest") == 0) {
		*ret = SL_LAB_GUEST;
	} else {
		return sl_err_set(err, -EINVAL, "machine \"%.20s\": say storage or guest", word);
	}
	return 0;
}

static int vm_of(const struct sl_lab_control *control, const char *word, struct sl_vm **ret,
		 struct sl_err *err)
{
	enum sl_lab_machine machine = SL_LAB_STORAGE;
	char state[160];
	int rc = machine_of(word, &machine, err);

	if (rc < 0) {
		return rc;
	}
	*ret = sl_lab_machine(control->lab, machine);
	if (!*ret) {
		sl_lab_state(control->lab, machine, state, sizeof(state));
		return sl_err_set(err, -ENOENT, "%s VM: %s", word, state);
	}
	return 0;
}

/* All of a file, terminated, freed by the caller; NULL when it cannot be read. */
static char *file_read(const char *path, size_t max)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(max + 1) : NULL;
	size_t n = text ? fread(text, 1, max, file) : 0;
	bool failed = !text || ferror(file);
	char *fitting;

	if (file) {
		(void)fclose(file);
	}
	if (failed) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	fitting = realloc(text, n + 1);
	return fitting ? fitting : text;
}

static int file_write(const char *path, const char *text, struct sl_err *err)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
		return sl_err_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	return 0;
}

static int verb_exec(void *arg, const struct sl_verb_call *call)
{
	const struct sl_lab_control *control = arg;
	struct sl_agent_command command = {0};
	struct sl_vm *vm;
	char *shell;
	int rc = vm_of(control, call->word[1], &vm, call->err);

	if (rc < 0) {
		return rc;
	}
	shell = file_read(call->word[2], COMMAND_MAX);
	if (!shell) {
		return sl_err_set(call->err, -ENOENT, "%.200s: cannot be read", call->word[2]);
	}
	rc = sl_agent_start(vm, shell, &command, call->err);
	free(shell);
	if (rc == 0) {
		(void)snprintf(call->reply, call->size, "pid %lld\n", (long long)command.pid);
	}
	return rc;
}

static int verb_poll(void *arg, const struct sl_verb_call *call)
{
	const struct sl_lab_control *control = arg;
	struct sl_agent_command command = {.pid = strtoll(call->word[2], NULL, 10)};
	struct sl_vm *vm;
	char path[SL_LAB_PATH_MAX];
	int rc = vm_of(control, call->word[1], &vm, call->err);

	if (rc == 0) {
		rc = sl_agent_poll(vm, &command, call->err);
	}
	if (rc == 0 && command.exited) {
		(void)snprintf(path, sizeof(path), "%s.out", call->word[3]);
		rc = file_write(path, command.out ? command.out : "", call->err);
		(void)snprintf(path, sizeof(path), "%s.err", call->word[3]);
		rc = rc < 0 ? rc : file_write(path, command.error ? command.error : "", call->err);
		(void)snprintf(call->reply, call->size, "exited %d\n", command.code);
	} else if (rc == 0) {
		(void)snprintf(call->reply, call->size, "running\n");
	}
	sl_agent_command_fini(&command);
	return rc;
}

static int verb_status(void *arg, const struct sl_verb_call *call)
{
	const struct sl_lab_control *control = arg;
	char storage[160], guest[160];

	sl_lab_state(control->lab, SL_LAB_STORAGE, storage, sizeof(storage));
	sl_lab_state(control->lab, SL_LAB_GUEST, guest, sizeof(guest));
	(void)snprintf(call->reply, call->size, "storage %s\nguest %s\nkey %016llx\nzfs %s\n", storage,
		       control->plan->guest ? guest : "none", (unsigned long long)control->plan->key,
		       control->plan->ext4 ? "none (ext4 export)" : control->plan->zfs);
	for (int i = 0; i < control->plan->n_disks; i++) {
		size_t used = strlen(call->reply);

		(void)snprintf(call->reply + used, call->size - used, "disk %s %s\n",
			       control->plan->disks[i].serial, control->plan->disks[i].spec->name);
	}
	return 0;
}

static int verb_pool(void *arg, const struct sl_verb_call *call)
{
	const struct sl_lab_control *control = arg;
	const struct sl_lab_plan *plan = control->plan;

	for (int v = 0; v < plan->n_variants; v++) {
		const char *name = sl_scenario_variant_name(plan->session.sc, plan->variants[v]);

		if (strcmp(name, call->word[1]) == 0) {
			return sl_lab_pool_set(control->lab, &plan->boxes[v], plan->logs[v], plan->n_logs[v],
					       call->err);
		}
	}
	return sl_err_set(call->err, -EINVAL, "variant \"%.60s\": the lab was not brought up with it",
			  call->word[1]);
}

static int verb_kill(void *arg, const struct sl_verb_call *call)
{
	const struct sl_lab_control *control = arg;
	enum sl_lab_machine machine = SL_LAB_STORAGE;
	int rc = machine_of(call->word[1], &machine, call->err);

	if (rc == 0) {
		sl_lab_kill(control->lab, machine);
	}
	return rc;
}

static int verb_start(void *arg, const struct sl_verb_call *call)
{
	const struct sl_lab_control *control = arg;
	enum sl_lab_machine machine = SL_LAB_STORAGE;
	int rc = machine_of(call->word[1], &machine, call->err);

	if (rc < 0) {
		return rc;
	}
	return machine == SL_LAB_STORAGE ? sl_lab_storage_restart(control->lab, call->err)
					 : sl_lab_guest_start(control->lab, call->err);
}

static bool runs(const struct sl_lab_control *control, enum sl_lab_machine machine)
{
	struct sl_vm *vm = sl_lab_machine(control->lab, machine);

	return vm && sl_vm_alive(vm);
}

/* What died is started again; a guest that lives finds its disk where it was and goes on. */
static int verb_up(void *arg, const struct sl_verb_call *call)
{
	const struct sl_lab_control *control = arg;
	bool storage = runs(control, SL_LAB_STORAGE);
	bool guest = !control->plan->guest || runs(control, SL_LAB_GUEST);
	int rc;

	if (storage && guest) {
		return sl_err_set(call->err, -EALREADY, "lab %s is up; see sloglab vm status",
				  control->plan->name);
	}
	rc = storage ? 0 : sl_lab_storage_restart(control->lab, call->err);
	if (rc == 0 && !guest) {
		rc = sl_lab_guest_start(control->lab, call->err);
	}
	(void)snprintf(call->reply, call->size, "%s%s", storage ? "" : "storage VM: started again\n",
		       !guest                 ? "guest: started again\n"
		       : control->plan->guest ? "guest: goes on\n"
					      : "");
	return rc;
}

static int verb_down(void *arg, const struct sl_verb_call *call)
{
	const struct sl_lab_control *control = arg;

	(void)call;
	sl_loop_stop(control->loop);
	return 0;
}

int sl_lab_command(const struct sl_lab_control *control, char *line, char *reply, size_t size,
		   struct sl_err *err)
{
	static const struct sl_verb verbs[] = {
	    {"status", "status", 1, 1, verb_status},
	    {"pool", "pool VARIANT", 2, 2, verb_pool},
	    {"exec", "exec MACHINE FILE", 3, 3, verb_exec},
	    {"poll", "poll MACHINE PID FILE", 4, 4, verb_poll},
	    {"kill", "kill storage|guest", 2, 2, verb_kill},
	    {"start", "start storage|guest", 2, 2, verb_start},
	    {"up", "up", 1, 1, verb_up},
	    {"down", "down", 1, 1, verb_down},
	    {NULL, NULL, 0, 0, NULL},
	};
	struct sl_lab_control own = *control;

	return sl_verbs_run(verbs, &own, line, reply, size, err);
}

/* The client's side */

struct message {
	const char *socket, *command; /* file of the lab's folder; line */
	struct sl_control_patience patience;
};

static int lab_says(const char *dir, const struct message *message, char *reply, size_t size,
		    struct sl_err *err)
{
	char path[SL_LAB_PATH_MAX];
	char *own = reply ? NULL : malloc(SL_CONTROL_REPLY_MAX);
	int rc;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, message->socket);
	if (!reply && !own) {
		return sl_err_set(err, -ENOMEM, "lab: out of memory");
	}
	rc = sl_control_ask_within(path, message->command, &message->patience, reply ? reply : own,
				   reply ? size : SL_CONTROL_REPLY_MAX, err);
	free(own);
	if (rc == -ENOENT || rc == -ECONNREFUSED) {
		return sl_err_set(err, rc, "lab %s is not up; run sloglab vm up SCENARIO",
				  strrchr(dir, '/') + 1);
	}
	return rc;
}

int sl_lab_ask(const struct sl_lab_at *lab, char *reply, size_t size, struct sl_err *err, const char *fmt,
	       ...)
{
	char line[SL_CONTROL_LINE_MAX];
	/* The host's own steps give up before. */
	const struct message message = {.socket = "control.sock",
					.command = line,
					.patience = {.timeout_s = STEPS_S, .stopped = lab->stopped}};
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(line)) {
		return sl_err_set(err, -ENAMETOOLONG, "lab: command too long");
	}
	return lab_says(lab->dir, &message, reply, size, err);
}

int sl_lab_ask_disks(const char *dir, const char *command, char *reply, size_t size, struct sl_err *err)
{
	const struct message message = {
	    .socket = "disks.sock", .command = command, .patience = {.timeout_s = ANSWER_S}};

	return lab_says(dir, &message, reply, size, err);
}

int sl_lab_tell_down(const char *dir, struct sl_err *err)
{
	const struct message message = {
	    .socket = "control.sock", .command = "down", .patience = {.timeout_s = ANSWER_S}};

	return lab_says(dir, &message, NULL, 0, err);
}

/* The number behind `word` in an answer. */
static bool number_after(const char *reply, const char *word, long long *ret)
{
	size_t n = strlen(word);
	char *end;

	if (strncmp(reply, word, n) != 0) {
		return false;
	}
	*ret = strtoll(reply + n, &end, 10);
	return end != reply + n;
}

/* A command that goes on in a machine. */
struct running {
	struct sl_lab_at lab;
	const char *machine, *file;
	long long pid;
};

/* Until it has exited; *ret_code then. */
static int exit_wait(const struct running *command, const struct sl_patience *patience, int *ret_code,
		     struct sl_err *err)
{
	int64_t end_ms = sl_clock_ms() + patience->timeout_ms;
	long long code;
	char reply[256];

	for (;;) {
		int rc = sl_lab_ask(&command->lab, reply, sizeof(reply), err, "poll %s %lld %s",
				    command->machine, command->pid, command->file);

		if (rc < 0) {
			return rc;
		}
		if (number_after(reply, "exited ", &code)) {
			*ret_code = (int)code;
			return 0;
		}
		if (patience->stopped && patience->stopped()) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		if (sl_clock_ms() > end_ms) {
			return sl_err_set(err, -ETIME, "%s VM: a command is not done after %d s",
					  command->machine, patience->timeout_ms / 1000);
		}
		(void)poll(NULL, 0, POLL_MS);
	}
}

static int output_take(const char *file, const char *suffix, char **ret)
{
	char path[SL_LAB_PATH_MAX + sizeof(".out")];

	(void)snprintf(path, sizeof(path), "%s.%s", file, suffix);
	*ret = file_read(path, OUTPUT_MAX);
	(void)unlink(path);
	return *ret ? 0 : -EIO;
}

int sl_lab_run(const char *dir, const char *machine, const char *shell, const struct sl_patience *patience,
	       struct sl_lab_run *ret, struct sl_err *err)
{
	char file[SL_LAB_PATH_MAX], reply[256];
	struct running command = {.lab = {dir, patience->stopped}, .machine = machine, .file = file};
	int rc;

	*ret = (struct sl_lab_run){0};
	(void)snprintf(file, sizeof(file), "%s/command-%d", dir, (int)getpid());
	rc = file_write(file, shell, err);
	if (rc == 0) {
		rc = sl_lab_ask(&command.lab, reply, sizeof(reply), err, "exec %s %s", machine, file);
	}
	(void)unlink(file);
	if (rc == 0 && !number_after(reply, "pid ", &command.pid)) {
		rc = sl_err_set(err, -EPROTO, "lab: no process number");
	}
	if (rc == 0) {
		rc = exit_wait(&command, patience, &ret->code, err);
	}
	if (rc == 0 &&
	    (output_take(file, "out", &ret->out) < 0 || output_take(file, "err", &ret->error) < 0)) {
		rc = sl_err_set(err, -EIO, "lab: the output of a command is lost");
	}
	if (rc < 0) {
		sl_lab_run_fini(ret);
	}
	return rc;
}

void sl_lab_run_fini(struct sl_lab_run *run)
{
	free(run->out);
	free(run->error);
	*run = (struct sl_lab_run){0};
}

int sl_lab_tell(const struct sl_lab_at *lab, const char *machine, int timeout_ms, char **ret_out,
		struct sl_err *err, const char *fmt, ...)
{
	const struct sl_patience patience = {.timeout_ms = timeout_ms, .stopped = lab->stopped};
	char shell[TELL_MAX];
	struct sl_lab_run run;
	va_list args;
	int n, rc;

	va_start(args, fmt);
	n = vsnprintf(shell, sizeof(shell), fmt, args);
	va_end(args);
	if (n >= (int)sizeof(shell)) {
		return sl_err_set(err, -E2BIG, "%s VM: command too long", machine);
	}
	rc = sl_lab_run(lab->dir, machine, shell, &patience, &run, err);
	if (rc < 0) {
		return rc;
	}
	if (run.code != 0) {
		rc = sl_err_set(err, -EIO, "%s VM: %.300s", machine,
				run.error && run.error[0] ? run.error : run.out);
	} else if (ret_out) {
		*ret_out = run.out;
		run.out = NULL;
	}
	sl_lab_run_fini(&run);
	return rc;
}
