/* What a cut of the power takes from files, write by write. A file here is twelve letters; "." is a zero
 * byte. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim/datastore/spans.h"
#include "sim/datastore/undo.h"

#define ROOM 64

struct rig {
	struct sl_undo undo;
	struct sl_undo_file file;
	char bytes[ROOM + 1]; /* zeros behind the end */
	uint64_t size;
	const uint32_t *gone; /* ends with 0 */
};

static int rig_read(void *arg, struct sl_undo_file *file, uint64_t offset, uint8_t *buf, uint32_t bytes)
{
	const struct rig *rig = arg;

	cr_assert(file == &rig->file);
	memcpy(buf, rig->bytes + offset, bytes);
	return 0;
}

static int rig_put(void *arg, struct sl_undo_file *file, uint64_t offset, const uint8_t *buf, uint32_t bytes)
{
	struct rig *rig = arg;

	cr_assert(file == &rig->file);
	cr_assert(offset + bytes <= rig->size, "a cut makes no file longer");
	memcpy(rig->bytes + offset, buf, bytes);
	return 0;
}

static int rig_resize(void *arg, struct sl_undo_file *file, uint64_t size)
{
	struct rig *rig = arg;

	cr_assert(file == &rig->file);
	if (size < rig->size) {
		memset(rig->bytes + size, 0, ROOM - size);
	}
	rig->size = size;
	return 0;
}

static void rig_init(struct rig *rig, const char *content)
{
	*rig = (struct rig){.size = strlen(content)};
	memcpy(rig->bytes, content, rig->size);
	sl_undo_init(&rig->undo);
}

static void put(struct rig *rig, uint64_t offset, const char *text)
{
	uint64_t end = offset + strlen(text);

	memcpy(rig->bytes + offset, text, strlen(text));
	rig->size = end > rig->size ? end : rig->size;
}

/* A stable write, which the model follows as `id` (0: not). */
static void write_stable(struct rig *rig, uint32_t id, uint64_t offset, const char *text)
{
	cr_assert_eq(
	    sl_undo_note(&rig->undo, &rig->file, rig->size, offset, (uint32_t)strlen(text), rig_read, rig),
	    0);
	put(rig, offset, text);
	sl_undo_name(&rig->undo, id);
}

static bool is_gone(void *arg, uint32_t id)
{
	const struct rig *rig = arg;

	for (const uint32_t *gone = rig->gone; *gone; gone++) {
		if (*gone == id) {
			return true;
		}
	}
	return false;
}

#define GONE(...) ((const uint32_t[]){__VA_ARGS__, 0})

/* After a cut that takes `gone` the file is `content`. */
static void cut(struct rig *rig, const uint32_t *gone, const char *content)
{
	struct sl_undo_sink sink = {.write = rig_put, .resize = rig_resize, .arg = rig};

	rig->gone = gone;
	cr_assert_eq(sl_undo_roll_back(&rig->undo, is_gone, rig, &sink), 0);
	for (uint64_t i = 0; i < rig->size; i++) {
		rig->bytes[i] = rig->bytes[i] ? rig->bytes[i] : '.';
	}
	rig->bytes[rig->size] = 0;
	cr_assert_str_eq(rig->bytes, content);
	cr_assert_eq(rig->undo.count, 0);
	cr_assert_eq(rig->undo.kept_bytes, 0);
	sl_undo_fini(&rig->undo);
}

Test(undo, a_write_that_is_gone_gives_back_what_it_overwrote)
{
	struct rig rig;

	rig_init(&rig, "abcdefgh");
	write_stable(&rig, 1, 2, "XX");
	write_stable(&rig, 2, 5, "YY");
	cut(&rig, GONE(2), "abXXefgh");
}

Test(undo, what_is_kept_stays_whatever_goes_before_and_after_it)
{
	struct rig rig;

	rig_init(&rig, "abcdefgh");
	write_stable(&rig, 1, 0, "11111111");
	write_stable(&rig, 2, 2, "2222");
	write_stable(&rig, 3, 3, "33");
	cut(&rig, GONE(1, 3), "ab2222gh");
}

Test(undo, a_newer_write_that_is_kept_covers_an_older_one_that_is_gone)
{
	struct rig rig;

	rig_init(&rig, "abcdefgh");
	write_stable(&rig, 1, 0, "1111");
	write_stable(&rig, 0, 2, "2222");
	cut(&rig, GONE(1), "ab2222gh");
}

