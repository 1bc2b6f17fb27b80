#include "cli/lab_plan.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/image_cache.h"
#include "guests/accel.h"

#define ZFS_DEFAULT "2.1"

/* FNV-1a, draft-eastlake-fnv */
#define FNV_OFFSET 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull

static void key_add(uint64_t *key, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*key = (*key ^ (unsigned char)bytes[i]) * FNV_PRIME;
	}
}

static int key_make(const struct sl_lab_plan_options *options, const struct sl_paths *paths, uint64_t *ret,
		    struct sl_err *err)
{
	char path[PATH_MAX], buf[4096];
	int rc = sl_paths_scenario(paths, options->scenario, path, err);
	FILE *file = rc == 0 ? fopen(path, "re") : NULL;
	size_t n;

	*ret = FNV_OFFSET;
	while (file && (n = fread(buf, 1, sizeof(buf), file)) > 0) {
		key_add(ret, buf, n);
	}
	if (file) {
		(void)fclose(file);
	}
	for (int i = 0; options->sets && i < options->sets->n; i++) {
		key_add(ret, options->sets->word[i], strlen(options->sets->word[i]) + 1);
	}
	return rc;
}

int sl_lab_dir(const char *name, char ret[SL_LAB_DIR_MAX], struct sl_err *err)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	bool given = state && state[0] == '/';
	int n;

	if (!given && (!home || home[0] != '/')) {
		return sl_err_set(err, -ENOENT, "no folder for the lab's state: set XDG_STATE_HOME or HOME");
	}
	if (name[0] == '\0' || name[0] == '.' || strchr(name, '/')) {
		return sl_err_set(err, -EINVAL, "--name: \"%.60s\" is no name for a lab", name);
	}
	n = given ? snprintf(ret, SL_LAB_DIR_MAX, "%s/sloglab/labs/%s", state, name)
		  : snprintf(ret, SL_LAB_DIR_MAX, "%s/.local/state/sloglab/labs/%s", home, name);
	if (n >= SL_LAB_DIR_MAX) {
		return sl_err_set(err, -ENAMETOOLONG,
				  "%.100s: too long for the sockets below it; use --name or a shorter "
				  "XDG_STATE_HOME",
				  ret);
	}
	return 0;
}

/* A text of a manifest, "" = none. */
static void manifest_text(const json_t *manifest, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(manifest, key));

	(void)snprintf(ret, size, "%s", text ? text : "");
}

/* Its folder and its manifest, to be freed with json_decref. */
static int image_find(const char *label, char ret_path[PATH_MAX], json_t **ret_manifest, struct sl_err *err)
{
	char cache[PATH_MAX], manifest[PATH_MAX];
	int rc = sl_image_cache_path(cache, err);

	if (rc < 0) {
		return rc;
	}
	if (snprintf(ret_path, PATH_MAX, "%s/images/%s", cache, label) >= PATH_MAX ||
	    snprintf(manifest, sizeof(manifest), "%s/manifest.json", ret_path) >= PATH_MAX) {
		return sl_err_set(err, -ENAMETOOLONG, "%.100s: path too long", cache);
	}
	*ret_manifest = json_load_file(manifest, 0, NULL);
	return *ret_manifest
		   ? 0
		   : sl_err_set(err, -ENOENT, "image %s is not built; run sloglab image build", label);
}

static int images_find(struct sl_lab_plan *plan, const char *version, struct sl_err *err)
{
	json_t *manifest = NULL;
	char label[64];
	int rc;

	(void)snprintf(label, sizeof(label), "storage-%.40s", version ? version : ZFS_DEFAULT);
	rc = image_find(label, plan->storage_image, &manifest, err);
	if (rc < 0) {
		return rc;
	}
	manifest_text(manifest, "cmdline", plan->storage_cmdline, sizeof(plan->storage_cmdline));
	manifest_text(manifest, "zfs", plan->zfs, sizeof(plan->zfs));
	json_decref(manifest);
	if (!plan->guest) {
		return 0;
	}
	rc = image_find("guest", plan->guest_image, &manifest, err);
	if (rc == 0) {
		manifest_text(manifest, "cmdline", plan->guest_cmdline, sizeof(plan->guest_cmdline));
		json_decref(manifest);
	}
	return rc;
}

static int disk_add(struct sl_lab_plan *plan, const struct sl_dev_spec *spec, bool log, int number,
		    struct sl_err *err)
{
	struct sl_lab_disk *disk = &plan->disks[plan->n_disks];

	if (plan->n_disks == SL_LAB_DISKS_MAX) {
		return sl_err_set(err, -E2BIG, "lab: more than %d disks", SL_LAB_DISKS_MAX);
	}
	(void)snprintf(disk->serial, sizeof(disk->serial), "%s%d",
		       log                        ? "log"
		       : spec->kind == SL_DEV_HDD ? "hdd"
						  : "ssd",
		       number);
	disk->spec = spec;
	disk->log = log;
	plan->n_disks++;
	return 0;
}

/* Variants with the same device share a disk; the k-th of the same name in one variant is another disk. */
static int log_place(struct sl_lab_plan *plan, int v, int device, struct sl_err *err)
{
	const struct sl_box *box = &plan->boxes[v];
	const char *name = box->log[device].name;
	int earlier = 0, logs = 0, rc;

	for (int i = 0; i < device; i++) {
		earlier += strcmp(box->log[i].name, name) == 0;
	}
	for (int i = 0; i < plan->n_disks; i++) {
		logs += plan->disks[i].log;
		if (plan->disks[i].log && strcmp(plan->disks[i].spec->name, name) == 0 && earlier-- == 0) {
			plan->logs[v][plan->n_logs[v]++] = plan->disks[i].serial;
			return 0;
		}
	}
	rc = disk_add(plan, &box->log[device], true, logs, err);
	if (rc == 0) {
		plan->logs[v][plan->n_logs[v]++] = plan->disks[plan->n_disks - 1].serial;
	}
	return rc;
}

