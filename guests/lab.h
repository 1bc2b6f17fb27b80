/*
 * A box of virtual machines: a storage VM with OpenZFS over served disks, its export, and a guest whose disk
 * lies on that export. Brought up in order; what stands on something that died only follows.
 *
 * The caller is in mount and network namespaces of its own and serves the disks on config->nbd_socket.
 * Contract with the images: docs/vm-lab.md.
 */
#ifndef SL_GUESTS_LAB_H
#define SL_GUESTS_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "guests/domain_xml.h"
#include "sim/base/err.h"
#include "sim/box/box.h"

#define SL_LAB_EXPORT "/tank/vm"
#define SL_LAB_GUEST_DISK SL_LAB_EXPORT "/guest.img"
#define SL_LAB_DISKS_MAX 40

enum sl_lab_role {
	SL_LAB_DATA,
	SL_LAB_SPECIAL,
	SL_LAB_CACHE,
	SL_LAB_LOG /* waits for sl_lab_pool_set */
};

/* A disk of the storage VM: an export of the disk server. */
struct sl_lab_disk {
	char serial[24];                /* "hdd0", "log0": also the name of the export */
	const struct sl_dev_spec *spec; /* borrowed */
	enum sl_lab_role role;
};

/* A log or special vdev: a disk, or with n > 1 a mirror of several. */
struct sl_lab_vdev {
	int n;
	int disk[SL_DEV_MEMBERS_MAX]; /* positions in sl_lab_config.disks */
};

/* Strings are borrowed. */
struct sl_lab_config {
	const char *dir; /* state folder of the lab */
	const char *nbd_socket;
	const struct sl_box *box;                /* pool, NAS and guest as the scenario says */
	const char *storage_image, *guest_image; /* folders with vmlinuz, initramfs; the guest's disk.raw */
	const char *storage_cmdline, *guest_cmdline;
	const char *load; /* the program sloglab-load on this machine */
	bool kvm;
	bool ext4; /* an ext4 export in place of a pool: the cheap tier, without OpenZFS */
	bool guest;
	double dilate;
	int n_disks, n_special;
	const struct sl_lab_disk *disks; /* data disks in the order of the box */
	const struct sl_lab_vdev *special;
	void (*progress)(void *arg, const char *what); /* at the start of each step; may be NULL */
	bool (*stopped)(void);                         /* may be NULL */
	void *arg;
};

struct sl_lab;

enum sl_lab_machine {
	SL_LAB_STORAGE,
	SL_LAB_GUEST
};

/* What the lab changes of the box, one line each: memory is capped. Filled into *ret. */
void sl_lab_memory(const struct sl_box *box, int64_t *ret_storage_bytes, int64_t *ret_guest_bytes);

/* A timer of ZFS in the storage VM, dilated like the disks below it: whole seconds, at least 1. */
int sl_lab_timer_s(double ns, double dilate);

/* Domain of a machine as sl_lab_up would define it; strings live in `config` and *ret_text. */
struct sl_lab_text {
	char tap[16], mac[18], log[4096], console[4096], agent[4096], kernel[4096], initrd[4096],
	    cmdline[2048];
	char products[SL_LAB_DISKS_MAX][17];
};
void sl_lab_domain(const struct sl_lab_config *config, enum sl_lab_machine machine, struct sl_domain *ret,
		   struct sl_lab_text *ret_text);

/* Everything from the network to the guest; on failure all is down again, and the message says which step. */
int sl_lab_up(const struct sl_lab_config *config, struct sl_lab **ret, struct sl_err *err);
/* Guest first, then the pool, then the storage VM; cuts what does not follow within seconds. Accepts NULL. */
void sl_lab_down(struct sl_lab *lab);

/* NULL when it does not run. */
struct sl_vm *sl_lab_machine(struct sl_lab *lab, enum sl_lab_machine machine);

/* "running", "off...", "died...", or for a guest whose storage is gone "all paths down: ...". */
void sl_lab_state(struct sl_lab *lab, enum sl_lab_machine machine, char *ret, size_t size);

/* Sets sync and logbias of the datastore as `box` says (recordsize and compression too, for what is written
 * from now on), and puts the log on these vdevs (n = 0: none), with zpool add and remove on the live pool. */
int sl_lab_pool_set(struct sl_lab *lab, const struct sl_box *box, const struct sl_lab_vdev *logs, int n,
		    struct sl_err *err);

/* After the storage VM died or lost its power: starts it again, imports the pool, exports it. */
int sl_lab_storage_restart(struct sl_lab *lab, struct sl_err *err);
/* A guest, fresh from its disk on the datastore. -EHOSTDOWN while the storage VM does not run. */
int sl_lab_guest_start(struct sl_lab *lab, struct sl_err *err);
/* Pulls the plug. */
void sl_lab_kill(struct sl_lab *lab, enum sl_lab_machine machine);

#endif
