/*
 * What a load needs of MariaDB, in a thread of the test: it greets, prepares, executes and counts, and keeps
 * the text of everything that it was asked. It has no tables; tests say what it answers.
 */
#ifndef SL_TESTS_LOADGEN_MARIADB_H
#define SL_TESTS_LOADGEN_MARIADB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARIADB_SAID_MAX 4096
#define MARIADB_CLIENTS_MAX 16
#define MARIADB_PARAM_BYTES 320

/* A statement: as text, or prepared and executed with the parameters behind their types. */
struct mariadb_said {
	char *sql;
	bool executed;
	uint8_t params[MARIADB_PARAM_BYTES];
	size_t param_bytes;
};

struct mariadb {
	/* Set before mariadb_start, or under the lock. */
	uint64_t rows;      /* answer to SELECT MAX(id) */
	const char *refuse; /* statements that begin so are refused with `number`, `refusals` times */
	unsigned number, refusals;
	const char *die_at; /* the connection ends at a statement that begins so */
	int64_t delay_ns;   /* before the answer to an execution */
	/* The server. */
	char socket[64];
	int listener;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_t clients[MARIADB_CLIENTS_MAX];
	int n_clients;
	struct mariadb_said said[MARIADB_SAID_MAX];
	int n_said;
};

void mariadb_start(struct mariadb *db);
/* Waits for the clients to end. */
void mariadb_stop(struct mariadb *db);
/* Frees what was said. */
void mariadb_fini(struct mariadb *db);
/* How many statements begin so, and the number of the first of them (-1: none). */
int mariadb_count(const struct mariadb *db, const char *begin);
int mariadb_find(const struct mariadb *db, const char *begin);

#endif
