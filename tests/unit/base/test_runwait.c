/* How long a process waited for a CPU. */
#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

#include "sim/base/runwait.h"

Test(runwait, the_second_field_of_every_thread_is_summed)
{
	struct sl_runwait sum = {0};

	cr_assert_eq(sl_runwait_add(&sum, "1000 250 3\n"), 0);
	cr_assert_eq(sl_runwait_add(&sum, "77 5000000000 4\n"), 0);
	cr_expect_eq(sum.wait_ns, 5000000250);
	cr_expect_eq(sum.slices, 7);
	cr_expect_eq(sl_runwait_add(&sum, "no such thing\n"), -EINVAL);
	cr_expect_eq(sl_runwait_add(&sum, ""), -EINVAL);
	cr_expect_eq(sum.wait_ns, 5000000250, "what is no such file adds nothing");
}

/* What waits once never waits less; ours can be read as our own and by our number. */
Test(runwait, of_this_process_it_only_grows)
{
	int64_t first_ns, then_ns;
	int rc = sl_runwait_ns(0, &first_ns);

	if (rc == -ENOENT || rc == -ENODATA) {
		cr_skip("this kernel does not count it");
	}
	cr_assert_eq(rc, 0);
	cr_assert_eq(sl_runwait_ns(getpid(), &then_ns), 0);
	cr_expect(then_ns >= first_ns);
}

Test(runwait, a_process_that_is_not_there_is_said)
{
	int64_t wait_ns = 1;

	cr_expect_eq(sl_runwait_ns(0x3fffffff, &wait_ns), -ESRCH);
	cr_expect_eq(wait_ns, 0);
}
