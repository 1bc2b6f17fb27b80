/* Images from a write log: what is stable is there, what is loose may be, and nothing else. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"
#include "sim/disks/disk_file.h"
#include "sim/disks/writelog.h"

#define SIZE (1 << 20)

struct rig {
	struct scratch scratch;
	struct sl_writelog *log;
	uint8_t image[SIZE];
};

static void rig_init(struct rig *rig, bool keeps)
{
	struct sl_writelog_disk disks[2] = {
	    {.name = "other", .size_bytes = SIZE, .unit_bytes = 4096},
	    {.name = "disk", .size_bytes = SIZE, .unit_bytes = 4096, .keeps = keeps},
	};
	struct sl_err err = {0};

	scratch_init(&rig->scratch);
	cr_assert_eq(sl_writelog_create(scratch_path(&rig->scratch, "log"), disks, 2, &rig->log, &err), 0,
		     "%s", err.msg);
}

/* A write of one value over a block of 8 KiB, that arrived when `mark` records were there. */
static void add(struct rig *rig, int disk, int block, int value, bool fua, uint64_t mark)
{
	struct sl_disk_change change = {
	    .offset_bytes = block * 8192, .bytes = 8192, .fua = fua, .mark = mark};
	uint8_t data[8192];

	memset(data, value, sizeof(data));
	sl_writelog_add(rig->log, SL_WRITELOG_WRITE, disk, &change, data);
}

static void add_flush(struct rig *rig, int disk, uint64_t mark)
{
	struct sl_disk_change change = {.mark = mark};

	sl_writelog_add(rig->log, SL_WRITELOG_FLUSH, disk, &change, NULL);
}

static void replay(struct rig *rig, uint64_t at, uint64_t seed, struct sl_writelog_counts *ret)
{
	struct sl_writelog_cut cut = {.path = scratch_path(&rig->scratch, "log"),
				      .disk = "disk",
				      .at = at,
				      .seed = seed,
				      .image = scratch_path(&rig->scratch, "image")};
	struct sl_err err = {0};
	int fd;

	cr_assert_eq(sl_writelog_replay(&cut, ret, &err), 0, "%s", err.msg);
	fd = open(cut.image, O_RDONLY);
	cr_assert(fd >= 0);
	cr_assert_eq(sl_disk_pread(fd, rig->image, SIZE, 0), 0);
	cr_assert_eq(lseek(fd, 0, SEEK_END), SIZE);
	close(fd);
}

/* Value of a whole 4 KiB unit, -1 when it is torn. */
static int unit(const struct rig *rig, int n)
{
	const uint8_t *at = rig->image + n * 4096;

	for (int i = 1; i < 4096; i++) {
		if (at[i] != at[0]) {
			return -1;
		}
	}
	return at[0];
}

Test(writelog, flushed_and_fua_writes_are_in_every_image)
{
	static struct rig rig;
	struct sl_writelog_counts counts;
	bool seen_kept = false, seen_lost = false, seen_early = false;

	rig_init(&rig, false);
	add(&rig, 1, 0, 'a', false, 0); /* 1: stable by the flush */
	add(&rig, 1, 1, 'b', false, 1); /* 2: completed, but after the flush arrived */
	add_flush(&rig, 1, 1);          /* 3 */
	add(&rig, 0, 2, 'o', true, 3);  /* 4: the other disk's */
	add(&rig, 1, 3, 'c', true, 4);  /* 5: FUA */
	add(&rig, 1, 0, 'd', false, 5); /* 6: loose, over a stable one */
	add(&rig, 1, 4, 'e', false, 2); /* 7: in service at 6 */
	add(&rig, 1, 5, 'f', false, 6); /* 8: arrives after 6 */
	cr_assert_eq(sl_writelog_mark(rig.log), 8);
	cr_assert_eq(sl_writelog_close(rig.log), 0);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		replay(&rig, 6, seed, &counts);
		for (int i = 0; i < 2; i++) {
			cr_assert(unit(&rig, i) == 'a' || unit(&rig, i) == 'd');
			cr_assert(unit(&rig, 2 + i) == 0 || unit(&rig, 2 + i) == 'b');
			cr_assert_eq(unit(&rig, 4 + i), 0);
			cr_assert_eq(unit(&rig, 6 + i), 'c');
			cr_assert(unit(&rig, 8 + i) == 0 || unit(&rig, 8 + i) == 'e');
			cr_assert_eq(unit(&rig, 10 + i), 0);
			seen_kept |= unit(&rig, 2 + i) == 'b';
			seen_lost |= unit(&rig, 2 + i) == 0;
			seen_early |= unit(&rig, 8 + i) == 'e';
		}
		cr_assert_eq(counts.records, 8);
		cr_assert_eq(counts.writes, 5);
		cr_assert_eq(counts.stable, 2);
		cr_assert_eq(counts.loose, 3);
		cr_assert_eq(counts.kept_units + counts.lost_units, 6);
	}
	cr_assert(seen_kept);
	cr_assert(seen_lost);
	cr_assert(seen_early);
	/* Before the flush was acknowledged nothing is stable. */
	replay(&rig, 2, 1, &counts);
	cr_assert_eq(counts.stable, 0);
	cr_assert_eq(counts.flushes, 0);
	scratch_fini(&rig.scratch);
}

