#include "engine/live_lab.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/measured.h"
#include "guests/lab.h"
#include "sim/base/units.h"

#define NO_LIMIT_BPS 1e12

__attribute__((format(printf, 2, 3))) static void substitute(struct sl_result *result, const char *format,
							     ...)
{
	char text[sizeof(result->substitutions[0])];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (int i = 0; i < result->n_substitutions; i++) {
		if (strcmp(result->substitutions[i], text) == 0) {
			return;
		}
	}
	if (result->n_substitutions < SL_SUBSTITUTIONS_MAX) {
		memcpy(result->substitutions[result->n_substitutions++], text, sizeof(text));
	}
}

void sl_live_lab_unmeasured(struct sl_result *result)
{
	substitute(result,
		   "this host's figures: other work disturbed their measurement; those of the scenario's "
		   "host stand in model(lab)");
}

static void network_substitute(struct sl_box *box, struct sl_result *result)
{
	box->nic_rx_frame_ns = 0;
	box->nic_tx_segment_ns = 0;
	substitute(result, "network: loopback; params.nic.rx_frame, params.nic.tx_segment = 0");
}

static void client_substitute(const struct sl_live_lab *lab, struct sl_box *box, struct sl_result *result)
{
	box->hyp_op_delay_ns = (double)lab->null_ns;
	box->link_bps = NO_LIMIT_BPS;
	box->guest_file_cpu_ns = 0;
	box->guest_fsync_cpu_ns = 0;
	box->guest_block_cpu_ns = 0;
	box->guest_cache_share = 0;
	substitute(result, "client: libnfs; params.hyp.op_delay = measured NULL call of each cell, "
			   "params.link.rate without limit, params.guest.*_cpu and cache_share = 0");
}

/* The host runs all of it: programs, file system, block layer, NFS client, and the server beside them. */
static void guest_substitute(struct sl_box *box, struct sl_result *result)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	box->hypervisor = SL_HYP_QEMU;
	box->client = SL_CLIENT_LIBNFS;
	box->disk_cache = SL_CACHE_NONE;
	box->hyp_queue = 1;
	substitute(result,
		   "hypervisor: QEMU's NFS driver (UNSTABLE, COMMIT on flush) behind FUSE, which takes one "
		   "request at a time; params.hyp.queue = 1");
	box->guest_vcpus = cpus > 0 ? cpus : 1;
	substitute(result,
		   "guest: no VM, its programs run on this host; guests.vcpus = %d, costs from the host "
		   "profile",
		   (int)box->guest_vcpus);
	if (pages > 0 && page > 0) {
		box->guest_memory_bytes = (double)pages * (double)page;
		box->guest_cache_share = 1;
		substitute(result, "page cache: this host's memory, warm; guests.memory = %.1fGiB",
			   box->guest_memory_bytes / 1073741824);
	}
	if (box->database != SL_DB_MARIADB_1011) {
		box->database = SL_DB_MARIADB_1011;
		substitute(result,
			   "database: MariaDB of this host (fdatasync); guests.database = mariadb-10.11, "
			   "params.innodb.redo_per_txn from the host profile");
	}
}

/* What takes real time looks faster beside modelled times that are stretched. */
static void real_dilate(double dilate, struct sl_box *box)
{
	double *const times[] = {&box->hyp_op_delay_ns,    &box->guest_oltp_cpu_ns,  &box->guest_file_cpu_ns,
				 &box->guest_fsync_cpu_ns, &box->guest_block_cpu_ns, &box->guest_switch_ns,
				 &box->guest_slice_ns,     &box->guest_tick_ns};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		*times[i] /= dilate;
	}
	box->link_bps = box->link_bps * dilate < NO_LIMIT_BPS ? box->link_bps * dilate : NO_LIMIT_BPS;
}

void sl_live_lab_box(const struct sl_live_lab *lab, struct sl_box *box, struct sl_result *result)
{
	network_substitute(box, result);
	if (lab->guest == SL_LIVE_NO_GUEST) {
		client_substitute(lab, box, result);
	} else {
		guest_substitute(box, result);
	}
	if (lab->dilate > 1) {
		real_dilate(lab->dilate, box);
		substitute(result,
			   "dilation: modelled times take %gx on the wall; what is real here counts as "
			   "%gx as fast",
			   lab->dilate, lab->dilate);
	}
}

