/* Malformed records: whatever comes, the server lives and goes on serving. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "rig.h"
#include "sim/base/rng.h"

#define SEEDS 20
#define RECORDS 200

static int64_t some_us(const struct slow_store *self, const struct sl_store_req *req)
{
	(void)req;
	return (int64_t)(self->submitted * 7 % 40) * US;
}

/* A well-formed call of a random procedure with plausible arguments. */
static void random_call(struct rig *rig, struct sl_rng *rng, const uint8_t *file, struct msg *ret)
{
	static const uint32_t programs[] = {SL_PROG_NFS, SL_PROG_NFS, SL_PROG_NFS, SL_PROG_MOUNT,
					    SL_PROG_PORTMAP};
	uint32_t program = programs[sl_rng_below(rng, 5)];
	uint32_t procedure = (uint32_t)sl_rng_below(rng, program == SL_PROG_NFS ? 22 : 6);
	char name[16];

	snprintf(name, sizeof(name), "f%u", (unsigned)sl_rng_below(rng, 8));
	call_begin(rig, ret, program, program == SL_PROG_PORTMAP ? 2 : 3, procedure);
	if (program == SL_PROG_MOUNT) {
		put_name(ret, "/tank/vm/f0");
		return;
	}
	put_opaque(ret, sl_rng_below(rng, 2) ? rig->root : file, SL_HANDLE_BYTES);
	if (procedure == SL_NFS_WRITE) {
		put_write(ret, sl_rng_below(rng, 100000), (enum sl_stable)sl_rng_below(rng, 3), name,
			  sizeof(name));
	} else if (procedure == SL_NFS_READ || procedure == SL_NFS_COMMIT || procedure == SL_NFS_SETATTR) {
		put_u64(ret, sl_rng_below(rng, 100000));
		put_u64(ret, sl_rng_below(rng, 100000));
	} else if (procedure == SL_NFS_READDIR || procedure == SL_NFS_READDIRPLUS) {
		put_u64(ret, sl_rng_below(rng, 10));
		put_u64(ret, 0);
		put_u64(ret, 0x0000020000000400);
	} else {
		put_name(ret, name);
		put_u32(ret, (uint32_t)sl_rng_below(rng, 3));
	}
	put_sattr(ret, NULL, NULL);
}

static void mutate(struct sl_rng *rng, struct msg *msg)
{
	static const uint32_t words[] = {0,    1,          3,          4,          255,       256,
					 1025, 0x7fffffff, 0x80000000, 0xfffffffc, UINT32_MAX};
	uint8_t *bytes = sl_buf_head(&msg->buf);
	size_t size = sl_buf_size(&msg->buf);
	uint64_t hits = sl_rng_below(rng, 4);

	while (hits-- > 0) {
		size_t word = 4 + 4 * (size_t)sl_rng_below(rng, size / 4 - 1);

		if (sl_rng_below(rng, 2)) {
			sl_put_be32(bytes + word, words[sl_rng_below(rng, sizeof(words) / sizeof(words[0]))]);
		} else {
			bytes[word + 3] ^= (uint8_t)(1u << sl_rng_below(rng, 8));
		}
	}
	if (sl_rng_below(rng, 4) == 0) {
		msg->buf.tail -= (size_t)sl_rng_below(rng, size - 4);
	}
	call_end(msg);
	if (sl_rng_below(rng, 16) == 0) {
		bytes[sl_rng_below(rng, 4)] ^= (uint8_t)(1u << sl_rng_below(rng, 8));
	}
}

static void survive(uint64_t seed)
{
	struct rig rig;
	struct sl_rng rng;
	struct msg msg;
	uint8_t file[SL_HANDLE_BYTES];
	const struct sl_nfs3_stats *stats;

	rig_init(&rig, some_us);
	do_create(&rig, rig.root, "f0", file);
	sl_rng_init(&rng, seed, "mutate");
	for (int i = 0; i < RECORDS; i++) {
		random_call(&rig, &rng, file, &msg);
		mutate(&rng, &msg);
		/* A stream that is beyond repair is hung up, as the caller would. */
		if (sl_nfs3_conn_input(rig.conn, sl_loop_now(rig.loop), sl_buf_head(&msg.buf),
				       sl_buf_size(&msg.buf)) < 0) {
			rig_restart(&rig);
		}
		sl_buf_fini(&msg.buf);
		if (sl_rng_below(&rng, 4) == 0) {
			cr_assert_eq(sl_loop_run_until(rig.loop, sl_loop_now(rig.loop) + 20 * US, NULL), 0);
		}
	}
	rig_run(&rig);
	stats = sl_nfs3_stats(rig.srv);
	cr_assert_eq(sl_nfs3_in_service(rig.srv), 0);
	cr_assert(stats->calls + stats->garbage <= RECORDS + 2);
	/* Half a record may wait on that connection; a new one is served as ever. */
	rig_restart(&rig);
	cr_assert_eq(do_getattr(&rig, rig.root).type, SL_FT_DIR);
	rig_fini(&rig);
}

Test(nfs3_mutate, twenty_seeds_of_malformed_records)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		survive(seed);
	}
}
