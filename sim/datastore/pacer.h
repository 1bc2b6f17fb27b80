/*
 * Puts a modelled store behind a wall clock. The model runs on a virtual loop of its own, which the pacer
 * drives: never ahead of the wall clock, and no further than needed, so that a call may count as arrived a
 * little earlier than it did (lateness credit: the reply before it left late, so did this call).
 *
 * Virtual time is wall time at a pace (dilation). While no request is in service the model may lag behind by
 * up to the credit cap; its background work is then done when the next request comes.
 */
#ifndef SL_DATASTORE_PACER_H
#define SL_DATASTORE_PACER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/hist.h"
#include "sim/base/loop.h"
#include "sim/store/store.h"

/* Whose requests are submitted: embedded in a connection, which must live while in_service > 0. */
struct sl_pacer_client {
	uint32_t in_service;
	/* A request of this client completes, before its own completion is called: `due_ns` is the modelled
	 * completion in wall-loop time, `ready_ns` the earliest time it could have left (later than due_ns
	 * when credit moved that before the real arrival), `timed` is false for those answered from memory.
	 */
	void (*completed)(struct sl_pacer_client *self, int64_t due_ns, int64_t ready_ns, bool timed);
	/* in_service fell to 0. The client may free itself. */
	void (*idle)(struct sl_pacer_client *self);
};

/* Who wants to know what the model is asked, in its own time: `sent` before the store has it (and may number
 * a WRITE), `done` when it completes. What never sees the model is not told. */
struct sl_pacer_watch {
	void (*sent)(void *arg, int64_t model_ns, struct sl_store_req *req);
	void (*done)(void *arg, int64_t sent_ns, int64_t model_ns, const struct sl_store_req *req);
	void *arg;
};

struct sl_pacer;

/* `model` is the virtual loop `store` runs on, or NULL when it runs on the wall loop itself (null store). All
 * are borrowed. NULL when out of memory. */
struct sl_pacer *sl_pacer_new(struct sl_loop *wall, struct sl_loop *model, struct sl_store *store,
			      int64_t credit_cap_ns);
/* Finishes what is in service (in virtual time, at once), then frees. Accepts NULL. */
void sl_pacer_free(struct sl_pacer *pacer);
/* From now on; zeroed at first: nobody. */
void sl_pacer_set_watch(struct sl_pacer *pacer, const struct sl_pacer_watch *watch);
/* The store to submit to; its requests complete on the wall loop, with the modelled completion as their
 * now_ns. */
struct sl_store *sl_pacer_store(struct sl_pacer *pacer);
/* Until the next call, requests belong to `client` and count as arrived credit_ns (cut at the cap) earlier.
 */
void sl_pacer_enter(struct sl_pacer *pacer, struct sl_pacer_client *client, int64_t credit_ns);
/* Dilation: from now on a nanosecond of the model takes `pace` on the wall (> 0; 1 at first). */
void sl_pacer_set_pace(struct sl_pacer *pacer, double pace);
/* Off: requests that come from now on are done, and stable, at once: to populate. On again: what was written
 * meanwhile counts as synced. */
void sl_pacer_latency(struct sl_pacer *pacer, bool on);
/* The model's clock stands still for stall_ns on the wall, and all that is in service with it. */
void sl_pacer_stall(struct sl_pacer *pacer, int64_t stall_ns);
/* Puts another store, on a loop of its own that nobody has run yet, in the place of the present one, as soon
 * as that has nothing in service; what arrives until then waits. Both are told as synced then, and `retired`
 * is called, once, when the old pair may be freed and before the new one is asked for anything. -EBUSY while
 * an earlier swap is under way. */
int sl_pacer_swap(struct sl_pacer *pacer, struct sl_loop *model, struct sl_store *store,
		  void (*retired)(void *arg), void *arg);
/* Something happens to the model that no request asked for (a disk dies): calls `event` with the model at the
 * present instant. */
void sl_pacer_happen(struct sl_pacer *pacer, void (*event)(void *arg, int64_t model_ns), void *arg);
/* Modelled latency of what has to be stable when it is answered: COMMIT, and WRITE unless UNSTABLE; in time
 * of the model (ns). */
const struct sl_hist *sl_pacer_modelled(const struct sl_pacer *pacer);
/* Sum of the credit that requests really got: the model cannot go back behind its last event. */
int64_t sl_pacer_credit_used(const struct sl_pacer *pacer);

#endif
