#include "tests/unit/datastore/tcp_pair.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

void tcp_pair(int ret[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert(bind(listener, (struct sockaddr *)&at, size) == 0 && listen(listener, 1) == 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	ret[0] = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(connect(ret[0], (struct sockaddr *)&at, size), 0);
	ret[1] = accept(listener, NULL, NULL);
	cr_assert(ret[1] >= 0);
	close(listener);
}