Test(undo, a_file_is_as_long_as_what_is_left_of_it)
{
	struct rig rig;

	rig_init(&rig, "");
	write_stable(&rig, 1, 0, "1111");
	write_stable(&rig, 2, 4, "2222");
	write_stable(&rig, 3, 8, "3333");
	cut(&rig, GONE(2, 3), "1111");
	/* The second of three: a hole, as when a block of the log is missing that nobody read yet. */
	rig_init(&rig, "");
	write_stable(&rig, 1, 0, "1111");
	write_stable(&rig, 2, 4, "2222");
	write_stable(&rig, 3, 8, "3333");
	cut(&rig, GONE(2), "1111....3333");
}

Test(undo, data_in_memory_is_no_part_of_the_file_until_it_is_flushed)
{
	struct rig rig;

	rig_init(&rig, "abcd");
	cr_assert_eq(sl_undo_note(&rig.undo, &rig.file, rig.size, 2, 4, NULL, NULL), 0);
	sl_undo_name(&rig.undo, 1);
	cut(&rig, GONE(1), "abcd");

	rig_init(&rig, "abcd");
	cr_assert_eq(sl_undo_note(&rig.undo, &rig.file, rig.size, 2, 4, NULL, NULL), 0);
	sl_undo_name(&rig.undo, 1);
	write_stable(&rig, 2, 0, "22");
	cr_assert_eq(sl_undo_flush(&rig.undo, &rig.file, rig_read, &rig), 0);
	put(&rig, 2, "1111");
	cut(&rig, GONE(1), "22cd");
}

/* Written 0..8, cut to 4 and made 6 long again: of the write only four bytes were left to lose. */
Test(undo, a_length_that_was_set_stays)
{
	struct rig rig;

	rig_init(&rig, "abcdefgh");
	write_stable(&rig, 1, 0, "11111111");
	(void)rig_resize(&rig, &rig.file, 4);
	sl_undo_resize(&rig.undo, &rig.file, 4);
	(void)rig_resize(&rig, &rig.file, 6);
	sl_undo_resize(&rig.undo, &rig.file, 6);
	cut(&rig, GONE(1), "abcd..");
}

Test(undo, a_write_that_failed_is_none)
{
	struct rig rig;

	rig_init(&rig, "abcd");
	cr_assert_eq(sl_undo_note(&rig.undo, &rig.file, rig.size, 8, 4, rig_read, &rig), 0);
	sl_undo_cancel(&rig.undo);
	write_stable(&rig, 1, 0, "11");
	cut(&rig, GONE(1), "abcd");
}

static bool above_one(void *arg, uint32_t id)
{
	(void)arg;
	return id > 1;
}

Test(undo, what_is_no_more_at_risk_is_forgotten)
{
	struct rig rig;

	rig_init(&rig, "abcd");
	write_stable(&rig, 1, 2, "1111");
	write_stable(&rig, 2, 0, "22");
	cr_assert_eq(rig.undo.kept_bytes, 6,
		     "holes cost nothing: they are kept as zeros only where all is zero");
	sl_undo_settle(&rig.undo, above_one, NULL);
	cr_assert_eq(rig.undo.count, 1);
	cr_assert_eq(rig.undo.kept_bytes, 2);
	cut(&rig, GONE(1, 2), "ab1111");
}

Test(undo, a_file_that_leaves_takes_its_writes_along)
{
	struct rig rig;

	rig_init(&rig, "abcd");
	write_stable(&rig, 1, 0, "11");
	sl_undo_forget(&rig.undo, &rig.file);
	cut(&rig, GONE(1), "11cd");
}

Test(spans, those_that_touch_become_one)
{
	struct sl_spans spans = {0};
	struct sl_byte_span gap;

	cr_assert_eq(sl_spans_add(&spans, 10, 20), 0);
	cr_assert_eq(sl_spans_add(&spans, 30, 40), 0);
	cr_assert_eq(spans.n, 2);
	gap = sl_spans_gap(&spans, 0, 100);
	cr_assert(gap.from == 0 && gap.to == 10);
	gap = sl_spans_gap(&spans, 15, 100);
	cr_assert(gap.from == 20 && gap.to == 30);
	gap = sl_spans_gap(&spans, 32, 36);
	cr_assert(gap.from == 36 && gap.to == 36);
	cr_assert_eq(sl_spans_add(&spans, 20, 30), 0);
	cr_assert_eq(spans.n, 1);
	cr_assert(spans.at[0].from == 10 && spans.at[0].to == 40);
	cr_assert_eq(sl_spans_add(&spans, 50, 50), 0);
	cr_assert_eq(spans.n, 1);
	sl_spans_fini(&spans);
}
