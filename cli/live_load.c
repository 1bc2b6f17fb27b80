#include "cli/live_load.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/signals.h"

#define ARGS_MAX 32
#define ARG_MAX_BYTES 160
#define OUTPUT_MAX (1 << 20) /* the histogram of all latencies is in it */
/* Beyond the time of the measurement: mount, preparing of files, last reply. */
#define GRACE_S 60

/* The command line and what comes back. */
struct load {
	char program[PATH_MAX + 16];
	char text[ARGS_MAX][ARG_MAX_BYTES];
	char *argv[ARGS_MAX + 2];
	int n;
	pid_t pid;
	int out, errors; /* our ends of its stdout and stderr; -1 = closed */
	char json[OUTPUT_MAX], complaint[1024];
	size_t json_size, complaint_size;
};

static void arg(struct load *load, const char *name, const char *value)
{
	if (load->n < ARGS_MAX) {
		snprintf(load->text[load->n], ARG_MAX_BYTES, "%s%s%s", name, value ? "=" : "",
			 value ? value : "");
		load->n++;
	}
}

static void arg_number(struct load *load, const char *name, double value, const char *unit)
{
	char text[48];

	snprintf(text, sizeof(text), "%.0f%s", value, unit);
	arg(load, name, text);
}

static void args_make(struct load *load, const struct sl_live_load *what)
{
	static const char *const patterns[] = {
	    [SL_PATTERN_SEQUENTIAL] = "sequential", [SL_PATTERN_RANDOM] = "random"};
	static const char *const stables[] = {
	    [SL_WRITE_FILE_SYNC] = "file_sync", [SL_WRITE_UNSTABLE_COMMIT] = "unstable_commit"};
	static const char *const modes[] = {[SL_MODE_SEQWR] = "seqwr",
					    [SL_MODE_SEQRD] = "seqrd",
					    [SL_MODE_RNDRD] = "rndrd",
					    [SL_MODE_RNDWR] = "rndwr",
					    [SL_MODE_RNDRW] = "rndrw"};
	const struct sl_workload *w = what->workload;
	char url[ARG_MAX_BYTES / 2];

	arg(load, w->kind == SL_WL_SYNCWRITE ? "syncwrite" : "fileio", NULL);
	snprintf(url, sizeof(url), "nfs://127.0.0.1/%s?nfsport=%u&mountport=%u",
		 w->kind == SL_WL_SYNCWRITE ? "disk.img" : "", what->server->nfs_port,
		 what->server->mount_port);
	arg(load, "--url", url);
	arg_number(load, "--threads", (double)w->threads, "");
	arg_number(load, "--block", w->block_bytes, "B");
	arg_number(load, "--file-total", w->file_total_bytes, "B");
	if (w->kind == SL_WL_SYNCWRITE) {
		arg(load, "--pattern", patterns[w->pattern]);
		arg(load, "--stable", stables[w->stable]);
		arg_number(load, "--depth", (double)w->depth, "");
	} else {
		arg(load, "--mode", modes[w->mode]);
		arg_number(load, "--files", (double)w->files, "");
		arg_number(load, "--fsync-every", (double)w->fsync_every, "");
	}
	arg_number(load, "--time", (double)what->time_s, "s");
	arg_number(load, "--seed", (double)what->seed, "");
	arg(load, "--json", "-");
	snprintf(load->program, sizeof(load->program), "%s/sloglab-load", what->bin);
	load->argv[0] = load->program;
	for (int i = 0; i < load->n; i++) {
		load->argv[i + 1] = load->text[i];
	}
	load->argv[load->n + 1] = NULL;
}

static void child_exec(struct load *load, const int out[2], const int errors[2], pid_t parent)
{
	/* Its own group: Ctrl-C on the terminal is ours to handle. Our death, however sudden, is its death.
	 */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sl_signals_reset();
	/* As the server does: what waits for a CPU here would be counted as latency there. */
	(void)sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK,
				 &(struct sched_param){.sched_priority = 1});
	dup2(out[1], STDOUT_FILENO);
	dup2(errors[1], STDERR_FILENO);
	if (getppid() == parent) {
		execv(load->program, load->argv);
		dprintf(STDERR_FILENO, "%s: %s", load->program, strerror(errno));
	}
	_exit(127);
}

static int load_spawn(struct load *load, struct sl_err *err)
{
	pid_t parent = getpid();
	int out[2] = {-1, -1}, errors[2] = {-1, -1};

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0) {
		int rc = -errno;

		if (out[0] >= 0) {
			close(out[0]);
			close(out[1]);
		}
		return sl_err_set(err, rc, "pipe: %s", strerror(-rc));
	}
	load->pid = fork();
	if (load->pid == 0) {
		child_exec(load, out, errors, parent);
	}
	close(out[1]);
	close(errors[1]);
	load->out = out[0];
	load->errors = errors[0];
	if (load->pid < 0) {
		int rc = -errno;

		close(out[0]);
		close(errors[0]);
		return sl_err_set(err, rc, "fork: %s", strerror(-rc));
	}
	return 0;
}

