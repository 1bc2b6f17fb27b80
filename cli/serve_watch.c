/* What a running datastore shows: a status line under zpool iostat's column names, and Prometheus metrics. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/serve.h"
#include "sim/base/out.h"
#include "sim/nfs3/numbers.h"

#define HEADER_EVERY 20

static const int watched[SL_WATCH_PROCS] = {
    [SL_WATCH_READ] = SL_NFS_READ, [SL_WATCH_WRITE] = SL_NFS_WRITE, [SL_WATCH_COMMIT] = SL_NFS_COMMIT};

/* Three digits and a binary prefix, as zpool prints numbers. */
static void figure(char buf[16], double value)
{
	static const char *const prefix[] = {"", "K", "M", "G", "T", "P", "E"};
	size_t i = 0;

	while (value >= 1024 && i < sizeof(prefix) / sizeof(prefix[0]) - 1) {
		value /= 1024;
		i++;
	}
	(void)snprintf(buf, 16,
		       i == 0 || value >= 100 ? "%.0f%s"
		       : value >= 10          ? "%.1f%s"
					      : "%.2f%s",
		       value, prefix[i]);
}

static void latency(char buf[24], const struct sl_hist *hist)
{
	if (hist->count == 0) {
		(void)snprintf(buf, 24, "-");
		return;
	}
	(void)snprintf(buf, 24, "%.3g/%.3g", (double)sl_hist_quantile(hist, 0.5) / 1e6,
		       (double)sl_hist_quantile(hist, 0.99) / 1e6);
}

static void sample_take(struct sl_serve *serve, struct sl_watch_sample *ret)
{
	struct sl_datastore *ds = sl_pool_server_datastore(serve->server);

	*ret = (struct sl_watch_sample){.wall_ns = sl_loop_clock(serve->serving.loop)};
	sl_pool_server_stats(serve->server, &ret->pool);
	if (ds) {
		const struct sl_nfs3_stats *stats = sl_datastore_stats(ds);

		ret->calls = stats->calls;
		ret->read_bytes = stats->procs[SL_NFS_READ].bytes;
		ret->write_bytes = stats->procs[SL_NFS_WRITE].bytes;
	}
}

/* Counters that began again count from zero. */
static void last_reset(struct sl_serve *serve)
{
	struct sl_watch *watch = &serve->watch;
	int64_t uptime_ns = sl_pool_server_uptime(serve->server);

	if (watch->cuts != sl_pool_server_cuts(serve->server)) {
		watch->cuts = sl_pool_server_cuts(serve->server);
		watch->last = (struct sl_watch_sample){.wall_ns = watch->last.wall_ns};
		for (int i = 0; i < SL_WATCH_PROCS; i++) {
			sl_hist_reset(&watch->before[i]);
		}
	}
	if (uptime_ns < watch->uptime_ns) {
		watch->last.pool = (struct sl_pool_stats){0};
	}
	watch->uptime_ns = uptime_ns;
}

/* Latencies of the interval that ends now. */
static void latencies_take(struct sl_watch *watch, struct sl_datastore *ds)
{
	for (int i = 0; i < SL_WATCH_PROCS; i++) {
		const struct sl_hist *hist = &sl_datastore_stats(ds)->procs[watched[i]].latency;

		sl_hist_since(hist, &watch->before[i], &watch->now[i]);
		sl_hist_reset(&watch->before[i]);
		sl_hist_merge(&watch->before[i], hist);
	}
}

static void header_print(void)
{
	printf("%-12s   %13s  %13s  %13s  %13s  %7s  %29s  %13s\n", "", "capacity", "operations", "bandwidth",
	       "log", "NFS", "latency p50/p99 ms", "txg");
	printf("%-12s   %6s %6s  %6s %6s  %6s %6s  %6s %6s  %7s  %9s %9s %9s  %6s %6s\n", "pool", "alloc",
	       "free", "read", "write", "read", "write", "write", "bwidth", "calls", "READ", "WRITE",
	       "COMMIT", "dirty", "synced");
}

