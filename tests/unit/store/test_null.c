#include <criterion/criterion.h>

#include "sim/base/loop.h"
#include "sim/store/store.h"

struct probe {
	struct sl_store_req req;
	int fired;
	int64_t at_ns;
};

static void probe_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct probe *probe = sl_container_of(timer, struct probe, req.done);

	probe->fired++;
	probe->at_ns = now_ns;
}

Test(store_null, completes_now_but_not_from_inside_submit)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	struct sl_store *store = sl_store_new_null(loop);
	struct probe probes[3] = {0};

	cr_assert_eq(sl_loop_run_until(loop, 1000, NULL), 0);
	for (int i = 0; i < 3; i++) {
		probes[i].req.done.fire = probe_fire;
		probes[i].req.op = i == 0 ? SL_STORE_WRITE : SL_STORE_COMMIT;
		probes[i].req.stable = SL_FILE_SYNC;
		sl_store_submit(store, sl_loop_now(loop), &probes[i].req);
		cr_assert_eq(probes[i].fired, 0);
	}
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(probes[i].fired, 1);
		cr_assert_eq(probes[i].at_ns, 1000);
		cr_assert_eq(probes[i].req.stable, SL_FILE_SYNC);
	}
	sl_store_free(store);
	sl_loop_free(loop);
}
