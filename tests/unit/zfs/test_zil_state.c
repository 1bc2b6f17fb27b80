/*
 * In place or into the log, by generation (zfs_write, zfs_log_write), and that what is in place is written
 * once. A log block that has only headers is 4 KiB: a chain header and 21 of records fit.
 */
#include <string.h>

#include "sim/base/rng.h"
#include "sim/base/trace.h"
#include "sim/zfs/zil_inner.h"
#include "tests/unit/zfs/zil_rig.h"

#define NOT_ASKED (-1)

enum how {
	SYNC,
	LATER,
	THROUGHPUT
};

static const struct {
	const char *what;
	enum sl_zil_generation generation;
	bool slog;
	enum how how; /* LATER: unstable, then committed */
	uint32_t record, offset, bytes;
	uint32_t in_place; /* expected */
	int64_t log;       /* expected: on a log device what is used, on raidz whole blocks */
} cases[] = {
    /* Up to 2.1 a write is cut at records before it is looked at, 8 of 128 KiB; since 2.2 afterwards. */
    {"1 MiB", SL_ZIL_2014, false, SYNC, 128 << 10, 0, 1 << 20, 8, 4096},
    {"1 MiB", SL_ZIL_21, false, SYNC, 128 << 10, 0, 1 << 20, 8, 4096},
    {"1 MiB", SL_ZIL_23, false, SYNC, 128 << 10, 0, 1 << 20, 8, 4096},
    {"1 MiB", SL_ZIL_24, false, SYNC, 128 << 10, 0, 1 << 20, 8, 4096},
    {"1 MiB across nine records", SL_ZIL_23, false, SYNC, 128 << 10, 65536, 1 << 20, 9, 4096},
    /* 64 KiB over two records: 32 KiB each goes in place from 2.1 on. Not in 2014: the block of 4 KiB that
     * was open goes out empty, then 33,152 B in one of 36 KiB; 66,112 B are logged by then: one of 128 KiB.
     */
    {"64 KiB across", SL_ZIL_2014, false, SYNC, 128 << 10, 98304, 65536, 0, 4096 + 36864 + 131072},
    {"64 KiB across", SL_ZIL_21, false, SYNC, 128 << 10, 98304, 65536, 2, 4096},
    /* 64 KiB in records of 16: 16 KiB at a time are too few up to 2.1, in all they are enough. */
    {"64 KiB in 16", SL_ZIL_23, false, SYNC, 16 << 10, 0, 65536, 4, 4096},
    /* With a log device nothing, unless logbias says so. */
    {"1 MiB, log device", SL_ZIL_21, true, SYNC, 128 << 10, 0, 1 << 20, 0, NOT_ASKED},
    {"1 MiB, throughput", SL_ZIL_2014, true, THROUGHPUT, 128 << 10, 0, 1 << 20, 8, 4096},
    {"1 MiB, throughput", SL_ZIL_21, true, THROUGHPUT, 128 << 10, 0, 1 << 20, 8, 4096},
    {"1 MiB, throughput", SL_ZIL_23, true, THROUGHPUT, 128 << 10, 0, 1 << 20, 8, 4096},
    {"4 KiB, throughput", SL_ZIL_23, true, THROUGHPUT, 128 << 10, 0, 4096, 1, 4096},
    /* zil_write_state of 2.4: of a record that is less than half covered a synchronous write is logged. */
    {"48 KiB", SL_ZIL_23, false, SYNC, 128 << 10, 0, 49152, 1, 4096},
    {"48 KiB", SL_ZIL_24, false, SYNC, 128 << 10, 0, 49152, 0, 53248},
    {"48 KiB, later", SL_ZIL_24, false, LATER, 128 << 10, 0, 49152, 1, 4096},
    {"64 KiB", SL_ZIL_24, false, SYNC, 128 << 10, 0, 65536, 1, 4096},
};

Test(zil_state, what_goes_in_place)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new_of(cases[i].slog, cases[i].generation);
		struct sl_zil_change change = {.file = 1, .txg = KEEP, .bytes = cases[i].bytes};
		int64_t log;

		rig->zil.config.throughput = cases[i].how == THROUGHPUT;
		rig->zil.config.recordsize_bytes = cases[i].record;
		change.offset_bytes = cases[i].offset;
		sl_zil_log(&rig->zil, &change, cases[i].how != LATER);
		log = commit_now(rig);
		cr_expect_eq(rig->zil.indirect, cases[i].in_place, "%s, generation %d: %d in place",
			     cases[i].what, (int)cases[i].generation, (int)rig->zil.indirect);
		cr_expect(log == cases[i].log || cases[i].log == NOT_ASKED,
			  "%s, generation %d: %lld B of log", cases[i].what, (int)cases[i].generation,
			  (long long)log);
		rig_free(rig);
	}
}

