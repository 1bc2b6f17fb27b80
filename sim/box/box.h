/* A scenario resolved for one variant: every key has a value. The model stack is assembled from this alone.
 */
#ifndef SL_BOX_BOX_H
#define SL_BOX_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/units.h"
#include "sim/device/spec.h"

#define SL_BOX_DATA_MAX 32
#define SL_BOX_LOG_MAX 8
#define SL_BOX_SPECIAL_MAX 8
#define SL_BOX_CACHE_MAX 8

/* Positions in the word lists of keys.def. */
enum {
	SL_HYP_ESXI,
	SL_HYP_QEMU,
	SL_HYP_PROXMOX,
	SL_HYPERVISORS
};
enum sl_nfs_client {
	SL_CLIENT_ESXI,   /* sends FILE_SYNC only: nothing to keep */
	SL_CLIENT_LIBNFS, /* keeps nothing and does not compare the verifier: QEMU's NFS driver */
	SL_CLIENT_LINUX,  /* keeps the data and sends it again when the verifier has changed */
	SL_CLIENTS
};
enum {
	SL_NIC_VMXNET3,
	SL_NIC_E1000,
	SL_NIC_VIRTIO
};
enum { /* nas.zil: generations of ZFS */
	SL_ZFS_2014,
	SL_ZFS_20,
	SL_ZFS_21,
	SL_ZFS_22,
	SL_ZFS_23,
	SL_ZFS_24
};
enum {
	SL_LAYOUT_STRIPE,
	SL_LAYOUT_MIRROR,
	SL_LAYOUT_RAIDZ1,
	SL_LAYOUT_RAIDZ2,
	SL_LAYOUT_RAIDZ3
};
enum {
	SL_FLUSH_IGNORED,
	SL_FLUSH_HONOURED
};
enum { /* write_cache */
	SL_DISK_CACHE_ON,
	SL_DISK_CACHE_OFF
};
enum {
	SL_SYNC_STANDARD,
	SL_SYNC_ALWAYS,
	SL_SYNC_DISABLED
};
enum {
	SL_LOGBIAS_LATENCY,
	SL_LOGBIAS_THROUGHPUT
};
enum {
	SL_COMPRESS_OFF,
	SL_COMPRESS_LZ4
};
enum {
	SL_ENCRYPT_NONE,
	SL_ENCRYPT_GELI,
	SL_ENCRYPT_ZFS,
	SL_ENCRYPT_LUKS
};
enum {
	SL_DB_MARIADB_55,
	SL_DB_MARIADB_1011
};
enum {
	SL_CACHE_NONE,
	SL_CACHE_WRITETHROUGH,
	SL_CACHE_UNSAFE
};

enum { /* innodb_flush_method */
	SL_FLUSH_METHOD_AUTO,
	SL_FLUSH_METHOD_FSYNC,
	SL_FLUSH_METHOD_O_DIRECT
};
enum {
	SL_DOUBLEWRITE_OFF,
	SL_DOUBLEWRITE_ON
};

struct sl_box {
#define SL_KEY(key, unit, field, dflt, min, max, help) double field;
#define SL_KEY_INT(key, field, dflt, min, max, help) int64_t field;
#define SL_KEY_ENUM(key, field, dflt, words, help) int field;
#include "sim/box/keys.def"
#undef SL_KEY
#undef SL_KEY_INT
#undef SL_KEY_ENUM
	int n_data, n_log, n_special, n_cache; /* n_log == 0: no SLOG, ... */
	struct sl_dev_spec data[SL_BOX_DATA_MAX];
	struct sl_dev_spec log[SL_BOX_LOG_MAX];
	struct sl_dev_spec special[SL_BOX_SPECIAL_MAX];
	struct sl_dev_spec cache[SL_BOX_CACHE_MAX];
};

/* The data disks and the log devices with this box's own figures (params.data.*, params.log.link_rate) and
 * caches in place of the catalogue's. `ret` has room for n_data, n_log of them; it may be box->data,
 * box->log. */
