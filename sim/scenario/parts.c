#include "sim/scenario/inner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/series.h"
#include "sim/scenario/metric.h"

#define KIND_WORDS "oltp|fileio|syncwrite|disk"

static int no_memory(struct sl_err *err)
{
	return sl_err_set(err, -ENOMEM, "out of memory");
}

static int check_name(const struct sl_yaml *yaml, struct sl_yaml_pair pair, struct sl_err *err)
{
	if (sl_scenario_name_ok(pair.key)) {
		return 0;
	}
	return sl_yaml_fail(yaml, pair.key_node, NULL, err,
			    "'%.40s' is no valid name; use 1 to 63 bytes without spaces, commas, slashes and "
			    "control characters",
			    pair.key);
}

/* A map with 1..max entries. */
static int check_count(const struct sl_yaml *yaml, const yaml_node_t *map, const char *key, int max,
		       struct sl_err *err)
{
	int rc = sl_yaml_want_map(yaml, map, key, err);

	if (rc == 0 && sl_yaml_pairs(map) == 0) {
		rc = sl_yaml_fail(yaml, map, key, err, "is empty; add at least one");
	}
	if (rc == 0 && sl_yaml_pairs(map) > max) {
		rc = sl_yaml_fail(yaml, map, key, err, "more than %d; split the scenario", max);
	}
	return rc;
}

static int workload_kind(const struct sl_reading *r, const yaml_node_t *map, struct sl_workload *workload)
{
	const yaml_node_t *node = sl_yaml_get(r->yaml, map, "kind");
	const char *text;
	int kind;

	if (!node) {
		return sl_yaml_fail(
		    r->yaml, map, workload->name, r->err,
		    "'kind' is missing; write kind: oltp, fileio, syncwrite or disk, or of: WORKLOAD");
	}
	text = sl_yaml_scalar(r->yaml, node, "kind", r->err);
	if (!text) {
		return -EINVAL;
	}
	kind = sl_schema_word(KIND_WORDS, text);
	if (kind < 0) {
		return sl_yaml_fail(r->yaml, node, "kind", r->err,
				    "'%.40s' is not known; write oltp, fileio, syncwrite or disk", text);
	}
	workload->kind = (enum sl_workload_kind)kind;
	return 0;
}

static int workload_value(const struct sl_reading *r, struct sl_yaml_pair pair, struct sl_workload *workload)
{
	struct sl_schema table = sl_schema_workload();
	int at = sl_schema_find(table, pair.key, 1u << workload->kind);
	const char *text;
	double value;

	if (at < 0 && sl_schema_find(table, pair.key, SL_ANY_KIND) >= 0) {
		return sl_yaml_fail(r->yaml, pair.key_node, NULL, r->err,
				    "key '%s' does not belong to this kind of workload; remove it", pair.key);
	}
	if (at < 0) {
		return sl_scenario_unknown(r, pair.key_node, table, pair.key, "see sloglab-scenario(5)");
	}
	text = sl_yaml_scalar(r->yaml, pair.value, pair.key, r->err);
	if (!text) {
		return -EINVAL;
	}
	if (sl_schema_parse(&table.rows[at], text, &value, r->err)) {
		sl_yaml_wrap(r->yaml, pair.value, pair.key, r->err);
		return -EINVAL;
	}
	sl_schema_store(&table.rows[at], value, workload);
	return 0;
}

/* The same for kind disk. */
static int check_disk(const struct sl_yaml *yaml, const yaml_node_t *map, const struct sl_workload *workload,
		      struct sl_err *err)
{
	bool steady = workload->disk_metric == SL_DISK_STEADY_IOPS ||
		      workload->disk_metric == SL_DISK_STEADY_MIB ||
		      workload->disk_metric == SL_DISK_STEADY_MINUTES;
	uint64_t unit = workload->disk_flush == SL_DISK_FLUSH_EACH ? 512 : 4096;

	if (workload->max_time_ns <= workload->measure_from_ns) {
		return sl_yaml_fail(yaml, map, workload->name, err,
				    "measures nothing; give max_time a value above measure_from");
	}
	if (workload->measure_to_ns > 0 && (workload->measure_to_ns <= workload->measure_from_ns ||
					    workload->measure_to_ns > workload->max_time_ns)) {
		return sl_yaml_fail(yaml, map, workload->name, err,
				    "measures nothing; give measure_to a value above measure_from and up to "
				    "max_time");
	}
	if (workload->interval_ns > 0 && (workload->max_time_ns > workload->interval_ns * SL_SERIES_MAX ||
					  workload->max_time_ns < workload->interval_ns)) {
		return sl_yaml_fail(yaml, map, workload->name, err,
				    "interval must be from 1/%d of max_time up to max_time", SL_SERIES_MAX);
	}
	if (steady && workload->max_time_ns < 20 * 60e9) {
		return sl_yaml_fail(yaml, map, workload->name, err,
				    "steady is said of windows of 10 minutes; give max_time 20min or more");
	}
	if ((uint64_t)workload->block_bytes % unit != 0) {
		return sl_yaml_fail(yaml, map, workload->name, err,
				    "block must be a multiple of 4 KiB, or of 512 bytes with flush: each");
	}
	return 0;
}

