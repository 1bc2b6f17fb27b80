/* Reads of cold files through the whole stack: guest, network, server, pool, disks. */
#include "tests/sim/lib.h"

/*
 * A10: six 7200 rpm disks in raidz2 hold a file of 200 GiB that no cache holds. In order, the pool has four
 * media of 150 MB/s, 600 MB/s; the guest's requests and the copies on the way take more or less of that, but
 * hundreds of MB/s are left. At random a request of 8 KiB is a seek and the last of four turns, 13 ms, 77/s
 * (and 1 in 40 is in memory).
 */
Test(reads, in_order_a_pool_streams_and_at_random_it_seeks)
{
	struct sl_scenario *sc = load_text(
	    "title: t\nhost: {profile: modern-xeon, hypervisor: qemu}\n"
	    "nas: {vcpus: 4, memory: 8GiB, zil: 2.1}\n"
	    "pool: {data: {layout: raidz2, disks: [hdd-7200-desktop x 6]}, compression: off}\n"
	    "guests: [{vcpus: 2, memory: 1GiB}]\n"
	    "workloads:\n"
	    "  seq8k: {kind: fileio, mode: seqrd, files: 1, block: 8KiB, file_total: 200GiB, fsync_every: 0, "
	    "max_time: 2s, max_requests: 0}\n"
	    "  seq1m: {kind: fileio, mode: seqrd, files: 1, block: 1MiB, file_total: 200GiB, fsync_every: 0, "
	    "max_time: 2s, max_requests: 0}\n"
	    "  rnd8k: {kind: fileio, mode: rndrd, files: 1, block: 8KiB, file_total: 200GiB, fsync_every: 0, "
	    "max_time: 10s, max_requests: 0}\n");
	double small = rate_of(sc, "base", "seq8k") * 8192 / 1e6;
	double large = rate_of(sc, "base", "seq1m") * 1048576 / 1e6, random = rate_of(sc, "base", "rnd8k");

	cr_assert(small > 100 && small < 600, "8 KiB: %.0f MB/s", small);
	cr_assert(large > 200 && large < 600, "1 MiB: %.0f MB/s", large);
	cr_assert_float_eq(random, 79, 5, "%.1f/s", random);
	sl_scenario_free(sc);
}
