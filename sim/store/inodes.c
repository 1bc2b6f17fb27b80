#include "sim/store/inodes.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INODES_FIRST_BUCKETS 256u

/* Numbers of inodes and cookies are given out in sequence: each is a bucket of its own, beside that of what
 * was made before and after it, so that a walk in that order walks through memory. */
static uint32_t number_bucket(uint64_t number, uint32_t buckets)
{
	return (uint32_t)number & (buckets - 1);
}

/* FNV-1a over folder and name. */
static uint32_t name_hash(uint64_t dir, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u ^ dir;

	for (; *name; name++) {
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
	}
	return (uint32_t)((hash * 0x9e3779b97f4a7c15u) >> 32);
}

static struct sl_inode **ino_bucket(const struct sl_inodes *table, uint64_t ino)
{
	return &table->by_ino[number_bucket(ino, table->inode_buckets)];
}

static struct sl_entry **name_bucket(const struct sl_inodes *table, uint64_t dir, const char *name)
{
	return &table->by_name[name_hash(dir, name) & (table->entry_buckets - 1)];
}

static struct sl_entry **cookie_bucket(const struct sl_inodes *table, uint64_t cookie)
{
	return &table->by_cookie[number_bucket(cookie, table->entry_buckets)];
}

static void inode_chain(const struct sl_inodes *table, struct sl_inode *inode)
{
	struct sl_inode **slot = ino_bucket(table, inode->ino);

	inode->chain = *slot;
	*slot = inode;
}

static void entry_chain(const struct sl_inodes *table, struct sl_entry *entry)
{
	struct sl_entry **slot = name_bucket(table, entry->dir->ino, entry->name);

	entry->name_chain = *slot;
	*slot = entry;
	slot = cookie_bucket(table, entry->cookie);
	entry->cookie_chain = *slot;
	*slot = entry;
}

static void entry_unchain(const struct sl_inodes *table, struct sl_entry *entry)
{
	struct sl_entry **slot = name_bucket(table, entry->dir->ino, entry->name);

	while (*slot != entry) {
		slot = &(*slot)->name_chain;
	}
	*slot = entry->name_chain;
	slot = cookie_bucket(table, entry->cookie);
	while (*slot != entry) {
		slot = &(*slot)->cookie_chain;
	}
	*slot = entry->cookie_chain;
}

static int inode_buckets_new(struct sl_inodes *table, uint32_t count)
{
	struct sl_inode **buckets = calloc(count, sizeof(struct sl_inode *));

	if (!buckets) {
		return -ENOMEM;
	}
	table->by_ino = buckets;
	table->inode_buckets = count;
	return 0;
}

static int entry_buckets_new(struct sl_inodes *table, uint32_t count)
{
	struct sl_entry **by_name = calloc(count, sizeof(struct sl_entry *));
	struct sl_entry **by_cookie = calloc(count, sizeof(struct sl_entry *));

	if (!by_name || !by_cookie) {
		free(by_name);
		free(by_cookie);
		return -ENOMEM;
	}
	table->by_name = by_name;
	table->by_cookie = by_cookie;
	table->entry_buckets = count;
	return 0;
}

/* A failed growth only makes the chains longer. */
static void inodes_grow(struct sl_inodes *table)
{
	struct sl_inodes old = *table;

	if (inode_buckets_new(table, old.inode_buckets * 2) < 0) {
		return;
	}
	for (uint32_t i = 0; i < old.inode_buckets; i++) {
		for (struct sl_inode *inode = old.by_ino[i], *next; inode; inode = next) {
			next = inode->chain;
			inode_chain(table, inode);
		}
	}
	free(old.by_ino);
}

static void entries_grow(struct sl_inodes *table)
{
	struct sl_inodes old = *table;

	if (entry_buckets_new(table, old.entry_buckets * 2) < 0) {
		return;
	}
	for (uint32_t i = 0; i < old.entry_buckets; i++) {
		for (struct sl_entry *entry = old.by_name[i], *next; entry; entry = next) {
			next = entry->name_chain;
			entry_chain(table, entry);
		}
	}
	free(old.by_name);
	free(old.by_cookie);
}

int sl_inodes_init(struct sl_inodes *table, size_t inode_bytes)
{
	assert(inode_bytes >= sizeof(struct sl_inode));
	*table = (struct sl_inodes){.inode_bytes = inode_bytes};
	if (inode_buckets_new(table, INODES_FIRST_BUCKETS) < 0 ||
	    entry_buckets_new(table, INODES_FIRST_BUCKETS) < 0) {
		sl_inodes_fini(table);
		return -ENOMEM;
	}
	return 0;
}

void sl_inodes_fini(struct sl_inodes *table)
{
	for (uint32_t i = 0; i < table->entry_buckets; i++) {
		for (struct sl_entry *entry = table->by_name[i], *next; entry; entry = next) {
			next = entry->name_chain;
			free(entry);
		}
	}
	for (uint32_t i = 0; i < table->inode_buckets; i++) {
		for (struct sl_inode *inode = table->by_ino[i], *next; inode; inode = next) {
			next = inode->chain;
			free(inode);
		}
	}
	free(table->by_ino);
	free(table->by_name);
	free(table->by_cookie);
	memset(table, 0, sizeof(*table));
}

struct sl_inode *sl_inodes_get(const struct sl_inodes *table, uint64_t ino)
{
	struct sl_inode *inode = *ino_bucket(table, ino);

