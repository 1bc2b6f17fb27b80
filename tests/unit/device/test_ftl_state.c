/* A state that is saved and restored goes on as if nothing had happened; damaged files are refused. */
#include "tests/unit/device/ftl_rig.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TAG 7

/* A drive in mid-life, with an open unit. */
static struct sl_ftl *used_drive(const struct sl_ftl_config *config)
{
	struct sl_ftl *ftl = drive_new(config);

	sl_ftl_fill(ftl, 0, config->logical_pages);
	sl_ftl_churn(ftl, 3, (uint32_t)config->logical_pages, 30001, NULL);
	return ftl;
}

static void temporary_path(char path[64])
{
	(void)snprintf(path, 64, "ftl-state-%ld.tmp", (long)getpid());
}

Test(ftl_state, goes_on_as_if_nothing_had_happened)
{
	for (unsigned variant = 0; variant < 4; variant++) {
		struct sl_ftl_config config = small_drive();
		struct sl_ftl *ftl, *restored;
		struct sl_err err = {0};
		char path[64];

		config.cost_benefit = (variant & 1) != 0;
		config.map_ns = (variant & 2) != 0 ? 500 : 0;
		ftl = used_drive(&config);
		restored = drive_new(&config);
		temporary_path(path);
		cr_assert_eq(sl_ftl_save(ftl, TAG, path, &err), 0, "%s", err.msg);
		cr_assert_eq(sl_ftl_load(restored, TAG, path, &err), 0, "%s", err.msg);
		(void)unlink(path);
		check(restored);
		cr_assert_eq(sl_ftl_hash(restored), sl_ftl_hash(ftl));
		sl_ftl_forget_counters(ftl);
		sl_ftl_churn(ftl, 4, 12800, 20000, NULL);
		sl_ftl_churn(restored, 4, 12800, 20000, NULL);
		cr_assert_eq(sl_ftl_hash(restored), sl_ftl_hash(ftl));
		cr_assert_eq(sl_ftl_counters(restored).moved_pages, sl_ftl_counters(ftl).moved_pages);
		check(restored);
		sl_ftl_free(ftl);
		sl_ftl_free(restored);
	}
}

/* 75 units of four pages over four dies with superblocks of 64 pages: each die's superblock is once just
 * full. */
Test(ftl_state, can_be_saved_after_any_unit)
{
	struct sl_ftl_config config = small_drive();
	struct sl_ftl *ftl = used_drive(&config), *restored = drive_new(&config);
	struct sl_err err = {0};
	char path[64];

	temporary_path(path);
	for (uint64_t unit = 0; unit < 75; unit++) {
		sl_ftl_churn(ftl, unit, 12800, 4, NULL);
		cr_assert_eq(sl_ftl_save(ftl, TAG, path, &err), 0, "%s", err.msg);
		cr_assert_eq(sl_ftl_load(restored, TAG, path, &err), 0, "unit %lu: %s", (unsigned long)unit,
			     err.msg);
		cr_assert_eq(sl_ftl_hash(restored), sl_ftl_hash(ftl));
	}
	(void)unlink(path);
	sl_ftl_free(ftl);
	sl_ftl_free(restored);
}

static void write_file(const char *path, const unsigned char *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");

	cr_assert(file && fwrite(bytes, 1, n, file) == n);
	cr_assert_eq(fclose(file), 0);
}

static size_t read_file(const char *path, unsigned char *bytes, size_t size)
{
	FILE *file = fopen(path, "rb");
	size_t n;

	cr_assert_not_null(file);
	n = fread(bytes, 1, size, file);
	cr_assert(n < size);
	(void)fclose(file);
	return n;
}

Test(ftl_state, damaged_files_are_refused)
{
	static unsigned char bytes[400000];
	struct sl_ftl_config config = small_drive();
	struct sl_ftl *ftl = used_drive(&config);
	struct sl_err err = {0};
	struct sl_rng rng;
	char path[64];
	size_t n;

	temporary_path(path);
	cr_assert_eq(sl_ftl_save(ftl, TAG, path, &err), 0, "%s", err.msg);
	n = read_file(path, bytes, sizeof(bytes));
	sl_rng_init(&rng, 1, "damage");
	for (int i = 0; i < 60; i++) {
		size_t at = (size_t)sl_rng_below(&rng, i < 20 ? 150 : n);
		struct sl_ftl *target = drive_new(&config);
		int rc;

		bytes[at] ^= 0x40;
		write_file(path, bytes, i % 3 == 0 ? at : n);
		bytes[at] ^= 0x40;
		rc = sl_ftl_load(target, TAG, path, &err);
		cr_assert_eq(rc, -EINVAL, "byte %zu: %d", at, rc);
		cr_assert(strstr(err.msg, path) != NULL);
		err = (struct sl_err){0};
		sl_ftl_free(target);
	}
	(void)unlink(path);
	sl_ftl_free(ftl);
}

Test(ftl_state, files_of_other_drives_are_refused)
{
	struct sl_ftl_config config = small_drive(), other = small_drive();
	struct sl_ftl *ftl = used_drive(&config), *target;
	struct sl_err err = {0};
	char path[64];

	temporary_path(path);
	cr_assert_eq(sl_ftl_save(ftl, TAG, path, &err), 0, "%s", err.msg);
	other.superblocks = 72;
	target = drive_new(&other);
	cr_assert_eq(sl_ftl_load(target, TAG, path, &err), -EINVAL);
	sl_ftl_free(target);
	target = drive_new(&config);
	cr_assert_eq(sl_ftl_load(target, TAG + 1, path, &err), -EINVAL);
	(void)unlink(path);
	cr_assert_eq(sl_ftl_load(target, TAG, path, &err), -ENOENT);
	cr_assert_eq(sl_ftl_save(ftl, TAG, "no/such/folder/state", &err), -ENOENT);
	sl_ftl_free(target);
	sl_ftl_free(ftl);
}
