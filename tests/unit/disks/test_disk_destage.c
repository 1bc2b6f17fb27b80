/* The file of a disk with a volatile cache follows the model: what its medium has by the cut is there, the
 * rest is not. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "contents.h"
#include "scratch.h"
#include "sim/base/loop.h"
#include "sim/base/rng.h"
#include "sim/disks/disk_image.h"

#define SIZE (1 << 20)
#define SECTOR 512

struct rig {
	struct scratch scratch;
	struct sl_served_image *image;
	struct sl_disk_image *base;
	int64_t now_ns; /* of the model */
	unsigned asked, cached;
};

static int64_t note_reached(void *arg)
{
	struct rig *rig = arg;

	rig->asked++;
	return rig->now_ns;
}

static void note_cached(void *arg)
{
	struct rig *rig = arg;

	rig->cached++;
}

static void rig_init(struct rig *rig, struct sl_disk_volatility volatility)
{
	struct sl_disk_image_config config = {.size_bytes = SIZE,
					      .volatility = volatility,
					      .reached = note_reached,
					      .cached = note_cached,
					      .arg = rig};
	struct sl_err err = {0};

	*rig = (struct rig){0};
	scratch_init(&rig->scratch);
	config.path = scratch_path(&rig->scratch, "disk.img");
	cr_assert_eq(sl_served_image_open(&config, &rig->image, &err), 0, "%s", err.msg);
	rig->base = sl_served_image_base(rig->image);
}

static void rig_init_honest(struct rig *rig, int64_t cache_bytes)
{
	rig_init(rig, (struct sl_disk_volatility){.cache_bytes = cache_bytes, .unit_bytes = SECTOR});
}

static void rig_fini(struct rig *rig)
{
	cr_assert_eq(sl_served_image_close(rig->image), 0);
	scratch_fini(&rig->scratch);
}

/* A write that the model has done, and has on its medium at safe_ns. */
static struct sl_mark *put(struct rig *rig, int64_t offset, int64_t bytes, int value, int64_t safe_ns)
{
	struct sl_disk_change change = {
	    .offset_bytes = offset, .bytes = bytes, .fate = rig->base->ops->follow(rig->base)};
	uint8_t *buf = malloc((size_t)bytes);

	memset(buf, value, (size_t)bytes);
	cr_assert_not_null(change.fate);
	sl_mark_at_risk(change.fate, 0, SL_RISK_CACHE);
	change.fate->safe_ns = safe_ns;
	cr_assert_eq(rig->base->ops->write(rig->base, &change, buf), 0);
	free(buf);
	return change.fate;
}

static void flush(struct rig *rig)
{
	cr_assert_eq(rig->base->ops->flush(rig->base, rig->base->ops->arrive(rig->base)), 0);
}

/* The power goes when it is at_ns in the model. */
static void cut(struct rig *rig, int64_t at_ns)
{
	struct sl_rng rng;

	sl_rng_init(&rng, 1, "cut");
	cr_assert_eq(sl_served_image_destage(rig->image, at_ns), 0);
	cr_assert_eq(sl_served_image_cut(rig->image, &rng, 0), 0);
	cr_assert_eq(sl_served_image_cached(rig->image), 0);
}

static bool holds(struct rig *rig, int64_t offset, int64_t bytes, int value)
{
	return contents_are(rig->base, offset, bytes, value);
}

Test(disk_destage, what_the_models_medium_has_survives_and_nothing_else)
{
	struct rig rig;

	rig_init_honest(&rig, 256 << 10);
	(void)put(&rig, 0, 10000, 'a', 10);
	(void)put(&rig, 16384, 8192, 'b', 20);
	(void)put(&rig, 32768, 8192, 'c', SL_NEVER);
	cr_assert_eq(rig.cached, 1, "the first write alone tells");
	cut(&rig, 19);
	cr_assert(holds(&rig, 0, 10000, 'a'));
	cr_assert(holds(&rig, 16384, 8192, 0));
	cr_assert(holds(&rig, 32768, 8192, 0));
	(void)put(&rig, 16384, 8192, 'b', 30);
	cr_assert_eq(rig.cached, 2);
	cut(&rig, 30);
	cr_assert(holds(&rig, 16384, 8192, 'b'));
	rig_fini(&rig);
}

