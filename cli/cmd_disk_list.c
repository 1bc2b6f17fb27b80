/* `sloglab disk list` and `disk show`: the catalogue, and every figure of a device with its origin. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/disk.h"
#include "cli/disk_measure.h"
#include "sim/base/json.h"
#include "sim/base/out.h"
#include "sim/base/utf8.h"
#include "sim/device/iops.h"
#include "sim/device/ssd.h"
#include "sim/report/report.h"
#include "sim/report/table.h"
#include "sim/scenario/paths.h"

#define DEVICES_MAX 512
#define SYNC_BYTES 4096
#define SYNC_NS INT64_C(1000000000)
#define SYNC_SEED 1

static const char *kind_name(enum sl_dev_kind kind)
{
	static const char *const names[] = {
	    [SL_DEV_NULL] = "null",     [SL_DEV_HDD] = "hdd",       [SL_DEV_SSD] = "ssd",
	    [SL_DEV_NVRAM] = "nvram",   [SL_DEV_MIRROR] = "mirror", [SL_DEV_STRIPE] = "stripe",
	    [SL_DEV_RAID10] = "raid10",
	};

	return names[kind];
}

/* Does what was acknowledged outlive a power cut without a flush? */
static const char *safe_text(const struct sl_dev_spec *spec)
{
	switch (spec->kind) {
	case SL_DEV_SSD:
	case SL_DEV_NVRAM:
		return spec->plp != 0 ? "yes" : "no";
	case SL_DEV_HDD:
		return spec->write_cache != 0 ? "no" : "no cache";
	case SL_DEV_RAID10:
		return "battery";
	case SL_DEV_NULL:
	case SL_DEV_MIRROR:
	case SL_DEV_STRIPE:
		break;
	}
	return "-";
}

/* "2TB", "80GB": what is printed on the box. */
static void size_text(double bytes, char *buf, size_t size)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
	int at = 0;

	while (at < 5 && bytes >= 1000) {
		bytes /= 1000;
		at++;
	}
	(void)snprintf(buf, size, "%.4g%s", bytes, units[at]);
}

/* Does a latency of the 4 KiB sync stand in the catalogue as an assumption? An NVMe drive with plp is sent no
 * flush. */
static bool sync_assumed(const struct sl_scenario *sc, const struct sl_dev_spec *spec)
{
	bool flushed = !(spec->kind == SL_DEV_SSD && spec->plp != 0 && spec->interface == SL_IF_NVME);
	struct sl_param p;

	for (int i = 0; sl_scenario_figure(sc, i, &p) == 0; i++) {
		const char *key = strrchr(p.key, '.');

		if (p.kind == SL_PROV_ASSUMED && key &&
		    (strcmp(key, ".write_latency") == 0 || strcmp(key, ".seek_average") == 0 ||
		     (flushed && strcmp(key, ".flush_latency") == 0))) {
			return true;
		}
	}
	return false;
}

static int sync_text(const struct sl_scenario *sc, const struct sl_dev_spec *spec, char *buf, size_t size,
		     struct sl_err *err)
{
	struct sl_dev_spec fresh = sl_disk_fresh(spec);
	char time[32] = "0";
	double ns = 0;
	int rc = spec->kind == SL_DEV_NULL
		     ? 0
		     : sl_dev_sync_write_ns(&fresh, SYNC_BYTES, SYNC_NS, SYNC_SEED, &ns, err);

	if (ns > 0) {
		sl_units_time((int64_t)ns, time, sizeof(time));
	}
	(void)snprintf(buf, size, "%s%s", sync_assumed(sc, spec) ? "~" : "", time);
	return rc;
}

static int put_device(struct sl_table *table, const struct sl_scenario *sc, const struct sl_dev_spec *spec,
		      struct sl_err *err)
{
	char size[32] = "-", sync[48], endurance[32] = "-", price[48] = "-";
	int rc = sync_text(sc, spec, sync, sizeof(sync), err);

