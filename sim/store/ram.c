/* A file tree in memory. Nothing survives the process, so that every write is as stable as it will ever be.
 */
#include "sim/store/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/store/inodes.h"
#include "sim/store/pages.h"

#define BYTES_PER_FILE 4096u /* fsstat: what a file is assumed to need at least */

struct ram_file {
	struct sl_inode base;
	uint64_t size_bytes;
	struct sl_pages pages; /* of a symbolic link: its target */
};

struct ram_tree {
	struct sl_tree base;
	struct sl_budget budget; /* what inodes, names and pages may take */
	uint64_t max_bytes;
	struct sl_inodes inodes;
	uint64_t next_number; /* inode numbers and cookies: never given out twice */
};

static struct ram_tree *ram_of(struct sl_tree *tree)
{
	return sl_container_of(tree, struct ram_tree, base);
}

static struct ram_file *file_of(struct sl_inode *inode)
{
	return sl_container_of(inode, struct ram_file, base);
}

static int64_t ram_time(const struct ram_tree *ram)
{
	return ram->base.wall_ns ? ram->base.wall_ns(ram->base.wall_arg) : 0;
}

/* The regular file `ino`. */
static int file_find(struct sl_tree *tree, uint64_t ino, struct ram_file **ret)
{
	struct sl_inode *inode = sl_inodes_get(&ram_of(tree)->inodes, ino);

	if (!inode) {
		return -ESTALE;
	}
	*ret = file_of(inode);
	return inode->type == SL_FT_REG ? 0 : inode->type == SL_FT_DIR ? -EISDIR : -EINVAL;
}

static uint64_t entry_bytes(const char *name)
{
	return sizeof(struct sl_entry) + strlen(name) + 1;
}

static struct ram_file *inode_new(struct ram_tree *ram, enum sl_ftype type)
{
	struct sl_inode *inode;
	int64_t now = ram_time(ram);

	if (sl_budget_take(&ram->budget, sizeof(struct ram_file)) < 0) {
		return NULL;
	}
	inode = sl_inodes_add(&ram->inodes, ram->next_number, type);
	if (!inode) {
		sl_budget_give(&ram->budget, sizeof(struct ram_file));
		return NULL;
	}
	ram->next_number++;
	inode->generation = 1;
	inode->mode = type == SL_FT_DIR ? 0755 : type == SL_FT_LNK ? 0777 : 0644;
	inode->atime_ns = now;
	inode->mtime_ns = now;
	inode->ctime_ns = now;
	sl_pages_init(&file_of(inode)->pages, &ram->budget);
	return file_of(inode);
}

/* Frees an inode that has no name any more. */
static void inode_release(struct ram_tree *ram, struct sl_inode *inode)
{
	if (inode->nlink > 0) {
		inode->ctime_ns = ram_time(ram);
		return;
	}
	sl_pages_truncate(&file_of(inode)->pages, 0);
	sl_budget_give(&ram->budget, sizeof(struct ram_file));
	sl_inodes_drop(&ram->inodes, inode);
}

static void dir_touch(struct ram_tree *ram, struct sl_inode *dir)
{
	dir->mtime_ns = ram_time(ram);
	dir->ctime_ns = dir->mtime_ns;
}

static int entry_add(struct ram_tree *ram, struct sl_inode *dir, const char *name, struct sl_inode *inode)
{
	if (sl_budget_take(&ram->budget, entry_bytes(name)) < 0) {
		return -ENOSPC;
	}
	if (sl_inodes_link(&ram->inodes, dir, name, inode, ram->next_number) < 0) {
		sl_budget_give(&ram->budget, entry_bytes(name));
		return -ENOSPC;
	}
	ram->next_number++;
	dir_touch(ram, dir);
	return 0;
}

