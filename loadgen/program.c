/* What the loads of sloglab-load have in common, from the options to the exit code. */
#include "loadgen/program.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIME_DEFAULT_NS 10000000000

static volatile sig_atomic_t stop_asked;

static void stop_handler(int signal_number)
{
	(void)signal_number;
	stop_asked = 1;
}

static bool stop_seen(void)
{
	return stop_asked != 0;
}

static void signals_install(void)
{
	struct sigaction action = {.sa_handler = stop_handler};

	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	action.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &action, NULL);
}

/* False and errno when the file of --json could not appear after the load: a long load must not be lost. */
static bool json_has_place(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	bool has_place = folder && access(folder, W_OK | X_OK) == 0;

	free(folder);
	return has_place;
}

bool program_begin(struct program *program, const struct program_command *command, int argc, char **argv,
		   struct sl_words *operands, int *ret_exit)
{
	bool help = false;

	program->load = command->load;
	program->threads = 1;
	program->seed = 1;
	program->max_requests = PROGRAM_UNSET;
	program->out = stdout;
	if (sl_options_parse(command->options, argc, argv, operands, &help, &program->err) < 0) {
		*ret_exit = program_usage(program, "%s", program->err.msg);
		return false;
	}
	if (help) {
		(void)printf("Usage: sloglab-load %s\n\n%s\n\nOptions:\n", command->usage, command->about);
		sl_options_print(command->options, stdout);
		*ret_exit = PROGRAM_OK;
		return false;
	}
	if (program->interval_ns > 0 && program->interval_ns < 10000000) {
		*ret_exit = program_usage(program, "--report-interval: at least 10ms");
		return false;
	}
	if (program->json && strcmp(program->json, "-") == 0) {
		program->out = stderr;
	} else if (program->json && !json_has_place(program->json)) {
		*ret_exit = program_usage(program, "--json: %.200s: cannot write there: %s", program->json,
					  strerror(errno));
		return false;
	}
	if (sl_load_result_init(&program->result) < 0) {
		(void)fprintf(stderr, "sloglab-load: out of memory\n");
		*ret_exit = PROGRAM_FAILED;
		return false;
	}
	signals_install();
	return true;
}

int program_usage(const struct program *program, const char *fmt, ...)
{
	va_list args;

	(void)fprintf(stderr, "sloglab-load: %s: ", program->load);
	va_start(args, fmt);
	(void)vfprintf(stderr, fmt, args);
	va_end(args);
	(void)fputc('\n', stderr);
	return PROGRAM_USAGE;
}

bool program_stages(const struct program *program, const struct sl_words *operands, unsigned *ret_stages)
{
	static const char *const names[] = {"prepare", "run", "cleanup"};

	*ret_stages = SL_LOAD_PREPARE | SL_LOAD_RUN | SL_LOAD_CLEANUP;
	for (unsigned i = 0; i < 3 && operands->n == 1; i++) {
		if (strcmp(operands->word[0], names[i]) == 0) {
			*ret_stages = 1u << i;
			return true;
		}
	}
	if (operands->n > 0) {
		(void)program_usage(program,
				    "\"%.60s\" is none of prepare, run, cleanup, or one word too many",
				    operands->word[operands->n - 1]);
	}
	return operands->n == 0;
}

struct sl_load_limits program_limits(struct program *program, uint64_t default_requests)
{
	if (program->max_requests == PROGRAM_UNSET) {
		program->max_requests = program->time_ns > 0 ? 0 : default_requests;
	}
	if (program->time_ns == 0 && program->max_requests == 0) {
		program->time_ns = TIME_DEFAULT_NS;
	}
	return (struct sl_load_limits){
	    .time_ns = program->time_ns,
	    .warmup_ns = program->warmup_ns,
	    .max_requests = program->max_requests,
	    .interval_ns = program->interval_ns,
	    .stall_ns = program->stall_ns,
	    .stopped = stop_seen,
	    .report = program_ticker,
	    .report_arg = program,
	};
}

/* stdout, error, exit code. */
static int program_close(struct program *program, int rc, int late_rc, struct sl_err *late)
{
	bool interrupted = program->result.interrupted;

	if (late_rc == 0 && (fflush(stdout) != 0 || ferror(stdout))) {
		late_rc = sl_err_set(late, -EIO, "cannot write to stdout");
	}
	if (rc < 0 || late_rc < 0) {
		(void)fprintf(stderr, "sloglab-load: %s\n", rc < 0 ? program->err.msg : late->msg);
	}
	sl_load_result_fini(&program->result);
	if (rc < 0 || late_rc < 0) {
		return PROGRAM_FAILED;
	}
	return interrupted ? PROGRAM_INTERRUPTED : PROGRAM_OK;
}

int program_end(struct program *program, int rc, bool measured, json_t *about)
{
	bool some = measured && (rc == 0 || program->result.requests > 0);
	struct sl_err late = {0};
	int late_rc = 0;

	if (some) {
		program_summary(program);
	}
	if (some && program->json) {
		late_rc = program_json(program, about, rc < 0 ? program->err.msg : NULL, &late);
	}
	json_decref(about);
	return program_close(program, rc, late_rc, &late);
}

int program_end_rows(struct program *program, int rc, json_t *about)
{
	json_t *doc = program_json_head(program);
	struct sl_err late = {0};
	int late_rc = 0;

	json_object_update(doc, about);
	json_object_set_new(doc, "error", rc < 0 ? json_string(program->err.msg) : json_null());
	if (program->json) {
		late_rc = program_json_write(program, doc, &late);
	}
	json_decref(doc);
	json_decref(about);
	return program_close(program, rc, late_rc, &late);
}
