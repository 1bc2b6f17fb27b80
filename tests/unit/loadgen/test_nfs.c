/* The loads through libnfs against a NAS of this test: what arrives there, what is counted, what fails. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadgen/audit.h"
#include "loadgen/fileio.h"
#include "loadgen/syncwrite.h"
#include "loadgen/target.h"
#include "nas.h"

#define S 1000000000LL
#define BLOCK 4096u

struct bench {
	struct nas nas;
	char url[160];
	struct sl_load_result result;
	struct sl_err err;
};

static void bench_start(struct bench *bench, const char *file)
{
	*bench = (struct bench){0};
	nas_start(&bench->nas);
	nas_url(&bench->nas, file, bench->url, sizeof(bench->url));
	cr_assert_eq(sl_load_result_init(&bench->result), 0);
}

static void bench_stop(struct bench *bench)
{
	nas_stop(&bench->nas);
	sl_load_result_fini(&bench->result);
}

/* A read that the test waits for. */
struct waiting {
	struct sl_target_op op;
	bool done;
	int status;
	uint8_t bytes[2 * BLOCK];
};

static void waiting_done(struct sl_target_op *op, int status, const void *data)
{
	struct waiting *waiting = (struct waiting *)(void *)op;

	waiting->done = true;
	waiting->status = status;
	if (status > 0) {
		memcpy(waiting->bytes, data, (size_t)status);
	}
}

static void read_block(struct sl_target *target, struct nfsfh *fh, uint64_t at, struct waiting *ret)
{
	struct sl_err err = {0};

	*ret = (struct waiting){.op = {.done = waiting_done}};
	cr_assert_eq(sl_target_read(target, fh, at, BLOCK, &ret->op), 0);
	while (!ret->done) {
		cr_assert_eq(sl_target_poll(target, S, &err), 0, "%s", err.msg);
	}
}

Test(target, the_median_of_times_does_not_depend_on_their_order)
{
	int64_t odd[] = {9, 1, 8, 2, 3}, even[] = {40, 30, 20, 10}, one[] = {7};
	int64_t rising[] = {1, 2, 3, 4, 5, 6, 7}, falling[] = {7, 6, 5, 4, 3, 2, 1};

	cr_assert_eq(sl_target_median_ns(odd, 5), 3);
	cr_assert_eq(sl_target_median_ns(even, 4), 30);
	cr_assert_eq(sl_target_median_ns(one, 1), 7);
	cr_assert_eq(sl_target_median_ns(rising, 7), 4);
	cr_assert_eq(sl_target_median_ns(falling, 7), 4);
}

