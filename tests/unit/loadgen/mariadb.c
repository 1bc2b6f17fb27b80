/* Protocol: MariaDB's "Connection", "COM_QUERY", "COM_STMT_PREPARE" and "Result Set Packets". */
#include "mariadb.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define COM_QUIT 1
#define COM_INIT_DB 2
#define COM_QUERY 3
#define COM_PREPARE 0x16
#define COM_EXECUTE 0x17
#define COM_STMT_CLOSE 0x19
#define STATEMENTS_MAX 32
#define PACKET_MAX 400000u
#define OK "\0\0\0\2\0\0\0"
#define END "\xfe\0\0\2\0"

struct client {
	struct mariadb *db;
	int fd;
	uint8_t number;                 /* of the next packet */
	char *prepared[STATEMENTS_MAX]; /* by id, from 1 */
	uint32_t n_prepared;
	uint8_t *in;
	size_t in_bytes;
};

static bool all_read(int fd, void *buf, size_t bytes)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t n = read(fd, (uint8_t *)buf + got, bytes - got);

		if (n <= 0) {
			return false;
		}
		got += (size_t)n;
	}
	return true;
}

static bool packet_read(struct client *client)
{
	uint8_t header[4];

	if (!all_read(client->fd, header, sizeof(header))) {
		return false;
	}
	client->in_bytes = (size_t)(header[0] | header[1] << 8 | header[2] << 16);
	client->number = (uint8_t)(header[3] + 1);
	return client->in_bytes < PACKET_MAX && all_read(client->fd, client->in, client->in_bytes);
}

static void say(struct client *client, const void *bytes, size_t n)
{
	uint8_t packet[4 + 256] = {(uint8_t)n, (uint8_t)(n >> 8), 0, client->number++};

	memcpy(packet + 4, bytes, n);
	(void)!send(client->fd, packet, 4 + n, MSG_NOSIGNAL);
}

#define SAY(client, text) say((client), (text), sizeof(text) - 1)

static void say_refusal(struct client *client, unsigned number)
{
	uint8_t packet[] = "\xff\0\0#HY000no";

	packet[1] = (uint8_t)number;
	packet[2] = (uint8_t)(number >> 8);
	say(client, packet, sizeof(packet) - 1);
}

/* One column, one row. */
static void say_number(struct client *client, uint64_t value)
{
	char row[32];
	int n = snprintf(row + 1, sizeof(row) - 1, "%llu", (unsigned long long)value);

	row[0] = (char)n;
	SAY(client, "\1");
	SAY(client, "\3def\0\0\0\1n\0\x0c\x3f\0\x14\0\0\0\x08\0\0\0\0\0");
	SAY(client, END);
	say(client, row, (size_t)n + 1);
	SAY(client, END);
}

static bool begins(const char *text, const char *begin)
{
	return begin && strncmp(text, begin, strlen(begin)) == 0;
}

/* Keeps the statement; how it is answered. */
static enum {
	GOOD,
	REFUSED,
	DEAD
} hear(struct mariadb *db, const char *sql, const uint8_t *params, size_t bytes)
{
	struct mariadb_said *said;
	int verdict = GOOD;

	(void)pthread_mutex_lock(&db->lock);
	cr_assert(db->n_said < MARIADB_SAID_MAX);
	said = &db->said[db->n_said++];
	said->sql = strdup(sql);
	said->executed = params != NULL;
	said->param_bytes = bytes < MARIADB_PARAM_BYTES ? bytes : MARIADB_PARAM_BYTES;
	if (params) {
		memcpy(said->params, params, said->param_bytes);
	}
	if (begins(sql, db->die_at)) {
		verdict = DEAD;
	} else if (begins(sql, db->refuse) && db->refusals > 0) {
		db->refusals--;
		verdict = REFUSED;
	}
	(void)pthread_mutex_unlock(&db->lock);
	return verdict;
}

static bool query_answer(struct client *client)
{
	char *sql = strndup((const char *)client->in + 1, client->in_bytes - 1);
	int verdict = hear(client->db, sql, NULL, 0);

	if (verdict == REFUSED) {
		say_refusal(client, client->db->number);
	} else if (verdict == GOOD && begins(sql, "SELECT MAX(id)")) {
		say_number(client, client->db->rows);
	} else if (verdict == GOOD) {
		SAY(client, OK);
	}
	free(sql);
	return verdict != DEAD;
}

