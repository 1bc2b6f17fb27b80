/* The request stream of sysbench 0.4 fileio: rounds, alternation, modes, the end. */
#include <criterion/criterion.h>

#include "sim/workload/fileio.h"

static const struct sl_fileio_config usual = {.mode = SL_FILEIO_RNDWR,
					      .files = 128,
					      .file_bytes = 16 << 20,
					      .block_bytes = 16384,
					      .fsync_every = 100,
					      .max_requests = 10000};

/* The next `n` operations as letters. */
static const char *letters(struct sl_fileio *io, char *buf, int n)
{
	static const char names[] = {
	    [SL_FILEIO_READ] = 'R', [SL_FILEIO_WRITE] = 'W', [SL_FILEIO_FSYNC] = 'F', [SL_FILEIO_END] = '.'};

	for (int i = 0; i < n; i++) {
		struct sl_fileio_request request;

		sl_fileio_next(io, &request);
		buf[i] = names[request.op];
	}
	buf[n] = '\0';
	return buf;
}

Test(fileio, a_round_is_100_requests_then_an_fsync_of_all_128_files_and_10000_requests_are_all)
{
	struct sl_fileio_request request;
	struct sl_fileio io;

	sl_fileio_init(&io, &usual, 1);
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 100; i++) {
			sl_fileio_next(&io, &request);
			cr_assert_eq(request.op, SL_FILEIO_WRITE, "round %d, request %d", round, i);
			cr_assert(request.file < 128);
			cr_assert_eq(request.offset_bytes % 16384, 0);
			cr_assert(request.offset_bytes < 16 << 20);
		}
		for (uint32_t i = 0; i < 128; i++) {
			sl_fileio_next(&io, &request);
			cr_assert_eq(request.op, SL_FILEIO_FSYNC, "round %d, sync %u", round, i);
			cr_assert_eq(request.file, i);
		}
	}
	cr_assert_eq(io.requests, 10000);
	for (int i = 0; i < 3; i++) {
		sl_fileio_next(&io, &request);
		cr_assert_eq(request.op, SL_FILEIO_END);
	}
}

Test(fileio, rndrw_settles_into_three_reads_and_two_writes)
{
	struct sl_fileio_config config = usual;
	struct sl_fileio io;
	char buf[128];

	/* Read while (reads + 1) / (writes + 1) < 1.5. */
	config.mode = SL_FILEIO_RNDRW;
	sl_fileio_init(&io, &config, 1);
	cr_assert_str_eq(letters(&io, buf, 2 + 20), "RW"
						    "RWRRW"
						    "RWRRW"
						    "RWRRW"
						    "RWRRW");
	letters(&io, buf, 78);
	cr_assert_eq(io.reads, 60);
	cr_assert_eq(io.writes, 40);
	cr_assert_str_eq(letters(&io, buf, 3), "FFF");
}

Test(fileio, reads_alone_are_never_synced)
{
	struct sl_fileio_config config = usual;
	struct sl_fileio io;
	char buf[256];

	config.mode = SL_FILEIO_RNDRD;
	config.max_requests = 250;
	sl_fileio_init(&io, &config, 1);
	letters(&io, buf, 251);
	cr_assert_eq(strspn(buf, "R"), 250);
	cr_assert_eq(buf[250], '.');
}

Test(fileio, the_sequential_modes_walk_through_all_files_once)
{
	static const enum sl_fileio_mode modes[] = {SL_FILEIO_SEQWR, SL_FILEIO_SEQRD};
	static const enum sl_fileio_op ops[] = {SL_FILEIO_WRITE, SL_FILEIO_READ};

	for (int m = 0; m < 2; m++) {
		struct sl_fileio_config config = {
		    .mode = modes[m], .files = 2, .file_bytes = 65536, .block_bytes = 16384};
		struct sl_fileio_request request;
		struct sl_fileio io;

		sl_fileio_init(&io, &config, 1);
		for (uint32_t i = 0; i < 8; i++) {
			sl_fileio_next(&io, &request);
			cr_assert_eq(request.op, ops[m]);
			cr_assert_eq(request.file, i / 4);
			cr_assert_eq(request.offset_bytes, i % 4 * 16384);
		}
		sl_fileio_next(&io, &request);
		cr_assert_eq(request.op, SL_FILEIO_END);
	}
}

Test(fileio, a_file_s_tail_shorter_than_a_block_is_left_out)
{
	struct sl_fileio_config config = {
	    .mode = SL_FILEIO_SEQWR, .files = 2, .file_bytes = 40000, .block_bytes = 16384};
	struct sl_fileio io;
	char buf[8];

	sl_fileio_init(&io, &config, 1);
	cr_assert_str_eq(letters(&io, buf, 5), "WWWW.");
}

Test(fileio, the_offsets_are_those_of_the_seed)
{
	struct sl_fileio a, b, other;
	int differences = 0;

	sl_fileio_init(&a, &usual, 7);
	sl_fileio_init(&b, &usual, 7);
	sl_fileio_init(&other, &usual, 8);
	for (int i = 0; i < 100; i++) {
		struct sl_fileio_request ra, rb, ro;

		sl_fileio_next(&a, &ra);
		sl_fileio_next(&b, &rb);
		sl_fileio_next(&other, &ro);
		cr_assert(ra.file == rb.file && ra.offset_bytes == rb.offset_bytes);
		differences += ra.file != ro.file || ra.offset_bytes != ro.offset_bytes;
	}
	cr_assert(differences > 90);
}

Test(fileio, the_last_sync_comes_with_the_last_request_or_also_when_time_is_up)
{
	static const enum sl_fileio_end ends[] = {SL_FILEIO_END_NEVER, SL_FILEIO_END_AFTER_REQUESTS,
						  SL_FILEIO_END_ALWAYS};
	static const char *const by_requests[] = {"WWWWW..", "WWWWWFF", "WWWWWFF"};
	static const char *const by_time[] = {"WW..", "WW..", "WWFF"};

	for (int i = 0; i < 3; i++) {
		struct sl_fileio_config config = usual;
		struct sl_fileio io;
		char buf[16];

		config.files = 2;
		config.fsync_every = 0;
		config.max_requests = 5;
		config.fsync_end = ends[i];
		sl_fileio_init(&io, &config, 1);
		cr_assert_str_eq(letters(&io, buf, 7), by_requests[i]);
		cr_assert_str_eq(letters(&io, buf, 1), ".");
		sl_fileio_init(&io, &config, 1);
		letters(&io, buf, 2);
		sl_fileio_end(&io);
		cr_assert_str_eq(letters(&io, buf + 2, 2), by_time[i] + 2);
		cr_assert_str_eq(letters(&io, buf, 1), ".");
	}
}
