#include "sim/datastore/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/datastore/compact.h"

#define NAMES_COMPACT_HERE 4000u /* names that are written anew while the client waits: some milliseconds */
#define SNAPSHOT_WRITE_BYTES (1u << 16)
#define NAMES_COMPACT_MIN 10000u   /* records before a snapshot is worth its while */
#define NAMES_COMPACT_RATIO 4u     /* records per name */
#define NAMES_PROGRESS_STEP 65536u /* records between two reports */

static void inode_take(struct sl_inode *inode, const struct sl_meta *meta)
{
	inode->mode = meta->mode;
	inode->uid = meta->uid;
	inode->gid = meta->gid;
	inode->atime_ns = meta->atime_ns;
	inode->mtime_ns = meta->mtime_ns;
	inode->ctime_ns = meta->ctime_ns;
}

static void dir_touch(struct sl_inode *dir, int64_t now_ns)
{
	dir->mtime_ns = now_ns;
	dir->ctime_ns = now_ns;
}

static void number_seen(struct sl_names *names, uint64_t number)
{
	if (names->next_number <= number) {
		names->next_number = number + 1;
	}
}

/* The folder of a name that may be made at this place of the order, or NULL. */
static struct sl_inode *place_find(const struct sl_names *names, const struct sl_meta *meta)
{
	struct sl_inode *dir;

	if (sl_inodes_may_create(&names->inodes, meta->parent, meta->name, &dir) < 0 ||
	    names->inodes.entry_count >= SL_NAMES_MAX || (dir->last && dir->last->cookie >= meta->cookie)) {
		return NULL;
	}
	return dir;
}

static int apply_create(struct sl_names *names, const struct sl_meta *meta)
{
	bool root = meta->ino == SL_TREE_ROOT;
	struct sl_inode *dir = root ? NULL : place_find(names, meta);
	struct sl_inode *inode;

	if (sl_inodes_get(&names->inodes, meta->ino) ||
	    (meta->type != SL_FT_REG && meta->type != SL_FT_DIR && meta->type != SL_FT_LNK) ||
	    (root ? meta->type != SL_FT_DIR : !dir)) {
		return -EINVAL;
	}
	inode = sl_inodes_add(&names->inodes, meta->ino, (enum sl_ftype)meta->type);
	if (!inode) {
		return -ENOMEM;
	}
	if (root) {
		inode->nlink = 2;
	} else if (sl_inodes_link(&names->inodes, dir, meta->name, inode, meta->cookie) < 0) {
		sl_inodes_drop(&names->inodes, inode);
		return -ENOMEM;
	}
	inode->generation = meta->generation;
	inode_take(inode, meta);
	if (meta->kind == SL_META_CREATE && dir) {
		dir_touch(dir, meta->ctime_ns);
	}
	number_seen(names, meta->ino);
	number_seen(names, meta->cookie);
	return 0;
}

static int apply_link(struct sl_names *names, const struct sl_meta *meta)
{
	struct sl_inode *inode = sl_inodes_get(&names->inodes, meta->ino), *dir = place_find(names, meta);
	int rc = inode && inode->type != SL_FT_DIR && dir ? 0 : -EINVAL;

	rc = rc ? rc : sl_inodes_link(&names->inodes, dir, meta->name, inode, meta->cookie);
	if (rc) {
		return rc;
	}
	number_seen(names, meta->cookie);
	if (meta->kind == SL_META_LINK) {
		inode->ctime_ns = meta->ctime_ns;
		dir_touch(dir, meta->ctime_ns);
	}
	return 0;
}

static int apply_unlink(struct sl_names *names, const struct sl_meta *meta, struct sl_inode **ret_gone)
{
	struct sl_inode *dir = sl_inodes_get(&names->inodes, meta->parent), *inode;
	struct sl_entry *entry = dir ? sl_inodes_lookup(&names->inodes, dir, meta->name) : NULL;

	if (!entry || entry->inode->first) {
		return -EINVAL;
	}
	inode = entry->inode;
	sl_inodes_unlink(&names->inodes, entry);
	inode->ctime_ns = meta->ctime_ns;
	dir_touch(dir, meta->ctime_ns);
	*ret_gone = inode->nlink == 0 ? inode : NULL;
	return 0;
}

