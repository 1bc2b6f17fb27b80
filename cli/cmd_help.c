#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "sim/base/suggest.h"
#include "sim/report/prose.h"
#include "sim/scenario/paths.h"
#include "sim/scenario/session.h"

#define HELP_WIDTH 80

static const struct sl_command commands[] = {
    {"run", "SCENARIO", "predict, and measure, every variant x workload of a scenario", sl_cmd_run},
    {"explain", "SCENARIO", "where one operation's time goes, and what each layer at no cost would give",
     sl_cmd_explain},
    {"init", "", "a few questions: a commented scenario of your own box", sl_cmd_init},
    {"advise", "SCENARIO", "rank what could be bought or changed, \"nothing\" included", sl_cmd_advise},
    {"powercut", "SCENARIO", "cut the power, restart, replay the log: which acknowledged writes are gone",
     sl_cmd_powercut},
    {"calibrate", "", "measure what this host costs: a host profile for run --engine live", sl_cmd_calibrate},
    {"fit", "SCENARIO", "fit the free parameters on the calibrate cells", sl_cmd_fit},
    {"serve", "SCENARIO", "an NFSv3 datastore on this machine that behaves like the scenario's pool",
     sl_cmd_serve},
    {"ctl", "SOCKET COMMAND...",
     "tell a running `serve` or `disk serve` what happens to its box: status shows", sl_cmd_ctl},
    {"store", "check|repair DIR", "the folder of a datastore: what is damaged, what can be brought back",
     sl_cmd_store},
    {"disk", "COMMAND", "disks: catalogue, tests, block devices over NBD with power cuts", sl_cmd_disk},
    {"image", "COMMAND", "images of the virtual machines: build, list, clean", sl_cmd_image},
    {"vm", "COMMAND", "the lab of virtual machines by hand: up, status, run, console, xml, down", sl_cmd_vm},
    {"doctor", "", "what this host can run, what is missing, the command that fixes it", sl_cmd_doctor},
    {"help", "[COMMAND|scenarios]", "this text, the options of a command, or the ready scenarios",
     sl_cmd_help},
    {NULL, NULL, NULL, NULL}};

const struct sl_command *sl_commands(void)
{
	return commands;
}

static void help_all(FILE *out)
{
	char left[64];

	fputs("sloglab - a virtual lab for all-in-one storage: what does a SLOG bring?\n\n"
	      "usage: sloglab COMMAND [OPTION]...\n\n",
	      out);
	for (const struct sl_command *c = commands; c->name; c++) {
		snprintf(left, sizeof(left), "%s %s", c->name, c->args);
		fprintf(out, "  %-24s %s\n", left, c->summary);
	}
	fputs("\n  sloglab help scenarios                        the ready scenarios, and what each teaches\n"
	      "  sloglab run b3n-2014                          the published benchmark, predicted\n"
	      "  sloglab run quick --engine live               the same effect, measured with a real NFS "
	      "client\n"
	      "  sloglab run lab-honest-flush --engine vm      real OpenZFS and MariaDB in virtual machines\n"
	      "  sloglab run b3n-2014 --html report.html       a page with charts and every parameter\n\n"
	      "`sloglab COMMAND --help` lists the options; sloglab(1) and sloglab-scenario(5) explain.\n",
	      out);
}

/* Name, title and lesson of each ready scenario. One that cannot be read says why and the list goes on. */
static int help_scenarios(FILE *out, struct sl_err *err)
{
	char names[SL_PATHS_SCENARIOS_MAX][SL_PATHS_NAME_MAX];
	struct sl_paths paths;
	int code = SL_EXIT_OK, n;

	if (sl_paths_find(&paths, err) < 0) {
		return SL_EXIT_USAGE;
	}
	n = sl_paths_scenarios(&paths, names);
	for (int i = 0; i < n; i++) {
		struct sl_session session;

		if (sl_session_open(&session, names[i], NULL, err) < 0) {
			code = SL_EXIT_FAILED;
		} else {
			fprintf(out, "%s%s: %s\n", i > 0 ? "\n" : "", names[i],
				sl_scenario_title(session.sc));
			sl_prose(sl_scenario_teaches(session.sc), 2, HELP_WIDTH, out);
		}
		sl_session_close(&session);
	}
	return code;
}

/* `help NAME` is `NAME --help`. */
int sl_cmd_help(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	static char help[] = "--help";
	const char *names[SL_COMMANDS_MAX];
	const char *near;
	int n = 0;

	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], self->name) == 0) {
		help_all(stdout);
		return SL_EXIT_OK;
	}
	if (strcmp(argv[1], "scenarios") == 0) {
		return help_scenarios(stdout, err);
	}
	for (const struct sl_command *c = commands; c->name; c++) {
		names[n++] = c->name;
		if (strcmp(c->name, argv[1]) == 0) {
			char *args[] = {argv[1], help, NULL};

			return c->run(c, 2, args, err);
		}
	}
	near = sl_suggest(argv[1], names, n);
	sl_err_set(err, -EINVAL, "%.60s: unknown command; %s%s", argv[1],
		   near ? "did you mean " : "see sloglab --help", near ? near : "");
	return SL_EXIT_USAGE;
}
