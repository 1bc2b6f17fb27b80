/* Does to a server, over and over for some seconds, what no client should. Seeded: the same bytes each time.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/rng.h"

#define STUCK_DEFAULT 3
#define STUCK_MAX 100

static uint16_t port;

static int dial(void)
{
	struct sockaddr_in at = {
	    .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {.tv_sec = 2};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		perror("connect");
		exit(1);
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return fd;
}

/* A NULL call of NFS version 3 as one record. */
static size_t null_call(uint32_t xid, uint8_t *buf)
{
	const uint32_t words[] = {0x80000000u | 40, xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint32_t word = htonl(words[i]);

		memcpy(buf + 4 * i, &word, 4);
	}
	return sizeof(words);
}

static void garbage(struct sl_rng *rng)
{
	uint8_t buf[4096];
	size_t size = 1 + sl_rng_below(rng, sizeof(buf));
	int fd = dial();

	for (size_t i = 0; i < size; i++) {
		buf[i] = (uint8_t)sl_rng_u64(rng);
	}
	if (sl_rng_below(rng, 2)) {
		(void)null_call(1, buf); /* a right beginning */
	}
	(void)!send(fd, buf, size, MSG_NOSIGNAL);
	if (sl_rng_below(rng, 2)) {
		struct linger hard = {.l_onoff = 1};

		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)); /* RST */
	}
	close(fd);
}

/* Sends a call, closes its sending side, and must get the reply and then the end all the same. */
static int half_close(void)
{
	uint8_t buf[256];
	size_t size = null_call(7, buf), got = 0;
	int fd = dial();
	ssize_t n;

	(void)!send(fd, buf, size, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	while ((n = recv(fd, buf + got, sizeof(buf) - got, 0)) > 0) {
		got += (size_t)n;
	}
	close(fd);
	/* Refused for want of room is fair: nothing came. */
	if (n < 0 && errno != ECONNRESET) {
		perror("half-closed: no end");
		return 1;
	}
	if (got != 0 && got != 28) {
		fprintf(stderr, "half-closed: %zu bytes of reply instead of 28\n", got);
		return 1;
	}
	return 0;
}

/* Calls and calls and never reads a reply. */
static void stuff(int fd)
{
	uint8_t buf[44 * 200];

	for (size_t i = 0; i < 200; i++) {
		(void)null_call((uint32_t)i, buf + 44 * i);
	}
	(void)!send(fd, buf, sizeof(buf), MSG_NOSIGNAL | MSG_DONTWAIT);
}

int main(int argc, char **argv)
{
	int stuck[STUCK_MAX], rc = 0, count = argc == 4 ? (int)strtol(argv[3], NULL, 10) : STUCK_DEFAULT;
	struct sl_rng rng;
	time_t end;

	if (argc < 3 || count < 0 || count > STUCK_MAX) {
		fprintf(stderr, "usage: %s PORT SECONDS [STUCK-CLIENTS]\n", argv[0]);
		return 2;
	}
	port = (uint16_t)strtoul(argv[1], NULL, 10);
	end = time(NULL) + (time_t)strtoul(argv[2], NULL, 10);
	sl_rng_init(&rng, 1, "hostile");
	for (int i = 0; i < count; i++) {
		stuck[i] = dial();
	}
	while (time(NULL) < end && rc == 0) {
		garbage(&rng);
		rc = half_close();
		for (int i = 0; i < count; i++) {
			stuff(stuck[i]);
		}
	}
	for (int i = 0; i < count; i++) {
		close(stuck[i]);
	}
	return rc;
}
