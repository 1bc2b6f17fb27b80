/* Records and acknowledgements of an audit, and its verdict on a file that was tampered with. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loadgen/audit.h"
#include "loadgen/audit_log.h"
#include "loadgen/record.h"

#define BYTES 512

Test(audit_record, each_byte_matters)
{
	uint8_t record[BYTES];

	sl_record_make(7, 3, record, BYTES);
	cr_assert_eq(sl_record_check(7, 3, record, BYTES, BYTES), SL_RECORD_WHOLE);
	cr_assert_eq(sl_record_check(7, 4, record, BYTES, BYTES), SL_RECORD_TORN, "in a wrong place");
	cr_assert_eq(sl_record_check(7, 3, record, BYTES - 8, BYTES), SL_RECORD_TORN, "cut off");
	for (size_t i = 0; i < BYTES; i++) {
		record[i] ^= 1;
		cr_assert_eq(sl_record_check(7, 3, record, BYTES, BYTES), SL_RECORD_TORN, "byte %zu", i);
		record[i] ^= 1;
	}
}

Test(audit_record, nothing_and_another_run_s_record_are_absent)
{
	uint8_t record[BYTES] = {0}, other[BYTES];

	cr_assert_eq(sl_record_check(7, 3, record, BYTES, BYTES), SL_RECORD_ABSENT);
	cr_assert_eq(sl_record_check(7, 3, record, 0, BYTES), SL_RECORD_ABSENT);
	sl_record_make(8, 3, other, BYTES);
	cr_assert_eq(sl_record_check(7, 3, other, BYTES, BYTES), SL_RECORD_ABSENT);
	/* Half of ours over another run's. */
	sl_record_make(7, 3, record, BYTES);
	memcpy(other, record, BYTES / 2);
	cr_assert_eq(sl_record_check(7, 3, other, BYTES, BYTES), SL_RECORD_TORN);
}

Test(audit_record, an_audit_overwrites_only_audits_and_nothing)
{
	uint8_t record[BYTES];

	sl_record_make(7, 0, record, BYTES);
	cr_assert(sl_record_harmless(record, 8));
	cr_assert(sl_record_harmless("\0\0\0\0\0\0\0", 8));
	cr_assert(sl_record_harmless("", 0));
	cr_assert_not(sl_record_harmless("#!/bin/sh", 8));
	cr_assert_not(sl_record_harmless("x", 1));
}

/* A scratch file's name; the caller frees. */
static char *scratch(const char *what)
{
	char *path;

	cr_assert(asprintf(&path, "/tmp/sloglab-unit-%d-%s", (int)getpid(), what) > 0);
	(void)unlink(path);
	return path;
}

static void text_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	cr_assert(fputs(text, file) >= 0);
	cr_assert_eq(fclose(file), 0);
}

Test(audit_log, comes_back_as_it_was_noted)
{
	char *path = scratch("acks");
	struct sl_audit_acks acks;
	struct sl_audit_log log;
	struct sl_err err = {0};

	cr_assert_eq(sl_audit_log_create(path, 0xfedcba9876543210, BYTES, true, &log, &err), 0, "%s",
		     err.msg);
	cr_assert_eq(sl_audit_log_add(&log, 5, &err), 0);
	cr_assert_eq(sl_audit_log_add(&log, 0, &err), 0);
	cr_assert_eq(sl_audit_log_add(&log, 70000, &err), 0);
	sl_audit_log_close(&log);
	cr_assert_eq(sl_audit_log_create(path, 1, BYTES, true, &log, &err), -EEXIST, "never overwritten");
	cr_assert_eq(sl_audit_acks_read(path, &acks, &err), 0, "%s", err.msg);
	cr_assert_eq(acks.run, 0xfedcba9876543210);
	cr_assert_eq(acks.record_bytes, BYTES);
	cr_assert_eq(acks.acknowledged, 3u);
	cr_assert(sl_audit_acks_has(&acks, 0) && sl_audit_acks_has(&acks, 5) &&
		  sl_audit_acks_has(&acks, 70000));
	cr_assert_not(sl_audit_acks_has(&acks, 1) || sl_audit_acks_has(&acks, UINT64_MAX));
	sl_audit_acks_fini(&acks);
	cr_assert_eq(unlink(path), 0);
	free(path);
}

Test(audit_log, may_go_to_another_machine)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM, 0), peer;
	char where[40], got[128] = "";
	struct sl_audit_log log;
	struct sl_err err = {0};
	size_t n = 0;

	cr_assert_eq(bind(server, (struct sockaddr *)&address, length), 0);
	cr_assert_eq(listen(server, 1), 0);
	cr_assert_eq(getsockname(server, (struct sockaddr *)&address, &length), 0);
	snprintf(where, sizeof(where), "tcp://127.0.0.1:%d", ntohs(address.sin_port));
	cr_assert_eq(sl_audit_log_create(where, 255, BYTES, true, &log, &err), 0, "%s", err.msg);
	peer = accept(server, NULL, NULL);
	cr_assert(peer >= 0);
	cr_assert_eq(sl_audit_log_add(&log, 17, &err), 0);
	sl_audit_log_close(&log);
	for (ssize_t more; (more = read(peer, got + n, sizeof(got) - 1 - n)) > 0;) {
		n += (size_t)more;
	}
	cr_assert_str_eq(got, "sloglab-audit/1 run=00000000000000ff bytes=512\n17\n");
	close(peer);
	close(server);
	cr_assert_eq(sl_audit_log_create(where, 1, BYTES, true, &log, &err), -ECONNREFUSED);
	cr_assert_eq(sl_audit_log_create("tcp://nowhere", 1, BYTES, true, &log, &err), -EINVAL);
}

