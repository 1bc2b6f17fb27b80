/* What the storage VM's shell is told to make of a pool. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "guests/lab_pool.h"

#define PART(name) " /dev/disk/by-serial/" name "-part1"

static const struct sl_dev_spec disk = {.name = "any"};

/* Six data disks, two for special vdevs, one for the cache, four for logs. */
static const struct sl_lab_disk disks[] = {
    {"hdd0", &disk, SL_LAB_DATA},        {"hdd1", &disk, SL_LAB_DATA},        {"hdd2", &disk, SL_LAB_DATA},
    {"hdd3", &disk, SL_LAB_DATA},        {"hdd4", &disk, SL_LAB_DATA},        {"hdd5", &disk, SL_LAB_DATA},
    {"special0", &disk, SL_LAB_SPECIAL}, {"special1", &disk, SL_LAB_SPECIAL}, {"cache0", &disk, SL_LAB_CACHE},
    {"log0", &disk, SL_LAB_LOG},         {"log1", &disk, SL_LAB_LOG},         {"log2", &disk, SL_LAB_LOG},
    {"log3", &disk, SL_LAB_LOG},
};

#define LOG0 9

static struct sl_box box_of(int layout, int vdevs)
{
	return (struct sl_box){.data_layout = layout, .data_vdevs = vdevs, .n_data = 6, .ashift = 12};
}

static void expect(int rc, const char *text, const char *expected)
{
	cr_assert_eq(rc, 0);
	cr_assert_str_eq(text, expected, "\n%s\n%s", text, expected);
}

static void expect_vdevs(int layout, int vdevs, const char *words)
{
	const struct sl_box box = box_of(layout, vdevs);
	const struct sl_lab_config config = {.box = &box, .n_disks = 6, .disks = disks};
	char text[SL_LAB_POOL_TEXT_MAX], expected[SL_LAB_POOL_TEXT_MAX];

	(void)snprintf(
	    expected, sizeof(expected),
	    "for d in hdd0 hdd1 hdd2 hdd3 hdd4 hdd5; do sl-storage part $d >/dev/null || exit 1; done; "
	    "zpool create -f -o ashift=12 -O atime=off -O checksum=on tank%s && zfs create tank/vm",
	    words);
	expect(sl_lab_pool_create(&config, text, sizeof(text)), text, expected);
}

Test(lab_pool, vdevs_share_the_disks_evenly)
{
	expect_vdevs(SL_LAYOUT_RAIDZ1, 2,
		     " raidz1" PART("hdd0") PART("hdd1") PART("hdd2") " raidz1" PART("hdd3") PART("hdd4")
			 PART("hdd5"));
	expect_vdevs(SL_LAYOUT_MIRROR, 3,
		     " mirror" PART("hdd0") PART("hdd1") " mirror" PART("hdd2")
			 PART("hdd3") " mirror" PART("hdd4") PART("hdd5"));
	expect_vdevs(SL_LAYOUT_STRIPE, 1,
		     PART("hdd0") PART("hdd1") PART("hdd2") PART("hdd3") PART("hdd4") PART("hdd5"));
}

static const struct sl_lab_vdev special_mirror = {.n = 2, .disk = {6, 7}};

Test(lab_pool, special_and_cache_devices_are_there_from_the_start)
{
	struct sl_box box = box_of(SL_LAYOUT_RAIDZ2, 1);
	const struct sl_lab_config config = {
	    .box = &box, .n_disks = 10, .disks = disks, .n_special = 1, .special = &special_mirror};
	char text[SL_LAB_POOL_TEXT_MAX];

	box.special_small_bytes = 4096;
	expect(sl_lab_pool_create(&config, text, sizeof(text)), text,
	       "for d in hdd0 hdd1 hdd2 hdd3 hdd4 hdd5 special0 special1 cache0; do sl-storage part $d "
	       ">/dev/null || exit 1; done; zpool create -f -o ashift=12 -O atime=off -O checksum=on -O "
	       "special_small_blocks=4096 tank raidz2" PART("hdd0") PART("hdd1") PART("hdd2") PART("hdd3")
		   PART("hdd4") PART("hdd5") " special mirror" PART("special0")
		       PART("special1") " cache" PART("cache0") " && zfs create tank/vm");
}

Test(lab_pool, an_encrypted_pool_has_its_key_in_memory_and_loads_it_at_import)
{
	struct sl_box box = box_of(SL_LAYOUT_STRIPE, 1);
	struct sl_lab_config config = {.box = &box, .n_disks = 6, .disks = disks};
	const unsigned char key[SL_LAB_POOL_KEY_BYTES] = {0, '\'', '%', 255};
	char text[SL_LAB_POOL_TEXT_MAX];

	box.encryption = SL_ENCRYPT_ZFS;
	cr_assert_eq(sl_lab_pool_create(&config, text, sizeof(text)), 0);
	cr_assert(strstr(text, " -O encryption=aes-256-gcm -O keyformat=raw -O "
			       "keylocation=file:///run/sloglab-pool.key tank"),
		  "%s", text);
	cr_assert_eq(sl_lab_pool_key(key, text, sizeof(text)), 0);
	cr_assert_eq(strncmp(text, "umask 077; printf '\\000\\047\\045\\377\\000", 39), 0, "%s", text);
	cr_assert(strstr(text, "\\000' >/run/sloglab-pool.key"), "%s", text);
	expect(sl_lab_pool_import(&config, text, sizeof(text)), text,
	       "sl-storage disks >/dev/null && zpool import -l -d /dev/disk/by-serial tank");
	config.ext4 = true;
	cr_assert(!sl_lab_pool_encrypted(&config));
}