static void line_print(struct sl_serve *serve, const struct sl_watch_sample *now, struct sl_datastore *ds)
{
	const struct sl_watch_sample *last = &serve->watch.last;
	double s = (double)(now->wall_ns - last->wall_ns) / 1e9;
	const struct sl_dev_stats *data = &now->pool.data, *log = &now->pool.log;
	struct sl_fsstat room = {0};
	char text[11][16], lat[SL_WATCH_PROCS][24];

	(void)sl_datastore_fsstat(ds, &room);
	figure(text[0], (double)(room.total_bytes - room.free_bytes));
	figure(text[1], (double)room.free_bytes);
	figure(text[2], (double)(data->reads - last->pool.data.reads) / s);
	figure(text[3], (double)(data->writes - last->pool.data.writes) / s);
	figure(text[4], (double)(data->bytes_read - last->pool.data.bytes_read) / s);
	figure(text[5], (double)(data->bytes_written - last->pool.data.bytes_written) / s);
	figure(text[6], (double)(log->writes - last->pool.log.writes) / s);
	figure(text[7], (double)(log->bytes_written - last->pool.log.bytes_written) / s);
	figure(text[8], (double)(now->calls - last->calls) / s);
	figure(text[9], (double)now->pool.dirty_bytes);
	figure(text[10], (double)(now->pool.txgs - last->pool.txgs));
	for (int i = 0; i < SL_WATCH_PROCS; i++) {
		latency(lat[i], &serve->watch.now[i]);
	}
	printf("%-12.12s   %6s %6s  %6s %6s  %6s %6s  %6s %6s  %7s  %9s %9s %9s  %6s %6s\n",
	       sl_scenario_variant_name(serve->session.sc, serve->variant), text[0], text[1], text[2],
	       text[3], text[4], text[5], text[6], text[7], text[8], lat[0], lat[1], lat[2], text[9],
	       text[10]);
	fflush(stdout);
}

static void summary_render(FILE *out, const char *name, const char *label, const struct sl_hist *hist)
{
	static const double quantiles[] = {0.5, 0.95, 0.99};
	const char *comma = *label ? "," : "";

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		fprintf(out, "%s{%s%squantile=\"%g\"} %.9g\n", name, label, comma, quantiles[i],
			(double)sl_hist_quantile(hist, quantiles[i]) / 1e9);
	}
	fprintf(out, *label ? "%s_sum{%s} %.9g\n" : "%s_sum%s %.9g\n", name, label, hist->sum / 1e9);
	fprintf(out, *label ? "%s_count{%s} %" PRIu64 "\n" : "%s_count%s %" PRIu64 "\n", name, label,
		hist->count);
}

static void procs_render(FILE *out, const struct sl_nfs3_stats *stats)
{
	static const struct {
		const char *name, *help;
	} counters[] = {{"sloglab_nfs_calls_total", "Answered calls."},
			{"sloglab_nfs_errors_total", "Calls answered with an error."},
			{"sloglab_nfs_bytes_total", "Bytes read or written."}};
	char label[64];

	for (size_t c = 0; c < sizeof(counters) / sizeof(counters[0]); c++) {
		fprintf(out, "# HELP %s %s\n# TYPE %s counter\n", counters[c].name, counters[c].help,
			counters[c].name);
		for (int i = 0; i < SL_NFS3_PROCS; i++) {
			const uint64_t values[] = {stats->procs[i].calls, stats->procs[i].errors,
						   stats->procs[i].bytes};

			if (stats->procs[i].calls > 0) {
				fprintf(out, "%s{procedure=\"%s\"} %" PRIu64 "\n", counters[c].name,
					sl_nfs3_proc_name(i), values[c]);
			}
		}
	}
	fputs("# HELP sloglab_nfs_latency_seconds As modelled, arrival to completion.\n"
	      "# TYPE sloglab_nfs_latency_seconds summary\n",
	      out);
	for (int i = 0; i < SL_NFS3_PROCS; i++) {
		if (stats->procs[i].latency.count > 0) {
			(void)snprintf(label, sizeof(label), "procedure=\"%s\"", sl_nfs3_proc_name(i));
			summary_render(out, "sloglab_nfs_latency_seconds", label, &stats->procs[i].latency);
		}
	}
}