double sl_live_lab_real_ns(enum sl_live_guest guest, const struct sl_box *box)
{
	double request_ns = box->hyp_op_delay_ns + box->guest_block_cpu_ns;

	switch (guest) {
	case SL_LIVE_NO_GUEST:
		return box->hyp_op_delay_ns;
	case SL_LIVE_FILES:
		return 2 * request_ns;
	case SL_LIVE_DATABASE:
		break;
	}
	return box->guest_oltp_cpu_ns + 2 * request_ns;
}

double sl_live_lab_dilate(enum sl_live_guest guest, const struct sl_box *here, const struct sl_box *box,
			  struct sl_result *result)
{
	static const char *const work[] = {[SL_LIVE_NO_GUEST] = "an NFS call",
					   [SL_LIVE_FILES] = "a WRITE and its COMMIT",
					   [SL_LIVE_DATABASE] = "a transaction and its commit"};
	double here_ns = sl_live_lab_real_ns(guest, here), box_ns = sl_live_lab_real_ns(guest, box);
	double k = sl_measured_dilate(here_ns, box_ns);
	char on_here[32], on_box[32];

	sl_units_time((int64_t)here_ns, on_here, sizeof(on_here));
	sl_units_time((int64_t)box_ns, on_box, sizeof(on_box));
	substitute(result,
		   "dilate auto: %s takes %s on this host outside of what is modelled, %s on the scenario's "
		   "box: k = %.6g",
		   work[guest], on_here, on_box, k);
	return k;
}

/* Virtual machines */

static void times_scale(double *const *times, size_t n, double factor)
{
	for (size_t i = 0; i < n; i++) {
		*times[i] *= factor;
	}
}

/* The CPUs of the lab are as many times as slow as the profile's in all they do. */
static void cpus_substitute(const struct sl_vm_lab *lab, struct sl_box *box, struct sl_result *result)
{
	double guest = lab->guest_factor / lab->dilate;
	double storage = lab->storage_factor / lab->dilate;
	double *const guest_times[] = {&box->guest_oltp_cpu_ns, &box->guest_file_cpu_ns,
				       &box->guest_fsync_cpu_ns, &box->guest_block_cpu_ns,
				       &box->guest_switch_ns};
	double *const storage_times[] = {&box->nfsd_op_cpu_ns,      &box->zil_commit_cpu_ns,
					 &box->zil_commit_delay_ns, &box->zil_flush_cpu_ns,
					 &box->zfs_record_cpu_ns,   &box->zfs_dirty_cpu_ns,
					 &box->zfs_issue_cpu_ns,    &box->zfs_sync_cpu_ns};
	double *const storage_rates[] = {&box->nfsd_byte_bps,    &box->zfs_copy_bps, &box->zfs_buffer_bps,
					 &box->zfs_checksum_bps, &box->zfs_lz4_bps,  &box->zfs_lz4_skip_bps,
					 &box->parity_bps,       &box->zfs_crypt_bps};

	times_scale(guest_times, sizeof(guest_times) / sizeof(guest_times[0]), guest);
	times_scale(storage_times, sizeof(storage_times) / sizeof(storage_times[0]), storage);
	times_scale(storage_rates, sizeof(storage_rates) / sizeof(storage_rates[0]), 1 / storage);
	substitute(result,
		   "CPUs: measured in the lab, guest %.2gx and storage VM %.2gx the profile's times after "
		   "dilation by %.3g",
		   guest, storage, lab->dilate);
}

bool sl_vm_pool_flushes(const struct sl_box *box)
{
	return box->data_flush == SL_FLUSH_HONOURED ||
	       (box->n_log > 0 && box->log_flush == SL_FLUSH_HONOURED);
}

