/* What a served disk keeps, and what a power cut takes. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contents.h"
#include "scratch.h"
#include "sim/base/rng.h"
#include "sim/disks/disk_image.h"

#define SIZE (4 << 20)

struct rig {
	int64_t trimmed_at, trimmed_bytes;
	struct scratch scratch;
	struct sl_served_image *image;
	struct sl_disk_image *base;
};

static void note_trimmed(void *arg, int64_t offset_bytes, int64_t bytes)
{
	struct rig *rig = arg;

	rig->trimmed_at = offset_bytes;
	rig->trimmed_bytes = bytes;
}

static void rig_open(struct rig *rig, struct sl_disk_volatility volatility)
{
	struct sl_disk_image_config config = {.path = scratch_path(&rig->scratch, "disk.img"),
					      .size_bytes = SIZE,
					      .volatility = volatility,
					      .trimmed = note_trimmed,
					      .arg = rig};
	struct sl_err err = {0};

	cr_assert_eq(sl_served_image_open(&config, &rig->image, &err), 0, "%s", err.msg);
	rig->base = sl_served_image_base(rig->image);
}

static void rig_init(struct rig *rig, int64_t cache_bytes, int unit)
{
	scratch_init(&rig->scratch);
	rig_open(rig, (struct sl_disk_volatility){.cache_bytes = cache_bytes, .unit_bytes = unit});
}

static void rig_fini(struct rig *rig)
{
	cr_assert_eq(sl_served_image_close(rig->image), 0);
	scratch_fini(&rig->scratch);
}

static void fill(struct rig *rig, int64_t offset, int64_t bytes, int value, bool fua)
{
	struct sl_disk_change change = {.offset_bytes = offset, .bytes = bytes, .fua = fua};
	uint8_t *buf = malloc((size_t)bytes);

	memset(buf, value, (size_t)bytes);
	cr_assert_eq(rig->base->ops->write(rig->base, &change, buf), 0);
	free(buf);
}

/* Arrives and is done at once. */
static void flush(struct rig *rig)
{
	cr_assert_eq(rig->base->ops->flush(rig->base, rig->base->ops->arrive(rig->base)), 0);
}

static bool holds(struct rig *rig, int64_t offset, int64_t bytes, int value)
{
	return contents_are(rig->base, offset, bytes, value);
}

static void cut(struct rig *rig, uint64_t seed, uint32_t odds)
{
	struct sl_rng rng;

	sl_rng_init(&rng, seed, "cut");
	cr_assert_eq(sl_served_image_cut(rig->image, &rng, odds), 0);
	cr_assert_eq(sl_served_image_cached(rig->image), 0);
}

Test(disk_image, volatility_follows_the_figures)
{
	struct sl_dev_spec hdd = {
	    .kind = SL_DEV_HDD, .write_cache = 1, .cache_bytes = 1e6, .flush_honoured = 1};
	struct sl_dev_spec ssd = {.kind = SL_DEV_SSD, .plp = 1, .buffer_bytes = 8e6};
	struct sl_dev_spec mirror = {.kind = SL_DEV_MIRROR, .n_members = 2, .members = {&ssd, &hdd}};
	struct sl_dev_spec ram = {.kind = SL_DEV_NVRAM};

	cr_assert_eq(sl_disk_volatility(&hdd).cache_bytes, 1000000);
	cr_assert_eq(sl_disk_volatility(&hdd).unit_bytes, 512);
	cr_assert(!sl_disk_volatility(&hdd).flush_ignored);
	cr_assert_eq(sl_disk_volatility(&ssd).cache_bytes, 0);
	cr_assert_eq(sl_disk_volatility(&ssd).unit_bytes, 4096);
	cr_assert_eq(sl_disk_volatility(&mirror).cache_bytes, 1000000);
	cr_assert_eq(sl_disk_volatility(&mirror).unit_bytes, 512);
	cr_assert(sl_disk_volatility(&ram).all);
	hdd.write_cache = 0;
	hdd.flush_honoured = 0;
	ssd.plp = 0;
	ram.plp = 1;
	cr_assert_eq(sl_disk_volatility(&hdd).cache_bytes, 0);
	cr_assert(sl_disk_volatility(&mirror).flush_ignored);
	cr_assert_eq(sl_disk_volatility(&ssd).cache_bytes, 8000000);
	cr_assert(!sl_disk_volatility(&ram).all);
}

