/* A file tree in memory. Nothing survives the process, so that every write is as stable as it will ever be.
 */
#include "sim/store/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/store/pages.h"

#define BUCKETS_MIN 64u
#define BYTES_PER_FILE 4096u /* fsstat: what a file is assumed to need at least */

struct dirent_ram {
	struct dirent_ram *chain;       /* next in the bucket */
	struct dirent_ram *prev, *next; /* in the directory, by cookie */
	uint64_t dir, ino, cookie;
	char name[SL_TREE_NAME_MAX + 1];
};

struct inode {
	struct sl_attr attr;
	struct sl_pages pages;           /* files */
	struct dirent_ram *first, *last; /* directories */
	uint64_t parent, next_cookie;
};

struct ram_tree {
	struct sl_tree base;
	struct sl_budget budget;
	uint64_t max_bytes;
	struct inode **inodes; /* by number; numbers are never used twice */
	uint64_t inode_count, inode_cap, live;
	struct dirent_ram **buckets;
	uint64_t bucket_count, entry_count;
};

static struct ram_tree *ram_of(struct sl_tree *tree)
{
	return sl_container_of(tree, struct ram_tree, base);
}

static int64_t ram_time(const struct ram_tree *ram)
{
	return ram->base.wall_ns ? ram->base.wall_ns(ram->base.wall_arg) : 0;
}

static struct inode *inode_find(const struct ram_tree *ram, uint64_t ino)
{
	return ino < ram->inode_count ? ram->inodes[ino] : NULL;
}

/* The directory `ino`, or NULL and *ret_rc says why not. */
static struct inode *dir_find(const struct ram_tree *ram, uint64_t ino, int *ret_rc)
{
	struct inode *dir = inode_find(ram, ino);

	*ret_rc = !dir ? -ESTALE : dir->attr.type != SL_FT_DIR ? -ENOTDIR : 0;
	return *ret_rc == 0 ? dir : NULL;
}

/* The file `ino`, or NULL and *ret_rc says why not. */
static struct inode *file_find(const struct ram_tree *ram, uint64_t ino, int *ret_rc)
{
	struct inode *file = inode_find(ram, ino);

	*ret_rc = !file ? -ESTALE : file->attr.type != SL_FT_REG ? -EISDIR : 0;
	return *ret_rc == 0 ? file : NULL;
}

static int inodes_reserve(struct ram_tree *ram)
{
	uint64_t cap = ram->inode_cap ? 2 * ram->inode_cap : 64;
	struct inode **grown;

	if (ram->inode_count < ram->inode_cap) {
		return 0;
	}
	if (sl_budget_take(&ram->budget, (cap - ram->inode_cap) * sizeof(struct inode *)) < 0) {
		return -ENOSPC;
	}
	grown = realloc(ram->inodes, cap * sizeof(struct inode *));
	if (!grown) {
		sl_budget_give(&ram->budget, (cap - ram->inode_cap) * sizeof(struct inode *));
		return -ENOSPC;
	}
	ram->inodes = grown;
	ram->inode_cap = cap;
	return 0;
}

static struct inode *inode_new(struct ram_tree *ram, enum sl_ftype type, uint64_t parent)
{
	struct inode *inode;
	int64_t now = ram_time(ram);

	if (inodes_reserve(ram) < 0 || sl_budget_take(&ram->budget, sizeof(*inode)) < 0) {
		return NULL;
	}
	inode = calloc(1, sizeof(*inode));
	if (!inode) {
		sl_budget_give(&ram->budget, sizeof(*inode));
		return NULL;
	}
	sl_pages_init(&inode->pages, &ram->budget);
	inode->attr.type = type;
	inode->attr.mode = type == SL_FT_DIR ? 0755 : 0644;
	inode->attr.nlink = type == SL_FT_DIR ? 2 : 1;
	inode->attr.ino = ram->inode_count;
	inode->attr.generation = 1;
	inode->attr.atime_ns = now;
	inode->attr.mtime_ns = now;
	inode->attr.ctime_ns = now;
	inode->parent = parent ? parent : inode->attr.ino;
	inode->next_cookie = 1;
	ram->inodes[ram->inode_count++] = inode;
	ram->live++;
	return inode;
}

