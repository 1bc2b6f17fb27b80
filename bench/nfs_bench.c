/*
 * One line of figures of an NFS server that runs: 4 KiB FILE_SYNC writes through one connection, and the CPU
 * time the server process spent on each. The client pipelines: what replies made room for goes out in one
 * send, so that the server sees many calls per read. Run by nfs_bench.sh, which starts the servers.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sim/nfs3/numbers.h"
#include "sim/nfs3/xdr.h"

#define WARM_NS 500000000
#define TIME_NS 4000000000
#define FILE_BYTES (2u << 20) /* FSAL_MEM keeps no more of a file */
#define BLOCK_BYTES 4096u
#define HANDLE_MAX 64u
#define CALL_MAX (BLOCK_BYTES + 512u)
#define DEPTH_MAX 256u
#define REPLY_MAX 4096u

struct client {
	int fd;
	uint32_t xid;
	uint8_t handle[HANDLE_MAX];
	uint32_t handle_bytes;
	uint8_t in[1 << 16]; /* replies: the unread part of the stream */
	size_t have;
	uint8_t out[DEPTH_MAX * CALL_MAX];
	size_t call_bytes, xid_at, offset_at; /* of a WRITE */
	uint32_t next_block;
};

static int64_t clock_of(clockid_t clock)
{
	struct timespec ts = {0};

	(void)clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void die(const char *what)
{
	(void)fprintf(stderr, "nfs_bench: %s: %s\n", what, errno ? strerror(errno) : "unexpected reply");
	exit(1);
}

static int dial(const char *address, uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct timeval patience = {.tv_sec = 5};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || inet_pton(AF_INET, address, &at.sin_addr) != 1 ||
	    connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		die("connect");
	}
	(void)setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* Room for the record mark, then the header of a call by root (AUTH_SYS). */
static void call_begin(struct client *client, struct sl_xdr_out *out, uint32_t program, uint32_t procedure)
{
	const uint32_t head[] = {0, client->xid++, 0, 2, program, 3, procedure, 1, 20, 0, 0, 0, 0, 0, 0, 0};

	*out = (struct sl_xdr_out){.at = client->out, .end = client->out + sizeof(client->out)};
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++) {
		sl_xdr_put_u32(out, head[i]);
	}
}

static size_t call_end(struct client *client, const struct sl_xdr_out *out)
{
	size_t size = (size_t)(out->at - client->out);

	sl_put_be32(client->out, 0x80000000u | (uint32_t)(size - 4));
	return size;
}

static void send_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

		if (sent < 0) {
			die("send");
		}
		bytes += sent;
		size -= (size_t)sent;
	}
}

static void receive(struct client *client)
{
	ssize_t got = recv(client->fd, client->in + client->have, sizeof(client->in) - client->have, 0);

	if (got <= 0) {
		die("receive");
	}
	client->have += (size_t)got;
}

/* Checks the whole replies at hand (accepted, status 0) and forgets them. Returns their number; the results
 * behind the status of the last one are at *ret. */
static uint32_t replies_take(struct client *client, struct sl_xdr_in *ret)
{
	uint32_t count = 0;
	size_t used = 0;

	while (client->have - used >= 4) {
		size_t size = 4 + (sl_be32(client->in + used) & 0x7fffffffu);
		const uint8_t *at = client->in + used;

		if (client->have - used < size) {
			break;
		}
		if (size < 32 || size > REPLY_MAX || sl_be32(at + 12) != 0 || sl_be32(at + 24) != 0 ||
		    sl_be32(at + 28) != 0) {
			errno = 0;
			die("a call failed");
		}
		*ret = (struct sl_xdr_in){.at = at + 32, .end = at + size};
		used += size;
		count++;
	}
	memmove(client->in, client->in + used, client->have - used);
	client->have -= used;
	return count;
}

/* One call and its reply, whose results are copied to `bytes` (REPLY_MAX). */
static void call_once(struct client *client, const struct sl_xdr_out *out, uint8_t *bytes,
		      struct sl_xdr_in *ret)
{
	size_t size;

	send_all(client->fd, client->out, call_end(client, out));
	do {
		receive(client);
		size = client->have;
		memcpy(bytes, client->in, size < REPLY_MAX ? size : REPLY_MAX);
	} while (replies_take(client, ret) == 0);
	*ret = (struct sl_xdr_in){.at = bytes + 32, .end = bytes + size};
}

static void handle_keep(struct client *client, struct sl_xdr_in *in)
{
	struct sl_xdr_bytes handle = sl_xdr_opaque(in, HANDLE_MAX);

	if (in->bad) {
		errno = 0;
		die("a handle");
	}
	memcpy(client->handle, handle.data, handle.size);
	client->handle_bytes = handle.size;
}

