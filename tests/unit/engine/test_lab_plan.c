/* Which lab a scenario gets: its disks and vdevs, its image, and variants that do not go together. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/lab_plan.h"
#include "engine/tempdir.h"

static char dir[64];

static void file_put(const char *name, const char *text)
{
	char path[160];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *slash = path + strlen(dir) + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
		*slash = '\0';
		(void)mkdir(path, 0700);
	}
	file = fopen(path, "we");
	cr_assert(file != NULL, "%s", path);
	cr_assert_geq(fputs(text, file), 0);
	cr_assert_eq(fclose(file), 0);
}

/* Both images of this test's cache, without machines in them. */
static void folder_make(void)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/sl-plan-XXXXXX");
	cr_assert(mkdtemp(dir) != NULL);
	cr_assert_eq(setenv("XDG_STATE_HOME", dir, 1), 0);
	cr_assert_eq(setenv("XDG_CACHE_HOME", dir, 1), 0);
	file_put("sloglab/images/storage-2.1/manifest.json",
		 "{\"zfs\": \"2.1.11-1+deb12u1\", \"cmdline\": \"\"}");
	file_put("sloglab/images/storage-2.3/manifest.json",
		 "{\"zfs\": \"2.3.2-2~bpo12+2\", \"cmdline\": \"\"}");
}

static void folder_remove(void)
{
	sl_tree_remove(dir);
}

/* A scenario with these variants. Release with sl_lab_plan_fini. */
static int plan_with(const char *variants, struct sl_lab_plan_options options, struct sl_lab_plan *ret,
		     struct sl_err *err)
{
	static const struct sl_words all = {.n = 0};
	char text[4096], path[160];

	(void)snprintf(text, sizeof(text),
		       "format: sloglab-scenario/1\n"
		       "title: t\n"
		       "host: {profile: modern-xeon, hypervisor: qemu}\n"
		       "nas: {vcpus: 1, memory: 1GiB, zil: 2.1}\n"
		       "pool:\n"
		       "  data: {layout: mirror, disks: [hdd-7200-desktop x 4], vdevs: 2}\n"
		       "workloads:\n"
		       "  sync: {kind: syncwrite, max_time: 1s}\n"
		       "variants:\n"
		       "  first: {}\n"
		       "%s",
		       variants);
	file_put("s.yaml", text);
	(void)snprintf(path, sizeof(path), "%s/s.yaml", dir);
	options.scenario = path;
	options.variants = options.variants ? options.variants : &all;
	options.no_guest = true;
	options.dilate = 1;
	*err = (struct sl_err){0};
	return sl_lab_plan(&options, ret, err);
}

static void plan_make(const char *variants, struct sl_lab_plan *ret)
{
	struct sl_err err;
	int rc = plan_with(variants, (struct sl_lab_plan_options){0}, ret, &err);

	cr_assert_eq(rc, 0, "%s", err.msg);
}

static void expect_refused(const char *set, const char *key)
{
	struct sl_lab_plan plan;
	struct sl_err err;
	char variants[512], message[256];

	(void)snprintf(variants, sizeof(variants),
		       "  log: {set: {pool.log: stec-zeusram-8}}\n  other: {set: {%s}}\n", set);
	(void)snprintf(
	    message, sizeof(message),
	    "lab: variants \"first\" and \"other\" differ in %s, which stays as it is while a lab is "
	    "up; choose with --variant",
	    key);
	cr_expect_eq(plan_with(variants, (struct sl_lab_plan_options){0}, &plan, &err), -EINVAL, "%s", set);
	cr_expect_str_eq(err.msg, message, "%s: %s", set, err.msg);
	sl_lab_plan_fini(&plan);
}

