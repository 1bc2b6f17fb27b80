#include "sim/nfs3/drc.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct answer {
	struct sl_drc_key key;
	uint32_t chain; /* next slot of the bucket, 0 = none */
	uint32_t size;  /* of the reply; 0 while busy */
	bool used;
	void *reply; /* owned */
};

/* A ring: the oldest answer makes room for the newest call. */
struct sl_drc {
	struct answer answers[SL_DRC_ENTRIES];
	uint32_t buckets[SL_DRC_ENTRIES]; /* slot, 0 = none */
	uint32_t next;
};

static struct answer *answer_at(struct sl_drc *drc, uint32_t slot)
{
	assert(slot >= 1 && slot <= SL_DRC_ENTRIES);
	return &drc->answers[slot - 1];
}

static uint32_t *bucket_of(struct sl_drc *drc, const struct sl_drc_key *key)
{
	return &drc->buckets[(key->checksum ^ key->client ^ key->xid) % SL_DRC_ENTRIES];
}

static bool key_equal(const struct sl_drc_key *a, const struct sl_drc_key *b)
{
	return a->client == b->client && a->checksum == b->checksum && a->xid == b->xid && a->size == b->size;
}

static void answer_unlink(struct sl_drc *drc, uint32_t slot)
{
	struct answer *answer = answer_at(drc, slot);
	uint32_t *at = bucket_of(drc, &answer->key);

	while (*at != slot) {
		at = &answer_at(drc, *at)->chain;
	}
	*at = answer->chain;
	answer->used = false;
	free(answer->reply);
	answer->reply = NULL;
}

/* The next slot of the ring that is not busy, or 0. */
static uint32_t slot_take(struct sl_drc *drc)
{
	for (uint32_t i = 0; i < SL_DRC_ENTRIES; i++) {
		uint32_t slot = 1 + drc->next;
		struct answer *answer = answer_at(drc, slot);

		drc->next = (drc->next + 1) % SL_DRC_ENTRIES;
		if (answer->used && answer->size == 0) {
			continue;
		}
		if (answer->used) {
			answer_unlink(drc, slot);
		}
		return slot;
	}
	return 0;
}

struct sl_drc *sl_drc_new(void)
{
	return calloc(1, sizeof(struct sl_drc));
}

void sl_drc_free(struct sl_drc *drc)
{
	for (uint32_t i = 0; drc && i < SL_DRC_ENTRIES; i++) {
		free(drc->answers[i].reply);
	}
	free(drc);
}

enum sl_drc_verdict sl_drc_ask(struct sl_drc *drc, const struct sl_drc_key *key, uint32_t *ret_slot)
{
	uint32_t *bucket = bucket_of(drc, key), slot = *bucket;
	struct answer *answer;

	while (slot != 0 && !key_equal(&answer_at(drc, slot)->key, key)) {
		slot = answer_at(drc, slot)->chain;
	}
	*ret_slot = slot;
	if (slot != 0) {
		return answer_at(drc, slot)->size > 0 ? SL_DRC_ANSWERED : SL_DRC_BUSY;
	}
	slot = slot_take(drc);
	if (slot != 0) {
		answer = answer_at(drc, slot);
		answer->key = *key;
		answer->size = 0;
		answer->used = true;
		answer->chain = *bucket;
		*bucket = slot;
	}
	*ret_slot = slot;
	return SL_DRC_NEW;
}

void sl_drc_finish(struct sl_drc *drc, uint32_t slot, const void *reply, size_t size)
{
	struct answer *answer = answer_at(drc, slot);

	assert(answer->used && answer->size == 0 && size > 0);
	answer->reply = size <= SL_DRC_REPLY_MAX ? malloc(size) : NULL;
	if (!answer->reply) {
		answer_unlink(drc, slot);
		return;
	}
	memcpy(answer->reply, reply, size);
	answer->size = (uint32_t)size;
}

void sl_drc_forget(struct sl_drc *drc, uint32_t slot)
{
	answer_unlink(drc, slot);
}

const void *sl_drc_answer(const struct sl_drc *drc, uint32_t slot, size_t *ret_size)
{
	const struct answer *answer = &drc->answers[slot - 1];

	*ret_size = answer->size;
	return answer->reply;
}
