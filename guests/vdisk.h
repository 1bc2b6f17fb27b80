/*
 * A virtual disk on an NFS datastore as QEMU's block layer has it: qemu-storage-daemon with its NFS driver
 * (UNSTABLE writes, COMMIT on flush) below, a FUSE file above, a loop device over that file, ext4 on it,
 * mounted. What a guest's disk is, without the guest. Needs a sandbox (sandbox.h) with the server's
 * portmapper in it.
 */
#ifndef SL_GUESTS_VDISK_H
#define SL_GUESTS_VDISK_H

#include <limits.h>
#include <stdint.h>

#include "guests/chain.h"
#include "guests/loopdev.h"
#include "guests/process.h"

/* Zero-initialise. */
struct sl_vdisk {
	const char *dir;             /* folder of ours for the FUSE file, the mount point and logs */
	const char *host;            /* address of the NFS server; its portmapper has port 111 there */
	const char *path;            /* of the disk's file: "/EXPORT/NAME" */
	struct sl_patience patience; /* with whatever it waits for; the timeouts are its own */
	bool format;                 /* make the file system before it is mounted */
	/* private */
	char file[PATH_MAX], mount[PATH_MAX];
	struct sl_process daemon;
	struct sl_loopdev loop;
};

/* Makes the disk's file on the datastore, `bytes` large and empty. */
int sl_vdisk_create(const struct sl_vdisk *disk, uint64_t bytes, struct sl_err *err);
/* Kills the daemon: who waits for the disk gets I/O errors instead of waiting for ever. */
void sl_vdisk_abort(struct sl_vdisk *disk);
/* Reads every file of the mounted file system once: the page cache is warm. */
int sl_vdisk_warm(struct sl_vdisk *disk, struct sl_err *err);
/* Writes every file's bytes over themselves: what was only reserved for a file is then written, and later
 * writes need no journal commit for that. So it is after a while of use, e.g. of a redo log once it went
 * round. */
int sl_vdisk_settle(struct sl_vdisk *disk, struct sl_err *err);
/* Adds the parts daemon, loop device and mount to the chain; `disk` must outlive it. */
void sl_vdisk_parts(struct sl_vdisk *disk, struct sl_chain *chain);

#endif
