#include "guests/mariadb.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define TOOL_MS 600000
#define START_MS 120000
#define STOP_MS 60000 /* dirty pages have to be written */

void sl_mariadb_settings(const struct sl_mariadb_limits *limits, const char *before, const char *after,
			 FILE *out)
{
	const struct sl_box *box = limits->box;
	double dilate = limits->dilate > 0 ? limits->dilate : 1;
	double io_capacity = box->io_capacity / dilate;
	const struct {
		const char *name;
		long long value;
	} numbers[] = {
	    {"innodb_buffer_pool_size", (long long)box->buffer_pool_bytes},
	    {"innodb_log_file_size", (long long)box->log_size_bytes},
	    {"innodb_flush_log_at_trx_commit", limits->flush_at_commit},
	    {"innodb_flush_log_at_timeout", (long long)(dilate + 0.5)}, /* 1 s */
	    {"innodb_io_capacity", (long long)(io_capacity > 100 ? io_capacity : 100)},
	};
	static const char *const words[] = {
	    "skip-log-bin",
	    "performance-schema=off",
	    "innodb_buffer_pool_load_at_startup=off",
	    "innodb_buffer_pool_dump_at_shutdown=off",
	};
	static const char *const methods[] = {NULL, "fsync", "O_DIRECT"}; /* auto: the server's own */

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		(void)fprintf(out, "%s%s%s", before, words[i], after);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		(void)fprintf(out, "%s%s=%lld%s", before, numbers[i].name, numbers[i].value, after);
	}
	(void)fprintf(out, "%sinnodb_doublewrite=%d%s", before, box->doublewrite != SL_DOUBLEWRITE_OFF,
		      after);
	if (methods[box->flush_method]) {
		(void)fprintf(out, "%sinnodb_flush_method=%s%s", before, methods[box->flush_method], after);
	}
}

/* A path in the run folder; the socket's must fit into sockaddr_un. */
static int paths_make(struct sl_mariadb *db, struct sl_err *err)
{
	size_t room = sizeof(((struct sockaddr_un *)NULL)->sun_path);

	if (snprintf(db->socket, sizeof(db->socket), "%s/db.sock", db->run_dir) >= (int)room ||
	    snprintf(db->config, sizeof(db->config), "%s/my.cnf", db->run_dir) >= (int)sizeof(db->config)) {
		return sl_err_set(err, -ENAMETOOLONG,
				  "%.100s: too long for a socket; set TMPDIR to a shorter path", db->run_dir);
	}
	return 0;
}

static int config_write(const struct sl_mariadb *db, struct sl_err *err)
{
	const struct sl_mariadb_limits limits = {.box = db->box, .flush_at_commit = db->flush_at_commit};
	FILE *file = fopen(db->config, "we");

	if (!file) {
		return sl_err_set(err, -errno, "%.200s: %s", db->config, strerror(errno));
	}
	(void)fprintf(
	    file,
	    "[mysqld]\n"
	    "user=root\n"
	    "datadir=%s\n"
	    "socket=%s\n"
	    "pid-file=%s.pid\n"
	    "tmpdir=%s\n" /* it removes what looks like its own there, another server's tables too */
	    "skip-networking\n"
	    "skip-name-resolve\n",
	    db->data_dir, db->socket, db->socket, db->run_dir);
	sl_mariadb_settings(&limits, "", "\n", file);
	if (fclose(file) != 0) {
		return sl_err_set(err, -errno, "%.200s: %s", db->config, strerror(errno));
	}
	return 0;
}

static int tool_run(const struct sl_mariadb *db, const char *const *argv, struct sl_err *err)
{
	char log[PATH_MAX];
	const struct sl_process_spec spec = {.name = argv[0], .argv = argv, .log = log};
	struct sl_patience patience = db->patience;

	(void)snprintf(log, sizeof(log), "%.4000s/%s.log", db->run_dir, argv[0]);
	patience.timeout_ms = TOOL_MS;
	return sl_process_run(&spec, &patience, err);
}

