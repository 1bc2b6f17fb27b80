#include "engine/lab_plan.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/image_cache.h"
#include "guests/accel.h"

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
	if (rc == 0 && (!file || ferror(file))) {
		rc = sl_err_set(err, errno != 0 ? -errno : -EIO, "%.200s: cannot be read", path);
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

/* Its folder and its manifest, to be freed with json_decref. `zfs`: line of a storage image, else NULL. */
static int image_find(const char *label, const char *zfs, char ret_path[PATH_MAX], json_t **ret_manifest,
		      struct sl_err *err)
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
	return *ret_manifest ? 0
			     : sl_err_set(err, -ENOENT, "image %s is not built; run sloglab image build%s%s",
					  label, zfs ? " --zfs " : "", zfs ? zfs : "");
}

/* The line of OpenZFS that is nearest to the box's. */
static const char *zfs_line(const struct sl_box *box)
{
	return box->zil >= SL_ZFS_23 ? "2.3" : "2.1";
}

static int images_find(struct sl_lab_plan *plan, const char *zfs, struct sl_err *err)
{
	json_t *manifest = NULL;
	char label[64];
	int rc;

	(void)snprintf(label, sizeof(label), "storage-%.40s", zfs);
	rc = image_find(label, zfs, plan->storage_image, &manifest, err);
	if (rc < 0) {
		return rc;
	}
	manifest_text(manifest, "cmdline", plan->storage_cmdline, sizeof(plan->storage_cmdline));
	manifest_text(manifest, "zfs", plan->zfs, sizeof(plan->zfs));
	json_decref(manifest);
	if (!plan->guest) {
		return 0;
	}
	rc = image_find("guest", NULL, plan->guest_image, &manifest, err);
	if (rc == 0) {
		manifest_text(manifest, "cmdline", plan->guest_cmdline, sizeof(plan->guest_cmdline));
		json_decref(manifest);
	}
	return rc;
}

static int disk_add(struct sl_lab_plan *plan, const struct sl_dev_spec *spec, enum sl_lab_role role,
		    struct sl_err *err)
{
	static const char *const words[] = {
	    [SL_LAB_LOG] = "log", [SL_LAB_SPECIAL] = "special", [SL_LAB_CACHE] = "cache"};
	struct sl_lab_disk *disk = &plan->disks[plan->n_disks];
	int number = 0;

	if (plan->n_disks == SL_LAB_DISKS_MAX) {
		return sl_err_set(err, -E2BIG,
				  "lab: more than %d disks; choose fewer variants with --variant",
				  SL_LAB_DISKS_MAX);
	}
	for (int i = 0; i < plan->n_disks; i++) {
		number += plan->disks[i].role == role;
	}
	(void)snprintf(disk->serial, sizeof(disk->serial), "%s%d",
		       role != SL_LAB_DATA        ? words[role]
		       : spec->kind == SL_DEV_HDD ? "hdd"
						  : "ssd",
		       number);
	disk->spec = spec;
	disk->role = role;
	return plan->n_disks++;
}

/* A disk of that role and name that this variant does not use yet: variants share their devices. */
static int disk_place(struct sl_lab_plan *plan, const struct sl_dev_spec *spec, enum sl_lab_role role,
		      bool *used, struct sl_err *err)
{
	int at = 0;

	while (at < plan->n_disks && (used[at] || plan->disks[at].role != role ||
				      strcmp(plan->disks[at].spec->name, spec->name) != 0)) {
		at++;
	}
	if (at == plan->n_disks) {
		at = disk_add(plan, spec, role, err);
	}
	if (at >= 0) {
		used[at] = true;
	}
	return at;
}

/* A mirror is one of ZFS's, of as many disks. */
static int vdevs_place(struct sl_lab_plan *plan, const struct sl_dev_spec *specs, int n,
		       enum sl_lab_role role, struct sl_lab_vdev *ret, struct sl_err *err)
{
	bool used[SL_LAB_DISKS_MAX] = {false};

	for (int i = 0; i < n; i++) {
		bool mirror = specs[i].kind == SL_DEV_MIRROR;

		ret[i] = (struct sl_lab_vdev){.n = mirror ? specs[i].n_members : 1};
		for (int k = 0; k < ret[i].n; k++) {
			ret[i].disk[k] =
			    disk_place(plan, mirror ? specs[i].members[k] : &specs[i], role, used, err);
			if (ret[i].disk[k] < 0) {
				return ret[i].disk[k];
			}
		}
	}
	return 0;
}

static int pool_plan(struct sl_lab_plan *plan, struct sl_err *err)
{
	const struct sl_box *box = &plan->boxes[0];
	int rc = 0;

	plan->n_special = box->n_special;
	rc = vdevs_place(plan, box->special, box->n_special, SL_LAB_SPECIAL, plan->special, err);
	for (int i = 0; i < box->n_cache && rc >= 0; i++) {
		rc = disk_add(plan, &box->cache[i], SL_LAB_CACHE, err);
	}
	for (int v = 0; v < plan->n_variants && rc >= 0; v++) {
		plan->n_logs[v] = plan->boxes[v].n_log;
		rc = vdevs_place(plan, plan->boxes[v].log, plan->n_logs[v], SL_LAB_LOG, plan->logs[v], err);
	}
	return rc < 0 ? rc : 0;
}