/* Mounts the export and creates the file in it. */
static void file_open(struct client *client, char **argv)
{
	uint8_t bytes[REPLY_MAX];
	struct sl_xdr_out out;
	struct sl_xdr_in in;

	client->fd = dial(argv[0], (uint16_t)strtoul(argv[2], NULL, 10));
	call_begin(client, &out, SL_PROG_MOUNT, SL_MOUNT_MNT);
	sl_xdr_put_opaque(&out, argv[3], (uint32_t)strlen(argv[3]));
	call_once(client, &out, bytes, &in);
	handle_keep(client, &in);
	close(client->fd);
	client->fd = dial(argv[0], (uint16_t)strtoul(argv[1], NULL, 10));
	call_begin(client, &out, SL_PROG_NFS, SL_NFS_CREATE);
	sl_xdr_put_opaque(&out, client->handle, client->handle_bytes);
	sl_xdr_put_opaque(&out, "bench", 5);
	for (int i = 0; i < 7; i++) { /* UNCHECKED, no attributes */
		sl_xdr_put_u32(&out, 0);
	}
	call_once(client, &out, bytes, &in);
	(void)sl_xdr_u32(&in); /* the handle follows */
	handle_keep(client, &in);
}

/* The calls of a full window, to be sent again and again with other numbers and offsets. */
static void window_make(struct client *client)
{
	static const uint8_t data[BLOCK_BYTES] = {1};
	struct sl_xdr_out out;

	call_begin(client, &out, SL_PROG_NFS, SL_NFS_WRITE);
	sl_xdr_put_opaque(&out, client->handle, client->handle_bytes);
	client->xid_at = 4;
	client->offset_at = (size_t)(out.at - client->out);
	sl_xdr_put_u64(&out, 0);
	sl_xdr_put_u32(&out, BLOCK_BYTES);
	sl_xdr_put_u32(&out, 2); /* FILE_SYNC */
	sl_xdr_put_opaque(&out, data, BLOCK_BYTES);
	client->call_bytes = call_end(client, &out);
	for (uint32_t i = 1; i < DEPTH_MAX; i++) {
		memcpy(client->out + i * client->call_bytes, client->out, client->call_bytes);
	}
}

static void writes_send(struct client *client, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *call = client->out + i * client->call_bytes;

		sl_put_be32(call + client->xid_at, client->xid++);
		sl_put_be32(call + client->offset_at + 4, client->next_block * BLOCK_BYTES);
		client->next_block = (client->next_block + 1) % (FILE_BYTES / BLOCK_BYTES);
	}
	send_all(client->fd, client->out, count * client->call_bytes);
}

static uint64_t load(struct client *client, uint32_t depth, int64_t time_ns)
{
	int64_t end_ns = clock_of(CLOCK_MONOTONIC) + time_ns;
	uint64_t sent = depth, done = 0;
	struct sl_xdr_in in;

	writes_send(client, depth);
	while (done < sent) {
		uint32_t count;

		receive(client);
		count = replies_take(client, &in);
		done += count;
		if (count > 0 && clock_of(CLOCK_MONOTONIC) < end_ns) {
			writes_send(client, count);
			sent += count;
		}
	}
	return done;
}

int main(int argc, char **argv)
{
	static struct client client;
	uint32_t depth = argc == 8 ? (uint32_t)strtoul(argv[7], NULL, 10) : 0;
	int64_t before_ns, start_ns, time_ns;
	clockid_t clock;
	uint64_t count;

	if (depth < 1 || depth > DEPTH_MAX ||
	    clock_getcpuclockid((pid_t)strtol(argv[6], NULL, 10), &clock) != 0) {
		(void)fprintf(stderr, "usage: %s LABEL ADDRESS NFS-PORT MOUNT-PORT EXPORT SERVER-PID DEPTH\n",
			      argv[0]);
		return 2;
	}
	file_open(&client, argv + 2);
	window_make(&client);
	(void)load(&client, depth, WARM_NS);
	before_ns = clock_of(clock);
	start_ns = clock_of(CLOCK_MONOTONIC);
	count = load(&client, depth, TIME_NS);
	time_ns = clock_of(CLOCK_MONOTONIC) - start_ns;
	/* label depth writes/s server-us/write */
	printf("%s %u %.0f %.3f\n", argv[1], depth, (double)count * 1e9 / (double)time_ns,
	       (double)(clock_of(clock) - before_ns) / 1e3 / (double)count);
	return 0;
}
