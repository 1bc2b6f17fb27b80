/* A database on a guest of lib.h, and clients that commit. */
#ifndef SL_TESTS_GUEST_INNODB_LIB_H
#define SL_TESTS_GUEST_INNODB_LIB_H

#include "sim/guest/innodb.h"
#include "tests/unit/guest/lib.h"

struct rig {
	struct guest *guest;
	struct sl_innodb db;
};

/* A table that fits into the pool, and what MariaDB does unless it is told otherwise. */
static inline struct sl_innodb_config usual(int64_t redo_bytes, int64_t log_bytes)
{
	return (struct sl_innodb_config){
	    .pool = {.load = {.rows = 100000}, .row_bytes = 225, .pool_bytes = 128 * MIB},
	    .flush_at_commit = SL_FLUSH_LOG_SYNC,
	    .max_dirty_share = 0.75,
	    .redo_bytes = redo_bytes,
	    .log_bytes = log_bytes,
	    .io_capacity = 200};
}

static inline struct rig *rig_of(struct sl_innodb_config config)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	cr_assert_not_null(rig);
	rig->guest = guest_new(SL_CLIENT_ESXI, SL_INNODB_FILES, sl_innodb_file_bytes(&config));
	config.loop = rig->guest->loop;
	config.fs = &rig->guest->fs;
	sl_innodb_init(&rig->db, &config);
	return rig;
}

static inline struct rig *rig_new(int64_t redo_bytes, int64_t log_bytes)
{
	return rig_of(usual(redo_bytes, log_bytes));
}

static inline void rig_free(struct rig *rig)
{
	sl_innodb_fini(&rig->db);
	guest_free(rig->guest);
	free(rig);
}

/* The database wakes up each second for ever: tests run up to a time. */
static inline void run_to(struct rig *rig, int64_t at_ns)
{
	cr_assert_eq(sl_loop_run_until(rig->guest->loop, at_ns, NULL), 0);
}

struct client {
	struct sl_innodb_waiter waiter;
	struct event start;
	struct rig *rig;
	const char *name;
	uint32_t key;
};

static inline void client_done(struct sl_timer *timer, int64_t now_ns)
{
	struct client *client = sl_container_of(timer, struct client, waiter.done);

	notes_add(&client->rig->guest->notes, now_ns, "%s done", client->name);
}

/* Commits a transaction that changes one row: its page and one of undo. */
static inline void client_commit(void *arg, int64_t now_ns)
{
	struct client *client = arg;
	struct sl_oltp_txn txn = {.count = SL_OLTP_STATEMENTS};

	for (int i = 0; i < SL_OLTP_STATEMENTS; i++) {
		txn.statements[i].kind = SL_OLTP_POINT;
		txn.statements[i].key = client->key;
	}
	txn.statements[16].kind = SL_OLTP_UPDATE;
	client->waiter.done.fire = client_done;
	sl_innodb_commit(&client->rig->db, now_ns, &txn, &client->waiter);
}

static inline void commit_at(struct rig *rig, struct client *client, const char *name, int64_t at_ns)
{
	*client = (struct client){.rig = rig, .name = name, .key = 1};
	event_at(&client->start, rig->guest->loop, at_ns, client_commit, client);
}

#endif
