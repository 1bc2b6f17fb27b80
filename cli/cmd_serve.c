/* Serves the pool of a scenario as an NFSv3 datastore until a signal or `quit`. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/dilate.h"
#include "cli/serve.h"
#include "sim/base/out.h"
#include "sim/base/utf8.h"
#include "sim/report/report.h"
#include "sim/serve/control.h"

#define NFS_PORT 2049
#define PORTMAP_PORT 111
#define EXPORT "/tank/vm"
#define ANON_ID 65534 /* nobody, nogroup */
#define INTERVAL_TERMINAL_S 1
#define INTERVAL_FILE_S 10
#define RECOVERY_SHOWN_BYTES (16u << 20) /* less than a second of journal is not worth a line */

struct serve_options {
	struct sl_words operands, set, variant;
	const char *dir, *bind, *export_path, *control, *metrics, *dilate, *squash;
	uint64_t port, portmap, interval_s, seed, anon_uid, anon_gid, connections;
	bool no_credit, quiet, latency_off, read_only, host_durable;
	char control_path[PATH_MAX];
};

static const char *const squash_words[] = {
    [SL_NFS3_SQUASH_NONE] = "none", [SL_NFS3_SQUASH_ROOT] = "root", [SL_NFS3_SQUASH_ALL] = "all"};

static int squash_parse(const char *word, enum sl_nfs3_squash *ret, struct sl_err *err)
{
	for (int i = SL_NFS3_SQUASH_NONE; i <= SL_NFS3_SQUASH_ALL; i++) {
		if (strcmp(word, squash_words[i]) == 0) {
			*ret = (enum sl_nfs3_squash)i;
			return 0;
		}
	}
	return sl_err_set(err, -EINVAL, "--squash: \"%.32s\" is none of none, root, all", word);
}

/* A long journal takes its time to read: so many MiB of so many. */
static void recovery_show(void *arg, uint64_t done, uint64_t total)
{
	if (total >= RECOVERY_SHOWN_BYTES) {
		(void)fprintf(stderr, "sloglab: recovering %s: %llu of %llu MiB\n",
			      ((const struct serve_options *)arg)->dir, (unsigned long long)(done >> 20),
			      (unsigned long long)(total >> 20));
	}
}

static void notice_show(void *arg, const char *line)
{
	char text[512];

	/* Names in it are the clients'. */
	(void)snprintf(text, sizeof(text), "%s", line);
	sl_utf8_clean(text);
	(void)fprintf(stderr, "sloglab: serve: %s: %s\n", ((const struct serve_options *)arg)->dir, text);
}

static int options_check(struct serve_options *o, struct sl_err *err)
{
	if (o->operands.n != 1) {
		return sl_err_set(err, -EINVAL, "serve: %s; usage: sloglab serve SCENARIO --dir DIR",
				  o->operands.n ? "more than one scenario" : "scenario missing");
	}
	if (!o->dir) {
		return sl_err_set(err, -EINVAL, "--dir: missing; name the folder for the datastore's files");
	}
	if (o->metrics && (sl_out_is_stdout(o->metrics) || sl_out_check(o->metrics, err) < 0)) {
		return sl_out_is_stdout(o->metrics)
			   ? sl_err_set(err, -EINVAL,
					"--metrics: must be a file, it is written again and again")
			   : err->code;
	}
	if ((o->control ? snprintf(o->control_path, sizeof(o->control_path), "%s", o->control)
			: snprintf(o->control_path, sizeof(o->control_path), "%s/control.sock", o->dir)) >=
	    (int)sizeof(o->control_path)) {
		return sl_err_set(err, -ENAMETOOLONG, "--dir: path too long");
	}
	return 0;
}

static int serve_prepare(struct sl_serve *serve, struct serve_options *o, struct sl_box *ret_box,
			 struct sl_err *err)
{
	struct sl_chosen variants = {0};
	int rc = sl_dilate_parse("--dilate", o->dilate, &serve->pace, err);

	if (rc == 0) {
		rc = sl_session_open(&serve->session, o->operands.word[0], &o->set, err);
	}
	if (rc == 0) {
		rc = sl_session_variants(&serve->session, "variant", &o->variant, &variants, err);
	}
	if (rc == 0 && variants.n > 1) {
		rc = sl_err_set(err, -EINVAL, "--variant: one box is served, choose one variant");
	}
	if (rc == 0) {
		serve->variant = variants.n > 0 ? variants.index[0] : 0;
		rc = sl_scenario_box(serve->session.sc, serve->variant, ret_box, err);
	}
	free(variants.index);
	return rc;
}

/* One line: clients wait for it at each acknowledged write. */
static void host_print(const struct sl_serve *serve, const struct serve_options *o)
{
	char cost[32];
	int64_t cost_ns;
	int rc = sl_datastore_sync_cost(sl_pool_server_datastore(serve->server), &cost_ns);

	if (rc < 0) {
		printf("host     fsync of %s: %s\n", o->dir, strerror(-rc));
		return;
	}
	sl_units_time(cost_ns, cost, sizeof(cost));
	printf("host     fsync of %s takes %s (p50): no stable write is acknowledged sooner\n", o->dir, cost);
}