	if (rc < 0 || !sl_table_row(table)) {
		return rc < 0 ? rc : sl_err_set(err, -ENOMEM, "out of memory");
	}
	if (spec->capacity_bytes > 0) {
		size_text(spec->capacity_bytes, size, sizeof(size));
	}
	if (spec->endurance_bytes > 0) {
		size_text(spec->endurance_bytes, endurance, sizeof(endurance));
	}
	if (spec->price_usd > 0) {
		(void)snprintf(price, sizeof(price), "$%.0f (%.0f)", spec->price_usd, spec->price_year);
	}
	sl_table_put(table, SL_TINT_BOLD, "%s", spec->name);
	sl_table_put(table, SL_TINT_NONE, "%s", kind_name(spec->kind));
	sl_table_put(table, SL_TINT_NONE, "%s", size);
	sl_table_put(table, SL_TINT_NONE, "%s", sync);
	sl_table_put(table, SL_TINT_NONE, "%s", safe_text(spec));
	sl_table_put(table, SL_TINT_NONE, "%s", endurance);
	sl_table_put(table, SL_TINT_NONE, "%s", price);
	sl_table_put(table, SL_TINT_WARN, "%s", spec->assumed ? "assumed" : "");
	return 0;
}

/* What a reader looks for: a log device first. */
enum group {
	GROUP_MEMORY,
	GROUP_SAFE_NVME,
	GROUP_SAFE,
	GROUP_UNSAFE,
	GROUP_DISK,
	GROUP_OTHER,
	N_GROUPS
};

static enum group group_of(const struct sl_dev_spec *spec)
{
	switch (spec->kind) {
	case SL_DEV_NVRAM:
		return GROUP_MEMORY;
	case SL_DEV_SSD:
		if (spec->plp == 0) {
			return GROUP_UNSAFE;
		}
		return spec->interface == SL_IF_NVME ? GROUP_SAFE_NVME : GROUP_SAFE;
	case SL_DEV_HDD:
		return GROUP_DISK;
	case SL_DEV_NULL:
	case SL_DEV_MIRROR:
	case SL_DEV_STRIPE:
	case SL_DEV_RAID10:
		break;
	}
	return GROUP_OTHER;
}

/* The whole catalogue, by name. */
struct shelf {
	int n, bad;
	struct sl_scenario *devices[DEVICES_MAX]; /* owned */
	const struct sl_dev_spec *specs[DEVICES_MAX];
	char names[DEVICES_MAX][SL_DEV_NAME_MAX];
};

/* A file that cannot be used is named, counted and left out: the others can be listed all the same. */
static void load_shelf(struct shelf *shelf, const char *data_dir)
{
	int n = sl_scenario_device_names(data_dir, shelf->names, DEVICES_MAX);

	for (int i = 0; i < n; i++) {
		struct sl_err err = {0};

		if (sl_scenario_load_device(shelf->names[i], data_dir, &shelf->devices[shelf->n],
					    &shelf->specs[shelf->n], &err) == 0) {
			shelf->n++;
			continue;
		}
		sl_utf8_clean(err.msg);
		fprintf(stderr, "sloglab: %s\n", err.msg);
		shelf->bad++;
	}
}

static void free_shelf(struct shelf *shelf)
{
	for (int i = 0; shelf && i < shelf->n; i++) {
		sl_scenario_free(shelf->devices[i]);
	}
	free(shelf);
}

static int put_group(struct sl_table *table, const struct shelf *shelf, enum group group, struct sl_err *err)
{
	static const char *const titles[N_GROUPS] = {
	    [GROUP_MEMORY] = "memory, Optane",    [GROUP_SAFE_NVME] = "NVMe SSDs with PLP",
	    [GROUP_SAFE] = "other SSDs with PLP", [GROUP_UNSAFE] = "SSDs without PLP",
	    [GROUP_DISK] = "hard disks",          [GROUP_OTHER] = "others",
	};
	bool titled = false;
	int rc = 0;

	for (int i = 0; rc == 0 && i < shelf->n; i++) {
		if (group_of(shelf->specs[i]) != group) {
			continue;
		}
		if (!titled) {
			sl_table_rule(table);
			titled = sl_table_row(table);
			if (!titled) {
				return sl_err_set(err, -ENOMEM, "out of memory");
			}
			sl_table_put(table, SL_TINT_DIM, "%s:", titles[group]);
		}
		rc = put_device(table, shelf->devices[i], shelf->specs[i], err);
	}
	return rc;
}

