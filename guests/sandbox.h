/*
 * Namespaces of our own (mounts, network, processes), so that nothing of what we mount, bind or start can
 * outlive us or meet what others do on this machine: when the last process in them ends, the kernel takes all
 * of it away.
 */
#ifndef SL_GUESTS_SANDBOX_H
#define SL_GUESTS_SANDBOX_H

#include "guests/process.h"
#include "sim/base/err.h"

/* Zero-initialise. */
struct sl_sandbox {
	struct sl_process first; /* process 1 of the PID namespace: its death is the death of all in it */
	int own_pids;            /* our PID namespace, to go back to; valid while `first` runs */
};

/*
 * Moves this process into a mount and a network namespace of its own (loopback up, nothing else), and makes
 * the children it starts from now on live in a PID namespace that dies with this process. Needs root: -EPERM
 * with the remedy. Mounts and network stay private until this process ends.
 */
int sl_sandbox_enter(struct sl_sandbox *sandbox, struct sl_err *err);

/* Kills whatever runs in it; children are born outside again. A no-op on a zeroed struct. */
void sl_sandbox_leave(struct sl_sandbox *sandbox);

#endif
