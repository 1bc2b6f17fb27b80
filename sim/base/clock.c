#include "sim/base/clock.h"

#include <stdlib.h>
#include <time.h>

#define NS_PER_S 1000000000LL
#define NS_PER_MS 1000000

int64_t sl_clock_ns(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts) != 0) {
		abort(); /* cannot happen: the clock and the address are valid */
	}
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t sl_clock_ms(void)
{
	return sl_clock_ns() / NS_PER_MS;
}
