/*
 * One event loop, two clocks. Timers are ordered by (due, arming order). The only seam is the waiter:
 * `wait(now, due)` returns the new time; in virtual time the loop jumps there, the epoll waiter sleeps and
 * collects file-descriptor events meanwhile. Loop time is read once per wake-up and cached. Each wake-up
 * serves the timers that were due, then the descriptors, then a few rounds of what these armed for the
 * present instant, so that neither starves the other.
 */
#ifndef SL_BASE_LOOP_H
#define SL_BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct sl_loop;
struct sl_hist;

#define SL_NEVER INT64_MAX

/*
 * A continuation that can be armed. Embed it in the object it belongs to and reach that with
 * sl_container_of(). Layers use it as the completion of a request: a layer that knows when it is done arms
 * the caller's timer; one that waits for others fires it with sl_timer_fire().
 * Owned by the caller; must not be freed or moved while armed.
 */
struct sl_timer {
	void (*fire)(struct sl_timer *self, int64_t now_ns);
	int64_t due_ns; /* valid while armed */
	bool armed;
};

#define sl_container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr) - __builtin_offsetof(type, member)))

/* Calls the continuation directly, for layers that complete at the present instant. */
static inline void sl_timer_fire(struct sl_timer *timer, int64_t now_ns)
{
	timer->fire(timer, now_ns);
}

/* A file descriptor watched by an epoll loop. Owned by the caller; fd is not closed by the loop. */
struct sl_io {
	int fd;
	uint32_t events; /* EPOLLIN | EPOLLOUT ... */
	void (*fire)(struct sl_io *self, uint32_t events, int64_t now_ns);
};

/* A loop in virtual time that starts at 0 ns. NULL when out of memory. Free with sl_loop_free. */
struct sl_loop *sl_loop_new_virtual(void);

/* A loop on CLOCK_MONOTONIC (epoll, absolute timers, timer slack 1 ns). Time 0 is its creation. */
struct sl_loop *sl_loop_new_wall(struct sl_err *err);

/* Frees the loop, not the timers. Accepts NULL. */
void sl_loop_free(struct sl_loop *loop);

/* Present loop time in ns: cached at the last wake-up. */
int64_t sl_loop_now(const struct sl_loop *loop);

/* Arms `timer` at due_ns (past times count as now, in arming order; SL_NEVER never fires). An armed timer is
 * moved, which costs a scan like sl_loop_cancel: cheap with tens of timers. When there is no memory the loop
 * fails at its next wake-up with -ENOMEM. */
void sl_loop_arm(struct sl_loop *loop, struct sl_timer *timer, int64_t due_ns);

/* Disarms; a no-op when not armed. Costs a scan of the pending timers: not for hot paths. */
void sl_loop_cancel(struct sl_loop *loop, struct sl_timer *timer);

/* Watches / changes / forgets a descriptor; wall loops only (-ENOTSUP). Forget it before it is closed; after
 * sl_loop_io_del it does not fire, not even for events of the present wake-up. */
int sl_loop_io_add(struct sl_loop *loop, struct sl_io *io, struct sl_err *err);
int sl_loop_io_mod(struct sl_loop *loop, struct sl_io *io, uint32_t events, struct sl_err *err);
void sl_loop_io_del(struct sl_loop *loop, struct sl_io *io);

/* Runs until no timer is pending (virtual), or sl_loop_stop() (both). 0 or negative errno. */
int sl_loop_run(struct sl_loop *loop, struct sl_err *err);

/* Runs the timers due up to and including until_ns, or until sl_loop_stop(), then returns: with
 * now == until_ns in virtual time, now >= until_ns on the wall clock. 0 or negative errno. */
int sl_loop_run_until(struct sl_loop *loop, int64_t until_ns, struct sl_err *err);

/* Makes sl_loop_run return after the present callback; what is pending stays so. For callbacks, not for
 * signal handlers (watch a signalfd instead). */
void sl_loop_stop(struct sl_loop *loop);

/* For runs that take long on the wall though time is virtual: `stopped`, asked every 64 wake-ups (a matter
 * of milliseconds), ends sl_loop_run with -EINTR once it is true. NULL, as at first: never. */
void sl_loop_set_stopped(struct sl_loop *loop, bool (*stopped)(void));

/* Due time of the earliest pending timer, SL_NEVER when there is none: what drives one loop by another. Not
 * from inside a callback of this loop. */
int64_t sl_loop_next_due(const struct sl_loop *loop);

/* Loop time read afresh from the clock, for measuring inside a callback; virtual loops: their present time.
 */
int64_t sl_loop_clock(const struct sl_loop *loop);

/* Timers fired since creation. */
uint64_t sl_loop_events(const struct sl_loop *loop);

/* Wall loops: histogram of (wake-up time - due time) of timers in ns; NULL for virtual loops. */
const struct sl_hist *sl_loop_lateness(const struct sl_loop *loop);

#endif
