/* The handshake, from crafted bytes. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rig.h"

#define FLAGS_COMMON 0x016du /* has, flush, FUA, trim, write zeroes, multi-conn */

/* The answer to the last option is one refusal with `code`. */
static void expect_refusal(struct rig *rig, uint32_t option, uint32_t code)
{
	uint32_t bytes;

	cr_assert_eq(rig_option_reply(rig, option, &bytes), code);
	cr_assert_eq(bytes, 0);
	cr_assert_eq(rig_left(rig), 0);
	cr_assert_eq(rig->error, 0);
}

Test(haggle, export_name_starts_transmission_with_and_without_zeroes)
{
	for (uint32_t flags = 1; flags <= 3; flags += 2) {
		struct rig rig;

		rig_init(&rig, 0);
		rig_hello(&rig, flags);
		rig_option(&rig, SL_NBD_OPT_EXPORT_NAME, "beta", 4);
		cr_assert_eq(rig_u64(&rig), RIG_SIZE);
		cr_assert_eq(rig_u16(&rig), FLAGS_COMMON | SL_NBD_ROTATIONAL);
		cr_assert_eq(rig_left(&rig), flags == 1 ? 124 : 0);
		cr_assert_eq(sl_nbd_conn_export(rig.conn), 1);
		rig_fini(&rig);
	}
}

Test(haggle, an_unknown_export_name_ends_the_connection)
{
	struct rig rig;

	rig_init(&rig, 0);
	rig_hello(&rig, 3);
	rig_option(&rig, SL_NBD_OPT_EXPORT_NAME, "gamma", 5);
	cr_assert_eq(rig.error, -EPROTO);
	cr_assert_eq(rig_left(&rig), 0);
	cr_assert_eq(sl_nbd_conn_export(rig.conn), -1);
	rig_fini(&rig);
}

Test(haggle, list_names_every_export)
{
	struct rig rig;
	uint32_t bytes;

	rig_init(&rig, 0);
	rig_hello(&rig, 3);
	rig_option(&rig, SL_NBD_OPT_LIST, "", 0);
	cr_assert_eq(rig_option_reply(&rig, SL_NBD_OPT_LIST, &bytes), SL_NBD_REP_SERVER);
	cr_assert_eq(bytes, 9);
	cr_assert_eq(rig_u32(&rig), 5);
	cr_assert_eq(memcmp(rig_bytes(&rig, 5), "alpha", 5), 0);
	cr_assert_eq(rig_option_reply(&rig, SL_NBD_OPT_LIST, &bytes), SL_NBD_REP_SERVER);
	cr_assert_eq(rig_u32(&rig), 4);
	cr_assert_eq(memcmp(rig_bytes(&rig, 4), "beta", 4), 0);
	cr_assert_eq(rig_option_reply(&rig, SL_NBD_OPT_LIST, &bytes), SL_NBD_REP_ACK);
	rig_option(&rig, SL_NBD_OPT_LIST, "x", 1);
	expect_refusal(&rig, SL_NBD_OPT_LIST, SL_NBD_REP_ERR_INVALID);
	rig_fini(&rig);
}

Test(haggle, info_tells_what_is_asked_once_and_go_begins)
{
	static const int infos[] = {3, 1, 2, 3, 77, -1};
	struct rig rig;
	uint32_t bytes;

	rig_init(&rig, 0);
	rig_hello(&rig, 3);
	rig_go(&rig, SL_NBD_OPT_INFO, "", infos);
	cr_assert_eq(rig_option_reply(&rig, SL_NBD_OPT_INFO, &bytes), SL_NBD_REP_INFO);
	cr_assert_eq(bytes, 12);
	cr_assert_eq(rig_u16(&rig), SL_NBD_INFO_EXPORT);
	cr_assert_eq(rig_u64(&rig), RIG_SIZE);
	cr_assert_eq(rig_u16(&rig), FLAGS_COMMON);
	cr_assert_eq(rig_option_reply(&rig, SL_NBD_OPT_INFO, &bytes), SL_NBD_REP_INFO);
	cr_assert_eq(rig_u16(&rig), SL_NBD_INFO_NAME);
	cr_assert_eq(memcmp(rig_bytes(&rig, bytes - 2), "alpha", 5), 0);
	cr_assert_eq(rig_option_reply(&rig, SL_NBD_OPT_INFO, &bytes), SL_NBD_REP_INFO);
	cr_assert_eq(rig_u16(&rig), SL_NBD_INFO_DESCRIPTION);
	cr_assert_eq(memcmp(rig_bytes(&rig, bytes - 2), "a disk", 6), 0);
	cr_assert_eq(rig_option_reply(&rig, SL_NBD_OPT_INFO, &bytes), SL_NBD_REP_INFO);
	cr_assert_eq(rig_u16(&rig), SL_NBD_INFO_BLOCK_SIZE);
	cr_assert_eq(rig_u32(&rig), 1);
	cr_assert_eq(rig_u32(&rig), 4096);
	cr_assert_eq(rig_u32(&rig), 32u << 20);
	cr_assert_eq(rig_option_reply(&rig, SL_NBD_OPT_INFO, &bytes), SL_NBD_REP_ACK);
	cr_assert_eq(rig_left(&rig), 0);
	cr_assert_eq(sl_nbd_conn_export(rig.conn), -1);
	rig_go(&rig, SL_NBD_OPT_GO, "beta", NULL);
	cr_assert_eq(sl_nbd_conn_export(rig.conn), 1);
	rig_fini(&rig);
}

