/* Where the server's thread runs: this thread is client and server at once, over loopback. */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#include "sim/datastore/affinity.h"
#include "tests/unit/datastore/tcp_pair.h"

#define S INT64_C(1000000000)
/* Calls after which a client is followed; no more, since a busy machine may end it at the next look. */
#define ENOUGH 65

static int cpus_allowed(void)
{
	cpu_set_t set;

	cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	return CPU_COUNT(&set);
}

struct rig {
	struct sl_affinity affinity;
	int pair[2];
	int home; /* CPUs at the start */
};

static void rig_init(struct rig *rig)
{
	tcp_pair(rig->pair);
	rig->home = cpus_allowed();
	cr_assert_eq(access("/proc/thread-self/schedstat", R_OK), 0, "the kernel does not tell who queues");
	sl_affinity_init(&rig->affinity);
	/* Where there is but one CPU, following goes from it to itself. */
	rig->affinity.unable = false;
}

static bool followed(const struct rig *rig)
{
	bool away = rig->affinity.cpu >= 0;

	cr_assert_eq(cpus_allowed(), away ? 1 : rig->home);
	return away;
}

static void rig_fini(struct rig *rig)
{
	sl_affinity_fini(&rig->affinity);
	cr_assert_eq(cpus_allowed(), rig->home, "it went home at the end");
	close(rig->pair[0]);
	close(rig->pair[1]);
}

/* `count` calls of the client, each sent and read alone. */
static void calls(struct rig *rig, int count, int64_t now_ns)
{
	for (int i = 0; i < count; i++) {
		char byte = 0;

		cr_assert_eq(write(rig->pair[0], &byte, 1), 1);
		cr_assert_eq(read(rig->pair[1], &byte, 1), 1);
		sl_affinity_heard(&rig->affinity, rig->pair[1], true, now_ns);
	}
}

Test(affinity, a_client_with_one_call_at_a_time_is_followed)
{
	struct rig rig;

	rig_init(&rig);
	calls(&rig, 48, 0);
	cr_assert_not(followed(&rig), "a few calls say nothing");
	calls(&rig, ENOUGH - 48, 0);
	cr_assert(followed(&rig));
	rig_fini(&rig);
}

Test(affinity, who_has_one_cpu_stays_there)
{
	struct rig rig;
	cpu_set_t one;

	rig_init(&rig);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	rig.home = 1;
	sl_affinity_init(&rig.affinity);
	calls(&rig, ENOUGH, 0);
	cr_assert_not(followed(&rig));
	rig_fini(&rig);
}

Test(affinity, calls_that_overlap_send_it_home)
{
	struct rig rig;

	rig_init(&rig);
	calls(&rig, ENOUGH, 0);
	sl_affinity_heard(&rig.affinity, rig.pair[1], false, 0);
	cr_assert_not(followed(&rig));
	rig_fini(&rig);
}

Test(affinity, so_does_a_second_client_and_the_first_ones_end)
{
	struct rig rig;

	rig_init(&rig);
	calls(&rig, ENOUGH, 0);
	sl_affinity_heard(&rig.affinity, rig.pair[0], true, 0);
	cr_assert_not(followed(&rig));
	calls(&rig, ENOUGH, 0);
	cr_assert(followed(&rig));
	sl_affinity_forget(&rig.affinity, rig.pair[1]);
	cr_assert_not(followed(&rig));
	rig_fini(&rig);
}

/* Queueing is the kernel's to tell; here it is put in as what was seen before. Then it rests: one second, and
 * two when the next try was shorter than that. */
Test(affinity, queueing_for_the_cpu_sends_it_home_for_a_while)
{
	struct rig rig;

	rig_init(&rig);
	calls(&rig, ENOUGH, 0);
	rig.affinity.queued_ns -= S;
	calls(&rig, 16, 0);
	cr_assert_not(followed(&rig));
	calls(&rig, ENOUGH, S / 2);
	cr_assert_not(followed(&rig), "it rests");
	calls(&rig, ENOUGH, 3 * S);
	cr_assert(followed(&rig));
	rig.affinity.queued_ns -= S;
	calls(&rig, 16, 3 * S);
	calls(&rig, ENOUGH, 6 * S);
	cr_assert_not(followed(&rig), "it rests longer");
	calls(&rig, ENOUGH, 8 * S);
	cr_assert(followed(&rig));
	rig_fini(&rig);
}
