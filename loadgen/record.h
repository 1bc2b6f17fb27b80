/* Records of audit and verify mode: numbered, and each byte follows from run and number, so that a torn one
 * is seen. Pure. Internal to loadgen. */
#ifndef SL_LOADGEN_RECORD_H
#define SL_LOADGEN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_RECORD_BYTES_MIN 64u
#define SL_RECORD_BYTES_MAX (1u << 20)

enum sl_record_state {
	SL_RECORD_ABSENT, /* zero bytes, or the record of another run */
	SL_RECORD_WHOLE,
	SL_RECORD_TORN
};

/* Fills `bytes` (a multiple of 8, at least SL_RECORD_BYTES_MIN). */
void sl_record_make(uint64_t run, uint64_t number, void *buf, size_t bytes);
/* What `buf` is, where record `number` of `run` is expected. Fewer bytes than the record has are torn. */
enum sl_record_state sl_record_check(uint64_t run, uint64_t number, const void *buf, size_t got,
				     size_t bytes);
/* Whether an audit may overwrite what begins with these bytes: nothing, zeroes or another audit's. */
bool sl_record_harmless(const void *buf, size_t bytes);

#endif
