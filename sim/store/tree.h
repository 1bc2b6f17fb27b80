/*
 * The store seam, untimed half: names and bytes of a file store. Calls return at once with 0 or a negative
 * errno (-ENOENT, -EEXIST, -ENOTDIR, -EISDIR, -ENOTEMPTY, -EINVAL, -ESTALE, -EMLINK, -ENOSPC, -EFBIG,
 * -ENAMETOOLONG, -EIO). Files are named by 64-bit inode number and generation, which persist across restarts
 * of a durable tree.
 */
#ifndef SL_STORE_TREE_H
#define SL_STORE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/store/store.h"

#define SL_TREE_ROOT 1u
#define SL_TREE_NAME_MAX 255
#define SL_TREE_TARGET_MAX 4095 /* of a symbolic link */
#define SL_TREE_LINKS_MAX 32000 /* names of a file */

enum sl_ftype {
	SL_FT_REG = 1, /* values of RFC 1813 ftype3 */
	SL_FT_DIR = 2,
	SL_FT_LNK = 5
};

struct sl_attr {
	enum sl_ftype type;
	uint32_t mode, nlink, uid, gid;
	uint64_t size_bytes, used_bytes;
	uint64_t ino, generation;
	int64_t atime_ns, mtime_ns, ctime_ns; /* since the epoch */
};

enum {
	SL_SET_MODE = 1,
	SL_SET_UID = 2,
	SL_SET_GID = 4,
	SL_SET_SIZE = 8,
	SL_SET_ATIME = 16,
	SL_SET_MTIME = 32
};

struct sl_setattr {
	uint32_t mask; /* SL_SET_... */
	uint32_t mode, uid, gid;
	uint64_t size_bytes;
	int64_t atime_ns, mtime_ns;
};

struct sl_fsstat {
	uint64_t total_bytes, free_bytes, total_files, free_files;
};

/* Called per directory entry; returns false to stop. `cookie` resumes after this entry. May call getattr. */
typedef bool sl_dirent_fn(void *arg, const char *name, uint64_t ino, uint64_t cookie);

struct sl_tree;

struct sl_tree_ops {
	int (*getattr)(struct sl_tree *tree, uint64_t ino, struct sl_attr *ret);
	/* `ret` may be NULL. A size of a directory: -EISDIR, of a link: -EINVAL; above INT64_MAX: -EFBIG. */
	int (*setattr)(struct sl_tree *tree, uint64_t ino, const struct sl_setattr *set, struct sl_attr *ret);
	/* "." is the directory itself, ".." its parent (the root's is the root). */
	int (*lookup)(struct sl_tree *tree, uint64_t dir, const char *name, uint64_t *ret_ino);
	/* type SL_FT_REG or SL_FT_DIR; `set` may be NULL; -EEXIST when the name is taken. */
	int (*create)(struct sl_tree *tree, uint64_t dir, const char *name, enum sl_ftype type,
		      const struct sl_setattr *set, uint64_t *ret_ino);
	/* `target` is kept as it is and never followed; -EINVAL when empty, -ENAMETOOLONG. */
	int (*symlink)(struct sl_tree *tree, uint64_t dir, const char *name, const char *target,
		       const struct sl_setattr *set, uint64_t *ret_ino);
	/* -EINVAL: not a symbolic link. */
	int (*readlink)(struct sl_tree *tree, uint64_t ino, char ret[SL_TREE_TARGET_MAX + 1]);
	/* A further name for what is no directory (-EISDIR). */
	int (*link)(struct sl_tree *tree, uint64_t ino, uint64_t dir, const char *name);
	/* In one step, with what `to` named before gone. A directory into itself: -EINVAL. */
	int (*rename)(struct sl_tree *tree, uint64_t from_dir, const char *from, uint64_t to_dir,
		      const char *to);
	/* `type` SL_FT_DIR: an empty directory, else anything but one. */
	int (*remove)(struct sl_tree *tree, uint64_t dir, const char *name, enum sl_ftype type);
	/* Reads up to `bytes`; *ret_bytes may be less at the end of the file. */
	int (*read)(struct sl_tree *tree, uint64_t ino, uint64_t offset, void *buf, uint32_t bytes,
		    uint32_t *ret_bytes, bool *ret_eof);
	/* SL_UNSTABLE data may live in memory until commit(); anything else is in the file when the call
	 * returns. */
	int (*write)(struct sl_tree *tree, uint64_t ino, uint64_t offset, const void *buf, uint32_t bytes,
		     enum sl_stable stable);
	int (*commit)(struct sl_tree *tree, uint64_t ino);
	/* All files: what sl_store.on_synced says. */
	int (*sync_all)(struct sl_tree *tree);
	/* Of a tree that `settles`: everything that calls have made stable so far (data, names) is so against
	 * a crash of the host too when this returns 0; one wait covers them all. Before that nobody may hear
	 * of it. A failure is for good: nothing becomes stable any more. NULL where `settles` is false. */
	int (*settle)(struct sl_tree *tree);
	/* Without "." and ".."; cookies are above 0 and keep their meaning while entries come and go. */
	int (*readdir)(struct sl_tree *tree, uint64_t dir, uint64_t cookie, sl_dirent_fn *fn, void *arg);
	int (*fsstat)(struct sl_tree *tree, struct sl_fsstat *ret);
	void (*free)(struct sl_tree *tree);
};

struct sl_tree {
	const struct sl_tree_ops *ops;
	bool settles;
	int64_t (*wall_ns)(void *arg); /* time stamps; NULL: all zero (tests) */
	void *wall_arg;
};

/* A tree in memory, bounded to max_bytes. NULL when out of memory. Free through ops->free. */
struct sl_tree *sl_tree_new_ram(uint64_t max_bytes);

#endif