/* *ret_bad: files that could not be used. */
static int list_all(const char *data_dir, struct sl_table *table, int *ret_bad, struct sl_err *err)
{
	struct shelf *shelf = calloc(1, sizeof(*shelf));
	int rc = shelf ? 0 : sl_err_set(err, -ENOMEM, "out of memory");

	if (shelf) {
		load_shelf(shelf, data_dir);
		*ret_bad = shelf->bad;
	}
	for (int group = 0; rc == 0 && group < N_GROUPS; group++) {
		rc = put_group(table, shelf, (enum group)group, err);
	}
	free_shelf(shelf);
	return rc;
}

int sl_cmd_disk_list(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	static const char *const headings[] = {"<name", "<kind",     "size",  "4 KiB sync",
					       "<PLP",  "endurance", "price", "<figures"};
	static const struct sl_option none[] = {{NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	struct sl_words operands;
	struct sl_paths paths;
	struct sl_table *table;
	bool help;
	int bad = 0;
	int rc = sl_options_parse(none, argc, argv, &operands, &help, err);

	if (rc == 0 && help) {
		printf("usage: sloglab %s\n%s\n\n", self->name, self->summary);
		sl_options_print(none, stdout);
		return SL_EXIT_OK;
	}
	if (rc == 0 && operands.n > 0) {
		rc = sl_err_set(err, -EINVAL, "disk list: %.60s: takes no argument; see disk show",
				operands.word[0]);
	}
	if (rc < 0 || sl_paths_find(&paths, err) < 0) {
		return SL_EXIT_USAGE;
	}
	table = sl_table_new(headings, sizeof(headings) / sizeof(headings[0]));
	rc = table ? list_all(paths.data, table, &bad, err) : sl_err_set(err, -ENOMEM, "out of memory");
	if (rc == 0) {
		sl_table_print(table, stdout);
		puts("\n4 KiB sync: modelled mean of a random write and its flush at queue depth 1; ~: a "
		     "latency "
		     "of it\n  is only assumed.\n"
		     "PLP: are acknowledged writes safe without a flush? assumed: no figure of the speed is "
		     "public.");
	}
	sl_table_free(table);
	if (rc == 0) {
		return bad == 0 ? SL_EXIT_OK : SL_EXIT_FAILED;
	}
	return rc == -EINVAL ? SL_EXIT_USAGE : SL_EXIT_FAILED;
}

struct show {
	struct sl_words names;
	int n;
	struct sl_scenario *devices[SL_WORDS_MAX]; /* owned: one per name, the device is its last */
};

static int show_find(const struct sl_scenario *sc, const char *name)
{
	for (int i = 0; i < sl_scenario_devices(sc); i++) {
		if (strcmp(sl_scenario_device_spec(sc, i)->name, name) == 0) {
			return i;
		}
	}
	return 0;
}

static void show_print(const struct sl_scenario *sc, const char *name)
{
	int at = show_find(sc, name);
	const struct sl_dev_spec *spec = sl_scenario_device_spec(sc, at);
	struct sl_param p;
	size_t prefix = strlen(name) + 1;

	printf("%s (%s)\n", name, kind_name(spec->kind));
	if (sl_scenario_device_text(sc, at)[0] != '\0') {
		printf("%s\n", sl_scenario_device_text(sc, at));
	}
	if (spec->assumed) {
		puts("assumed: no figure of its speed is public");
	}
	if (spec->n_members > 0) {
		fputs("made of:", stdout);
		for (int i = 0; i < spec->n_members; i++) {
			printf(" %s", spec->members[i]->name);
		}
		putchar('\n');
	}
	for (int i = 0; sl_scenario_figure(sc, i, &p) == 0; i++) {
		bool own = strncmp(p.key, name, prefix - 1) == 0 && p.key[prefix - 1] == '.';

		printf("  %-24s %12s  %-8s  %s\n", own ? p.key + prefix : p.key, p.text,
		       sl_provenance_name(p.kind), p.source);
	}
}

static json_t *show_json(const struct sl_scenario *sc, const char *name)
{
	int at = show_find(sc, name);
	const struct sl_dev_spec *spec = sl_scenario_device_spec(sc, at);
	json_t *figures = json_array(), *members = json_array();
	struct sl_param p;

	for (int i = 0; i < spec->n_members; i++) {
		json_array_append_new(members, json_string(spec->members[i]->name));
	}
	for (int i = 0; sl_scenario_figure(sc, i, &p) == 0; i++) {
		json_array_append_new(figures, json_pack("{s:s, s:s, s:o, s:s, s:s}", "key", p.key, "text",
							 p.text, "value", sl_json_figure(p.value), "kind",
							 sl_provenance_name(p.kind), "source", p.source));
	}
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o}", "name", name, "kind", kind_name(spec->kind),
			 "description", sl_scenario_device_text(sc, at), "assumed", spec->assumed, "disks",
			 members, "figures", figures);
}

