#include "sim/nfs3/above.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/loop.h"

#define FIRST (UINT64_C(1) << 63) /* the root's inode number; one more for each level below it */
#define DIR_BYTES 4096u

struct above {
	struct sl_tree tree;
	struct sl_tree *below;
	uint32_t levels; /* directories above the export: as many as its path has components */
	char path[];
};

static struct above *above_of(struct sl_tree *tree)
{
	return sl_container_of(tree, struct above, tree);
}

static bool is_above(uint64_t ino)
{
	return ino >= FIRST;
}

/* Cuts the first component off *path; 0 bytes when there is none. */
static size_t component(const char **path, const char **ret_name)
{
	size_t size;

	*path += strspn(*path, "/");
	size = strcspn(*path, "/");
	*ret_name = *path;
	*path += size;
	return size;
}

/* The one name in the directory of that level. */
static size_t name_at(const struct above *above, uint64_t level, const char **ret_name)
{
	const char *path = above->path;
	size_t size = component(&path, ret_name);

	for (; level > 0; level--) {
		size = component(&path, ret_name);
	}
	return size;
}

static uint64_t ino_at(const struct above *above, uint64_t level)
{
	return level < above->levels ? FIRST + level : SL_TREE_ROOT;
}

uint64_t sl_above_find(struct sl_tree *tree, const char *path)
{
	const struct above *above = above_of(tree);
	const char *name, *own;
	uint64_t level = 0;

	if (path[0] != '/') {
		return 0;
	}
	for (size_t size; level < above->levels && (size = component(&path, &name)) > 0; level++) {
		if (name_at(above, level, &own) != size || memcmp(name, own, size) != 0) {
			return 0;
		}
	}
	return level < above->levels ? FIRST + level : 0;
}

/* Of nobody who could change it, and as old as what it leads to. */
static int dir_getattr(const struct above *above, uint64_t ino, struct sl_attr *ret)
{
	int rc;

	if (ino - FIRST >= above->levels) {
		return -ENOENT;
	}
	rc = above->below->ops->getattr(above->below, SL_TREE_ROOT, ret);
	if (rc < 0) {
		return rc;
	}
	*ret = (struct sl_attr){.type = SL_FT_DIR,
				.mode = 0555,
				.nlink = 3,
				.size_bytes = DIR_BYTES,
				.used_bytes = DIR_BYTES,
				.ino = ino,
				.generation = 1,
				.atime_ns = ret->atime_ns,
				.mtime_ns = ret->mtime_ns,
				.ctime_ns = ret->ctime_ns};
	return 0;
}

static int above_getattr(struct sl_tree *tree, uint64_t ino, struct sl_attr *ret)
{
	struct above *above = above_of(tree);

	return is_above(ino) ? dir_getattr(above, ino, ret)
			     : above->below->ops->getattr(above->below, ino, ret);
}

static int above_setattr(struct sl_tree *tree, uint64_t ino, const struct sl_setattr *set,
			 struct sl_attr *ret)
{
	struct sl_tree *below = above_of(tree)->below;

	return is_above(ino) ? -EROFS : below->ops->setattr(below, ino, set, ret);
}

static int dir_lookup(const struct above *above, uint64_t level, const char *name, uint64_t *ret_ino)
{
	const char *own;
	size_t size = name_at(above, level, &own);

	if (level >= above->levels) {
		return -ENOENT;
	}
	if (strcmp(name, ".") == 0) {
		*ret_ino = FIRST + level;
	} else if (strcmp(name, "..") == 0) {
		*ret_ino = FIRST + (level > 0 ? level - 1 : 0);
	} else if (strlen(name) == size && memcmp(name, own, size) == 0) {
		*ret_ino = ino_at(above, level + 1);
	} else {
		return -ENOENT;
	}
	return 0;
}

static int above_lookup(struct sl_tree *tree, uint64_t dir, const char *name, uint64_t *ret_ino)
{
	struct above *above = above_of(tree);

	return is_above(dir) ? dir_lookup(above, dir - FIRST, name, ret_ino)
			     : above->below->ops->lookup(above->below, dir, name, ret_ino);
}

static int above_create(struct sl_tree *tree, uint64_t dir, const char *name, enum sl_ftype type,
			const struct sl_setattr *set, uint64_t *ret_ino)
{
	struct sl_tree *below = above_of(tree)->below;

	return is_above(dir) ? -EROFS : below->ops->create(below, dir, name, type, set, ret_ino);
}

static int above_symlink(struct sl_tree *tree, uint64_t dir, const char *name, const char *target,
			 const struct sl_setattr *set, uint64_t *ret_ino)
{
	struct sl_tree *below = above_of(tree)->below;

	return is_above(dir) ? -EROFS : below->ops->symlink(below, dir, name, target, set, ret_ino);
}

