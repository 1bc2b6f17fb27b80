/*
 * When bytes reached a socket, as the kernel stamped them: the time a server needs to be woken for them is
 * the lab's, not the modelled storage's. Internal to sim/serve.
 */
#ifndef SL_DATASTORE_ARRIVAL_H
#define SL_DATASTORE_ARRIVAL_H

#include <stdint.h>
#include <sys/types.h>

#include "sim/base/loop.h"

/* Asks for stamps on socket `fd`. Where the kernel gives none, bytes count as arrived when they are read. */
void sl_arrival_watch(int fd);

/* As recv(2) with MSG_DONTWAIT. `*ret_arrived_ns`: when the last of the bytes came, in the time of `loop`;
 * the loop's present time when that is unknown, and never later. Jumps of the wall clock show in it: bound
 * it. */
ssize_t sl_arrival_recv(int fd, void *buf, size_t size, const struct sl_loop *loop, int64_t *ret_arrived_ns);

#endif