void sl_box_data_disks(const struct sl_box *box, struct sl_dev_spec *ret);
void sl_box_log_disks(const struct sl_box *box, struct sl_dev_spec *ret);

/* Is there encryption between the vdevs and their disks? */
bool sl_box_encrypts_disks(const struct sl_box *box);

enum sl_workload_kind {
	SL_WL_OLTP,
	SL_WL_FILEIO,
	SL_WL_SYNCWRITE,
	SL_WL_DISK /* writes on the first data disk itself: no pool, no guest */
};

enum { /* list of oltp */
	SL_LIST_COMPLEX,
	SL_LIST_READ_WRITE,
	SL_LIST_WRITE_ONLY,
	SL_LIST_UPDATE_INDEX
};
enum {
	SL_DIST_SPECIAL,
	SL_DIST_UNIFORM,
	SL_DIST_ZIPF,
	SL_DIST_PARETO
};
enum {
	SL_MODE_SEQWR,
	SL_MODE_SEQRD,
	SL_MODE_RNDRD,
	SL_MODE_RNDWR,
	SL_MODE_RNDRW
};
enum { /* dialect */
	SL_DIALECT_PLAIN,
	SL_DIALECT_SYSBENCH_04
};
enum { /* fsync_end of fileio */
	SL_FSYNC_END_NEVER,
	SL_FSYNC_END_AFTER_REQUESTS,
	SL_FSYNC_END_ALWAYS
};
enum {
	SL_PATTERN_SEQUENTIAL,
	SL_PATTERN_RANDOM
};
enum {
	SL_WRITE_FILE_SYNC,
	SL_WRITE_UNSTABLE_COMMIT
};
enum {
	SL_ACCESS_NFS,
	SL_ACCESS_LOCAL
};
enum {
	SL_METRIC_RATE,
	SL_METRIC_IOSTAT_WRITES,
	SL_METRIC_IOSTAT_KIB,
	SL_METRIC_THROUGHPUT,
	SL_METRIC_MEAN,
	SL_METRIC_P50,
	SL_METRIC_P95,
	SL_METRIC_P99,
	SL_METRIC_P999,
	SL_METRIC_MAX
};

enum {
	SL_DISK_IOPS,
	SL_DISK_MIB,
	SL_DISK_LEAST_IOPS,
	SL_DISK_LEAST_MIB,
	SL_DISK_STEADY_IOPS,
	SL_DISK_STEADY_MIB,
	SL_DISK_STEADY_MINUTES,
	SL_DISK_FILL_MINUTES,
	SL_DISK_LATENCY_US,
	SL_DISK_THROUGHPUT,
	SL_DISK_MEAN,
	SL_DISK_P50,
	SL_DISK_P95,
	SL_DISK_P99,
	SL_DISK_P999,
	SL_DISK_MAX
};
enum {
	SL_DISK_FLUSH_NEVER,
	SL_DISK_FLUSH_EACH
};
enum {
	SL_DISK_FRESH,
	SL_DISK_FULL,
	SL_DISK_STEADY
};

struct sl_workload {
	char name[64];
	enum sl_workload_kind kind;
	int run; /* the workload whose run this one looks at: itself, or the one named by `of` */
	const char
	    *unit; /* its figure is shown in, as published, static; NULL: the usual one of its metric */
	double unit_size; /* of that unit, in base units */
#define SL_WL_NUM(kinds, key, unit, field, dflt, min, max, help) double field;
#define SL_WL_INT(kinds, key, field, dflt, min, max, help) int64_t field;
#define SL_WL_ENUM(kinds, key, field, dflt, words, help) int field;
#include "sim/box/workload.def"
#undef SL_WL_NUM
#undef SL_WL_INT
#undef SL_WL_ENUM
};

/* Does the load write zero bytes only? */
bool sl_workload_writes_zeros(const struct sl_workload *workload);

/* How far its other data compresses: what it says itself, else what the box says. */
double sl_workload_ratio(const struct sl_workload *workload, const struct sl_box *box);

#endif
