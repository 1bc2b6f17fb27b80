/* Which lab a scenario asks for: its folder, its images, the disks of all variants, the log of each. A lab
 * has one pool and one set of machines; log, sync, logbias and timers change while it is up. */
#ifndef SL_ENGINE_LAB_PLAN_H
#define SL_ENGINE_LAB_PLAN_H

#include <limits.h>
#include <stdint.h>

#include "guests/lab.h"
#include "sim/scenario/session.h"

#define SL_LAB_VARIANTS_MAX 32
/* Paths of sockets are short; libvirt's monitor sockets are the deepest below the folder:
 * /libvirt/lib/qemu/domain-1-storage/monitor.sock */
#define SL_LAB_DIR_MAX 58
#define SL_LAB_PATH_MAX 128 /* of a file in it */

struct sl_lab_plan {
	char name[64];            /* of the lab */
	char dir[SL_LAB_DIR_MAX]; /* its state folder */
	char storage_image[PATH_MAX], guest_image[PATH_MAX], load[PATH_MAX + 16];
	char storage_cmdline[512], guest_cmdline[512];
	char zfs[64]; /* version in the image, "2.1.11-1+deb12u1" */
	struct sl_session session;
	int n_variants;
	int variants[SL_LAB_VARIANTS_MAX]; /* indices into the scenario */
	struct sl_box *boxes;              /* owned, one a variant */
	int n_disks;
	struct sl_lab_disk disks[SL_LAB_DISKS_MAX];
	int n_logs[SL_LAB_VARIANTS_MAX];
	struct sl_lab_vdev logs[SL_LAB_VARIANTS_MAX][SL_BOX_LOG_MAX];
	int n_special;
	struct sl_lab_vdev special[SL_BOX_SPECIAL_MAX];
	bool ext4, guest;
	double dilate;
	uint64_t key; /* of the scenario's file and its overrides: two labs of one key are alike */
};

struct sl_lab_plan_options {
	const char *scenario, *name, *zfs; /* name, zfs: NULL = the scenario's name, what nas.zil says */
	const struct sl_words *variants, *sets;
	bool ext4, no_guest;
	double dilate;
};

/* $XDG_STATE_HOME/sloglab/labs/NAME. -ENOENT without a home, -ENAMETOOLONG when sockets would not fit. */
int sl_lab_dir(const char *name, char ret[SL_LAB_DIR_MAX], struct sl_err *err);

/* Loads the scenario and finds images. Errors name what is missing and the command that makes it, or two
 * variants (-EINVAL) that differ in what stays as it is while a lab is up. Release with sl_lab_plan_fini,
 * also after an error. */
int sl_lab_plan(const struct sl_lab_plan_options *options, struct sl_lab_plan *ret, struct sl_err *err);
void sl_lab_plan_fini(struct sl_lab_plan *plan);

/* The lab of the plan; strings of the plan are borrowed, callbacks are empty. `nbd` gets the socket's path.
 */
struct sl_lab_config sl_lab_plan_config(const struct sl_lab_plan *plan, char nbd[SL_LAB_PATH_MAX]);

#endif
