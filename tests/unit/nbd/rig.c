#include "rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void dev_submit(struct sl_dev *base, int64_t now_ns, struct sl_dev_req *req)
{
	struct rig_dev *dev = sl_container_of(base, struct rig_dev, base);

	dev->last = *req;
	dev->last_now_ns = now_ns;
	dev->submitted++;
	sl_loop_arm(base->loop, &req->done, now_ns + dev->delay_ns);
}

static void dev_free(struct sl_dev *base)
{
	(void)base;
}

static const struct sl_dev_ops dev_ops = {.submit = dev_submit, .free = dev_free};

static void rig_output(void *arg)
{
	struct rig *rig = arg;

	rig->outputs++;
}

static void rig_completed(void *arg, int64_t due_ns, int64_t ready_ns)
{
	struct rig *rig = arg;

	rig->completions++;
	rig->due_ns = due_ns;
	rig->ready_ns = ready_ns;
}

void rig_take(struct rig *rig)
{
	struct iovec iov[7]; /* odd and small: more than one turn */
	int n;

	while (!rig->hold && (n = sl_nbd_conn_output(rig->conn, iov, 7)) > 0) {
		size_t taken = 0;

		for (int i = 0; i < n; i++) {
			rig->got = realloc(rig->got, rig->got_bytes + iov[i].iov_len);
			cr_assert(rig->got != NULL);
			memcpy(rig->got + rig->got_bytes, iov[i].iov_base, iov[i].iov_len);
			rig->got_bytes += iov[i].iov_len;
			taken += iov[i].iov_len;
		}
		/* In two parts, as a socket may take it. */
		sl_nbd_conn_consume(rig->conn, taken / 3);
		sl_nbd_conn_consume(rig->conn, taken - taken / 3);
	}
}

void rig_connect(struct rig *rig)
{
	struct sl_nbd_owner owner = {.output = rig_output, .completed = rig_completed, .arg = rig};

	sl_nbd_conn_free(rig->conn);
	rig->conn = sl_nbd_conn_new(rig->nbd, &owner);
	cr_assert(rig->conn != NULL);
	rig->at = rig->got_bytes;
	rig_take(rig);
}

void rig_init(struct rig *rig, int64_t delay_ns)
{
	static const char *const names[2] = {"alpha", "beta"};

	memset(rig, 0, sizeof(*rig));
	rig->loop = sl_loop_new_virtual();
	rig->nbd = sl_nbd_new(rig->loop);
	for (int i = 0; i < 2; i++) {
		struct sl_nbd_export_config config = {.name = names[i],
						      .description = "a disk",
						      .size_bytes = RIG_SIZE,
						      .rotational = i == 1,
						      .image = &rig->ram[i].base,
						      .dev = &rig->dev[i].base};
		struct sl_err err = {0};
		int number = -1;

		ram_image_init(&rig->ram[i], RIG_SIZE);
		rig->dev[i] =
		    (struct rig_dev){.base = {.ops = &dev_ops, .loop = rig->loop}, .delay_ns = delay_ns};
		cr_assert_eq(sl_nbd_export(rig->nbd, &config, &number, &err), 0, "%s", err.msg);
		cr_assert_eq(number, i);
	}
	rig_connect(rig);
}

void rig_fini(struct rig *rig)
{
	sl_nbd_conn_free(rig->conn);
	rig_run(rig);
	sl_nbd_free(rig->nbd);
	sl_loop_free(rig->loop);
	ram_image_fini(&rig->ram[0]);
	ram_image_fini(&rig->ram[1]);
	free(rig->got);
}

void rig_input(struct rig *rig, const void *bytes, size_t size)
{
	rig->error = sl_nbd_conn_input(rig->conn, sl_loop_now(rig->loop), bytes, size);
	rig_take(rig);
}

void rig_run(struct rig *rig)
{
	cr_assert_eq(sl_loop_run(rig->loop, NULL), 0);
}

void rig_hello(struct rig *rig, uint32_t flags)
{
	uint8_t bytes[4];

	cr_assert_eq(rig_u64(rig), SL_NBD_MAGIC);
	cr_assert_eq(rig_u64(rig), SL_NBD_OPT_MAGIC);
	cr_assert_eq(rig_u16(rig), 3);
	sl_nbd_put32(bytes, flags);
	rig_input(rig, bytes, 4);
}

