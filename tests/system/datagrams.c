/* Datagrams that a portmapper must not answer, and how much it answers to the others. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OUTSIDE "10.9.8.7" /* an address of this machine that is not loopback */
#define FLOOD 400

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* A socket that asks the portmapper at `to` from `from`. */
static int asker(const char *from, const char *to, uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int on = 1, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)) < 0) {
		die("socket");
	}
	(void)inet_pton(AF_INET, from, &at.sin_addr);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		die("bind");
	}
	at.sin_port = htons(port);
	(void)inet_pton(AF_INET, to, &at.sin_addr);
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		die("connect");
	}
	return fd;
}

/* xid 7, CALL, RPC 2, PORTMAP 2, the procedure, no credentials, no verifier: 40 bytes. */
static void call_make(uint32_t call[10], uint32_t procedure)
{
	const uint32_t words[10] = {7, 0, 2, 100000, 2, procedure};

	for (int i = 0; i < 10; i++) {
		call[i] = htonl(words[i]);
	}
}

/* Bytes of the reply, or 0. */
static ssize_t reply_wait(int fd, int wait_ms)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char reply[2048];

	return poll(&ready, 1, wait_ms) > 0 ? recv(fd, reply, sizeof(reply), MSG_DONTWAIT) : 0;
}

static void expect(bool holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "datagrams: %s\n", what);
		exit(1);
	}
}

/* What is not answered: the reply that comes is that of the NULL call sent behind it, of 24 bytes. */
static void unanswered(uint16_t port, const void *bytes, size_t size, const char *what)
{
	int fd = asker("127.0.0.1", "127.0.0.1", port);
	uint32_t null[10];

	call_make(null, 0);
	if (send(fd, bytes, size, 0) < 0 || send(fd, null, sizeof(null), 0) < 0) {
		die("send");
	}
	expect(reply_wait(fd, 30000) == 24, what);
	expect(reply_wait(fd, 0) == 0, what);
	close(fd);
}

/* A flood from another machine's address: DUMP's reply is larger than the call, so few are answered. */
static int flood(uint16_t port, const char *host, uint32_t procedure)
{
	int fd = asker(host, host, port), replies = 0;
	uint32_t call[10];

	call_make(call, procedure);
	for (int i = 0; i < FLOOD; i++) {
		(void)send(fd, call, sizeof(call), MSG_DONTWAIT);
		if (i % 8 == 7) {
			while (reply_wait(fd, 0) > 0) {
				replies++;
			}
		}
	}
	while (reply_wait(fd, 1000) > 0) {
		replies++;
	}
	close(fd);
	return replies;
}

int main(int argc, char **argv)
{
	uint16_t port = (uint16_t)atoi(argc > 1 ? argv[1] : "111");
	uint32_t call[10], reply[6] = {htonl(7), htonl(1)};
	char large[8192] = {0};
	int fd, got;

	call_make(call, 4);
	memcpy(large, call, sizeof(call));
	unanswered(port, large, sizeof(large), "a call of 8192 bytes is answered");
	unanswered(port, reply, sizeof(reply), "a reply is answered: two servers would go on for ever");
	unanswered(port, "", 0, "an empty datagram is answered");
	unanswered(port, call, 11, "eleven bytes are answered");

	call_make(call, 0);
	fd = asker(OUTSIDE, "10.9.8.255", port);
	(void)send(fd, call, sizeof(call), 0);
	expect(reply_wait(fd, 1000) == 0, "a broadcast is answered");
	close(fd);

	got = flood(port, OUTSIDE, 4);
	printf("of %d DUMPs from %s in a burst %d were answered\n", FLOOD, OUTSIDE, got);
	expect(got > 0, "no DUMP from another machine is answered");
	expect(got < FLOOD / 2, "a flood of DUMPs from another machine is answered");
	got = flood(port, "127.0.0.1", 4);
	printf("of %d from 127.0.0.1 %d\n", FLOOD, got);
	expect(got > FLOOD / 2, "DUMPs of this machine are bounded");
	return 0;
}