Test(lab_pool, geli_is_no_encryption_of_zfs)
{
	struct sl_box box = box_of(SL_LAYOUT_STRIPE, 1);
	const struct sl_lab_config config = {.box = &box, .n_disks = 6, .disks = disks};
	char text[SL_LAB_POOL_TEXT_MAX];

	box.encryption = SL_ENCRYPT_GELI;
	cr_assert(!sl_lab_pool_encrypted(&config));
	cr_assert_eq(sl_lab_pool_create(&config, text, sizeof(text)), 0);
	cr_assert(!strstr(text, "encryption"), "%s", text);
	expect(sl_lab_pool_import(&config, text, sizeof(text)), text,
	       "sl-storage disks >/dev/null && zpool import -d /dev/disk/by-serial tank");
}

static const struct sl_lab_config with_logs = {.n_disks = 13, .disks = disks};

Test(lab_pool, logs_without_a_mirror_are_used_in_turn)
{
	static const struct sl_lab_vdev logs[] = {{.n = 1, .disk = {LOG0}}, {.n = 1, .disk = {LOG0 + 1}}};
	char text[SL_LAB_POOL_TEXT_MAX];

	expect(sl_lab_pool_log_add(&with_logs, logs, 2, text, sizeof(text)), text,
	       "for d in log0 log1; do sl-storage part $d >/dev/null || exit 1; done; zpool add -f tank "
	       "log" PART("log0") PART("log1"));
	expect(sl_lab_pool_log_remove(&with_logs, logs, 2, text, sizeof(text)), text,
	       "zpool remove tank" PART("log0") " && zpool remove tank" PART("log1"));
}

/* Behind "mirror" all is of that mirror, so what stands alone comes first. */
Test(lab_pool, a_log_mirror_is_one_of_zfs)
{
	static const struct sl_lab_vdev logs[] = {{.n = 3, .disk = {LOG0, LOG0 + 1, LOG0 + 2}},
						  {.n = 1, .disk = {LOG0 + 3}}};
	char text[SL_LAB_POOL_TEXT_MAX];

	expect(sl_lab_pool_log_add(&with_logs, logs, 2, text, sizeof(text)), text,
	       "for d in log0 log1 log2 log3; do sl-storage part $d >/dev/null || exit 1; done; zpool add -f "
	       "tank "
	       "log" PART("log3") " mirror" PART("log0") PART("log1") PART("log2"));
	expect(sl_lab_pool_log_remove(&with_logs, logs, 2, text, sizeof(text)), text,
	       "zpool detach tank" PART("log2") " && zpool detach tank" PART(
		   "log1") " && zpool remove tank" PART("log0") " && zpool remove tank" PART("log3"));
}

Test(lab_pool, what_can_change_while_it_lives)
{
	const struct sl_box box = {.sync = SL_SYNC_ALWAYS,
				   .logbias = SL_LOGBIAS_THROUGHPUT,
				   .recordsize_bytes = 16384,
				   .compression = SL_COMPRESS_LZ4};
	char text[SL_LAB_POOL_TEXT_MAX];

	expect(sl_lab_pool_properties(&box, text, sizeof(text)), text,
	       "zfs set sync=always logbias=throughput recordsize=16384 compression=lz4 tank/vm");
}

Test(lab_pool, what_does_not_fit_is_an_error)
{
	const struct sl_box box = box_of(SL_LAYOUT_RAIDZ1, 2);
	const struct sl_lab_config config = {.box = &box, .n_disks = 6, .disks = disks};
	char text[SL_LAB_POOL_TEXT_MAX];
	size_t needed;

	cr_assert_eq(sl_lab_pool_create(&config, text, sizeof(text)), 0);
	needed = strlen(text) + 1;
	for (size_t size = 1; size < needed; size++) {
		cr_assert(sl_lab_pool_create(&config, text, size) < 0, "%zu of %zu", size, needed);
	}
	cr_assert_eq(sl_lab_pool_create(&config, text, needed), 0);
}

/* zfs_txg_timeout knows whole seconds, and 0 is not "soon". */
Test(lab_pool, timers_are_whole_seconds_of_the_wall)
{
	cr_assert_eq(sl_lab_timer_s(5e9, 1), 5);
	cr_assert_eq(sl_lab_timer_s(5e9, 7.3), 37);
	cr_assert_eq(sl_lab_timer_s(1e7, 1), 1);
}