static int apply_rename(struct sl_names *names, const struct sl_meta *meta, struct sl_inode **ret_gone)
{
	struct sl_rename plan;
	struct sl_inode *source, *moved, *victim;
	int rc = sl_inodes_may_rename(&names->inodes, meta->from_parent, meta->from, meta->parent, meta->name,
				      &plan);

	if (rc || plan.nothing || (plan.dir->last && plan.dir->last->cookie >= meta->cookie)) {
		return -EINVAL;
	}
	source = plan.entry->dir;
	moved = plan.entry->inode;
	victim = plan.victim ? plan.victim->inode : NULL;
	rc = sl_inodes_rename(&names->inodes, &plan, meta->name, meta->cookie);
	if (rc) {
		return rc;
	}
	number_seen(names, meta->cookie);
	moved->ctime_ns = meta->ctime_ns;
	dir_touch(source, meta->ctime_ns);
	dir_touch(plan.dir, meta->ctime_ns);
	if (victim) {
		victim->ctime_ns = meta->ctime_ns;
	}
	*ret_gone = victim && victim->nlink == 0 ? victim : NULL;
	return 0;
}

static int apply_attr(struct sl_names *names, const struct sl_meta *meta)
{
	struct sl_inode *inode = sl_inodes_get(&names->inodes, meta->ino);

	if (!inode) {
		return -EINVAL;
	}
	inode_take(inode, meta);
	return 0;
}

/* A journal that is written from one end to the other: many records in one write. */
struct snapshot {
	struct sl_journal *journal;
	uint8_t *bytes;
	uint32_t size, records;
	bool (*cancelled)(void *arg);
	void *arg;
};

static int snapshot_flush(struct snapshot *snapshot)
{
	int rc = snapshot->size > 0 ? sl_journal_append_bytes(snapshot->journal, snapshot->bytes,
							      snapshot->size, snapshot->records)
				    : 0;

	snapshot->size = snapshot->records = 0;
	return rc;
}

static int snapshot_add(struct snapshot *snapshot, const struct sl_meta *meta)
{
	int rc = snapshot->size + SL_RECORD_MAX > SNAPSHOT_WRITE_BYTES ? snapshot_flush(snapshot) : 0;

	if (rc == 0) {
		snapshot->size += sl_record_encode(meta, snapshot->bytes + snapshot->size);
		snapshot->records++;
	}
	return rc == 0 && snapshot->cancelled && snapshot->cancelled(snapshot->arg) ? -ECANCELED : rc;
}

static int snapshot_inode(struct snapshot *snapshot, struct sl_inode *inode, const struct sl_entry *entry)
{
	struct sl_meta meta;

	sl_names_meta(inode, inode->seen ? SL_META_NAME : SL_META_INODE, &meta);
	inode->seen = true;
	if (entry) {
		meta.parent = entry->dir->ino;
		meta.cookie = entry->cookie;
		memcpy(meta.name, entry->name, strlen(entry->name) + 1);
	}
	return snapshot_add(snapshot, &meta);
}

static int snapshot_entry(void *arg, struct sl_entry *entry)
{
	return snapshot_inode(arg, entry->inode, entry);
}

static int seen_clear(void *arg, struct sl_inode *inode)
{
	(void)arg;
	inode->seen = false;
	return 0;
}

int sl_names_write(struct sl_names *names, struct sl_journal *fresh, bool (*cancelled)(void *arg), void *arg)
{
	struct snapshot snapshot = {.journal = fresh, .cancelled = cancelled, .arg = arg};
	struct sl_meta next = {.kind = SL_META_NEXT, .ino = names->next_number};
	int rc;

	snapshot.bytes = malloc(SNAPSHOT_WRITE_BYTES);
	if (!snapshot.bytes) {
		return -ENOMEM;
	}
	(void)sl_inodes_each(&names->inodes, seen_clear, NULL);
	rc = snapshot_add(&snapshot, &next);
	rc = rc ? rc : snapshot_inode(&snapshot, sl_inodes_get(&names->inodes, SL_TREE_ROOT), NULL);
	rc = rc ? rc : sl_inodes_walk(&names->inodes, snapshot_entry, &snapshot);
	rc = rc ? rc : snapshot_flush(&snapshot);
	free(snapshot.bytes);
	return rc;
}

/* `fresh` takes the place of the journal, which stays on failure; `fresh` is closed and gone then. `waits`:
 * for the host's disk, which has all of it when this returns. */
