/* A line of text for the run, then one for each acknowledgement: its number. */
#include "loadgen/audit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadgen/record.h"

#define HEADER "sloglab-audit/1"
#define NUMBERS_MAX (1ull << 32) /* of a list that is read: 512 MiB of bits */

static int socket_open(const char *where, struct sl_err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL, *at;
	const char *colon = strrchr(where, ':');
	char host[128];
	int fd = -1, rc;

	if (!colon || colon == where || (size_t)(colon - where) >= sizeof(host)) {
		return sl_err_set(err, -EINVAL, "tcp://%.100s: not of the form tcp://HOST:PORT", where);
	}
	(void)snprintf(host, sizeof(host), "%.*s", (int)(colon - where), where);
	rc = getaddrinfo(host, colon + 1, &hints, &found);
	if (rc != 0) {
		return sl_err_set(err, -EINVAL, "tcp://%.100s: %s", where, gai_strerror(rc));
	}
	for (at = found; at && fd < 0; at = at->ai_next) {
		fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
		if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) < 0) {
			(void)close(fd);
			fd = -1;
		}
	}
	rc = fd < 0 ? -errno : 0;
	freeaddrinfo(found);
	return rc < 0 ? sl_err_set(err, rc, "tcp://%.100s: %s; start \"nc -l -p PORT >acks\" there", where,
				   strerror(-rc))
		      : fd;
}

static int file_open(const char *path, struct sl_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0) {
		rc = sl_err_set(err, -errno, "%.200s: %s", path, strerror(errno));
	} else if (S_ISREG(st.st_mode) && st.st_size > 0) {
		rc =
		    sl_err_set(err, -EEXIST,
			       "%.200s: holds acknowledgements; \"audit verify\" them, then remove it", path);
	} else {
		return fd;
	}
	if (fd >= 0) {
		(void)close(fd);
	}
	return rc;
}

/* One write for one line: lines of several threads do not mix. */
static int line_write(const struct sl_audit_log *log, const char *line, size_t n, struct sl_err *err)
{
	ssize_t done;
	bool failed;

	do {
		done = write(log->fd, line, n);
	} while (done < 0 && errno == EINTR);
	failed = done < 0 || (log->sync && fdatasync(log->fd) < 0);

	if (failed || (size_t)done < n) {
		return sl_err_set(err, failed ? -errno : -EIO, "list of acknowledgements: %s",
				  failed ? strerror(errno) : "short write");
	}
	return 0;
}

int sl_audit_log_create(const char *where, uint64_t run, size_t record_bytes, bool sync,
			struct sl_audit_log *ret, struct sl_err *err)
{
	bool tcp = strncmp(where, "tcp://", 6) == 0;
	struct sl_audit_log log = {0};
	struct stat st;
	char line[80];
	int n, rc;

	log.fd = tcp ? socket_open(where + 6, err) : file_open(where, err);
	if (log.fd < 0) {
		return log.fd;
	}
	/* A pipe or socket has nothing to sync. */
	log.sync = sync && fstat(log.fd, &st) == 0 && S_ISREG(st.st_mode);
	n = snprintf(line, sizeof(line), HEADER " run=%016" PRIx64 " bytes=%zu\n", run, record_bytes);
	rc = line_write(&log, line, (size_t)n, err);
	if (rc < 0) {
		sl_audit_log_close(&log);
		return rc;
	}
	*ret = log;
	return 0;
}

int sl_audit_log_add(const struct sl_audit_log *log, uint64_t number, struct sl_err *err)
{
	char line[24];
	int n = snprintf(line, sizeof(line), "%" PRIu64 "\n", number);

	return line_write(log, line, (size_t)n, err);
}

void sl_audit_log_close(struct sl_audit_log *log)
{
	if (log->fd > 0) {
		(void)close(log->fd);
	}
	*log = (struct sl_audit_log){0};
}

static int acks_add(struct sl_audit_acks *acks, uint64_t number)
{
	if (number >= NUMBERS_MAX) {
		return -EINVAL;
	}
	if (number >= acks->count) {
		uint64_t count = acks->count ? acks->count : 4096;
		uint8_t *bits;

		while (count <= number) {
			count *= 2;
		}
		bits = realloc(acks->bits, count / 8);
		if (!bits) {
			return -ENOMEM;
		}
		memset(bits + acks->count / 8, 0, (count - acks->count) / 8);
		acks->bits = bits;
		acks->count = count;
	}
	acks->acknowledged += !sl_audit_acks_has(acks, number);
	acks->bits[number / 8] |= (uint8_t)(1u << number % 8);
	return 0;
}

static int header_parse(const char *line, struct sl_audit_acks *acks)
{
	/* NOLINTNEXTLINE(cert-err34-c): the range is checked below, and a run may be any number */
	if (sscanf(line, HEADER " run=%16" SCNx64 " bytes=%zu", &acks->run, &acks->record_bytes) != 2 ||
	    acks->record_bytes < SL_RECORD_BYTES_MIN || acks->record_bytes > SL_RECORD_BYTES_MAX ||
	    acks->record_bytes % 8 != 0) {
		return -EINVAL;
	}
	return 0;
}

static int line_parse(const char *line, struct sl_audit_acks *acks)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(line, &end, 10);
	if (line[0] < '0' || line[0] > '9' || *end != '\n' || errno != 0) {
		return -EINVAL;
	}
	return acks_add(acks, number);
}

int sl_audit_acks_read(const char *path, struct sl_audit_acks *ret, struct sl_err *err)
{
	struct sl_audit_acks acks = {0};
	FILE *file = fopen(path, "re");
	unsigned long at = 0;
	char line[96];
	int rc = 0;

	if (!file) {
		return sl_err_set(err, -errno, "%.200s: %s", path, strerror(errno));
	}
	while (rc == 0 && fgets(line, sizeof(line), file)) {
		at++;
		if (!strchr(line, '\n') && feof(file)) {
			break; /* it was being written */
		}
		rc = at == 1 ? header_parse(line, &acks) : line_parse(line, &acks);
	}
	/* A list that cannot be read to its end is no shorter one. */
	if (rc == 0 && ferror(file)) {
		rc = errno != 0 ? -errno : -EIO;
	} else if (rc == 0 && acks.record_bytes == 0) {
		rc = -EINVAL;
	}
	(void)fclose(file);
	if (rc < 0) {
		sl_audit_acks_fini(&acks);
		return sl_err_set(err, rc, "%.200s:%lu: %s", path, at,
				  rc == -EINVAL ? "no list of acknowledgements of sloglab-load audit"
						: strerror(-rc));
	}
	*ret = acks;
	return 0;
}

void sl_audit_acks_fini(struct sl_audit_acks *acks)
{
	free(acks->bits);
	*acks = (struct sl_audit_acks){0};
}

bool sl_audit_acks_has(const struct sl_audit_acks *acks, uint64_t number)
{
	return number < acks->count && (acks->bits[number / 8] >> number % 8 & 1) != 0;
}
