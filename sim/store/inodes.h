/*
 * The names of a file tree in memory: inodes by number; entries (a name in a folder) by folder and name, by
 * cookie, and in the order they were made. A file may have several names, a folder has one. What a tree may
 * do with a name is decided here too, so that every tree gives the same answers.
 */
#ifndef SL_STORE_INODES_H
#define SL_STORE_INODES_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/store/tree.h"

struct sl_entry;

/* A file, folder or symbolic link. Trees embed it as the first member of what they keep of a file; the table
 * owns that memory. */
struct sl_inode {
	uint64_t ino, generation;
	enum sl_ftype type;
	uint32_t mode, uid, gid;
	uint32_t nlink; /* names; of a folder 2 + subfolders, 0 when it has no name */
	int64_t atime_ns, mtime_ns, ctime_ns;
	struct sl_entry *name;         /* of a folder: its one entry, NULL for the root */
	struct sl_entry *first, *last; /* of a folder: its entries, ascending cookies */
	struct sl_inode *chain;
	bool seen; /* for those who walk the tree */
};

/* A name. Owned by the table. */
struct sl_entry {
	struct sl_inode *dir, *inode;
	uint64_t
	    cookie; /* unique in the tree: where readdir goes on, and a place in the order of the folder */
	struct sl_entry *prev, *next; /* of the folder */
	struct sl_entry *name_chain, *cookie_chain;
	char name[];
};

struct sl_inodes {
	struct sl_inode **by_ino;
	struct sl_entry **by_name, **by_cookie;
	size_t inode_bytes;
	uint32_t inode_buckets, entry_buckets; /* powers of two */
	uint32_t inode_count, entry_count;
};

/* `inode_bytes`: of the struct that begins with a struct sl_inode. 0 or -ENOMEM. Release with sl_inodes_fini.
 */
int sl_inodes_init(struct sl_inodes *table, size_t inode_bytes);
/* Frees inodes and entries; what hangs on the inodes is the tree's to release before. Accepts a zeroed
 * object. */
void sl_inodes_fini(struct sl_inodes *table);

/* NULL when unknown. */
struct sl_inode *sl_inodes_get(const struct sl_inodes *table, uint64_t ino);
struct sl_entry *sl_inodes_lookup(const struct sl_inodes *table, const struct sl_inode *dir,
				  const char *name);
/* The folder above; the root's is the root. */
struct sl_inode *sl_inode_parent(struct sl_inode *dir);

/* A zeroed inode without a name (a folder: nlink 0 until it is linked; the root is used so, with nlink 2).
 * NULL when out of memory. */
struct sl_inode *sl_inodes_add(struct sl_inodes *table, uint64_t ino, enum sl_ftype type);
/* Takes an inode without names and entries out and frees it. */
void sl_inodes_drop(struct sl_inodes *table, struct sl_inode *inode);
/* Gives the inode a further name, the last of its folder: `cookie` must be above all that were used there. 0
 * or -ENOMEM. */
int sl_inodes_link(struct sl_inodes *table, struct sl_inode *dir, const char *name, struct sl_inode *inode,
		   uint64_t cookie);
/* Takes a name away. The inode stays, even without any. */
void sl_inodes_unlink(struct sl_inodes *table, struct sl_entry *entry);
/* Moves a name. What had the new one has lost it. 0 or -ENOMEM (nothing moved). */
int sl_inodes_move(struct sl_inodes *table, struct sl_entry *entry, struct sl_inode *dir, const char *name,
		   uint64_t cookie);

/* First entry of `dir` whose cookie is above `cookie`; NULL at the end. */
struct sl_entry *sl_inodes_after(const struct sl_inodes *table, const struct sl_inode *dir, uint64_t cookie);
/* Calls fn for every entry, folders before what is in them and each folder in its order; stops at the first
 * non-zero return and returns it. */
int sl_inodes_walk(const struct sl_inodes *table, int (*fn)(void *arg, struct sl_entry *entry), void *arg);
/* The same for every inode, in no particular order. */
int sl_inodes_each(const struct sl_inodes *table, int (*fn)(void *arg, struct sl_inode *inode), void *arg);

/*
 * May the tree do it? 0 and what is concerned, or a negative errno: -ESTALE (no such inode), -ENOTDIR,
 * -ENAMETOOLONG, -EINVAL (empty, or with '/'; ".", ".." where they cannot be meant), and those named.
 */
int sl_inodes_dir(const struct sl_inodes *table, uint64_t ino, struct sl_inode **ret);
int sl_inodes_find(const struct sl_inodes *table, uint64_t dir, const char *name,
		   struct sl_inode **ret); /* -ENOENT; knows "." and ".." */
int sl_inodes_may_create(const struct sl_inodes *table, uint64_t dir, const char *name,
			 struct sl_inode **ret_dir); /* -EEXIST */
/* `type` SL_FT_DIR: a folder (-ENOTEMPTY, -ENOTDIR), else anything but one (-EISDIR). -ENOENT. */
int sl_inodes_may_remove(const struct sl_inodes *table, uint64_t dir, const char *name, enum sl_ftype type,
			 struct sl_entry **ret);
/* -EEXIST; -EISDIR: folders have one name; -EMLINK. */
int sl_inodes_may_link(const struct sl_inodes *table, uint64_t ino, uint64_t dir, const char *name,
		       struct sl_inode **ret, struct sl_inode **ret_dir);

struct sl_rename {
	struct sl_entry *entry;  /* what moves */
	struct sl_inode *dir;    /* where to */
	struct sl_entry *victim; /* what has the new name, or NULL */
	bool nothing;            /* both names are one file's already: leave them */
};
/* -ENOENT; -EISDIR, -ENOTDIR, -ENOTEMPTY (of what is in the way); -EINVAL (a folder into itself). */
int sl_inodes_may_rename(const struct sl_inodes *table, uint64_t from_dir, const char *from, uint64_t to_dir,
			 const char *to, struct sl_rename *ret);
/* Does it: the victim's name is gone (its inode is not), the entry has its new one. 0 or -ENOMEM (nothing
 * done). */
int sl_inodes_rename(struct sl_inodes *table, const struct sl_rename *plan, const char *to, uint64_t cookie);

#endif
