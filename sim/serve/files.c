/*
 * The durable tree. DIR holds: lock (flock: one owner), key (16 random bytes: file handles stay valid across
 * restarts), journal (names, owners, times), data/ (one sparse file per inode, named by its number in hex).
 *
 * A change of names is in the journal before it shows in data/: a kill in between leaves either a name
 * without a file (an empty file, made at its first use) or a file without a name (cleared away at the next
 * open). Numbers are never given out twice, so they serve as readdir cookies too. Sizes and modification
 * times of files are those of the files themselves: a write needs no journal record.
 *
 * Not kept: access times of reads. Not supported yet: rename, links.
 */
#include "sim/serve/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sim/serve/datastore.h"
#include "sim/serve/filedata.h"
#include "sim/serve/names.h"
#include "sim/store/tree.h"

struct files {
	struct sl_tree tree;
	int dirfd, datafd, lockfd;
	struct sl_names names;
	struct sl_filedata data;
	uint8_t key[16];
};

static struct files *files_of(struct sl_tree *tree)
{
	return sl_container_of(tree, struct files, tree);
}

static int64_t files_now(const struct files *files)
{
	return files->tree.wall_ns ? files->tree.wall_ns(files->tree.wall_arg) : 0;
}

static int name_check(const char *name)
{
	size_t size = strlen(name);

	if (size > SL_TREE_NAME_MAX) {
		return -ENAMETOOLONG;
	}
	return size == 0 || strchr(name, '/') ? -EINVAL : 0;
}

static int dir_get(const struct files *files, uint64_t ino, struct sl_inode **ret)
{
	*ret = sl_inodes_get(&files->names.inodes, ino);
	if (!*ret) {
		return -ESTALE;
	}
	return (*ret)->type == SL_FT_DIR ? 0 : -ENOTDIR;
}

static int reg_get(const struct files *files, uint64_t ino, struct sl_inode **ret)
{
	*ret = sl_inodes_get(&files->names.inodes, ino);
	if (!*ret) {
		return -ESTALE;
	}
	return (*ret)->type == SL_FT_REG ? 0 : -EISDIR;
}

static void attr_from(struct sl_inode *inode, struct sl_attr *ret)
{
	bool dir = inode->type == SL_FT_DIR;

	*ret = (struct sl_attr){
	    .type = inode->type,
	    .mode = inode->mode,
	    .nlink = dir ? 2 + inode->subdirs : 1,
	    .uid = inode->uid,
	    .gid = inode->gid,
	    .size_bytes = dir ? 4096 : inode->size_bytes,
	    .used_bytes = dir ? 4096 : sl_filedata_used(inode),
	    .ino = inode->ino,
	    .generation = inode->generation,
	    .atime_ns = inode->atime_ns,
	    .mtime_ns = inode->mtime_ns,
	    .ctime_ns = inode->ctime_ns,
	};
}

static int files_getattr(struct sl_tree *tree, uint64_t ino, struct sl_attr *ret)
{
	struct sl_inode *inode = sl_inodes_get(&files_of(tree)->names.inodes, ino);

	if (!inode) {
		return -ESTALE;
	}
	attr_from(inode, ret);
	return 0;
}

static void meta_set(struct sl_meta *meta, const struct sl_setattr *set)
{
	if (set->mask & SL_SET_MODE) {
		meta->mode = set->mode & 07777;
	}
	if (set->mask & SL_SET_UID) {
		meta->uid = set->uid;
	}
	if (set->mask & SL_SET_GID) {
		meta->gid = set->gid;
	}
	if (set->mask & SL_SET_ATIME) {
		meta->atime_ns = set->atime_ns;
	}
	if (set->mask & SL_SET_MTIME) {
		meta->mtime_ns = set->mtime_ns;
	}
}

static int files_setattr(struct sl_tree *tree, uint64_t ino, const struct sl_setattr *set,
			 struct sl_attr *ret)
{
	struct files *files = files_of(tree);
	struct sl_inode *inode = sl_inodes_get(&files->names.inodes, ino);
	struct sl_meta meta;
	int rc = 0;