static void inode_free(struct ram_tree *ram, struct inode *inode)
{
	ram->inodes[inode->attr.ino] = NULL;
	ram->live--;
	sl_pages_truncate(&inode->pages, 0);
	sl_budget_give(&ram->budget, sizeof(*inode));
	free(inode);
}

/* FNV-1a over directory number and name. */
static uint64_t name_hash(uint64_t dir, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u ^ (dir * 0x9e3779b97f4a7c15u);

	for (; *name; name++) {
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
	}
	return hash ^ (hash >> 32);
}

/* Where the pointer to the entry is, or the end of its chain. */
static struct dirent_ram **entry_slot(const struct ram_tree *ram, uint64_t dir, const char *name)
{
	struct dirent_ram **at = &ram->buckets[name_hash(dir, name) % ram->bucket_count];

	while (*at && ((*at)->dir != dir || strcmp((*at)->name, name) != 0)) {
		at = &(*at)->chain;
	}
	return at;
}

/* Doubles the buckets when chains get long; without memory they stay long. */
static void entries_rehash(struct ram_tree *ram)
{
	uint64_t count = ram->bucket_count * 2, i;
	struct dirent_ram **buckets;

	if (ram->entry_count < ram->bucket_count) {
		return;
	}
	buckets = calloc(count, sizeof(struct dirent_ram *));
	if (!buckets) {
		return;
	}
	for (i = 0; i < ram->bucket_count; i++) {
		while (ram->buckets[i]) {
			struct dirent_ram *entry = ram->buckets[i];
			struct dirent_ram **at = &buckets[name_hash(entry->dir, entry->name) % count];

			ram->buckets[i] = entry->chain;
			entry->chain = *at;
			*at = entry;
		}
	}
	free(ram->buckets);
	ram->buckets = buckets;
	ram->bucket_count = count;
}

static int entry_add(struct ram_tree *ram, struct inode *dir, const char *name, uint64_t ino)
{
	struct dirent_ram *entry, **at;

	if (sl_budget_take(&ram->budget, sizeof(*entry)) < 0) {
		return -ENOSPC;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry) {
		sl_budget_give(&ram->budget, sizeof(*entry));
		return -ENOSPC;
	}
	entries_rehash(ram);
	at = entry_slot(ram, dir->attr.ino, name);
	*at = entry;
	memcpy(entry->name, name, strlen(name) + 1);
	entry->dir = dir->attr.ino;
	entry->ino = ino;
	entry->cookie = dir->next_cookie++;
	entry->prev = dir->last;
	*(dir->last ? &dir->last->next : &dir->first) = entry;
	dir->last = entry;
	ram->entry_count++;
	return 0;
}

static void entry_drop(struct ram_tree *ram, struct inode *dir, struct dirent_ram **at)
{
	struct dirent_ram *entry = *at;

	*at = entry->chain;
	*(entry->prev ? &entry->prev->next : &dir->first) = entry->next;
	*(entry->next ? &entry->next->prev : &dir->last) = entry->prev;
	ram->entry_count--;
	sl_budget_give(&ram->budget, sizeof(*entry));
	free(entry);
}

static void dir_touch(struct ram_tree *ram, struct inode *dir)
{
	dir->attr.mtime_ns = ram_time(ram);
	dir->attr.ctime_ns = dir->attr.mtime_ns;
}

static int ram_getattr(struct sl_tree *tree, uint64_t ino, struct sl_attr *ret)
{
	const struct inode *inode = inode_find(ram_of(tree), ino);

	if (!inode) {
		return -ESTALE;
	}
	*ret = inode->attr;
	ret->used_bytes = inode->pages.page_count * SL_PAGE_BYTES;
	return 0;
}

static void inode_set(struct ram_tree *ram, struct inode *inode, const struct sl_setattr *set)
{
	struct sl_attr *attr = &inode->attr;
	int64_t now = ram_time(ram);

	if (set->mask & SL_SET_SIZE) {
		sl_pages_truncate(&inode->pages, set->size_bytes);
		attr->size_bytes = set->size_bytes;
		attr->mtime_ns = now;
	}
	attr->mode = set->mask & SL_SET_MODE ? set->mode & 07777 : attr->mode;
	attr->uid = set->mask & SL_SET_UID ? set->uid : attr->uid;
	attr->gid = set->mask & SL_SET_GID ? set->gid : attr->gid;
	attr->atime_ns = set->mask & SL_SET_ATIME ? set->atime_ns : attr->atime_ns;
	attr->mtime_ns = set->mask & SL_SET_MTIME ? set->mtime_ns : attr->mtime_ns;
	attr->ctime_ns = now;
}