/* Values that are fine alone but not together. */
static int check_workload(const struct sl_yaml *yaml, const yaml_node_t *map,
			  const struct sl_workload *workload, struct sl_err *err)
{
	if (!sl_metric_fits(workload)) {
		return sl_yaml_fail(yaml, map, workload->name, err,
				    "this metric is not of its kind: a transaction has no size in bytes, and "
				    "iostat is of syncwrite; write rate, mean, p50, p95, p99, p999 or max");
	}
	if (workload->max_time_ns <= 0 && workload->max_requests == 0) {
		return sl_yaml_fail(yaml, map, workload->name, err,
				    "never ends; give max_time or max_requests a value above 0");
	}
	if (workload->kind == SL_WL_FILEIO &&
	    workload->file_total_bytes / (double)workload->files < workload->block_bytes) {
		return sl_yaml_fail(
		    yaml, map, workload->name, err,
		    "a file is smaller than one block; raise file_total or lower files or block");
	}
	if ((workload->kind == SL_WL_SYNCWRITE || workload->kind == SL_WL_DISK) &&
	    workload->file_total_bytes < workload->block_bytes) {
		return sl_yaml_fail(yaml, map, workload->name, err,
				    "the file is smaller than one block; raise file_total or lower block");
	}
	return workload->kind == SL_WL_DISK ? check_disk(yaml, map, workload, err) : 0;
}

static int set_defaults(const struct sl_reading *r, struct sl_workload *workload)
{
	struct sl_schema table = sl_schema_workload();

	for (int i = 0; i < table.n; i++) {
		double value;

		if (sl_schema_parse(&table.rows[i], table.rows[i].dflt, &value, r->err)) {
			return sl_err_wrap(r->err, "default of %s", table.rows[i].key);
		}
		sl_schema_store(&table.rows[i], value, workload);
	}
	return 0;
}

int sl_scenario_fail_workload(const struct sl_reading *r, const yaml_node_t *node, const char *key,
			      const char *name)
{
	struct sl_nearest nearest = sl_nearest_to(name);
	char hint[160];

	for (int i = 0; i < r->sc->n_workloads; i++) {
		sl_nearest_offer(&nearest, r->sc->workloads[i].name);
	}
	return sl_yaml_fail(r->yaml, node, key, r->err, "unknown workload '%.63s'; %s", name,
			    sl_nearest_hint(&nearest, "name one of workloads", hint, sizeof(hint)));
}

/* Another look at the run of a workload further up: its keys, and only what is reported may differ. */
static int start_look(const struct sl_reading *r, const yaml_node_t *map, const yaml_node_t *of,
		      struct sl_workload *workload)
{
	static const char *const looks[] = {"of", "metric", "measure_from", "measure_to"};
	const char *name = sl_yaml_scalar(r->yaml, of, "of", r->err);
	int at = name ? sl_scenario_find_workload(r->sc, name) : -1;

	if (at < 0) {
		return name ? sl_scenario_fail_workload(r, of, "of", name) : -EINVAL;
	}
	*workload = r->sc->workloads[at];
	for (int i = 0; i < sl_yaml_pairs(map); i++) {
		struct sl_yaml_pair entry = sl_yaml_pair(r->yaml, map, i);
		bool known = false;

		for (size_t k = 0; k < sizeof(looks) / sizeof(looks[0]); k++) {
			known |= strcmp(entry.key, looks[k]) == 0;
		}
		if (!known) {
			return sl_yaml_fail(
			    r->yaml, entry.key_node, NULL, r->err,
			    "key '%.40s' would be another run than that of '%.63s'; write metric, "
			    "measure_from or measure_to",
			    entry.key, name);
		}
	}
	return 0;
}

static int start_run(const struct sl_reading *r, const yaml_node_t *map, struct sl_workload *workload)
{
	int rc = set_defaults(r, workload);

	workload->run = r->sc->n_workloads;
	return rc ? rc : workload_kind(r, map, workload);
}

static int read_workload(const struct sl_reading *r, struct sl_yaml_pair pair, struct sl_workload *workload)
{
	const yaml_node_t *of;
	int rc = check_name(r->yaml, pair, r->err);

	(void)snprintf(workload->name, sizeof(workload->name), "%.63s", pair.key);
	rc = rc ? rc : sl_yaml_want_map(r->yaml, pair.value, workload->name, r->err);
	if (rc) {
		return rc;
	}
	of = sl_yaml_get(r->yaml, pair.value, "of");
	rc = of ? start_look(r, pair.value, of, workload) : start_run(r, pair.value, workload);
	(void)snprintf(workload->name, sizeof(workload->name), "%.63s", pair.key);
	for (int i = 0; rc == 0 && i < sl_yaml_pairs(pair.value); i++) {
		struct sl_yaml_pair entry = sl_yaml_pair(r->yaml, pair.value, i);

		rc = strcmp(entry.key, of ? "of" : "kind") == 0 ? 0 : workload_value(r, entry, workload);
	}
	return rc ? rc : check_workload(r->yaml, pair.value, workload, r->err);
}

