#include "sim/box/box.h"

void sl_box_data_disks(const struct sl_box *box, struct sl_dev_spec *ret)
{
	for (int i = 0; i < box->n_data; i++) {
		ret[i] = box->data[i];
		ret[i].cache_off |= box->data_cache == SL_DISK_CACHE_OFF;
		if (ret[i].kind != SL_DEV_HDD) {
			continue;
		}
		if (box->data_write_ack_ns > 0) {
			ret[i].write_ack_ns = box->data_write_ack_ns;
		}
		if (box->data_write_bps > 0) {
			ret[i].write_bps = box->data_write_bps;
		}
	}
}

void sl_box_log_disks(const struct sl_box *box, struct sl_dev_spec *ret)
{
	for (int i = 0; i < box->n_log; i++) {
		ret[i] = box->log[i];
		ret[i].cache_off |= box->log_cache == SL_DISK_CACHE_OFF;
		if (box->log_link_bps > 0) {
			ret[i].link_bps = box->log_link_bps;
		}
	}
}

bool sl_box_encrypts_disks(const struct sl_box *box)
{
	return box->encryption == SL_ENCRYPT_GELI || box->encryption == SL_ENCRYPT_LUKS;
}

bool sl_workload_writes_zeros(const struct sl_workload *workload)
{
	if (workload->data < 0) {
		return workload->kind == SL_WL_FILEIO && workload->dialect == SL_DIALECT_SYSBENCH_04;
	}
	return workload->data < 1;
}

double sl_workload_ratio(const struct sl_workload *workload, const struct sl_box *box)
{
	return workload->data >= 1 ? workload->data : box->compress_ratio;
}
