/*
 * A bare NBD client over a unix socket that knows what it was promised.
 *   write SOCKET EXPORT STATE BLOCKS DEPTH FLUSH-EVERY SECONDS SEED: random 4 KiB writes, a flush after every
 * so many, until the time is up or the connection breaks; STATE gets what was written, acknowledged and
 * flushed. check SOCKET EXPORT STATE: reads everything back; prints "blocks N lost L illegal I": lost are
 * blocks older than acknowledged, illegal those older than flushed, never written, or torn. bench SOCKET
 * EXPORT DEPTH SECONDS: random 4 KiB writes; prints "iops N mean_us M".
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/nbd/bytes.h"
#include "sim/nbd/numbers.h"

#define BLOCK 4096
#define DEPTH_MAX 256
#define FLUSH_COOKIE UINT64_MAX

/* Versions of a block: the sequence number of a write; 0 = never written. */
struct block {
	uint64_t flushed, acked, flying, flush_mark;
};

struct client {
	int fd;
	uint32_t n_blocks, depth;
	struct block *blocks;
	uint64_t seq;
	struct sl_rng rng;
	uint32_t in_flight;
	uint64_t at[DEPTH_MAX]; /* block of each cookie */
	int64_t sent_ns[DEPTH_MAX];
	uint32_t idle[DEPTH_MAX], n_idle;
	bool flushing;
	uint64_t writes, acks;
	int64_t latency_ns;
};

static void die(const char *what)
{
	(void)fprintf(stderr, "audit: %s: %s\n", what, strerror(errno));
	exit(2);
}

static double number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= 0 && value < 1e9)) {
		errno = EINVAL;
		die(text);
	}
	return value;
}

/* False when the connection has broken. */
static bool move(int fd, void *buf, size_t size, bool out)
{
	uint8_t *at = buf;

	while (size > 0) {
		ssize_t n = out ? send(fd, at, size, MSG_NOSIGNAL) : recv(fd, at, size, 0);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return false;
		}
		at += n;
		size -= (size_t)n;
	}
	return true;
}

static void client_connect(struct client *c, const char *path, const char *name)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	uint8_t bytes[512];
	uint8_t *end;

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		die(path);
	}
	end = sl_nbd_put64(sl_nbd_put32(bytes, SL_NBD_FIXED_NEWSTYLE | SL_NBD_NO_ZEROES), SL_NBD_OPT_MAGIC);
	end = sl_nbd_put32(sl_nbd_put32(end, SL_NBD_OPT_EXPORT_NAME), (uint32_t)strlen(name));
	memcpy(end, name, strlen(name));
	if (!move(c->fd, bytes, (size_t)(end - bytes) + strlen(name), true) ||
	    !move(c->fd, bytes, 18 + 10, false)) {
		die("handshake");
	}
	if (sl_nbd_get64(bytes + 18) < (uint64_t)c->n_blocks * BLOCK) {
		errno = ENOSPC;
		die("export too small");
	}
}

static bool request(struct client *c, uint32_t command, uint64_t cookie, uint64_t offset, uint32_t size,
		    const uint8_t *data)
{
	uint8_t bytes[28 + BLOCK];
	uint8_t *at = sl_nbd_put16(sl_nbd_put32(bytes, SL_NBD_REQUEST_MAGIC), 0);

	at = sl_nbd_put64(sl_nbd_put64(sl_nbd_put16(at, command), cookie), offset);
	at = sl_nbd_put32(at, size);
	if (data) {
		memcpy(at, data, size);
	}
	return move(c->fd, bytes, 28 + (data ? size : 0), true);
}

static bool write_send(struct client *c)
{
	uint32_t cookie = c->idle[c->n_idle - 1];
	uint32_t index = (uint32_t)sl_rng_below(&c->rng, c->n_blocks);
	struct block *block = &c->blocks[index];
	uint8_t data[BLOCK];

	if (block->flying) {
		return true; /* one at a time, so that its versions have an order */
	}
	block->flying = ++c->seq;
	for (int i = 0; i < BLOCK; i += 16) {
		(void)sl_nbd_put64(sl_nbd_put64(data + i, index), c->seq);
	}
	c->n_idle--;
	c->at[cookie] = index;
	c->sent_ns[cookie] = sl_clock_ns();
	c->in_flight++;
	c->writes++;
	return request(c, SL_NBD_CMD_WRITE, cookie, (uint64_t)index * BLOCK, BLOCK, data);
}

/* What a flush that is sent now promises, once it is acknowledged. */
static bool flush_send(struct client *c)
{
	for (uint32_t i = 0; i < c->n_blocks; i++) {
		c->blocks[i].flush_mark = c->blocks[i].acked;
	}
	c->flushing = true;
	return request(c, SL_NBD_CMD_FLUSH, FLUSH_COOKIE, 0, 0, NULL);
}

static bool reply_take(struct client *c)
{
	uint8_t head[16];
	uint64_t cookie;

	if (!move(c->fd, head, sizeof(head), false)) {
		return false;
	}
	cookie = sl_nbd_get64(head + 8);
	if (sl_nbd_get32(head) != SL_NBD_SIMPLE_MAGIC || sl_nbd_get32(head + 4) != 0 ||
	    (cookie != FLUSH_COOKIE && cookie >= c->depth)) {
		errno = EPROTO;
		die("reply");
	}
	if (cookie == FLUSH_COOKIE) {
		for (uint32_t i = 0; i < c->n_blocks; i++) {
			c->blocks[i].flushed = c->blocks[i].flush_mark;
		}
		c->flushing = false;
		return true;
	}
	c->latency_ns += sl_clock_ns() - c->sent_ns[cookie];
	c->blocks[c->at[cookie]].acked = c->blocks[c->at[cookie]].flying;
	c->blocks[c->at[cookie]].flying = 0;
	c->idle[c->n_idle++] = (uint32_t)cookie;
	c->in_flight--;
	c->acks++;
	return true;
}

