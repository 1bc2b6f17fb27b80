/* The changes that explain tries: one layer's cost parameters at zero, or twice the CPUs. */
#include <errno.h>
#include <string.h>

#include "sim/stack/explain.h"

#define NEVER_NS 1e18           /* a clock that never ticks */
#define NO_LIMIT 1e18           /* bytes per second */
#define HUGE_LOG_BYTES 6.872e10 /* a redo log that is never full: 64 GiB */
#define MANY_THREADS 4096

static const struct {
	const char *layer, *what_if, *key;
} names[SL_WHAT_IFS] = {
    [SL_LAYER_GUEST] = {"program CPU", "program CPU at no cost", "program_cpu"},
    [SL_LAYER_DATABASE] = {"InnoDB", "InnoDB: no redo, no page flushing", "database"},
    [SL_LAYER_FS] = {"ext4 + jbd2", "ext4 without a journal", "fs"},
    [SL_LAYER_HYP] = {"virtual disk", "virtual disk at no cost", "hypervisor"},
    [SL_LAYER_NETWORK] = {"network", "network at no cost", "network"},
    [SL_LAYER_NFSD] = {"nfsd", "nfsd at no cost, no thread limit", "nfsd"},
    [SL_LAYER_ZFS] = {"ZFS", "ZFS records and txgs at no cost", "zfs"},
    [SL_LAYER_THROTTLE] = {"write throttle", "no limit on dirty data", "write_throttle"},
    [SL_LAYER_ZIL] = {"ZIL", "ZIL at no cost", "zil"},
    [SL_LAYER_VDEV] = {"vdev CPU", "encryption and parity at no cost", "vdev_cpu"},
    [SL_LAYER_LOG_DISK] = {"SLOG", "SLOG at no cost", "slog"},
    [SL_LAYER_DATA_DISK] = {"data disks", "data disks at no cost", "data_disks"},
    [SL_WHAT_IF_GUEST_VCPUS] = {"", "twice the guest vCPUs", "guest_vcpus_x2"},
    [SL_WHAT_IF_NAS_VCPUS] = {"", "twice the storage VM vCPUs", "nas_vcpus_x2"},
    [SL_WHAT_IF_SYNC_DISABLED] = {"", "sync=disabled (loses data)", "sync_disabled"},
};

const char *sl_layer_name(enum sl_layer layer)
{
	return names[layer].layer;
}

const char *sl_what_if_name(enum sl_what_if what)
{
	return names[what].what_if;
}

const char *sl_what_if_key(enum sl_what_if what)
{
	return names[what].key;
}

static void free_disks(struct sl_dev_spec *specs, int n)
{
	for (int i = 0; i < n; i++) {
		specs[i] = (struct sl_dev_spec){.kind = SL_DEV_NULL};
		memcpy(specs[i].name, "null", sizeof("null"));
	}
}

static bool is_local(const struct sl_workload *workload)
{
	return workload->kind == SL_WL_SYNCWRITE && workload->access == SL_ACCESS_LOCAL;
}

static bool apply_guest(int layer, const struct sl_workload *workload, struct sl_box *box)
{
	if (layer == SL_LAYER_GUEST && is_local(workload)) {
		box->local_call_cpu_ns = 0;
		return true;
	}
	if (workload->kind == SL_WL_SYNCWRITE ||
	    (layer == SL_LAYER_DATABASE && workload->kind != SL_WL_OLTP)) {
		return false; /* has no file system or no database */
	}
	switch (layer) {
	case SL_LAYER_GUEST:
		box->guest_oltp_cpu_ns = box->guest_file_cpu_ns = box->guest_fsync_cpu_ns = 0;
		box->guest_switch_ns = 0;
		break;
	case SL_LAYER_DATABASE:
		box->redo_bytes = 1;
		box->log_size_bytes = HUGE_LOG_BYTES;
		box->io_capacity = 0;
		break;
	default:
		box->guest_block_cpu_ns = 0;
		box->guest_tick_ns = NEVER_NS; /* time stamps never change: nothing to commit */
		break;
	}
	return true;
}

static void apply_path(int layer, struct sl_box *box)
{
	switch (layer) {
	case SL_LAYER_HYP:
		box->hyp_op_delay_ns = 0;
		break;
	case SL_LAYER_NETWORK:
		box->link_bps = NO_LIMIT;
		box->nic_rx_frame_ns = box->nic_tx_segment_ns = 0;
		break;
	default:
		box->nfsd_op_cpu_ns = 0;
		box->nfsd_byte_bps = NO_LIMIT;
		box->nfsd_threads = MANY_THREADS;
		break;
	}
}