	if (!inode) {
		return -ESTALE;
	}
	if (set->mask & SL_SET_SIZE) {
		if (inode->type == SL_FT_DIR) {
			return -EISDIR;
		}
		rc = sl_filedata_truncate(&files->data, inode, set->size_bytes);
		if (rc) {
			return rc;
		}
		inode->mtime_ns = files_now(files);
	}
	sl_names_meta(inode, SL_META_ATTR, &meta);
	meta_set(&meta, set);
	meta.ctime_ns = files_now(files);
	rc = sl_names_log(&files->names, &meta);
	if (rc) {
		return rc;
	}
	(void)sl_names_apply(&files->names, &meta); /* cannot fail: the inode is there */
	if (inode->type == SL_FT_REG && (set->mask & SL_SET_MTIME)) {
		rc = sl_filedata_set_mtime(&files->data, inode);
	}
	sl_names_compact(&files->names);
	if (ret) {
		attr_from(inode, ret);
	}
	return rc;
}

static int files_lookup(struct sl_tree *tree, uint64_t dir_ino, const char *name, uint64_t *ret_ino)
{
	struct files *files = files_of(tree);
	struct sl_inode *dir, *inode;
	int rc = dir_get(files, dir_ino, &dir);

	rc = rc ? rc : name_check(name);
	if (rc) {
		return rc;
	}
	if (strcmp(name, ".") == 0) {
		inode = dir;
	} else if (strcmp(name, "..") == 0) {
		inode = dir->parent;
	} else {
		inode = sl_inodes_lookup(&files->names.inodes, dir, name);
	}
	if (!inode) {
		return -ENOENT;
	}
	*ret_ino = inode->ino;
	return 0;
}

static int files_create(struct sl_tree *tree, uint64_t dir_ino, const char *name, enum sl_ftype type,
			const struct sl_setattr *set, uint64_t *ret_ino)
{
	struct files *files = files_of(tree);
	struct sl_meta meta = {
	    .kind = SL_META_CREATE, .type = (uint8_t)type, .mode = type == SL_FT_DIR ? 0755 : 0644};
	struct sl_inode *dir;
	uint64_t found;
	int rc = files_lookup(tree, dir_ino, name, &found);

	if (rc != -ENOENT) {
		return rc ? rc : -EEXIST;
	}
	if (files->names.inodes.count >= SL_NAMES_MAX) {
		return -ENOSPC;
	}
	dir = sl_inodes_get(&files->names.inodes, dir_ino);
	meta.ino = files->names.next_ino;
	meta.generation = files->names.next_ino;
	meta.parent = dir->ino;
	meta.ctime_ns = files_now(files);
	meta.mtime_ns = meta.ctime_ns;
	meta.atime_ns = meta.ctime_ns;
	memcpy(meta.name, name, strlen(name) + 1);
	meta_set(&meta, set);
	rc = sl_names_log(&files->names, &meta);
	rc = rc ? rc : sl_names_apply(&files->names, &meta);
	if (rc) {
		return rc;
	}
	if (type == SL_FT_REG && (set->mask & SL_SET_SIZE) && set->size_bytes > 0) {
		rc = sl_filedata_truncate(&files->data, sl_inodes_get(&files->names.inodes, meta.ino),
					  set->size_bytes);
	}
	sl_names_compact(&files->names);
	*ret_ino = meta.ino;
	return rc;
}

static int files_remove(struct sl_tree *tree, uint64_t dir_ino, const char *name, enum sl_ftype type)
{
	struct files *files = files_of(tree);
	struct sl_meta meta = {.kind = SL_META_REMOVE};
	struct sl_inode *dir, *inode;
	int rc = dir_get(files, dir_ino, &dir);

	rc = rc ? rc : name_check(name);
	if (rc) {
		return rc;
	}
	inode = sl_inodes_lookup(&files->names.inodes, dir, name);
	if (!inode) {
		return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? -EINVAL : -ENOENT;
	}
	if (inode->type != type) {
		return type == SL_FT_DIR ? -ENOTDIR : -EISDIR;
	}
	if (inode->first) {
		return -ENOTEMPTY;
	}
	meta.ino = inode->ino;
	meta.ctime_ns = files_now(files);
	rc = sl_names_log(&files->names, &meta);
	if (rc) {
		return rc;
	}
	sl_filedata_forget(&files->data, inode, true);
	(void)sl_names_apply(&files->names, &meta); /* cannot fail: the inode is there and childless */
	sl_names_compact(&files->names);
	return 0;
}

/* NOLINTNEXTLINE(readability-function-size): the seam has seven parameters */
static int files_read(struct sl_tree *tree, uint64_t ino, uint64_t offset, void *buf, uint32_t bytes,
		      uint32_t *ret_bytes, bool *ret_eof)
{
	struct files *files = files_of(tree);
	struct sl_inode *inode;
	int rc = reg_get(files, ino, &inode);

	rc = rc ? rc : sl_filedata_read(&files->data, inode, offset, buf, bytes, ret_bytes);
	if (rc) {
		return rc;
	}
	*ret_eof = offset >= inode->size_bytes || *ret_bytes >= inode->size_bytes - offset;
	return 0;
}

