/* The folder of a durable tree: one owner at a time, a key, and data/ for the bytes. */
#ifndef SL_SERVE_FOLDER_H
#define SL_SERVE_FOLDER_H

#include <stdint.h>

#include "sim/base/err.h"

struct sl_folder {
	int dirfd, datafd, lockfd; /* -1 when not open */
	uint8_t key[16];           /* drawn when the folder was made */
};

/* Makes the folder when it is missing. -EBUSY: another server has it; -ENOTEMPTY: it holds foreign files;
 * -EIO and others. Close it in any case. */
int sl_folder_open(struct sl_folder *folder, const char *path, struct sl_err *err);
/* Accepts a folder that was only partly opened. */
void sl_folder_close(struct sl_folder *folder);

#endif
