/* One connection of the disk server: socket <-> sl_nbd_conn. Internal to sim/serve. */
#ifndef SL_DISKS_DISK_CONN_H
#define SL_DISKS_DISK_CONN_H

#include <stdint.h>

#include "sim/base/loop.h"
#include "sim/disks/disk_pacer.h"
#include "sim/nbd/nbd.h"
#include "sim/serve/dues.h"

struct sl_disk_conn;

/* What all connections share; owned by the server. */
struct sl_disk_conns {
	struct sl_loop *loop;
	struct sl_nbd *nbd;
	struct sl_disk_pacer **pacers; /* by number of the export */
	struct sl_dues_sink late;
	uint8_t *buf; /* input passes through it */
	size_t buf_bytes;
	uint32_t count, max;
	struct sl_disk_conn *first;
	struct sl_disk_conn *waiting; /* have output to be sent */
};

/* Takes over the non-blocking socket `fd`; closes it when there are too many or memory is out. */
void sl_disk_conn_open(struct sl_disk_conns *conns, int fd);
/* Sends what is ready, on all connections. */
void sl_disk_conns_send(struct sl_disk_conns *conns);
/* Closes all, or those of one export (number >= 0). */
void sl_disk_conns_close(struct sl_disk_conns *conns, int number);

#endif
