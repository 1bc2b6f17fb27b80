/* Who has mounted what: the list that MOUNT's DUMP shows. Advisory, in memory, bounded. */
#ifndef SL_NFS3_MOUNTS_H
#define SL_NFS3_MOUNTS_H

#include <stdint.h>

#define SL_MOUNTS_MAX 64u         /* the oldest makes room */
#define SL_MOUNTS_ADDRESS_MAX 45u /* an IPv6 address in full */
#define SL_MOUNTS_PATH_MAX 1024u  /* MNTPATHLEN */

struct sl_mount {
	char address[SL_MOUNTS_ADDRESS_MAX + 1];
	char *path; /* owned */
};

/* Zero-initialise; release with sl_mounts_clear. */
struct sl_mounts {
	struct sl_mount list[SL_MOUNTS_MAX]; /* oldest first */
	uint32_t count;
};

/* A path that is known already is not added again; without memory it is left out. */
void sl_mounts_add(struct sl_mounts *mounts, const char *address, const char *path);
/* `path` NULL: all of this client. */
void sl_mounts_remove(struct sl_mounts *mounts, const char *address, const char *path);
void sl_mounts_clear(struct sl_mounts *mounts);

#endif
