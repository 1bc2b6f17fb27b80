/*
 * The durable tree. DIR holds: lock (flock: one owner), key (16 random bytes: file handles stay valid across
 * restarts), journal (names, owners, times), data/ (one sparse file per inode, named by its number in hex;
 * the target of a symbolic link is the content of its file).
 *
 * Every file and symbolic link has its file in data/ from before its name is in the journal until after that
 * says it is gone: a kill in between leaves a file without a name (cleared away at the next open), and a name
 * without a file is damage. A rename is one record, with what it replaces. Numbers and cookies are never
 * given out twice, so that readdir can go on where it was. Sizes and modification times of files are those of
 * the files themselves: a write needs no journal record.
 *
 * Not kept: access times of reads.
 *
 * Durable on the host too: changes go to the kernel as ever, and settle() puts all that came since the last
 * one on the disk, so that calls in service together share the wait. Only bytes that a change of names sets
 * free wait for the journal at once, and the journal for what a new name will lead to: the name of its file
 * in data/, and the target of a symbolic link.
 */
#include "sim/datastore/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "sim/base/clock.h"
#include "sim/datastore/filedata.h"
#include "sim/datastore/folder.h"
#include "sim/datastore/names.h"
#include "sim/datastore/recover.h"

#define DIR_BYTES 4096u /* what a folder says of its size */

struct files {
	struct sl_tree tree;
	struct sl_folder folder;
	struct sl_names names;
	struct sl_filedata data;
	struct sl_files_syncs syncs;
	struct sl_notice notice;
	int failure; /* the first time that the host's disk failed; 0: never */
};

static struct files *files_of(struct sl_tree *tree)
{
	return sl_container_of(tree, struct files, tree);
}

static struct sl_file *file_of(struct sl_inode *inode)
{
	return sl_container_of(inode, struct sl_file, base);
}

static int64_t files_now(const struct files *files)
{
	return files->tree.wall_ns ? files->tree.wall_ns(files->tree.wall_arg) : 0;
}

static int reg_get(const struct files *files, uint64_t ino, struct sl_file **ret)
{
	struct sl_inode *inode = sl_inodes_get(&files->names.inodes, ino);

	if (!inode) {
		return -ESTALE;
	}
	*ret = file_of(inode);
	return inode->type == SL_FT_REG ? 0 : inode->type == SL_FT_DIR ? -EISDIR : -EINVAL;
}

