/* Private to the room: a pool's parts, shared by its builder (pool_build.c) and its calls (pool.c). */
#ifndef SL_ZFS_POOL_INNER_H
#define SL_ZFS_POOL_INNER_H

#include "sim/zfs/arc.h"
#include "sim/zfs/pool.h"
#include "sim/zfs/reader.h"
#include "sim/zfs/throttle.h"
#include "sim/zfs/txg.h"
#include "sim/zfs/zil.h"

struct sl_pool {
	struct sl_store store;
	struct sl_loop *loop;
	struct sl_cpu *cpu;
	struct sl_trace *trace;
	struct sl_vdev data, log, special, cache; /* the last three may be without disks */
	struct sl_zil zil;
	struct sl_txg txg;
	struct sl_throttle throttle;
	struct sl_arc arc;
	struct sl_reader reader;
	struct sl_slab calls;
	double copy_bps, crypt_bps; /* crypt_bps: native encryption; 0 = none */
	/* Of a writer, for each record that becomes dirty, and for one written whole or in part. */
	int64_t dirty_cpu_ns, whole_cpu_ns, partial_cpu_ns;
	int sync;
	bool holes;
	struct sl_timer log_fails;
};

/* Fills a pool whose loop, cpu and trace are set; what has been built is freed by sl_pool_free. Errors:
 * -EINVAL, -ENOMEM. */
int sl_pool_build(struct sl_pool *pool, const struct sl_box *box, const struct sl_pool_env *env,
		  struct sl_err *err);

#endif