Test(audit_log, says_which_line_is_wrong)
{
	static const struct {
		const char *text;
		int line; /* 0 = it is right */
		uint64_t acknowledged;
	} cases[] = {
	    {"sloglab-audit/1 run=00000000000000ff bytes=512\n1\n2\n", 0, 2},
	    {"sloglab-audit/1 run=00000000000000ff bytes=512\n1\n2", 0, 1}, /* cut off by the crash */
	    {"sloglab-audit/1 run=00000000000000ff bytes=512\n1\n1\n", 0, 1},
	    {"sloglab-audit/1 run=00000000000000ff bytes=512\n1\nx\n", 3, 0},
	    {"sloglab-audit/1 run=00000000000000ff bytes=512\n-1\n", 2, 0},
	    {"sloglab-audit/1 run=00000000000000ff bytes=512\n99999999999\n", 2, 0},
	    {"sloglab-audit/1 run=00000000000000ff bytes=513\n", 1, 0},
	    {"sloglab-audit/1 run=00000000000000ff bytes=99999999\n", 1, 0},
	    {"1\n2\n", 1, 0},
	};
	char *path = scratch("lines");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_audit_acks acks;
		struct sl_err err = {0};
		char where[32];

		text_write(path, cases[i].text);
		if (cases[i].line == 0) {
			cr_assert_eq(sl_audit_acks_read(path, &acks, &err), 0, "case %zu: %s", i, err.msg);
			cr_assert_eq(acks.acknowledged, cases[i].acknowledged, "case %zu", i);
			sl_audit_acks_fini(&acks);
		} else {
			snprintf(where, sizeof(where), "lines:%d: ", cases[i].line);
			cr_assert_eq(sl_audit_acks_read(path, &acks, &err), -EINVAL, "case %zu", i);
			cr_assert(strstr(err.msg, where) != NULL, "case %zu: %s", i, err.msg);
		}
	}
	cr_assert_eq(unlink(path), 0);
	free(path);
}

Test(audit, finds_what_is_missing_and_what_is_torn)
{
	char *path = scratch("records"), *acks = scratch("records-acks");
	const struct sl_audit_config config = {.target = {.path = path},
					       .acks = acks,
					       .record_bytes = BYTES,
					       .threads = 3,
					       .limits = {.max_requests = 50}};
	struct sl_audit_verdict verdict;
	struct sl_load_result result;
	struct sl_err err = {0};
	uint8_t zeroes[BYTES] = {0}, byte;
	int fd;

	cr_assert_eq(sl_load_result_init(&result), 0);
	cr_assert_eq(sl_audit_run(&config, &result, &err), 0, "%s", err.msg);
	cr_assert_eq(result.requests, 50u);
	sl_load_result_fini(&result);
	cr_assert_eq(sl_audit_verify(&config.target, acks, &verdict, &err), 0, "%s", err.msg);
	cr_assert(verdict.acknowledged >= 50 && verdict.lost == 0 && verdict.torn == 0);

	/* Record 10 is gone, of 20 a sector is left, of 30 one byte is another. */
	fd = open(path, O_RDWR);
	cr_assert(fd >= 0);
	cr_assert_eq(pwrite(fd, zeroes, BYTES, 10 * BYTES), BYTES);
	cr_assert_eq(pwrite(fd, zeroes, BYTES / 2, 20 * BYTES), BYTES / 2);
	/* A run's records are random: a fixed byte is the one that is there once in 256 times. */
	cr_assert_eq(pread(fd, &byte, 1, 30 * BYTES + 100), 1);
	byte ^= 1;
	cr_assert_eq(pwrite(fd, &byte, 1, 30 * BYTES + 100), 1);
	cr_assert_eq(sl_audit_verify(&config.target, acks, &verdict, &err), 0, "%s", err.msg);
	cr_assert_eq(verdict.lost, 3u);
	cr_assert_eq(verdict.torn, 2u);
	cr_assert_eq(verdict.first_lost, 10u);

	/* All that follows 40 is gone: the file ends within record 40. */
	cr_assert_eq(ftruncate(fd, 40 * BYTES + 100), 0);
	cr_assert_eq(sl_audit_verify(&config.target, acks, &verdict, &err), 0, "%s", err.msg);
	cr_assert_eq(verdict.lost, 3 + verdict.acknowledged - 40);
	cr_assert_eq(close(fd), 0);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(unlink(acks), 0);
	free(path);
	free(acks);
}
