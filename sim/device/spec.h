/* What the catalogue says of a disk: plain figures, filled from YAML through figures.def. */
#ifndef SL_DEVICE_SPEC_H
#define SL_DEVICE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

enum sl_dev_kind {
	SL_DEV_NULL, /* completes at once: the control of every experiment */
	SL_DEV_HDD,
	SL_DEV_SSD,
	SL_DEV_NVRAM,  /* latency and rate, no cache to flush, no wear: NVRAM, Optane, RAM */
	SL_DEV_MIRROR, /* the same on every member */
	SL_DEV_STRIPE, /* chunks in turn on the members */
	SL_DEV_RAID10  /* a controller with a battery-backed cache before a stripe of mirrored pairs */
};

/* What lies between a disk and its host decides about flushes (block.h): FLUSH CACHE of SATA is not queued,
 * it waits for the commands in flight and runs alone; SYNCHRONIZE CACHE of SAS and Flush of NVMe run beside
 * others. */
enum sl_interface {
	SL_IF_SATA,
	SL_IF_SAS,
	SL_IF_NVME
};

#define SL_DEV_NAME_MAX 64
#define SL_DEV_MEMBERS_MAX 16
#define SL_SEEK_POINTS_MAX 16

/* A measured seek: distance as a share of the stroke, and its time. */
struct sl_seek_point {
	double share, ns;
};

struct sl_dev_spec {
	char name[SL_DEV_NAME_MAX];
	enum sl_dev_kind kind;
	int n_members;     /* mirror, stripe, raid10: the disks it is made of */
	int n_seek_points; /* hdd: a measured curve in place of the three seek figures; 0 = none, else >= 2 */
	bool assumed;      /* some figure is only assumed, its own or a member's */
	bool cache_off; /* its write cache was switched off (hdparm -W0, sdparm --clear WCE), its members' too
			 */
	const struct sl_dev_spec *members[SL_DEV_MEMBERS_MAX]; /* borrowed: must outlive sl_dev_new */
	struct sl_seek_point seek_points[SL_SEEK_POINTS_MAX];  /* by rising share */
#define SL_FIGURE(kinds, key, unit, field, dflt, min, max, help) double field;
#define SL_FIGURE_ENUM(kinds, key, field, dflt, words, help) int field;
#include "sim/device/figures.def"
#undef SL_FIGURE
#undef SL_FIGURE_ENUM
};

#endif