static void zfs_substitute(const char *version, struct sl_box *box, struct sl_result *result)
{
	bool new = strncmp(version, "2.3", 3) == 0;
	int zil = new ? SL_ZFS_23 : SL_ZFS_21;

	if (box->zil != zil) {
		box->zil = zil;
		substitute(result, "OpenZFS %.40s; nas.zil = %s", version, new ? "2.3" : "2.1");
	}
	if (sl_box_encrypts_disks(box)) {
		substitute(result, "%s: pool without encryption; pool.encryption = none",
			   box->encryption == SL_ENCRYPT_GELI ? "GELI has no counterpart on Linux"
							      : "LUKS is not set up in the lab");
		box->encryption = SL_ENCRYPT_NONE;
	}
	if (box->n_cache > 0 && box->l2arc_filled > 0) {
		box->l2arc_filled = 0;
		substitute(result, "L2ARC: empty when the lab comes up; params.l2arc.filled = 0");
	}
}

static void software_substitute(const char *zfs, struct sl_box *box, struct sl_result *result)
{
	if (box->client != SL_CLIENT_LIBNFS) {
		box->client = SL_CLIENT_LIBNFS;
		box->disk_cache = SL_CACHE_NONE;
		substitute(result, "NFS client: QEMU's driver, UNSTABLE and COMMIT; host.client = libnfs");
	}
	if (box->hypervisor == SL_HYP_ESXI) {
		box->hypervisor = SL_HYP_QEMU;
		substitute(result, "hypervisor: QEMU; host.hypervisor = qemu");
	}
	if (box->database != SL_DB_MARIADB_1011) {
		box->database = SL_DB_MARIADB_1011;
		substitute(result, "database: MariaDB 10.11; guests.database = mariadb-10.11");
	}
	zfs_substitute(zfs, box, result);
	if (sl_vm_pool_flushes(box) &&
	    (box->data_flush == SL_FLUSH_IGNORED || (box->n_log > 0 && box->log_flush == SL_FLUSH_IGNORED))) {
		box->data_flush = box->log_flush = SL_FLUSH_HONOURED;
		substitute(result,
			   "ZFS flushes all disks or none; pool.data.flush, pool.log_flush = honoured");
	}
}

static void machines_substitute(const struct sl_vm_lab *lab, struct sl_box *box, struct sl_result *result)
{
	int64_t storage, guest;

	if (box->nic != SL_NIC_VIRTIO) {
		box->nic = SL_NIC_VIRTIO;
		box->nic_rx_frame_ns = box->nic_tx_segment_ns = 0;
		substitute(result, "network: virtio-net; host.nic = virtio, params.nic.* = 0");
	}
	if (!lab->kvm && (box->guest_vcpus != 1 || box->nas_vcpus != 1)) {
		box->guest_vcpus = box->nas_vcpus = 1;
		substitute(result, "emulated CPUs: guests.vcpus = 1, nas.vcpus = 1");
	}
	sl_lab_memory(box, &storage, &guest);
	if ((double)storage < box->nas_memory_bytes || (double)guest < box->guest_memory_bytes) {
		substitute(result, "memory: nas.memory = %lldMiB, guests.memory = %lldMiB",
			   (long long)(storage >> 20), (long long)(guest >> 20));
	}
	box->nas_memory_bytes = (double)storage;
	box->guest_memory_bytes = (double)guest;
}

/* The way from one machine to the other: nothing of it is measured in the lab. */
static void path_assume(const struct sl_box *box, struct sl_result *result)
{
	char delay[32], rate[32];

	sl_units_format(box->hyp_op_delay_ns, SL_UNIT_TIME, delay, sizeof(delay));
	sl_units_format(box->link_bps, SL_UNIT_RATE, rate, sizeof(rate));
	substitute(result,
		   "assumed: the lab's NFS client and link are as the scenario's; params.hyp.op_delay = %s, "
		   "params.link.rate = %s",
		   delay, rate);
}

void sl_vm_lab_box(const struct sl_vm_lab *lab, struct sl_box *box, struct sl_result *result)
{
	software_substitute(lab->zfs, box, result);
	machines_substitute(lab, box, result);
	path_assume(box, result);
	if (lab->guest_factor > 0 && lab->storage_factor > 0) {
		cpus_substitute(lab, box, result);
	}
}
