#include "sim/serve/inodes.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INODES_FIRST_BUCKETS 1024u

static uint32_t ino_hash(uint64_t ino)
{
	return (uint32_t)((ino * 0x9e3779b97f4a7c15u) >> 32);
}

static uint32_t name_hash(uint64_t parent, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u ^ parent;

	for (; *name; name++) {
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
	}
	return ino_hash(hash);
}

static struct sl_inode **ino_bucket(const struct sl_inodes *table, uint64_t ino)
{
	return &table->by_ino[ino_hash(ino) & (table->bucket_count - 1)];
}

static struct sl_inode **name_bucket(const struct sl_inodes *table, uint64_t parent, const char *name)
{
	return &table->by_name[name_hash(parent, name) & (table->bucket_count - 1)];
}

static void chain_in(const struct sl_inodes *table, struct sl_inode *inode)
{
	struct sl_inode **slot = ino_bucket(table, inode->ino);

	inode->ino_chain = *slot;
	*slot = inode;
	slot = name_bucket(table, inode->parent->ino, inode->name);
	inode->name_chain = *slot;
	*slot = inode;
}

static int buckets_new(struct sl_inodes *table, uint32_t count)
{
	struct sl_inode **by_ino = calloc(count, sizeof(struct sl_inode *));
	struct sl_inode **by_name = calloc(count, sizeof(struct sl_inode *));

	if (!by_ino || !by_name) {
		free(by_ino);
		free(by_name);
		return -ENOMEM;
	}
	table->by_ino = by_ino;
	table->by_name = by_name;
	table->bucket_count = count;
	return 0;
}

/* A failed growth only makes the chains longer. */
static void buckets_grow(struct sl_inodes *table)
{
	struct sl_inodes old = *table;

	if (buckets_new(table, old.bucket_count * 2)) {
		return;
	}
	for (uint32_t i = 0; i < old.bucket_count; i++) {
		for (struct sl_inode *inode = old.by_ino[i], *next; inode; inode = next) {
			next = inode->ino_chain;
			chain_in(table, inode);
		}
	}
	free(old.by_ino);
	free(old.by_name);
}

static void inode_free(struct sl_inode *inode)
{
	sl_overlay_clear(&inode->overlay);
	free(inode->name);
	free(inode);
}

static void child_link(struct sl_inode *dir, struct sl_inode *inode)
{
	assert(!dir->last || dir->last->ino < inode->ino);
	inode->prev = dir->last;
	if (dir->last) {
		dir->last->next = inode;
	} else {
		dir->first = inode;
	}
	dir->last = inode;
	dir->subdirs += inode->type == SL_FT_DIR;
}

static void child_unlink(struct sl_inode *dir, struct sl_inode *inode)
{
	if (inode->prev) {
		inode->prev->next = inode->next;
	} else {
		dir->first = inode->next;
	}
	if (inode->next) {
		inode->next->prev = inode->prev;
	} else {
		dir->last = inode->prev;
	}
	dir->subdirs -= inode->type == SL_FT_DIR;
}

int sl_inodes_init(struct sl_inodes *table)
{
	memset(table, 0, sizeof(*table));
	return buckets_new(table, INODES_FIRST_BUCKETS);
}

void sl_inodes_fini(struct sl_inodes *table)
{
	for (uint32_t i = 0; i < table->bucket_count; i++) {
		for (struct sl_inode *inode = table->by_ino[i], *next; inode; inode = next) {
			next = inode->ino_chain;
			inode_free(inode);
		}
	}
	free(table->by_ino);
	free(table->by_name);
	memset(table, 0, sizeof(*table));
}

struct sl_inode *sl_inodes_get(const struct sl_inodes *table, uint64_t ino)
{
	struct sl_inode *inode = *ino_bucket(table, ino);

	while (inode && inode->ino != ino) {
		inode = inode->ino_chain;
	}
	return inode;
}

struct sl_inode *sl_inodes_lookup(const struct sl_inodes *table, const struct sl_inode *dir, const char *name)
{
	struct sl_inode *inode = *name_bucket(table, dir->ino, name);

	/* The root hangs below itself under the empty name, which nobody can ask for. */
	while (inode && (inode->parent != dir || strcmp(inode->name, name) != 0)) {
		inode = inode->name_chain;
	}
	return inode;
}

struct sl_inode *sl_inodes_add(struct sl_inodes *table, struct sl_inode *parent, uint64_t ino,
			       enum sl_ftype type, const char *name)
{
	struct sl_inode *inode = calloc(1, sizeof(*inode));

	if (!inode) {
		return NULL;
	}
	inode->name = strdup(name);
	if (!inode->name) {
		free(inode);
		return NULL;
	}
	inode->ino = ino;
	inode->type = type;
	inode->fd = -1;
	inode->parent = parent ? parent : inode;
	if (parent) {
		child_link(parent, inode);
	}
	chain_in(table, inode);
	table->count++;
	if (table->count > table->bucket_count) {
		buckets_grow(table);
	}
	return inode;
}

void sl_inodes_remove(struct sl_inodes *table, struct sl_inode *inode)
{
	struct sl_inode **slot = ino_bucket(table, inode->ino);

	assert(!inode->first && inode->parent != inode && inode->fd < 0);
	while (*slot != inode) {
		slot = &(*slot)->ino_chain;
	}
	*slot = inode->ino_chain;
	slot = name_bucket(table, inode->parent->ino, inode->name);
	while (*slot != inode) {
		slot = &(*slot)->name_chain;
	}
	*slot = inode->name_chain;
	child_unlink(inode->parent, inode);
	table->count--;
	inode_free(inode);
}

struct sl_inode *sl_inodes_after(const struct sl_inodes *table, const struct sl_inode *dir, uint64_t cookie)
{
	struct sl_inode *inode = cookie ? sl_inodes_get(table, cookie) : NULL;

	if (inode && inode->parent == dir && inode != dir) {
		return inode->next;
	}
	/* The entry was removed meanwhile: numbers only grow, so the place is still defined. */
	for (inode = dir->first; inode && inode->ino <= cookie; inode = inode->next) {
	}
	return inode;
}

int sl_inodes_walk(const struct sl_inodes *table, int (*fn)(void *arg, struct sl_inode *inode), void *arg)
{
	struct sl_inode *inode = sl_inodes_get(table, SL_TREE_ROOT);

	while (inode) {
		int rc = fn(arg, inode);

		if (rc) {
			return rc;
		}
		if (inode->first) {
			inode = inode->first;
			continue;
		}
		while (inode->parent != inode && !inode->next) {
			inode = inode->parent;
		}
		inode = inode->parent != inode ? inode->next : NULL;
	}
	return 0;
}