Test(disk_image, a_protected_disk_loses_nothing)
{
	struct rig rig;

	rig_init(&rig, 0, 4096);
	fill(&rig, 100, 10000, 'a', false);
	cr_assert_eq(sl_served_image_cached(rig.image), 0);
	cut(&rig, 1, 0);
	cr_assert(holds(&rig, 100, 10000, 'a'));
	rig_fini(&rig);
}

Test(disk_image, a_volatile_disk_loses_what_was_not_flushed)
{
	struct rig rig;

	rig_init(&rig, 1 << 20, 4096);
	fill(&rig, 0, 65536, 'a', false);
	flush(&rig);
	fill(&rig, 4096, 8192, 'b', false);
	fill(&rig, 16384, 1000, 'c', true);
	fill(&rig, 100000, 5000, 'd', false);
	cr_assert(holds(&rig, 4096, 8192, 'b'));
	cr_assert(holds(&rig, 100000, 5000, 'd'));
	cut(&rig, 1, 0);
	cr_assert(holds(&rig, 0, 16384, 'a'));
	cr_assert(holds(&rig, 16384, 1000, 'c'));
	cr_assert(holds(&rig, 17384, 65536 - 17384, 'a'));
	cr_assert(holds(&rig, 100000, 5000, 0));
	rig_fini(&rig);
}

Test(disk_image, a_flush_that_is_ignored_saves_nothing)
{
	struct rig rig;

	scratch_init(&rig.scratch);
	rig_open(&rig, (struct sl_disk_volatility){
			   .cache_bytes = 1 << 20, .flush_ignored = true, .unit_bytes = 512});
	fill(&rig, 0, 4096, 'a', false);
	flush(&rig);
	cut(&rig, 1, 0);
	cr_assert(holds(&rig, 0, 4096, 0));
	rig_fini(&rig);
}

Test(disk_image, ram_loses_everything)
{
	struct rig rig;

	scratch_init(&rig.scratch);
	rig_open(&rig, (struct sl_disk_volatility){.all = true, .unit_bytes = 4096});
	fill(&rig, 0, 65536, 'a', true);
	cut(&rig, 1, 0);
	cr_assert(holds(&rig, 0, 65536, 0));
	rig_fini(&rig);
}

Test(disk_image, a_seeded_cut_keeps_about_half_torn_at_units)
{
	struct rig rig;
	int kept = 0, torn = 0;

	for (int unit = 512; unit <= 4096; unit *= 8) {
		kept = 0;
		torn = 0;
		rig_init(&rig, 1 << 20, unit);
		fill(&rig, 0, 512 << 10, 'x', false);
		cut(&rig, 7, 128);
		for (int64_t at = 0; at < 512 << 10; at += unit) {
			bool all = holds(&rig, at, unit, 'x');

			kept += all;
			torn += !all && !holds(&rig, at, unit, 0);
		}
		cr_assert_eq(torn, 0);
		cr_assert(kept > (512 << 10) / unit / 4);
		cr_assert(kept < (512 << 10) / unit * 3 / 4);
		rig_fini(&rig);
	}
}

Test(disk_image, a_write_in_service_is_torn_at_a_unit)
{
	static uint8_t data[64 << 10];
	bool seen_part = false;
	struct rig rig;

	memset(data, 'n', sizeof(data));
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct sl_disk_change change = {.offset_bytes = 1000, .bytes = sizeof(data)};
		int64_t end = 1000;
		struct sl_rng rng;

		rig_init(&rig, 0, 4096);
		sl_rng_init(&rng, seed, "tear");
		cr_assert_eq(sl_served_image_tear(rig.image, &change, data, &rng), 0);
		while (end < 1000 + (int64_t)sizeof(data) && holds(&rig, end, 1, 'n')) {
			end++;
		}
		cr_assert(end == 1000 || end == 1000 + (int64_t)sizeof(data) || end % 4096 == 0,
			  "torn at %lld", (long long)end);
		cr_assert(holds(&rig, end, 100000, 0));
		seen_part |= end > 1000 && end < 1000 + (int64_t)sizeof(data);
		rig_fini(&rig);
	}
	cr_assert(seen_part);
}

