/* A tree of names out of the records that are left of a journal. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/datastore/fsck_inner.h"

#define MISFITS_SAID 20u

static int root_need(struct sl_fsck *fsck)
{
	struct sl_meta root = {
	    .kind = SL_META_INODE, .type = SL_FT_DIR, .mode = 0777, .ino = SL_TREE_ROOT, .generation = 1};
	struct sl_inode *gone;

	return sl_inodes_get(&fsck->names.inodes, SL_TREE_ROOT) ? 0
								: sl_names_apply(&fsck->names, &root, &gone);
}

/* An inode whose own record is lost. It has no name yet: sl_fsck_tree_mend gives it one. */
static int inode_need(struct sl_fsck *fsck, uint64_t ino, enum sl_ftype type)
{
	struct sl_inode *inode = sl_inodes_get(&fsck->names.inodes, ino);

	if (ino == SL_TREE_ROOT) {
		return root_need(fsck);
	}
	if (inode || ino == 0 || ino >= INT64_MAX) {
		return 0;
	}
	if (type != SL_FT_DIR && type != SL_FT_LNK) {
		type = SL_FT_REG;
	}
	inode = sl_inodes_add(&fsck->names.inodes, ino, type);
	if (!inode) {
		return -ENOMEM;
	}
	inode->generation = ino;
	inode->mode = type == SL_FT_DIR ? 0700 : 0600;
	if (fsck->names.next_number <= ino) {
		fsck->names.next_number = ino + 1;
	}
	return 0;
}

/* The record that took the name away from what has it now is lost. */
static void name_free(struct sl_fsck *fsck, uint64_t parent, const char *name)
{
	struct sl_inode *dir = sl_inodes_get(&fsck->names.inodes, parent);
	struct sl_entry *entry = dir ? sl_inodes_lookup(&fsck->names.inodes, dir, name) : NULL;

	if (entry) {
		sl_inodes_unlink(&fsck->names.inodes, entry);
	}
}

/* Makes what the record takes for granted. 0 or -ENOMEM. */
static int needs_make(struct sl_fsck *fsck, const struct sl_meta *meta)
{
	struct sl_inode *dir;
	int rc = 0;

	switch (meta->kind) {
	case SL_META_NAME:
	case SL_META_LINK:
		rc = inode_need(fsck, meta->ino, (enum sl_ftype)meta->type);
		rc = rc ? rc : inode_need(fsck, meta->parent, SL_FT_DIR);
		name_free(fsck, meta->parent, meta->name);
		break;
	case SL_META_INODE:
	case SL_META_CREATE:
		if (!sl_inodes_get(&fsck->names.inodes, meta->ino)) {
			rc = inode_need(fsck, meta->parent, SL_FT_DIR);
			name_free(fsck, meta->parent, meta->name);
		}
		break;
	case SL_META_RENAME:
		dir = sl_inodes_get(&fsck->names.inodes, meta->from_parent);
		if (dir && sl_inodes_lookup(&fsck->names.inodes, dir, meta->from)) {
			rc = inode_need(fsck, meta->parent, SL_FT_DIR);
			name_free(fsck, meta->parent, meta->name);
		}
		break;
	case SL_META_ATTR:
		rc = inode_need(fsck, meta->ino, (enum sl_ftype)meta->type);
		break;
	case SL_META_UNLINK:
	case SL_META_NEXT:
		break;
	}
	return rc;
}

static void misfit_say(struct sl_fsck *fsck, const struct sl_meta *meta, uint64_t at)
{
	static const char *const kinds[] = {
	    [SL_META_INODE] = "inode",     [SL_META_NAME] = "name",     [SL_META_CREATE] = "create",
	    [SL_META_LINK] = "link",       [SL_META_UNLINK] = "unlink", [SL_META_RENAME] = "rename",
	    [SL_META_ATTR] = "attributes", [SL_META_NEXT] = "numbers"};
	bool known = meta->kind >= SL_META_INODE && meta->kind <= SL_META_NEXT;

	if (fsck->misfits++ < MISFITS_SAID) {
		/* Behind a gap that was called damage already, it is a consequence. */
		sl_fsck_say(fsck, fsck->records_lost ? SL_FSCK_NOTE : SL_FSCK_DAMAGE,
			    "journal: the record at byte %" PRIu64
			    " (%s \"%.60s\") does not fit those before it",
			    at, known ? kinds[meta->kind] : "unknown", meta->name);
	}
}

