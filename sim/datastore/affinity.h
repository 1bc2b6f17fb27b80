/*
 * Which CPU the server's thread runs on. A client on this machine that sends one call at a time sleeps while
 * it is served, and the server while it is not: on two CPUs each call wakes an idle CPU twice, which costs
 * more than the call (docs/decisions/0010). A client that is bound to a CPU, as iothreads often are, is
 * therefore followed there. The thread goes back to all its CPUs as soon as calls overlap or come from
 * elsewhere, when it has to queue for that CPU, and when the client moves on: it is not bound then, and the
 * scheduler would move it away from us again and again. Internal to sim/serve.
 */
#ifndef SL_DATASTORE_AFFINITY_H
#define SL_DATASTORE_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the thread that serves. Embedded in its owner. */
struct sl_affinity {
	cpu_set_t home;    /* the CPUs it was given */
	int schedstat_fd;  /* the thread's own, from the first use on; -1: not open */
	int client_fd;     /* the socket that was heard last; -1: none */
	uint32_t lone;     /* calls of it in a row that came one at a time */
	int cpu;           /* followed to; -1: at home */
	int64_t queued_ns; /* how long the thread has waited for a CPU in its life, at the last look */
	int64_t loss_ns;   /* what following has cost in queues beyond what it saves */
	int64_t since_ns;  /* following since */
	int64_t rest_ns, rest_until_ns; /* after it did not pay: no following for a while */
	bool unable;                    /* this machine does not let it, or has but one CPU */
};

void sl_affinity_init(struct sl_affinity *affinity);

/* Goes home and gives back what it holds. */
void sl_affinity_fini(struct sl_affinity *affinity);

/* A call came from socket `fd`. `lone`: its client is on this machine and has no other call under way. Call
 * it from the serving thread. `now_ns` is loop time. */
void sl_affinity_heard(struct sl_affinity *affinity, int fd, bool lone, int64_t now_ns);

/* The socket `fd` is about to be closed. */
void sl_affinity_forget(struct sl_affinity *affinity, int fd);

#endif