/* 2.4 with special vdevs as log devices: in place only what would lie there anyway. */
Test(zil_state, special_vdevs_count_as_log_devices_in_2_4)
{
	for (int special = 0; special <= 1; special++) {
		struct rig *rig = rig_new_of(false, SL_ZIL_24);

		rig->zil.config.special = &rig->slog;
		rig->zil.config.records = special ? &rig->slog : &rig->data;
		commit_write(rig, 128 * KIB);
		cr_assert_eq(rig->zil.indirect, special ? 1 : 0);
		rig_free(rig);
	}
}

/* sl_placed against a plain table: 40000 random steps over 2000 records, which meet in the set's slots. */
Test(zil_state, placed_records_are_found_and_forgotten)
{
	enum {
		RECORDS = 2000,
		STEPS = 40000
	};
	static bool known[RECORDS];
	struct sl_placed placed = {.txg = 7};
	struct sl_rng rng;
	uint32_t count = 0;

	sl_rng_init(&rng, 1, "placed");
	for (int i = 0; i < STEPS; i++) {
		uint64_t record = sl_rng_below(&rng, RECORDS);

		if (sl_rng_below(&rng, 2) == 0) {
			cr_assert_eq(sl_placed_add(&placed, 7, 3, record), !known[record]);
			count += !known[record];
			known[record] = true;
		} else {
			cr_assert_eq(sl_placed_drop(&placed, 3, record), known[record]);
			count -= known[record];
			known[record] = false;
		}
	}
	/* A change of a txg that has closed is written anyway, and is not remembered. */
	cr_assert(sl_placed_add(&placed, 6, 3, RECORDS));
	cr_assert_eq(sl_placed_close(&placed, 8), count);
	cr_assert_eq(sl_placed_close(&placed, 9), 0);
	cr_assert_not(sl_placed_drop(&placed, 3, 0));
	sl_placed_fini(&placed);
}

/*
 * A log device of 1 MiB is full with eight blocks of 128 KiB, so the ninth goes to the data disks. Blocks of
 * txg 1 are free when it has synced, and can be used when two more have (TXG_DEFER_SIZE): after txg 3. In use
 * were nine.
 */
Test(zil_state, a_full_log_device_gives_way_to_the_data_disks)
{
	static const enum sl_zil_generation generations[] = {SL_ZIL_2014, SL_ZIL_21, SL_ZIL_23};

	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
		struct rig *rig = rig_new_of(true, generations[i]);
		uint64_t room = generations[i] == SL_ZIL_2014 ? 7 : 8;

		rig->slog.disk_bytes = MIB;
		for (uint64_t n = 1; n <= 10; n++) {
			struct sl_zil_change change = {
			    .file = 1, .txg = n == 10 ? 4 : 1, .bytes = 128 * KIB - 2 * 192};

			if (n == 10) {
				for (uint64_t txg = 1; txg <= 3; txg++) {
					cr_assert_eq(sl_zil_target(&rig->zil, 128 * KIB), &rig->data,
						     "generation %zu, before txg %d", i, (int)txg);
					sl_zil_synced(&rig->zil, txg);
				}
			}
			notes_clear(&rig->nas.notes);
			sl_zil_log(&rig->zil, &change, true);
			commit_now(rig);
			cr_assert_eq(notes_count(&rig->nas.notes, "log write 128K") > 0, n <= room || n == 10,
				     "generation %zu, block %d: %s", i, (int)n, rig->nas.notes.text);
			cr_assert_eq(notes_count(&rig->nas.notes, "d0 write") > 0, n > room && n != 10);
		}
		cr_assert_leq(rig->zil.log_space.peak, MIB);
		cr_assert(rig->zil.all_space.peak >= 9 * 128 * KIB &&
			  rig->zil.all_space.peak <= 10 * 128 * KIB);
		rig_free(rig);
	}
}

