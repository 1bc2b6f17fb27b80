#include "engine/vm_kept.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/json.h"

static int path_make(const char *name, char ret[PATH_MAX], struct sl_err *err)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	bool given = state && state[0] == '/';
	int n = given
		    ? snprintf(ret, PATH_MAX, "%s/sloglab/runs/%s.json", state, name)
		    : snprintf(ret, PATH_MAX, "%s/.local/state/sloglab/runs/%s.json", home ? home : "", name);
	char *slash;

	if (n >= PATH_MAX) {
		return sl_err_set(err, -ENAMETOOLONG, "XDG_STATE_HOME: path too long");
	}
	for (slash = ret + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(ret, 0700);
		*slash = '/';
	}
	return 0;
}

int sl_vm_kept_open(const char *name, uint64_t key, bool fresh, struct sl_vm_kept *ret, struct sl_err *err)
{
	char hex[24];
	const char *kept;
	int rc;

	*ret = (struct sl_vm_kept){0};
	rc = path_make(name, ret->path, err);
	if (rc < 0) {
		return rc;
	}
	(void)snprintf(hex, sizeof(hex), "%016" PRIx64, key);
	ret->root = fresh ? NULL : json_load_file(ret->path, 0, NULL);
	kept = json_string_value(json_object_get(ret->root, "key"));
	if (!kept || strcmp(kept, hex) != 0 || !json_is_array(json_object_get(ret->root, "cells"))) {
		json_decref(ret->root);
		ret->root = json_pack("{s:s, s:s, s:[]}", "schema", "sloglab-kept/1", "key", hex, "cells");
	}
	return ret->root ? 0 : sl_err_set(err, -ENOMEM, "out of memory");
}

void sl_vm_kept_close(struct sl_vm_kept *kept)
{
	json_decref(kept->root);
	kept->root = NULL;
}

void sl_vm_kept_remove(struct sl_vm_kept *kept)
{
	(void)unlink(kept->path);
}

static bool text_is(const json_t *cell, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(cell, key));

	return value && strcmp(value, text) == 0;
}

static double number(const json_t *cell, const char *key)
{
	return json_number_value(json_object_get(cell, key));
}

static char *text_copy(const json_t *cell, const char *key)
{
	const char *value = json_string_value(json_object_get(cell, key));

	return strdup(value ? value : "");
}

static void sample_read(const json_t *cell, struct sl_vm_sample *ret)
{
	struct sl_measure *m = &ret->load.measure;
	struct sl_evidence *e = &ret->evidence;
	const char *warning = json_string_value(json_object_get(cell, "warning"));

	*ret = (struct sl_vm_sample){0};
	m->rate = number(cell, "rate");
	m->operations = (uint64_t)number(cell, "operations");
	m->elapsed_ns = (int64_t)number(cell, "elapsed_ns");
	m->mean_ns = (int64_t)number(cell, "mean_ns");
	m->p50_ns = (int64_t)number(cell, "p50_ns");
	m->p95_ns = (int64_t)number(cell, "p95_ns");
	m->p99_ns = (int64_t)number(cell, "p99_ns");
	m->p999_ns = (int64_t)number(cell, "p999_ns");
	m->max_ns = (int64_t)number(cell, "max_ns");
	(void)snprintf(ret->load.warning, sizeof(ret->load.warning), "%s", warning ? warning : "");
	ret->late_p50_wall_ns = (int64_t)number(cell, "late_p50_ns");
	ret->late_p99_wall_ns = (int64_t)number(cell, "late_p99_ns");
	ret->modelled_p50_wall_ns = (int64_t)number(cell, "modelled_p50_ns");
	ret->server_wait_wall_ns = (int64_t)number(cell, "server_wait_ns");
	ret->machines_wait_wall_ns = (int64_t)number(cell, "machines_wait_ns");
	ret->waits_wall_ns = (int64_t)number(cell, "waits_ns");
	e->log_writes = (uint64_t)number(cell, "log_writes");
	e->data_writes = (uint64_t)number(cell, "data_writes");
	e->data_flushes = (uint64_t)number(cell, "data_flushes");
	e->guest_busy = number(cell, "guest_busy");
	e->storage_busy = number(cell, "storage_busy");
	e->host_busy = number(cell, "host_busy");
	e->zpool_status = text_copy(cell, "zpool_status");
	e->zpool_iostat = text_copy(cell, "zpool_iostat");
	e->zil = text_copy(cell, "zil");
	e->disks = text_copy(cell, "disks");
}

