/* Execution of prepared statements: what is sent, and answers that are right, wrong or cut off. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loadgen/db_wire.h"

#define MS 1000000

struct peer {
	struct sl_db_wire wire;
	int server;
	struct sl_err err;
	unsigned number;
};

static void peer_open(struct peer *peer)
{
	int fds[2];

	*peer = (struct peer){0};
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	peer->server = fds[1];
	cr_assert_eq(sl_db_wire_init(&peer->wire, fds[0], 50 * MS, &peer->err), 0);
}

static void peer_close(struct peer *peer)
{
	close(peer->wire.fd);
	close(peer->server);
	sl_db_wire_fini(&peer->wire);
}

/* Sends a packet of the server. */
static void say(struct peer *peer, const void *bytes, size_t n)
{
	uint8_t header[4] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16), 1};

	cr_assert_eq(write(peer->server, header, 4), 4);
	cr_assert_eq(write(peer->server, bytes, n), (ssize_t)n);
}

#define SAY(peer, text) say((peer), (text), sizeof(text) - 1)

static int execute(struct peer *peer)
{
	struct sl_db_statement statement = {.id = 1};

	return sl_db_wire_execute(&peer->wire, &statement, &peer->number, &peer->err);
}

Test(wire, sends_the_parameters_and_their_types_once)
{
	static const char first[] = "\x17\0\0\0\x17\x07\0\0\0\0\x01\0\0\0" /* execute 7 */
				    "\0\x01\x03\0\xfe\0"                   /* no NULL; an int, a string */
				    "\x39\x30\0\0\x02hi";
	static const char second[] = "\x13\0\0\0\x17\x07\0\0\0\0\x01\0\0\0"
				     "\0\0"
				     "\xff\xff\xff\xff\x02hi";
	int32_t key = 12345;
	struct sl_db_statement statement = {.id = 7, .params = 2, .param = {{&key, 0}, {"hi", 2}}};
	struct peer peer;
	char got[64];

	peer_open(&peer);
	SAY(&peer, "\0\1\0\2\0\0\0");
	cr_assert_eq(sl_db_wire_execute(&peer.wire, &statement, &peer.number, &peer.err), 0, "%s",
		     peer.err.msg);
	cr_assert_eq(read(peer.server, got, sizeof(got)), (ssize_t)sizeof(first) - 1);
	cr_assert_eq(memcmp(got, first, sizeof(first) - 1), 0);
	key = -1;
	SAY(&peer, "\0\1\0\2\0\0\0");
	cr_assert_eq(sl_db_wire_execute(&peer.wire, &statement, &peer.number, &peer.err), 0);
	cr_assert_eq(read(peer.server, got, sizeof(got)), (ssize_t)sizeof(second) - 1);
	cr_assert_eq(memcmp(got, second, sizeof(second) - 1), 0);
	peer_close(&peer);
}

Test(wire, takes_all_rows_with_and_without_definitions)
{
	static uint8_t long_row[100000];
	struct peer peer;

	for (int definitions = 0; definitions < 2; definitions++) {
		peer_open(&peer);
		if (definitions) {
			SAY(&peer, "\1");
			SAY(&peer, "\3def\4test");
		} else {
			say(&peer, "\1\0", 2); /* one column, which did not change */
		}
		SAY(&peer, "\xfe\0\0\2\0");
		SAY(&peer, "\0\0\5hello");
		say(&peer, long_row, sizeof(long_row)); /* more than the buffer */
		SAY(&peer, "\xfe\0\0\2\0");
		cr_assert_eq(execute(&peer), 0, "%s", peer.err.msg);
		cr_assert_eq(peer.wire.at, peer.wire.end, "nothing is left for the next answer");
		peer_close(&peer);
	}
}

Test(wire, the_server_s_refusal_has_its_number_and_the_connection_goes_on)
{
	struct peer peer;

	peer_open(&peer);
	SAY(&peer, "\xff\xbd\x04#40001Deadlock found");
	SAY(&peer, "\1\0");
	SAY(&peer, "\xfe\0\0\2\0");
	SAY(&peer, "\0\0\5hello");
	SAY(&peer, "\xff\x25\x05#70100Query interrupted"); /* in the middle of the rows */
	SAY(&peer, "\0\1\0\2\0\0\0");
	cr_assert_eq(execute(&peer), -EIO);
	cr_assert_eq(peer.number, 1213u);
	cr_assert_str_eq(peer.err.msg, "MariaDB: Deadlock found (error 1213)");
	cr_assert_eq(execute(&peer), -EIO);
	cr_assert_eq(peer.number, 1317u);
	cr_assert_eq(execute(&peer), 0);
	peer_close(&peer);
}

Test(wire, what_no_server_says_ends_the_connection)
{
	static const struct {
		const char *bytes;
		size_t n;
		int rc;
	} cases[] = {
	    {"\0\0\0\1", 4, -ETIMEDOUT},           /* a header of nothing, and no more */
	    {"\0\0\0\1\0", 5, -EPROTO},            /* a packet of nothing */
	    {"\xff\xff\xff\1\0", 5, -EPROTO},      /* one that goes on in the next */
	    {"\1\0\0\1\xff", 5, -EPROTO},          /* an error without a number */
	    {"\xff\xff\0\1\xff", 5, -EPROTO},      /* an error of 64 KiB */
	    {"\x20\0\0\1\xff\1\1", 7, -ETIMEDOUT}, /* cut off */
	    {"\2\0\0\1\1\0\5\0\0\2\xfe", 11, -ETIMEDOUT},
	    {"", 0, -ETIMEDOUT},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct peer peer;

		peer_open(&peer);
		cr_assert_eq(write(peer.server, cases[i].bytes, cases[i].n), (ssize_t)cases[i].n);
		cr_assert_eq(execute(&peer), cases[i].rc, "case %zu: %s", i, peer.err.msg);
		peer_close(&peer);
		if (cases[i].rc == -ETIMEDOUT) {
			peer_open(&peer);
			cr_assert_eq(write(peer.server, cases[i].bytes, cases[i].n), (ssize_t)cases[i].n);
			cr_assert_eq(shutdown(peer.server, SHUT_WR), 0);
			cr_assert_eq(execute(&peer), -ECONNRESET, "case %zu, then the end", i);
			peer_close(&peer);
		}
	}
}