static int set_check(enum sl_ftype type, const struct sl_setattr *set)
{
	if (!(set->mask & SL_SET_SIZE)) {
		return 0;
	}
	if (type == SL_FT_DIR) {
		return -EISDIR;
	}
	return set->size_bytes > INT64_MAX ? -EFBIG : 0;
}

static int ram_setattr(struct sl_tree *tree, uint64_t ino, const struct sl_setattr *set, struct sl_attr *ret)
{
	struct ram_tree *ram = ram_of(tree);
	struct inode *inode = inode_find(ram, ino);
	int rc = inode ? set_check(inode->attr.type, set) : -ESTALE;

	if (rc < 0) {
		return rc;
	}
	inode_set(ram, inode, set);
	return ret ? ram_getattr(tree, ino, ret) : 0;
}

static int ram_lookup(struct sl_tree *tree, uint64_t dir, const char *name, uint64_t *ret_ino)
{
	struct ram_tree *ram = ram_of(tree);
	int rc;
	const struct inode *inode = dir_find(ram, dir, &rc);
	const struct dirent_ram *entry;

	if (!inode) {
		return rc;
	}
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		*ret_ino = name[1] == '.' ? inode->parent : dir;
		return 0;
	}
	if (strlen(name) > SL_TREE_NAME_MAX) {
		return -ENAMETOOLONG;
	}
	entry = *entry_slot(ram, dir, name);
	if (!entry) {
		return -ENOENT;
	}
	*ret_ino = entry->ino;
	return 0;
}

static int ram_create(struct sl_tree *tree, uint64_t dir, const char *name, enum sl_ftype type,
		      const struct sl_setattr *set, uint64_t *ret_ino)
{
	struct ram_tree *ram = ram_of(tree);
	int rc = ram_lookup(tree, dir, name, ret_ino);
	struct inode *inode;

	if (rc != -ENOENT) {
		return rc == 0 ? -EEXIST : rc;
	}
	rc = set ? set_check(type, set) : 0;
	if (rc < 0) {
		return rc;
	}
	inode = inode_new(ram, type, dir);
	if (!inode) {
		return -ENOSPC;
	}
	rc = entry_add(ram, inode_find(ram, dir), name, inode->attr.ino);
	if (rc < 0) {
		inode_free(ram, inode);
		return rc;
	}
	if (set) {
		inode_set(ram, inode, set);
	}
	dir_touch(ram, inode_find(ram, dir));
	inode_find(ram, dir)->attr.nlink += type == SL_FT_DIR ? 1 : 0;
	*ret_ino = inode->attr.ino;
	return 0;
}

static int ram_remove(struct sl_tree *tree, uint64_t dir, const char *name, enum sl_ftype type)
{
	struct ram_tree *ram = ram_of(tree);
	int rc;
	struct inode *parent = dir_find(ram, dir, &rc);
	struct inode *inode;
	struct dirent_ram **at;

	if (!parent) {
		return rc;
	}
	if (strlen(name) > SL_TREE_NAME_MAX) {
		return -ENAMETOOLONG;
	}
	at = entry_slot(ram, dir, name);
	if (!*at) {
		return -ENOENT;
	}
	inode = inode_find(ram, (*at)->ino);
	if (inode->attr.type != type) {
		return type == SL_FT_DIR ? -ENOTDIR : -EISDIR;
	}
	if (inode->first) {
		return -ENOTEMPTY;
	}
	entry_drop(ram, parent, at);
	inode_free(ram, inode);
	dir_touch(ram, parent);
	parent->attr.nlink -= type == SL_FT_DIR ? 1 : 0;
	return 0;
}

/* NOLINTNEXTLINE(readability-function-size): the seam has seven parameters */
static int ram_read(struct sl_tree *tree, uint64_t ino, uint64_t offset, void *buf, uint32_t bytes,
		    uint32_t *ret_bytes, bool *ret_eof)
{
	int rc;
	const struct inode *file = file_find(ram_of(tree), ino, &rc);
	uint64_t left;

	if (!file) {
		return rc;
	}
	left = offset < file->attr.size_bytes ? file->attr.size_bytes - offset : 0;
	*ret_bytes = left < bytes ? (uint32_t)left : bytes;
	*ret_eof = left <= bytes;
	sl_pages_read(&file->pages, offset, buf, *ret_bytes);
	return 0;
}