	while (inode && inode->ino != ino) {
		inode = inode->chain;
	}
	return inode;
}

struct sl_entry *sl_inodes_lookup(const struct sl_inodes *table, const struct sl_inode *dir, const char *name)
{
	struct sl_entry *entry = *name_bucket(table, dir->ino, name);

	while (entry && (entry->dir != dir || strcmp(entry->name, name) != 0)) {
		entry = entry->name_chain;
	}
	return entry;
}

struct sl_inode *sl_inode_parent(struct sl_inode *dir)
{
	return dir->name ? dir->name->dir : dir;
}

struct sl_inode *sl_inodes_add(struct sl_inodes *table, uint64_t ino, enum sl_ftype type)
{
	struct sl_inode *inode = calloc(1, table->inode_bytes);

	if (!inode) {
		return NULL;
	}
	inode->ino = ino;
	inode->type = type;
	inode_chain(table, inode);
	table->inode_count++;
	if (table->inode_count > table->inode_buckets) {
		inodes_grow(table);
	}
	return inode;
}

void sl_inodes_drop(struct sl_inodes *table, struct sl_inode *inode)
{
	struct sl_inode **slot = ino_bucket(table, inode->ino);

	assert(!inode->first && !inode->name && inode->nlink == 0);
	while (*slot != inode) {
		slot = &(*slot)->chain;
	}
	*slot = inode->chain;
	table->inode_count--;
	free(inode);
}

/* A folder counts its name, its own "." and the ".." of its subfolders. */
static void links_add(struct sl_entry *entry)
{
	struct sl_inode *inode = entry->inode;

	if (inode->type == SL_FT_DIR) {
		inode->name = entry;
		inode->nlink += 2;
		entry->dir->nlink++;
	} else {
		inode->nlink++;
	}
}

static void links_remove(struct sl_entry *entry)
{
	struct sl_inode *inode = entry->inode;

	if (inode->type == SL_FT_DIR) {
		inode->name = NULL;
		inode->nlink -= 2;
		entry->dir->nlink--;
	} else {
		inode->nlink--;
	}
}

int sl_inodes_link(struct sl_inodes *table, struct sl_inode *dir, const char *name, struct sl_inode *inode,
		   uint64_t cookie)
{
	size_t name_bytes = strlen(name) + 1;
	struct sl_entry *entry = calloc(1, sizeof(*entry) + name_bytes);

	assert(!dir->last || dir->last->cookie < cookie);
	if (!entry) {
		return -ENOMEM;
	}
	memcpy(entry->name, name, name_bytes);
	entry->dir = dir;
	entry->inode = inode;
	entry->cookie = cookie;
	entry->prev = dir->last;
	*(dir->last ? &dir->last->next : &dir->first) = entry;
	dir->last = entry;
	links_add(entry);
	entry_chain(table, entry);
	table->entry_count++;
	if (table->entry_count > table->entry_buckets) {
		entries_grow(table);
	}
	return 0;
}

void sl_inodes_unlink(struct sl_inodes *table, struct sl_entry *entry)
{
	struct sl_inode *dir = entry->dir;

	*(entry->prev ? &entry->prev->next : &dir->first) = entry->next;
	*(entry->next ? &entry->next->prev : &dir->last) = entry->prev;
	links_remove(entry);
	entry_unchain(table, entry);
	table->entry_count--;
	free(entry);
}

int sl_inodes_move(struct sl_inodes *table, struct sl_entry *entry, struct sl_inode *dir, const char *name,
		   uint64_t cookie)
{
	struct sl_inode *inode = entry->inode;
	int rc = sl_inodes_link(table, dir, name, inode, cookie);

	if (rc == 0) {
		struct sl_entry *now = dir->last;

		sl_inodes_unlink(table, entry);
		if (inode->type == SL_FT_DIR) {
			inode->name = now; /* the old name took it along */
		}
	}
	return rc;
}

struct sl_entry *sl_inodes_after(const struct sl_inodes *table, const struct sl_inode *dir, uint64_t cookie)
{
	struct sl_entry *entry = *cookie_bucket(table, cookie);

	while (entry && entry->cookie != cookie) {
		entry = entry->cookie_chain;
	}
	if (entry && entry->dir == dir) {
		return entry->next;
	}
	/* The entry was removed meanwhile: cookies only grow, so its place is still defined. */
	for (entry = dir->first; entry && entry->cookie <= cookie; entry = entry->next) {
	}
	return entry;
}

int sl_inodes_walk(const struct sl_inodes *table, int (*fn)(void *arg, struct sl_entry *entry), void *arg)
{
	struct sl_inode *root = sl_inodes_get(table, SL_TREE_ROOT);
	struct sl_entry *entry = root ? root->first : NULL;

	while (entry) {
		int rc = fn(arg, entry);

		if (rc) {
			return rc;
		}
		if (entry->inode->first) {
			entry = entry->inode->first;
			continue;
		}
		while (entry && !entry->next) {
			entry = entry->dir->name;
		}
		entry = entry ? entry->next : NULL;
	}
	return 0;
}

int sl_inodes_each(const struct sl_inodes *table, int (*fn)(void *arg, struct sl_inode *inode), void *arg)
{
	for (uint32_t i = 0; i < table->inode_buckets; i++) {
		for (struct sl_inode *inode = table->by_ino[i], *next; inode; inode = next) {
			int rc;

			next = inode->chain;
			rc = fn(arg, inode);
			if (rc) {
				return rc;
			}
		}
	}
	return 0;
}