/* Returns false when the connection broke. */
static bool load(struct client *c, uint64_t flush_every, double seconds)
{
	int64_t end_ns = sl_clock_ns() + (int64_t)(seconds * 1e9);
	uint64_t next_flush = flush_every;
	bool alive = true;

	for (uint32_t i = 0; i < c->depth; i++) {
		c->idle[c->n_idle++] = i;
	}
	while (alive && sl_clock_ns() < end_ns) {
		if (flush_every && !c->flushing && c->acks >= next_flush) {
			next_flush = c->acks + flush_every;
			alive = flush_send(c);
		}
		while (alive && c->n_idle > 0) {
			alive = write_send(c);
		}
		alive = alive && reply_take(c);
	}
	while (alive && (c->in_flight > 0 || c->flushing)) {
		alive = reply_take(c);
	}
	return alive;
}

static void client_init(struct client *c, uint32_t n_blocks, uint32_t depth, uint64_t seed)
{
	memset(c, 0, sizeof(*c));
	c->n_blocks = n_blocks;
	c->depth = depth < DEPTH_MAX ? depth : DEPTH_MAX;
	c->blocks = calloc(n_blocks, sizeof(*c->blocks));
	sl_rng_init(&c->rng, seed, "audit");
	if (!c->blocks) {
		die("memory");
	}
}

static int run_write(char **argv)
{
	struct client c;
	FILE *state;

	client_init(&c, (uint32_t)number(argv[5]), (uint32_t)number(argv[6]), (uint64_t)number(argv[9]));
	client_connect(&c, argv[2], argv[3]);
	(void)load(&c, (uint64_t)number(argv[7]), number(argv[8]));
	state = fopen(argv[4], "w");
	if (!state || fwrite(&c.n_blocks, sizeof(c.n_blocks), 1, state) != 1 ||
	    fwrite(c.blocks, sizeof(*c.blocks), c.n_blocks, state) != c.n_blocks || fclose(state) != 0) {
		die(argv[4]);
	}
	printf("writes %llu acks %llu\n", (unsigned long long)c.writes, (unsigned long long)c.acks);
	free(c.blocks);
	close(c.fd);
	return 0;
}

/* The version in `data`, or UINT64_MAX when it is torn or another block's. */
static uint64_t version_of(const uint8_t *data, int unit, uint32_t index)
{
	uint64_t version = sl_nbd_get64(data + 8);

	for (int i = 0; i < unit; i += 16) {
		if (sl_nbd_get64(data + i) != (version ? index : 0) ||
		    sl_nbd_get64(data + i + 8) != version) {
			return UINT64_MAX;
		}
	}
	return version;
}

/* Judges what was read of a block, unit by unit. */
static void block_judge(const struct block *block, const uint8_t *data, int unit, uint32_t index,
			bool *ret_lost, bool *ret_illegal)
{
	*ret_lost = false;
	*ret_illegal = false;
	for (int at = 0; at < BLOCK; at += unit) {
		uint64_t version = version_of(data + at, unit, index);

		*ret_lost |= version < block->acked;
		*ret_illegal |=
		    version < block->flushed || (version > block->acked && version != block->flying);
	}
}

static int run_check(char **argv)
{
	struct client c;
	FILE *state = fopen(argv[4], "r");
	uint32_t n_blocks = 0, lost = 0, illegal = 0;
	int unit = number(argv[5]) < BLOCK ? 512 : BLOCK;

	if (!state || fread(&n_blocks, sizeof(n_blocks), 1, state) != 1) {
		die(argv[4]);
	}
	client_init(&c, n_blocks, 1, 1);
	if (fread(c.blocks, sizeof(*c.blocks), n_blocks, state) != n_blocks) {
		die(argv[4]);
	}
	(void)fclose(state);
	client_connect(&c, argv[2], argv[3]);
	for (uint32_t i = 0; i < n_blocks; i++) {
		uint8_t reply[16 + BLOCK];
		bool is_lost, is_illegal;

		if (!request(&c, SL_NBD_CMD_READ, i, (uint64_t)i * BLOCK, BLOCK, NULL) ||
		    !move(c.fd, reply, sizeof(reply), false)) {
			die("read");
		}
		block_judge(&c.blocks[i], reply + 16, unit, i, &is_lost, &is_illegal);
		lost += is_lost;
		illegal += is_illegal;
	}
	printf("blocks %u lost %u illegal %u\n", n_blocks, lost, illegal);
	free(c.blocks);
	close(c.fd);
	return 0;
}

static int run_bench(char **argv)
{
	double seconds = number(argv[5]);
	struct client c;

	client_init(&c, 16384, (uint32_t)number(argv[4]), 1);
	client_connect(&c, argv[2], argv[3]);
	if (!load(&c, 0, seconds)) {
		die("load");
	}
	printf("iops %.0f mean_us %.1f\n", (double)c.acks / seconds,
	       (double)c.latency_ns / 1e3 / (double)c.acks);
	free(c.blocks);
	close(c.fd);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int argc;
		int (*run)(char **argv);
	} modes[] = {{"write", 10, run_write}, {"check", 6, run_check}, {"bench", 6, run_bench}};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc == modes[i].argc && strcmp(argv[1], modes[i].name) == 0) {
			return modes[i].run(argv);
		}
	}
	(void)fprintf(stderr, "usage: see the top of audit_client.c\n");
	return 2;
}