bool sl_vm_kept_find(const struct sl_vm_kept *kept, const char *variant, const char *workload, int repeat,
		     struct sl_vm_sample *ret)
{
	const json_t *cells = json_object_get(kept->root, "cells"), *cell;
	size_t i;

	json_array_foreach(cells, i, cell)
	{
		if (text_is(cell, "variant", variant) && text_is(cell, "workload", workload) &&
		    number(cell, "repeat") == repeat && number(cell, "rate") > 0) {
			sample_read(cell, ret);
			return true;
		}
	}
	return false;
}

int sl_vm_kept_add(struct sl_vm_kept *kept, const char *variant, const char *workload, int repeat,
		   const struct sl_vm_sample *sample, struct sl_err *err)
{
	const struct sl_measure *m = &sample->load.measure;
	const struct sl_evidence *e = &sample->evidence;
	json_t *cell = json_pack(
	    "{s:o, s:s, s:i, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
	    "s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f}",
	    "variant", sl_json_text(variant), "workload", workload, "repeat", repeat, "rate", m->rate,
	    "operations", (json_int_t)m->operations, "elapsed_ns", (json_int_t)m->elapsed_ns, "mean_ns",
	    (json_int_t)m->mean_ns, "p50_ns", (json_int_t)m->p50_ns, "p95_ns", (json_int_t)m->p95_ns,
	    "p99_ns", (json_int_t)m->p99_ns, "p999_ns", (json_int_t)m->p999_ns, "max_ns",
	    (json_int_t)m->max_ns, "server_wait_ns", (json_int_t)sample->server_wait_wall_ns,
	    "machines_wait_ns", (json_int_t)sample->machines_wait_wall_ns, "waits_ns",
	    (json_int_t)sample->waits_wall_ns, "warning", sl_json_text(sample->load.warning), "late_p50_ns",
	    (json_int_t)sample->late_p50_wall_ns, "late_p99_ns", (json_int_t)sample->late_p99_wall_ns,
	    "modelled_p50_ns", (json_int_t)sample->modelled_p50_wall_ns, "log_writes",
	    (json_int_t)e->log_writes, "data_writes", (json_int_t)e->data_writes, "data_flushes",
	    (json_int_t)e->data_flushes, "guest_busy", e->guest_busy, "storage_busy", e->storage_busy,
	    "host_busy", e->host_busy);

	if (!cell || json_object_set_new(cell, "zpool_status", sl_json_text(e->zpool_status)) < 0 ||
	    json_object_set_new(cell, "zpool_iostat", sl_json_text(e->zpool_iostat)) < 0 ||
	    json_object_set_new(cell, "zil", sl_json_text(e->zil)) < 0 ||
	    json_object_set_new(cell, "disks", sl_json_text(e->disks)) < 0) {
		json_decref(cell);
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	if (json_array_append_new(json_object_get(kept->root, "cells"), cell) < 0) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	return sl_json_write_file(kept->root, kept->path, err);
}

bool sl_vm_kept_costs(const struct sl_vm_kept *kept, struct sl_vm_costs *ret)
{
	const json_t *costs = json_object_get(kept->root, "costs");

	*ret = (struct sl_vm_costs){.oltp_ns = number(costs, "oltp_ns"), .sync_ns = number(costs, "sync_ns")};
	return ret->oltp_ns > 0 && ret->sync_ns > 0;
}

int sl_vm_kept_costs_set(struct sl_vm_kept *kept, const struct sl_vm_costs *costs, struct sl_err *err)
{
	json_t *object = json_pack("{s:f, s:f}", "oltp_ns", costs->oltp_ns, "sync_ns", costs->sync_ns);

	if (!object || json_object_set_new(kept->root, "costs", object) < 0) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	return sl_json_write_file(kept->root, kept->path, err);
}
