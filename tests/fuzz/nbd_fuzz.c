/*
 * Bytes from anybody into an NBD connection, in virtual time over a disk in memory. The first byte chooses
 * how the rest is cut up, the second what has been agreed before: nothing, the greeting, an export, or an
 * export with structured replies and requests whose magic number is set right, because it would not be
 * guessed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/loop.h"
#include "sim/nbd/bytes.h"
#include "sim/nbd/nbd.h"
#include "sim/nbd/numbers.h"
#include "tests/unit/nbd/ram_image.h"

#define DISK_BYTES (1 << 16)
#define HEAD_BYTES 28
#define IOV 8

/* libFuzzer chose the name. NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum prelude {
	PRELUDE_NONE,
	PRELUDE_GREETING,
	PRELUDE_EXPORT,
	PRELUDE_STRUCTURED
};

struct target {
	struct sl_loop *loop;
	struct sl_nbd_conn *conn;
	bool pending;
	unsigned sum;
};

static void target_output(void *arg)
{
	struct target *target = arg;

	target->pending = true;
}

/* Every byte of a reply must be initialised and ours; sometimes not all is taken. */
static void take_output(struct target *target)
{
	struct iovec iov[IOV];
	int n;

	while ((n = sl_nbd_conn_output(target->conn, iov, IOV)) > 0) {
		size_t bytes = 0;

		for (int i = 0; i < n; i++) {
			const uint8_t *at = iov[i].iov_base;

			for (size_t k = 0; k < iov[i].iov_len; k++) {
				target->sum = target->sum * 31 + at[k];
			}
			bytes += iov[i].iov_len;
		}
		sl_nbd_conn_consume(target->conn, target->sum % 3 == 0 && bytes > 7 ? bytes - 7 : bytes);
	}
	target->pending = false;
}

static int feed(struct target *target, const uint8_t *bytes, size_t size, size_t piece)
{
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < size; at += piece) {
		rc = sl_nbd_conn_input(target->conn, sl_loop_now(target->loop), bytes + at,
				       piece < size - at ? piece : size - at);
		if (at / piece % 3 == 2 && sl_loop_run(target->loop, NULL) < 0) {
			abort();
		}
		if (target->pending && at / piece % 2 == 0) {
			take_output(target);
		}
	}
	return rc;
}

static void agree(struct target *target, enum prelude prelude)
{
	static const char greeting[] = "\0\0\0\3";
	static const char structured[] =
	    "IHAVEOPT\0\0\0\10\0\0\0\0IHAVEOPT\0\0\0\12\0\0\0\35\0\0\0\2fz\0\0\0\1\0\0\0\17"
	    "base:allocation";
	static const char go[] = "IHAVEOPT\0\0\0\7\0\0\0\10\0\0\0\2fz\0\0";
	int rc = 0;

	if (prelude != PRELUDE_NONE) {
		rc = feed(target, (const uint8_t *)greeting, sizeof(greeting) - 1, 64);
	}
	if (prelude == PRELUDE_STRUCTURED) {
		rc |= feed(target, (const uint8_t *)structured, sizeof(structured) - 1, 64);
	}
	if (prelude >= PRELUDE_EXPORT) {
		rc |= feed(target, (const uint8_t *)go, sizeof(go) - 1, 64);
	}
	take_output(target);
	if (rc || (prelude >= PRELUDE_EXPORT && sl_nbd_conn_export(target->conn) != 0)) {
		abort();
	}
}

static void stamp(uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + HEAD_BYTES <= size; at += HEAD_BYTES) {
		(void)sl_nbd_put32(bytes + at, SL_NBD_REQUEST_MAGIC);
	}
}

/* NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target target = {.loop = sl_loop_new_virtual()};
	struct sl_nbd *nbd = sl_nbd_new(target.loop);
	struct sl_nbd_owner owner = {.output = target_output, .arg = &target};
	struct sl_dev_spec spec = {.kind = SL_DEV_NULL};
	struct sl_dev *dev = NULL;
	struct ram_image ram;
	struct sl_nbd_export_config export = {.name = "fz", .size_bytes = DISK_BYTES, .image = &ram.base};
	uint8_t *copy = malloc(size + 1);
	enum prelude prelude = size > 1 ? (enum prelude)(data[1] % 4) : PRELUDE_NONE;
	int number;

	ram_image_init(&ram, DISK_BYTES);
	if (!copy || sl_dev_new(&spec, target.loop, 1, "fz", &dev, NULL) < 0) {
		abort();
	}
	export.dev = dev;
	if (sl_nbd_export(nbd, &export, &number, NULL) < 0) {
		abort();
	}
	target.conn = sl_nbd_conn_new(nbd, &owner);
	memcpy(copy, data, size);
	agree(&target, prelude);
	if (size > 2) {
		if (prelude == PRELUDE_STRUCTURED) {
			stamp(copy + 2, size - 2);
		}
		(void)feed(&target, copy + 2, size - 2, data[0] ? data[0] : size);
		if (data[0] % 2 == 0) {
			(void)sl_loop_run(target.loop, NULL);
			take_output(&target);
		}
	}
	sl_nbd_conn_free(target.conn);
	(void)sl_loop_run(target.loop, NULL);
	sl_nbd_free(nbd);
	sl_dev_free(dev);
	sl_loop_free(target.loop);
	ram_image_fini(&ram);
	free(copy);
	return 0;
}
