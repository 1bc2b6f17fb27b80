/* How late replies leave, and what credit their client has for it. */
#include <criterion/criterion.h>

#include "sim/serve/dues.h"

#define US INT64_C(1000)

struct rig {
	struct sl_loop *loop;
	struct sl_hist lateness;
	struct sl_dues_sink sink;
	struct sl_dues dues;
};

static void rig_init(struct rig *rig, int64_t credit_cap_ns)
{
	*rig = (struct rig){.loop = sl_loop_new_virtual()};
	cr_assert_not_null(rig->loop);
	cr_assert_eq(sl_hist_init(&rig->lateness), 0);
	rig->sink = (struct sl_dues_sink){
	    .loop = rig->loop, .lateness = &rig->lateness, .credit_cap_ns = credit_cap_ns};
	cr_assert_eq(sl_loop_run_until(rig->loop, 1000 * US, NULL), 0);
}

static void rig_fini(struct rig *rig)
{
	sl_hist_fini(&rig->lateness);
	sl_loop_free(rig->loop);
}

/* Due at 980 and 960 us, leaving at 1000: 30 us of credit. The second could not have left before its call
 * came, at 990: that much is not its own lateness. */
Test(dues, lateness_is_each_replys_own_and_credit_their_mean)
{
	struct rig rig;

	rig_init(&rig, 50 * US);
	sl_dues_add(&rig.dues, &rig.sink, 980 * US, 980 * US);
	sl_dues_add(&rig.dues, &rig.sink, 960 * US, 990 * US);
	cr_assert_eq(rig.lateness.count, 0);
	(void)sl_dues_leave(&rig.dues, &rig.sink);
	cr_assert_eq(rig.lateness.count, 2);
	cr_assert_eq(rig.lateness.min, 10 * US);
	cr_assert_eq(rig.lateness.max, 20 * US);
	cr_assert_eq(rig.dues.credit_ns, 30 * US);
	(void)sl_dues_leave(&rig.dues, &rig.sink);
	cr_assert_eq(rig.lateness.count, 2, "they left already");
	cr_assert_eq(rig.dues.credit_ns, 30 * US);
	rig_fini(&rig);
}

Test(dues, credit_is_capped)
{
	struct rig rig;

	rig_init(&rig, 50 * US);
	sl_dues_add(&rig.dues, &rig.sink, 0, 0);
	(void)sl_dues_leave(&rig.dues, &rig.sink);
	cr_assert_eq(rig.dues.credit_ns, 50 * US);
	rig_fini(&rig);
}

Test(dues, more_than_there_is_room_for_leave)
{
	struct rig rig;

	rig_init(&rig, 50 * US);
	for (int i = 0; i <= SL_DUES_MAX; i++) {
		sl_dues_add(&rig.dues, &rig.sink, 990 * US, 990 * US);
	}
	cr_assert_eq(rig.lateness.count, SL_DUES_MAX);
	(void)sl_dues_leave(&rig.dues, &rig.sink);
	cr_assert_eq(rig.lateness.count, SL_DUES_MAX + 1);
	rig_fini(&rig);
}

/* A reply has left when it is in the socket. An interruption of sending is not part of that, and a host that
 * got slower is seen in time. */
Test(dues, sending_counts_at_its_shortest)
{
	struct rig rig;

	rig_init(&rig, 50 * US);
	for (int i = 0; i < 2000; i++) {
		sl_dues_sent(&rig.sink, (1000 - 8) * US);
	}
	cr_assert_eq(rig.sink.send_ns, 8 * US);
	sl_dues_sent(&rig.sink, (1000 - 4) * US);
	cr_assert_eq(rig.sink.send_ns, 4 * US);
	sl_dues_sent(&rig.sink, 0);
	cr_assert_leq(rig.sink.send_ns, 4 * US + 100, "1000 us are an interruption");
	sl_dues_add(&rig.dues, &rig.sink, 980 * US, 980 * US);
	cr_assert_eq(sl_dues_leave(&rig.dues, &rig.sink), 1000 * US);
	cr_assert_eq(rig.dues.credit_ns, 20 * US + rig.sink.send_ns);
	rig_fini(&rig);
}
