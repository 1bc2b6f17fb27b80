/* The NFS clients of hypervisors, end to end. */
#include "tests/sim/lib.h"

#define BARE_PARAMS                                                          \
	"  nfsd.op_cpu: {value: 0s, kind: assumed, source: test}\n"          \
	"  nfsd.byte_rate: {value: 1TB/s, kind: assumed, source: test}\n"    \
	"  zil.commit_cpu: {value: 0s, kind: assumed, source: test}\n"       \
	"  zil.commit_delay: {value: 0s, kind: assumed, source: test}\n"     \
	"  zfs.copy_rate: {value: 1TB/s, kind: assumed, source: test}\n"     \
	"  zfs.buffer_rate: {value: 1TB/s, kind: assumed, source: test}\n"   \
	"  zfs.dirty_cpu: {value: 0s, kind: assumed, source: test}\n"        \
	"  zfs.record_cpu: {value: 0s, kind: assumed, source: test}\n"       \
	"  zfs.issue_cpu: {value: 0s, kind: assumed, source: test}\n"        \
	"  zfs.sync_cpu: {value: 0s, kind: assumed, source: test}\n"         \
	"  zfs.checksum_rate: {value: 1TB/s, kind: assumed, source: test}\n" \
	"  zfs.lz4_rate: {value: 1TB/s, kind: assumed, source: test}\n"      \
	"  zfs.lz4_skip_rate: {value: 1TB/s, kind: assumed, source: test}\n" \
	"  guest.block_cpu: {value: 0s, kind: assumed, source: test}\n"

/*
 * 16 KiB and an fsync each. ESXi: data, journal, commit record, each FILE_SYNC: 3 round trips. Linux with
 * O_DIRECT the same: one WRITE takes each, so that the two flushes of the journal find nothing. libnfs: 3
 * WRITEs and 2 COMMITs: 5 round trips of 0.2 ms on a pool that costs nothing, 3 / 5 of the rate.
 */
Test(clients, proxmox_writes_as_esxi_does_and_libnfs_pays_for_its_commits)
{
	struct sl_scenario *sc = load_text(
	    "title: test\n"
	    "nas: {vcpus: 8, memory: 16GiB, nfsd_threads: 64, zil: 2.3}\n"
	    "pool: {data: {layout: stripe, disks: [null]}, log: null}\n"
	    "guests: [{vcpus: 8, memory: 4GiB}]\n"
	    "params:\n"
	    "  hyp.op_delay: {value: 0.2ms, kind: assumed, source: test}\n"
	    "  guest.file_cpu: {value: 0s, kind: assumed, source: test}\n"
	    "  guest.tick: {value: 1ns, kind: assumed, source: each write has a time of its "
	    "own}\n" BARE_PARAMS "workloads:\n"
	    "  w: {kind: fileio, mode: rndwr, files: 1, file_total: 64MiB, block: 16KiB, fsync_every: 1, "
	    "max_requests: 2000, max_time: 0s}\n"
	    "variants:\n"
	    "  esxi: {set: {host.hypervisor: esxi}}\n"
	    "  proxmox: {set: {host.hypervisor: proxmox}}\n"
	    "  qemu: {set: {host.hypervisor: qemu}}\n");
	double esxi = rate_of(sc, "esxi", "w"), proxmox = rate_of(sc, "proxmox", "w"),
	       qemu = rate_of(sc, "qemu", "w");

	cr_expect_float_eq(proxmox, esxi, 0.01 * esxi, "%f beside %f", proxmox, esxi);
	cr_expect_float_eq(qemu, 0.6 * esxi, 0.05 * esxi, "%f beside %f", qemu, esxi);
	sl_scenario_free(sc);
}

/*
 * 10GbE carries 1176.85 MB/s: 1 MiB and its header take 0.891 ms. With 1 ms of delay per call and a pool that
 * costs nothing, 1 MiB after the other takes 1.891 ms each, 7.57 ms for four; 4 MiB in four parts at once
 * share the wire only: 1 + 4 x 0.891 = 4.56 ms, 1.66 times as fast. ESXi's 64 parts of 64 KiB carry 64
 * headers of 200 bytes: the same.
 */
Test(clients, four_mib_in_parallel_parts_beat_one_mib_after_the_other)
{
	struct sl_scenario *sc = load_text(
	    "title: test\n"
	    "host: {link: 10GbE}\n"
	    "nas: {vcpus: 16, memory: 64GiB, nfsd_threads: 256, zil: 2.3}\n"
	    "pool: {data: {layout: stripe, disks: [null]}, log: null}\n"
	    "params:\n"
	    "  hyp.op_delay: {value: 1ms, kind: assumed, source: test}\n" BARE_PARAMS "workloads:\n"
	    "  one: {kind: syncwrite, block: 1MiB, file_total: 1GiB, max_requests: 400, max_time: 0s}\n"
	    "  four: {kind: syncwrite, block: 4MiB, file_total: 1GiB, max_requests: 100, max_time: 0s}\n"
	    "variants:\n"
	    "  esxi: {set: {host.hypervisor: esxi}}\n"
	    "  proxmox: {set: {host.hypervisor: proxmox}}\n");
	double serial = rate_of(sc, "proxmox", "one") / 4;

	cr_expect_float_eq(1e3 / serial, 7.57, 0.03 * 7.57, "%f ms", 1e3 / serial);
	cr_expect_float_eq(rate_of(sc, "proxmox", "four") / serial, 1.66, 0.05, "%f",
			   rate_of(sc, "proxmox", "four") / serial);
	cr_expect_float_eq(rate_of(sc, "esxi", "four") / serial, 1.66, 0.05, "%f",
			   rate_of(sc, "esxi", "four") / serial);
	sl_scenario_free(sc);
}
