/*
 * A datastore for the system tests: null timing, or a constant delay in virtual time behind the pacer.
 * Prints "ready NFSPORT MOUNTPORT" when it listens; ends cleanly on SIGTERM and SIGINT, printing what it did.
 */
#include <argp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "sim/base/units.h"
#include "sim/datastore/datastore.h"

struct options {
	const char *dir, *bind, *export_path;
	uint16_t nfs, mount, portmap;
	int64_t delay_ns, credit_ns;
	uint32_t connections;
	uint64_t capacity_bytes;
	int64_t idle_ns, stall_ns;
	enum sl_nfs3_squash squash;
	bool read_only, host_durable, sync_disabled;
};

/* Every timed operation takes the same time, any number of them at once. */
struct delay_store {
	struct sl_store base;
	struct sl_loop *loop;
	int64_t delay_ns;
};

static void delay_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	struct delay_store *self = sl_container_of(store, struct delay_store, base);

	sl_loop_arm(self->loop, &req->done, now_ns + (req->op == SL_STORE_GETATTR ? 0 : self->delay_ns));
}

static void delay_free(struct sl_store *store)
{
	(void)store;
}

static const struct sl_store_ops delay_ops = {.submit = delay_submit, .free = delay_free};

struct stopper {
	struct sl_io io;
	struct sl_loop *loop;
};

static void stopper_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	(void)events;
	(void)now_ns;
	sl_loop_stop(sl_container_of(io, struct stopper, io)->loop);
}

static int stopper_open(struct stopper *stopper, struct sl_loop *loop, struct sl_err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	stopper->loop = loop;
	stopper->io = (struct sl_io){.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), .events = EPOLLIN};
	stopper->io.fire = stopper_fire;
	return sl_loop_io_add(loop, &stopper->io, err);
}

