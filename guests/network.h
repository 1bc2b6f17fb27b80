/* The lab's network: a bridge with this machine's address, and a TAP for each virtual machine, in the network
 * namespace that the caller is in. Gone with the namespace. */
#ifndef SL_GUESTS_NETWORK_H
#define SL_GUESTS_NETWORK_H

#include <stdbool.h>

#include "sim/base/err.h"

#define SL_NET_BRIDGE "br-lab"
#define SL_NET_HOST "10.77.0.1"
#define SL_NET_STORAGE "10.77.0.2"
#define SL_NET_GUEST "10.77.0.3"
#define SL_NET_BITS 24
#define SL_NET_CIDR "10.77.0.0/24"

/* Makes the bridge with the host's address. -EACCES and others name what is missing. */
int sl_network_up(struct sl_err *err);
/* A persistent TAP on the bridge, up. */
int sl_network_tap(const char *name, struct sl_err *err);
/* Takes a TAP off the bridge, or puts it back. */
int sl_network_plug(const char *name, bool plugged, struct sl_err *err);

#endif