/* Reads what is there; closes at the end. What does not fit is dropped. */
static void drain(int *fd, char *buf, size_t capacity, size_t *size)
{
	char spare[4096];
	size_t room = capacity - 1 - *size;
	ssize_t n = room > 0 ? read(*fd, buf + *size, room) : read(*fd, spare, sizeof(spare));

	if (n > 0 && room > 0) {
		*size += (size_t)n;
		buf[*size] = '\0';
	} else if (n == 0 || (n < 0 && errno != EINTR)) {
		close(*fd);
		*fd = -1;
	}
}

static int64_t load_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* Until both its pipes are closed: it ended. */
static int load_wait(struct load *load, const struct sl_live_load *what, struct sl_err *err)
{
	int64_t end_ms = load_now_ms() + (int64_t)(what->time_s + GRACE_S) * 1000;

	while (load->out >= 0 || load->errors >= 0) {
		struct pollfd fds[3] = {{.fd = load->out, .events = POLLIN},
					{.fd = load->errors, .events = POLLIN},
					{.fd = what->server->pipe, .events = POLLIN}};
		int64_t left_ms = end_ms - load_now_ms();

		if (sl_signals_stopped()) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		if (left_ms <= 0) {
			return sl_err_set(
			    err, -ETIME,
			    "sloglab-load: no result %d s after its time; is the machine overloaded?",
			    GRACE_S);
		}
		/* Not longer than a second: a signal just before poll() is seen then. */
		if (poll(fds, 3, left_ms < 1000 ? (int)left_ms : 1000) < 0) {
			continue;
		}
		if (fds[0].revents) {
			drain(&load->out, load->json, sizeof(load->json), &load->json_size);
		}
		if (fds[1].revents) {
			drain(&load->errors, load->complaint, sizeof(load->complaint), &load->complaint_size);
		}
		if (fds[2].revents) {
			return sl_err_set(err, -EPIPE, "datastore: the server died during the measurement");
		}
	}
	return 0;
}

static void load_end(struct load *load, bool force, int *ret_status)
{
	if (force) {
		kill(load->pid, SIGKILL);
	}
	while (waitpid(load->pid, ret_status, 0) < 0 && errno == EINTR) {
	}
	if (load->out >= 0) {
		close(load->out);
	}
	if (load->errors >= 0) {
		close(load->errors);
	}
}

/* Its complaint: the last line with its name in front; else how it ended. */
static int load_failed(struct load *load, int status, struct sl_err *err)
{
	const char *line = NULL;

	for (char *at = load->complaint; (at = strstr(at, "sloglab-load: ")) != NULL; at++) {
		line = at == load->complaint || at[-1] == '\n' ? at : line;
	}
	if (line) {
		return sl_err_set(err, -EIO, "%.*s", (int)strcspn(line, "\n"), line);
	}
	if (WIFSIGNALED(status)) {
		return sl_err_set(err, -EIO, "sloglab-load: killed by signal %d", WTERMSIG(status));
	}
	return sl_err_set(err, -EIO, "sloglab-load: exit code %d without a message", WEXITSTATUS(status));
}

static double figure(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static int load_result(const struct load *load, struct sl_measure *ret, int64_t *ret_null_ns,
		       struct sl_err *err)
{
	json_error_t where;
	json_t *root = json_loadb(load->json, load->json_size, 0, &where);
	const json_t *latency = json_object_get(root, "latency_ns");

	memset(ret, 0, sizeof(*ret));
	if (root) {
		ret->rate = figure(root, "rate");
		ret->operations = (uint64_t)figure(root, "operations");
		ret->elapsed_ns = (int64_t)figure(root, "elapsed_ns");
		ret->p50_ns = (int64_t)figure(latency, "p50");
		ret->p95_ns = (int64_t)figure(latency, "p95");
		ret->p99_ns = (int64_t)figure(latency, "p99");
		*ret_null_ns = (int64_t)figure(root, "null_call_ns");
	}
	json_decref(root);
	if (ret->operations == 0 || ret->rate <= 0) {
		return sl_err_set(err, -EIO, "sloglab-load: no operation finished in time");
	}
	return 0;
}

int sl_live_load_run(const struct sl_live_load *what, struct sl_measure *ret, int64_t *ret_null_ns,
		     struct sl_err *err)
{
	struct load *load = calloc(1, sizeof(*load));
	int status = 0;
	int rc;

	if (!load) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	args_make(load, what);
	rc = load_spawn(load, err);
	if (rc == 0) {
		rc = load_wait(load, what, err);
		load_end(load, rc < 0, &status);
	}
	if (rc == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
		rc = load_failed(load, status, err);
	}
	if (rc == 0) {
		rc = load_result(load, ret, ret_null_ns, err);
	}
	free(load);
	return rc;
}