static double number(struct argp_state *state, const char *text, enum sl_unit unit)
{
	struct sl_err err = {0};
	double value = 0;

	if (sl_units_parse(text, unit, &value, &err) < 0) {
		argp_error(state, "%s", err.msg);
	}
	return value;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'd':
		options->dir = arg;
		return 0;
	case 'b':
		options->bind = arg;
		return 0;
	case 'e':
		options->export_path = arg;
		return 0;
	case 'n':
		options->nfs = (uint16_t)number(state, arg, SL_UNIT_NONE);
		return 0;
	case 'm':
		options->mount = (uint16_t)number(state, arg, SL_UNIT_NONE);
		return 0;
	case 'p':
		options->portmap = (uint16_t)number(state, arg, SL_UNIT_NONE);
		return 0;
	case 'l':
		options->delay_ns = (int64_t)number(state, arg, SL_UNIT_TIME);
		return 0;
	case 'c':
		options->credit_ns = (int64_t)number(state, arg, SL_UNIT_TIME);
		return 0;
	case 'x':
		options->connections = (uint32_t)number(state, arg, SL_UNIT_NONE);
		return 0;
	case 's':
		options->capacity_bytes = (uint64_t)number(state, arg, SL_UNIT_BYTES);
		return 0;
	case 'i':
		options->idle_ns = (int64_t)number(state, arg, SL_UNIT_TIME);
		return 0;
	case 't':
		options->stall_ns = (int64_t)number(state, arg, SL_UNIT_TIME);
		return 0;
	case 'q':
		options->squash = strcmp(arg, "all") == 0    ? SL_NFS3_SQUASH_ALL
				  : strcmp(arg, "root") == 0 ? SL_NFS3_SQUASH_ROOT
							     : SL_NFS3_SQUASH_NONE;
		return 0;
	case 'r':
		options->read_only = true;
		return 0;
	case 'y':
		options->sync_disabled = true;
		return 0;
	case 'h':
		options->host_durable = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void report(struct sl_datastore *ds)
{
	const struct sl_datastore_timing *timing = sl_datastore_timing(ds);
	const struct sl_nfs3_stats *stats = sl_datastore_stats(ds);

	printf("calls %" PRIu64 " writes %" PRIu64 " commits %" PRIu64 " garbage %" PRIu64 "\n", stats->calls,
	       stats->writes, stats->commits, stats->garbage);
	printf("lateness_p50_ns %" PRId64 " lateness_p99_ns %" PRId64 " modelled_p50_ns %" PRId64
	       " credit_ns %" PRId64 "\n",
	       sl_hist_quantile(&timing->lateness_wall_ns, 0.5),
	       sl_hist_quantile(&timing->lateness_wall_ns, 0.99),
	       sl_hist_quantile(&timing->modelled_model_ns, 0.5), timing->credit_used_ns);
	printf("duplicates %" PRIu64 " host_syncs %" PRIu64 " errors %" PRIu64 "\n", stats->duplicates,
	       timing->host_syncs, timing->errors);
}

static void notice_print(void *arg, const char *line)
{
	(void)arg;
	(void)fprintf(stderr, "notice: %s\n", line);
}

static int serve(const struct options *options, struct sl_err *err)
{
	struct sl_loop *wall = sl_loop_new_wall(err), *model = sl_loop_new_virtual();
	struct sl_store *null = sl_store_new_null(wall);
	struct delay_store delay = {
	    .base = {.ops = &delay_ops}, .loop = model, .delay_ns = options->delay_ns};
	struct stopper stopper = {0};
	struct sl_datastore *ds = NULL;
	struct sl_datastore_config config = {
	    .loop = wall,
	    .store = options->delay_ns ? &delay.base : null,
	    .model_loop = options->delay_ns ? model : NULL,
	    .dir = options->dir,
	    .bind = options->bind,
	    .export_path = options->export_path,
	    .nfs_port = options->nfs,
	    .mount_port = options->mount,
	    .portmap_port = options->portmap,
	    .credit_cap_ns = options->credit_ns,
	    .max_connections = options->connections,
	    .capacity_bytes = options->capacity_bytes,
	    .idle_ns = options->idle_ns,
	    .stall_ns = options->stall_ns,
	    .squash = options->squash,
	    .read_only = options->read_only,
	    .host_durable = options->host_durable,
	    .sync_disabled = options->sync_disabled,
	    .notice = {.say = notice_print},
	};
	int rc = wall && model && null ? stopper_open(&stopper, wall, err) : -1;

	rc = rc ? rc : sl_datastore_new(&config, &ds, err);
	if (rc == 0) {
		printf("ready %u %u\n", sl_datastore_nfs_port(ds), sl_datastore_mount_port(ds));
		fflush(stdout);
		rc = sl_loop_run(wall, err);
		report(ds);
	}
	sl_datastore_free(ds);
	sl_store_free(null);
	sl_loop_free(model);
	sl_loop_free(wall);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct argp_option option_table[] = {
	    {"dir", 'd', "DIR", 0, "folder of the files", 0},
	    {"bind", 'b', "ADDRESS", 0, "127.0.0.1", 0},
	    {"export", 'e', "PATH", 0, "/", 0},
	    {"nfs-port", 'n', "PORT", 0, "0 = any", 0},
	    {"mount-port", 'm', "PORT", 0, "0 = any", 0},
	    {"portmap-port", 'p', "PORT", 0, "0 = none", 0},
	    {"latency", 'l', "TIME", 0, "of every operation", 0},
	    {"credit", 'c', "TIME", 0, "cap of the lateness credit", 0},
	    {"connections", 'x', "N", 0, "at most", 0},
	    {"size", 's', "SIZE", 0, "of the modelled pool", 0},
	    {"idle", 'i', "TIME", 0, "silent connections are closed", 0},
	    {"stall", 't', "TIME", 0, "dawdling ones too", 0},
	    {"squash", 'q', "none|root|all", 0, "whose rights are nobody's", 0},
	    {"read-only", 'r', NULL, 0, "export", 0},
	    {"sync-disabled", 'y', NULL, 0, "stable data is volatile", 0},
	    {"host-durable", 'h', NULL, 0, "stable data is on the host's disk", 0},
	    {0},
	};
	static const struct argp argp = {.options = option_table, .parser = parse_option};
	struct options options = {0};
	struct sl_err err = {0};

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!options.dir) {
		fprintf(stderr, "nfsd: --dir is missing\n");
		return 2;
	}
	if (serve(&options, &err) < 0) {
		fprintf(stderr, "nfsd: %s\n", err.msg);
		return 1;
	}
	return 0;
}
