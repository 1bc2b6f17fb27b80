/*
 * Does to a server, over and over for some seconds, what no client should. Seeded: the same bytes each time.
 * Or, for one connection: "idle" sends nothing, "loris" a call byte by byte, "deaf" calls without reading a
 * reply, "huge" a fragment of 2 GiB. Each must be hung up on within the seconds.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
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

/* The server has hung up: an end, or a reset. Replies on the way are read unless `deaf`. */
static bool hung_up(int fd, bool deaf)
{
	struct pollfd pfd = {.fd = fd, .events = POLLRDHUP | (deaf ? 0 : POLLIN)};
	uint8_t buf[4096];

	if (poll(&pfd, 1, 100) != 1) {
		return false;
	}
	return (pfd.revents & (POLLHUP | POLLERR | POLLRDHUP)) ||
	       recv(fd, buf, sizeof(buf), MSG_DONTWAIT) == 0;
}

static int endure(const char *how, time_t end)
{
	uint8_t call[64], huge[4] = {0x7f, 0xff, 0xff, 0xff};
	size_t size = null_call(1, call), sent = 0;
	bool deaf = strcmp(how, "deaf") == 0;
	int fd = dial();

	if (strcmp(how, "huge") == 0) {
		(void)!send(fd, huge, sizeof(huge), MSG_NOSIGNAL);
	}
	while (time(NULL) < end) {
		if (strcmp(how, "loris") == 0 && sent + 1 < size) {
			(void)!send(fd, call + sent++, 1, MSG_NOSIGNAL);
		}
		for (int i = 0; deaf && i < 100; i++) {
			stuff(fd);
		}
		if (hung_up(fd, deaf)) {
			close(fd);
			return 0;
		}
	}
	fprintf(stderr, "%s: not hung up on\n", how);
	return 1;
}

int main(int argc, char **argv)
{
	bool single = argc == 4 && argv[3][0] >= 'a';
	int stuck[STUCK_MAX], rc = 0, count = argc == 4 ? (int)strtol(argv[3], NULL, 10) : STUCK_DEFAULT;
	struct sl_rng rng;
	time_t end;

	if (argc < 3 || count < 0 || count > STUCK_MAX) {
		fprintf(stderr, "usage: %s PORT SECONDS [STUCK-CLIENTS | idle | loris | deaf | huge]\n",
			argv[0]);
		return 2;
	}
	port = (uint16_t)strtoul(argv[1], NULL, 10);
	end = time(NULL) + (time_t)strtoul(argv[2], NULL, 10);
	if (single) {
		return endure(argv[3], end);
	}
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
