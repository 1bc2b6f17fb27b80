/* What a real engine says of a cell besides its rate: how well the clock was kept, and what was counted. */
#ifndef SL_STACK_TIMING_H
#define SL_STACK_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/stack/trust.h"

/* How well the wall clock kept the modelled times of one live cell; all in ns of the wall clock. */
struct sl_timing {
	int variant, workload;
	int64_t lateness_p50_wall_ns, lateness_p99_wall_ns; /* reply sent - modelled completion */
	int64_t modelled_p50_wall_ns, modelled_p99_wall_ns; /* modelled latency of COMMIT and stable WRITE */
	int64_t credit_used_ns;
	int64_t null_rtt_ns; /* median round trip of a NULL call: what the model(lab) adds per call */
	double reads, writes, commits; /* NFS calls per operation of the load */
	double write_bytes;            /* of one WRITE */
	struct sl_trust trust;         /* the verdict, by sim/stack/trust.h, and why */
	bool trustworthy;              /* trust.verdict is SL_TRUST_YES */
};

/* What a cell of engine vm leaves behind, of its last run. Texts are owned, as the programs printed them. */
struct sl_evidence {
	int variant, workload;
	char *zpool_status, *zpool_iostat, *zil, *disks;
	uint64_t log_writes, data_writes, data_flushes; /* requests at the modelled disks during the load */
	double guest_busy, storage_busy, host_busy; /* shares of the CPU time of the VMs and this machine */
};

void sl_evidence_fini(struct sl_evidence *evidence);

#endif