static void prepare_answer(struct client *client)
{
	uint8_t answer[12] = {0};

	cr_assert(client->n_prepared + 1 < STATEMENTS_MAX);
	client->prepared[++client->n_prepared] = strndup((const char *)client->in + 1, client->in_bytes - 1);
	answer[1] = (uint8_t)client->n_prepared;
	say(client, answer, sizeof(answer));
}

static bool execute_answer(struct client *client)
{
	struct timespec ts = {.tv_sec = client->db->delay_ns / 1000000000,
			      .tv_nsec = client->db->delay_ns % 1000000000};
	uint32_t id = client->in[1];
	int verdict;

	cr_assert(id > 0 && id <= client->n_prepared);
	/* After the head of 10 bytes: whether types follow, the types, the values. */
	verdict = hear(client->db, client->prepared[id], client->in + 10, client->in_bytes - 10);
	(void)nanosleep(&ts, NULL);
	if (verdict == REFUSED) {
		say_refusal(client, client->db->number);
	} else if (verdict == GOOD) {
		SAY(client, OK);
	}
	return verdict != DEAD;
}

static bool command_answer(struct client *client)
{
	switch (client->in[0]) {
	case COM_QUIT:
		return false;
	case COM_QUERY:
		return query_answer(client);
	case COM_PREPARE:
		prepare_answer(client);
		return true;
	case COM_EXECUTE:
		return execute_answer(client);
	case COM_STMT_CLOSE:
		return true;
	default: /* COM_INIT_DB, COM_PING ... */
		SAY(client, OK);
		return true;
	}
}

static void *client_main(void *arg)
{
	static const char greeting[] = "\x0a"
				       "5.5.5-10.11.0-MariaDB\0"
				       "\1\0\0\0"
				       "12345678\0"
				       "\x08\xa2\x21\2\0\x08\0\x15" /* 4.1, secure connection, plugin */
				       "\0\0\0\0\0\0\0\0\0\0"
				       "abcdefghijkl\0"
				       "mysql_native_password";
	struct client client = *(struct client *)arg;

	free(arg);
	client.in = malloc(PACKET_MAX);
	say(&client, greeting, sizeof(greeting));
	if (client.in && packet_read(&client)) {
		SAY(&client, OK);
		while (packet_read(&client) && command_answer(&client)) {
		}
	}
	close(client.fd);
	for (uint32_t i = 1; i <= client.n_prepared; i++) {
		free(client.prepared[i]);
	}
	free(client.in);
	return NULL;
}

static void *mariadb_main(void *arg)
{
	struct mariadb *db = arg;
	int fd;

	while ((fd = accept(db->listener, NULL, NULL)) >= 0) {
		struct client *client = calloc(1, sizeof(*client));

		cr_assert(client && db->n_clients < MARIADB_CLIENTS_MAX);
		*client = (struct client){.db = db, .fd = fd};
		cr_assert_eq(pthread_create(&db->clients[db->n_clients++], NULL, client_main, client), 0);
	}
	return NULL;
}

void mariadb_start(struct mariadb *db)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)snprintf(db->socket, sizeof(db->socket), "/tmp/sloglab-unit-db-%d", (int)getpid());
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", db->socket);
	(void)unlink(db->socket);
	(void)pthread_mutex_init(&db->lock, NULL);
	db->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(db->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(db->listener, MARIADB_CLIENTS_MAX), 0);
	cr_assert_eq(pthread_create(&db->thread, NULL, mariadb_main, db), 0);
}

void mariadb_stop(struct mariadb *db)
{
	(void)shutdown(db->listener, SHUT_RDWR);
	cr_assert_eq(pthread_join(db->thread, NULL), 0);
	close(db->listener);
	for (int i = 0; i < db->n_clients; i++) {
		cr_assert_eq(pthread_join(db->clients[i], NULL), 0);
	}
	cr_assert_eq(unlink(db->socket), 0);
}

void mariadb_fini(struct mariadb *db)
{
	for (int i = 0; i < db->n_said; i++) {
		free(db->said[i].sql);
	}
	(void)pthread_mutex_destroy(&db->lock);
}

int mariadb_count(const struct mariadb *db, const char *begin)
{
	int n = 0;

	for (int i = 0; i < db->n_said; i++) {
		n += begins(db->said[i].sql, begin);
	}
	return n;
}

int mariadb_find(const struct mariadb *db, const char *begin)
{
	for (int i = 0; i < db->n_said; i++) {
		if (begins(db->said[i].sql, begin)) {
			return i;
		}
	}
	return -1;
}