static int ram_getattr(struct sl_tree *tree, uint64_t ino, struct sl_attr *ret)
{
	struct sl_inode *inode = sl_inodes_get(&ram_of(tree)->inodes, ino);

	if (!inode) {
		return -ESTALE;
	}
	*ret = (struct sl_attr){
	    .type = inode->type,
	    .mode = inode->mode,
	    .nlink = inode->nlink,
	    .uid = inode->uid,
	    .gid = inode->gid,
	    .size_bytes = file_of(inode)->size_bytes,
	    .used_bytes = file_of(inode)->pages.page_count * SL_PAGE_BYTES,
	    .ino = inode->ino,
	    .generation = inode->generation,
	    .atime_ns = inode->atime_ns,
	    .mtime_ns = inode->mtime_ns,
	    .ctime_ns = inode->ctime_ns,
	};
	return 0;
}

static void inode_set(struct ram_tree *ram, struct sl_inode *inode, const struct sl_setattr *set)
{
	int64_t now = ram_time(ram);

	if (set->mask & SL_SET_SIZE) {
		sl_pages_truncate(&file_of(inode)->pages, set->size_bytes);
		file_of(inode)->size_bytes = set->size_bytes;
		inode->mtime_ns = now;
	}
	inode->mode = set->mask & SL_SET_MODE ? set->mode & 07777 : inode->mode;
	inode->uid = set->mask & SL_SET_UID ? set->uid : inode->uid;
	inode->gid = set->mask & SL_SET_GID ? set->gid : inode->gid;
	inode->atime_ns = set->mask & SL_SET_ATIME ? set->atime_ns : inode->atime_ns;
	inode->mtime_ns = set->mask & SL_SET_MTIME ? set->mtime_ns : inode->mtime_ns;
	inode->ctime_ns = now;
}

static int set_check(enum sl_ftype type, const struct sl_setattr *set)
{
	if (!(set->mask & SL_SET_SIZE)) {
		return 0;
	}
	if (type != SL_FT_REG) {
		return type == SL_FT_DIR ? -EISDIR : -EINVAL;
	}
	return set->size_bytes > INT64_MAX ? -EFBIG : 0;
}

static int ram_setattr(struct sl_tree *tree, uint64_t ino, const struct sl_setattr *set, struct sl_attr *ret)
{
	struct ram_tree *ram = ram_of(tree);
	struct sl_inode *inode = sl_inodes_get(&ram->inodes, ino);
	int rc = inode ? set_check(inode->type, set) : -ESTALE;

	if (rc < 0) {
		return rc;
	}
	inode_set(ram, inode, set);
	return ret ? ram_getattr(tree, ino, ret) : 0;
}

static int ram_lookup(struct sl_tree *tree, uint64_t dir, const char *name, uint64_t *ret_ino)
{
	struct sl_inode *inode = NULL;
	int rc = sl_inodes_find(&ram_of(tree)->inodes, dir, name, &inode);

	if (rc == 0) {
		*ret_ino = inode->ino;
	}
	return rc;
}

/* An inode with its first name, or nothing. */
static int inode_make(struct ram_tree *ram, struct sl_inode *dir, const char *name, enum sl_ftype type,
		      struct ram_file **ret)
{
	int rc;

	*ret = inode_new(ram, type);
	if (!*ret) {
		return -ENOSPC;
	}
	rc = entry_add(ram, dir, name, &(*ret)->base);
	if (rc < 0) {
		inode_release(ram, &(*ret)->base);
	}
	return rc;
}

static int ram_create(struct sl_tree *tree, uint64_t dir_ino, const char *name, enum sl_ftype type,
		      const struct sl_setattr *set, uint64_t *ret_ino)
{
	struct ram_tree *ram = ram_of(tree);
	struct ram_file *file;
	struct sl_inode *dir;
	int rc = sl_inodes_may_create(&ram->inodes, dir_ino, name, &dir);

	rc = rc == 0 && set ? set_check(type, set) : rc;
	rc = rc ? rc : inode_make(ram, dir, name, type, &file);
	if (rc) {
		return rc;
	}
	if (set) {
		inode_set(ram, &file->base, set);
	}
	*ret_ino = file->base.ino;
	return 0;
}

static void entry_remove(struct ram_tree *ram, struct sl_entry *entry)
{
	struct sl_inode *dir = entry->dir, *inode = entry->inode;

	sl_budget_give(&ram->budget, entry_bytes(entry->name));
	sl_inodes_unlink(&ram->inodes, entry);
	inode_release(ram, inode);
	dir_touch(ram, dir);
}

