/*
 * The one process that owns a lab: process 1 of namespaces of its own, with libvirt's driver, the disk server
 * and the control socket. When it dies, however suddenly, the kernel takes machines, mounts and network with
 * it: a power cut of the whole box.
 */
#ifndef SL_ENGINE_LAB_HOST_H
#define SL_ENGINE_LAB_HOST_H

#include <stdbool.h>
#include <sys/types.h>

#include "engine/lab_plan.h"

/* Makes the state folder and takes its lock; the descriptor goes to the host. -EBUSY: the lab is up. */
int sl_lab_lock(const char *dir, int *ret_fd, struct sl_err *err);

struct sl_lab_host {
	pid_t pid;    /* of process 1, as seen from here */
	int progress; /* what it says while it brings the lab up */
};

/* Starts it; `lock` is handed over. Needs root or a writable /dev/net/tun. */
int sl_lab_host_start(const struct sl_lab_plan *plan, int lock, struct sl_lab_host *ret, struct sl_err *err);

/* Waits until the lab is up, telling `said` each step; -EINTR when stopped() says true: the host then takes
 * everything down. After 0 the host lives on without us. */
int sl_lab_host_wait(struct sl_lab_host *host, void (*said)(void *arg, const char *what), void *arg,
		     bool (*stopped)(void), struct sl_err *err);

#endif