static int files_write(struct sl_tree *tree, uint64_t ino, uint64_t offset, const void *buf, uint32_t bytes,
		       enum sl_stable stable)
{
	struct files *files = files_of(tree);
	struct sl_inode *inode;
	int rc = reg_get(files, ino, &inode);

	rc = rc ? rc : sl_filedata_write(&files->data, inode, offset, buf, bytes, stable != SL_UNSTABLE);
	if (rc) {
		return rc;
	}
	inode->mtime_ns = files_now(files);
	inode->ctime_ns = inode->mtime_ns;
	return 0;
}

static int files_commit(struct sl_tree *tree, uint64_t ino)
{
	struct files *files = files_of(tree);
	struct sl_inode *inode;
	int rc = reg_get(files, ino, &inode);

	return rc ? rc : sl_filedata_commit(&files->data, inode);
}

static int files_sync_all(struct sl_tree *tree)
{
	return sl_filedata_commit_all(&files_of(tree)->data);
}

static int files_readdir(struct sl_tree *tree, uint64_t dir_ino, uint64_t cookie, sl_dirent_fn *fn, void *arg)
{
	struct files *files = files_of(tree);
	struct sl_inode *dir;
	int rc = dir_get(files, dir_ino, &dir);

	if (rc) {
		return rc;
	}
	for (struct sl_inode *inode = sl_inodes_after(&files->names.inodes, dir, cookie); inode;
	     inode = inode->next) {
		if (!fn(arg, inode->name, inode->ino, inode->ino)) {
			break;
		}
	}
	return 0;
}

static int files_fsstat(struct sl_tree *tree, struct sl_fsstat *ret)
{
	struct files *files = files_of(tree);
	struct statvfs st;

	if (fstatvfs(files->datafd, &st) < 0) {
		return -errno;
	}
	ret->total_bytes = (uint64_t)st.f_blocks * st.f_frsize;
	ret->free_bytes = (uint64_t)st.f_bavail * st.f_frsize;
	ret->total_files = SL_NAMES_MAX;
	ret->free_files = SL_NAMES_MAX - files->names.inodes.count;
	return 0;
}

static int inode_close(void *arg, struct sl_inode *inode)
{
	sl_filedata_forget(arg, inode, false);
	return 0;
}

static void fd_drop(int fd)
{
	if (fd >= 0) {
		close(fd);
	}
}

/* Accepts a tree that was only partly opened. */
static void files_free(struct sl_tree *tree)
{
	struct files *files = files_of(tree);

	if (files->names.inodes.bucket_count > 0) {
		(void)sl_inodes_walk(&files->names.inodes, inode_close, &files->data);
	}
	sl_names_close(&files->names);
	fd_drop(files->datafd);
	fd_drop(files->dirfd);
	fd_drop(files->lockfd); /* last: it guards all the others */
	free(files);
}

static const struct sl_tree_ops files_ops = {
    .getattr = files_getattr,
    .setattr = files_setattr,
    .lookup = files_lookup,
    .create = files_create,
    .remove = files_remove,
    .read = files_read,
    .write = files_write,
    .commit = files_commit,
    .sync_all = files_sync_all,
    .readdir = files_readdir,
    .fsstat = files_fsstat,
    .free = files_free,
};

/* Only an empty folder may become a datastore: its files would be cleared away as orphans. */
static int dir_check_empty(int dirfd, struct sl_err *err)
{
	static const char *const ours[] = {".", "..", "lock", "key", "key.new", "data", "journal.new"};
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	int rc = 0;

	if (!dir) {
		rc = -errno;
		fd_drop(fd);
		return sl_err_set(err, rc, "cannot list: %s", strerror(-rc));
	}
	while (rc == 0 && (entry = readdir(dir))) {
		bool known = false;

		for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
			known = known || strcmp(entry->d_name, ours[i]) == 0;
		}
		if (!known) {
			rc = sl_err_set(
			    err, -ENOTEMPTY,
			    "not empty (\"%.60s\") and not a datastore; name a new or an empty folder",
			    entry->d_name);
		}
	}
	closedir(dir);
	return rc;
}