static void pool_render(FILE *out, const struct sl_pool_stats *pool)
{
	const struct {
		const char *name, *type, *help;
		double value;
	} rows[] = {
	    {"sloglab_zil_commits_total", "counter", "ZIL commits.", (double)pool->zil_commits},
	    {"sloglab_zil_blocks_total", "counter", "Log blocks written.", (double)pool->zil_blocks},
	    {"sloglab_zil_failures_total", "counter", "Commits whose log block died with its device.",
	     (double)pool->zil_failures},
	    {"sloglab_txgs_total", "counter", "Transaction groups synced.", (double)pool->txgs},
	    {"sloglab_dirty_bytes", "gauge", "Dirty data of the open txg.", (double)pool->dirty_bytes},
	    {"sloglab_log_writes_total", "counter", "Writes to the log devices.", (double)pool->log.writes},
	    {"sloglab_log_flushes_total", "counter", "Flushes of the log devices.",
	     (double)pool->log.flushes},
	    {"sloglab_log_written_bytes_total", "counter", "Bytes written to the log devices.",
	     (double)pool->log.bytes_written},
	    {"sloglab_data_reads_total", "counter", "Reads of the data disks.", (double)pool->data.reads},
	    {"sloglab_data_writes_total", "counter", "Writes to the data disks.", (double)pool->data.writes},
	    {"sloglab_data_read_bytes_total", "counter", "Bytes read from the data disks.",
	     (double)pool->data.bytes_read},
	    {"sloglab_data_written_bytes_total", "counter", "Bytes written to the data disks.",
	     (double)pool->data.bytes_written},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", rows[i].name, rows[i].help,
			rows[i].name, rows[i].type, rows[i].name, rows[i].value);
	}
}

/* Text format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/ */
static int metrics_render(void *arg, FILE *out, struct sl_err *err)
{
	struct sl_serve *serve = arg;
	struct sl_datastore *ds = sl_pool_server_datastore(serve->server);
	struct sl_pool_stats pool;

	(void)err;
	fprintf(out,
		"# HELP sloglab_up 1 while the power is on.\n# TYPE sloglab_up gauge\nsloglab_up %d\n"
		"# HELP sloglab_powercuts_total Power cuts so far.\n# TYPE sloglab_powercuts_total counter\n"
		"sloglab_powercuts_total %" PRIu32 "\n",
		ds != NULL, sl_pool_server_cuts(serve->server));
	sl_pool_server_stats(serve->server, &pool);
	pool_render(out, &pool);
	if (ds) {
		fprintf(out,
			"# HELP sloglab_connections Clients connected.\n# TYPE sloglab_connections gauge\n"
			"sloglab_connections %" PRIu32 "\n",
			sl_datastore_connections(ds));
		procs_render(out, sl_datastore_stats(ds));
		fputs("# HELP sloglab_lateness_seconds Replies sent after the model says.\n"
		      "# TYPE sloglab_lateness_seconds summary\n",
		      out);
		summary_render(out, "sloglab_lateness_seconds", "",
			       &sl_datastore_timing(ds)->lateness_wall_ns);
	}
	return 0;
}

static void metrics_write(struct sl_serve *serve)
{
	struct sl_err err = {0};

	if (sl_out_write_passing(serve->watch.metrics, metrics_render, serve, &err) < 0 &&
	    !serve->watch.metrics_failed) {
		serve->watch.metrics_failed = true;
		fprintf(stderr, "sloglab: serve: metrics: %s\n", err.msg);
	}
}

static void tick_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_watch *watch = sl_container_of(timer, struct sl_watch, tick);
	struct sl_serve *serve = sl_container_of(watch, struct sl_serve, watch);
	struct sl_datastore *ds = sl_pool_server_datastore(serve->server);
	struct sl_watch_sample sample;

	last_reset(serve);
	sample_take(serve, &sample);
	if (ds) {
		latencies_take(watch, ds);
	}
	if (!watch->quiet && !ds) {
		printf("%-12.12s   the power is off\n",
		       sl_scenario_variant_name(serve->session.sc, serve->variant));
		fflush(stdout);
	} else if (!watch->quiet) {
		if (watch->lines++ % HEADER_EVERY == 0) {
			header_print();
		}
		line_print(serve, &sample, ds);
	}
	watch->last = sample;
	if (watch->metrics) {
		metrics_write(serve);
	}
	sl_loop_arm(serve->serving.loop, &watch->tick, now_ns + watch->interval_ns);
}

