/* The disk test's two kinds of disk: a file, and an export of the disk server in a thread of this test. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadgen/real_disk.h"
#include "sim/disks/disks.h"

#define MS 1000000
#define US 1000
#define SIZE (INT64_C(8) << 20)

/* A scratch folder, and a disk server in it when server_start was called. */
struct bench {
	char dir[64], file[80], socket[80], uri[128];
	struct sl_loop *loop;
	struct sl_disks *disks;
	struct sl_io stop;
	pthread_t thread;
	struct sl_real_disk_options options;
	struct sl_real_disk *disk;
	struct sl_err err;
};

static void bench_open(struct bench *bench)
{
	*bench = (struct bench){.dir = "/tmp/sloglab-unit-real-XXXXXX",
				.options = {.size_bytes = SIZE, .time_ns = 20 * MS}};
	cr_assert_not_null(mkdtemp(bench->dir));
	(void)snprintf(bench->file, sizeof(bench->file), "%s/disk", bench->dir);
	(void)snprintf(bench->socket, sizeof(bench->socket), "%s/nbd", bench->dir);
	(void)snprintf(bench->uri, sizeof(bench->uri), "nbd+unix:///log?socket=%s", bench->socket);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static void bench_close(struct bench *bench)
{
	sl_real_disk_close(bench->disk);
	cr_assert_eq(nftw(bench->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void stop_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	(void)events;
	(void)now_ns;
	sl_loop_stop(sl_container_of(io, struct bench, stop)->loop);
}

static void *server_main(void *arg)
{
	struct bench *bench = arg;
	struct sl_err err = {0};

	cr_assert_eq(sl_loop_run(bench->loop, &err), 0, "%s", err.msg);
	return NULL;
}

/* An SSD of 64 MiB whose writes take 100 us and whose flushes take 1 ms. */
static void server_start(struct bench *bench)
{
	static const struct sl_dev_spec spec = {.name = "s",
						.kind = SL_DEV_SSD,
						.capacity_bytes = 64 << 20,
						.link_bps = 1e11,
						.read_ns = 100 * US,
						.write_ns = 100 * US,
						.read_bps = 1e11,
						.ssd_write_bps = 1e11,
						.buffer_bytes = 1e7,
						.flush_ns = 1 * MS};
	const struct sl_disks_disk disk = {.name = "log", .spec = &spec};
	struct sl_disks_config config = {
	    .disks = &disk, .n_disks = 1, .dir = bench->dir, .socket = bench->socket, .dilate = 1, .seed = 1};

	bench->loop = sl_loop_new_wall(&bench->err);
	config.loop = bench->loop;
	cr_assert_eq(sl_disks_new(&config, &bench->disks, &bench->err), 0, "%s", bench->err.msg);
	bench->stop = (struct sl_io){.fd = eventfd(0, EFD_CLOEXEC), .events = EPOLLIN, .fire = stop_fire};
	cr_assert_eq(sl_loop_io_add(bench->loop, &bench->stop, &bench->err), 0);
	cr_assert_eq(pthread_create(&bench->thread, NULL, server_main, bench), 0);
}

static void server_stop(struct bench *bench)
{
	uint64_t one = 1;

	cr_assert_eq(write(bench->stop.fd, &one, sizeof(one)), (ssize_t)sizeof(one));
	cr_assert_eq(pthread_join(bench->thread, NULL), 0);
	sl_loop_io_del(bench->loop, &bench->stop);
	close(bench->stop.fd);
	cr_assert_eq(sl_disks_free(bench->disks, &bench->err), 0, "%s", bench->err.msg);
	sl_loop_free(bench->loop);
}

Test(real_file, a_new_file_is_filled_measured_and_removed)
{
	double sync_ns = 0, iops = 0;
	struct bench bench;
	struct stat st;

	bench_open(&bench);
	cr_assert_eq(sl_real_file_open(bench.file, &bench.options, &bench.disk, &bench.err), 0, "%s",
		     bench.err.msg);
	cr_assert_eq(stat(bench.file, &st), 0);
	cr_assert_eq(st.st_size, SIZE);
	cr_assert_eq(st.st_blocks * 512, SIZE, "no holes");
	cr_assert_eq(sl_real_disk_bytes(bench.disk), SIZE);
	cr_assert_eq(sl_real_disk_sync(bench.disk, 4096, &sync_ns, &bench.err), 0, "%s", bench.err.msg);
	cr_assert(sync_ns > 0);
	cr_assert_eq(sl_real_disk_iops(bench.disk, false, 4096, 4, &iops, &bench.err), 0, "%s",
		     bench.err.msg);
	cr_assert(iops > 0);
	cr_assert_eq(sl_real_disk_iops(bench.disk, true, 4096, 4, &iops, &bench.err), 0, "%s", bench.err.msg);
	cr_assert(iops > 0);
	sl_real_disk_close(bench.disk);
	bench.disk = NULL;
	cr_assert_eq(access(bench.file, F_OK), -1);
	bench_close(&bench);
}

Test(real_file, what_exists_is_overwritten_only_when_it_may_be)
{
	struct bench bench;
	int fd;

	bench_open(&bench);
	fd = open(bench.file, O_RDWR | O_CREAT, 0600);
	cr_assert_eq(ftruncate(fd, 2 * SIZE), 0);
	close(fd);
	cr_assert_eq(sl_real_file_open(bench.file, &bench.options, &bench.disk, &bench.err), -EEXIST);
	cr_assert_not_null(strstr(bench.err.msg, "add --yes-destroy-data"), "%s", bench.err.msg);
	bench.options.destroy_ok = true;
	cr_assert_eq(sl_real_file_open(bench.file, &bench.options, &bench.disk, &bench.err), 0, "%s",
		     bench.err.msg);
	cr_assert_eq(sl_real_disk_bytes(bench.disk), 2 * SIZE, "the range is half of it");
	sl_real_disk_close(bench.disk);
	bench.disk = NULL;
	cr_assert_eq(access(bench.file, F_OK), 0, "it was there before");
	cr_assert_eq(sl_real_file_open(bench.dir, &bench.options, &bench.disk, &bench.err), -EINVAL);
	cr_assert_not_null(strstr(bench.err.msg, "neither a file nor a block device"), "%s", bench.err.msg);
	bench_close(&bench);
}

Test(real_file, the_range_is_from_8_mib_to_the_size_of_the_disk)
{
	struct bench bench;
	int fd;

	bench_open(&bench);
	bench.options.destroy_ok = true;
	fd = open(bench.file, O_RDWR | O_CREAT, 0600);
	cr_assert_eq(ftruncate(fd, SIZE), 0);
	bench.options.size_bytes = SIZE + 1;
	cr_assert_eq(sl_real_file_open(bench.file, &bench.options, &bench.disk, &bench.err), -EINVAL);
	bench.options.size_bytes = SIZE - 1;
	cr_assert_eq(sl_real_file_open(bench.file, &bench.options, &bench.disk, &bench.err), -EINVAL);
	bench.options.size_bytes = 0; /* all of it */
	cr_assert_eq(sl_real_file_open(bench.file, &bench.options, &bench.disk, &bench.err), 0, "%s",
		     bench.err.msg);
	sl_real_disk_close(bench.disk);
	bench.disk = NULL;
	cr_assert_eq(ftruncate(fd, SIZE - 1), 0);
	cr_assert_eq(sl_real_file_open(bench.file, &bench.options, &bench.disk, &bench.err), -EINVAL);
	close(fd);
	bench_close(&bench);
}

Test(real_file, sizes_and_depths_out_of_range_are_refused)
{
	static const struct {
		int64_t bytes;
		int depth, rc;
	} cases[] = {{511, 1, -EINVAL},   {SIZE + 1, 1, -EINVAL}, {4096, 0, -EINVAL},
		     {4096, 65, -EINVAL}, {4096, 64, 0},          {4096, 1, 0}};
	struct bench bench;
	double ret;

	bench_open(&bench);
	bench.options.time_ns = MS;
	cr_assert_eq(sl_real_file_open(bench.file, &bench.options, &bench.disk, &bench.err), 0, "%s",
		     bench.err.msg);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(
		    sl_real_disk_iops(bench.disk, true, cases[i].bytes, cases[i].depth, &ret, &bench.err),
		    cases[i].rc, "case %zu: %s", i, bench.err.msg);
	}
	cr_assert_eq(sl_real_disk_sync(bench.disk, 0, &ret, &bench.err), -EINVAL);
	cr_assert_eq(sl_real_disk_sync(bench.disk, SIZE + 1, &ret, &bench.err), -EINVAL);
	cr_assert_eq(sl_real_disk_sync(bench.disk, SIZE, &ret, &bench.err), 0, "%s", bench.err.msg);
	bench_close(&bench);
}

static bool always(void)
{
	return true;
}

Test(real_file, a_user_who_stops_it_is_heard_and_nothing_is_left)
{
	struct bench bench;

	bench_open(&bench);
	bench.options.stopped = always;
	cr_assert_eq(sl_real_file_open(bench.file, &bench.options, &bench.disk, &bench.err), -EINTR);
	cr_assert_eq(access(bench.file, F_OK), -1);
	bench_close(&bench);
}

/* Each write waits for its flush: 1.1 ms at least. */
Test(real_nbd, a_sync_takes_the_write_and_the_flush_of_the_export)
{
	double sync_ns = 0;
	struct bench bench;

	bench_open(&bench);
	server_start(&bench);
	cr_assert_eq(sl_real_nbd_open(bench.uri, &bench.options, &bench.disk, &bench.err), -EPERM);
	cr_assert_not_null(strstr(bench.err.msg, "add --yes-destroy-data"), "%s", bench.err.msg);
	bench.options.destroy_ok = true;
	cr_assert_eq(sl_real_nbd_open(bench.uri, &bench.options, &bench.disk, &bench.err), 0, "%s",
		     bench.err.msg);
	cr_assert_eq(sl_real_disk_bytes(bench.disk), 64 << 20);
	cr_assert_str_eq(sl_real_disk_note(bench.disk), "", "the export has a flush");
	cr_assert_eq(sl_real_disk_sync(bench.disk, 4096, &sync_ns, &bench.err), 0, "%s", bench.err.msg);
	cr_assert(sync_ns >= 1100 * US, "%g ns", sync_ns);
	sl_real_disk_close(bench.disk);
	bench.disk = NULL;
	server_stop(&bench);
	bench_close(&bench);
}

/* Of 100 us each, one at a time, no more than 10,000 a second can be done; the measurement outlasts many
 * requests, none of which may be given up. */
Test(real_nbd, requests_keep_going_as_long_as_each_is_answered)
{
	double iops = 0;
	struct bench bench;

	bench_open(&bench);
	server_start(&bench);
	bench.options.destroy_ok = true;
	bench.options.time_ns = 50 * MS;
	cr_assert_eq(sl_real_nbd_open(bench.uri, &bench.options, &bench.disk, &bench.err), 0, "%s",
		     bench.err.msg);
	for (int write = 0; write < 2; write++) {
		cr_assert_eq(sl_real_disk_iops(bench.disk, write == 1, 4096, 1, &iops, &bench.err), 0, "%s",
			     bench.err.msg);
		cr_assert(iops > 0 && iops <= 10000, "%g a second", iops);
		cr_assert_eq(sl_real_disk_iops(bench.disk, write == 1, 4096, 64, &iops, &bench.err), 0, "%s",
			     bench.err.msg);
		cr_assert(iops > 0);
	}
	sl_real_disk_close(bench.disk);
	bench.disk = NULL;
	server_stop(&bench);
	bench_close(&bench);
}

Test(real_nbd, nobody_there_and_a_server_that_goes_are_failures)
{
	double sync_ns;
	struct bench bench;

	bench_open(&bench);
	bench.options.destroy_ok = true;
	cr_assert(sl_real_nbd_open(bench.uri, &bench.options, &bench.disk, &bench.err) < 0);
	cr_assert_not_null(strstr(bench.err.msg, bench.uri), "%s", bench.err.msg);
	server_start(&bench);
	cr_assert_eq(sl_real_nbd_open(bench.uri, &bench.options, &bench.disk, &bench.err), 0, "%s",
		     bench.err.msg);
	server_stop(&bench);
	cr_assert(sl_real_disk_sync(bench.disk, 4096, &sync_ns, &bench.err) < 0);
	cr_assert_not_null(strstr(bench.err.msg, bench.uri), "%s", bench.err.msg);
	bench_close(&bench);
}
