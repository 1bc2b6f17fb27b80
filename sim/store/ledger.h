/*
 * The ledger of writes at the store seam, for the audit after a cut: who wrote how much, when the client had
 * the answer, when the last COMMIT covered it, and when somebody was promised that it is durable (an fsync or
 * a transaction's commit returned). Filled by the clients while the model runs; every call accepts a NULL
 * ledger and the write 0, which stand for "nobody asks".
 *
 * It does not grow with the run: its reader forgets what no later cut can take. Where so many writes are at
 * risk that this is not enough, only every second is followed, or every fourth, and each stands for so many.
 */
#ifndef SL_STORE_LEDGER_H
#define SL_STORE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/ring.h"
#include "sim/store/store.h"

/* Times are SL_NEVER until they come. */
struct sl_ledger_write {
	int64_t sent_ns, replied_ns;
	int64_t committed_ns; /* stable by the reply itself, or by a COMMIT that was sent after it */
	int64_t promised_ns;
	uint64_t file;
	uint32_t bytes;
	uint32_t weight; /* of how many writes it is the one that is followed */
	uint32_t next;   /* private: of its group */
	bool forgotten;  /* private */
};

struct sl_ledger {
	struct sl_ring writes;   /* private, as the next two: by number */
	struct sl_ring groups;   /* ... newest write and count of each */
	struct sl_ring unstable; /* ... replied, not committed */
	uint32_t limit;          /* of writes kept */
	uint32_t skipped;        /* private: since the last one that was followed */
	uint32_t max_weight;     /* so far; 1 = all are followed */
	/* Counters: writes sent, answered, and promised to somebody; and those followed that are committed.
	 */
	uint64_t n_sent, n_replied, n_promised, n_committed;
	int64_t longest_answer_ns; /* of those answered and followed */
	/* The reader's; may be changed from inside. on_due is called before anything later than due_ns, or
	 * the write number due_sent, is entered: what the ledger says then is how things stood at due_ns. */
	int64_t due_ns;
	uint64_t due_sent;
	void (*on_due)(void *arg, int64_t now_ns);  /* NULL: never */
	void (*on_event)(void *arg, int64_t at_ns); /* something changed hands; NULL: nobody asks */
	void *arg;
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

/* Somebody is told that all writes of the group are durable. */
void sl_ledger_promise(struct sl_ledger *ledger, int64_t now_ns, uint32_t group);

/* Time has come to now_ns: calls on_due where it is due. */
void sl_ledger_pass(struct sl_ledger *ledger, int64_t now_ns);

/* Write number `write`; NULL when it was forgotten. */
const struct sl_ledger_write *sl_ledger_at(const struct sl_ledger *ledger, uint32_t write);

/* No later cut can take the write. */
void sl_ledger_forget(struct sl_ledger *ledger, uint32_t write);

/* How long the longest write took for its answer, or waits for it at now_ns. */
int64_t sl_ledger_longest_answer_ns(const struct sl_ledger *ledger, int64_t now_ns);

#endif
