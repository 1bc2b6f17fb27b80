#include "sim/workload/fileio.h"

#include <assert.h>

#define READS_PER_WRITE 1.5 /* --file-rw-ratio */

void sl_fileio_init(struct sl_fileio *io, const struct sl_fileio_config *config, uint64_t seed)
{
	assert(config->files > 0 && config->block_bytes > 0 && config->file_bytes >= config->block_bytes);
	*io = (struct sl_fileio){.config = *config};
	sl_rng_init(&io->rng, seed, "fileio");
}

static bool is_sequential(const struct sl_fileio *io)
{
	return io->config.mode == SL_FILEIO_SEQWR || io->config.mode == SL_FILEIO_SEQRD;
}

static bool next_is_read(const struct sl_fileio *io)
{
	switch (io->config.mode) {
	case SL_FILEIO_SEQRD:
	case SL_FILEIO_RNDRD:
		return true;
	case SL_FILEIO_RNDRW:
		return (double)(io->reads + 1) / (double)(io->writes + 1) < READS_PER_WRITE;
	case SL_FILEIO_SEQWR:
	case SL_FILEIO_RNDWR:
		break;
	}
	return false;
}

/* A sync of all files is due after each `fsync_every` requests, once. */
static bool sync_due(const struct sl_fileio *io)
{
	return io->config.fsync_every > 0 && io->dirty && io->requests % io->config.fsync_every == 0;
}

static void next_sync(struct sl_fileio *io, struct sl_fileio_request *ret)
{
	*ret = (struct sl_fileio_request){.op = SL_FILEIO_FSYNC, .file = io->syncing};
	io->syncing++;
	if (io->syncing == io->config.files) {
		io->syncing = 0;
		io->dirty = false;
	}
}

void sl_fileio_end(struct sl_fileio *io)
{
	io->ended = true;
}

static bool is_at_end(const struct sl_fileio *io, uint64_t blocks)
{
	return io->ended || (io->config.max_requests > 0 && io->requests >= io->config.max_requests) ||
	       (is_sequential(io) && io->position == blocks);
}

/* Are the files synced once more at the end? */
static bool ends_with_sync(const struct sl_fileio *io)
{
	return io->dirty &&
	       io->config.fsync_end >= (io->ended ? SL_FILEIO_END_ALWAYS : SL_FILEIO_END_AFTER_REQUESTS);
}

void sl_fileio_next(struct sl_fileio *io, struct sl_fileio_request *ret)
{
	const struct sl_fileio_config *config = &io->config;
	uint64_t blocks = config->file_bytes / config->block_bytes, all = blocks * config->files, block;

	if ((!io->ended && sync_due(io)) || (is_at_end(io, all) && ends_with_sync(io))) {
		next_sync(io, ret);
		return;
	}
	if (is_at_end(io, all)) {
		*ret = (struct sl_fileio_request){.op = SL_FILEIO_END};
		return;
	}
	block = is_sequential(io) ? io->position++ : sl_rng_below(&io->rng, all);
	ret->op = next_is_read(io) ? SL_FILEIO_READ : SL_FILEIO_WRITE;
	ret->file = (uint32_t)(block / blocks);
	ret->offset_bytes = block % blocks * config->block_bytes;
	io->requests++;
	if (ret->op == SL_FILEIO_WRITE) {
		io->writes++;
		io->dirty = true;
	} else {
		io->reads++;
	}
}