int sl_fsck_apply(struct sl_fsck *fsck, const struct sl_meta *meta, uint64_t at)
{
	struct sl_inode *gone = NULL;
	int rc = sl_names_apply(&fsck->names, meta, &gone);

	if (rc && rc != -ENOMEM) {
		misfit_say(fsck, meta, at);
		rc = needs_make(fsck, meta);
		rc = rc ? rc : sl_names_apply(&fsck->names, meta, &gone);
		fsck->records_lost = true;
	}
	if (gone) {
		rc = sl_names_removed_add(&fsck->names, gone->ino);
		sl_inodes_drop(&fsck->names.inodes, gone);
	}
	return rc == -ENOMEM ? rc : 0;
}

/* Entries or inodes that a walk has found; they change behind it. */
struct list {
	struct sl_fsck *fsck;
	void **at;
	size_t count, size;
};

static int list_add(struct list *list, void *what)
{
	if (list->count == list->size) {
		size_t size = list->size ? list->size * 2 : 64;
		void **grown = realloc(list->at, size * sizeof(*grown));

		if (!grown) {
			return -ENOMEM;
		}
		list->at = grown;
		list->size = size;
	}
	list->at[list->count++] = what;
	return 0;
}

static int empty_find(void *arg, struct sl_entry *entry)
{
	bool empty = entry->inode->type != SL_FT_DIR && !sl_fsck_file_of(entry->inode)->there;

	return empty ? list_add(arg, entry) : 0;
}

static int names_drop(struct sl_fsck *fsck)
{
	struct list list = {.fsck = fsck};
	int rc = sl_inodes_walk(&fsck->names.inodes, empty_find, &list);

	for (size_t i = 0; rc == 0 && i < list.count; i++) {
		struct sl_entry *entry = list.at[i];
		char path[256];

		sl_names_path(entry, path, sizeof(path));
		sl_fsck_say(fsck, SL_FSCK_DAMAGE, "data: the contents of %s (%016" PRIx64 ") are missing",
			    path, entry->inode->ino);
		sl_fsck_say(fsck, SL_FSCK_MEND, "drop the name %s", path);
		sl_inodes_unlink(&fsck->names.inodes, entry);
		fsck->found.dropped++;
	}
	free(list.at);
	return rc;
}

static int nameless_find(void *arg, struct sl_inode *inode)
{
	bool nameless =
	    inode->type == SL_FT_DIR ? !inode->name && inode->ino != SL_TREE_ROOT : inode->nlink == 0;

	return nameless ? list_add(arg, inode) : 0;
}

/* A name that is free in `dir`: `base`, or with .1, .2, ... */
static void name_choose(const struct sl_fsck *fsck, const struct sl_inode *dir, const char *base,
			char ret[64])
{
	(void)snprintf(ret, 64, "%s", base);
	for (unsigned i = 1; sl_inodes_lookup(&fsck->names.inodes, dir, ret); i++) {
		(void)snprintf(ret, 64, "%s.%u", base, i);
	}
}

static int link_new(struct sl_fsck *fsck, struct sl_inode *dir, const char *name, struct sl_inode *inode)
{
	if (fsck->names.inodes.entry_count >= SL_NAMES_MAX) {
		return -ENOSPC;
	}
	return sl_inodes_link(&fsck->names.inodes, dir, name, inode, fsck->names.next_number++);
}

