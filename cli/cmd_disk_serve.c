/* Serves modelled disks over NBD until a signal or `quit`. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dilate.h"
#include "cli/disk.h"
#include "cli/disk_specs.h"
#include "engine/serving.h"
#include "sim/report/report.h"
#include "sim/scenario/paths.h"

struct serve {
	const char *dir, *socket, *control, *write_log, *dilate;
	uint64_t port, seed;
	bool tcp, no_credit, latency_off;
	char socket_path[PATH_MAX], control_path[PATH_MAX];
	struct sl_disk_specs specs;
	struct sl_serving serving;
	struct sl_disks *disks;
};

/* DIR/nbd.sock and DIR/control.sock unless told otherwise. */
static int paths_fill(struct serve *s, struct sl_err *err)
{
	if (snprintf(s->socket_path, sizeof(s->socket_path), "%s", s->socket ? s->socket : "") >= PATH_MAX ||
	    (!s->socket && !s->tcp &&
	     snprintf(s->socket_path, sizeof(s->socket_path), "%s/nbd.sock", s->dir) >= PATH_MAX) ||
	    (s->control ? snprintf(s->control_path, sizeof(s->control_path), "%s", s->control)
			: snprintf(s->control_path, sizeof(s->control_path), "%s/control.sock", s->dir)) >=
		PATH_MAX) {
		return sl_err_set(err, -ENAMETOOLONG, "%.200s: path too long", s->dir);
	}
	return 0;
}

static int serve_open(struct serve *s, double dilate, struct sl_err *err)
{
	struct sl_disks_config config = {.disks = s->specs.disks,
					 .n_disks = s->specs.n,
					 .dir = s->dir,
					 .socket = s->socket_path[0] ? s->socket_path : NULL,
					 .control = s->control_path,
					 .write_log = s->write_log,
					 .tcp = s->tcp,
					 .port = (uint16_t)s->port,
					 .dilate = dilate,
					 .credit_cap_ns = s->no_credit ? 0 : SL_SERVING_CREDIT_NS,
					 .seed = s->seed};
	char off[] = "latency off", none[1];
	int rc;

	rc = sl_serving_init(&s->serving, err);
	if (rc == 0) {
		config.loop = s->serving.loop;
		rc = sl_disks_new(&config, &s->disks, err);
	}
	if (rc == 0 && s->latency_off) {
		rc = sl_disks_command(s->disks, off, none, sizeof(none), err);
	}
	return rc;
}

/* What a client connects to: one line for each disk and way, then "ready". */
static void uris_print(const struct serve *s)
{
	for (int i = 0; i < s->specs.n; i++) {
		if (s->socket_path[0]) {
			printf("nbd+unix:///%s?socket=%s\n", s->specs.disks[i].name, s->socket_path);
		}
		if (s->tcp) {
			printf("nbd://127.0.0.1:%u/%s\n", sl_disks_port(s->disks), s->specs.disks[i].name);
		}
	}
	printf("control %s\nready\n", s->control_path);
	fflush(stdout);
}

static void summary_print(const struct serve *s)
{
	const struct sl_hist *late = sl_disks_lateness(s->disks), *modelled = sl_disks_modelled(s->disks);
	struct sl_trust trust;
	double late_ns = (double)sl_hist_quantile(late, 0.99),
	       median_ns = (double)sl_hist_quantile(modelled, 0.5);

	printf("requests %llu; replies late by %.1f us (p50), %.1f us (p99); modelled latency %.1f us (p50), "
	       "%.1f us "
	       "(mean); credit %.1f ms\n",
	       (unsigned long long)sl_disks_requests(s->disks), (double)sl_hist_quantile(late, 0.5) / 1e3,
	       late_ns / 1e3, median_ns / 1e3, sl_hist_mean(modelled) / 1e3,
	       (double)sl_disks_credit_used(s->disks) / 1e6);
	sl_serving_trust(&s->serving, late, sl_hist_quantile(modelled, 0.5), &trust);
	sl_report_trust(&trust, stdout);
}

