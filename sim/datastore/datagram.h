/*
 * The portmapper's UDP port. Datagrams come from anybody, with any sender's address: so a reply is no larger
 * than what was asked, but for a bounded number in a second and on loopback; it leaves from the address that
 * was asked; and what was sent to a broadcast or multicast address, or is too long, is dropped.
 */
#ifndef SL_DATASTORE_DATAGRAM_H
#define SL_DATASTORE_DATAGRAM_H

#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/loop.h"
#include "sim/nfs3/nfs3.h"

/* Set io.fd = -1 before anything else. */
struct sl_datagram {
	struct sl_io io;
	struct sl_loop *loop;
	struct sl_nfs3 *nfs;
	int64_t large_ns; /* until when the allowance of large replies is used up */
};

/* address: IPv4. Errors as sl_listener_tcp. */
int sl_datagram_open(struct sl_datagram *datagram, struct sl_loop *loop, struct sl_nfs3 *nfs,
		     const char *address, uint16_t port, struct sl_err *err);
/* Accepts one that is not open. */
void sl_datagram_close(struct sl_datagram *datagram);

#endif
