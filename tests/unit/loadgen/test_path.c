/* The loads on a local file or folder: what is written where, what is counted, what is refused. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadgen/fileio.h"
#include "loadgen/syncwrite.h"

#define BLOCK 4096u

/* The linker puts this in the place of fsync (--wrap): a disk that fails when the test wants it to. */
static bool disk_fails;

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	if (disk_fails) {
		errno = EIO;
		return -1;
	}
	return __real_fsync(fd);
}

struct bench {
	char dir[64], file[80]; /* a scratch folder, a file in it */
	struct sl_load_result result;
	struct sl_err err;
};

static void bench_start(struct bench *bench)
{
	*bench = (struct bench){.dir = "/tmp/sloglab-unit-path-XXXXXX"};
	cr_assert_not_null(mkdtemp(bench->dir));
	(void)snprintf(bench->file, sizeof(bench->file), "%s/disk", bench->dir);
	cr_assert_eq(sl_load_result_init(&bench->result), 0);
}

/* Nothing else is left in the folder. */
static void bench_stop(struct bench *bench)
{
	(void)unlink(bench->file);
	cr_assert_eq(rmdir(bench->dir), 0, "files are left in %s", bench->dir);
	sl_load_result_fini(&bench->result);
}

static struct sl_syncwrite_config syncwrite_of(const struct bench *bench, uint64_t requests)
{
	return (struct sl_syncwrite_config){.path = bench->file,
					    .block_bytes = BLOCK,
					    .file_bytes = 4 * BLOCK,
					    .data = 1,
					    .depth = 1,
					    .limits = {.max_requests = requests}};
}

static bool block_is_empty(int fd, uint64_t number)
{
	static const uint8_t zeroes[BLOCK];
	uint8_t block[BLOCK];

	cr_assert_eq(pread(fd, block, BLOCK, (off_t)(number * BLOCK)), (ssize_t)BLOCK);
	return memcmp(block, zeroes, BLOCK) == 0;
}