/* NOLINTNEXTLINE(readability-function-size): the seam has six parameters */
static int ram_symlink(struct sl_tree *tree, uint64_t dir_ino, const char *name, const char *target,
		       const struct sl_setattr *set, uint64_t *ret_ino)
{
	struct ram_tree *ram = ram_of(tree);
	size_t size = strlen(target);
	struct ram_file *file;
	struct sl_inode *dir;
	int rc = sl_inodes_may_create(&ram->inodes, dir_ino, name, &dir);

	if (rc == 0 && (size == 0 || size > SL_TREE_TARGET_MAX)) {
		rc = size == 0 ? -EINVAL : -ENAMETOOLONG;
	}
	rc = rc == 0 && set ? set_check(SL_FT_LNK, set) : rc;
	rc = rc ? rc : inode_make(ram, dir, name, SL_FT_LNK, &file);
	if (rc) {
		return rc;
	}
	rc = sl_pages_write(&file->pages, 0, target, size);
	if (rc) {
		entry_remove(ram, sl_inodes_lookup(&ram->inodes, dir, name));
		return rc;
	}
	file->size_bytes = size;
	if (set) {
		inode_set(ram, &file->base, set);
	}
	*ret_ino = file->base.ino;
	return 0;
}

static int ram_readlink(struct sl_tree *tree, uint64_t ino, char ret[SL_TREE_TARGET_MAX + 1])
{
	struct sl_inode *inode = sl_inodes_get(&ram_of(tree)->inodes, ino);

	if (!inode || inode->type != SL_FT_LNK) {
		return inode ? -EINVAL : -ESTALE;
	}
	sl_pages_read(&file_of(inode)->pages, 0, ret, file_of(inode)->size_bytes);
	ret[file_of(inode)->size_bytes] = '\0';
	return 0;
}

static int ram_link(struct sl_tree *tree, uint64_t ino, uint64_t dir_ino, const char *name)
{
	struct ram_tree *ram = ram_of(tree);
	struct sl_inode *inode, *dir;
	int rc = sl_inodes_may_link(&ram->inodes, ino, dir_ino, name, &inode, &dir);

	rc = rc ? rc : entry_add(ram, dir, name, inode);
	if (rc == 0) {
		inode->ctime_ns = ram_time(ram);
	}
	return rc;
}

static int ram_rename(struct sl_tree *tree, uint64_t from_dir, const char *from, uint64_t to_dir,
		      const char *to)
{
	struct ram_tree *ram = ram_of(tree);
	struct sl_inode *source, *moved, *victim;
	struct sl_rename plan;
	int rc = sl_inodes_may_rename(&ram->inodes, from_dir, from, to_dir, to, &plan);

	if (rc || plan.nothing) {
		return rc;
	}
	source = plan.entry->dir;
	moved = plan.entry->inode;
	victim = plan.victim ? plan.victim->inode : NULL;
	if (sl_budget_take(&ram->budget, entry_bytes(to)) < 0) {
		return -ENOSPC;
	}
	rc = sl_inodes_rename(&ram->inodes, &plan, to, ram->next_number);
	if (rc) {
		sl_budget_give(&ram->budget, entry_bytes(to));
		return -ENOSPC;
	}
	ram->next_number++;
	sl_budget_give(&ram->budget, entry_bytes(from));
	if (victim) {
		sl_budget_give(&ram->budget, entry_bytes(to));
		inode_release(ram, victim);
	}
	moved->ctime_ns = ram_time(ram);
	dir_touch(ram, source);
	dir_touch(ram, plan.dir);
	return 0;
}

static int ram_remove(struct sl_tree *tree, uint64_t dir, const char *name, enum sl_ftype type)
{
	struct ram_tree *ram = ram_of(tree);
	struct sl_entry *entry;
	int rc = sl_inodes_may_remove(&ram->inodes, dir, name, type, &entry);

	if (rc == 0) {
		entry_remove(ram, entry);
	}
	return rc;
}

