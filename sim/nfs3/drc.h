/*
 * Duplicate-request cache: a client that lost its connection asks again, and what it asked for may have been
 * done (RFC 1813, section 4.5). Answers of procedures that must not be done twice are kept for a while, by
 * client, xid and a checksum of the call. In memory: as with any server of this protocol, a restart forgets.
 */
#ifndef SL_NFS3_DRC_H
#define SL_NFS3_DRC_H

#include <stddef.h>
#include <stdint.h>

#define SL_DRC_ENTRIES 1024u
#define SL_DRC_REPLY_MAX 640u /* longer answers are not kept */
#define SL_DRC_CALL_MAX 512u  /* bytes of a call that the checksum covers; its length always counts */

struct sl_drc;

struct sl_drc_key {
	uint64_t client, checksum;
	uint32_t xid, size;
};

enum sl_drc_verdict {
	SL_DRC_NEW,     /* to be done; *ret_slot is to be finished or forgotten, 0 = no room to keep it */
	SL_DRC_BUSY,    /* being done: do not answer */
	SL_DRC_ANSWERED /* the answer is in sl_drc_answer */
};

/* NULL when out of memory. */
struct sl_drc *sl_drc_new(void);
/* Accepts NULL. */
void sl_drc_free(struct sl_drc *drc);

/* Slots are numbered from 1. */
enum sl_drc_verdict sl_drc_ask(struct sl_drc *drc, const struct sl_drc_key *key, uint32_t *ret_slot);
/* The answer of a NEW call, copied; forgotten when there is no memory for it. */
void sl_drc_finish(struct sl_drc *drc, uint32_t slot, const void *reply, size_t size);
/* The call was not done after all. */
void sl_drc_forget(struct sl_drc *drc, uint32_t slot);
/* The bytes of an answered slot, valid until the next call. */
const void *sl_drc_answer(const struct sl_drc *drc, uint32_t slot, size_t *ret_size);

#endif