Test(disk_destage, an_older_write_survives_under_a_newer_one)
{
	struct rig rig;

	rig_init_honest(&rig, 256 << 10);
	(void)put(&rig, 0, 8192, 'a', 10);
	(void)put(&rig, 1024, 100, 'b', 30); /* a part of a sector */
	(void)put(&rig, 4096, 4096, 'c', 30);
	cr_assert_eq(sl_served_image_destage(rig.image, 20), 0);
	cr_assert(holds(&rig, 0, 1024, 'a'));
	cr_assert(holds(&rig, 1024, 100, 'b'));
	cr_assert(holds(&rig, 1124, 4096 - 1124, 'a'));
	cr_assert(holds(&rig, 4096, 4096, 'c'));
	cut(&rig, 29);
	cr_assert(holds(&rig, 0, 8192, 'a'));
	rig_fini(&rig);
}

Test(disk_destage, a_newer_write_stays_when_the_medium_has_it_first)
{
	struct rig rig;

	rig_init_honest(&rig, 256 << 10);
	(void)put(&rig, 0, 4096, 'a', 40);
	(void)put(&rig, 512, 1024, 'b', 10);
	cr_assert_eq(sl_served_image_destage(rig.image, 20), 0);
	cr_assert(holds(&rig, 512, 1024, 'b'));
	cr_assert(holds(&rig, 1536, 2560, 'a'));
	cr_assert_eq(sl_served_image_destage(rig.image, 50), 0);
	cr_assert_eq(sl_served_image_cached(rig.image), 0);
	cr_assert(holds(&rig, 0, 512, 'a'));
	cr_assert(holds(&rig, 512, 1024, 'b'));
	cr_assert(holds(&rig, 1536, 2560, 'a'));
	rig_fini(&rig);
}

Test(disk_destage, a_flush_covers_what_was_done_when_it_came)
{
	struct rig rig;
	uint64_t mark;

	rig_init_honest(&rig, 256 << 10);
	(void)put(&rig, 0, 8192, 'a', SL_NEVER);
	mark = rig.base->ops->arrive(rig.base);
	(void)put(&rig, 4096, 8192, 'b', SL_NEVER);
	cr_assert_eq(rig.base->ops->flush(rig.base, mark), 0);
	cr_assert(holds(&rig, 4096, 8192, 'b'));
	cut(&rig, 100);
	cr_assert(holds(&rig, 0, 8192, 'a'));
	cr_assert(holds(&rig, 8192, 4096, 0));
	rig_fini(&rig);
}

Test(disk_destage, a_disk_that_ignores_flushes_destages_in_its_own_time)
{
	struct rig rig;

	rig_init(&rig, (struct sl_disk_volatility){
			   .cache_bytes = 256 << 10, .flush_ignored = true, .unit_bytes = SECTOR});
	(void)put(&rig, 0, 4096, 'a', 10);
	(void)put(&rig, 4096, 4096, 'b', 20);
	flush(&rig);
	cut(&rig, 15);
	cr_assert(holds(&rig, 0, 4096, 'a'));
	cr_assert(holds(&rig, 4096, 4096, 0));
	rig_fini(&rig);
}

Test(disk_destage, a_full_cache_asks_the_model_what_has_left_it)
{
	struct rig rig;

	rig_init_honest(&rig, 64 << 10);
	rig.now_ns = 5;
	(void)put(&rig, 0, 4096, 'a', SL_NEVER);
	for (int64_t i = 1; i < 100; i++) {
		(void)put(&rig, i * 4096, 4096, 'b', i < 95 ? 5 : SL_NEVER);
		cr_assert(sl_served_image_cached(rig.image) <= 72 << 10);
	}
	cr_assert(rig.asked > 0 && rig.asked < 20, "not at every write: %u", rig.asked);
	cut(&rig, 5);
	cr_assert(holds(&rig, 0, 4096, 0), "the oldest is still in the model's cache");
	cr_assert(holds(&rig, 4096, 94 * 4096, 'b'));
	cr_assert(holds(&rig, 95 * 4096, 5 * 4096, 0));
	rig_fini(&rig);
}

Test(disk_destage, the_same_page_again_and_again_takes_no_more_than_the_cache)
{
	struct rig rig;

	rig_init_honest(&rig, 64 << 10);
	for (int i = 0; i < 1000; i++) {
		(void)put(&rig, 0, 4096, i & 127, SL_NEVER);
		cr_assert(sl_served_image_cached(rig.image) <= 72 << 10);
	}
	cr_assert(holds(&rig, 0, 4096, 999 & 127));
	rig_fini(&rig);
}

