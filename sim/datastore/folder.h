/* The folder of a durable tree: one owner at a time, a key, and data/ for the bytes. */
#ifndef SL_DATASTORE_FOLDER_H
#define SL_DATASTORE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/datastore/notice.h"

struct sl_folder {
	int dirfd, datafd, lockfd; /* -1 when not open */
	bool made;                 /* the folder was not there */
	uint8_t key[16];           /* drawn when the folder was made; see sl_folder_key */
};

/* Makes the folder when it is missing. -EBUSY: another server has it; -ENOTEMPTY: it holds foreign files;
 * -EPERM: it is another user's, or others may write to it (own.h);
 * -EINVAL: a part of the store is missing; -EIO and others. Close it in any case. */
int sl_folder_open(struct sl_folder *folder, const char *path, struct sl_err *err);
/* Reads the key, once the journal is there. One that is missing, or not 16 bytes (it is put aside), costs
 * only the handles that clients hold: a new one is drawn, and said unless the store is `fresh`. `durable`: it
 * is on the host's disk too, its name after sl_folder_sync. 0 or negative errno. */
int sl_folder_key(struct sl_folder *folder, bool fresh, bool durable, const struct sl_notice *notice,
		  struct sl_err *err);
/* The names of data/, of what lies in the folder, and the folder's own are on the host's disk. 0 or negative
 * errno. */
int sl_folder_sync(const struct sl_folder *folder);
/* Accepts a folder that was only partly opened. */
void sl_folder_close(struct sl_folder *folder);

#endif
