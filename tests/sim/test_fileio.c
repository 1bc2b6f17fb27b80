/* File I/O of a guest, whole runs: what the page cache takes, and what the pool behind it gives. */
#include "tests/sim/lib.h"

/*
 * One file, fsync after N x 64 KiB: 0.6, 3.75 and 4.4 GiB of dirty data, the last more than 32 bits count.
 * Each fsync writes all that is new, so that the rate is the pool's, however much is written at a time.
 */
Test(fileio, more_than_4_gib_of_dirty_data_are_written_as_fast_as_less)
{
	static const char *const loads[] = {"n10000", "n60000", "n70000"};
	struct sl_scenario *sc =
	    load_text("title: t\nhost: {profile: modern-xeon, hypervisor: esxi}\n"
		      "pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}}\n"
		      "workloads:\n"
		      "  n10000: {kind: fileio, mode: seqwr, files: 1, block: 64KiB, file_total: 16GiB, "
		      "fsync_every: 10000, max_time: 0s, max_requests: 140000}\n"
		      "  n60000: {kind: fileio, mode: seqwr, files: 1, block: 64KiB, file_total: 16GiB, "
		      "fsync_every: 60000, max_time: 0s, max_requests: 120000}\n"
		      "  n70000: {kind: fileio, mode: seqwr, files: 1, block: 64KiB, file_total: 16GiB, "
		      "fsync_every: 70000, max_time: 0s, max_requests: 140000}\n");
	double first = rate_of(sc, "base", loads[0]);

	for (int i = 1; i < 3; i++) {
		double rate = rate_of(sc, "base", loads[i]);

		cr_assert(fabs(rate / first - 1) < 0.1, "%s: %.0f, %s: %.0f", loads[0], first, loads[i],
			  rate);
	}
	sl_scenario_free(sc);
}