Test(target, the_file_is_the_url_s_or_has_the_loads_own_name)
{
	struct sl_target *target;
	struct bench bench;
	char url[160];

	bench_start(&bench, "disk.img");
	cr_assert_eq(sl_target_open(bench.url, false, 5 * S, &target, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_str_eq(sl_target_file(target), "/disk.img");
	sl_target_close(target);
	nas_url(&bench.nas, "", url, sizeof(url));
	cr_assert_eq(sl_target_open(url, false, 5 * S, &target, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_str_eq(sl_target_file(target), "/sloglab-load.dat");
	sl_target_close(target);
	bench_stop(&bench);
}

Test(target, a_file_is_made_sized_closed_and_removed)
{
	struct sl_target *target;
	struct bench bench;
	struct nfsfh *fh;
	uint64_t bytes = 0;
	int64_t null_ns = 0;

	bench_start(&bench, "f");
	cr_assert_eq(sl_target_open(bench.url, false, 5 * S, &target, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(sl_target_null_ns(target, 5, &null_ns, &bench.err), 0, "%s", bench.err.msg);
	cr_assert(null_ns > 0);
	cr_assert_eq(sl_target_open_file(target, "/f", O_RDWR, &fh, &bench.err), -ENOENT);
	cr_assert_not_null(strstr(bench.err.msg, "/f?nfsport="), "no URL: %s", bench.err.msg);
	cr_assert_not_null(strstr(bench.err.msg, ": cannot open /f: No such file"), "%s", bench.err.msg);
	cr_assert_eq(sl_target_open_file(target, "/f", O_RDWR | O_CREAT, &fh, &bench.err), 0);
	cr_assert_eq(sl_target_truncate(target, fh, 12345, &bench.err), 0);
	cr_assert_eq(sl_target_size(target, fh, &bytes, &bench.err), 0);
	cr_assert_eq(bytes, 12345u);
	cr_assert_eq(sl_target_close_file(target, fh, &bench.err), 0);
	cr_assert_eq(sl_target_remove(target, "/f", &bench.err), 0);
	cr_assert_eq(sl_target_remove(target, "/f", &bench.err), -ENOENT);
	cr_assert_not_null(strstr(bench.err.msg, ": cannot remove /f: "), "%s", bench.err.msg);
	/* A request that did less than it should have has no errno. */
	cr_assert_eq(sl_target_failed(target, "write", 0, &bench.err), -EIO);
	cr_assert_not_null(strstr(bench.err.msg, ": write: Input/output error ("), "%s", bench.err.msg);
	cr_assert_eq(sl_target_failed(target, "write", -ENOSPC, &bench.err), -ENOSPC);
	cr_assert_not_null(strstr(bench.err.msg, ": write: No space left on device ("), "%s", bench.err.msg);
	sl_target_close(target);
	bench_stop(&bench);
	/* 5 NULL calls were measured; libnfs sends more of them when it connects. */
	cr_assert(bench.nas.stats.calls >= 5);
}

Test(target, what_is_no_url_and_who_is_not_there_fail_in_one_line)
{
	struct sl_target *target;
	struct sl_err err = {0};

	cr_assert_eq(sl_target_open("http://127.0.0.1/x", false, S, &target, &err), -EINVAL);
	cr_assert_str_eq(err.msg, "\"http://127.0.0.1/x\": not a URL of the form nfs://SERVER/EXPORT/FILE");
	cr_assert_eq(sl_target_open("nfs://127.0.0.1", false, S, &target, &err), -EINVAL);
	cr_assert_not_null(strstr(err.msg, "use nfs://SERVER/EXPORT/FILE"), "%s", err.msg);
	cr_assert(sl_target_open("nfs://127.0.0.1/x?nfsport=1&mountport=1", false, S, &target, &err) < 0);
	cr_assert_not_null(strstr(err.msg, "cannot mount"), "%s", err.msg);
	cr_assert_null(strchr(err.msg, '\n'));
}

/* 10 writes in a file of 4 blocks: 0 1 2 3 0 1 2 3 0 1. */
Test(syncwrite, goes_through_the_file_and_begins_again_at_its_end)
{
	struct sl_syncwrite_config config = {
	    .block_bytes = BLOCK, .file_bytes = 4 * BLOCK, .data = 1, .depth = 1, .null_calls = 3};
	struct sl_target *target;
	struct waiting blocks[5];
	struct bench bench;
	struct nfsfh *fh;
	uint64_t bytes;

	bench_start(&bench, "disk");
	config.url = bench.url;
	config.limits.max_requests = 10;
	cr_assert_eq(sl_syncwrite_run(&config, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(bench.result.requests, 10u);
	cr_assert_eq(bench.result.ops[SL_LOAD_WRITE], 10u);
	cr_assert_eq(bench.result.bytes[SL_LOAD_WRITE], 40960u);
	cr_assert_eq(bench.result.latency.count, 10u);
	cr_assert(bench.result.null_ns > 0);
	cr_assert_eq(sl_target_open(bench.url, false, 5 * S, &target, &bench.err), 0);
	cr_assert_eq(sl_target_open_file(target, "/disk", O_RDONLY, &fh, &bench.err), 0);
	cr_assert_eq(sl_target_size(target, fh, &bytes, &bench.err), 0);
	cr_assert_eq(bytes, 4u * BLOCK, "no write extends the file");
	for (uint64_t i = 0; i < 5; i++) {
		read_block(target, fh, i * BLOCK, &blocks[i]);
		cr_assert_eq(blocks[i].status, i < 4 ? (int)BLOCK : 0, "block %d: %d", (int)i,
			     blocks[i].status);
		for (uint64_t other = 0; other < i && i < 4; other++) {
			cr_assert(memcmp(blocks[i].bytes, blocks[other].bytes, BLOCK) != 0, "all differ");
		}
	}
	cr_assert_eq(sl_target_close_file(target, fh, &bench.err), 0);
	sl_target_close(target);
	bench_stop(&bench);
	cr_assert_eq(bench.nas.stats.writes, 10u);
	cr_assert(bench.nas.stats.commits <= 1, "FILE_SYNC needs none but libnfs's own at the close");
}

Test(syncwrite, an_unstable_write_has_its_commit)
{
	struct sl_syncwrite_config config = {
	    .block_bytes = 512, .file_bytes = 1 << 20, .depth = 4, .unstable = true, .random = true};
	struct bench bench;

	bench_start(&bench, "disk");
	config.url = bench.url;
	config.limits.max_requests = 50;
	cr_assert_eq(sl_syncwrite_run(&config, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(bench.result.requests, 50u, "those in flight count to the limit");
	cr_assert_eq(bench.result.ops[SL_LOAD_WRITE], 50u);
	bench_stop(&bench);
	cr_assert_eq(bench.nas.stats.writes, 50u);
	/* The close may add one of libnfs's own. */
	cr_assert(bench.nas.stats.commits == 50 || bench.nas.stats.commits == 51);
}

Test(syncwrite, figures_out_of_range_are_refused)
{
	const struct sl_syncwrite_config good = {
	    .path = "/nowhere/disk", .block_bytes = 1, .file_bytes = 1, .depth = 1};
	struct sl_syncwrite_config config;
	struct sl_load_result result;
	struct sl_err err = {0};

	cr_assert_eq(sl_load_result_init(&result), 0);
	config = good;
	config.block_bytes = 0;
	cr_assert_eq(sl_syncwrite_run(&config, &result, &err), -EINVAL);
	config.block_bytes = (1 << 20) + 1;
	config.file_bytes = 1 << 21;
	cr_assert_eq(sl_syncwrite_run(&config, &result, &err), -EINVAL);
	config.block_bytes = 1 << 20;
	cr_assert_eq(sl_syncwrite_run(&config, &result, &err), -ENOENT, "1 MiB is right: %s", err.msg);
	config = good;
	config.file_bytes = 0;
	cr_assert_eq(sl_syncwrite_run(&config, &result, &err), -EINVAL);
	config = good;
	cr_assert_eq(sl_syncwrite_run(&config, &result, &err), -ENOENT, "one block is right: %s", err.msg);
	for (uint32_t depth = 0; depth <= 1025; depth += 1025) {
		config = good;
		config.depth = depth;
		cr_assert_eq(sl_syncwrite_run(&config, &result, &err), -EINVAL, "depth %u", depth);
		cr_assert_str_eq(err.msg, "depth must be 1 to 1024");
	}
	config.depth = 1024;
	cr_assert_eq(sl_syncwrite_run(&config, &result, &err), -ENOENT);
	sl_load_result_fini(&result);
}

static struct sl_fileio_load fileio_of(const struct bench *bench, unsigned stages)
{
	return (struct sl_fileio_load){.url = bench->url,
				       .stages = stages,
				       .source = {.mode = SL_FILEIO_SEQWR,
						  .files = 2,
						  .file_bytes = 4 * BLOCK,
						  .block_bytes = BLOCK,
						  .fsync_every = 4},
				       .threads = 2,
				       .depth = 2,
				       .limits = {.time_ns = 60 * S},
				       .unstable = true,
				       .verify = true,
				       .fsync_end = true};
}

/* One pass over 2 files of 4 blocks: 8 writes; after 4 and after 8 of them both files are synced. */
Test(fileio, one_pass_writes_each_block_once_and_syncs_every_file)
{
	const unsigned all = SL_LOAD_PREPARE | SL_LOAD_RUN | SL_LOAD_CLEANUP;
	struct sl_fileio_load load;
	struct bench bench;

	bench_start(&bench, "");
	load = fileio_of(&bench, all);
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(bench.result.requests, 8u);
	cr_assert_eq(bench.result.ops[SL_LOAD_WRITE], 8u);
	cr_assert_eq(bench.result.bytes[SL_LOAD_WRITE], 8u * BLOCK);
	cr_assert_eq(bench.result.ops[SL_LOAD_READ], 0u);
	cr_assert_eq(bench.result.ops[SL_LOAD_OTHER], 4u);
	load.stages = SL_LOAD_RUN;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -ENOENT, "they were removed");
	cr_assert_not_null(strstr(bench.err.msg, "run \"prepare\" first"), "%s", bench.err.msg);
	bench_stop(&bench);
	cr_assert_eq(bench.nas.stats.writes, 8u);
}

Test(fileio, stages_work_alone_and_too_small_files_are_refused)
{
	struct sl_fileio_load load;
	struct bench bench;

	bench_start(&bench, "");
	load = fileio_of(&bench, SL_LOAD_PREPARE);
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(bench.result.requests, 0u);
	load.stages = SL_LOAD_RUN;
	load.source.file_bytes = 4 * BLOCK + 1;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), -EINVAL);
	cr_assert_not_null(strstr(bench.err.msg, "test_file.0: smaller than 16385 bytes"), "%s",
			   bench.err.msg);
	/* 20 requests of the mixed mode are 12 reads and 8 writes; reads of what was written are verified. */
	load.source.file_bytes = 4 * BLOCK;
	load.source.mode = SL_FILEIO_RNDRW;
	load.source.max_requests = 20;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(bench.result.ops[SL_LOAD_READ], 12u);
	cr_assert_eq(bench.result.ops[SL_LOAD_WRITE], 8u);
	cr_assert_eq(bench.result.requests, 20u);
	load.stages = SL_LOAD_CLEANUP;
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(sl_fileio_load_run(&load, &bench.result, &bench.err), 0, "gone is as good as removed");
	bench_stop(&bench);
}

Test(audit, keeps_records_on_the_nas_and_finds_them)
{
	char acks[] = "/tmp/sloglab-unit-acks-XXXXXX";
	struct sl_audit_verdict verdict = {0};
	struct sl_audit_config config = {.record_bytes = 512, .threads = 2};
	struct sl_syncwrite_config other = {.block_bytes = BLOCK, .file_bytes = BLOCK, .data = 1, .depth = 1};
	struct bench bench;
	int fd = mkstemp(acks);

	cr_assert(fd >= 0);
	close(fd);
	bench_start(&bench, "records");
	config.target.url = bench.url;
	config.acks = acks;
	config.limits.max_requests = 20;
	cr_assert_eq(sl_audit_run(&config, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(bench.result.requests, 20u);
	cr_assert_eq(sl_audit_verify(&config.target, acks, &verdict, &bench.err), 0, "%s", bench.err.msg);
	cr_assert(verdict.acknowledged >= 20 && verdict.lost == 0 && verdict.torn == 0);
	cr_assert_eq(unlink(acks), 0);
	/* Something else is not overwritten. */
	other.url = bench.url;
	other.limits.max_requests = 1;
	cr_assert_eq(sl_syncwrite_run(&other, &bench.result, &bench.err), 0, "%s", bench.err.msg);
	cr_assert_eq(sl_audit_run(&config, &bench.result, &bench.err), -EEXIST, "%s", bench.err.msg);
	bench_stop(&bench);
}