static int disks_plan(struct sl_lab_plan *plan, struct sl_err *err)
{
	const struct sl_box *box = &plan->boxes[0];
	int rc = 0;

	for (int i = 0; i < box->n_data && rc >= 0; i++) {
		rc = disk_add(plan, &box->data[i], SL_LAB_DATA, err);
	}
	return rc < 0 || plan->ext4 ? (rc < 0 ? rc : 0) : pool_plan(plan, err);
}

/* What stays as it is while a lab is up, as the lab makes it of a box. */
struct fixed {
	const char *key;
	double value;                    /* of disks their number */
	const struct sl_dev_spec *disks; /* else NULL */
};

#define FIXED_MAX 20

static int machines_fixed(const struct sl_lab_plan *plan, const struct sl_box *box, struct fixed *ret)
{
	int64_t storage, guest;
	char why[160];
	int n = 0;

	sl_lab_memory(box, &storage, &guest);
	ret[n++] = (struct fixed){"nas.memory", (double)storage, NULL};
	ret[n++] = (struct fixed){"nas.nfsd_threads", (double)box->nfsd_threads, NULL};
	if (plan->guest) {
		ret[n++] = (struct fixed){"guests.memory", (double)guest, NULL};
		ret[n++] = (struct fixed){"guests.disk_cache", box->disk_cache, NULL};
	}
	if (sl_accel_kvm(why, sizeof(why))) {
		ret[n++] = (struct fixed){"nas.vcpus", (double)box->nas_vcpus, NULL};
		ret[n++] = (struct fixed){"guests.vcpus", (double)box->guest_vcpus, NULL};
	}
	return n;
}

/* The guest's disk keeps the record size it was made with, and what lies on it its compression. */
static int pool_fixed(const struct sl_box *box, struct fixed *ret)
{
	const struct fixed fixed[] = {
	    {"pool.data.layout", box->data_layout, NULL},
	    {"pool.data.vdevs", box->data_layout == SL_LAYOUT_STRIPE ? 0 : (double)box->data_vdevs, NULL},
	    {"pool.ashift", (double)box->ashift, NULL},
	    {"pool.encryption", box->encryption == SL_ENCRYPT_ZFS, NULL},
	    {"pool.recordsize", box->recordsize_bytes, NULL},
	    {"pool.compression", box->compression, NULL},
	    {"pool.special", box->n_special, box->special},
	    {"pool.special_small_blocks", box->n_special > 0 ? box->special_small_bytes : 0, NULL},
	    {"pool.cache", box->n_cache, box->cache},
	};

	memcpy(ret, fixed, sizeof(fixed));
	return sizeof(fixed) / sizeof(fixed[0]);
}

static int fixed_of(const struct sl_lab_plan *plan, const struct sl_box *box, const char *zfs,
		    struct fixed ret[FIXED_MAX])
{
	int n = machines_fixed(plan, box, ret);

	ret[n++] = (struct fixed){"pool.data.disks", box->n_data, box->data};
	if (!plan->ext4) {
		n += pool_fixed(box, ret + n);
		ret[n++] = (struct fixed){"nas.zil", zfs ? 0 : strcmp(zfs_line(box), "2.3") == 0, NULL};
	}
	return n;
}

static bool same(const struct fixed *a, const struct fixed *b)
{
	bool same = a->value == b->value;

	for (int i = 0; same && a->disks && i < (int)a->value; i++) {
		same = strcmp(a->disks[i].name, b->disks[i].name) == 0;
	}
	return same;
}

/* `zfs`: the line of OpenZFS that was asked for, NULL = what the boxes say. */
static int variants_check(const struct sl_lab_plan *plan, const char *zfs, struct sl_err *err)
{
	struct fixed first[FIXED_MAX], other[FIXED_MAX];
	int n = fixed_of(plan, &plan->boxes[0], zfs, first);

	for (int v = 1; v < plan->n_variants; v++) {
		(void)fixed_of(plan, &plan->boxes[v], zfs, other);
		for (int i = 0; i < n; i++) {
			if (!same(&first[i], &other[i])) {
				return sl_err_set(
				    err, -EINVAL,
				    "lab: variants \"%.60s\" and \"%.60s\" differ in %s, which stays as it "
				    "is while a lab is up; choose with --variant",
				    sl_scenario_variant_name(plan->session.sc, plan->variants[0]),
				    sl_scenario_variant_name(plan->session.sc, plan->variants[v]),
				    first[i].key);
			}
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
		if (rc == 0) {
			sl_box_data_disks(&plan->boxes[i], plan->boxes[i].data);
			sl_box_log_disks(&plan->boxes[i], plan->boxes[i].log);
		}
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
		rc = variants_check(ret, options->zfs, err);
	}
	if (rc == 0) {
		rc = disks_plan(ret, err);
	}
	if (rc == 0) {
		rc = images_find(ret, options->zfs ? options->zfs : zfs_line(&ret->boxes[0]), err);
	}
	return rc;
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
				      .disks = plan->disks,
				      .n_special = plan->n_special,
				      .special = plan->special};
}
