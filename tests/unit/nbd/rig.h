/* Two disks, one connection, and bytes in and out, in virtual time. */
#ifndef SL_TESTS_NBD_RIG_H
#define SL_TESTS_NBD_RIG_H

#include "ram_image.h"
#include "sim/nbd/bytes.h"
#include "sim/nbd/nbd.h"
#include "sim/nbd/numbers.h"

#define RIG_SIZE (1 << 20)
#define US 1000

/* A disk model: every request takes delay_ns. */
struct rig_dev {
	struct sl_dev base;
	int64_t delay_ns, last_now_ns;
	struct sl_dev_req last;
	unsigned submitted;
};

struct rig {
	struct sl_loop *loop;
	struct ram_image ram[2];
	struct rig_dev dev[2];
	struct sl_nbd *nbd;
	struct sl_nbd_conn *conn;
	bool hold; /* output stays in the connection */
	unsigned outputs, completions;
	int64_t due_ns, ready_ns; /* of the last completion */
	uint8_t *got;             /* everything that came out */
	size_t got_bytes, at;     /* at: read so far */
	int error;                /* of the last input */
};

/* Exports "alpha" (default) and "beta" (a hard disk); connects. */
void rig_init(struct rig *rig, int64_t delay_ns);
void rig_fini(struct rig *rig);
void rig_connect(struct rig *rig);
/* Takes the output that is there. */
void rig_take(struct rig *rig);
void rig_input(struct rig *rig, const void *bytes, size_t size);
void rig_run(struct rig *rig);

/* Skips the greeting and answers it. */
void rig_hello(struct rig *rig, uint32_t flags);
void rig_option(struct rig *rig, uint32_t option, const void *data, uint32_t bytes);
/* GO or INFO with up to 3 kinds of information (-1 ends). */
void rig_go(struct rig *rig, uint32_t option, const char *name, const int *infos);
/* Sets base:allocation for `name` (structured replies first). */
void rig_contexts(struct rig *rig, uint32_t option, const char *name, const char *query);
/* Greeting, GO to `name`, ACK: ready for requests. */
void rig_open(struct rig *rig, const char *name);
void rig_request(struct rig *rig, uint32_t command, uint32_t flags, uint64_t cookie, uint64_t offset,
		 uint32_t bytes);

/* Reading what came out; the test fails when there is less. */
const uint8_t *rig_bytes(struct rig *rig, size_t bytes);
uint16_t rig_u16(struct rig *rig);
uint32_t rig_u32(struct rig *rig);
uint64_t rig_u64(struct rig *rig);
size_t rig_left(const struct rig *rig);
/* Head of an option reply to `option`: its code; *ret_bytes is the length of its data. */
uint32_t rig_option_reply(struct rig *rig, uint32_t option, uint32_t *ret_bytes);
/* A simple reply: its error; *ret_cookie. */
uint32_t rig_simple(struct rig *rig, uint64_t *ret_cookie);

#endif