Test(lab_plan, variants_that_no_living_pool_can_be_are_refused, .init = folder_make, .fini = folder_remove)
{
	static const char *const cases[][2] = {
	    {"pool.data.disks: [hdd-15k-sas-600 x 4]", "pool.data.disks"},
	    {"pool.data.disks: [hdd-7200-desktop x 6]", "pool.data.disks"},
	    {"pool.data.layout: stripe", "pool.data.layout"},
	    {"pool.data.vdevs: 1", "pool.data.vdevs"},
	    {"pool.ashift: 9", "pool.ashift"},
	    {"pool.encryption: zfs", "pool.encryption"},
	    {"pool.recordsize: 16KiB", "pool.recordsize"},
	    {"pool.compression: off", "pool.compression"},
	    {"pool.special: [samsung-960-pro-512 x 2]", "pool.special"},
	    {"pool.cache: samsung-960-pro-512", "pool.cache"},
	    {"nas.zil: 2.3", "nas.zil"},
	    {"nas.memory: 512MiB", "nas.memory"},
	    {"nas.nfsd_threads: 3", "nas.nfsd_threads"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		expect_refused(cases[i][0], cases[i][1]);
	}
}

/* Either it changes with the variant, or the lab makes the same of both. */
Test(lab_plan, variants_of_one_lab_go_together, .init = folder_make, .fini = folder_remove)
{
	static const char *const sets[] = {"pool.sync: always",
					   "pool.logbias: throughput",
					   "pool.log: stec-zeusram-8",
					   "pool.log_flush: ignored",
					   "pool.encryption: geli",
					   "pool.data.disks: [hdd-7200-desktop x 2, hdd-7200-desktop x 2]",
					   "pool.special_small_blocks: 4KiB",
					   "nas.zil: 2014",
					   "nas.memory: 8GiB",
					   "host.nic: e1000",
					   "params.zfs.txg_timeout: 10s"};
	struct sl_lab_plan plan;
	char variants[256];

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		(void)snprintf(variants, sizeof(variants), "  other: {set: {%s}}\n", sets[i]);
		plan_make(variants, &plan);
		cr_expect_eq(plan.n_variants, 2);
		sl_lab_plan_fini(&plan);
	}
}

Test(lab_plan, chosen_variants_alone_must_go_together, .init = folder_make, .fini = folder_remove)
{
	static const struct sl_words names = {.n = 1, .word = {"other"}};
	const struct sl_lab_plan_options options = {.variants = &names};
	struct sl_lab_plan plan;
	struct sl_err err;

	cr_assert_eq(plan_with("  other: {set: {pool.encryption: zfs}}\n", options, &plan, &err), 0, "%s",
		     err.msg);
	cr_assert_eq(plan.boxes[0].encryption, SL_ENCRYPT_ZFS);
	sl_lab_plan_fini(&plan);
}

/* There is no pool. */
Test(lab_plan, an_ext4_lab_takes_variants_of_any_pool, .init = folder_make, .fini = folder_remove)
{
	const struct sl_lab_plan_options options = {.ext4 = true};
	struct sl_lab_plan plan;
	struct sl_err err;

	cr_assert_eq(plan_with("  other: {set: {pool.encryption: zfs}}\n", options, &plan, &err), 0, "%s",
		     err.msg);
	sl_lab_plan_fini(&plan);
	cr_assert_eq(
	    plan_with("  other: {set: {pool.data.disks: [hdd-15k-sas-600 x 4]}}\n", options, &plan, &err),
	    -EINVAL);
	sl_lab_plan_fini(&plan);
}

static void expect_vdev(const struct sl_lab_plan *plan, const struct sl_lab_vdev *vdev, const char *serials)
{
	char text[128] = "";

	for (int i = 0; i < vdev->n; i++) {
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			       plan->disks[vdev->disk[i]].serial);
	}
	cr_expect_str_eq(text, serials, "%s, not %s", text, serials);
}

Test(lab_plan, a_mirror_has_as_many_disks_and_variants_share_them, .init = folder_make, .fini = folder_remove)
{
	struct sl_lab_plan plan;

	plan_make(
	    "  one: {set: {pool.log: stec-zeusram-8}}\n"
	    "  two: {set: {pool.log: [stec-zeusram-8 x 2]}}\n"
	    "  pair: {set: {pool.log: [{mirror: [stec-zeusram-8, stec-zeusram-8]}]}}\n"
	    "  odd: {set: {pool.log: [{mirror: [intel-dc-s3500-80, stec-zeusram-8]}, stec-zeusram-8]}}\n",
	    &plan);
	cr_assert_eq(plan.n_disks, 4 + 3);
	cr_assert_eq(plan.n_logs[0], 0);
	cr_assert_eq(plan.n_logs[1], 1);
	expect_vdev(&plan, &plan.logs[1][0], "log0");
	cr_assert_eq(plan.n_logs[2], 2);
	expect_vdev(&plan, &plan.logs[2][0], "log0");
	expect_vdev(&plan, &plan.logs[2][1], "log1");
	cr_assert_eq(plan.n_logs[3], 1);
	expect_vdev(&plan, &plan.logs[3][0], "log0 log1");
	cr_assert_eq(plan.n_logs[4], 2);
	expect_vdev(&plan, &plan.logs[4][0], "log2 log0");
	expect_vdev(&plan, &plan.logs[4][1], "log1");
	cr_assert_str_eq(plan.disks[plan.logs[3][0].disk[1]].spec->name, "stec-zeusram-8");
	sl_lab_plan_fini(&plan);
}