/* /lost+found of the tree, made when missing. */
static int lost_found_get(struct sl_fsck *fsck, struct sl_inode **ret)
{
	struct sl_inode *root = sl_inodes_get(&fsck->names.inodes, SL_TREE_ROOT);
	struct sl_entry *entry = sl_inodes_lookup(&fsck->names.inodes, root, SL_TREE_LOST_FOUND);
	char name[64];

	if (entry && entry->inode->type == SL_FT_DIR) {
		*ret = entry->inode;
		return 0;
	}
	name_choose(fsck, root, SL_TREE_LOST_FOUND, name);
	*ret = sl_inodes_add(&fsck->names.inodes, fsck->names.next_number, SL_FT_DIR);
	if (!*ret) {
		return -ENOMEM;
	}
	(*ret)->generation = fsck->names.next_number++;
	(*ret)->mode = 0700;
	return link_new(fsck, root, name, *ret);
}

/* Names an inode below /lost+found, and says so. */
static int return_as(struct sl_fsck *fsck, struct sl_inode *inode, const char *base)
{
	struct sl_inode *dir;
	char name[64], path[256];
	int rc = lost_found_get(fsck, &dir);

	if (rc) {
		return rc;
	}
	name_choose(fsck, dir, base, name);
	rc = link_new(fsck, dir, name, inode);
	if (rc == 0) {
		sl_names_path(dir->last, path, sizeof(path));
		sl_fsck_say(fsck, SL_FSCK_MEND, "name it %s", path);
		fsck->found.returned++;
	}
	return rc;
}

static int nameless_return(struct sl_fsck *fsck)
{
	struct list list = {.fsck = fsck};
	int rc = sl_inodes_each(&fsck->names.inodes, nameless_find, &list);

	for (size_t i = 0; rc == 0 && i < list.count; i++) {
		struct sl_inode *inode = list.at[i];
		char name[64];

		if (inode->type != SL_FT_DIR && !sl_fsck_file_of(inode)->there) {
			sl_inodes_drop(&fsck->names.inodes, inode);
			continue;
		}
		(void)snprintf(name, sizeof(name), "%016" PRIx64, inode->ino);
		sl_fsck_say(fsck, SL_FSCK_DAMAGE, "journal: the name of %s %s is lost",
			    inode->type == SL_FT_DIR ? "folder" : "file", name);
		rc = return_as(fsck, inode, name);
	}
	free(list.at);
	return rc;
}

static int stray_return(struct sl_fsck *fsck, struct sl_stray *stray)
{
	struct sl_names *names = &fsck->names;
	struct sl_inode *inode;

	if (stray->number <= SL_TREE_ROOT || stray->number >= INT64_MAX ||
	    sl_inodes_get(&names->inodes, stray->number)) {
		stray->number = names->next_number;
	}
	inode = sl_inodes_add(&names->inodes, stray->number, SL_FT_REG);
	if (!inode) {
		return -ENOMEM;
	}
	inode->mode = 0600;
	inode->generation = stray->number;
	sl_fsck_file_of(inode)->there = true;
	if (names->next_number <= stray->number) {
		names->next_number = stray->number + 1;
	}
	sl_fsck_say(fsck, stray->aside ? SL_FSCK_NOTE : SL_FSCK_DAMAGE, "data/%s%s: no name leads to it",
		    stray->aside ? SL_TREE_LOST_FOUND "/" : "", stray->name);
	return return_as(fsck, inode, stray->name);
}

int sl_fsck_tree_mend(struct sl_fsck *fsck)
{
	int rc = root_need(fsck);

	/* New numbers are none of those that files have already. */
	for (size_t i = 0; i < fsck->stray_count; i++) {
		uint64_t number = fsck->strays[i].number;

		if (number < INT64_MAX && fsck->names.next_number <= number) {
			fsck->names.next_number = number + 1;
		}
	}
	rc = rc || fsck->no_empty_files ? rc : names_drop(fsck);
	rc = rc ? rc : nameless_return(fsck);
	for (size_t i = 0; rc == 0 && i < fsck->stray_count; i++) {
		rc = stray_return(fsck, &fsck->strays[i]);
	}
	return rc;
}