Test(disk_destage, what_was_written_past_the_model_waits_for_a_flush_or_its_return)
{
	struct rig rig;

	rig_init_honest(&rig, 64 << 10);
	for (int round = 0; round < 2; round++) {
		struct sl_disk_change change = {.bytes = 4096, .fate = rig.base->ops->follow(rig.base)};
		static const uint8_t data[4096] = {'x'}, other[4096] = {'o'};

		cr_assert_eq(rig.base->ops->write(rig.base, &change, other), 0);
		change.fate = rig.base->ops->follow(rig.base);
		cr_assert_eq(rig.base->ops->write(rig.base, &change, data), 0);
		cr_assert_eq(sl_served_image_cached(rig.image), 4096, "the latest will do");
		if (round == 1) {
			cr_assert_eq(sl_served_image_populated(rig.image), 0);
		}
		cut(&rig, 1000);
		cr_assert_eq(holds(&rig, 0, 1, 'x'), round == 1);
	}
	rig_fini(&rig);
}

Test(disk_destage, marks_come_back_whatever_becomes_of_the_write)
{
	struct rig rig;

	rig_init_honest(&rig, 64 << 10);
	for (uint32_t i = 0; i < 1000; i++) {
		struct sl_mark *late, *later;

		rig.base->ops->forget(rig.base, rig.base->ops->follow(rig.base));
		(void)put(&rig, 0, 4096, 'a', 10);
		cut(&rig, 5);
		/* The disk notes in these only when the writes are long on the medium. */
		late = put(&rig, 4096, 4096, 'b', SL_NEVER);
		later = put(&rig, 8192, 4096, 'b', SL_NEVER);
		flush(&rig);
		cr_assert_eq(sl_served_image_destage(rig.image, 10), 0);
		late->safe_ns = later->safe_ns = 10;
		(void)put(&rig, 4096, 4096, 'c', 10);
		cr_assert_eq(sl_served_image_destage(rig.image, 10), 0);
	}
	for (uint32_t i = 0; i < SL_FATES_MAX; i++) {
		cr_assert_not_null(rig.base->ops->follow(rig.base), "%u", i);
	}
	cr_assert_null(rig.base->ops->follow(rig.base), "there is an end to it");
	rig_fini(&rig);
}

/* Per sector: what was written and when it is safe; the newest of what is safe must survive. */
struct sector {
	int now, kept;
	struct {
		int value;
		int64_t safe_ns;
	} writes[512];
	int n;
};

static void sector_cut(struct sector *sector, int64_t at_ns)
{
	for (int i = 0; i < sector->n; i++) {
		if (sector->writes[i].safe_ns <= at_ns) {
			sector->kept = sector->writes[i].value;
		}
	}
	sector->now = sector->kept;
	sector->n = 0;
}

static void sectors_check(struct rig *rig, const struct sector *sectors, int n)
{
	static uint8_t got[SIZE];

	cr_assert_eq(rig->base->ops->read(rig->base, 0, got, SIZE), 0);
	for (int i = 0; i < n; i++) {
		cr_assert_eq(got[i * SECTOR], sectors[i].now, "sector %d", i);
		cr_assert_eq(memcmp(got + i * SECTOR, got + i * SECTOR + 1, SECTOR - 1), 0);
	}
}

Test(disk_destage, the_newest_write_that_was_safe_survives_sector_by_sector)
{
	enum {
		SECTORS = 64
	};
	static struct sector sectors[SECTORS];
	struct sl_rng rng;
	struct rig rig;

	rig_init_honest(&rig, 512 << 10);
	sl_rng_init(&rng, 7, "sectors");
	for (int i = 1; i <= 4000; i++) {
		int first = (int)sl_rng_below(&rng, SECTORS - 20), n = 1 + (int)sl_rng_below(&rng, 20);
		bool never = sl_rng_below(&rng, 3) == 0;
		int64_t safe_ns = never ? SL_NEVER : i + (int64_t)sl_rng_below(&rng, 60);

		(void)put(&rig, (int64_t)first * SECTOR, (int64_t)n * SECTOR, i & 255, safe_ns);
		for (int k = first; k < first + n; k++) {
			struct sector *sector = &sectors[k];

			sector->now = i & 255;
			sector->writes[sector->n].value = i & 255;
			sector->writes[sector->n++].safe_ns = safe_ns;
		}
		if (i % 7 == 0) {
			cr_assert_eq(sl_served_image_destage(rig.image, i), 0);
		}
		if (i % 31 == 0) {
			flush(&rig);
			for (int k = 0; k < SECTORS; k++) {
				sectors[k].kept = sectors[k].now;
				sectors[k].n = 0;
			}
		}
		if (i % 50 == 0) {
			sectors_check(&rig, sectors, SECTORS);
			cut(&rig, i);
			for (int k = 0; k < SECTORS; k++) {
				sector_cut(&sectors[k], i);
			}
		}
		if (i % 10 == 0) {
			sectors_check(&rig, sectors, SECTORS);
		}
	}
	rig_fini(&rig);
}