static int dir_open(struct files *files, const char *path, struct sl_err *err)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		return sl_err_set(err, -errno, "cannot create the folder: %s", strerror(errno));
	}
	files->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files->dirfd < 0) {
		return sl_err_set(err, -errno, "cannot open the folder: %s", strerror(errno));
	}
	/* Before anything is written into a folder that may be somebody else's. */
	if (faccessat(files->dirfd, "journal", F_OK, 0) < 0) {
		int rc = dir_check_empty(files->dirfd, err);

		if (rc) {
			return rc;
		}
	}
	files->lockfd = openat(files->dirfd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (files->lockfd < 0) {
		return sl_err_set(err, -errno, "lock: cannot open: %s", strerror(errno));
	}
	if (flock(files->lockfd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK) {
			return sl_err_set(err, -errno, "lock: %s", strerror(errno));
		}
		return sl_err_set(err, -EBUSY,
				  "already in use by another server; stop that one or name another folder");
	}
	if (mkdirat(files->dirfd, "data", 0700) < 0 && errno != EEXIST) {
		return sl_err_set(err, -errno, "data: cannot create: %s", strerror(errno));
	}
	files->datafd = openat(files->dirfd, "data", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files->datafd < 0) {
		return sl_err_set(err, -errno, "data: cannot open: %s", strerror(errno));
	}
	return 0;
}

/* Reads the key, or draws one. It gets its name when it is whole, so a kill leaves no short key. */
static int key_open(struct files *files, struct sl_err *err)
{
	int fd = openat(files->dirfd, "key", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd >= 0) {
		got = read(fd, files->key, sizeof(files->key));
		close(fd);
		return got == (ssize_t)sizeof(files->key)
			   ? 0
			   : sl_err_set(err, -EINVAL, "key: not 16 bytes; restore the folder from a copy");
	}
	if (errno != ENOENT) {
		return sl_err_set(err, -errno, "key: cannot open: %s", strerror(errno));
	}
	if (getrandom(files->key, sizeof(files->key), 0) != (ssize_t)sizeof(files->key)) {
		return sl_err_set(err, -EIO, "no random numbers");
	}
	fd = openat(files->dirfd, "key.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	got = fd < 0 ? -1 : write(fd, files->key, sizeof(files->key));
	fd_drop(fd);
	if (got != (ssize_t)sizeof(files->key) ||
	    renameat(files->dirfd, "key.new", files->dirfd, "key") < 0) {
		return sl_err_set(err, -EIO, "key: cannot write: %s", strerror(errno));
	}
	return 0;
}

static int inode_load(void *arg, struct sl_inode *inode)
{
	return inode->type == SL_FT_REG ? sl_filedata_load(arg, inode) : 0;
}

/* Files whose removal was journalled but not done. */
static int orphans_clear(struct files *files)
{
	int fd = openat(files->datafd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir) {
		int rc = -errno;

		fd_drop(fd);
		return rc;
	}
	while ((entry = readdir(dir))) {
		char name[SL_FILEDATA_NAME_BYTES];
		uint64_t ino = strtoull(entry->d_name, NULL, 16);
		struct sl_inode *inode = sl_inodes_get(&files->names.inodes, ino);

		sl_filedata_name(ino, name);
		if (strcmp(entry->d_name, name) == 0 && (!inode || inode->type != SL_FT_REG)) {
			(void)unlinkat(files->datafd, name, 0);
		}
	}
	closedir(dir);
	return 0;
}

int sl_files_open(const char *dir, uint64_t dirty_max_bytes, struct sl_tree **ret, struct sl_err *err)
{
	struct files *files = calloc(1, sizeof(*files));
	int rc;

	if (!files) {
		return sl_err_set(err, -ENOMEM, "%s: out of memory", dir);
	}
	files->tree.ops = &files_ops;
	files->dirfd = files->datafd = files->lockfd = -1;
	rc = dir_open(files, dir, err);
	rc = rc ? rc : key_open(files, err);
	rc = rc ? rc : sl_names_open(&files->names, files->dirfd, err);
	if (rc) {
		files_free(&files->tree);
		return sl_err_wrap(err, "%s", dir);
	}
	files->data.dirfd = files->datafd;
	files->data.dirty_max_bytes = dirty_max_bytes;
	rc = orphans_clear(files);
	rc = rc ? rc : sl_inodes_walk(&files->names.inodes, inode_load, &files->data);
	if (rc) {
		files_free(&files->tree);
		return sl_err_set(err, rc, "%s: data: %s", dir, strerror(-rc));
	}
	*ret = &files->tree;
	return 0;
}

void sl_files_key(struct sl_tree *tree, uint8_t ret[16])
{
	memcpy(ret, files_of(tree)->key, sizeof(files_of(tree)->key));
}