void rig_option(struct rig *rig, uint32_t option, const void *data, uint32_t bytes)
{
	uint8_t head[16];

	sl_nbd_put32(sl_nbd_put32(sl_nbd_put64(head, SL_NBD_OPT_MAGIC), option), bytes);
	rig_input(rig, head, sizeof(head));
	rig_input(rig, data, bytes);
}

void rig_go(struct rig *rig, uint32_t option, const char *name, const int *infos)
{
	uint8_t data[512];
	uint8_t *at = sl_nbd_put32(data, (uint32_t)strlen(name));
	uint32_t count = 0;

	memcpy(at, name, strlen(name));
	at += strlen(name);
	while (infos && infos[count] >= 0) {
		count++;
	}
	at = sl_nbd_put16(at, count);
	for (uint32_t i = 0; i < count; i++) {
		at = sl_nbd_put16(at, (uint32_t)infos[i]);
	}
	rig_option(rig, option, data, (uint32_t)(at - data));
}

void rig_contexts(struct rig *rig, uint32_t option, const char *name, const char *query)
{
	uint8_t data[512];
	uint8_t *at = sl_nbd_put32(data, (uint32_t)strlen(name));

	memcpy(at, name, strlen(name));
	at = sl_nbd_put32(at + strlen(name), query ? 1 : 0);
	if (query) {
		at = sl_nbd_put32(at, (uint32_t)strlen(query));
		memcpy(at, query, strlen(query));
		at += strlen(query);
	}
	rig_option(rig, option, data, (uint32_t)(at - data));
}

void rig_open(struct rig *rig, const char *name)
{
	uint32_t bytes;

	rig_hello(rig, 3);
	rig_go(rig, SL_NBD_OPT_GO, name, NULL);
	cr_assert_eq(rig_option_reply(rig, SL_NBD_OPT_GO, &bytes), SL_NBD_REP_INFO);
	rig_bytes(rig, bytes);
	cr_assert_eq(rig_option_reply(rig, SL_NBD_OPT_GO, &bytes), SL_NBD_REP_ACK);
	cr_assert_eq(rig_left(rig), 0);
}

void rig_request(struct rig *rig, uint32_t command, uint32_t flags, uint64_t cookie, uint64_t offset,
		 uint32_t bytes)
{
	uint8_t head[28];
	uint8_t *at = sl_nbd_put32(head, SL_NBD_REQUEST_MAGIC);

	at = sl_nbd_put16(at, flags);
	at = sl_nbd_put16(at, command);
	at = sl_nbd_put64(at, cookie);
	at = sl_nbd_put64(at, offset);
	sl_nbd_put32(at, bytes);
	rig_input(rig, head, sizeof(head));
}

size_t rig_left(const struct rig *rig)
{
	return rig->got_bytes - rig->at;
}

const uint8_t *rig_bytes(struct rig *rig, size_t bytes)
{
	const uint8_t *at = rig->got + rig->at;

	cr_assert(rig_left(rig) >= bytes, "%zu bytes wanted, %zu there", bytes, rig_left(rig));
	rig->at += bytes;
	return at;
}

uint16_t rig_u16(struct rig *rig)
{
	return sl_nbd_get16(rig_bytes(rig, 2));
}

uint32_t rig_u32(struct rig *rig)
{
	return sl_nbd_get32(rig_bytes(rig, 4));
}

uint64_t rig_u64(struct rig *rig)
{
	return sl_nbd_get64(rig_bytes(rig, 8));
}

uint32_t rig_option_reply(struct rig *rig, uint32_t option, uint32_t *ret_bytes)
{
	uint32_t code;

	cr_assert_eq(rig_u64(rig), SL_NBD_OPT_REPLY_MAGIC);
	cr_assert_eq(rig_u32(rig), option);
	code = rig_u32(rig);
	*ret_bytes = rig_u32(rig);
	return code;
}

uint32_t rig_simple(struct rig *rig, uint64_t *ret_cookie)
{
	uint32_t code;

	cr_assert_eq(rig_u32(rig), SL_NBD_SIMPLE_MAGIC);
	code = rig_u32(rig);
	*ret_cookie = rig_u64(rig);
	return code;
}
