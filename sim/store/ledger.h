/*
 * The ledger of writes at the store seam, for the audit after a cut: who wrote how much, when the client had
 * the answer, when the last COMMIT covered it, and when somebody was promised that it is durable (an fsync or
 * a transaction's commit returned). Filled by the clients while the model runs; every call accepts a NULL
 * ledger and the write 0, which stand for "nobody asks".
 */
#ifndef SL_STORE_LEDGER_H
#define SL_STORE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/store/store.h"

/* Times are SL_NEVER until they come. */
struct sl_ledger_write {
	int64_t sent_ns, replied_ns;
	int64_t committed_ns; /* stable by the reply itself, or by a COMMIT that was sent after it */
	int64_t promised_ns;
	uint64_t file;
	uint32_t bytes;
	uint32_t next; /* private: of its group */
};

struct sl_ledger {
	struct sl_ledger_write *writes; /* write number n is writes[n - 1] */
	uint32_t n_writes, room;
	uint32_t limit;  /* recording ends with this many writes ... */
	int64_t full_ns; /* ... at this time; SL_NEVER = it did not */
	uint32_t *groups;
	uint32_t n_groups, groups_room;
	uint32_t *unstable; /* replied, not committed */
	uint32_t n_unstable, unstable_room;
};

void sl_ledger_init(struct sl_ledger *ledger, uint32_t limit);
void sl_ledger_fini(struct sl_ledger *ledger);

/* A new group of writes that one promise will cover; 0 without a ledger. */
uint32_t sl_ledger_group(struct sl_ledger *ledger);

/* A client sends `req`, a WRITE of `group` (0: alone). Returns its number, 0 when it is not followed. */
uint32_t sl_ledger_sent(struct sl_ledger *ledger, int64_t now_ns, const struct sl_store_req *req,
			uint32_t group);

/* Its answer is there, with this stability. */
void sl_ledger_replied(struct sl_ledger *ledger, int64_t now_ns, uint32_t write, enum sl_stable stable);

/* The answer to a COMMIT of `file` that was sent at sent_ns is there. */
void sl_ledger_committed(struct sl_ledger *ledger, int64_t now_ns, uint64_t file, int64_t sent_ns);

/* Somebody is told that the write, or all writes of the group, are durable. */
void sl_ledger_promise_write(struct sl_ledger *ledger, int64_t now_ns, uint32_t write);
void sl_ledger_promise(struct sl_ledger *ledger, int64_t now_ns, uint32_t group);

#endif