Test(haggle, contexts_need_structured_replies_and_belong_to_one_export)
{
	struct rig rig;
	uint32_t bytes;

	rig_init(&rig, 0);
	rig_hello(&rig, 3);
	rig_contexts(&rig, SL_NBD_OPT_SET_META_CONTEXT, "alpha", "base:allocation");
	expect_refusal(&rig, SL_NBD_OPT_SET_META_CONTEXT, SL_NBD_REP_ERR_INVALID);
	rig_option(&rig, SL_NBD_OPT_STRUCTURED_REPLY, "", 0);
	expect_refusal(&rig, SL_NBD_OPT_STRUCTURED_REPLY, SL_NBD_REP_ACK);
	rig_contexts(&rig, SL_NBD_OPT_SET_META_CONTEXT, "gamma", "base:allocation");
	expect_refusal(&rig, SL_NBD_OPT_SET_META_CONTEXT, SL_NBD_REP_ERR_UNKNOWN);
	rig_contexts(&rig, SL_NBD_OPT_SET_META_CONTEXT, "alpha", "base:");
	expect_refusal(&rig, SL_NBD_OPT_SET_META_CONTEXT, SL_NBD_REP_ACK);
	rig_contexts(&rig, SL_NBD_OPT_LIST_META_CONTEXT, "alpha", NULL);
	cr_assert_eq(rig_option_reply(&rig, SL_NBD_OPT_LIST_META_CONTEXT, &bytes), SL_NBD_REP_META_CONTEXT);
	rig_bytes(&rig, bytes);
	expect_refusal(&rig, SL_NBD_OPT_LIST_META_CONTEXT, SL_NBD_REP_ACK);
	rig_contexts(&rig, SL_NBD_OPT_SET_META_CONTEXT, "alpha", "base:allocation");
	cr_assert_eq(rig_option_reply(&rig, SL_NBD_OPT_SET_META_CONTEXT, &bytes), SL_NBD_REP_META_CONTEXT);
	cr_assert_eq(rig_u32(&rig), 1);
	cr_assert_eq(memcmp(rig_bytes(&rig, bytes - 4), "base:allocation", 15), 0);
	expect_refusal(&rig, SL_NBD_OPT_SET_META_CONTEXT, SL_NBD_REP_ACK);
	/* Chosen for alpha, so beta has none. */
	rig_go(&rig, SL_NBD_OPT_GO, "beta", NULL);
	rig.at = rig.got_bytes;
	rig_request(&rig, SL_NBD_CMD_BLOCK_STATUS, 0, 7, 0, 4096);
	cr_assert_eq(rig_u32(&rig), SL_NBD_CHUNK_MAGIC);
	cr_assert_eq(rig_u16(&rig), SL_NBD_CHUNK_DONE);
	cr_assert_eq(rig_u16(&rig), SL_NBD_CHUNK_ERROR);
	cr_assert_eq(rig_u64(&rig), 7);
	cr_assert_eq(rig_u32(&rig), 6);
	cr_assert_eq(rig_u32(&rig), SL_NBD_EINVAL);
	cr_assert_eq(rig_u16(&rig), 0);
	rig_fini(&rig);
}