Test(lab_plan, disks_have_the_figures_of_the_box, .init = folder_make, .fini = folder_remove)
{
	const struct sl_words sets = {.n = 3,
				      .word = {"params.data.write_ack=0.5ms", "params.data.write_rate=20MB/s",
					       "params.log.link_rate=90MB/s"}};
	struct sl_lab_plan plan;
	struct sl_err err;
	int rc = plan_with("  one: {set: {pool.log: stec-zeusram-8}}\n",
			   (struct sl_lab_plan_options){.sets = &sets}, &plan, &err);

	cr_assert_eq(rc, 0, "%s", err.msg);
	cr_assert_eq(plan.n_disks, 4 + 1);
	cr_expect_eq(plan.disks[3].spec->write_ack_ns, 500000);
	cr_expect_eq(plan.disks[3].spec->write_bps, 20e6);
	cr_expect_eq(plan.disks[4].spec->link_bps, 90e6);
	sl_lab_plan_fini(&plan);
}

Test(lab_plan, special_and_cache_devices_are_disks_of_their_own, .init = folder_make, .fini = folder_remove)
{
	static const struct sl_words names = {.n = 1, .word = {"both"}};
	const struct sl_lab_plan_options options = {.variants = &names};
	struct sl_lab_plan plan;
	struct sl_lab_config config;
	struct sl_err err;
	char nbd[SL_LAB_PATH_MAX];

	cr_assert_eq(
	    plan_with(
		"  both: {set: {pool.special: [{mirror: [stec-zeusram-8, stec-zeusram-8]}], pool.cache: "
		"[stec-zeusram-8 x 2], pool.log: stec-zeusram-8}}\n",
		options, &plan, &err),
	    0, "%s", err.msg);
	config = sl_lab_plan_config(&plan, nbd);
	cr_assert_eq(config.n_special, 1);
	expect_vdev(&plan, &config.special[0], "special0 special1");
	cr_assert_eq(config.n_disks, 4 + 2 + 2 + 1);
	cr_assert_str_eq(config.disks[6].serial, "cache0");
	cr_assert_eq(config.disks[7].role, SL_LAB_CACHE);
	expect_vdev(&plan, &plan.logs[0][0], "log0");
	sl_lab_plan_fini(&plan);
}

static void expect_zfs(const char *zil, const char *asked, const char *version)
{
	const struct sl_words sets = {.n = 1, .word = {zil}};
	const struct sl_lab_plan_options options = {.sets = &sets, .zfs = asked};
	struct sl_lab_plan plan;
	struct sl_err err;

	cr_expect_eq(plan_with("", options, &plan, &err), 0, "%s", err.msg);
	cr_expect_str_eq(plan.zfs, version, "%s: %s", zil, plan.zfs);
	sl_lab_plan_fini(&plan);
}

Test(lab_plan, the_image_is_the_one_of_nas_zil_unless_another_is_asked_for, .init = folder_make,
     .fini = folder_remove)
{
	expect_zfs("nas.zil=2014", NULL, "2.1.11-1+deb12u1");
	expect_zfs("nas.zil=2.1", NULL, "2.1.11-1+deb12u1");
	expect_zfs("nas.zil=2.3", NULL, "2.3.2-2~bpo12+2");
	expect_zfs("nas.zil=2.3", "2.1", "2.1.11-1+deb12u1");
}

Test(lab_plan, a_missing_image_names_the_command_that_builds_it, .init = folder_make, .fini = folder_remove)
{
	static const struct sl_words sets = {.n = 1, .word = {"nas.zil=2.3"}};
	const struct sl_lab_plan_options options = {.sets = &sets};
	struct sl_lab_plan plan;
	struct sl_err err;
	char path[160];

	(void)snprintf(path, sizeof(path), "%s/sloglab/images/storage-2.3", dir);
	sl_tree_remove(path);
	cr_assert_eq(plan_with("", options, &plan, &err), -ENOENT);
	cr_assert_str_eq(err.msg, "image storage-2.3 is not built; run sloglab image build --zfs 2.3");
	sl_lab_plan_fini(&plan);
}
