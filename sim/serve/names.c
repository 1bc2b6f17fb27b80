#include "sim/serve/names.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NAMES_COMPACT_MIN 10000u /* records before a snapshot is worth its while */
#define NAMES_COMPACT_RATIO 4u   /* records per inode */

static void inode_take(struct sl_inode *inode, const struct sl_meta *meta)
{
	inode->mode = meta->mode;
	inode->uid = meta->uid;
	inode->gid = meta->gid;
	inode->atime_ns = meta->atime_ns;
	inode->mtime_ns = meta->mtime_ns;
	inode->ctime_ns = meta->ctime_ns;
}

static void parent_touch(struct sl_inode *parent, int64_t now_ns)
{
	parent->mtime_ns = now_ns;
	parent->ctime_ns = now_ns;
}

static int replay_create(struct sl_names *names, const struct sl_meta *meta)
{
	struct sl_inode *parent = sl_inodes_get(&names->inodes, meta->parent);
	bool root = meta->ino == SL_TREE_ROOT;
	struct sl_inode *inode;

	if (sl_inodes_get(&names->inodes, meta->ino) ||
	    (meta->type != SL_FT_REG && meta->type != SL_FT_DIR) || names->inodes.count >= SL_NAMES_MAX) {
		return -EINVAL;
	}
	if (root ? meta->type != SL_FT_DIR
		 : !parent || parent->type != SL_FT_DIR || meta->name[0] == '\0' ||
		       (parent->last && parent->last->ino >= meta->ino) ||
		       sl_inodes_lookup(&names->inodes, parent, meta->name)) {
		return -EINVAL;
	}
	inode = sl_inodes_add(&names->inodes, root ? NULL : parent, meta->ino, (enum sl_ftype)meta->type,
			      root ? "" : meta->name);
	if (!inode) {
		return -ENOMEM;
	}
	inode->generation = meta->generation;
	inode_take(inode, meta);
	if (meta->kind == SL_META_CREATE) {
		parent_touch(inode->parent, meta->ctime_ns);
	}
	if (names->next_ino <= meta->ino) {
		names->next_ino = meta->ino + 1;
	}
	return 0;
}

static int snapshot_inode(void *arg, struct sl_inode *inode)
{
	struct sl_meta meta;

	sl_names_meta(inode, SL_META_INODE, &meta);
	return sl_journal_append(arg, &meta);
}

/* Writes the present state as a new journal and puts it in the place of the old one. */
static int names_snapshot(struct sl_names *names, struct sl_err *err)
{
	struct sl_journal fresh = {.fd = -1};
	struct sl_meta next = {.kind = SL_META_NEXT, .ino = names->next_ino};
	int rc = sl_journal_create(&fresh, names->dirfd, "journal.new", err);

	if (rc) {
		return rc;
	}
	rc = sl_journal_append(&fresh, &next);
	rc = rc ? rc : sl_inodes_walk(&names->inodes, snapshot_inode, &fresh);
	rc = rc ? rc : sl_journal_rename(&fresh, names->dirfd, "journal.new", "journal");
	if (rc) {
		sl_journal_close(&fresh);
		(void)unlinkat(names->dirfd, "journal.new", 0);
		return sl_err_set(err, rc, "journal.new: cannot write: %s", strerror(-rc));
	}
	sl_journal_close(&names->journal);
	names->journal = fresh;
	return 0;
}

static int names_replay(void *arg, const struct sl_meta *meta)
{
	return sl_names_apply(arg, meta);
}

/* A new tree: an empty root that everybody may write to. */
static int names_start(struct sl_names *names, struct sl_err *err)
{
	struct sl_meta root = {
	    .kind = SL_META_INODE, .type = SL_FT_DIR, .mode = 0777, .ino = SL_TREE_ROOT, .generation = 1};
	int rc = sl_names_apply(names, &root);

	return rc ? sl_err_set(err, rc, "out of memory") : names_snapshot(names, err);
}

int sl_names_open(struct sl_names *names, int dirfd, struct sl_err *err)
{
	int rc;

	*names = (struct sl_names){.dirfd = dirfd, .journal = {.fd = -1}};
	rc = sl_inodes_init(&names->inodes);
	if (rc) {
		return sl_err_set(err, rc, "out of memory");
	}
	/* A snapshot that was being written when the process died. */
	(void)unlinkat(dirfd, "journal.new", 0);
	rc = sl_journal_open(&names->journal, dirfd, "journal", names_replay, names, err);
	if (rc == -ENOENT) {
		return names_start(names, err);
	}
	if (rc == 0 && !sl_inodes_get(&names->inodes, SL_TREE_ROOT)) {
		return sl_err_set(err, -EINVAL, "journal: no root folder; restore the folder from a copy");
	}
	return rc;
}

void sl_names_close(struct sl_names *names)
{
	if (names->inodes.bucket_count > 0) {
		sl_inodes_fini(&names->inodes);
		sl_journal_close(&names->journal);
	}
}

void sl_names_meta(const struct sl_inode *inode, enum sl_meta_kind kind, struct sl_meta *ret)
{
	*ret = (struct sl_meta){
	    .kind = kind,
	    .type = (uint8_t)inode->type,
	    .mode = inode->mode,
	    .uid = inode->uid,
	    .gid = inode->gid,
	    .ino = inode->ino,
	    .generation = inode->generation,
	    .parent = inode->parent->ino,
	    .atime_ns = inode->atime_ns,
	    .mtime_ns = inode->mtime_ns,
	    .ctime_ns = inode->ctime_ns,
	};
	if (kind == SL_META_INODE || kind == SL_META_CREATE) {
		memcpy(ret->name, inode->name, strlen(inode->name) + 1);
	}
}

int sl_names_log(struct sl_names *names, const struct sl_meta *meta)
{
	return sl_journal_append(&names->journal, meta);
}

int sl_names_apply(struct sl_names *names, const struct sl_meta *meta)
{
	struct sl_inode *inode = sl_inodes_get(&names->inodes, meta->ino);

	switch (meta->kind) {
	case SL_META_INODE:
	case SL_META_CREATE:
		return replay_create(names, meta);
	case SL_META_REMOVE:
		if (!inode || inode->first || inode->parent == inode) {
			return -EINVAL;
		}
		parent_touch(inode->parent, meta->ctime_ns);
		sl_inodes_remove(&names->inodes, inode);
		return 0;
	case SL_META_ATTR:
		if (!inode) {
			return -EINVAL;
		}
		inode_take(inode, meta);
		return 0;
	case SL_META_NEXT:
		if (names->next_ino < meta->ino) {
			names->next_ino = meta->ino;
		}
		return 0;
	}
	return -EINVAL;
}

void sl_names_compact(struct sl_names *names)
{
	uint64_t limit = (uint64_t)names->inodes.count * NAMES_COMPACT_RATIO;

	if (names->journal.records > NAMES_COMPACT_MIN && names->journal.records > limit) {
		(void)names_snapshot(names, NULL);
	}
}