Test(disk_image, the_cache_is_bounded_and_the_oldest_leaves_first)
{
	struct rig rig;

	rig_init(&rig, 64 << 10, 4096);
	for (int64_t i = 0; i < 100; i++) {
		fill(&rig, i * 4096, 4096, 'y', false);
		cr_assert(sl_served_image_cached(rig.image) <= 72 << 10);
	}
	cut(&rig, 1, 0);
	cr_assert(holds(&rig, 0, 80 * 4096, 'y'));
	cr_assert(holds(&rig, 99 * 4096, 4096, 0));
	rig_fini(&rig);
}

Test(disk_image, an_orderly_end_keeps_all_and_the_file_is_sparse)
{
	struct rig rig;
	struct stat st;

	rig_init(&rig, 1 << 20, 4096);
	fill(&rig, 1 << 20, 5000, 'z', false);
	cr_assert_eq(sl_served_image_close(rig.image), 0);
	cr_assert_eq(stat(scratch_path(&rig.scratch, "disk.img"), &st), 0);
	cr_assert_eq(st.st_size, SIZE);
	cr_assert(st.st_blocks * 512 < 1 << 20);
	rig_open(&rig, (struct sl_disk_volatility){.unit_bytes = 4096});
	cr_assert(holds(&rig, 1 << 20, 5000, 'z'));
	rig_fini(&rig);
}

Test(disk_image, zeroes_make_holes_in_file_and_cache)
{
	struct sl_disk_change change = {.offset_bytes = 6000, .bytes = 50000};
	struct sl_disk_extent extents[8];
	struct rig rig;
	int n;

	rig_init(&rig, 1 << 20, 4096);
	fill(&rig, 0, 65536, 'p', false);
	flush(&rig);
	fill(&rig, 4096, 8192, 'q', false);
	cr_assert_eq(rig.base->ops->zero(rig.base, &change, false), 0);
	cr_assert_eq(rig.trimmed_at, 6000);
	cr_assert_eq(rig.trimmed_bytes, 50000);
	cr_assert(holds(&rig, 4096, 6000 - 4096, 'q'));
	cr_assert(holds(&rig, 6000, 50000, 0));
	cr_assert(holds(&rig, 56000, 65536 - 56000, 'p'));
	flush(&rig);
	n = rig.base->ops->extents(rig.base, 0, SIZE, extents, 8);
	cr_assert_eq(n, 4);
	cr_assert(!extents[0].hole && extents[1].hole && !extents[2].hole && extents[3].hole);
	cr_assert_eq(extents[0].bytes, 8192);
	cr_assert_eq(extents[0].bytes + extents[1].bytes + extents[2].bytes, 65536);
	cr_assert_eq(extents[3].bytes, SIZE - 65536);
	cr_assert_eq(rig.base->ops->extents(rig.base, 0, SIZE, extents, 1), 1);
	/* A page that is only cached is data. */
	fill(&rig, 2 << 20, 100, 'r', false);
	n = rig.base->ops->extents(rig.base, 1 << 20, SIZE - (1 << 20), extents, 8);
	cr_assert_eq(n, 3);
	cr_assert_eq(extents[0].bytes, 1 << 20);
	cr_assert_eq(extents[1].bytes, 4096);
	rig_fini(&rig);
}

Test(disk_image, a_file_in_use_or_of_another_size_is_refused)
{
	struct rig rig;
	struct sl_disk_image_config config = {.size_bytes = SIZE};
	struct sl_served_image *image;
	struct sl_err err = {0};

	rig_init(&rig, 0, 4096);
	config.path = scratch_path(&rig.scratch, "disk.img");
	cr_assert_eq(sl_served_image_open(&config, &image, &err), -EBUSY);
	cr_assert_eq(sl_served_image_close(rig.image), 0);
	config.size_bytes = SIZE + 512;
	cr_assert_eq(sl_served_image_open(&config, &image, &err), -EINVAL);
	cr_assert(strstr(err.msg, "size=4194304B") != NULL);
	config.path = rig.scratch.dir;
	cr_assert_neq(sl_served_image_open(&config, &image, &err), 0);
	scratch_fini(&rig.scratch);
}

