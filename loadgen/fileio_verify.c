#include "loadgen/fileio_verify.h"

#include <errno.h>
#include <stdlib.h>

#include "loadgen/record.h"

int sl_fileio_verify_init(struct sl_fileio_verify *verify, const struct sl_fileio_config *config,
			  uint64_t seed, struct sl_err *err)
{
	if (config->block_bytes < SL_RECORD_BYTES_MIN || config->block_bytes % 8 != 0) {
		return sl_err_set(err, -EINVAL, "verify: blocks must be a multiple of 8 bytes, at least %u",
				  SL_RECORD_BYTES_MIN);
	}
	*verify = (struct sl_fileio_verify){.seed = seed,
					    .blocks = config->file_bytes / config->block_bytes,
					    .block_bytes = config->block_bytes};
	verify->written = calloc(verify->blocks * config->files / 8 + 1, 1);
	return verify->written ? 0 : sl_err_set(err, -ENOMEM, "out of memory");
}

void sl_fileio_verify_fini(struct sl_fileio_verify *verify)
{
	free(verify->written);
	*verify = (struct sl_fileio_verify){0};
}

static uint64_t number_of(const struct sl_fileio_verify *verify, const struct sl_fileio_request *request)
{
	return request->file * verify->blocks + request->offset_bytes / verify->block_bytes;
}

void sl_fileio_verify_fill(const struct sl_fileio_verify *verify, const struct sl_fileio_request *request,
			   void *buf)
{
	if (verify->written) {
		sl_record_make(verify->seed, number_of(verify, request), buf, verify->block_bytes);
	}
}

void sl_fileio_verify_wrote(struct sl_fileio_verify *verify, const struct sl_fileio_request *request)
{
	if (verify->written) {
		uint64_t number = number_of(verify, request);

		verify->written[number / 8] |= (uint8_t)(1u << number % 8);
	}
}

bool sl_fileio_verify_expects(const struct sl_fileio_verify *verify, const struct sl_fileio_request *request)
{
	uint64_t number;

	if (!verify->written || request->op != SL_FILEIO_READ) {
		return false;
	}
	number = number_of(verify, request);
	return (verify->written[number / 8] >> number % 8 & 1) != 0;
}

int sl_fileio_verify_check(const struct sl_fileio_verify *verify, const struct sl_fileio_request *request,
			   const void *buf, struct sl_err *err)
{
	enum sl_record_state state = sl_record_check(verify->seed, number_of(verify, request), buf,
						     verify->block_bytes, verify->block_bytes);

	if (state == SL_RECORD_WHOLE) {
		return 0;
	}
	return sl_err_set(err, -EILSEQ, "verify: test_file.%u at byte %llu: %s", request->file,
			  (unsigned long long)request->offset_bytes,
			  state == SL_RECORD_ABSENT ? "what was written is not there"
						    : "not what was written");
}