static int disks_plan(struct sl_lab_plan *plan, struct sl_err *err)
{
	const struct sl_box *box = &plan->boxes[0];
	int rc = 0;

	for (int i = 0; i < box->n_data && rc == 0; i++) {
		rc = disk_add(plan, &box->data[i], false, i, err);
	}
	for (int v = 0; v < plan->n_variants && rc == 0 && !plan->ext4; v++) {
		for (int i = 0; i < plan->boxes[v].n_log && rc == 0; i++) {
			rc = log_place(plan, v, i, err);
		}
	}
	return rc;
}

static bool same_pool(const struct sl_box *a, const struct sl_box *b)
{
	bool same = a->data_layout == b->data_layout && a->data_vdevs == b->data_vdevs &&
		    a->n_data == b->n_data && a->ashift == b->ashift;

	for (int i = 0; i < a->n_data && same; i++) {
		same = strcmp(a->data[i].name, b->data[i].name) == 0;
	}
	return same;
}

/* Only its log devices and properties can be changed while it lives. */
static int pool_check(const struct sl_lab_plan *plan, struct sl_err *err)
{
	for (int v = 1; v < plan->n_variants; v++) {
		if (!same_pool(&plan->boxes[0], &plan->boxes[v])) {
			return sl_err_set(err, -EINVAL,
					  "lab: a lab has one pool, and variants %.40s and %.40s differ in "
					  "pool.data; choose with --variant",
					  sl_scenario_variant_name(plan->session.sc, plan->variants[0]),
					  sl_scenario_variant_name(plan->session.sc, plan->variants[v]));
		}
	}
	return 0;
}

static int boxes_fill(struct sl_lab_plan *plan, const struct sl_words *names, struct sl_err *err)
{
	struct sl_chosen chosen = {0};
	int rc = sl_session_variants(&plan->session, "variant", names, &chosen, err);
	int n = rc < 0 ? 0 : chosen.n > 0 ? chosen.n : sl_scenario_variants(plan->session.sc);

	if (rc == 0 && n > SL_LAB_VARIANTS_MAX) {
		rc = sl_err_set(err, -E2BIG, "lab: more than %d variants; choose with --variant",
				SL_LAB_VARIANTS_MAX);
	}
	plan->boxes = rc == 0 ? calloc((size_t)n, sizeof(*plan->boxes)) : NULL;
	if (rc == 0 && !plan->boxes) {
		rc = sl_err_set(err, -ENOMEM, "lab: out of memory");
	}
	for (int i = 0; i < n && rc == 0; i++) {
		plan->variants[i] = chosen.n > 0 ? chosen.index[i] : i;
		rc = sl_scenario_box(plan->session.sc, plan->variants[i], &plan->boxes[i], err);
	}
	plan->n_variants = n;
	free(chosen.index);
	return rc;
}

int sl_lab_plan(const struct sl_lab_plan_options *options, struct sl_lab_plan *ret, struct sl_err *err)
{
	int rc;

	*ret = (struct sl_lab_plan){
	    .ext4 = options->ext4, .guest = !options->no_guest, .dilate = options->dilate};
	rc = sl_session_open(&ret->session, options->scenario, options->sets, err);
	if (rc < 0) {
		return rc;
	}
	(void)snprintf(ret->name, sizeof(ret->name), "%s",
		       options->name ? options->name : sl_scenario_name(ret->session.sc));
	(void)snprintf(ret->load, sizeof(ret->load), "%s/sloglab-load", ret->session.paths.bin);
	rc = sl_lab_dir(ret->name, ret->dir, err);
	if (rc == 0) {
		rc = key_make(options, &ret->session.paths, &ret->key, err);
	}
	if (rc == 0) {
		rc = boxes_fill(ret, options->variants, err);
	}
	if (rc == 0) {
		rc = pool_check(ret, err);
	}
	if (rc == 0) {
		rc = disks_plan(ret, err);
	}
	return rc < 0 ? rc : images_find(ret, options->zfs, err);
}

void sl_lab_plan_fini(struct sl_lab_plan *plan)
{
	free(plan->boxes);
	sl_session_close(&plan->session);
}

struct sl_lab_config sl_lab_plan_config(const struct sl_lab_plan *plan, char nbd[SL_LAB_PATH_MAX])
{
	char why[160];

	(void)snprintf(nbd, SL_LAB_PATH_MAX, "%s/nbd.sock", plan->dir);
	return (struct sl_lab_config){.dir = plan->dir,
				      .nbd_socket = nbd,
				      .box = &plan->boxes[0],
				      .storage_image = plan->storage_image,
				      .guest_image = plan->guest_image,
				      .storage_cmdline = plan->storage_cmdline,
				      .guest_cmdline = plan->guest_cmdline,
				      .load = plan->load,
				      .kvm = sl_accel_kvm(why, sizeof(why)),
				      .ext4 = plan->ext4,
				      .guest = plan->guest,
				      .dilate = plan->dilate,
				      .n_disks = plan->n_disks,
				      .disks = plan->disks};
}
