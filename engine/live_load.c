#include "engine/live_load.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARGS_MAX 32
#define ARG_MAX_BYTES (PATH_MAX + 32)
/* Beyond the time of the measurement: connections, last reply. */
#define GRACE_MS 60000
#define PREPARE_MS 1800000
#define NO_LIMIT_MS 3600000

/* The command line. */
struct words {
	int n;
	char text[ARGS_MAX][ARG_MAX_BYTES];
	const char *argv[ARGS_MAX + 1];
};

static void word(struct words *words, const char *name, const char *value)
{
	if (words->n < ARGS_MAX) {
		char *text = words->text[words->n];

		snprintf(text, ARG_MAX_BYTES, "%s%s%s", name, value ? "=" : "", value ? value : "");
		words->argv[words->n++] = text;
		words->argv[words->n] = NULL;
	}
}

static void word_number(struct words *words, const char *name, double value, const char *unit)
{
	char text[48];

	snprintf(text, sizeof(text), "%.0f%s", value, unit);
	word(words, name, text);
}

/* The same kind of data as the model takes the load to write. */
static void word_data(struct words *words, const struct sl_workload *w)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6gx", w->data);
	word(words, "--data", sl_workload_writes_zeros(w) ? "zero" : w->data > 1 ? text : "random");
}

static void words_of_files(struct words *words, const struct sl_live_load *what)
{
	static const char *const modes[] = {[SL_MODE_SEQWR] = "seqwr",
					    [SL_MODE_SEQRD] = "seqrd",
					    [SL_MODE_RNDRD] = "rndrd",
					    [SL_MODE_RNDWR] = "rndwr",
					    [SL_MODE_RNDRW] = "rndrw"};
	const struct sl_workload *w = what->workload;

	word_number(words, "--block", w->block_bytes, "B");
	word_number(words, "--file-total", w->file_total_bytes, "B");
	word(words, "--mode", modes[w->mode]);
	word_number(words, "--files", (double)w->files, "");
	word_number(words, "--fsync-every", (double)w->fsync_every, "");
	word_data(words, w);
}

static void words_of_writes(struct words *words, const struct sl_workload *w)
{
	static const char *const patterns[] = {
	    [SL_PATTERN_SEQUENTIAL] = "sequential", [SL_PATTERN_RANDOM] = "random"};
	static const char *const stables[] = {
	    [SL_WRITE_FILE_SYNC] = "file_sync", [SL_WRITE_UNSTABLE_COMMIT] = "unstable_commit"};

	word_number(words, "--block", w->block_bytes, "B");
	word_number(words, "--file-total", w->file_total_bytes, "B");
	word(words, "--pattern", patterns[w->pattern]);
	word(words, "--stable", stables[w->stable]);
	word_number(words, "--depth", (double)w->depth, "");
	word_data(words, w);
}

static void words_of_database(struct words *words, const struct sl_live_load *what)
{
	const struct sl_workload *w = what->workload;
	static const char *const lists[] = {[SL_LIST_COMPLEX] = "complex",
					    [SL_LIST_READ_WRITE] = "read_write",
					    [SL_LIST_WRITE_ONLY] = "write_only",
					    [SL_LIST_UPDATE_INDEX] = "update_index"};
	static const char *const keys[] = {[SL_DIST_SPECIAL] = "special", [SL_DIST_UNIFORM] = "uniform"};

	word(words, "--user", what->user ? what->user : "root");
	word(words, "--list", lists[w->oltp_list]);
	word_number(words, "--rows", (double)w->rows, "");
	word(words, "--distribution", keys[w->distribution]);
}

static void words_make(struct words *words, const struct sl_live_load *what, const char *json)
{
	static const char *const loads[] = {
	    [SL_WL_OLTP] = "oltp", [SL_WL_FILEIO] = "fileio", [SL_WL_SYNCWRITE] = "syncwrite"};
	const struct sl_workload *w = what->workload;
	char program[PATH_MAX + 16];

	snprintf(program, sizeof(program), "%s/sloglab-load", what->bin);
	word(words, program, NULL);
	word(words, loads[w->kind], NULL);
	if (what->socket || what->folder) {
		word(words, what->prepare ? "prepare" : "run", NULL);
	}
	word(words,
	     what->socket   ? "--socket"
	     : what->folder ? "--path"
			    : "--url",
	     what->socket   ? what->socket
	     : what->folder ? what->folder
			    : what->url);
	word_number(words, "--threads", (double)w->threads, "");
	word_number(words, "--seed", (double)what->seed, "");
	if (w->kind == SL_WL_OLTP) {
		words_of_database(words, what);
	} else if (w->kind == SL_WL_FILEIO) {
		words_of_files(words, what);
	} else {
		words_of_writes(words, w);
	}
	if (!what->prepare) {
		word_number(words, "--time", w->max_time_ns, "ns");
		word_number(words, "--max-requests", (double)w->max_requests, "");
		word(words, "--json", json);
	}
}