Test(haggle, options_that_make_no_sense_are_refused_and_haggling_goes_on)
{
	static const uint8_t lies[][12] = {
	    {0, 0, 0, 5, 'a', 'l', 'p', 'h', 'a', 0, 3, 0},             /* more infos than data */
	    {0xff, 0xff, 0xff, 0xff, 'a', 'l', 'p', 'h', 'a', 0, 0, 0}, /* a name of 4 GiB */
	    {0, 0, 0, 5, 'a', 'l', 'p', 'h', 'a', 0, 0, 9},             /* a byte too many */
	    {0, 0, 0, 9, 'a', 'l', 'p', 'h', 'a', 0, 0, 0},             /* a name past the end */
	};
	static const uint32_t sizes[] = {12, 12, 12, 12};
	struct rig rig;

	rig_init(&rig, 0);
	rig_hello(&rig, 3);
	for (int i = 0; i < 4; i++) {
		rig_option(&rig, SL_NBD_OPT_GO, lies[i], sizes[i]);
		expect_refusal(&rig, SL_NBD_OPT_GO, SL_NBD_REP_ERR_INVALID);
		rig_option(&rig, SL_NBD_OPT_GO, lies[i], (uint32_t)i);
		expect_refusal(&rig, SL_NBD_OPT_GO, SL_NBD_REP_ERR_INVALID);
	}
	rig_go(&rig, SL_NBD_OPT_GO, "alphabet", NULL);
	expect_refusal(&rig, SL_NBD_OPT_GO, SL_NBD_REP_ERR_UNKNOWN);
	rig_option(&rig, 5, "", 0); /* STARTTLS */
	expect_refusal(&rig, 5, SL_NBD_REP_ERR_UNSUP);
	rig_option(&rig, 0x12345678, "abc", 3);
	expect_refusal(&rig, 0x12345678, SL_NBD_REP_ERR_UNSUP);
	rig_go(&rig, SL_NBD_OPT_GO, "alpha", NULL);
	cr_assert_eq(sl_nbd_conn_export(rig.conn), 0);
	rig_fini(&rig);
}

Test(haggle, an_option_too_long_is_passed_over)
{
	static const uint8_t data[SL_NBD_MAX_OPTION + 1];
	struct rig rig;

	rig_init(&rig, 0);
	rig_hello(&rig, 3);
	rig_option(&rig, SL_NBD_OPT_GO, data, sizeof(data));
	expect_refusal(&rig, SL_NBD_OPT_GO, SL_NBD_REP_ERR_TOO_BIG);
	rig_option(&rig, SL_NBD_OPT_EXPORT_NAME, data, sizeof(data));
	cr_assert_eq(rig.error, -EPROTO);
	rig_fini(&rig);
}

Test(haggle, abort_is_acknowledged_then_nothing_is_read)
{
	struct rig rig;

	rig_init(&rig, 0);
	rig_hello(&rig, 3);
	rig_option(&rig, SL_NBD_OPT_ABORT, "", 0);
	expect_refusal(&rig, SL_NBD_OPT_ABORT, SL_NBD_REP_ACK);
	cr_assert(sl_nbd_conn_ended(rig.conn));
	cr_assert(sl_nbd_conn_idle(rig.conn));
	rig_option(&rig, SL_NBD_OPT_LIST, "", 0);
	cr_assert_eq(rig_left(&rig), 0);
	rig_fini(&rig);
}

Test(haggle, wrong_magic_and_unknown_client_flags_end_the_stream)
{
	uint8_t bytes[16] = "IHAVEOPS";
	struct rig rig;

	rig_init(&rig, 0);
	rig_hello(&rig, 5);
	cr_assert_eq(rig.error, -EPROTO);
	rig_connect(&rig);
	rig_hello(&rig, 3);
	cr_assert_eq(rig.error, 0);
	rig_input(&rig, bytes, sizeof(bytes));
	cr_assert_eq(rig.error, -EPROTO);
	cr_assert_eq(sl_nbd_conn_error(rig.conn), -EPROTO);
	rig_fini(&rig);
}

Test(haggle, exports_must_have_a_name_of_their_own_and_a_size)
{
	struct rig rig;
	struct sl_nbd_export_config config = {.name = "alpha", .size_bytes = 512};
	struct sl_err err = {0};
	char name[SL_NBD_MAX_NAME + 2];
	int number;

	rig_init(&rig, 0);
	config.image = &rig.ram[0].base;
	config.dev = &rig.dev[0].base;
	cr_assert_eq(sl_nbd_export(rig.nbd, &config, &number, &err), -EEXIST);
	cr_assert(strstr(err.msg, "alpha") != NULL);
	config.name = "";
	cr_assert_eq(sl_nbd_export(rig.nbd, &config, &number, &err), -EINVAL);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	config.name = name;
	cr_assert_eq(sl_nbd_export(rig.nbd, &config, &number, &err), -EINVAL);
	config.name = "gamma";
	config.size_bytes = 0;
	cr_assert_eq(sl_nbd_export(rig.nbd, &config, &number, &err), -EINVAL);
	config.size_bytes = 512;
	cr_assert_eq(sl_nbd_export(rig.nbd, &config, &number, &err), 0);
	cr_assert_eq(number, 2);
	rig_fini(&rig);
}