/* With one thread nothing is in flight beyond the third write: blocks 0, 1 and 2. */
Test(syncwrite_path, writes_block_after_block_of_a_file_that_has_its_size)
{
	struct sl_syncwrite_config config;
	struct bench bench;
	struct stat st;
	int fd;

	bench_start(&bench);
	config = syncwrite_of(&bench, 3);
	cr_assert_eq(sl_syncwrite_run(&config, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(bench.result.requests, 3u);
	cr_assert_eq(bench.result.ops[SL_LOAD_WRITE], 3u);
	cr_assert_eq(bench.result.bytes[SL_LOAD_WRITE], 3u * BLOCK);
	fd = open(bench.file, O_RDONLY);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(st.st_size, 4 * (off_t)BLOCK);
	cr_assert_not(block_is_empty(fd, 0) || block_is_empty(fd, 1) || block_is_empty(fd, 2));
	cr_assert(block_is_empty(fd, 3), "the file was written beyond the third request");
	close(fd);
	/* The fourth follows only in a run that is long enough; the fifth is block 0 again. */
	config.limits.max_requests = 5;
	sl_load_result_fini(&bench.result);
	cr_assert_eq(sl_load_result_init(&bench.result), 0);
	cr_assert_eq(truncate(bench.file, 0), 0);
	cr_assert_eq(sl_syncwrite_run(&config, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	fd = open(bench.file, O_RDONLY);
	cr_assert_not(block_is_empty(fd, 3));
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(st.st_size, 4 * (off_t)BLOCK, "no write extends the file");
	close(fd);
	bench_stop(&bench);
}

Test(syncwrite_path, a_larger_file_keeps_its_size_and_random_blocks_stay_below_the_given_one)
{
	struct sl_syncwrite_config config;
	struct bench bench;
	struct stat st;
	int fd;

	bench_start(&bench);
	fd = open(bench.file, O_RDWR | O_CREAT, 0600);
	cr_assert_eq(ftruncate(fd, 6 * BLOCK), 0);
	config = syncwrite_of(&bench, 200);
	config.random = config.unstable = true;
	config.depth = 3;
	cr_assert_eq(sl_syncwrite_run(&config, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(bench.result.requests, 200u);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(st.st_size, 6 * (off_t)BLOCK);
	for (uint64_t i = 0; i < 4; i++) {
		cr_assert_not(block_is_empty(fd, i), "200 random writes left out block %d", (int)i);
	}
	cr_assert(block_is_empty(fd, 4) && block_is_empty(fd, 5));
	close(fd);
	bench_stop(&bench);
}

/* A service may start a program with its standard input closed: the next file is number 0. */
Test(syncwrite_path, a_file_that_is_descriptor_0_is_closed_too)
{
	struct sl_syncwrite_config config;
	struct bench bench;

	bench_start(&bench);
	(void)close(STDIN_FILENO);
	config = syncwrite_of(&bench, 1);
	cr_assert_eq(sl_syncwrite_run(&config, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	cr_assert_eq(errno, EBADF);
	bench_stop(&bench);
}

Test(syncwrite_path, what_cannot_be_opened_or_written_is_named)
{
	struct sl_syncwrite_config config;
	struct bench bench;

	bench_start(&bench);
	config = syncwrite_of(&bench, 1);
	config.path = bench.dir;
	cr_assert_eq(sl_syncwrite_run(&config, &bench.result, &bench.err), -EISDIR);
	cr_assert_not_null(strstr(bench.err.msg, bench.dir), "%s", bench.err.msg);
	config.path = "/dev/full";
	cr_assert(sl_syncwrite_run(&config, &bench.result, &bench.err) < 0);
	cr_assert_not_null(strstr(bench.err.msg, "/dev/full: "), "%s", bench.err.msg);
	bench_stop(&bench);
}

static struct sl_fileio_load fileio_of(const struct bench *bench, unsigned stages)
{
	return (struct sl_fileio_load){.path = bench->dir,
				       .stages = stages,
				       .source = {.mode = SL_FILEIO_SEQWR,
						  .files = 2,
						  .file_bytes = 4 * BLOCK,
						  .block_bytes = BLOCK,
						  .fsync_every = 4},
				       .threads = 1,
				       .depth = 1,
				       .limits = {.time_ns = 60000000000},
				       .unstable = true,
				       .data = 1,
				       .fsync_end = true};
}

Test(fileio_path, prepared_files_are_full_of_data_and_all_differ)
{
	struct sl_fileio_load load;
	uint8_t blocks[2][BLOCK];
	struct bench bench;
	struct stat st;
	char name[96];

	bench_start(&bench);
	load = fileio_of(&bench, SL_LOAD_PREPARE);
	load.source.file_bytes = (1 << 20) + 3 * BLOCK; /* more than one piece */
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	for (int i = 0; i < 2; i++) {
		int fd;

		(void)snprintf(name, sizeof(name), "%s/test_file.%d", bench.dir, i);
		fd = open(name, O_RDONLY);
		cr_assert_eq(fstat(fd, &st), 0);
		cr_assert_eq(st.st_size, (1 << 20) + 3 * (off_t)BLOCK);
		cr_assert_not(block_is_empty(fd, 0) || block_is_empty(fd, 255) || block_is_empty(fd, 256) ||
			      block_is_empty(fd, 258));
		cr_assert_eq(pread(fd, blocks[i], BLOCK, 0), (ssize_t)BLOCK);
		close(fd);
	}
	cr_assert(memcmp(blocks[0], blocks[1], BLOCK) != 0);
	load.stages = SL_LOAD_CLEANUP;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	bench_stop(&bench);
}

/* 8 blocks: 8 writes, and after 4 and 8 of them both files are synced. */
Test(fileio_path, one_pass_writes_each_block_once_and_syncs_every_file)
{
	struct sl_fileio_load load;
	struct bench bench;

	bench_start(&bench);
	load = fileio_of(&bench, SL_LOAD_PREPARE | SL_LOAD_RUN | SL_LOAD_CLEANUP);
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(bench.result.requests, 8u);
	cr_assert_eq(bench.result.ops[SL_LOAD_WRITE], 8u);
	cr_assert_eq(bench.result.ops[SL_LOAD_OTHER], 4u);
	cr_assert_eq(bench.result.bytes[SL_LOAD_WRITE], 8u * BLOCK);
	cr_assert_eq(bench.result.bytes[SL_LOAD_OTHER], 0u);
	bench_stop(&bench);
}

/* Without rounds of their own both files are synced once, at the end; what is O_DSYNC needs no sync. */
Test(fileio_path, all_files_are_synced_at_the_end_where_something_is_unstable)
{
	static const struct {
		bool unstable, fsync_end;
		uint64_t syncs;
	} cases[] = {{true, true, 2}, {true, false, 0}, {false, true, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_fileio_load load;
		struct bench bench;

		bench_start(&bench);
		load = fileio_of(&bench, SL_LOAD_PREPARE | SL_LOAD_RUN | SL_LOAD_CLEANUP);
		load.source.fsync_every = 0;
		load.unstable = cases[i].unstable;
		load.fsync_end = cases[i].fsync_end;
		cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
		cr_assert_eq(bench.result.ops[SL_LOAD_OTHER], cases[i].syncs, "case %zu: %d", i,
			     (int)bench.result.ops[SL_LOAD_OTHER]);
		bench_stop(&bench);
	}
}

Test(fileio_path, mixed_requests_are_three_reads_to_two_writes_and_find_what_was_written)
{
	struct sl_fileio_load load;
	struct bench bench;

	bench_start(&bench);
	load = fileio_of(&bench, SL_LOAD_PREPARE | SL_LOAD_RUN | SL_LOAD_CLEANUP);
	load.source.mode = SL_FILEIO_RNDRW;
	load.source.fsync_every = 0;
	load.source.max_requests = 200;
	load.verify = true;
	load.threads = 2;
	load.depth = 2;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(bench.result.ops[SL_LOAD_READ], 120u);
	cr_assert_eq(bench.result.ops[SL_LOAD_WRITE], 80u);
	cr_assert_eq(bench.result.bytes[SL_LOAD_READ], 120u * BLOCK);
	bench_stop(&bench);
}

Test(fileio_path, files_that_are_missing_or_too_small_are_named_with_the_remedy)
{
	struct sl_fileio_load load;
	struct bench bench;

	bench_start(&bench);
	load = fileio_of(&bench, SL_LOAD_RUN);
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -ENOENT);
	cr_assert_not_null(strstr(bench.err.msg, "run \"prepare\" first"), "%s", bench.err.msg);
	load.stages = SL_LOAD_PREPARE;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	load.stages = SL_LOAD_RUN;
	load.source.file_bytes += 1;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EINVAL);
	cr_assert_str_eq(bench.err.msg,
			 "test_file.0: smaller than 16385 bytes; run \"prepare\" with these sizes");
	load.stages = SL_LOAD_CLEANUP;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	bench_stop(&bench);
}

Test(fileio_path, figures_out_of_range_are_refused)
{
	struct sl_fileio_load load;
	struct bench bench;

	bench_start(&bench);
	load = fileio_of(&bench, SL_LOAD_RUN);
	load.source.block_bytes = 0;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EINVAL);
	load.source.block_bytes = (1 << 20) + 1;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EINVAL);
	load = fileio_of(&bench, SL_LOAD_RUN);
	load.source.files = 0;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EINVAL);
	load.source.files = 4097;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EINVAL);
	load = fileio_of(&bench, SL_LOAD_RUN);
	load.source.file_bytes = BLOCK - 1;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EINVAL);
	load.source.file_bytes = BLOCK;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -ENOENT, "one block is right");
	load.threads = 32;
	load.depth = 33;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EINVAL);
	cr_assert_str_eq(bench.err.msg, "threads x depth must be 1 to 1024");
	load.depth = 32;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -ENOENT, "1024 is right");
	load.depth = 0;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EINVAL);
	load = fileio_of(&bench, SL_LOAD_RUN);
	load.limits.time_ns = 0;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EINVAL, "nothing limits it");
	bench_stop(&bench);
}

/* What was not synced is not on the disk, whether it is noticed in a round or at the end. */
Test(fileio_path, a_sync_that_fails_fails_the_load)
{
	for (uint32_t every = 0; every <= 4; every += 4) {
		struct sl_fileio_load load;
		struct bench bench;

		bench_start(&bench);
		load = fileio_of(&bench, SL_LOAD_PREPARE);
		load.source.fsync_every = every;
		cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
		disk_fails = true;
		load.stages = SL_LOAD_RUN;
		cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EIO, "every %u", every);
		cr_assert_not_null(strstr(bench.err.msg, "/test_file.0: fsync: Input/output error"), "%s",
				   bench.err.msg);
		load.stages = SL_LOAD_CLEANUP;
		cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
		load.stages = SL_LOAD_PREPARE;
		cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EIO);
		disk_fails = false;
		load.stages = SL_LOAD_CLEANUP;
		cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
		bench_stop(&bench);
	}
}
