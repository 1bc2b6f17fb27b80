/* Is there room for what is written: in the modelled pool, and on the host. */
#include <sys/statvfs.h>

#include "sim/datastore/filedata.h"

#define HOST_ASK_BYTES (16u << 20)

/* Of the modelled pool; unstable pages count as if they were written. */
uint64_t sl_filedata_free(const struct sl_filedata *data)
{
	uint64_t taken = data->used_bytes + data->dirty_bytes;

	return data->capacity_bytes > taken ? data->capacity_bytes - taken : 0;
}

/* Asked every so many bytes only. */
bool sl_filedata_host_has_room(struct sl_filedata *data, uint32_t bytes)
{
	struct statvfs st;
	uint64_t free_bytes;

	if (data->host_left < bytes) {
		if (fstatvfs(data->dirfd, &st) < 0) {
			return true; /* the write itself will tell */
		}
		free_bytes = (uint64_t)st.f_bavail * st.f_frsize;
		free_bytes = free_bytes > data->dirty_bytes ? free_bytes - data->dirty_bytes : 0;
		data->host_left = free_bytes < HOST_ASK_BYTES ? free_bytes : HOST_ASK_BYTES;
	}
	if (data->host_left < bytes) {
		return false;
	}
	data->host_left -= bytes;
	return true;
}