static int serve_run(struct serve *s, double dilate, struct sl_err *err)
{
	int code = SL_EXIT_OK;
	int rc = serve_open(s, dilate, err);

	if (rc == 0) {
		uris_print(s);
		rc = sl_loop_run(s->serving.loop, err);
		summary_print(s);
		code = s->serving.signal == SIGINT ? SL_EXIT_INTERRUPTED : SL_EXIT_OK;
	} else if (rc != -ENOMEM) {
		code = SL_EXIT_USAGE; /* nothing ran: a port in use, a folder that cannot be made, ... */
	}
	if (sl_disks_free(s->disks, rc < 0 ? NULL : err) < 0 || (rc < 0 && code == SL_EXIT_OK)) {
		code = SL_EXIT_FAILED;
	}
	sl_serving_fini(&s->serving);
	return code;
}

static int words_check(struct serve *s, const struct sl_words *words, double *ret_dilate, struct sl_err *err)
{
	struct sl_paths paths;
	int rc = 0;

	if (words->n == 0) {
		return sl_err_set(
		    err, -EINVAL,
		    "disk serve: device missing; usage: sloglab disk serve DEVICE... --dir DIR");
	}
	if (!s->dir) {
		return sl_err_set(err, -EINVAL, "--dir: missing; name the folder for the disks' files");
	}
	rc = sl_dilate_parse("--dilate", s->dilate, ret_dilate, err);
	if (rc < 0) {
		return rc;
	}
	rc = sl_paths_find(&paths, err);
	for (int i = 0; i < words->n && rc == 0; i++) {
		rc = sl_disk_specs_add(&s->specs, words->word[i], paths.data, err);
	}
	return rc ? rc : paths_fill(s, err);
}

int sl_cmd_disk_serve(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct serve *s = calloc(1, sizeof(*s));
	uint64_t no_port = UINT64_MAX;
	double dilate = 1;
	int code = SL_EXIT_USAGE;

	if (!s) {
		(void)sl_err_set(err, -ENOMEM, "out of memory");
		return SL_EXIT_FAILED;
	}
	const struct sl_option options[] = {
	    {"dir", "DIR", "folder of the disks' files, NAME.img; made when missing", SL_OPT_TEXT, &s->dir, 0,
	     0},
	    {"socket", "PATH", "listen on this unix socket (default: DIR/nbd.sock)", SL_OPT_TEXT, &s->socket,
	     0, 0},
	    {"port", "N", "listen on this TCP port of 127.0.0.1; 0 = any free one", SL_OPT_NUMBER, &no_port,
	     0, 65535},
	    {"control", "PATH", "control socket (default: DIR/control.sock)", SL_OPT_TEXT, &s->control, 0, 0},
	    {"dilate", "K", "multiply all modelled times by K", SL_OPT_TEXT, &s->dilate, 0, 0},
	    {"latency-off", NULL, "answer at once until `latency on`, to populate", SL_OPT_FLAG,
	     &s->latency_off, 0, 0},
	    {"write-log", "FILE", "record every write and flush, for disk replay", SL_OPT_TEXT, &s->write_log,
	     0, 0},
	    {"no-credit", NULL, "do not make up for late replies", SL_OPT_FLAG, &s->no_credit, 0, 0},
	    {"seed", "N", "of the models' random streams (default 1)", SL_OPT_NUMBER, &s->seed, 0,
	     UINT64_MAX},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	struct sl_words words;
	bool help;

	s->seed = 1;
	if (sl_options_parse(options, argc, argv, &words, &help, err) == 0) {
		s->tcp = no_port != UINT64_MAX;
		s->port = s->tcp ? no_port : 0;
		if (help) {
			printf("usage: sloglab %s %s --dir DIR\n%s\n\n", self->name, self->args,
			       self->summary);
			sl_options_print(options, stdout);
			code = SL_EXIT_OK;
		} else if (words_check(s, &words, &dilate, err) == 0) {
			code = serve_run(s, dilate, err);
		}
	}
	sl_disk_specs_free(&s->specs);
	free(s);
	return code;
}
