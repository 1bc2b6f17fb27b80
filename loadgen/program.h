/* Parts of the program sloglab-load: options in, text and JSON out. Not part of the library. */
#ifndef SL_LOADGEN_PROGRAM_H
#define SL_LOADGEN_PROGRAM_H

#include <jansson.h>
#include <stdio.h>

#include "loadgen/load.h"
#include "sim/base/options.h"

enum {
	PROGRAM_OK = 0,
	PROGRAM_FAILED = 1,
	PROGRAM_USAGE = 2,
	PROGRAM_INTERRUPTED = 130
};

/* What all loads have; zero-initialise. */
struct program {
	const char *load; /* its name */
	/* Options. */
	const char *json;
	int64_t time_ns, warmup_ns, interval_ns, stall_ns;
	uint64_t max_requests, seed, threads;
	/* The run. */
	FILE *out; /* text for people: stderr when the JSON goes to stdout */
	struct sl_load_result result;
	struct sl_err err;
};

#define PROGRAM_UNSET UINT64_MAX /* of max_requests: not given */
#define PROGRAM_TIME_MAX 1000000000000000ull

/* Rows of an option table. */
#define PROGRAM_OPTIONS(p)                                                                                 \
	{"threads", "N", "threads (1)", SL_OPT_NUMBER, &(p)->threads, 1, 1024},                            \
	    {"time",                                                                                       \
	     "TIME",                                                                                       \
	     "end after so much measured time (10s, unless requests are limited)",                         \
	     SL_OPT_TIME,                                                                                  \
	     &(p)->time_ns,                                                                                \
	     0,                                                                                            \
	     PROGRAM_TIME_MAX},                                                                            \
	    {"max-requests",                                                                               \
	     "N",                                                                                          \
	     "end after N requests; 0 = no limit",                                                         \
	     SL_OPT_NUMBER,                                                                                \
	     &(p)->max_requests,                                                                           \
	     0,                                                                                            \
	     1000000000000000ull},                                                                         \
	    {"warm-up", "TIME",          "load before the measurement (0s)", SL_OPT_TIME, &(p)->warmup_ns, \
	     0,         PROGRAM_TIME_MAX},                                                                 \
	    {"stall",         "TIME",         "give up when nothing completes for so long (30s)",          \
	     SL_OPT_TIME,     &(p)->stall_ns, 100000000,                                                   \
	     PROGRAM_TIME_MAX},                                                                            \
	    {"seed", "N", "of keys, offsets and data (1)", SL_OPT_NUMBER, &(p)->seed, 0, INT64_MAX},       \
	    {"report-interval",                                                                            \
	     "TIME",                                                                                       \
	     "a line of progress and a sample each (0s = none)",                                           \
	     SL_OPT_TIME,                                                                                  \
	     &(p)->interval_ns,                                                                            \
	     0,                                                                                            \
	     PROGRAM_TIME_MAX},                                                                            \
	{                                                                                                  \
		"json", "FILE", "write the result as JSON; \"-\": to stdout, all else to stderr",          \
		    SL_OPT_TEXT, &(p)->json, 0, 0                                                          \
	}
/* Rows for a connection to MariaDB, into a struct sl_db_config and a uint64_t. */
#define PROGRAM_DB_OPTIONS(db, port)                                                                           \
	{"host", "HOST", "of MariaDB (127.0.0.1)", SL_OPT_TEXT, &(db)->host, 0, 0},                            \
	    {"port", "N", "of MariaDB (3306)", SL_OPT_NUMBER, (port), 1, 65535},                               \
	    {"socket", "PATH", "Unix socket of MariaDB, instead of host and port", SL_OPT_TEXT, &(db)->socket, \
	     0,        0},                                                                                     \
	    {"user", "NAME", "(sbtest)", SL_OPT_TEXT, &(db)->user, 0, 0},                                      \
	    {"password", "TEXT", "others may see it; better in MYSQL_PWD", SL_OPT_TEXT, &(db)->password,       \
	     0,          0},                                                                                   \
	{                                                                                                      \
		"database", "NAME", "made when missing (sbtest)", SL_OPT_TEXT, &(db)->database, 0, 0           \
	}
#define PROGRAM_OPTIONS_END                               \
	{                                                 \
		NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0 \
	}

/* The loads, as commands: argv[0] is the load's name. They return the exit code. */
int program_oltp(int argc, char **argv);
int program_fileio(int argc, char **argv);
int program_syncwrite(int argc, char **argv);
int program_audit(int argc, char **argv);

struct program_command {
	const char *load;          /* its name */
	const char *usage, *about; /* what --help prints before the options */
	const struct sl_option *options;
};

/* Sets the defaults and reads the options. false: *ret_exit is the exit code (help was printed, or the
 * error). */
bool program_begin(struct program *program, const struct program_command *command, int argc, char **argv,
		   struct sl_words *operands, int *ret_exit);
/* Prints an error of usage; PROGRAM_USAGE. */
int program_usage(const struct program *program, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* prepare, run, cleanup or none of them, which means all. false after an error. */
bool program_stages(const struct program *program, const struct sl_words *operands, unsigned *ret_stages);
/* Limits of the load, with what happens without --time and --max-requests. */
struct sl_load_limits program_limits(struct program *program, uint64_t default_requests);

/*
 * Prints summary, JSON and error of a load that ended with rc; returns the exit code. `about` (a reference,
 * taken) holds the load's own keys of the JSON. What was measured before a failure is kept.
 */
int program_end(struct program *program, int rc, bool measured, json_t *about);

/* The same for a load of several measurements, which were printed: `about` is the JSON but for its head. */
int program_end_rows(struct program *program, int rc, json_t *about);

/* Progress of `oltp prepare`. */
struct program_filling {
	int64_t begin_s, last_s; /* when it began; the time of the last line, at first the same */
	bool terminal;
	FILE *out;
};

/* Says how far the filling is at now_s, with the time left: on a terminal a line that is written over every
 * second; elsewhere a line every 10 s. The last row always has its line. */
void program_filling_print(struct program_filling *filling, int64_t now_s, uint64_t rows, uint64_t of);

/* The summary, as sysbench prints it. */
void program_summary(const struct program *program);
void program_ticker(void *arg, const struct sl_load_sample *sample);
/* Writes where --json says: "-" or a path, whose file appears whole or not at all. 0 or negative errno. */
int program_json_write(const struct program *program, const json_t *doc, struct sl_err *err);
/* What all results begin with. */
json_t *program_json_head(const struct program *program);
/* The result of a load. `error` NULL = none. */
int program_json(const struct program *program, json_t *about, const char *error, struct sl_err *err);

#endif