int sl_scenario_read_workloads(const struct sl_reading *r, const yaml_node_t *map)
{
	int rc = check_count(r->yaml, map, "workloads", SL_WORKLOADS_MAX, r->err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(map); i++) {
		rc = read_workload(r, sl_yaml_pair(r->yaml, map, i), &r->sc->workloads[i]);
		r->sc->n_workloads += rc == 0;
	}
	return rc;
}

static int read_set(const struct sl_reading *r, const yaml_node_t *map, struct sl_variant *variant)
{
	struct sl_schema table = sl_schema_keys();
	int rc = sl_yaml_want_map(r->yaml, map, "set", r->err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(map); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, map, i);
		int at = sl_schema_find(table, pair.key, SL_ANY_KIND);

		rc = at < 0 ? sl_scenario_unknown(r, pair.key_node, table, pair.key,
						  "write section.key as in sloglab-scenario(5)")
			    : sl_scenario_assign(r, &variant->layer, at, pair, SL_SHAPE_EITHER);
	}
	return rc;
}

int sl_scenario_fail_variant(const struct sl_reading *r, const yaml_node_t *node, const char *key,
			     const char *name)
{
	struct sl_nearest nearest = sl_nearest_to(name);
	char hint[160];

	for (int i = 0; i < r->sc->n_variants; i++) {
		sl_nearest_offer(&nearest, r->sc->variants[i].name);
	}
	return sl_yaml_fail(r->yaml, node, key, r->err, "unknown variant '%.63s'; %s", name,
			    sl_nearest_hint(&nearest, "name one of variants", hint, sizeof(hint)));
}

static int read_extends(const struct sl_reading *r, const yaml_node_t *node, struct sl_variant *variant)
{
	const char *text = sl_yaml_scalar(r->yaml, node, "extends", r->err);

	if (!text) {
		return -EINVAL;
	}
	variant->parent = sl_scenario_find_variant(r->sc, text);
	return variant->parent < 0 ? sl_scenario_fail_variant(r, node, "extends", text) : 0;
}

static int read_variant(const struct sl_reading *r, const yaml_node_t *map, struct sl_variant *variant)
{
	int rc = sl_yaml_want_map(r->yaml, map, variant->name, r->err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(map); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, map, i);

		if (strcmp(pair.key, "set") == 0) {
			rc = read_set(r, pair.value, variant);
		} else if (strcmp(pair.key, "extends") == 0) {
			rc = read_extends(r, pair.value, variant);
		} else {
			rc = sl_yaml_fail(r->yaml, pair.key_node, NULL, r->err,
					  "unknown key '%.63s'; a variant has extends and set", pair.key);
		}
	}
	return rc;
}

/* Every chain of parents must end within as many steps as there are variants. */
static int check_cycle(const struct sl_reading *r, const yaml_node_t *map, int variant)
{
	int at = variant;

	for (int steps = 0; steps <= r->sc->n_variants; steps++) {
		at = r->sc->variants[at].parent;
		if (at < 0) {
			return 0;
		}
		if (at == variant) {
			return sl_yaml_fail(
			    r->yaml,
			    sl_yaml_get(r->yaml, sl_yaml_pair(r->yaml, map, variant).value, "extends"),
			    "extends", r->err, "variant '%s' extends itself in a circle; break the chain",
			    r->sc->variants[variant].name);
		}
	}
	return 0; /* leads into a circle of others, reported at its members */
}

int sl_scenario_read_variants(const struct sl_reading *r, const yaml_node_t *map)
{
	int rc = check_count(r->yaml, map, "variants", SL_VARIANTS_MAX, r->err);
	int n = rc == 0 ? sl_yaml_pairs(map) : 0;

	if (rc) {
		return rc;
	}
	r->sc->variants = sl_arena_alloc(&r->sc->arena, (size_t)n * sizeof(*r->sc->variants));
	if (!r->sc->variants) {
		return no_memory(r->err);
	}
	for (int i = 0; rc == 0 && i < n; i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, map, i);

		rc = check_name(r->yaml, pair, r->err);
		(void)snprintf(r->sc->variants[i].name, sizeof(r->sc->variants[i].name), "%.63s", pair.key);
		r->sc->variants[i].parent = -1;
	}
	/* All names first: a variant may extend one further down. */
	r->sc->n_variants = n;
	for (int i = 0; rc == 0 && i < n; i++) {
		rc = read_variant(r, sl_yaml_pair(r->yaml, map, i).value, &r->sc->variants[i]);
	}
	for (int i = 0; rc == 0 && i < n; i++) {
		rc = check_cycle(r, map, i);
	}
	return rc;
}