static int above_readlink(struct sl_tree *tree, uint64_t ino, char ret[SL_TREE_TARGET_MAX + 1])
{
	struct sl_tree *below = above_of(tree)->below;

	return is_above(ino) ? -EINVAL : below->ops->readlink(below, ino, ret);
}

static int above_link(struct sl_tree *tree, uint64_t ino, uint64_t dir, const char *name)
{
	struct sl_tree *below = above_of(tree)->below;

	if (is_above(ino)) {
		return -EISDIR;
	}
	return is_above(dir) ? -EROFS : below->ops->link(below, ino, dir, name);
}

static int above_rename(struct sl_tree *tree, uint64_t from_dir, const char *from, uint64_t to_dir,
			const char *to)
{
	struct sl_tree *below = above_of(tree)->below;

	return is_above(from_dir) || is_above(to_dir) ? -EROFS
						      : below->ops->rename(below, from_dir, from, to_dir, to);
}

static int above_remove(struct sl_tree *tree, uint64_t dir, const char *name, enum sl_ftype type)
{
	struct sl_tree *below = above_of(tree)->below;

	return is_above(dir) ? -EROFS : below->ops->remove(below, dir, name, type);
}

static int above_read(struct sl_tree *tree, uint64_t ino, uint64_t offset, void *buf, uint32_t bytes,
		      uint32_t *ret_bytes, bool *ret_eof)
{
	struct sl_tree *below = above_of(tree)->below;

	return is_above(ino) ? -EISDIR : below->ops->read(below, ino, offset, buf, bytes, ret_bytes, ret_eof);
}

static int above_write(struct sl_tree *tree, uint64_t ino, uint64_t offset, const void *buf, uint32_t bytes,
		       enum sl_stable stable)
{
	struct sl_tree *below = above_of(tree)->below;

	return is_above(ino) ? -EISDIR : below->ops->write(below, ino, offset, buf, bytes, stable);
}

static int above_commit(struct sl_tree *tree, uint64_t ino)
{
	struct sl_tree *below = above_of(tree)->below;

	return is_above(ino) ? -EISDIR : below->ops->commit(below, ino);
}

static int above_sync_all(struct sl_tree *tree)
{
	struct sl_tree *below = above_of(tree)->below;

	return below->ops->sync_all(below);
}

static int above_settle(struct sl_tree *tree)
{
	struct sl_tree *below = above_of(tree)->below;

	return below->ops->settle(below);
}

static int above_readdir(struct sl_tree *tree, uint64_t dir, uint64_t cookie, sl_dirent_fn *fn, void *arg)
{
	struct above *above = above_of(tree);
	char name[SL_TREE_NAME_MAX + 1];
	const char *own;
	size_t size;

	if (!is_above(dir)) {
		return above->below->ops->readdir(above->below, dir, cookie, fn, arg);
	}
	if (dir - FIRST >= above->levels) {
		return -ENOENT;
	}
	if (cookie == 0) {
		size = name_at(above, dir - FIRST, &own);
		memcpy(name, own, size);
		name[size] = '\0';
		(void)fn(arg, name, ino_at(above, dir - FIRST + 1), 1);
	}
	return 0;
}

static int above_fsstat(struct sl_tree *tree, struct sl_fsstat *ret)
{
	struct sl_tree *below = above_of(tree)->below;

	return below->ops->fsstat(below, ret);
}

static void above_free(struct sl_tree *tree)
{
	free(above_of(tree));
}

static int64_t above_wall_ns(void *arg)
{
	struct sl_tree *below = arg;

	return below->wall_ns ? below->wall_ns(below->wall_arg) : 0;
}

static const struct sl_tree_ops above_ops = {
    .getattr = above_getattr,
    .setattr = above_setattr,
    .lookup = above_lookup,
    .create = above_create,
    .symlink = above_symlink,
    .readlink = above_readlink,
    .link = above_link,
    .rename = above_rename,
    .remove = above_remove,
    .read = above_read,
    .write = above_write,
    .commit = above_commit,
    .sync_all = above_sync_all,
    .settle = above_settle,
    .readdir = above_readdir,
    .fsstat = above_fsstat,
    .free = above_free,
};

struct sl_tree *sl_above_new(struct sl_tree *below, const char *export_path)
{
	size_t size = strlen(export_path) + 1;
	struct above *above = calloc(1, sizeof(*above) + size);
	const char *path, *name;

	if (!above) {
		return NULL;
	}
	memcpy(above->path, export_path, size);
	path = above->path;
	while (component(&path, &name) > 0) {
		above->levels++;
	}
	above->below = below;
	above->tree.ops = &above_ops;
	above->tree.settles = below->settles;
	above->tree.wall_ns = above_wall_ns;
	above->tree.wall_arg = below;
	return &above->tree;
}
