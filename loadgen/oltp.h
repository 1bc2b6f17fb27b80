/* sysbench's OLTP against a real MariaDB: prepared statements, one connection per thread. */
#ifndef SL_LOADGEN_OLTP_H
#define SL_LOADGEN_OLTP_H

#include "loadgen/db.h"
#include "loadgen/load.h"
#include "sim/workload/oltp.h"

struct sl_oltp_load {
	struct sl_db_config db;
	unsigned stages; /* of enum sl_load_stage, done in this order */
	struct sl_oltp_config source;
	uint32_t threads; /* 1 .. 1024 */
	/* 0 = closed loop: a thread's next transaction follows its last. Else an open loop of so many
	 * transactions per second, whose latency counts from when they were due. */
	double rate;
	bool constant; /* evenly spaced arrivals, else Poisson */
	uint64_t seed;
	void (*progress)(void *arg, uint64_t rows, uint64_t of); /* of prepare, ten times per second; may be
								    NULL */
	void *progress_arg;
	/* max_requests counts transactions; what the other threads do at that moment is not counted. */
	struct sl_load_limits limits;
};

/*
 * Runs the stages. `prepare` makes the database and refuses a table that exists; a table that this call made
 * is dropped when it cannot be filled. `cleanup` drops the table; with `prepare` among the stages only one
 * that was made here. `ret` must be initialised and is valid after a failure too. 0, -EINVAL, -ECONNREFUSED,
 * -EEXIST, -ECONNRESET (the server died), -ETIMEDOUT, -EIO; Ctrl-C is no error (ret->interrupted).
 */
int sl_oltp_load_run(const struct sl_oltp_load *load, struct sl_load_result *ret, struct sl_err *err);

#endif