/* Put there by somebody else, it would have the server write to the file behind it, as root perhaps. */
Test(disk_image, a_symbolic_link_is_refused_and_its_target_left_alone)
{
	struct rig rig;
	struct sl_disk_image_config config = {.size_bytes = SIZE};
	struct sl_served_image *image;
	struct sl_err err = {0};
	char target[512], path[512];
	struct stat st;
	FILE *file;

	rig_init(&rig, 0, 4096);
	snprintf(target, sizeof(target), "%s", scratch_path(&rig.scratch, "target"));
	snprintf(path, sizeof(path), "%s", scratch_path(&rig.scratch, "linked.img"));
	file = fopen(target, "w");
	cr_assert(file != NULL);
	fputs("precious", file);
	fclose(file);
	cr_assert_eq(symlink(target, path), 0);
	config.path = path;
	cr_assert_eq(sl_served_image_open(&config, &image, &err), -ELOOP);
	cr_assert(strstr(err.msg, "linked.img: is a symbolic link; remove it") != NULL, "%s", err.msg);
	cr_assert_eq(stat(target, &st), 0);
	cr_assert_eq(st.st_size, 8);
	/* One that leads nowhere makes no file there. */
	cr_assert_eq(unlink(target), 0);
	cr_assert_eq(sl_served_image_open(&config, &image, &err), -ELOOP);
	cr_assert_eq(stat(target, &st), -1);
	cr_assert_eq(sl_served_image_close(rig.image), 0);
	scratch_fini(&rig.scratch);
}

Test(disk_image, a_cut_takes_zeroes_back_that_were_not_flushed)
{
	struct sl_disk_change change = {.offset_bytes = 0, .bytes = 65536},
			      fua = {.offset_bytes = 65536, .bytes = 65536, .fua = true};
	struct rig rig;

	rig_init(&rig, 1 << 20, 4096);
	fill(&rig, 0, 131072, 'p', true);
	cr_assert_eq(rig.base->ops->zero(rig.base, &change, false), 0);
	cr_assert_eq(rig.base->ops->zero(rig.base, &fua, false), 0);
	cr_assert(holds(&rig, 0, 131072, 0));
	cut(&rig, 1, 0);
	cr_assert(holds(&rig, 0, 65536, 'p'));
	cr_assert(holds(&rig, 65536, 65536, 0), "FUA");
	cr_assert_eq(rig.base->ops->zero(rig.base, &change, false), 0);
	flush(&rig);
	cut(&rig, 2, 0);
	cr_assert(holds(&rig, 0, 131072, 0));
	rig_fini(&rig);
}

/* Random operations against a plain array; cuts with nothing lost must leave them equal. */
Test(disk_image, behaves_like_an_array_under_random_operations)
{
	static uint8_t want[SIZE], got[SIZE];
	struct sl_rng rng;
	struct rig rig;

	rig_init(&rig, 256 << 10, 512);
	memset(want, 0, sizeof(want));
	sl_rng_init(&rng, 42, "array");
	for (int i = 0; i < 3000; i++) {
		int64_t offset = (int64_t)sl_rng_below(&rng, SIZE - 70000);
		int64_t bytes = 1 + (int64_t)sl_rng_below(&rng, sl_rng_below(&rng, 4) ? 9000 : 70000);
		struct sl_disk_change change = {.offset_bytes = offset, .bytes = bytes};

		switch (sl_rng_below(&rng, 6)) {
		case 0:
			cr_assert_eq(rig.base->ops->zero(rig.base, &change, i % 2), 0);
			memset(want + offset, 0, (size_t)bytes);
			break;
		case 1:
			flush(&rig);
			break;
		case 2:
			cut(&rig, (uint64_t)i, 256);
			break;
		default:
			fill(&rig, offset, bytes, i & 255, i % 7 == 0);
			memset(want + offset, i & 255, (size_t)bytes);
			break;
		}
		if (i % 50 == 49) {
			cr_assert_eq(rig.base->ops->read(rig.base, 0, got, SIZE), 0);
			cr_assert_eq(memcmp(want, got, SIZE), 0, "after operation %d", i);
		}
	}
	rig_fini(&rig);
}