static int show_render(void *arg, FILE *out, struct sl_err *err)
{
	const struct show *show = arg;
	json_t *devices = json_array(), *root;
	int rc;

	for (int i = 0; i < show->n; i++) {
		json_array_append_new(devices, show_json(show->devices[i], show->names.word[i]));
	}
	root = json_pack("{s:s, s:o}", "schema", "sloglab-devices/1", "devices", devices);
	if (!root) {
		return sl_err_set(err, -ENOMEM, "JSON: out of memory");
	}
	rc = sl_json_write(root, out, err);
	json_decref(root);
	return rc;
}

static int show_all(struct show *show, const char *json, struct sl_err *err)
{
	struct sl_paths paths;
	int rc = sl_paths_find(&paths, err);

	while (rc == 0 && show->n < show->names.n) {
		const struct sl_dev_spec *spec;

		rc = sl_scenario_load_device(show->names.word[show->n], paths.data, &show->devices[show->n],
					     &spec, err);
		show->n += rc == 0;
	}
	for (int i = 0; rc == 0 && !(json && sl_out_is_stdout(json)) && i < show->n; i++) {
		show_print(show->devices[i], show->names.word[i]);
		if (i + 1 < show->n) {
			putchar('\n');
		}
	}
	return rc == 0 && json ? sl_out_write(json, show_render, show, err) : rc;
}

int sl_cmd_disk_show(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct show show = {.n = 0};
	const char *json = NULL;
	const struct sl_option options[] = {
	    {"json", "FILE", "write the figures as JSON; - is stdout", SL_OPT_TEXT, &json, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	bool help;
	int rc = sl_options_parse(options, argc, argv, &show.names, &help, err);

	if (rc == 0 && help) {
		printf("usage: sloglab %s %s\n%s\n\n", self->name, self->args, self->summary);
		sl_options_print(options, stdout);
		return SL_EXIT_OK;
	}
	if (rc == 0 && show.names.n == 0) {
		rc = sl_err_set(err, -EINVAL, "disk show: name missing; see sloglab disk list");
	}
	if (rc == 0 && json) {
		rc = sl_out_check(json, err);
	}
	if (rc < 0) {
		return SL_EXIT_USAGE;
	}
	rc = show_all(&show, json, err);
	for (int i = 0; i < show.n; i++) {
		sl_scenario_free(show.devices[i]);
	}
	return rc == 0 ? SL_EXIT_OK : rc == -EINVAL || rc == -ENOENT ? SL_EXIT_USAGE : SL_EXIT_FAILED;
}
