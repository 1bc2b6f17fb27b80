#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/datastore/filedata.h"

#define COST_SYNCS 9
#define COST_BYTES 4096

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* The first gives the file its block and is not counted. */
static int syncs_time(int fd, int64_t took_ns[COST_SYNCS])
{
	uint8_t block[COST_BYTES];

	for (int i = -1; i < COST_SYNCS; i++) {
		int64_t start_ns = sl_clock_ns();

		memset(block, i + 2, sizeof(block)); /* no zeros: a host that compresses writes none */
		if (pwrite(fd, block, sizeof(block), 0) != (ssize_t)sizeof(block) || fdatasync(fd) < 0) {
			return errno != 0 ? -errno : -EIO;
		}
		if (i >= 0) {
			took_ns[i] = sl_clock_ns() - start_ns;
		}
	}
	return 0;
}

int sl_filedata_sync_cost(struct sl_filedata *data, int64_t *ret_ns)
{
	char name[SL_FILEDATA_NAME_BYTES];
	int64_t took_ns[COST_SYNCS];
	int fd, rc;

	/* Number of no inode: what a kill leaves of it is an orphan to the next start. */
	sl_filedata_name(UINT64_MAX, name);
	fd = openat(data->dirfd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return -errno;
	}
	errno = 0;
	rc = syncs_time(fd, took_ns);
	(void)close(fd);
	(void)unlinkat(data->dirfd, name, 0);
	if (rc == 0) {
		qsort(took_ns, COST_SYNCS, sizeof(took_ns[0]), by_value);
		*ret_ns = took_ns[COST_SYNCS / 2];
	}
	return rc;
}
