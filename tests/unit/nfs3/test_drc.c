/* A client that asks again gets the answer it lost, and nothing is done twice. */
#include <criterion/criterion.h>

#include "rig.h"

#define MS (1000 * US)

static int64_t a_millisecond(const struct slow_store *self, const struct sl_store_req *req)
{
	(void)self;
	(void)req;
	return MS;
}

static void remove_begin(struct rig *rig, struct msg *msg, uint32_t xid)
{
	rig->next_xid = xid;
	nfs_begin(rig, msg, SL_NFS_REMOVE, rig->root);
	put_name(msg, "f");
}

static uint32_t status_at(struct rig *rig, uint32_t xid)
{
	struct sl_xdr_in in;

	cr_assert(rig_find(rig, xid, &in));
	in.at += 24;
	return sl_xdr_u32(&in);
}

/* The same client on a new connection, or another one. */
static void reconnect(struct rig *rig, const char *address)
{
	rig_reconnect(rig);
	sl_nfs3_conn_client(rig->conn, address);
}

Test(nfs3_drc, a_removal_is_done_once)
{
	struct rig rig;
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	sl_nfs3_conn_client(rig.conn, "127.0.0.9");
	do_create(&rig, rig.root, "f", file);
	remove_begin(&rig, &msg, 7);
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	/* The reply was lost with the connection. */
	reconnect(&rig, "127.0.0.9");
	remove_begin(&rig, &msg, 7);
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->duplicates, 1);
	/* A new call says the truth, and so does another client's with the same number. */
	remove_begin(&rig, &msg, 8);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_NOENT);
	reconnect(&rig, "127.0.0.10");
	remove_begin(&rig, &msg, 7);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_NOENT);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->duplicates, 1);
	rig_fini(&rig);
}

Test(nfs3_drc, while_it_is_being_done_nobody_answers)
{
	struct rig rig;
	struct msg msg;
	struct sl_xdr_in in;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, a_millisecond);
	do_create(&rig, rig.root, "f", file);
	remove_begin(&rig, &msg, 7);
	rig_send(&rig, &msg);
	reconnect(&rig, "");
	remove_begin(&rig, &msg, 7);
	rig_send(&rig, &msg);
	rig_run(&rig);
	cr_assert(!rig_find(&rig, 7, &in));
	/* Done without a connection to tell: the answer waits. */
	remove_begin(&rig, &msg, 7);
	rig_send(&rig, &msg);
	rig_run(&rig);
	cr_assert_eq(status_at(&rig, 7), 0);
	rig_fini(&rig);
}

/* The number alone is not the call: a client that starts over counts from the same. */
Test(nfs3_drc, other_arguments_are_another_call)
{
	struct rig rig;
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	do_create(&rig, rig.root, "g", file);
	remove_begin(&rig, &msg, 7);
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	rig.next_xid = 7;
	nfs_begin(&rig, &msg, SL_NFS_REMOVE, rig.root);
	put_name(&msg, "g");
	cr_assert_eq(rig_status(&rig, &msg, NULL), 0);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->duplicates, 0);
	rig_fini(&rig);
}

Test(nfs3_drc, the_oldest_answers_are_forgotten)
{
	struct rig rig;
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];

	rig_init(&rig, NULL);
	do_create(&rig, rig.root, "f", file);
	for (uint32_t xid = 1; xid <= SL_DRC_ENTRIES + 1; xid++) {
		remove_begin(&rig, &msg, xid);
		cr_assert_eq(rig_status(&rig, &msg, NULL), xid == 1 ? 0 : SL_NFSERR_NOENT);
	}
	remove_begin(&rig, &msg, SL_DRC_ENTRIES + 1);
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_NOENT);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->duplicates, 1);
	remove_begin(&rig, &msg, 1); /* too late: done anew */
	cr_assert_eq(rig_status(&rig, &msg, NULL), SL_NFSERR_NOENT);
	cr_assert_eq(sl_nfs3_stats(rig.srv)->duplicates, 1);
	rig_fini(&rig);
}
