/* The names of a durable tree in memory: inodes by number and by (parent, name), children in inode order. */
#ifndef SL_SERVE_INODES_H
#define SL_SERVE_INODES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/serve/overlay.h"
#include "sim/store/tree.h"

/* One file or folder. Owned by its table; `name` is owned by the inode. */
struct sl_inode {
	uint64_t ino, generation;
	enum sl_ftype type;
	uint32_t mode, uid, gid, subdirs;
	int64_t atime_ns, mtime_ns, ctime_ns;
	char *name;
	struct sl_inode *parent;       /* the root is its own parent */
	struct sl_inode *first, *last; /* children, ascending ino: what makes readdir cookies stable */
	struct sl_inode *prev, *next;  /* siblings */
	struct sl_inode *ino_chain, *name_chain; /* hash chains */

	/* The bytes (regular files): owned by filedata.c. */
	uint64_t size_bytes; /* with unstable data */
	uint64_t used_bytes;
	bool used_stale; /* used_bytes must be asked for again */
	int fd;          /* -1 when closed */
	struct sl_inode *lru_prev, *lru_next;
	struct sl_inode *dirty_prev, *dirty_next;
	bool dirty; /* on the dirty list: the overlay has pages */
	struct sl_overlay overlay;
};

struct sl_inodes {
	struct sl_inode **by_ino, **by_name;
	uint32_t bucket_count; /* a power of two */
	uint32_t count;
};

/* 0 or -ENOMEM. Release with sl_inodes_fini, which frees the inodes but closes no descriptor. */
int sl_inodes_init(struct sl_inodes *table);
void sl_inodes_fini(struct sl_inodes *table);

/* NULL when unknown. */
struct sl_inode *sl_inodes_get(const struct sl_inodes *table, uint64_t ino);
struct sl_inode *sl_inodes_lookup(const struct sl_inodes *table, const struct sl_inode *dir,
				  const char *name);

/* Adds an inode below `parent` (NULL: the root) as its last child; `ino` must be above those of all siblings.
 * `name` is copied. NULL when out of memory. */
struct sl_inode *sl_inodes_add(struct sl_inodes *table, struct sl_inode *parent, uint64_t ino,
			       enum sl_ftype type, const char *name);
/* Takes a childless inode out and frees it. */
void sl_inodes_remove(struct sl_inodes *table, struct sl_inode *inode);
/* First child of `dir` whose number is above `cookie`; NULL at the end. */
struct sl_inode *sl_inodes_after(const struct sl_inodes *table, const struct sl_inode *dir, uint64_t cookie);
/* Calls fn for the root and everything below, parents first; stops at the first non-zero return and returns
 * it. */
int sl_inodes_walk(const struct sl_inodes *table, int (*fn)(void *arg, struct sl_inode *inode), void *arg);

#endif
