/* 20 seeds x 200 sessions with a mistake in each: never more than a refusal or an end, and a good client
 * works. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "sim/base/rng.h"

#define SEEDS 20
#define CASES 200
#define SESSION_MAX 2048

struct session {
	uint8_t bytes[SESSION_MAX];
	size_t size;
};

static void add(struct session *s, const void *bytes, size_t size)
{
	cr_assert(s->size + size <= SESSION_MAX);
	memcpy(s->bytes + s->size, bytes, size);
	s->size += size;
}

static void add_option(struct session *s, uint32_t option, const char *data, uint32_t bytes)
{
	uint8_t head[16];

	sl_nbd_put32(sl_nbd_put32(sl_nbd_put64(head, SL_NBD_OPT_MAGIC), option), bytes);
	add(s, head, sizeof(head));
	add(s, data, bytes);
}

static void add_request(struct session *s, uint32_t command, uint32_t flags, uint64_t offset, uint32_t bytes)
{
	uint8_t head[28];
	uint8_t *at = sl_nbd_put32(head, SL_NBD_REQUEST_MAGIC);

	at = sl_nbd_put16(at, flags);
	at = sl_nbd_put64(sl_nbd_put64(sl_nbd_put16(at, command), s->size), offset);
	sl_nbd_put32(at, bytes);
	add(s, head, sizeof(head));
}

/* Everything once. */
static void session_make(struct session *s)
{
	static const char go[] = "\0\0\0\5alpha\0\2\0\1\0\3";
	static const char contexts[] = "\0\0\0\5alpha\0\0\0\1\0\0\0\17base:allocation";

	s->size = 0;
	add(s, "\0\0\0\3", 4);
	add_option(s, SL_NBD_OPT_LIST, "", 0);
	add_option(s, SL_NBD_OPT_STRUCTURED_REPLY, "", 0);
	add_option(s, SL_NBD_OPT_LIST_META_CONTEXT, contexts, sizeof(contexts) - 1);
	add_option(s, SL_NBD_OPT_SET_META_CONTEXT, contexts, sizeof(contexts) - 1);
	add_option(s, SL_NBD_OPT_INFO, go, sizeof(go) - 1);
	add_option(s, SL_NBD_OPT_GO, go, sizeof(go) - 1);
	for (uint64_t i = 0; i < 3; i++) {
		add_request(s, SL_NBD_CMD_WRITE, i == 1, i * 4096, 16);
		add(s, "0123456789abcdef", 16);
		add_request(s, SL_NBD_CMD_READ, 0, i * 4096, 8192);
		add_request(s, SL_NBD_CMD_FLUSH, 0, 0, 0);
		add_request(s, SL_NBD_CMD_TRIM, 0, 4096, 4096);
		add_request(s, SL_NBD_CMD_WRITE_ZEROES, SL_NBD_FLAG_NO_HOLE, 0, 4096);
		add_request(s, SL_NBD_CMD_BLOCK_STATUS, 0, 0, RIG_SIZE);
	}
}

/* One mistake of a random kind. */
static void session_spoil(struct session *s, struct sl_rng *rng)
{
	static const uint32_t lengths[] = {
	    0, 1, 0x7fffffff, 0x80000000u, 0xffffffffu, SL_NBD_MAX_IO, SL_NBD_MAX_IO + 1};
	size_t at = sl_rng_below(rng, s->size);
	size_t cut;

	switch (sl_rng_below(rng, 5)) {
	case 0:
		s->bytes[at] ^= (uint8_t)(1u << sl_rng_below(rng, 8));
		break;
	case 1:
		s->size = at;
		break;
	case 2:
		if (at + 4 <= s->size) {
			sl_nbd_put32(s->bytes + at, lengths[sl_rng_below(rng, 7)]);
		}
		break;
	case 3:
		cut = sl_rng_below(rng, s->size - at) + 1;
		memmove(s->bytes + at, s->bytes + at + cut, s->size - at - cut);
		s->size -= cut;
		break;
	default:
		for (size_t i = at; i < s->size && i < at + 64; i++) {
			s->bytes[i] = (uint8_t)sl_rng_u64(rng);
		}
		break;
	}
}

static void session_play(struct rig *rig, const struct session *s, struct sl_rng *rng)
{
	size_t piece = sl_rng_below(rng, 2) ? s->size : 1 + sl_rng_below(rng, 40);

	rig_connect(rig);
	rig->error = 0;
	for (size_t at = 0; at < s->size && rig->error == 0; at += piece) {
		rig_input(rig, s->bytes + at, piece < s->size - at ? piece : s->size - at);
		if (sl_rng_below(rng, 8) == 0) {
			rig_run(rig);
			rig_take(rig);
		}
	}
	cr_assert(rig->error == 0 || rig->error == -EPROTO);
	if (sl_rng_below(rng, 2)) {
		rig_run(rig);
		rig_take(rig);
	}
	free(rig->got);
	rig->got = NULL;
	rig->got_bytes = 0;
	rig->at = 0;
}

Test(mutate, twenty_seeds_of_two_hundred_broken_sessions)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct rig rig;
		struct sl_rng rng;
		uint64_t cookie;

		rig_init(&rig, US);
		sl_rng_init(&rng, seed, "mutate");
		for (int i = 0; i < CASES; i++) {
			struct session s;

			session_make(&s);
			session_spoil(&s, &rng);
			session_play(&rig, &s, &rng);
		}
		/* The next client notices nothing. */
		rig_connect(&rig);
		rig_run(&rig);
		rig_open(&rig, "beta");
		rig_request(&rig, SL_NBD_CMD_WRITE, 0, 5, 0, 4);
		rig_input(&rig, "good", 4);
		rig_run(&rig);
		rig_take(&rig);
		cr_assert_eq(rig_simple(&rig, &cookie), 0);
		cr_assert_eq(memcmp(rig.ram[1].bytes, "good", 4), 0);
		rig_fini(&rig);
	}
}

Test(mutate, an_unspoilt_session_is_answered_whole)
{
	struct session s;
	struct rig rig;

	rig_init(&rig, US);
	session_make(&s);
	rig_input(&rig, s.bytes, s.size);
	rig_run(&rig);
	rig_take(&rig);
	cr_assert_eq(rig.error, 0);
	cr_assert_eq(sl_nbd_stats(rig.nbd, 0)->errors, 0);
	cr_assert_eq(rig.completions, 18);
	rig_fini(&rig);
}
