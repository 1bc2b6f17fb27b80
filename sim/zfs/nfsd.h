/*
 * The NFS server's threads in front of a store: a cap on calls in service and CPU per call. More calls than
 * threads wait in order of arrival.
 */
#ifndef SL_ZFS_NFSD_H
#define SL_ZFS_NFSD_H

#include "sim/base/cpu.h"
#include "sim/base/trace.h"
#include "sim/store/store.h"

struct sl_nfsd_config {
	struct sl_store *below; /* taken over: freed with the server */
	struct sl_cpu *cpu;     /* borrowed */
	struct sl_trace *trace; /* borrowed, may be NULL */
	int threads;
	int64_t op_cpu_ns; /* CPU of one call, without the store's */
	double byte_bps;   /* and of its data: network stack and copies, bytes per second of one CPU */
};

/* NULL when out of memory (`below` is then not taken). Free with sl_store_free. */
struct sl_store *sl_nfsd_new(const struct sl_nfsd_config *config);

#endif