/* NOLINTNEXTLINE(readability-function-size): the seam has seven parameters */
static int ram_read(struct sl_tree *tree, uint64_t ino, uint64_t offset, void *buf, uint32_t bytes,
		    uint32_t *ret_bytes, bool *ret_eof)
{
	struct ram_file *file;
	uint64_t left;
	int rc = file_find(tree, ino, &file);

	if (rc) {
		return rc;
	}
	left = offset < file->size_bytes ? file->size_bytes - offset : 0;
	*ret_bytes = left < bytes ? (uint32_t)left : bytes;
	*ret_eof = left <= bytes;
	sl_pages_read(&file->pages, offset, buf, *ret_bytes);
	return 0;
}

static int ram_write(struct sl_tree *tree, uint64_t ino, uint64_t offset, const void *buf, uint32_t bytes,
		     enum sl_stable stable)
{
	struct ram_file *file;
	int rc = file_find(tree, ino, &file);

	(void)stable; /* memory is all there is */
	if (rc) {
		return rc;
	}
	if (offset > INT64_MAX || bytes > INT64_MAX - offset) {
		return -EFBIG;
	}
	rc = sl_pages_write(&file->pages, offset, buf, bytes);
	if (rc < 0) {
		/* Nothing may show beyond the end when the file grows later. */
		sl_pages_truncate(&file->pages, file->size_bytes);
		return rc;
	}
	if (bytes > 0 && offset + bytes > file->size_bytes) {
		file->size_bytes = offset + bytes;
	}
	dir_touch(ram_of(tree), &file->base);
	return 0;
}

static int ram_commit(struct sl_tree *tree, uint64_t ino)
{
	struct ram_file *file;

	return file_find(tree, ino, &file);
}

static int ram_sync_all(struct sl_tree *tree)
{
	(void)tree;
	return 0;
}

static int ram_readdir(struct sl_tree *tree, uint64_t dir_ino, uint64_t cookie, sl_dirent_fn *fn, void *arg)
{
	struct ram_tree *ram = ram_of(tree);
	struct sl_inode *dir;
	int rc = sl_inodes_dir(&ram->inodes, dir_ino, &dir);

	if (rc) {
		return rc;
	}
	for (struct sl_entry *entry = sl_inodes_after(&ram->inodes, dir, cookie); entry;
	     entry = entry->next) {
		if (!fn(arg, entry->name, entry->inode->ino, entry->cookie)) {
			break;
		}
	}
	return 0;
}

static int ram_fsstat(struct sl_tree *tree, struct sl_fsstat *ret)
{
	const struct ram_tree *ram = ram_of(tree);

	ret->total_bytes = ram->max_bytes;
	ret->free_bytes = ram->budget.left_bytes;
	ret->free_files = ram->budget.left_bytes / BYTES_PER_FILE;
	ret->total_files = ret->free_files + ram->inodes.inode_count;
	return 0;
}

static int pages_release(void *arg, struct sl_inode *inode)
{
	(void)arg;
	sl_pages_truncate(&file_of(inode)->pages, 0);
	return 0;
}

static void ram_free(struct sl_tree *tree)
{
	struct ram_tree *ram = ram_of(tree);

	(void)sl_inodes_each(&ram->inodes, pages_release, NULL);
	sl_inodes_fini(&ram->inodes);
	free(ram);
}

static const struct sl_tree_ops ram_ops = {
    .getattr = ram_getattr,
    .setattr = ram_setattr,
    .lookup = ram_lookup,
    .create = ram_create,
    .symlink = ram_symlink,
    .readlink = ram_readlink,
    .link = ram_link,
    .rename = ram_rename,
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
	struct ram_file *root;

	if (!ram) {
		return NULL;
	}
	ram->base.ops = &ram_ops;
	ram->budget.left_bytes = max_bytes;
	ram->max_bytes = max_bytes;
	ram->next_number = SL_TREE_ROOT;
	root = sl_inodes_init(&ram->inodes, sizeof(struct ram_file)) == 0 ? inode_new(ram, SL_FT_DIR) : NULL;
	if (!root) {
		ram_free(&ram->base);
		return NULL;
	}
	/* Everybody may write to it, as to the root of a new durable tree. */
	root->base.mode = 0777;
	root->base.nlink = 2;
	return &ram->base;
}
