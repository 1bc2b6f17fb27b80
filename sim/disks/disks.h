/*
 * Modelled disks as real block devices: an NBD server on the wall clock, several disks in one process, so
 * that they share one clock and a power cut hits all at one instant. Contents are sparse files that hold what
 * a real disk would have on its medium (disk_image.h).
 */
#ifndef SL_DISKS_DISKS_H
#define SL_DISKS_DISKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/hist.h"
#include "sim/base/loop.h"
#include "sim/device/spec.h"

#define SL_DISKS_MAX 64
#define SL_DISKS_CONNECTIONS 64u

struct sl_disks_disk {
	const char *name;               /* of the export; DIR/NAME.img is its file */
	const struct sl_dev_spec *spec; /* its members must outlive the server */
	int64_t size_bytes;             /* 0 = the capacity of the figures */
};

struct sl_disks_config {
	struct sl_loop *loop; /* wall loop, borrowed; `quit` on the control socket stops it */
	const struct sl_disks_disk *disks;
	int n_disks;
	const char *dir;       /* made when missing */
	const char *socket;    /* unix path; NULL = none */
	const char *control;   /* unix path; NULL = none */
	const char *write_log; /* file; NULL = none */
	bool tcp;              /* listen on 127.0.0.1 */
	uint16_t port;         /* 0 = any free one */
	double dilate;         /* all modelled times are multiplied by it */
	int64_t credit_cap_ns; /* lateness credit per connection */
	uint64_t seed;
};

struct sl_disks;

/* Opens files and sockets, and serves while the loop runs. Errors name the file, socket or disk and the
 * remedy. */
int sl_disks_new(const struct sl_disks_config *config, struct sl_disks **ret, struct sl_err *err);
/* An orderly power-off: closes connections, puts what is cached on the medium. Returns 0 or what went wrong
 * with a file or the write log meanwhile. Accepts NULL. */
int sl_disks_free(struct sl_disks *disks, struct sl_err *err);
uint16_t sl_disks_port(const struct sl_disks *disks);

/* Lateness of replies, and modelled latencies, in wall ns; valid until the next use of the server. */
const struct sl_hist *sl_disks_lateness(const struct sl_disks *disks);
const struct sl_hist *sl_disks_modelled(const struct sl_disks *disks);
int64_t sl_disks_credit_used(const struct sl_disks *disks);
/* Requests served so far. */
uint64_t sl_disks_requests(const struct sl_disks *disks);

/* A command of the control socket: "latency on|off", "powercut [SEED]", "fail DISK", "heal DISK", "slow DISK
 * FACTOR", "status", "quit". Lines of text go into reply. 0 or -EINVAL / -EIO with a message. */
int sl_disks_command(struct sl_disks *disks, char *command, char *reply, size_t size, struct sl_err *err);

#endif
