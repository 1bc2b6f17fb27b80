/* What may be done with a name: the rules of POSIX and RFC 1813, the same for every tree. */
#include "sim/store/inodes.h"

#include <errno.h>
#include <string.h>

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int name_check(const char *name)
{
	size_t size = strlen(name);

	if (size > SL_TREE_NAME_MAX) {
		return -ENAMETOOLONG;
	}
	return size == 0 || strchr(name, '/') ? -EINVAL : 0;
}

/* A folder and the entry of a name in it; *ret_entry NULL when it is free. */
static int entry_find(const struct sl_inodes *table, uint64_t dir_ino, const char *name,
		      struct sl_inode **ret_dir, struct sl_entry **ret_entry)
{
	int rc = sl_inodes_dir(table, dir_ino, ret_dir);

	rc = rc ? rc : name_check(name);
	if (rc == 0) {
		*ret_entry = sl_inodes_lookup(table, *ret_dir, name);
	}
	return rc;
}

int sl_inodes_dir(const struct sl_inodes *table, uint64_t ino, struct sl_inode **ret)
{
	*ret = sl_inodes_get(table, ino);
	if (!*ret) {
		return -ESTALE;
	}
	return (*ret)->type == SL_FT_DIR ? 0 : -ENOTDIR;
}

int sl_inodes_find(const struct sl_inodes *table, uint64_t dir_ino, const char *name, struct sl_inode **ret)
{
	struct sl_entry *entry;
	struct sl_inode *dir;
	int rc = entry_find(table, dir_ino, name, &dir, &entry);

	if (rc) {
		return rc;
	}
	if (is_dots(name)) {
		*ret = name[1] == '.' ? sl_inode_parent(dir) : dir;
		return 0;
	}
	*ret = entry ? entry->inode : NULL;
	return entry ? 0 : -ENOENT;
}

int sl_inodes_may_create(const struct sl_inodes *table, uint64_t dir, const char *name,
			 struct sl_inode **ret_dir)
{
	struct sl_entry *entry;
	int rc = entry_find(table, dir, name, ret_dir, &entry);

	if (rc) {
		return rc;
	}
	return entry || is_dots(name) ? -EEXIST : 0;
}

int sl_inodes_may_remove(const struct sl_inodes *table, uint64_t dir_ino, const char *name,
			 enum sl_ftype type, struct sl_entry **ret)
{
	struct sl_inode *dir;
	int rc = entry_find(table, dir_ino, name, &dir, ret);

	if (rc) {
		return rc;
	}
	if (!*ret) {
		return is_dots(name) ? -EINVAL : -ENOENT;
	}
	if (((*ret)->inode->type == SL_FT_DIR) != (type == SL_FT_DIR)) {
		return type == SL_FT_DIR ? -ENOTDIR : -EISDIR;
	}
	return (*ret)->inode->first ? -ENOTEMPTY : 0;
}

int sl_inodes_may_link(const struct sl_inodes *table, uint64_t ino, uint64_t dir, const char *name,
		       struct sl_inode **ret, struct sl_inode **ret_dir)
{
	*ret = sl_inodes_get(table, ino);
	if (!*ret) {
		return -ESTALE;
	}
	if ((*ret)->type == SL_FT_DIR) {
		return -EISDIR;
	}
	if ((*ret)->nlink >= SL_TREE_LINKS_MAX) {
		return -EMLINK;
	}
	return sl_inodes_may_create(table, dir, name, ret_dir);
}

/* Is `inode` the folder `dir` or above it? */
static bool is_above(const struct sl_inode *inode, struct sl_inode *dir)
{
	while (dir != inode && dir->name) {
		dir = dir->name->dir;
	}
	return dir == inode;
}

static int victim_check(const struct sl_inode *moved, const struct sl_inode *victim)
{
	if (victim->type == SL_FT_DIR && moved->type != SL_FT_DIR) {
		return -EISDIR;
	}
	if (victim->type != SL_FT_DIR && moved->type == SL_FT_DIR) {
		return -ENOTDIR;
	}
	return victim->first ? -ENOTEMPTY : 0;
}

int sl_inodes_may_rename(const struct sl_inodes *table, uint64_t from_dir, const char *from, uint64_t to_dir,
			 const char *to, struct sl_rename *ret)
{
	struct sl_inode *dir;
	int rc;

	memset(ret, 0, sizeof(*ret));
	rc = entry_find(table, from_dir, from, &dir, &ret->entry);
	rc = rc ? rc : entry_find(table, to_dir, to, &ret->dir, &ret->victim);
	if (rc) {
		return rc;
	}
	if (is_dots(from) || is_dots(to)) {
		return -EINVAL;
	}
	if (!ret->entry) {
		return -ENOENT;
	}
	if (is_above(ret->entry->inode, ret->dir)) {
		return -EINVAL;
	}
	ret->nothing = ret->victim && ret->victim->inode == ret->entry->inode;
	return ret->victim && !ret->nothing ? victim_check(ret->entry->inode, ret->victim->inode) : 0;
}

int sl_inodes_rename(struct sl_inodes *table, const struct sl_rename *plan, const char *to, uint64_t cookie)
{
	int rc = plan->nothing ? 0 : sl_inodes_move(table, plan->entry, plan->dir, to, cookie);

	if (rc == 0 && plan->victim && !plan->nothing) {
		sl_inodes_unlink(table, plan->victim);
	}
	return rc;
}
