/*
 * The programs in the guest: sysbench OLTP with its database, sysbench fileio, and a program that writes
 * synchronously over NFS. A client runs its workload on a loop and stops it when its stop rule says so.
 */
#ifndef SL_GUEST_CLIENT_H
#define SL_GUEST_CLIENT_H

#include <stdint.h>

#include "sim/base/cpu.h"
#include "sim/base/hist.h"
#include "sim/base/loop.h"
#include "sim/base/series.h"
#include "sim/base/trace.h"
#include "sim/box/box.h"
#include "sim/guest/ext4.h"
#include "sim/hyp/hyp.h"

/* What every client needs; all borrowed. */
struct sl_client_env {
	struct sl_loop *loop;
	struct sl_cpu *cpu; /* the guest's vCPUs */
	struct sl_hyp *hyp;
	struct sl_store *local;   /* the pool itself, for a program on the storage machine; else NULL */
	struct sl_cpu *local_cpu; /* that machine's CPUs */
	struct sl_ledger *ledger; /* of writes and promises; may be NULL */
	struct sl_trace *trace;   /* may be NULL */
	const struct sl_box *box;
	const struct sl_workload *workload;
	uint64_t seed;
};

/* What the client saw. */
struct sl_client_report {
	uint64_t operations; /* transactions, counted requests or writes */
	int64_t elapsed_ns;
	struct sl_hist latency;  /* of a transaction, a request that waited for storage, or a write */
	struct sl_series series; /* operations over time; counts */
	int64_t read_ns;         /* oltp: of the transactions' time, waiting for pages */
};

struct sl_client;

struct sl_client_ops {
	/* Arms the first events; the client calls sl_loop_stop at its end. */
	void (*start)(struct sl_client *client);
	void (*free)(struct sl_client *client);
};

struct sl_client {
	const struct sl_client_ops *ops;
	struct sl_client_env env;
	struct sl_client_report report;
	bool stopped;
};

/* NULL when out of memory. Free with sl_client_free. */
struct sl_client *sl_oltp_client_new(const struct sl_client_env *env);
struct sl_client *sl_fileio_client_new(const struct sl_client_env *env);
struct sl_client *sl_syncwrite_client_new(const struct sl_client_env *env);
void sl_client_free(struct sl_client *client);

/* Share of the reads of data that the ARC of the storage VM answers once an OLTP workload has run for long,
 * when it keeps `arc_bytes` of data; 1 when the table, or what is asked of it, fits. */
double sl_oltp_arc_hit(const struct sl_box *box, const struct sl_workload *workload, double arc_bytes);

/* Size of the table of an OLTP workload, with its index. */
double sl_oltp_table_bytes(const struct sl_box *box, const struct sl_workload *workload);

/* Private to the room: shared parts of the clients. */
int sl_client_init(struct sl_client *client, const struct sl_client_ops *ops,
		   const struct sl_client_env *env);
/* The guest's file system, as the box has it. */
struct sl_ext4_config sl_client_fs(const struct sl_client_env *env);
/* One operation is done: counts it. */
void sl_client_note(struct sl_client *client, int64_t now_ns);
/* The same, and applies the stop rules (max_requests, max_time); false = stop. */
bool sl_client_count(struct sl_client *client, int64_t now_ns);
/* Ends the run at now_ns. */
void sl_client_stop(struct sl_client *client, int64_t now_ns);

#endif