int sl_mariadb_install(struct sl_mariadb *db, struct sl_err *err)
{
	char defaults[PATH_MAX + 32];
	const char *const argv[] = {"mariadb-install-db",
				    defaults,
				    "--user=root",
				    "--auth-root-authentication-method=normal",
				    "--skip-test-db",
				    "--skip-name-resolve",
				    NULL};
	int rc = paths_make(db, err);

	if (rc == 0) {
		rc = config_write(db, err);
	}
	if (rc < 0) {
		return rc;
	}
	(void)snprintf(defaults, sizeof(defaults), "--defaults-file=%s", db->config);
	return tool_run(db, argv, err);
}

int sl_mariadb_sql(struct sl_mariadb *db, const char *database, const char *sql, struct sl_err *err)
{
	const char *const argv[] = {"mariadb",  "--no-defaults", "--user=root", "--batch", "--socket",
				    db->socket, "--execute",     sql,           database,  NULL};

	return tool_run(db, argv, err);
}

int sl_mariadb_number(struct sl_mariadb *db, const char *sql, double *ret, struct sl_err *err)
{
	char log[PATH_MAX], line[256] = "", *word, *end = NULL;
	FILE *file;
	int rc = sl_mariadb_sql(db, "mysql", sql, err);

	if (rc < 0) {
		return rc;
	}
	(void)snprintf(log, sizeof(log), "%.4000s/mariadb.log", db->run_dir);
	file = fopen(log, "re");
	while (file && fgets(line, sizeof(line), file)) {
	}
	if (!file || ferror(file)) {
		line[0] = '\0'; /* what was read last is not the last line */
	}
	if (file) {
		(void)fclose(file);
	}
	line[strcspn(line, "\n")] = '\0';
	word = strrchr(line, '\t');
	word = word ? word + 1 : line;
	*ret = strtod(word, &end);
	return end != word && *end == '\0' ? 0 : sl_err_set(err, -EIO, "mariadb: no number: %s", sql);
}

static bool answers(void *arg)
{
	const struct sl_mariadb *db = arg;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ready;

	memcpy(at.sun_path, db->socket, strlen(db->socket) + 1); /* fits: paths_make */
	ready = fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
	if (fd >= 0) {
		close(fd);
	}
	return ready;
}

static int server_up(void *self, struct sl_err *err)
{
	struct sl_mariadb *db = self;
	struct sl_patience patience = db->patience;
	char defaults[PATH_MAX + 32], log[PATH_MAX];
	const char *const argv[] = {"mariadbd", defaults, NULL};
	const struct sl_process_spec spec = {
	    .name = "mariadbd", .argv = argv, .log = log, .priority = SL_PRIORITY_NICE};
	int rc = paths_make(db, err);

	if (rc == 0) {
		rc = config_write(db, err);
	}
	if (rc < 0) {
		return rc;
	}
	(void)snprintf(defaults, sizeof(defaults), "--defaults-file=%s", db->config);
	(void)snprintf(log, sizeof(log), "%.4000s/mariadbd.log", db->run_dir);
	unlink(db->socket);
	patience.timeout_ms = START_MS;
	rc = sl_process_start(&spec, &db->server, err);
	return rc < 0 ? rc : sl_process_ready(&db->server, answers, db, &patience, err);
}

static void server_down(void *self)
{
	sl_process_stop(&((struct sl_mariadb *)self)->server, SIGTERM, STOP_MS);
}

static int server_check(void *self, struct sl_err *err)
{
	return sl_process_check(&((struct sl_mariadb *)self)->server, err);
}

void sl_mariadb_part(struct sl_mariadb *db, struct sl_chain *chain)
{
	const struct sl_part server = {server_up, server_down, server_check, db};

	sl_chain_add(chain, &server);
}
