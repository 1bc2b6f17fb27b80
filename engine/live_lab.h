/* The box of model(lab): what is real on this host in the place of what was modelled. */
#ifndef SL_ENGINE_LIVE_LAB_H
#define SL_ENGINE_LIVE_LAB_H

#include "engine/live_rig.h"
#include "sim/box/box.h"
#include "sim/stack/result.h"

struct sl_live_lab {
	enum sl_live_guest guest;
	int64_t null_ns; /* through libnfs: round trip of a NULL call here */
	double dilate;   /* of the modelled times; what is real is so many times as fast beside them */
};

/* Changes `box` and says in result->substitutions what was changed. With a guest the box comes with this
 * host's profile on it. */
void sl_live_lab_box(const struct sl_live_lab *lab, struct sl_box *box, struct sl_result *result);

/*
 * What is real and takes time here, of the work that the most demanding workload is made of: a transaction
 * and its commit (a WRITE and a COMMIT) with a database, the commit alone with a guest for files, one NFS
 * call without a guest.
 */
double sl_live_lab_real_ns(enum sl_live_guest guest, const struct sl_box *box);

/* Says that this host's figures could not be measured: the scenario's stand in for them. */
void sl_live_lab_unmeasured(struct sl_result *result);

/* --dilate auto: with how much it makes `here`, the box with this host's figures, look like `box` in that
 * work (sl_measured_dilate). Says so in result->substitutions. */
double sl_live_lab_dilate(enum sl_live_guest guest, const struct sl_box *here, const struct sl_box *box,
			  struct sl_result *result);

/* The same for a lab of virtual machines. */
struct sl_vm_lab {
	bool kvm;
	const char *zfs; /* version of OpenZFS, "2.1.11-1+deb12u1" */
	double dilate;
	/* How many times as slow its CPUs are, on the wall, as those of the profile; 0 = as those. */
	double guest_factor, storage_factor;
};

/* Do flushes of that pool reach its disks? ZFS has one switch for all of them: only where they reach neither
 * data disks nor log, it is off. */
bool sl_vm_pool_flushes(const struct sl_box *box);

void sl_vm_lab_box(const struct sl_vm_lab *lab, struct sl_box *box, struct sl_result *result);

#endif