static void attr_from(struct sl_inode *inode, struct sl_attr *ret)
{
	bool dir = inode->type == SL_FT_DIR;

	*ret = (struct sl_attr){
	    .type = inode->type,
	    .mode = inode->mode,
	    .nlink = inode->nlink,
	    .uid = inode->uid,
	    .gid = inode->gid,
	    .size_bytes = dir ? DIR_BYTES : file_of(inode)->size_bytes,
	    .used_bytes = dir ? DIR_BYTES : sl_filedata_used(file_of(inode)),
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
	meta->mode = set->mask & SL_SET_MODE ? set->mode & 07777 : meta->mode;
	meta->uid = set->mask & SL_SET_UID ? set->uid : meta->uid;
	meta->gid = set->mask & SL_SET_GID ? set->gid : meta->gid;
	meta->atime_ns = set->mask & SL_SET_ATIME ? set->atime_ns : meta->atime_ns;
	meta->mtime_ns = set->mask & SL_SET_MTIME ? set->mtime_ns : meta->mtime_ns;
}

/* Errors that no client can mend, and that none of them can tell the operator. */
static bool is_failure(int rc)
{
	return rc == -EIO || rc == -EROFS || rc == -ENXIO || rc == -ENODEV || rc == -EBADF;
}

/* Says once that the host's disk fails: clients only get errors, and write to it again and again. Returns rc.
 */
static int noted(struct files *files, int rc, const char *what)
{
	if (rc < 0 && is_failure(rc) && files->failure == 0) {
		files->failure = rc;
		sl_notice_say(
		    &files->notice,
		    "%s: %s: the disk below fails; clients get errors from now on: stop the server, look at "
		    "the disk, then start it again",
		    what, strerror(-rc));
	}
	return rc;
}

/* With `host_durable`: what has come together since the last time goes to the host's disk. */
static int files_settle(struct sl_tree *tree)
{
	struct files *files = files_of(tree);
	bool needed = sl_filedata_unsynced(&files->data) || files->names.journal.unsynced;
	int64_t start_ns = needed ? sl_clock_ns() : 0;
	int rc = sl_filedata_sync(&files->data);

	rc = rc ? rc : sl_journal_sync(&files->names.journal);
	if (needed) {
		files->syncs.count++;
		files->syncs.time_ns += sl_clock_ns() - start_ns;
	}
	return noted(files, rc, "fdatasync");
}

/* With `host_durable`: a new file's name in data/ is on the disk before the journal has its record, which the
 * kernel may write before it is asked to. A name there without data would be damage. */
static int name_settle(struct files *files)
{
	bool needed = files->data.unsynced_names;
	int64_t start_ns = needed ? sl_clock_ns() : 0;
	int rc = sl_filedata_sync_names(&files->data);

	files->syncs.time_ns += needed ? sl_clock_ns() - start_ns : 0;
	return noted(files, rc, "fsync");
}

/* Logs and does one change; forgets the file that lost its last name by it. The journal must say so on the
 * disk too before the bytes go: nobody has heard yet that the change is done. */
static int files_change(struct files *files, const struct sl_meta *meta)
{
	struct sl_inode *gone = NULL;
	int rc = sl_names_log(&files->names, meta);

	if (rc == 0) {
		rc = sl_names_apply(&files->names, meta, &gone);
		if (rc) {
			/* Out of memory. A record of what has not happened would contradict the next one. */
			sl_journal_undo(&files->names.journal);
		}
	}
	if (gone) {
		bool settled = !files->tree.settles || files_settle(&files->tree) == 0;

		sl_filedata_forget(&files->data, file_of(gone), settled);
		sl_inodes_drop(&files->names.inodes, gone);
	}
	if (rc == 0) {
		sl_names_compact(&files->names);
	}
	return noted(files, rc, "journal");
}

static int size_check(enum sl_ftype type, const struct sl_setattr *set)
{
	if (!(set->mask & SL_SET_SIZE)) {
		return 0;
	}
	if (type != SL_FT_REG) {
		return type == SL_FT_DIR ? -EISDIR : -EINVAL;
	}
	return set->size_bytes > INT64_MAX ? -EFBIG : 0;
}

static int files_setattr(struct sl_tree *tree, uint64_t ino, const struct sl_setattr *set,
			 struct sl_attr *ret)
{
	struct files *files = files_of(tree);
	struct sl_inode *inode = sl_inodes_get(&files->names.inodes, ino);
	struct sl_meta meta;
	int rc = inode ? size_check(inode->type, set) : -ESTALE;

	if (rc == 0 && (set->mask & SL_SET_SIZE)) {
		rc = sl_filedata_truncate(&files->data, file_of(inode), set->size_bytes);
		inode->mtime_ns = rc ? inode->mtime_ns : files_now(files);
	}
	if (rc) {
		return rc;
	}
	sl_names_meta(inode, SL_META_ATTR, &meta);
	meta_set(&meta, set);
	meta.ctime_ns = files_now(files);
	rc = files_change(files, &meta);
	if (rc == 0 && inode->type == SL_FT_REG && (set->mask & SL_SET_MTIME)) {
		rc = sl_filedata_set_mtime(&files->data, file_of(inode));
	}
	if (ret) {
		attr_from(inode, ret);
	}
	return rc;
}

static int files_lookup(struct sl_tree *tree, uint64_t dir, const char *name, uint64_t *ret_ino)
{
	struct sl_inode *inode;
	int rc = sl_inodes_find(&files_of(tree)->names.inodes, dir, name, &inode);

	if (rc == 0) {
		*ret_ino = inode->ino;
	}
	return rc;
}

/* The record of a new inode at a new name. */
static int create_plan(const struct files *files, uint64_t dir_ino, const char *name, enum sl_ftype type,
		       const struct sl_setattr *set, struct sl_meta *ret)
{
	struct sl_inode *dir;
	int rc = sl_inodes_may_create(&files->names.inodes, dir_ino, name, &dir);

	if (rc == 0 && files->names.inodes.entry_count >= SL_NAMES_MAX) {
		rc = -ENOSPC;
	}
	if (rc) {
		return rc;
	}
	*ret = (struct sl_meta){
	    .kind = SL_META_CREATE,
	    .type = (uint8_t)type,
	    .mode = type == SL_FT_DIR   ? 0755
		    : type == SL_FT_LNK ? 0777
					: 0644,
	    .ino = files->names.next_number,
	    .generation = files->names.next_number,
	    .parent = dir->ino,
	    .cookie = files->names.next_number,
	    .ctime_ns = files_now(files),
	};
	ret->mtime_ns = ret->ctime_ns;
	ret->atime_ns = ret->ctime_ns;
	memcpy(ret->name, name, strlen(name) + 1);
	if (set) {
		meta_set(ret, set);
		rc = size_check(type, set);
	}
	return rc;
}

static int files_create(struct sl_tree *tree, uint64_t dir_ino, const char *name, enum sl_ftype type,
			const struct sl_setattr *set, uint64_t *ret_ino)
{
	struct files *files = files_of(tree);
	struct sl_file made = {.base = {.ino = files->names.next_number, .type = type}};
	struct sl_meta meta;
	struct sl_file *file;
	int rc = create_plan(files, dir_ino, name, type, set, &meta);

	if (rc == 0 && type == SL_FT_REG) {
		rc = sl_filedata_make(&files->data, &made);
		sl_filedata_forget(&files->data, &made, false);
		rc = rc ? rc : name_settle(files);
	}
	rc = rc ? rc : files_change(files, &meta);
	if (rc) {
		sl_filedata_forget(&files->data, &made, true);
		return rc;
	}
	*ret_ino = meta.ino;
	file = file_of(sl_inodes_get(&files->names.inodes, meta.ino));
	file->named = made.named;
	if (set && (set->mask & SL_SET_SIZE) && set->size_bytes > 0) {
		rc = sl_filedata_truncate(&files->data, file, set->size_bytes);
	}
	/* The verifier of an exclusive create lives in the times. */
	if (rc == 0 && set && (set->mask & SL_SET_MTIME) && type == SL_FT_REG) {
		rc = sl_filedata_set_mtime(&files->data, file);
	}
	return rc;
}

static int files_symlink(struct sl_tree *tree, uint64_t dir_ino, const char *name, const char *target,
			 const struct sl_setattr *set, uint64_t *ret_ino)
{
	struct files *files = files_of(tree);
	struct sl_file link = {.base = {.ino = files->names.next_number, .type = SL_FT_LNK}};
	size_t size = strlen(target);
	struct sl_meta meta;
	struct sl_file *file;
	int rc = create_plan(files, dir_ino, name, SL_FT_LNK, set, &meta);

	if (rc == 0 && (size == 0 || size > SL_TREE_TARGET_MAX)) {
		rc = size == 0 ? -EINVAL : -ENAMETOOLONG;
	}
	if (rc) {
		return rc;
	}
	rc = sl_filedata_write(&files->data, &link, 0, target, (uint32_t)size, true);
	sl_filedata_forget(&files->data, &link, rc != 0);
	rc = rc ? rc : files_change(files, &meta);
	if (rc) {
		sl_filedata_forget(&files->data, &link, true);
		return rc;
	}
	file = file_of(sl_inodes_get(&files->names.inodes, meta.ino));
	file->size_bytes = link.size_bytes;
	file->used_bytes = link.used_bytes;
	file->named = true;
	*ret_ino = meta.ino;
	return 0;
}

static int files_readlink(struct sl_tree *tree, uint64_t ino, char ret[SL_TREE_TARGET_MAX + 1])
{
	struct files *files = files_of(tree);
	struct sl_inode *inode = sl_inodes_get(&files->names.inodes, ino);
	uint32_t got = 0;
	int rc;

	if (!inode || inode->type != SL_FT_LNK) {
		return inode ? -EINVAL : -ESTALE;
	}
	rc = sl_filedata_read(&files->data, file_of(inode), 0, ret, SL_TREE_TARGET_MAX, &got);
	ret[got] = '\0';
	return rc;
}

static int files_link(struct sl_tree *tree, uint64_t ino, uint64_t dir_ino, const char *name)
{
	struct files *files = files_of(tree);
	struct sl_inode *inode, *dir;
	struct sl_meta meta = {.kind = SL_META_LINK, .ino = ino, .parent = dir_ino};
	int rc = sl_inodes_may_link(&files->names.inodes, ino, dir_ino, name, &inode, &dir);

	if (rc == 0 && files->names.inodes.entry_count >= SL_NAMES_MAX) {
		rc = -ENOSPC;
	}
	if (rc) {
		return rc;
	}
	meta.cookie = files->names.next_number;
	meta.ctime_ns = files_now(files);
	memcpy(meta.name, name, strlen(name) + 1);
	return files_change(files, &meta);
}

static int files_rename(struct sl_tree *tree, uint64_t from_dir, const char *from, uint64_t to_dir,
			const char *to)
{
	struct files *files = files_of(tree);
	struct sl_meta meta = {.kind = SL_META_RENAME, .from_parent = from_dir, .parent = to_dir};
	struct sl_rename plan;
	int rc = sl_inodes_may_rename(&files->names.inodes, from_dir, from, to_dir, to, &plan);

	if (rc || plan.nothing) {
		return rc;
	}
	meta.cookie = files->names.next_number;
	meta.ctime_ns = files_now(files);
	memcpy(meta.from, from, strlen(from) + 1);
	memcpy(meta.name, to, strlen(to) + 1);
	return files_change(files, &meta);
}

static int files_remove(struct sl_tree *tree, uint64_t dir_ino, const char *name, enum sl_ftype type)
{
	struct files *files = files_of(tree);
	struct sl_meta meta = {.kind = SL_META_UNLINK, .parent = dir_ino};
	struct sl_entry *entry;
	int rc = sl_inodes_may_remove(&files->names.inodes, dir_ino, name, type, &entry);

	if (rc) {
		return rc;
	}
	meta.ctime_ns = files_now(files);
	memcpy(meta.name, name, strlen(name) + 1);
	return files_change(files, &meta);
}

/* NOLINTNEXTLINE(readability-function-size): the seam has seven parameters */
static int files_read(struct sl_tree *tree, uint64_t ino, uint64_t offset, void *buf, uint32_t bytes,
		      uint32_t *ret_bytes, bool *ret_eof)
{
	struct files *files = files_of(tree);
	struct sl_file *file;
	int rc = reg_get(files, ino, &file);

	rc = rc ? rc : sl_filedata_read(&files->data, file, offset, buf, bytes, ret_bytes);
	if (rc) {
		return noted(files, rc, "data");
	}
	*ret_eof = offset >= file->size_bytes || *ret_bytes >= file->size_bytes - offset;
	return 0;
}

static int files_write(struct sl_tree *tree, uint64_t ino, uint64_t offset, const void *buf, uint32_t bytes,
		       enum sl_stable stable)
{
	struct files *files = files_of(tree);
	struct sl_file *file;
	int rc = reg_get(files, ino, &file);

	rc = rc ? rc : sl_filedata_write(&files->data, file, offset, buf, bytes, stable != SL_UNSTABLE);
	if (rc) {
		return noted(files, rc, "data");
	}
	file->base.mtime_ns = files_now(files);
	file->base.ctime_ns = file->base.mtime_ns;
	return 0;
}

static int files_commit(struct sl_tree *tree, uint64_t ino)
{
	struct files *files = files_of(tree);
	struct sl_file *file;
	int rc = reg_get(files, ino, &file);

	return rc ? rc : noted(files, sl_filedata_commit(&files->data, file), "data");
}

static int files_sync_all(struct sl_tree *tree)
{
	struct files *files = files_of(tree);
	int rc = sl_filedata_commit_all(&files->data);

	/* Whatever it is: nobody else hears that this data is nowhere but in memory. */
	if (rc < 0 && !is_failure(rc) && files->failure == 0) {
		sl_notice_say(&files->notice, "unstable data cannot be written: %s", strerror(-rc));
	}
	return noted(files, rc, "data");
}

static int files_readdir(struct sl_tree *tree, uint64_t dir_ino, uint64_t cookie, sl_dirent_fn *fn, void *arg)
{
	struct files *files = files_of(tree);
	struct sl_inode *dir;
	int rc = sl_inodes_dir(&files->names.inodes, dir_ino, &dir);

	if (rc) {
		return rc;
	}
	for (struct sl_entry *entry = sl_inodes_after(&files->names.inodes, dir, cookie); entry;
	     entry = entry->next) {
		if (!fn(arg, entry->name, entry->inode->ino, entry->cookie)) {
			break;
		}
	}
	return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Of the modelled pool, as zfs list and df say it: what is used and what is still free. The host may have
 * less. */
static int files_fsstat(struct sl_tree *tree, struct sl_fsstat *ret)
{
	struct files *files = files_of(tree);
	struct statvfs st;

	if (fstatvfs(files->folder.datafd, &st) < 0) {
		return -errno;
	}
	ret->total_bytes = (uint64_t)st.f_blocks * st.f_frsize;
	ret->free_bytes = (uint64_t)st.f_bavail * st.f_frsize;
	if (files->data.capacity_bytes > 0) {
		ret->free_bytes = least(ret->free_bytes, sl_filedata_free(&files->data));
		ret->total_bytes = files->data.used_bytes + files->data.dirty_bytes + ret->free_bytes;
	}
	ret->total_files = SL_NAMES_MAX;
	ret->free_files = SL_NAMES_MAX - least(SL_NAMES_MAX, files->names.inodes.entry_count);
	return 0;
}

static int inode_close(void *arg, struct sl_inode *inode)
{
	sl_filedata_forget(arg, file_of(inode), false);
	return 0;
}

/* Accepts a tree that was only partly opened. */
static void files_free(struct sl_tree *tree)
{
	struct files *files = files_of(tree);

	if (files->tree.settles) {
		(void)files_settle(tree);
	}
	(void)sl_inodes_each(&files->names.inodes, inode_close, &files->data);
	sl_names_close(&files->names);
	sl_folder_close(&files->folder);
	free(files);
}

static const struct sl_tree_ops files_ops = {
    .getattr = files_getattr,
    .setattr = files_setattr,
    .lookup = files_lookup,
    .create = files_create,
    .symlink = files_symlink,
    .readlink = files_readlink,
    .link = files_link,
    .rename = files_rename,
    .remove = files_remove,
    .read = files_read,
    .write = files_write,
    .commit = files_commit,
    .sync_all = files_sync_all,
    .settle = files_settle,
    .readdir = files_readdir,
    .fsstat = files_fsstat,
    .free = files_free,
};

int sl_files_open(const struct sl_files_options *options, struct sl_tree **ret, struct sl_err *err)
{
	struct files *files = calloc(1, sizeof(*files));
	int rc;

	if (!files) {
		return sl_err_set(err, -ENOMEM, "%s: out of memory", options->dir);
	}
	files->tree.ops = &files_ops;
	rc = sl_folder_open(&files->folder, options->dir, err);
	files->names.dirfd = files->folder.dirfd;
	files->names.progress = options->progress;
	files->names.progress_arg = options->progress_arg;
	files->notice = options->notice;
	files->names.notice = &files->notice;
	files->names.durable = options->host_durable;
	rc = rc ? rc : sl_names_open(&files->names, sizeof(struct sl_file), err);
	/* Of a first start that was killed there is a journal that names nothing yet. */
	rc = rc ? rc
		: sl_folder_key(&files->folder, files->names.journal.records <= SL_NAMES_START_RECORDS,
				options->host_durable, &files->notice, err);
	if (rc) {
		files_free(&files->tree);
		return sl_err_wrap(err, "%s", options->dir);
	}
	files->data.dirfd = files->folder.datafd;
	files->data.dirty_max_bytes = options->dirty_max_bytes;
	files->data.capacity_bytes = options->capacity_bytes;
	files->data.durable = options->host_durable;
	files->data.undo = options->undo;
	files->tree.settles = options->host_durable;
	rc = sl_recover(&files->folder, &files->names, &files->data, err);
	if (rc) {
		files_free(&files->tree);
		return sl_err_wrap(err, "%s", options->dir);
	}
	*ret = &files->tree;
	return 0;
}

void sl_files_key(struct sl_tree *tree, uint8_t ret[16])
{
	memcpy(ret, files_of(tree)->folder.key, sizeof(files_of(tree)->folder.key));
}

struct sl_files_syncs sl_files_syncs(struct sl_tree *tree)
{
	return files_of(tree)->syncs;
}

int sl_files_sync_cost(struct sl_tree *tree, int64_t *ret_ns)
{
	return sl_filedata_sync_cost(&files_of(tree)->data, ret_ns);
}

int sl_files_failure(struct sl_tree *tree)
{
	return files_of(tree)->failure;
}

int sl_files_roll_back(struct sl_tree *tree, bool (*is_gone)(void *arg, uint32_t id), void *arg)
{
	return sl_filedata_roll_back(&files_of(tree)->data, is_gone, arg);
}
