/* `sloglab vm`: the libvirt lab by hand. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/dilate.h"
#include "cli/group.h"
#include "engine/lab_control.h"
#include "engine/lab_life.h"
#include "engine/serving.h"
#include "guests/domain_xml.h"
#include "sim/base/signals.h"
#include "sim/serve/listen.h"

#define RUN_S 600
#define ESCAPE 0x1d /* Ctrl-] */

struct vm_options {
	struct sl_words operands, variants, sets;
	const char *name, *zfs, *dilate;
	char dir[SL_LAB_DIR_MAX]; /* of the lab that was found */
	uint64_t timeout_s;
	bool ext4, no_guest, force;
	struct sl_lab_plan plan;
};

static int help_print(const struct sl_command *self, const struct sl_option *options)
{
	printf("usage: sloglab %s %s\n%s\n\n", self->name, self->args, self->summary);
	sl_options_print(options, stdout);
	return SL_EXIT_OK;
}

/* What `up` and `xml` share: options, and the plan they ask for. 1 = help was printed. */
static int plan_parse(const struct sl_command *self, int argc, char **argv, struct vm_options *o,
		      struct sl_err *err)
{
	const struct sl_option options[] = {
	    {"variant", "A,B", "the variants whose log devices the storage VM gets (default: all)",
	     SL_OPT_WORDS, &o->variants, 0, 0},
	    {"set", "KEY=VALUE", "override a key of the scenario; may be repeated", SL_OPT_WORDS, &o->sets, 0,
	     0},
	    {"name", "NAME", "name of the lab (default: the scenario's)", SL_OPT_TEXT, &o->name, 0, 0},
	    {"zfs", "2.1|2.3", "OpenZFS of the storage image (default: as nas.zil says)", SL_OPT_TEXT,
	     &o->zfs, 0, 0},
	    {"dilate", "K", "multiply the times of the modelled disks and of ZFS's timers by K", SL_OPT_TEXT,
	     &o->dilate, 0, 0},
	    {"ext4", NULL, "an ext4 export in place of a pool", SL_OPT_FLAG, &o->ext4, 0, 0},
	    {"no-guest", NULL, "the storage VM alone", SL_OPT_FLAG, &o->no_guest, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	struct sl_lab_plan_options plan = {.variants = &o->variants, .sets = &o->sets};
	bool help;
	int rc = sl_options_parse(options, argc, argv, &o->operands, &help, err);

	if (rc < 0) {
		return rc;
	}
	if (help) {
		(void)help_print(self, options);
		return 1;
	}
	if (o->operands.n != 1) {
		return sl_err_set(err, -EINVAL, "%s: %s; usage: sloglab %s %s", self->name,
				  o->operands.n ? "more than one scenario" : "scenario missing", self->name,
				  self->args);
	}
	rc = sl_dilate_parse("--dilate", o->dilate, &plan.dilate, err);
	plan.scenario = o->operands.word[0];
	plan.name = o->name;
	plan.zfs = o->zfs;
	plan.ext4 = o->ext4;
	plan.no_guest = o->no_guest;
	return rc < 0 ? rc : sl_lab_plan(&plan, &o->plan, err);
}

static void said(void *arg, const char *what)
{
	(void)arg;
	fprintf(stderr, "lab: %s\n", what);
}

static int cmd_up(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct vm_options *o = calloc(1, sizeof(*o));
	int code = SL_EXIT_FAILED;
	int rc = o ? plan_parse(self, argc, argv, o, err) : sl_err_set(err, -ENOMEM, "out of memory");

	if (rc > 0) {
		code = SL_EXIT_OK;
	} else if (rc < 0) {
		code = SL_EXIT_USAGE;
	} else {
		rc = sl_lab_bring_up(&o->plan, said, sl_signals_stopped, err);
		code = rc == 0 ? SL_EXIT_OK : rc == -EINTR ? SL_EXIT_INTERRUPTED : SL_EXIT_FAILED;
		if (rc == 0) {
			printf("lab %s is up; sloglab vm status, vm run guest COMMAND, vm console storage, "
			       "vm down\n",
			       o->plan.name);
		}
	}
	if (o) {
		sl_lab_plan_fini(&o->plan);
	}
	free(o);
	return code;
}

static int xml_print(const struct sl_lab_config *config, enum sl_lab_machine machine, struct sl_err *err)
{
	struct sl_lab_text *text = malloc(sizeof(*text));
	struct sl_domain *domain = malloc(sizeof(*domain));
	char *xml = NULL;
	int rc = text && domain ? 0 : sl_err_set(err, -ENOMEM, "out of memory");

	if (rc == 0) {
		sl_lab_domain(config, machine, domain, text);
		rc = sl_domain_xml(domain, &xml, err);
	}
	if (rc == 0) {
		fputs(xml, stdout);
	}
	free(xml);
	free(text);
	free(domain);
	return rc;
}

static int cmd_xml(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct vm_options *o = calloc(1, sizeof(*o));
	char nbd[SL_LAB_PATH_MAX];
	int code = SL_EXIT_USAGE;
	int rc = o ? plan_parse(self, argc, argv, o, err) : sl_err_set(err, -ENOMEM, "out of memory");

	if (rc > 0) {
		code = SL_EXIT_OK;
	} else if (rc == 0) {
		struct sl_lab_config config = sl_lab_plan_config(&o->plan, nbd);

		rc = xml_print(&config, SL_LAB_STORAGE, err);
		if (rc == 0 && config.guest) {
			rc = xml_print(&config, SL_LAB_GUEST, err);
		}
		code = rc < 0 ? SL_EXIT_FAILED : SL_EXIT_OK;
	}
	if (o) {
		sl_lab_plan_fini(&o->plan);
	}
	free(o);
	return code;
}

/* Options of the commands for a lab that is up: --name, and its folder. 1 = help was printed. */
static int lab_parse(const struct sl_command *self, const struct sl_option *options, int argc, char **argv,
		     struct vm_options *o, struct sl_err *err)
{
	bool help;
	int rc;

	o->name = NULL;
	rc = sl_options_parse(options, argc, argv, &o->operands, &help, err);
	if (rc < 0) {
		return rc;
	}
	if (help) {
		(void)help_print(self, options);
		return 1;
	}
	return sl_lab_find(o->name, o->dir, err);
}

/* Of a lab that is not there: not wrong usage. */
static int parse_exit(int rc)
{
	return rc > 0 ? SL_EXIT_OK : rc == -ENOENT ? SL_EXIT_FAILED : SL_EXIT_USAGE;
}

static int cmd_status(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct vm_options o = {0};
	const struct sl_option options[] = {
	    {"name", "NAME", "name of the lab (default: the only one)", SL_OPT_TEXT, &o.name, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	char reply[8192];
	int rc = lab_parse(self, options, argc, argv, &o, err);

	if (rc != 0) {
		return parse_exit(rc);
	}
	rc = sl_lab_ask(&(struct sl_lab_at){o.dir, sl_signals_stopped}, reply, sizeof(reply), err, "status");
	if (rc == 0) {
		printf("lab %s\n%s", strrchr(o.dir, '/') + 1, reply);
		rc = sl_lab_ask_disks(o.dir, "status", reply, sizeof(reply), err);
	}
	if (rc == 0) {
		fputs(reply, stdout);
	}
	return rc < 0 ? SL_EXIT_FAILED : SL_EXIT_OK;
}

static int cmd_run(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct vm_options o = {.timeout_s = RUN_S};
	const struct sl_option options[] = {
	    {"name", "NAME", "name of the lab (default: the only one)", SL_OPT_TEXT, &o.name, 0, 0},
	    {"timeout", "S", "give up after so many seconds (default 600)", SL_OPT_NUMBER, &o.timeout_s, 1,
	     86400},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	char shell[8192];
	struct sl_patience patience = {.stopped = sl_signals_stopped};
	struct sl_lab_run run;
	size_t used = 0;
	int rc = lab_parse(self, options, argc, argv, &o, err);

	if (rc != 0) {
		return parse_exit(rc);
	}
	if (o.operands.n < 2) {
		(void)sl_err_set(err, -EINVAL, "%s: usage: sloglab %s %s", self->name, self->name,
				 self->args);
		return SL_EXIT_USAGE;
	}
	for (int i = 1; i < o.operands.n && used < sizeof(shell); i++) {
		used += (size_t)snprintf(shell + used, sizeof(shell) - used, "%s%s", i > 1 ? " " : "",
					 o.operands.word[i]);
	}
	if (used >= sizeof(shell)) {
		(void)sl_err_set(err, -E2BIG, "%s: command too long", self->name);
		return SL_EXIT_USAGE;
	}
	patience.timeout_ms = (int)o.timeout_s * 1000;
	rc = sl_lab_run(o.dir, o.operands.word[0], shell, &patience, &run, err);
	if (rc < 0) {
		return rc == -EINTR ? SL_EXIT_INTERRUPTED : SL_EXIT_FAILED;
	}
	fputs(run.out, stdout);
	fputs(run.error, stderr);
	rc = run.code;
	sl_lab_run_fini(&run);
	return rc;
}

/* Bytes both ways until Ctrl-] or the end of either side. */
static void console_copy(int console)
{
	char buf[4096];

	for (;;) {
		struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
				       {.fd = console, .events = POLLIN}};
		ssize_t n;

		if (sl_signals_poll(fds, 2) < 0) {
			return;
		}
		if (fds[0].revents) {
			n = read(STDIN_FILENO, buf, sizeof(buf));
			if (n <= 0 || memchr(buf, ESCAPE, (size_t)n) || write(console, buf, (size_t)n) != n) {
				return;
			}
		}
		if (fds[1].revents) {
			n = read(console, buf, sizeof(buf));
			if (n <= 0 || write(STDOUT_FILENO, buf, (size_t)n) != n) {
				return;
			}
		}
	}
}

static int cmd_console(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct vm_options o = {0};
	const struct sl_option options[] = {
	    {"name", "NAME", "name of the lab (default: the only one)", SL_OPT_TEXT, &o.name, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	char path[SL_LAB_PATH_MAX];
	struct termios before, raw;
	bool terminal;
	int console;
	int rc = lab_parse(self, options, argc, argv, &o, err);

	if (rc != 0) {
		return parse_exit(rc);
	}
	if (o.operands.n != 1 ||
	    (strcmp(o.operands.word[0], "storage") != 0 && strcmp(o.operands.word[0], "guest") != 0)) {
		(void)sl_err_set(err, -EINVAL, "%s: say storage or guest", self->name);
		return SL_EXIT_USAGE;
	}
	(void)snprintf(path, sizeof(path), "%s/%s.console", o.dir, o.operands.word[0]);
	console = sl_unix_connect(path, err);
	if (console < 0) {
		return SL_EXIT_FAILED;
	}
	terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;
	if (terminal) {
		fprintf(stderr, "connected; Ctrl-] leaves\n");
		raw = before;
		cfmakeraw(&raw);
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	console_copy(console);
	if (terminal) {
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
	}
	close(console);
	return SL_EXIT_OK;
}

static int cmd_down(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct vm_options o = {0};
	const struct sl_option options[] = {
	    {"name", "NAME", "name of the lab (default: the only one)", SL_OPT_TEXT, &o.name, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	int rc = lab_parse(self, options, argc, argv, &o, err);

	if (rc == -ENOENT) {
		*err = (struct sl_err){0};
		puts("no lab is there");
		return SL_EXIT_OK;
	}
	if (rc != 0) {
		return parse_exit(rc);
	}
	if (sl_lab_remove(o.dir, SL_LAB_DOWN_MS, err) < 0) {
		return SL_EXIT_FAILED;
	}
	printf("lab %s is down\n", strrchr(o.dir, '/') + 1);
	return SL_EXIT_OK;
}

int sl_cmd_vm(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	static const struct sl_command members[] = {
	    {"vm up", "SCENARIO", "disks, storage VM, pool, export, guest", cmd_up},
	    {"vm status", "", "what runs, and what does not", cmd_status},
	    {"vm run", "storage|guest COMMAND...", "a command of the shell in a machine", cmd_run},
	    {"vm console", "storage|guest", "the machine's serial console", cmd_console},
	    {"vm xml", "SCENARIO", "the domains as libvirt's XML, for a libvirt of your own", cmd_xml},
	    {"vm down", "", "everything of the lab, also what a crash left", cmd_down},
	    {NULL, NULL, NULL, NULL}};

	return sl_group_run(self, members, argc, argv, err);
}