static void attach_print(const struct sl_serve *serve, const struct serve_options *o)
{
	struct sl_datastore *ds = sl_pool_server_datastore(serve->server);
	struct sl_serve_attach attach = {.bind = o->bind,
					 .export_path = o->export_path,
					 .dir = o->dir,
					 .portmap = o->portmap > 0,
					 .pool_bytes = sl_pool_server_bytes(serve->server)};

	printf("%s, variant %s, at %s:%u, export %s\n\n", sl_scenario_name(serve->session.sc),
	       sl_scenario_variant_name(serve->session.sc, serve->variant), o->bind,
	       (unsigned)sl_datastore_nfs_port(ds), o->export_path);
	sl_serve_attach_print(ds, &attach);
	if (o->host_durable) {
		host_print(serve, o);
	}
	printf("control  sloglab ctl %s status\nready\n", o->control_path);
	fflush(stdout);
}

static void summary_print(struct sl_serve *serve)
{
	struct sl_datastore *ds = sl_pool_server_datastore(serve->server);
	const struct sl_datastore_timing *timing = ds ? sl_datastore_timing(ds) : NULL;
	struct sl_trust trust;
	double median_wall_ns;

	if (!timing) {
		return;
	}
	median_wall_ns = (double)sl_hist_quantile(&timing->modelled_model_ns, 0.5) * serve->pace;
	printf("calls %llu; replies late by %.1f us (p50), %.1f us (p99); modelled latency of writes and "
	       "commits %.1f us (p50)\n",
	       (unsigned long long)sl_datastore_stats(ds)->calls,
	       (double)sl_hist_quantile(&timing->lateness_wall_ns, 0.5) / 1e3,
	       (double)sl_hist_quantile(&timing->lateness_wall_ns, 0.99) / 1e3, median_wall_ns / 1e3);
	sl_serving_trust(&serve->serving, &timing->lateness_wall_ns, (int64_t)median_wall_ns, &trust);
	sl_report_trust(&trust, stdout);
}

static int serve_open(struct sl_serve *serve, struct serve_options *o, const struct sl_box *box,
		      struct sl_err *err)
{
	struct sl_pool_server_config config = {
	    .box = box,
	    .seed = o->seed,
	    .pace = serve->pace,
	    .instant = serve->latency_off,
	    .datastore = {.dir = o->dir,
			  .export_path = o->export_path,
			  .bind = o->bind,
			  .nfs_port = (uint16_t)o->port,
			  .mount_port = (uint16_t)o->port,
			  .portmap_port = (uint16_t)o->portmap,
			  .credit_cap_ns = o->no_credit ? 0 : SL_SERVING_CREDIT_NS,
			  .anon_uid = (uint32_t)o->anon_uid,
			  .anon_gid = (uint32_t)o->anon_gid,
			  .read_only = o->read_only,
			  .max_connections = (uint32_t)o->connections,
			  .host_durable = o->host_durable,
			  .progress = recovery_show,
			  .progress_arg = o,
			  .notice = {.say = notice_show, .arg = o}}};
	int rc = squash_parse(o->squash, &config.datastore.squash, err);

	rc = rc < 0 ? rc : sl_serving_init(&serve->serving, err);
	if (rc == 0) {
		config.datastore.loop = serve->serving.loop;
		rc = sl_pool_server_new(&config, &serve->server, err);
	}
	return rc < 0 ? rc : sl_serve_watch_start(serve, err);
}

static int serve_run(struct sl_serve *serve, struct serve_options *o, const struct sl_box *box,
		     struct sl_err *err)
{
	struct sl_control *control = NULL;
	const struct sl_err *lost;
	int code = SL_EXIT_OK;
	int rc = serve_open(serve, o, box, err);

	if (rc == 0) {
		rc = sl_control_new(serve->serving.loop, o->control_path, sl_serve_command, serve, &control,
				    err);
	}
	if (rc < 0) {
		code = SL_EXIT_USAGE;
	} else {
		attach_print(serve, o);
		rc = sl_loop_run(serve->serving.loop, err);
		lost = sl_pool_server_lost(serve->server);
		if (rc == 0 && lost) {
			*err = *lost;
			rc = lost->code;
		}
		if (rc == 0) {
			rc = sl_pool_server_sync(serve->server, err);
		}
		summary_print(serve);
		code = rc < 0 ? SL_EXIT_FAILED
			      : (serve->serving.signal == SIGINT ? SL_EXIT_INTERRUPTED : SL_EXIT_OK);
	}
	sl_control_free(control);
	sl_serve_watch_stop(serve);
	sl_pool_server_free(serve->server);
	sl_serving_fini(&serve->serving);
	return code;
}

static int serve_main(struct sl_serve *serve, struct serve_options *o, struct sl_err *err)
{
	struct sl_box box;

	if (options_check(o, err) < 0 || serve_prepare(serve, o, &box, err) < 0) {
		return SL_EXIT_USAGE;
	}
	serve->latency_off = o->latency_off;
	serve->watch.metrics = o->metrics;
	serve->watch.quiet = o->quiet;
	serve->watch.interval_ns = (int64_t)o->interval_s * 1000000000;
	return serve_run(serve, o, &box, err);
}