static double figure(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* What the generator warns of, in one line. */
static void warnings_read(const json_t *list, char *ret, size_t size)
{
	size_t i;
	const json_t *item;

	ret[0] = '\0';
	json_array_foreach(list, i, item)
	{
		size_t used = strlen(ret);
		const char *text = json_string_value(item);

		snprintf(ret + used, size - used, "%s%s", used > 0 ? "; " : "", text ? text : "");
	}
}

/* Takes the reference; root may be NULL. */
static int result_take(json_t *root, struct sl_live_load_result *ret, struct sl_err *err)
{
	const json_t *latency = json_object_get(root, "latency_ns");

	memset(ret, 0, sizeof(*ret));
	if (root) {
		ret->measure.rate = figure(root, "rate");
		ret->measure.operations = (uint64_t)figure(root, "operations");
		ret->measure.elapsed_ns = (int64_t)figure(root, "elapsed_ns");
		ret->measure.mean_ns = (int64_t)figure(latency, "mean");
		ret->measure.p50_ns = (int64_t)figure(latency, "p50");
		ret->measure.p95_ns = (int64_t)figure(latency, "p95");
		ret->measure.p99_ns = (int64_t)figure(latency, "p99");
		ret->measure.p999_ns = (int64_t)figure(latency, "p999");
		ret->measure.max_ns = (int64_t)figure(latency, "max");
		ret->null_ns = (int64_t)figure(root, "null_call_ns");
		ret->cpu_ns = (int64_t)figure(root, "cpu_ns");
		ret->wait_wall_ns = json_is_integer(json_object_get(root, "cpu_wait_ns"))
					? (int64_t)figure(root, "cpu_wait_ns")
					: -1;
		warnings_read(json_object_get(root, "warnings"), ret->warning, sizeof(ret->warning));
	}
	json_decref(root);
	if (ret->measure.operations == 0 || ret->measure.rate <= 0) {
		return sl_err_set(err, -EIO, "sloglab-load: no operation finished in time");
	}
	return 0;
}

int sl_live_load_parse(const char *json, struct sl_live_load_result *ret, struct sl_err *err)
{
	return result_take(json_loads(json, 0, NULL), ret, err);
}

int sl_live_load_shell(const struct sl_live_load *what, const char *json, char *ret, size_t size)
{
	struct words *words = calloc(1, sizeof(*words));
	size_t used = 0;

	if (!words) {
		return -ENOMEM;
	}
	words_make(words, what, json);
	for (int i = 0; i < words->n && used < size; i++) {
		used += (size_t)snprintf(ret + used, size - used, "%s%s", i > 0 ? " " : "", words->text[i]);
	}
	free(words);
	return used < size ? 0 : -E2BIG;
}

int sl_live_load_patience_ms(const struct sl_live_load *what)
{
	double time_ms = what->workload->max_time_ns / 1e6;

	if (what->prepare) {
		return PREPARE_MS;
	}
	return time_ms > 0 && time_ms < NO_LIMIT_MS ? (int)time_ms + GRACE_MS : NO_LIMIT_MS;
}

int sl_live_load_run(const struct sl_live_load *what, struct sl_live_load_result *ret, struct sl_err *err)
{
	char log[PATH_MAX], json[PATH_MAX];
	struct sl_patience patience = what->patience;
	struct sl_process_spec spec = {.name = "sloglab-load",
				       .log = log,
				       .priority = what->url ? SL_PRIORITY_REALTIME : SL_PRIORITY_NICE};
	struct words *words = calloc(1, sizeof(*words));
	int rc;

	if (!words) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	if (snprintf(log, sizeof(log), "%s/load.log", what->dir) >= (int)sizeof(log) ||
	    snprintf(json, sizeof(json), "%s/load.json", what->dir) >= (int)sizeof(json)) {
		free(words);
		return sl_err_set(err, -ENAMETOOLONG, "TMPDIR: path too long");
	}
	patience.timeout_ms = sl_live_load_patience_ms(what);
	words_make(words, what, json);
	spec.argv = words->argv;
	if (access(words->argv[0], X_OK) == 0) {
		rc = sl_process_run(&spec, &patience, err);
	} else {
		rc = sl_err_set(err, -ENOENT,
				"%s: %s; engine live needs it: cmake --build --preset release, or reinstall",
				words->argv[0], strerror(errno));
	}
	free(words);
	return rc < 0 || what->prepare ? rc : result_take(json_load_file(json, 0, NULL), ret, err);
}

const char *sl_live_load_table(const struct sl_workload *workload)
{
	return workload->oltp_list == SL_LIST_COMPLEX ? "sbtest" : "sbtest1";
}
