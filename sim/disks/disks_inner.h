/* What the server's files share. Internal to sim/serve. */
#ifndef SL_DISKS_DISKS_INNER_H
#define SL_DISKS_DISKS_INNER_H

#include "sim/disks/disk_conn.h"
#include "sim/disks/disk_image.h"
#include "sim/disks/disk_pacer.h"
#include "sim/disks/disks.h"
#include "sim/disks/writelog.h"
#include "sim/nbd/nbd.h"
#include "sim/serve/control.h"
#include "sim/serve/listen.h"

struct sl_disks;

struct sl_served_disk {
	char name[64], device[SL_DEV_NAME_MAX];
	struct sl_served_image *image;
	struct sl_disk_pacer *pacer; /* also in the server's array */
	struct sl_disks *disks;
	int64_t size_bytes;
	double slow; /* factor */
	bool failed;
};

struct sl_disks {
	struct sl_loop *loop;
	struct sl_nbd *nbd;
	struct sl_disk_conns conns;
	struct sl_listener socket, tcp;
	struct sl_control *control;
	struct sl_writelog *log;
	struct sl_hist lateness, modelled;
	struct sl_timer destage; /* while something is cached: the files follow the models */
	double dilate;
	bool instant; /* latencies are off */
	unsigned cuts;
	int n_disks;
	struct sl_served_disk disks[SL_DISKS_MAX];
	struct sl_disk_pacer *pacers[SL_DISKS_MAX];
};

#endif
