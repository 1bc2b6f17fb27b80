/*
 * What a modelled pool has promised and what it can keep: the record of a running server, as a run of the
 * model has one (stack/record.h), with nobody above it. Tells which writes a cut of the power takes, by the
 * same rule as `sloglab powercut`: what the marks of the disks say, import and replay (docs/decisions/0022).
 */
#ifndef SL_DATASTORE_PROMISES_H
#define SL_DATASTORE_PROMISES_H

#include "sim/stack/audit.h"

struct sl_promises;

/* For `box` (copied; the names in it are borrowed). Give its record to the store; then `settled` is called
 * now and then: writes that are not at risk any more may be forgotten. NULL: out of memory. */
struct sl_promises *sl_promises_new(const struct sl_box *box, void (*settled)(void *arg), void *arg);
/* Accepts NULL. */
void sl_promises_free(struct sl_promises *promises);
struct sl_record *sl_promises_record(struct sl_promises *promises);

/* As sl_pacer_watch. `sent` numbers a WRITE: 0 where it is not followed. */
void sl_promises_sent(struct sl_promises *promises, int64_t model_ns, struct sl_store_req *req);
void sl_promises_done(struct sl_promises *promises, int64_t sent_ns, int64_t model_ns,
		      const struct sl_store_req *req);

/* May a cut still take it? */
bool sl_promises_at_risk(const struct sl_promises *promises, uint32_t write);
/* The log devices are dead from now on: no later cut finds what only they held. */
void sl_promises_log_dead(struct sl_promises *promises, int64_t model_ns);

/* The power is cut: what is lost of that which was acknowledged, and who answers for it. */
void sl_promises_cut(struct sl_promises *promises, int64_t model_ns, struct sl_outcome *ret);
/* After it: is the write gone, acknowledged or not? */
bool sl_promises_is_gone(const struct sl_promises *promises, uint32_t write);

#endif
