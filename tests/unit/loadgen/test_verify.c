/* Verify mode of fileio: what was written must be read. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "loadgen/fileio_verify.h"

#define BLOCK 4096

Test(verify, a_read_must_find_what_was_written_before_it_started)
{
	const struct sl_fileio_config config = {.files = 3, .file_bytes = 10 * BLOCK, .block_bytes = BLOCK};
	const struct sl_fileio_request write = {SL_FILEIO_WRITE, 1, 4 * BLOCK},
				       read = {SL_FILEIO_READ, 1, 4 * BLOCK};
	const struct sl_fileio_request other = {SL_FILEIO_READ, 2, 4 * BLOCK};
	struct sl_fileio_verify verify = {0};
	struct sl_err err = {0};
	uint8_t buf[BLOCK] = {0};

	cr_assert_eq(sl_fileio_verify_init(&verify, &config, 1, &err), 0);
	cr_assert_not(sl_fileio_verify_expects(&verify, &read));
	sl_fileio_verify_wrote(&verify, &write);
	cr_assert(sl_fileio_verify_expects(&verify, &read));
	cr_assert_not(sl_fileio_verify_expects(&verify, &write), "a write reads nothing");
	cr_assert_not(sl_fileio_verify_expects(&verify, &other), "the same place of another file");

	cr_assert_eq(sl_fileio_verify_check(&verify, &read, buf, &err), -EILSEQ);
	cr_assert_str_eq(err.msg, "verify: test_file.1 at byte 16384: what was written is not there");
	sl_fileio_verify_fill(&verify, &write, buf);
	cr_assert_eq(sl_fileio_verify_check(&verify, &read, buf, &err), 0);
	cr_assert_eq(sl_fileio_verify_check(&verify, &other, buf, &err), -EILSEQ, "a block of another file");
	buf[BLOCK - 1] ^= 0x80;
	cr_assert_eq(sl_fileio_verify_check(&verify, &read, buf, &err), -EILSEQ);
	cr_assert_str_eq(err.msg, "verify: test_file.1 at byte 16384: not what was written");
	sl_fileio_verify_fini(&verify);
}

Test(verify, off_it_expects_nothing_and_leaves_zero_blocks)
{
	const struct sl_fileio_request write = {SL_FILEIO_WRITE, 0, 0}, read = {SL_FILEIO_READ, 0, 0};
	struct sl_fileio_verify off = {0};
	uint8_t buf[BLOCK] = {0}, zeroes[BLOCK] = {0};

	sl_fileio_verify_fill(&off, &write, buf);
	sl_fileio_verify_wrote(&off, &write);
	cr_assert_eq(memcmp(buf, zeroes, BLOCK), 0);
	cr_assert_not(sl_fileio_verify_expects(&off, &read));
}

Test(verify, wants_blocks_that_can_hold_a_record)
{
	static const uint32_t wrong[] = {8, 56, 100};

	for (int i = 0; i < 3; i++) {
		const struct sl_fileio_config config = {
		    .files = 1, .file_bytes = 1000, .block_bytes = wrong[i]};
		struct sl_fileio_verify verify = {0};
		struct sl_err err = {0};

		cr_assert_eq(sl_fileio_verify_init(&verify, &config, 1, &err), -EINVAL, "%u", wrong[i]);
	}
}