static int names_switch(struct sl_names *names, struct sl_journal *fresh, bool waits)
{
	int rc = waits ? sl_journal_rename(fresh, names->dirfd, SL_COMPACT_NEW, "journal")
		       : sl_journal_rename_only(names->dirfd, SL_COMPACT_NEW, "journal");
	int broken;

	if (rc) {
		sl_journal_close(fresh);
		(void)unlinkat(names->dirfd, SL_COMPACT_NEW, 0);
		return rc;
	}
	/* The old file has no name any more: what follows must go to the new one, come what may. A failure of
	 * the host's disk is for good: a fresh file must not make it forgotten. */
	broken = names->journal.broken;
	sl_journal_close(&names->journal);
	names->journal = *fresh;
	names->journal.broken = broken;
	sl_journal_reserve(&names->journal); /* the old one's room is free only now */
	rc = broken || !waits ? 0 : sl_journal_settle_name(&names->journal, names->dirfd);
	if (rc) {
		sl_notice_say(names->notice,
			      "journal: its new name cannot be made durable: %s; until the host's disk is "
			      "mended and the server started again, a crash of this machine may lose names",
			      strerror(-rc));
	}
	return 0;
}

int sl_names_snapshot(struct sl_names *names, struct sl_err *err)
{
	struct sl_journal fresh = {.fd = -1};
	int rc = sl_journal_create(&fresh, names->dirfd, SL_COMPACT_NEW, err);

	if (rc) {
		return rc;
	}
	rc = sl_names_write(names, &fresh, NULL, NULL);
	if (rc) {
		sl_journal_close(&fresh);
		(void)unlinkat(names->dirfd, SL_COMPACT_NEW, 0);
	} else {
		rc = names_switch(names, &fresh, true);
	}
	return rc ? sl_err_set(err, rc, SL_COMPACT_NEW ": cannot write: %s", strerror(-rc)) : 0;
}

int sl_names_removed_add(struct sl_names *names, uint64_t ino)
{
	names->removed_sorted = false;
	if (names->removed_count == names->removed_size) {
		size_t size = names->removed_size ? names->removed_size * 2 : 64;
		uint64_t *grown = realloc(names->removed, size * sizeof(*grown));

		if (!grown) {
			return -ENOMEM;
		}
		names->removed = grown;
		names->removed_size = size;
	}
	names->removed[names->removed_count++] = ino;
	return 0;
}

int sl_names_replay(struct sl_names *names, const struct sl_meta *meta)
{
	struct sl_inode *gone = NULL;
	int rc = sl_names_apply(names, meta, &gone);

	if (gone) {
		sl_inodes_drop(&names->inodes, gone);
	}
	return rc;
}

static int names_replay(void *arg, const struct sl_meta *meta, uint64_t done, uint64_t total)
{
	struct sl_names *names = arg;
	struct sl_inode *gone = NULL;
	int rc = sl_names_apply(names, meta, &gone);

	if (gone) {
		rc = sl_names_removed_add(names, gone->ino);
		sl_inodes_drop(&names->inodes, gone);
	}
	if (names->progress && (names->journal.records % NAMES_PROGRESS_STEP == 0 || done == total)) {
		names->progress(names->progress_arg, done, total);
	}
	return rc;
}

/* A new tree: an empty root that everybody may write to. */
static int names_start(struct sl_names *names, struct sl_err *err)
{
	struct sl_meta root = {
	    .kind = SL_META_INODE, .type = SL_FT_DIR, .mode = 0777, .ino = SL_TREE_ROOT, .generation = 1};
	int rc = apply_create(names, &root);

	return rc ? sl_err_set(err, rc, "out of memory") : sl_names_snapshot(names, err);
}

int sl_names_open(struct sl_names *names, size_t inode_bytes, struct sl_err *err)
{
	int rc = sl_inodes_init(&names->inodes, inode_bytes);

	names->journal = (struct sl_journal){.fd = -1};
	if (rc) {
		return sl_err_set(err, rc, "out of memory");
	}
	/* A snapshot that was being written when the process died. */
	(void)unlinkat(names->dirfd, SL_COMPACT_NEW, 0);
	rc = sl_journal_open(&names->journal, names->dirfd, "journal", names_replay, names, err);
	if (rc == -ENOENT) {
		names->started = true;
		return names_start(names, err);
	}
	if (rc == 0 && !sl_inodes_get(&names->inodes, SL_TREE_ROOT)) {
		return sl_err_set(err, -EINVAL, "journal: no root folder; see `sloglab store check'");
	}
	if (names->journal.torn_bytes > 0) {
		sl_notice_say(
		    names->notice,
		    "journal: the server died while it wrote a record; its first %llu bytes are cut "
		    "off, its call was never answered",
		    (unsigned long long)names->journal.torn_bytes);
	}
	return rc;
}

