/* When bytes came, as against when they were read. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/datastore/arrival.h"
#include "tests/unit/datastore/tcp_pair.h"

#define MS INT64_C(1000000)

/* They lie in the socket while the loop sleeps 20 ms. */
static void lie_and_read(int fd, struct sl_loop *loop, int64_t *ret_age_ns)
{
	char bytes[8];
	int64_t arrived_ns;

	cr_assert_eq(sl_loop_run_until(loop, sl_loop_clock(loop) + 20 * MS, NULL), 0);
	cr_assert_eq(sl_arrival_recv(fd, bytes, sizeof(bytes), loop, &arrived_ns), 4);
	*ret_age_ns = sl_loop_now(loop) - arrived_ns;
	cr_assert_eq(sl_arrival_recv(fd, bytes, sizeof(bytes), loop, &arrived_ns), -1);
	cr_assert_eq(errno, EAGAIN);
	cr_assert_eq(arrived_ns, sl_loop_now(loop));
}

Test(arrival, bytes_count_from_when_they_came)
{
	struct sl_loop *loop = sl_loop_new_wall(NULL);
	int64_t age_ns;
	int pair[2];

	cr_assert_not_null(loop);
	tcp_pair(pair);
	cr_assert_eq(write(pair[0], "abcd", 4), 4);
	lie_and_read(pair[1], loop, &age_ns);
	cr_assert_eq(age_ns, 0, "nobody asked for stamps");
	sl_arrival_watch(pair[1]);
	/* The kernel starts to stamp a moment after it was asked. */
	for (int i = 0; i < 50 && age_ns == 0; i++) {
		cr_assert_eq(write(pair[0], "abcd", 4), 4);
		lie_and_read(pair[1], loop, &age_ns);
	}
	cr_assert(age_ns >= 19 * MS, "%.1f ms", (double)age_ns / 1e6);

	close(pair[0]);
	close(pair[1]);
	sl_loop_free(loop);
}

/* Sockets without stamps (these are not of TCP) are read all the same. */
Test(arrival, without_stamps_bytes_count_from_when_they_are_read)
{
	struct sl_loop *loop = sl_loop_new_wall(NULL);
	int64_t age_ns;
	int pair[2];

	cr_assert_not_null(loop);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	sl_arrival_watch(pair[0]);
	cr_assert_eq(write(pair[1], "abcd", 4), 4);
	lie_and_read(pair[0], loop, &age_ns);
	cr_assert_eq(age_ns, 0);
	close(pair[0]);
	close(pair[1]);
	sl_loop_free(loop);
}
