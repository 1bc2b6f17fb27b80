/* The bare loop that sloglab-load fileio is measured against: random FILE_SYNC writes of one file through
 * libnfs's own blocking call, nothing else. usage: fileio_bench URL BLOCK_BYTES BLOCKS COUNT Prints
 * "operations elapsed_ns user_us system_us". */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <nfsc/libnfs.h>

#include "sim/base/clock.h"
#include "sim/base/rng.h"

static int64_t micros(const struct timeval *to, const struct timeval *from)
{
	return (to->tv_sec - from->tv_sec) * 1000000 + to->tv_usec - from->tv_usec;
}

static int loop(struct nfs_context *nfs, struct nfsfh *fh, uint64_t bytes, uint64_t blocks, uint64_t count)
{
	char *block = calloc(1, bytes);
	struct rusage before, after;
	struct sl_rng rng;
	int64_t begin_ns;

	if (!block) {
		return 1;
	}
	sl_rng_init(&rng, 1, "bare");
	(void)getrusage(RUSAGE_SELF, &before);
	begin_ns = sl_clock_ns();
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = sl_rng_below(&rng, blocks) * bytes;

		if (nfs_pwrite(nfs, fh, at, bytes, block) != (int)bytes) {
			(void)fprintf(stderr, "fileio_bench: write: %s\n", nfs_get_error(nfs));
			free(block);
			return 1;
		}
	}
	begin_ns = sl_clock_ns() - begin_ns;
	(void)getrusage(RUSAGE_SELF, &after);
	(void)printf("%" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", count, begin_ns,
		     micros(&after.ru_utime, &before.ru_utime), micros(&after.ru_stime, &before.ru_stime));
	free(block);
	return 0;
}

int main(int argc, char **argv)
{
	struct nfs_context *nfs = nfs_init_context();
	struct nfs_url *url = argc == 5 && nfs ? nfs_parse_url_full(nfs, argv[1]) : NULL;
	struct nfsfh *fh = NULL;
	int rc = 1;

	if (!url) {
		(void)fprintf(stderr, "usage: fileio_bench URL BLOCK_BYTES BLOCKS COUNT\n");
	} else if (nfs_mount(nfs, url->server, url->path[0] ? url->path : "/") < 0 ||
		   nfs_open2(nfs, url->file, O_RDWR | O_CREAT | O_SYNC, 0644, &fh) < 0) {
		(void)fprintf(stderr, "fileio_bench: %s\n", nfs_get_error(nfs));
	} else {
		rc = loop(nfs, fh, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10),
			  strtoull(argv[4], NULL, 10));
		(void)nfs_close(nfs, fh);
	}
	if (url) {
		nfs_destroy_url(url);
	}
	if (nfs) {
		nfs_destroy_context(nfs);
	}
	return rc;
}
