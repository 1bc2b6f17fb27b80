/* A tree whose stable data waits for the host's disk: once for all calls that come together, and never for
 * what is not stable. */
#include <criterion/criterion.h>
#include <errno.h>

#include "rig.h"

/* Between the server and the rig's tree in memory. */
static struct {
	struct sl_tree_ops ops;
	const struct sl_tree_ops *below;
	int unsettled, waits, fails_with;
	struct sl_loop *loop;
	int64_t waited_at_ns;
} disk;

static int disk_write(struct sl_tree *tree, uint64_t ino, uint64_t offset, const void *buf, uint32_t bytes,
		      enum sl_stable stable)
{
	disk.unsettled += stable != SL_UNSTABLE;
	return disk.below->write(tree, ino, offset, buf, bytes, stable);
}

static int disk_commit(struct sl_tree *tree, uint64_t ino)
{
	disk.unsettled++;
	return disk.below->commit(tree, ino);
}

static int disk_settle(struct sl_tree *tree)
{
	(void)tree;
	if (disk.unsettled > 0) {
		disk.unsettled = 0;
		disk.waits++;
		disk.waited_at_ns = sl_loop_now(disk.loop);
	}
	return disk.fails_with;
}

static void disk_put_under(struct rig *rig)
{
	disk.below = rig->tree->ops;
	disk.ops = *disk.below;
	disk.ops.write = disk_write;
	disk.ops.commit = disk_commit;
	disk.ops.settle = disk_settle;
	disk.loop = rig->loop;
	rig->tree->ops = &disk.ops;
	rig->tree->settles = true;
	rig_restart(rig); /* a server takes it for fixed */
}

static int64_t ten_us(const struct slow_store *self, const struct sl_store_req *req)
{
	(void)self;
	(void)req;
	return 10 * US;
}

static void send_write(struct rig *rig, const uint8_t *file, uint32_t offset, enum sl_stable stable)
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_WRITE, file);
	put_write(&msg, offset, stable, "data", 4);
	rig_send(rig, &msg);
}

static void send_commit(struct rig *rig, const uint8_t *file)
{
	struct msg msg;

	nfs_begin(rig, &msg, SL_NFS_COMMIT, file);
	put_u64(&msg, 0);
	put_u32(&msg, 0);
	rig_send(rig, &msg);
}

Test(settle, calls_that_come_together_wait_once_and_while_the_pool_works)
{
	struct rig rig;
	uint8_t one[SL_HANDLE_BYTES], two[SL_HANDLE_BYTES];
	int64_t start_ns;

	rig_init(&rig, ten_us);
	do_create(&rig, rig.root, "one", one);
	do_create(&rig, rig.root, "two", two);
	disk_put_under(&rig);
	sl_buf_consume(&rig.got, SIZE_MAX);
	start_ns = sl_loop_now(rig.loop);
	for (uint32_t i = 0; i < 16; i++) {
		send_write(&rig, i % 2 ? one : two, i * 4, SL_FILE_SYNC);
	}
	send_commit(&rig, one);
	cr_assert_eq(disk.waits, 0);
	rig_run(&rig);
	cr_assert_eq(rig_replies(&rig), 17);
	cr_assert_eq(disk.waits, 1);
	cr_assert_eq(disk.waited_at_ns, start_ns);
	cr_assert_eq(sl_loop_now(rig.loop), start_ns + 10 * US);
	rig_fini(&rig);
}

/* With a pool that takes no time the wait still comes before the reply. */
Test(settle, comes_before_the_reply_of_the_same_instant)
{
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	disk_put_under(&rig);
	for (uint32_t i = 0; i < 8; i++) {
		send_write(&rig, file, i * 4, SL_FILE_SYNC);
	}
	rig_run(&rig);
	cr_assert_eq(disk.unsettled, 0);
	cr_assert_eq(disk.waits, 1);
	rig_fini(&rig);
}

Test(settle, is_nothing_to_what_is_unstable)
{
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, ten_us);
	do_create(&rig, rig.root, "f", file);
	disk_put_under(&rig);
	send_write(&rig, file, 0, SL_UNSTABLE);
	rig_run(&rig);
	cr_assert_eq(disk.waits, 0);
	send_commit(&rig, file);
	rig_run(&rig);
	cr_assert_eq(disk.waits, 1);
	rig_fini(&rig);
}

/* A store that makes an UNSTABLE write stable: so is its reply, and the bytes must be. */
Test(settle, covers_what_the_store_promotes)
{
	struct rig rig;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, ten_us);
	do_create(&rig, rig.root, "f", file);
	disk_put_under(&rig);
	rig.slow.promote = true;
	send_write(&rig, file, 0, SL_UNSTABLE);
	rig_run(&rig);
	cr_assert_eq(disk.waits, 1);
	cr_assert_eq(disk.unsettled, 0);
	rig_fini(&rig);
}

Test(settle, its_failure_is_told_to_everybody_who_waits)
{
	struct rig rig;
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, ten_us);
	do_create(&rig, rig.root, "f", file);
	disk_put_under(&rig);
	disk.fails_with = -EIO;
	nfs_begin(&rig, &msg, SL_NFS_WRITE, file);
	put_write(&msg, 0, SL_FILE_SYNC, "data", 4);
	cr_expect_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_IO);
	nfs_begin(&rig, &msg, SL_NFS_WRITE, file);
	put_write(&msg, 0, SL_UNSTABLE, "data", 4);
	cr_expect_eq(rig_status(&rig, &msg, NULL), 0);
	nfs_begin(&rig, &msg, SL_NFS_COMMIT, file);
	put_u64(&msg, 0);
	put_u32(&msg, 0);
	cr_expect_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_IO);
	nfs_begin(&rig, &msg, SL_NFS_MKDIR, rig.root);
	put_name(&msg, "d");
	put_sattr(&msg, NULL, NULL);
	cr_expect_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_IO);
	nfs_begin(&rig, &msg, SL_NFS_LINK, file);
	put_opaque(&msg, rig.root, SL_HANDLE_BYTES);
	put_name(&msg, "l");
	cr_expect_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_IO);
	nfs_begin(&rig, &msg, SL_NFS_RENAME, rig.root);
	put_name(&msg, "f");
	put_opaque(&msg, rig.root, SL_HANDLE_BYTES);
	put_name(&msg, "g");
	cr_expect_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_IO);
	nfs_begin(&rig, &msg, SL_NFS_REMOVE, rig.root);
	put_name(&msg, "l");
	cr_expect_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_IO);
	rig_fini(&rig);
}