static int ram_write(struct sl_tree *tree, uint64_t ino, uint64_t offset, const void *buf, uint32_t bytes,
		     enum sl_stable stable)
{
	struct ram_tree *ram = ram_of(tree);
	int rc;
	struct inode *file = file_find(ram, ino, &rc);

	(void)stable; /* memory is all there is */
	if (!file) {
		return rc;
	}
	if (offset > INT64_MAX || bytes > INT64_MAX - offset) {
		return -EFBIG;
	}
	rc = sl_pages_write(&file->pages, offset, buf, bytes);
	if (rc < 0) {
		/* Nothing may show beyond the end when the file grows later. */
		sl_pages_truncate(&file->pages, file->attr.size_bytes);
		return rc;
	}
	if (bytes > 0 && offset + bytes > file->attr.size_bytes) {
		file->attr.size_bytes = offset + bytes;
	}
	dir_touch(ram, file);
	return 0;
}

static int ram_commit(struct sl_tree *tree, uint64_t ino)
{
	int rc;

	(void)file_find(ram_of(tree), ino, &rc);
	return rc;
}

static int ram_sync_all(struct sl_tree *tree)
{
	(void)tree;
	return 0;
}

static int ram_readdir(struct sl_tree *tree, uint64_t dir, uint64_t cookie, sl_dirent_fn *fn, void *arg)
{
	int rc;
	const struct inode *inode = dir_find(ram_of(tree), dir, &rc);
	const struct dirent_ram *entry;

	for (entry = inode ? inode->first : NULL; entry; entry = entry->next) {
		if (entry->cookie > cookie && !fn(arg, entry->name, entry->ino, entry->cookie)) {
			break;
		}
	}
	return rc;
}

static int ram_fsstat(struct sl_tree *tree, struct sl_fsstat *ret)
{
	const struct ram_tree *ram = ram_of(tree);

	ret->total_bytes = ram->max_bytes;
	ret->free_bytes = ram->budget.left_bytes;
	ret->free_files = ram->budget.left_bytes / BYTES_PER_FILE;
	ret->total_files = ret->free_files + ram->live;
	return 0;
}

static void ram_free(struct sl_tree *tree)
{
	struct ram_tree *ram = ram_of(tree);
	uint64_t i;

	for (i = 0; i < ram->inode_count; i++) {
		struct inode *inode = ram->inodes[i];

		while (inode && inode->first) {
			struct dirent_ram *entry = inode->first;

			inode->first = entry->next;
			free(entry);
		}
		if (inode) {
			inode_free(ram, inode);
		}
	}
	free(ram->inodes);
	free(ram->buckets);
	free(ram);
}

static const struct sl_tree_ops ram_ops = {
    .getattr = ram_getattr,
    .setattr = ram_setattr,
    .lookup = ram_lookup,
    .create = ram_create,
    .remove = ram_remove,
    .read = ram_read,
    .write = ram_write,
    .commit = ram_commit,
    .sync_all = ram_sync_all,
    .readdir = ram_readdir,
    .fsstat = ram_fsstat,
    .free = ram_free,
};

struct sl_tree *sl_tree_new_ram(uint64_t max_bytes)
{
	struct ram_tree *ram = calloc(1, sizeof(*ram));

	if (!ram) {
		return NULL;
	}
	ram->base.ops = &ram_ops;
	ram->budget.left_bytes = max_bytes;
	ram->max_bytes = max_bytes;
	ram->bucket_count = BUCKETS_MIN;
	ram->buckets = calloc(BUCKETS_MIN, sizeof(struct dirent_ram *));
	if (!ram->buckets || inodes_reserve(ram) < 0) {
		ram_free(&ram->base);
		return NULL;
	}
	/* Number 0 names nothing; the first inode is the root. */
	ram->inodes[ram->inode_count++] = NULL;
	if (!inode_new(ram, SL_FT_DIR, 0)) {
		ram_free(&ram->base);
		return NULL;
	}
	return &ram->base;
}