static bool apply_pool(int layer, struct sl_box *box)
{
	switch (layer) {
	case SL_LAYER_ZFS:
		box->zfs_copy_bps = box->zfs_buffer_bps = NO_LIMIT;
		box->zfs_checksum_bps = box->zfs_lz4_bps = box->zfs_lz4_skip_bps = NO_LIMIT;
		box->zfs_record_cpu_ns = box->zfs_dirty_cpu_ns = 0;
		box->zfs_issue_cpu_ns = box->zfs_sync_cpu_ns = 0;
		return true;
	case SL_LAYER_THROTTLE:
		return false; /* it waits for the data disks: without it memory would be the limit */
	case SL_LAYER_ZIL:
		box->zil_commit_cpu_ns = box->zil_commit_delay_ns = 0;
		return box->sync != SL_SYNC_DISABLED;
	case SL_LAYER_VDEV:
		if (box->encryption == SL_ENCRYPT_NONE &&
		    (box->data_layout == SL_LAYOUT_STRIPE || box->data_layout == SL_LAYOUT_MIRROR)) {
			return false;
		}
		box->encryption = SL_ENCRYPT_NONE;
		box->parity_bps = 0; /* free */
		return true;
	case SL_LAYER_LOG_DISK:
		/* Without a log device: what an ideal one would bring. */
		box->n_log = box->n_log > 0 ? box->n_log : 1;
		free_disks(box->log, box->n_log);
		return box->sync != SL_SYNC_DISABLED;
	default:
		free_disks(box->data, box->n_data);
		free_disks(box->special, box->n_special);
		free_disks(box->cache, box->n_cache);
		return true;
	}
}

bool sl_what_if_apply(enum sl_what_if what, const struct sl_workload *workload, struct sl_box *box)
{
	bool syncs = box->sync != SL_SYNC_DISABLED;

	if (workload->kind == SL_WL_DISK) {
		return false; /* a bare disk: nothing is above it, and without it nothing is left */
	}
	switch ((int)what) {
	case SL_LAYER_GUEST:
	case SL_LAYER_DATABASE:
	case SL_LAYER_FS:
		return apply_guest((int)what, workload, box);
	case SL_LAYER_HYP:
	case SL_LAYER_NETWORK:
	case SL_LAYER_NFSD:
		apply_path((int)what, box);
		return !is_local(workload);
	case SL_WHAT_IF_GUEST_VCPUS:
		box->guest_vcpus *= 2;
		return workload->kind != SL_WL_SYNCWRITE;
	case SL_WHAT_IF_NAS_VCPUS:
		box->nas_vcpus *= 2;
		return true;
	case SL_WHAT_IF_SYNC_DISABLED:
		box->sync = SL_SYNC_DISABLED;
		return syncs;
	default:
		return apply_pool((int)what, box);
	}
}

/* A run without a limit on requests gets one, since time may then stand still. */
int sl_what_if_run(const struct sl_box *box, const struct sl_workload *workload,
		   const struct sl_stack_setup *setup, struct sl_explain_cell *cell, struct sl_err *err)
{
	struct sl_workload bounded = *workload;
	int rc = 0;

	if (bounded.max_requests == 0) {
		bounded.max_requests = (int64_t)(4 * cell->measure.operations + 1000);
	}
	for (int what = 0; rc == 0 && what < SL_WHAT_IFS; what++) {
		struct sl_box changed = *box;
		struct sl_measure measure;

		cell->tried[what] = sl_what_if_apply((enum sl_what_if)what, workload, &changed);
		if (cell->tried[what]) {
			rc = sl_stack_run(&changed, &bounded, setup, &measure, err);
			cell->rate[what] = rc == 0 ? sl_speed_value(&measure, workload) : 0;
			/* Where time stands still, nothing is left that costs any. */
			cell->tried[what] = rc == 0;
			rc = rc == -EDOM ? 0 : rc;
			if (cell->tried[what] &&
			    sl_what_if_gain(cell, (enum sl_what_if)what) < -SL_WHAT_IF_NOTHING_PCT) {
				sl_what_if_why(box, &cell->measure, &changed, &measure, cell->why[what],
					       sizeof(cell->why[what]));
			}
		}
	}
	return rc;
}