static void options_default(struct serve_options *o)
{
	*o = (struct serve_options){
	    .export_path = EXPORT,
	    .bind = "127.0.0.1",
	    .port = NFS_PORT,
	    .portmap = geteuid() == 0 ? PORTMAP_PORT : 0,
	    .connections = SL_DATASTORE_MAX_CONNECTIONS,
	    .interval_s = isatty(STDOUT_FILENO) ? INTERVAL_TERMINAL_S : INTERVAL_FILE_S,
	    .seed = 1,
	    .squash = squash_words[SL_NFS3_SQUASH_NONE],
	    .anon_uid = ANON_ID,
	    .anon_gid = ANON_ID,
	};
}

/* 1 = help was printed. */
static int options_parse(const struct sl_command *self, int argc, char **argv, struct serve_options *o,
			 struct sl_err *err)
{
	const struct sl_option options[] = {
	    {"dir", "DIR", "folder of the datastore's files; made when missing", SL_OPT_TEXT, &o->dir, 0, 0},
	    {"variant", "NAME", "the box to serve (default: the first variant)", SL_OPT_WORDS, &o->variant, 0,
	     0},
	    {"set", "KEY=VALUE", "override a key of the scenario; may be repeated", SL_OPT_WORDS, &o->set, 0,
	     0},
	    {"export", "PATH", "name of the export (default: " EXPORT ")", SL_OPT_TEXT, &o->export_path, 0,
	     0},
	    {"bind", "ADDRESS", "listen on this address (default: 127.0.0.1)", SL_OPT_TEXT, &o->bind, 0, 0},
	    {"port", "N", "port of NFS and MOUNT (default: 2049; 0 = any free ones)", SL_OPT_NUMBER, &o->port,
	     0, 65535},
	    {"portmap-port", "N", "port of the portmapper; 0 = none (default: 111 as root, else none)",
	     SL_OPT_NUMBER, &o->portmap, 0, 65535},
	    {"control", "PATH", "control socket (default: DIR/control.sock)", SL_OPT_TEXT, &o->control, 0, 0},
	    {"interval", "S", "seconds between status lines (default: 1, 10 if not on a terminal)",
	     SL_OPT_NUMBER, &o->interval_s, 1, 3600},
	    {"metrics", "FILE", "write metrics for Prometheus's textfile collector each interval",
	     SL_OPT_TEXT, &o->metrics, 0, 0},
	    {"quiet", NULL, "no status lines", SL_OPT_FLAG, &o->quiet, 0, 0},
	    {"dilate", "K", "multiply all modelled times by K", SL_OPT_TEXT, &o->dilate, 0, 0},
	    {"latency-off", NULL, "answer at once until `latency on`, to populate", SL_OPT_FLAG,
	     &o->latency_off, 0, 0},
	    {"no-credit", NULL, "do not make up for late replies", SL_OPT_FLAG, &o->no_credit, 0, 0},
	    {"squash", "WHO",
	     "none, root or all: clients who are nobody here (default: none, as hypervisors need)",
	     SL_OPT_TEXT, &o->squash, 0, 0},
	    {"anon-uid", "N", "user number of nobody (default: 65534)", SL_OPT_NUMBER, &o->anon_uid, 1,
	     UINT32_MAX},
	    {"anon-gid", "N", "group number of nobody (default: 65534)", SL_OPT_NUMBER, &o->anon_gid, 1,
	     UINT32_MAX},
	    {"connections", "N", "clients at a time (default: 256); more are turned away", SL_OPT_NUMBER,
	     &o->connections, 1, 65536},
	    {"read-only", NULL, "clients change nothing", SL_OPT_FLAG, &o->read_only, 0, 0},
	    {"host-durable", NULL, "stable data survives a crash of this machine too (fdatasync)",
	     SL_OPT_FLAG, &o->host_durable, 0, 0},
	    {"seed", "N", "of the models' random streams (default 1)", SL_OPT_NUMBER, &o->seed, 0, INT64_MAX},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	bool help;
	int rc;

	options_default(o);
	rc = sl_options_parse(options, argc, argv, &o->operands, &help, err);
	if (rc == 0 && help) {
		printf("usage: sloglab %s %s --dir DIR [OPTION]...\n%s\n\n", self->name, self->args,
		       self->summary);
		sl_options_print(options, stdout);
		return 1;
	}
	return rc;
}

int sl_cmd_serve(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct serve_options *o = calloc(1, sizeof(*o));
	struct sl_serve *serve = calloc(1, sizeof(*serve));
	int code = SL_EXIT_FAILED;

	if (o && serve) {
		int rc = options_parse(self, argc, argv, o, err);

		code = rc > 0 ? SL_EXIT_OK : rc < 0 ? SL_EXIT_USAGE : serve_main(serve, o, err);
		sl_session_close(&serve->session);
	} else {
		(void)sl_err_set(err, -ENOMEM, "out of memory");
	}
	free(serve);
	free(o);
	return code;
}
