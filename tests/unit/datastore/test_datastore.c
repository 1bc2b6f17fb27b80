/* Unstable data of a datastore's clients: in memory until somebody syncs, lost by a power cut, kept by an
 * end. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "files_rig.h"
#include "sim/datastore/datastore.h"
#include "sim/datastore/filedata.h"
#include "sim/datastore/pool_server.h"
#include "sim/nfs3/attr.h"
#include "sim/nfs3/handle.h"
#include "sim/nfs3/numbers.h"
#include "sim/nfs3/xdr.h"
#include "sim/scenario/scenario.h"

#define TEXT "unstable bytes"

/* The linker sends the writes to the folder here. */
ssize_t __real_pwrite(int fd, const void *buf, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *buf, size_t bytes, off_t offset);
ssize_t __real_pwritev(int fd, const struct iovec *iov, int n, off_t offset);
ssize_t __wrap_pwritev(int fd, const struct iovec *iov, int n, off_t offset);

static bool fail_next; /* with EIO, once */

static bool fails(void)
{
	bool now = fail_next;

	fail_next = false;
	errno = now ? EIO : errno;
	return now;
}

ssize_t __wrap_pwrite(int fd, const void *buf, size_t bytes, off_t offset)
{
	return fails() ? -1 : __real_pwrite(fd, buf, bytes, offset);
}

ssize_t __wrap_pwritev(int fd, const struct iovec *iov, int n, off_t offset)
{
	return fails() ? -1 : __real_pwritev(fd, iov, n, offset);
}

struct rig {
	char *dir;
	uint64_t ino;
	uint8_t handle[SL_HANDLE_BYTES];
	struct sl_loop *loop;
	struct sl_store *store;
	struct sl_datastore *ds;
};

/* A folder with one file. */
static void folder_make(struct rig *rig)
{
	struct sl_tree *tree = tree_open(rig->dir, DIRTY_MAX);
	struct sl_attr attr;
	uint8_t key[16];

	rig->ino = tree_make(tree, SL_TREE_ROOT, "f", SL_FT_REG);
	cr_assert_eq(tree->ops->getattr(tree, rig->ino, &attr), 0);
	sl_files_key(tree, key);
	sl_handle_make(key, rig->ino, attr.generation, rig->handle);
	tree->ops->free(tree);
}

static void rig_init(struct rig *rig)
{
	struct sl_datastore_config config = {0};
	struct sl_err err = {0};

	rig->dir = scratch_new();
	folder_make(rig);
	rig->loop = sl_loop_new_wall(&err);
	cr_assert_not_null(rig->loop, "%s", err.msg);
	rig->store = sl_store_new_null(rig->loop);
	config.loop = rig->loop;
	config.store = rig->store;
	config.dir = rig->dir;
	cr_assert_eq(sl_datastore_new(&config, &rig->ds, &err), 0, "%s", err.msg);
}

static void rig_fini(struct rig *rig)
{
	sl_store_free(rig->store);
	sl_loop_free(rig->loop);
	scratch_remove(rig->dir);
}

/* WRITE of TEXT at 0 by root. Returns the record's size. */
static size_t write_encode(const struct rig *rig, enum sl_stable stable, uint8_t record[256])
{
	/* xid, CALL, RPC 2, the procedure, AUTH_SYS of 20 bytes: stamp, name, uid, gid, groups; AUTH_NONE */
	static const uint32_t head[] = {1, 0, 2, SL_PROG_NFS, 3, SL_NFS_WRITE, 1, 20, 0, 0, 0, 0, 0, 0, 0};
	struct sl_xdr_out out = {.at = record + 4, .end = record + 256};

	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++) {
		sl_xdr_put_u32(&out, head[i]);
	}
	sl_xdr_put_opaque(&out, rig->handle, SL_HANDLE_BYTES);
	sl_xdr_put_u64(&out, 0);
	sl_xdr_put_u32(&out, sizeof(TEXT) - 1);
	sl_xdr_put_u32(&out, stable);
	sl_xdr_put_opaque(&out, TEXT, sizeof(TEXT) - 1);
	cr_assert(!out.bad);
	sl_put_be32(record, 0x80000000u | (uint32_t)(out.at - record - 4));
	return (size_t)(out.at - record);
}

/* A client writes, and has its answer: the status. */
static uint32_t client_write(const struct rig *rig, enum sl_stable stable)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(sl_datastore_nfs_port(rig->ds)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint8_t record[256], reply[256];
	size_t size = write_encode(rig, stable, record);
	ssize_t got = -1;

	cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	cr_assert_eq(send(fd, record, size, 0), (ssize_t)size);
	while (got < 0) {
		cr_assert_eq(sl_loop_run_until(rig->loop, sl_loop_now(rig->loop) + 1000000, NULL), 0);
		got = recv(fd, reply, sizeof(reply), MSG_DONTWAIT);
	}
	cr_assert(got > 32, "%zd bytes", got);
	close(fd);
	return sl_be32(reply + 28); /* behind mark, xid, REPLY, accepted, AUTH_NONE of no bytes, SUCCESS */
}

/* Does the host's file hold TEXT? */
static bool host_has(const struct rig *rig)
{
	char name[SL_FILEDATA_NAME_BYTES], path[256], text[sizeof(TEXT)] = "";
	FILE *file;

	sl_filedata_name(rig->ino, name);
	snprintf(path, sizeof(path), "%s/data/%s", rig->dir, name);
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	(void)!fread(text, 1, sizeof(TEXT) - 1, file);
	fclose(file);
	return strcmp(text, TEXT) == 0;
}