void sl_names_close(struct sl_names *names)
{
	sl_compaction_free(names->compaction);
	names->compaction = NULL;
	if (names->inodes.inode_buckets > 0) {
		sl_inodes_fini(&names->inodes);
		sl_journal_close(&names->journal);
	}
	sl_names_forget_removed(names);
}

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

bool sl_names_removed(struct sl_names *names, uint64_t ino)
{
	if (!names->removed_sorted && names->removed_count > 0) {
		qsort(names->removed, names->removed_count, sizeof(ino), by_value);
	}
	names->removed_sorted = true;
	return names->removed_count > 0 &&
	       bsearch(&ino, names->removed, names->removed_count, sizeof(ino), by_value) != NULL;
}

void sl_names_forget_removed(struct sl_names *names)
{
	free(names->removed);
	names->removed = NULL;
	names->removed_count = names->removed_size = 0;
}

int sl_names_reserve(struct sl_names *names, uint64_t number)
{
	struct sl_meta next = {.kind = SL_META_NEXT, .ino = number + 1};

	if (number < names->next_number) {
		return 0;
	}
	number_seen(names, number);
	return sl_journal_append(&names->journal, &next);
}

void sl_names_path(const struct sl_entry *entry, char *ret, size_t size)
{
	size_t at = size - 1;

	ret[at] = '\0';
	while (entry && at > 0) {
		size_t bytes = strlen(entry->name);

		bytes = bytes < at ? bytes : at - 1; /* the end of a path that is too long */
		at -= bytes;
		memcpy(ret + at, entry->name + strlen(entry->name) - bytes, bytes);
		ret[--at] = '/';
		entry = entry->dir->name;
	}
	memmove(ret, ret + at, size - at);
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
	    .atime_ns = inode->atime_ns,
	    .mtime_ns = inode->mtime_ns,
	    .ctime_ns = inode->ctime_ns,
	};
}

int sl_names_log(struct sl_names *names, const struct sl_meta *meta)
{
	return sl_journal_append(&names->journal, meta);
}

int sl_names_apply(struct sl_names *names, const struct sl_meta *meta, struct sl_inode **ret_gone)
{
	*ret_gone = NULL;
	switch (meta->kind) {
	case SL_META_INODE:
	case SL_META_CREATE:
		return apply_create(names, meta);
	case SL_META_NAME:
	case SL_META_LINK:
		return apply_link(names, meta);
	case SL_META_UNLINK:
		return apply_unlink(names, meta, ret_gone);
	case SL_META_RENAME:
		return apply_rename(names, meta, ret_gone);
	case SL_META_ATTR:
		return apply_attr(names, meta);
	case SL_META_NEXT:
		if (names->next_number < meta->ino) {
			names->next_number = meta->ino;
		}
		return 0;
	}
	return -EINVAL;
}

/* Of a journal that a thread writes anew: is it ready? 0 or why nothing comes of it. */
static int compaction_go_on(struct sl_names *names)
{
	struct sl_journal fresh;
	int rc = sl_compaction_poll(names->compaction, &names->journal, &fresh);

	if (rc == 0) {
		return 0;
	}
	names->compaction = NULL;
	/* What the thread has written is on the disk; the last piece is as volatile as it was in the old
	 * journal. */
	return rc < 0 ? rc : names_switch(names, &fresh, names->durable);
}

static int compaction_begin(struct sl_names *names)
{
	uint64_t limit = (uint64_t)names->inodes.entry_count * NAMES_COMPACT_RATIO;

	if (names->journal.records <= NAMES_COMPACT_MIN || names->journal.records <= limit ||
	    names->journal.records < names->compact_next) {
		return 0;
	}
	return names->inodes.entry_count <= NAMES_COMPACT_HERE
		   ? sl_names_snapshot(names, NULL)
		   : sl_compaction_start(names->dirfd, &names->journal, &names->compaction);
}

void sl_names_compact(struct sl_names *names)
{
	int rc = names->compaction ? compaction_go_on(names) : compaction_begin(names);

	if (rc < 0) {
		names->compact_next = names->journal.records + NAMES_COMPACT_MIN; /* a full disk stays full */
	}
}