/* Where a block lies is where it takes room: on the log devices, or in the embedded log of the data vdevs. */
Test(zil_state, a_block_counts_against_the_room_of_the_vdev_it_lies_on)
{
	struct rig *slog = rig_new(true), *none = rig_new(false);

	/* With a log device: one block there, one on the data vdevs, as when the log is full. */
	(void)sl_zil_allocate(&slog->zil, &slog->slog, KEEP, 4096);
	(void)sl_zil_allocate(&slog->zil, &slog->data, KEEP, 8192);
	cr_assert_eq(slog->zil.log_space.used, 4096);
	cr_assert_eq(slog->zil.all_space.used, 12288);
	/* Without one there is no room of a log device to take. */
	(void)sl_zil_allocate(&none->zil, &none->data, KEEP, 4096);
	cr_assert_eq(none->zil.log_space.used, 0);
	cr_assert_eq(none->zil.all_space.used, 4096);
	rig_free(slog);
	rig_free(none);
}

/* 3 x 11 GiB have more than 64 metaslabs of 512 MiB, so that one of them is the embedded log. */
Test(zil_state, blocks_go_into_the_embedded_log_until_it_is_full)
{
	struct rig *rig = rig_new(false);
	const int64_t room = 512 * MIB;

	rig->data.disk_bytes = INT64_C(11) << 30;
	rig->data.config.alloc.embedded_log = true;
	cr_assert(sl_zil_allocate(&rig->zil, &rig->data, KEEP, 4096));
	cr_assert(sl_zil_allocate(&rig->zil, &rig->data, KEEP, room - 4096), "it fits just so");
	cr_assert_eq(rig->zil.embedded_space.used, room);
	cr_assert_not(sl_zil_allocate(&rig->zil, &rig->data, KEEP, 1));
	cr_assert_eq(rig->zil.embedded_space.used, room, "what lies elsewhere takes none of it");
	cr_assert_eq(rig->zil.all_space.used, room + 1);
	rig_free(rig);
}

static uint32_t hand_offs(int64_t delay_ns)
{
	struct rig *rig = rig_new_of(true, SL_ZIL_23);
	struct sl_trace *trace = sl_trace_new(1000);
	uint32_t n = 0;

	cr_assert_not_null(trace);
	rig->zil.trace = trace;
	rig->zil.config.commit_delay_ns = delay_ns;
	(void)commit_write(rig, 1024);
	for (uint32_t i = 0; i < sl_trace_count(trace); i++) {
		const struct sl_span *span = sl_trace_get(trace, i);

		if (strcmp(span->name, "hand-off") == 0) {
			cr_assert_eq(span->end_ns - span->start_ns, delay_ns);
			n++;
		}
	}
	sl_trace_free(trace);
	rig_free(rig);
	return n;
}

/* What takes no time has no place in a trace: a reader would look for it in vain. */
Test(zil_state, a_trace_shows_the_hand_offs_that_take_time)
{
	cr_assert(hand_offs(20 * US) > 0);
	cr_assert_eq(hand_offs(0), 0u);
}

/*
 * zil_lwb_plan of 2.3. A block of 128 KiB has 130880 B for records, of one write at most 130688; a sixteenth
 * of that, 8168, may be wasted. Bursts of several blocks are divided evenly, and the last block takes at
 * least what the ones before it, each with its waste, do not hold.
 */
Test(zil_state, a_burst_is_planned_by_what_its_blocks_hold)
{
	static const struct {
		const char *what;
		uint32_t burst, optimal, least;
	} bursts[] = {
	    {"a small one is one block", 10000, 10000, 10000},
	    {"it just fits", 130880, 130880, 130880},
	    {"two blocks: 200000 - (130880 - 8168)", 200000, 100000, 77288},
	    {"the rest is just above the waste", 130881, 65441, 8169},
	    {"halves that leave no room for waste: the largest", 250000, 130880, 0},
	    {"more than eight blocks: the largest", 8 * 130880 + 1, 130880, 0},
	};

	for (size_t i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++) {
		struct rig *rig = rig_new_of(false, SL_ZIL_23);
		struct sl_zil_burst *burst = &rig->zil.burst;

		sl_zil_burst_grows(&rig->zil, bursts[i].burst - 192, false);
		cr_assert_eq(burst->size, bursts[i].burst, "with the header of 192");
		cr_assert_eq(burst->left, bursts[i].burst);
		sl_zil_burst_packed(&rig->zil, 1000);
		cr_assert_eq(burst->left, bursts[i].burst - 1000);
		sl_zil_burst_done(&rig->zil);
		cr_assert_eq(burst->optimal[burst->at], bursts[i].optimal, "%s: %u", bursts[i].what,
			     burst->optimal[burst->at]);
		cr_assert_eq(burst->least[burst->at], bursts[i].least, "%s: %u", bursts[i].what,
			     burst->least[burst->at]);
		cr_assert(burst->size == 0 && burst->left == 0 && burst->largest == 0, "it begins anew");
		rig_free(rig);
	}
}