int sl_serve_watch_start(struct sl_serve *serve, struct sl_err *err)
{
	struct sl_watch *watch = &serve->watch;

	for (int i = 0; i < SL_WATCH_PROCS; i++) {
		if (sl_hist_init(&watch->before[i]) < 0 || sl_hist_init(&watch->now[i]) < 0) {
			return sl_err_set(err, -ENOMEM, "out of memory");
		}
	}
	sample_take(serve, &watch->last);
	watch->tick.fire = tick_fire;
	if (watch->metrics) {
		metrics_write(serve);
	}
	sl_loop_arm(serve->serving.loop, &watch->tick, watch->last.wall_ns + watch->interval_ns);
	return 0;
}

void sl_serve_watch_stop(struct sl_serve *serve)
{
	struct sl_watch *watch = &serve->watch;

	if (serve->serving.loop) {
		sl_loop_cancel(serve->serving.loop, &watch->tick);
	}
	for (int i = 0; i < SL_WATCH_PROCS; i++) {
		sl_hist_fini(&watch->before[i]);
		sl_hist_fini(&watch->now[i]);
	}
}

/* "log_devices none", or their names, those that died marked. Returns the bytes written. */
static size_t log_describe(const struct sl_serve *serve, char *reply, size_t size)
{
	const char *name;
	bool dead;
	size_t used = (size_t)snprintf(reply, size, "log_devices%s",
				       sl_pool_server_log(serve->server, 0, &dead) ? "" : " none");

	for (int i = 0; (name = sl_pool_server_log(serve->server, i, &dead)) && used < size; i++) {
		used += (size_t)snprintf(reply + used, size - used, " %s%s", name, dead ? "(dead)" : "");
	}
	if (used + 1 < size) {
		reply[used++] = '\n';
		reply[used] = '\0';
	}
	return used;
}

void sl_serve_status(struct sl_serve *serve, char *reply, size_t size)
{
	struct sl_datastore *ds = sl_pool_server_datastore(serve->server);
	struct sl_pool_stats pool;
	size_t used;

	sl_pool_server_stats(serve->server, &pool);
	(void)snprintf(reply, size,
		       "power %s powercuts %u change %s latency %s dilate %g\n"
		       "zil_commits %" PRIu64 " zil_blocks %" PRIu64 " zil_failures %" PRIu64 " txgs %" PRIu64
		       " dirty_bytes %lld\n"
		       "log writes %" PRIu64 " flushes %" PRIu64 " bytes %lld\n"
		       "data reads %" PRIu64 " writes %" PRIu64 " bytes_read %lld bytes_written %lld\n",
		       ds ? "on" : "off", sl_pool_server_cuts(serve->server),
		       sl_pool_server_changing(serve->server) ? "waiting" : "none",
		       serve->latency_off ? "off" : "on", serve->pace, pool.zil_commits, pool.zil_blocks,
		       pool.zil_failures, pool.txgs, (long long)pool.dirty_bytes, pool.log.writes,
		       pool.log.flushes, (long long)pool.log.bytes_written, pool.data.reads, pool.data.writes,
		       (long long)pool.data.bytes_read, (long long)pool.data.bytes_written);
	used = strlen(reply);
	used += log_describe(serve, reply + used, size - used);
	if (ds) {
		const struct sl_datastore_timing *timing = sl_datastore_timing(ds);

		(void)snprintf(reply + used, size - used,
			       "connections %u calls %" PRIu64 " lateness_us p50 %.1f p99 %.1f modelled_us "
			       "p50 %.1f p99 %.1f\n",
			       sl_datastore_connections(ds), sl_datastore_stats(ds)->calls,
			       (double)sl_hist_quantile(&timing->lateness_wall_ns, 0.5) / 1e3,
			       (double)sl_hist_quantile(&timing->lateness_wall_ns, 0.99) / 1e3,
			       (double)sl_hist_quantile(&timing->modelled_model_ns, 0.5) * serve->pace / 1e3,
			       (double)sl_hist_quantile(&timing->modelled_model_ns, 0.99) * serve->pace /
				   1e3);
	}
}