Test(writelog, a_disk_that_keeps_writes_has_all_acknowledged_ones)
{
	static struct rig rig;
	struct sl_writelog_counts counts;

	rig_init(&rig, true);
	add(&rig, 1, 0, 'a', false, 0);
	add(&rig, 1, 0, 'b', false, 1);
	add(&rig, 1, 1, 'c', false, 1);
	cr_assert_eq(sl_writelog_close(rig.log), 0);
	replay(&rig, 2, 1, &counts);
	cr_assert_eq(unit(&rig, 0), 'b');
	cr_assert_eq(unit(&rig, 1), 'b');
	cr_assert_eq(counts.stable, 2);
	cr_assert_eq(counts.loose, 1);
	replay(&rig, UINT64_MAX, 1, &counts);
	cr_assert_eq(unit(&rig, 2), 'c');
	cr_assert_eq(unit(&rig, 3), 'c');
	scratch_fini(&rig.scratch);
}

Test(writelog, zeroes_and_a_base_image_count_too)
{
	static struct rig rig;
	struct sl_disk_change zero = {.offset_bytes = 4096, .bytes = 4096, .fua = true};
	struct sl_writelog_counts counts;
	struct sl_writelog_cut cut = {.disk = "disk", .at = UINT64_MAX, .seed = 1};
	struct sl_err err = {0};
	FILE *base;
	int fd;

	rig_init(&rig, false);
	sl_writelog_add(rig.log, SL_WRITELOG_ZERO, 1, &zero, NULL);
	cr_assert_eq(sl_writelog_close(rig.log), 0);
	memset(rig.image, 'B', SIZE);
	base = fopen(scratch_path(&rig.scratch, "base"), "w");
	cr_assert(base && fwrite(rig.image, SIZE, 1, base) == 1 && fclose(base) == 0);
	cut.path = scratch_path(&rig.scratch, "log");
	cut.base = scratch_path(&rig.scratch, "base");
	cut.image = scratch_path(&rig.scratch, "image");
	cr_assert_eq(sl_writelog_replay(&cut, &counts, &err), 0, "%s", err.msg);
	fd = open(cut.image, O_RDONLY);
	cr_assert_eq(sl_disk_pread(fd, rig.image, SIZE, 0), 0);
	close(fd);
	cr_assert_eq(unit(&rig, 0), 'B');
	cr_assert_eq(unit(&rig, 1), 0);
	cr_assert_eq(unit(&rig, 2), 'B');
	scratch_fini(&rig.scratch);
}

Test(writelog, after_the_end_nothing_is_recorded)
{
	static struct rig rig;
	struct sl_writelog_counts counts;

	rig_init(&rig, true);
	add(&rig, 1, 0, 'a', false, 0);
	sl_writelog_end(rig.log);
	add(&rig, 1, 1, 'b', false, 1);
	cr_assert_eq(sl_writelog_close(rig.log), 0);
	replay(&rig, UINT64_MAX, 1, &counts);
	cr_assert_eq(counts.records, 1);
	cr_assert_eq(unit(&rig, 2), 0);
	scratch_fini(&rig.scratch);
}

/* Every byte of a log changed, and every length of it: told, or read as a shorter log; never worse. */
/* The image that was there is whole, or the new one is. */
Test(writelog, a_log_that_cannot_be_read_to_its_end_leaves_the_old_image)
{
	static struct rig rig;
	struct sl_writelog_cut cut = {.disk = "disk", .at = UINT64_MAX, .seed = 1};
	struct sl_writelog_counts counts;
	struct sl_err err = {0};
	char image[512], log[512], text[16] = "";
	FILE *file;

	rig_init(&rig, false);
	add(&rig, 1, 0, 'a', true, 0);
	add_flush(&rig, 1, 1);
	cr_assert_eq(sl_writelog_close(rig.log), 0);
	snprintf(log, sizeof(log), "%s", scratch_path(&rig.scratch, "log"));
	snprintf(image, sizeof(image), "%s", scratch_path(&rig.scratch, "image"));
	cut.path = log;
	cut.image = image;
	file = fopen(image, "w");
	cr_assert(file && fputs("old", file) >= 0 && fclose(file) == 0);
	file = fopen(log, "a");
	cr_assert(file && fputs("no record, and long enough for the head of one: forty bytes", file) >= 0 &&
		  fclose(file) == 0);
	cr_assert_eq(sl_writelog_replay(&cut, &counts, &err), -EINVAL, "%s", err.msg);
	file = fopen(image, "r");
	cr_assert(file && fgets(text, sizeof(text), file) && fclose(file) == 0);
	cr_assert_str_eq(text, "old");
	scratch_fini(&rig.scratch);
}

Test(writelog, damage_is_noticed)
{
	static struct rig rig;
	struct sl_writelog_cut cut = {.disk = "disk", .at = UINT64_MAX, .seed = 1};
	static uint8_t bytes[64 << 10];
	unsigned refused = 0;
	size_t size;
	FILE *file;

	rig_init(&rig, false);
	add(&rig, 1, 0, 'a', true, 0);
	add_flush(&rig, 1, 1);
	cr_assert_eq(sl_writelog_close(rig.log), 0);
	file = fopen(scratch_path(&rig.scratch, "log"), "r");
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	cr_assert(size > 8192 && size < sizeof(bytes));
	cut.path = scratch_path(&rig.scratch, "bad");
	for (size_t i = 0; i < size; i += i < 200 || i > size - 100 ? 1 : 97) {
		struct sl_writelog_counts counts;
		struct sl_err err = {0};
		size_t length = i % 2 ? size : i;
		int rc;

		bytes[i] ^= 0x41;
		file = fopen(cut.path, "w");
		cr_assert(file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
		bytes[i] ^= 0x41;
		rc = sl_writelog_replay(&cut, &counts, &err);
		cr_assert(rc == 0 || rc == -EINVAL || rc == -ENOENT, "byte %zu: %d", i, rc);
		cr_assert(rc == 0 || err.msg[0] != '\0');
		refused += rc != 0;
	}
	cr_assert(refused > 60);
	scratch_fini(&rig.scratch);
}
