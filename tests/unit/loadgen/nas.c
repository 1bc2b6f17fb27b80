#include "nas.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void stop_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	(void)events;
	(void)now_ns;
	sl_loop_stop(sl_container_of(io, struct nas, stop)->loop);
}

static void *nas_main(void *arg)
{
	struct nas *nas = arg;
	struct sl_err err = {0};

	cr_assert_eq(sl_loop_run(nas->loop, &err), 0, "%s", err.msg);
	return NULL;
}

void nas_start(struct nas *nas)
{
	struct sl_datastore_config config = {0};
	struct sl_err err = {0};

	*nas = (struct nas){.dir = "/tmp/sloglab-unit-nas-XXXXXX"};
	cr_assert_not_null(mkdtemp(nas->dir));
	nas->loop = sl_loop_new_wall(&err);
	cr_assert_not_null(nas->loop);
	nas->store = sl_store_new_null(nas->loop);
	nas->stop = (struct sl_io){.fd = eventfd(0, EFD_CLOEXEC), .events = EPOLLIN, .fire = stop_fire};
	cr_assert_eq(sl_loop_io_add(nas->loop, &nas->stop, &err), 0);
	config.loop = nas->loop;
	config.store = nas->store;
	config.dir = nas->dir;
	cr_assert_eq(sl_datastore_new(&config, &nas->ds, &err), 0, "%s", err.msg);
	cr_assert_eq(pthread_create(&nas->thread, NULL, nas_main, nas), 0);
}

void nas_url(const struct nas *nas, const char *file, char *buf, size_t size)
{
	(void)snprintf(buf, size, "nfs://127.0.0.1/%s?nfsport=%u&mountport=%u", file,
		       sl_datastore_nfs_port(nas->ds), sl_datastore_mount_port(nas->ds));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

void nas_stop(struct nas *nas)
{
	uint64_t one = 1;

	cr_assert_eq(write(nas->stop.fd, &one, sizeof(one)), (ssize_t)sizeof(one));
	cr_assert_eq(pthread_join(nas->thread, NULL), 0);
	nas->stats = *sl_datastore_stats(nas->ds);
	sl_loop_io_del(nas->loop, &nas->stop);
	close(nas->stop.fd);
	sl_datastore_free(nas->ds);
	sl_store_free(nas->store);
	sl_loop_free(nas->loop);
	cr_assert_eq(nftw(nas->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}
