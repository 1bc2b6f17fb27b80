/*
 * A class of vdevs (the data disks, or the log disks): layout, allocation, and what a block costs each leaf.
 * Stripe: each block goes to one disk, round robin. Mirror: to all, done at the slowest. Raidz1: data sectors
 * in columns plus parity, padded to a multiple of two sectors (vdev_raidz_asize); every column is one leaf
 * I/O. Encryption below the vdevs (GELI) is paid per leaf I/O on the storage VM's CPUs.
 */
#ifndef SL_ZFS_VDEV_H
#define SL_ZFS_VDEV_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/cpu.h"
#include "sim/base/slab.h"
#include "sim/base/trace.h"
#include "sim/device/device.h"

#define SL_VDEV_DISKS_MAX 32

enum sl_vdev_layout {
	SL_VDEV_STRIPE,
	SL_VDEV_MIRROR,
	SL_VDEV_RAIDZ1
};

struct sl_vdev_config {
	enum sl_vdev_layout layout;
	const char *layer; /* static, for the trace: "data disks" */
	int ashift;
	bool flush_honoured;  /* false: a flush is answered at once and reaches nothing */
	int64_t leaf_cpu_ns;  /* CPU per leaf I/O (GELI), reads and writes */
	double leaf_cpu_bps;  /* and per byte; 0 = none */
	double parity_bps;    /* raidz: parity computation; 0 = free */
	int64_t flush_cpu_ns; /* CPU of a flush to one disk */
};

/* Owned by the caller, embedded; must live until `done` fires. */
struct sl_vdev_io {
	struct sl_timer done;
	enum sl_dev_op op;
	int64_t offset_bytes; /* from sl_vdev_alloc */
	int64_t bytes;        /* physical size of the block, before parity */
	uint64_t tag;
	int waiting; /* private: leaf I/Os outstanding */
	int64_t start_ns;
};

struct sl_vdev {
	struct sl_vdev_config config;
	struct sl_loop *loop;   /* borrowed */
	struct sl_cpu *cpu;     /* borrowed: the storage VM's */
	struct sl_trace *trace; /* borrowed, may be NULL */
	int n_disks;
	struct sl_dev *disks[SL_VDEV_DISKS_MAX]; /* owned */
	bool touched[SL_VDEV_DISKS_MAX];         /* written since the last flush */
	int64_t done_ns[SL_VDEV_DISKS_MAX];      /* latest completion of a disk, for the trace */
	int64_t next_offset, size_bytes;
	int rotor;
	struct sl_slab leaves;
	int64_t busy_from_ns, busy_ns; /* time with I/O outstanding */
	int outstanding;
};

/* Disks are added next; the vdev owns them. */
void sl_vdev_init(struct sl_vdev *vdev, const struct sl_vdev_config *config, struct sl_loop *loop,
		  struct sl_cpu *cpu, struct sl_trace *trace);
void sl_vdev_add_disk(struct sl_vdev *vdev, struct sl_dev *disk, int64_t capacity_bytes);
void sl_vdev_fini(struct sl_vdev *vdev);

/* Bytes a block of `bytes` occupies, parity and padding included. */
int64_t sl_vdev_asize(const struct sl_vdev *vdev, int64_t bytes);

/* Next free place for a block of `bytes`: allocation moves forward and wraps at the end. */
int64_t sl_vdev_alloc(struct sl_vdev *vdev, int64_t bytes);

/* Fires io->done when all leaf I/Os are done; at once, from inside this call, for a flush that reaches no
 * disk. */
void sl_vdev_submit(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io);

/* Share of time with I/O outstanding since time 0. */
double sl_vdev_utilisation(const struct sl_vdev *vdev, int64_t now_ns);

/* Written to all disks together, parity and copies included. */
int64_t sl_vdev_bytes_written(const struct sl_vdev *vdev);

#endif