Test(datastore, unstable_data_is_in_the_files_when_it_was_synced_and_not_before)
{
	struct rig rig;

	rig_init(&rig);
	cr_assert_eq(client_write(&rig, SL_UNSTABLE), SL_NFS_OK);
	cr_assert(!host_has(&rig));
	cr_assert_eq(sl_datastore_sync(rig.ds), 0);
	cr_assert(host_has(&rig));
	sl_datastore_kill(rig.ds);
	rig_fini(&rig);
}

Test(datastore, a_txg_of_the_pool_takes_unstable_data_to_the_files)
{
	struct rig rig;

	rig_init(&rig);
	cr_assert_eq(client_write(&rig, SL_UNSTABLE), SL_NFS_OK);
	rig.store->on_synced(rig.store->on_synced_arg, sl_loop_now(rig.loop));
	cr_assert(host_has(&rig));
	cr_assert_eq(sl_datastore_timing(rig.ds)->errors, 0);
	sl_datastore_kill(rig.ds);
	rig_fini(&rig);
}

Test(datastore, unstable_data_outlives_an_orderly_end)
{
	struct rig rig;

	rig_init(&rig);
	cr_assert_eq(client_write(&rig, SL_UNSTABLE), SL_NFS_OK);
	sl_datastore_free(rig.ds);
	cr_assert(host_has(&rig));
	rig_fini(&rig);
}

Test(datastore, unstable_data_is_gone_after_a_power_cut)
{
	struct rig rig;

	rig_init(&rig);
	cr_assert_eq(client_write(&rig, SL_UNSTABLE), SL_NFS_OK);
	sl_datastore_kill(rig.ds);
	cr_assert(!host_has(&rig));
	rig_fini(&rig);
}

/* The client was told; whoever ends the server must hear of it, too. */
Test(datastore, a_write_that_the_disk_below_refused_is_told_at_the_next_sync)
{
	struct rig rig;

	rig_init(&rig);
	cr_assert_eq(sl_datastore_sync(rig.ds), 0);
	fail_next = true;
	cr_assert_eq(client_write(&rig, SL_FILE_SYNC), SL_NFSERR_IO);
	cr_assert_eq(client_write(&rig, SL_FILE_SYNC), SL_NFS_OK);
	cr_assert_eq(sl_datastore_sync(rig.ds), -EIO);
	sl_datastore_kill(rig.ds);
	rig_fini(&rig);
}

/* A box of the scenario of 2014 in the place of the rig's datastore, its latencies off. *ret_sc lends its
 * names. */
static struct sl_pool_server *pool_server_new(struct rig *rig, int sync, struct sl_scenario **ret_sc)
{
	struct sl_pool_server_config config = {.seed = 1, .instant = true};
	struct sl_pool_server *server = NULL;
	struct sl_err err = {0};
	struct sl_box box;

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/b3n-2014.yaml", SL_SOURCE_DIR "/sim/scenario",
				      ret_sc, &err),
		     0, "%s", err.msg);
	cr_assert_eq(sl_scenario_box(*ret_sc, 0, &box, &err), 0, "%s", err.msg);
	box.sync = sync;
	config.box = &box;
	config.datastore.loop = rig->loop;
	config.datastore.dir = rig->dir;
	sl_datastore_kill(rig->ds);
	cr_assert_eq(sl_pool_server_new(&config, &server, &err), 0, "%s", err.msg);
	rig->ds = sl_pool_server_datastore(server);
	return server;
}

Test(datastore, a_pool_server_syncs_its_datastore_and_tells_of_its_disk)
{
	struct sl_pool_server *server;
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	struct rig rig;

	rig_init(&rig);
	server = pool_server_new(&rig, SL_SYNC_STANDARD, &sc);
	cr_assert_eq(client_write(&rig, SL_UNSTABLE), SL_NFS_OK);
	cr_assert(!host_has(&rig));
	cr_assert_eq(sl_pool_server_sync(server, &err), 0, "%s", err.msg);
	cr_assert(host_has(&rig));
	fail_next = true;
	cr_assert_eq(client_write(&rig, SL_FILE_SYNC), SL_NFSERR_IO);
	cr_assert_eq(sl_pool_server_sync(server, &err), -EIO);
	cr_assert_not_null(strstr(err.msg, "the disk below failed"), "%s", err.msg);
	sl_pool_server_free(server);
	sl_scenario_free(sc);
	rig_fini(&rig);
}

Test(datastore, stable_data_of_a_box_is_in_the_files_unless_its_sync_is_disabled)
{
	static const int syncs[] = {SL_SYNC_STANDARD, SL_SYNC_DISABLED};

	for (int i = 0; i < 2; i++) {
		struct sl_pool_server *server;
		struct sl_scenario *sc = NULL;
		struct rig rig;

		rig_init(&rig);
		server = pool_server_new(&rig, syncs[i], &sc);
		cr_assert_eq(client_write(&rig, SL_FILE_SYNC), SL_NFS_OK);
		cr_assert_eq(host_has(&rig), syncs[i] == SL_SYNC_STANDARD);
		sl_pool_server_free(server);
		sl_scenario_free(sc);
		rig_fini(&rig);
	}
}
