/* Commands of sloglab, called as functions: what they understand, print and refuse. Nothing runs long. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/init_names.h"
#include "cli/init_scenario.h"
#include "cli/serve.h"

#define QUICK SL_SOURCE_DIR "/scenarios/quick.yaml"
#define TEXT_MAX 65536

typedef int (*command_fn)(const struct sl_command *self, int argc, char **argv, struct sl_err *err);

static void redirect(void)
{
	cr_redirect_stdout();
	cr_redirect_stderr();
	setenv("SLOGLAB_DATA", SL_SOURCE_DIR "/sim/scenario", 1);
}

/* What was printed since the last look; the caller frees. */
static char *printed(FILE *from)
{
	char *text = calloc(1, TEXT_MAX);

	(void)fflush(stdout);
	(void)fflush(stderr);
	cr_assert_not_null(text);
	(void)!fread(text, 1, TEXT_MAX - 1, from);
	return text;
}

/* A command with the words of one line. */
static int command(command_fn run, const char *line, struct sl_err *err)
{
	struct sl_command self = {.args = "", .summary = "", .run = run};
	char *words = strdup(line), *argv[32], *rest = words;
	int argc = 0, code;

	for (char *word; (word = strsep(&rest, " ")) != NULL;) {
		cr_assert(argc < 31);
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	self.name = argv[0];
	*err = (struct sl_err){0};
	code = run(&self, argc, argv, err);
	free(words);
	return code;
}

Test(commands, what_is_wrong_in_a_command_line_is_said_and_nothing_runs, .init = redirect)
{
	static const struct {
		command_fn run;
		const char *line, *says;
	} cases[] = {
	    {sl_cmd_run, "run", "scenario missing"},
	    {sl_cmd_run, "run " QUICK " --engine mode", "\"mode\" is not an engine; use model, live or vm"},
	    {sl_cmd_run, "run " QUICK " --engine live --dilate 0.5", "--dilate: must be from 1 to 1e6"},
	    {sl_cmd_run, "run " QUICK " --workload nothing", "nothing"},
	    {sl_cmd_run, "run " QUICK " --repeat 0", "--repeat"},
	    {sl_cmd_advise, "advise " QUICK " --json /nowhere/a.json", "/nowhere"},
	    {sl_cmd_advise, "advise " QUICK " --html /nowhere/a.html", "/nowhere"},
	    {sl_cmd_advise, "advise " QUICK " --json /tmp/sloglab-unit-a --html /nowhere/a.html", "/nowhere"},
	    {sl_cmd_powercut, "powercut", "powercut: scenario missing"},
	    {sl_cmd_powercut, "powercut " QUICK " " QUICK, "powercut: more than one scenario"},
	    {sl_cmd_powercut, "powercut " QUICK " --fail disk",
	     "--fail: disk: it takes slog, slog-side or slog@TIME"},
	    {sl_cmd_powercut, "powercut " QUICK " --fail slog@TIME", "--fail"},
	    {sl_cmd_powercut, "powercut " QUICK " --radius house", "--radius: house: it takes box, storage"},
	    {sl_cmd_powercut, "powercut " QUICK " --client bsd", "it takes esxi, libnfs or linux"},
	    {sl_cmd_powercut, "powercut " QUICK " --break all", "it takes flush, early-ack or order"},
	    {sl_cmd_powercut, "powercut " QUICK " --engine live", "--engine: live: it takes model, vm"},
	    {sl_cmd_powercut, "powercut " QUICK " --engine vm --random 3",
	     "--engine vm: cuts the storage VM"},
	    {sl_cmd_powercut, "powercut " QUICK " --json - --html -", "only one of --json and --html"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_err err;
		char *text;

		cr_assert_eq(command(cases[i].run, cases[i].line, &err), SL_EXIT_USAGE, "%s: %s",
			     cases[i].line, err.msg);
		cr_assert_not_null(strstr(err.msg, cases[i].says), "%s: %s", cases[i].line, err.msg);
		text = printed(cr_get_redirected_stdout());
		cr_assert_str_eq(text, "", "%s", cases[i].line);
		free(text);
	}
}

Test(commands, run_prints_its_table_where_no_file_goes, .init = redirect)
{
	struct sl_err err;
	json_t *doc;
	char *text;

	cr_assert_eq(command(sl_cmd_run, "run " QUICK " --workload seq4k --engine model", &err), SL_EXIT_OK,
		     "%s", err.msg);
	text = printed(cr_get_redirected_stdout());
	cr_assert_not_null(strstr(text, "\nworkload "), "%s", text);
	cr_assert_not_null(strstr(text, "\nseq4k  "), "%s", text);
	free(text);
	/* The JSON has stdout to itself. */
	cr_assert_eq(command(sl_cmd_run, "run " QUICK " --workload seq4k --json -", &err), SL_EXIT_OK, "%s",
		     err.msg);
	text = printed(cr_get_redirected_stdout());
	doc = json_loads(text, 0, NULL);
	cr_assert_not_null(doc, "%s", text);
	json_decref(doc);
	free(text);
	text = printed(cr_get_redirected_stderr());
	cr_assert_not_null(strstr(text, "\nworkload "), "%s", text);
	free(text);
}

/* A member of powercut's JSON for one cut of one cell at 2 s. */
static void powercut_has(const char *options, const char *key, const char *value)
{
	struct sl_err err;
	char line[300];
	json_t *doc;
	char *text;
	int code;

	snprintf(line, sizeof(line), "powercut " QUICK " --variant s3700 --workload seq4k --json -%s",
		 options);
	code = command(sl_cmd_powercut, line, &err);
	cr_assert(code == SL_EXIT_OK || code == SL_EXIT_FAILED, "%s: %d: %s", line, code, err.msg);
	text = printed(cr_get_redirected_stdout());
	doc = json_loads(text, 0, NULL);
	cr_assert_not_null(doc, "%s: %s", line, text);
	cr_assert_str_eq(json_string_value(json_object_get(doc, key)), value, "%s", line);
	json_decref(doc);
	free(text);
}

Test(commands, powercut_does_what_its_options_say, .init = redirect)
{
	powercut_has(" --at 2s", "fault", "none");
	powercut_has(" --at 2s", "radius", "box");
	powercut_has(" --at 2s", "broken_rule", "none");
	powercut_has(" --at 2s --radius storage", "radius", "storage");
	powercut_has(" --at 2s --break flush", "broken_rule", "flush");
	powercut_has(" --at 2s --break early-ack", "broken_rule", "early-ack");
	powercut_has(" --at 2s --break order", "broken_rule", "order");
	powercut_has(" --at 2s --fail slog", "fault", "slog");
	powercut_has(" --at 2s --fail slog@1s", "fault", "slog-pulled");
	powercut_has(" --at 2s --fail slog@1s", "radius", "box");
	powercut_has(" --fail slog@1s", "radius", "none");
}

/* The line of a check, "" when there is none. */
static void doctor_line(const char *text, const char *name, char *ret, size_t size)
{
	char at[64];
	const char *line;

	snprintf(at, sizeof(at), " %s ", name);
	line = strstr(text, at);
	snprintf(ret, size, "%.*s", line ? (int)strcspn(line, "\n") : 0, line ? line : "");
}

Test(commands, doctor_says_what_is_there, .init = redirect)
{
	char line[512], load[PATH_MAX], self[PATH_MAX] = "", cache[] = "/tmp/sloglab-unit-cache-XXXXXX";
	double p50 = -1, p99 = -1;
	struct sl_err err;
	char *text;

	cr_assert_not_null(mkdtemp(cache));
	setenv("XDG_CACHE_HOME", cache, 1);
	(void)command(sl_cmd_doctor, "doctor", &err);
	text = printed(cr_get_redirected_stdout());
	doctor_line(text, "data", line, sizeof(line));
	cr_assert_not_null(strstr(line, SL_SOURCE_DIR "/sim/scenario"), "%s", text);
	/* A sleep of 1 ms is late by less than its whole second, however busy the machine. */
	doctor_line(text, "timer", line, sizeof(line));
	cr_assert_eq(
	    sscanf(line, " timer 50 sleeps of 1 ms end late by %lf us (p50), %lf us (p99)", &p50, &p99), 2,
	    "%s", line);
	cr_assert(p50 >= 0 && p50 <= p99 && p99 >= 1 && p99 < 60e6, "%s", line);
	/* The load generator is looked for beside the program that asks. */
	cr_assert(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(load, sizeof(load), "%.4000s/sloglab-load", dirname(self));
	doctor_line(text, "load", line, sizeof(line));
	cr_assert_eq(strstr(line, "is beside") != NULL, access(load, X_OK) == 0, "%s: %s", load, line);
	doctor_line(text, "images", line, sizeof(line));
	cr_assert_not_null(strstr(line, "none built"), "%s", line);
	free(text);
	(void)rmdir(cache);
}

static bool named(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* A hard disk is no log device, memory no disk of a pool; a null device is neither. */
Test(commands, init_offers_what_fits_the_place)
{
	static const struct {
		const char *name;
		bool disk, log;
	} cases[] = {
	    {"hdd-7200-desktop", true, false},
	    {"intel-dc-s3500-80", true, true},
	    {"optane-900p-280", false, true},
	    {"raid10-8x-15k-sas", true, false},
	    {"null", false, false},
	    {"none", false, true},
	};
	struct sl_init_names *names;
	struct sl_err err = {0};

	cr_assert_eq(sl_init_names_load(SL_SOURCE_DIR "/sim/scenario", &names, &err), 0, "%s", err.msg);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(named(names->disk, names->n_disks, cases[i].name), cases[i].disk, "%s",
			     cases[i].name);
		cr_assert_eq(named(names->log, names->n_logs, cases[i].name), cases[i].log, "%s",
			     cases[i].name);
	}
	cr_assert(names->n_profiles > 0);
	sl_init_names_free(names);
}

Test(commands, init_with_yes_writes_a_scenario_that_runs, .init = redirect)
{
	char dir[] = "/tmp/sloglab-unit-init-XXXXXX", file[64], line[200];
	struct sl_err err;
	char *text;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/box.yaml", dir);
	snprintf(line, sizeof(line), "init --yes --layout raidz2 --slog intel-dc-s3700-100 --output %s",
		 file);
	cr_assert_eq(command(sl_cmd_init, line, &err), SL_EXIT_OK, "%s", err.msg);
	cr_assert_eq(command(sl_cmd_init, line, &err), SL_EXIT_USAGE, "it is there already");
	cr_assert_not_null(strstr(err.msg, "--force"), "%s", err.msg);
	free(printed(cr_get_redirected_stdout()));
	snprintf(line, sizeof(line), "run %s --json -", file);
	cr_assert_eq(command(sl_cmd_run, line, &err), SL_EXIT_OK, "%s", err.msg);
	text = printed(cr_get_redirected_stdout());
	cr_assert_not_null(strstr(text, "\"none\""), "%s", text);
	free(text);
	cr_assert_eq(unlink(file), 0);
	cr_assert_eq(rmdir(dir), 0);
}

/* What is refused never reaches the server: there is none. */
Test(commands, the_control_socket_refuses_times_out_of_range)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
	    {"stall 3601s", "\"3601s\": must be from 0s to 3600s"},
	    {"stall -1s", "-1s"},
	    {"stall soon", "soon"},
	    {"powercut 3601s", "\"3601s\": must be from 0s to 3600s"},
	    {"latency maybe", "latency \"maybe\": say on or off"},
	    {"log fail 99", "must be a whole number from 0 to"},
	    {"log fail x", "must be a whole number from 0 to"},
	    {"log", "log add DEVICE"},
	    {"dilate 0", "dilate: must be from 1e-6 to 1e6"},
	};
	struct sl_serve serve = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[40], reply[200] = "";
		struct sl_err err = {0};

		snprintf(line, sizeof(line), "%s", cases[i].line);
		cr_assert_eq(sl_serve_command(&serve, line, reply, sizeof(reply), &err), -EINVAL, "%s",
			     cases[i].line);
		cr_assert_not_null(strstr(err.msg, cases[i].says), "%s: %s", cases[i].line, err.msg);
		cr_assert_null(strstr(err.msg, "--"), "a verb is no option: %s", err.msg);
	}
}
