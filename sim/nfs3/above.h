/*
 * The directories above an export, "/" and "/tank" of "/tank/vm": each is read-only and holds one name, the
 * way to the export. MOUNT lists the export anyway, so that they tell nothing new; who mounts the server's
 * root (libnfs's nfs://HOST/, a browser of shares) finds the way, as in the pseudo file system of NFSv4 (RFC
 * 7530, section 7.3) and the root of a NetApp's name space.
 */
#ifndef SL_NFS3_ABOVE_H
#define SL_NFS3_ABOVE_H

#include "sim/store/tree.h"

/*
 * A tree that is `below` (borrowed, fixed in what `settles` says) with these directories added; their inode
 * numbers are beyond those of `below`, whose own stay. `export_path` is absolute; copied. NULL when out of
 * memory. Free through ops->free, which leaves `below` alone.
 */
struct sl_tree *sl_above_new(struct sl_tree *below, const char *export_path);
/* The directory that `path` names above the export; 0: none of them. */
uint64_t sl_above_find(struct sl_tree *above, const char *path);

#endif
