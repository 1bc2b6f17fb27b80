#include "sim/base/clock.h"

#include <criterion/criterion.h>
#include <time.h>

Test(clock, reads_the_monotonic_clock_in_ns_and_whole_ms)
{
	struct timespec before, after;
	int64_t ns, ms;

	clock_gettime(CLOCK_MONOTONIC, &before);
	ns = sl_clock_ns();
	ms = sl_clock_ms();
	clock_gettime(CLOCK_MONOTONIC, &after);
	cr_assert(ns >= before.tv_sec * 1000000000LL + before.tv_nsec);
	cr_assert(ms >= ns / 1000000);
	cr_assert(ms <= after.tv_sec * 1000LL + after.tv_nsec / 1000000);
}
