/*
 * Bytes from anybody into a connection, in virtual time over a tree in memory. The first byte chooses how the
 * rest is cut up; before it, a session of our own makes a file and a folder, so that the fuzzer has something
 * to hit. It chooses the squash rule too, and a read-only export. File handles are made with a known key; a
 * run of 24 bytes 0x01 to 0x04 in the input stands for the handle of the root, the file, the folder or the
 * symbolic link, because a keyed hash is not to be guessed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/loop.h"
#include "sim/nfs3/handle.h"
#include "sim/nfs3/nfs3.h"
#include "sim/store/store.h"
#include "sim/store/tree.h"

#define TREE_BYTES (1u << 20)

/* libFuzzer chose the names. NOLINTBEGIN(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
/* NOLINTEND(readability-identifier-naming) */

struct target {
	struct sl_nfs3_conn *conn;
};

static void take_output(void *arg)
{
	struct target *target = arg;
	const uint8_t *bytes;
	size_t size = sl_nfs3_conn_output(target->conn, &bytes);
	uint8_t sum = 0;

	/* Every byte of a reply must be initialised and ours. */
	for (size_t i = 0; i < size; i++) {
		sum ^= bytes[i];
	}
	sl_nfs3_conn_consume(target->conn, sum == 0 && size > 4 ? size - 1 : size);
}

/* What the runs of bytes 1, 2, ... stand for. */
struct objects {
	uint64_t ino[4]; /* root, file, folder, symbolic link */
};

static void place_handles(const struct sl_nfs3_config *config, uint8_t *data, size_t size,
			  const struct objects *objects)
{
	for (size_t i = 0; i + SL_HANDLE_BYTES <= size; i++) {
		uint8_t run[SL_HANDLE_BYTES];

		memset(run, data[i], sizeof(run));
		if (data[i] >= 1 && data[i] <= 4 && memcmp(data + i, run, sizeof(run)) == 0) {
			sl_handle_make(config->handle_key, objects->ino[data[i] - 1], 1, data + i);
		}
	}
}

static void objects_make(struct sl_tree *tree, struct objects *ret)
{
	ret->ino[0] = SL_TREE_ROOT;
	if (tree->ops->create(tree, SL_TREE_ROOT, "f", SL_FT_REG, NULL, &ret->ino[1]) < 0 ||
	    tree->ops->create(tree, SL_TREE_ROOT, "d", SL_FT_DIR, NULL, &ret->ino[2]) < 0 ||
	    tree->ops->symlink(tree, SL_TREE_ROOT, "l", "../x", NULL, &ret->ino[3]) < 0) {
		abort();
	}
}

static void feed(struct sl_loop *loop, struct target *target, const uint8_t *data, size_t size, size_t piece)
{
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < size; at += piece) {
		rc = sl_nfs3_conn_input(target->conn, sl_loop_now(loop), data + at,
					piece < size - at ? piece : size - at);
		if (at / piece % 3 == 2 && sl_loop_run(loop, NULL) < 0) {
			abort();
		}
	}
}

/* The same bytes, without a record mark, as a datagram to the portmapper. */
static void feed_datagram(struct sl_nfs3 *srv, const uint8_t *data, size_t size)
{
	uint8_t reply[SL_NFS3_DATAGRAM_MAX];
	size_t got = sl_nfs3_datagram(srv, data, size, reply);

	/* No reply, or that of this very call: its xid, and that it is a reply. */
	if (got > sizeof(reply) || (got > 0 && (got < 8 || memcmp(reply, data, 4) != 0 || reply[7] != 1))) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	struct sl_tree *tree = sl_tree_new_ram(TREE_BYTES);
	struct sl_store *store = sl_store_new_null(loop);
	struct sl_nfs3_config config = {
	    .loop = loop, .tree = tree, .store = store, .export_path = "/e", .max_in_flight = 8};
	uint8_t choice = size > 0 ? data[0] : 0;
	uint8_t *copy = malloc(size + 1);
	struct target target = {0};
	struct sl_nfs3 *srv = NULL;
	struct objects objects;

	config.squash = choice % 5 < 2 ? SL_NFS3_SQUASH_NONE : (enum sl_nfs3_squash)(choice % 3);
	config.read_only = choice % 16 == 15;
	if (!loop || !tree || !store || !copy || sl_nfs3_new(&config, &srv, NULL) < 0) {
		abort();
	}
	target.conn = sl_nfs3_conn_new(srv, take_output, &target);
	if (!target.conn) {
		abort();
	}
	objects_make(tree, &objects);
	memcpy(copy, data, size);
	place_handles(&config, copy, size, &objects);
	if (size > 1) {
		feed(loop, &target, copy + 1, size - 1, copy[0] ? copy[0] : size);
	}
	if (size > 5) {
		feed_datagram(srv, copy + 5, size - 5);
	}
	if (size > 0 && copy[0] % 2 == 0) {
		(void)sl_loop_run(loop, NULL);
	}
	sl_nfs3_conn_free(target.conn);
	(void)sl_loop_run(loop, NULL);
	sl_nfs3_free(srv);
	sl_store_free(store);
	tree->ops->free(tree);
	sl_loop_free(loop);
	free(copy);
	return 0;
}

/* Most mutations would only break the record mark: set it right again in seven of eight inputs. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	size_t ret = LLVMFuzzerMutate(data, size, max_size);

	if (seed % 8 != 0 && ret > 5) {
		size_t record = ret - 5;

		data[1] = 0x80;
		data[2] = (uint8_t)(record >> 16);
		data[3] = (uint8_t)(record >> 8);
		data[4] = (uint8_t)record;
	}
	return ret;
}
