#include "tests/faults/promises.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool has_ended(const struct promises *promises)
{
	return (promises->hurry && *promises->hurry && promises->patience == 0) ||
	       (promises->deny > 0 && promises->answered >= promises->deny);
}

/* What the client hears: the call's result, after the wait for the host's disk. */
static int answer(struct promises *promises, struct sl_tree *tree, int rc)
{
	if (tree->settles) {
		int settled = tree->ops->settle(tree);

		rc = rc ? rc : settled;
	}
	if (promises->hurry && *promises->hurry && promises->patience > 0) {
		promises->patience--;
	}
	promises->answered++;
	if (promises->answered == promises->deny) {
		rc = -EIO;
	}
	promises->acked += rc == 0;
	promises->failed += rc != 0;
	return rc;
}

static struct promise *file_new(struct promises *promises, enum sl_ftype type, char prefix, const char *name)
{
	for (int i = 0; i < PROMISE_FILES; i++) {
		struct promise *file = &promises->files[i];

		if (!file->known) {
			*file = (struct promise){.type = type, .known = true, .maybe_gone = true};
			(void)snprintf(file->name, sizeof(file->name), "%c%s", prefix, name);
			for (int b = 0; b < PROMISE_BLOCKS; b++) {
				file->counts[b] = 1;
			}
			return file;
		}
	}
	return NULL;
}

static struct promise *file_make(struct promises *promises, struct sl_tree *tree, char prefix,
				 const char *name, enum sl_ftype type)
{
	struct sl_setattr set = {.mask = SL_SET_MTIME, .mtime_ns = 1000000000};
	struct promise *file;
	int rc;

	if (has_ended(promises)) {
		return &promises->nobody;
	}
	file = file_new(promises, type, prefix, name);
	rc = type == SL_FT_LNK
		 ? tree->ops->symlink(tree, SL_TREE_ROOT, file->name, "target", NULL, &file->ino)
		 : tree->ops->create(tree, SL_TREE_ROOT, file->name, type, &set, &file->ino);
	rc = answer(promises, tree, rc);
	file->maybe_gone = rc != 0;
	if (rc && tree->ops->lookup(tree, SL_TREE_ROOT, file->name, &file->ino) < 0) {
		file->ino = 0;
	}
	return file;
}

/* Block `b` may hold this version from now on. `only`: nothing else. */
static void version_add(struct promise *file, int b, uint64_t version, bool failed, bool only)
{
	file->counts[b] = only ? 0 : file->counts[b];
	if (file->counts[b] < PROMISE_VERSIONS) {
		file->unsure[b][file->counts[b]] = failed;
		file->versions[b][file->counts[b]++] = version;
	}
}

/* What was acknowledged last stays, and what failed. */
static void versions_commit(struct promise *file, int b)
{
	uint32_t kept = 0, last = 0;

	for (uint32_t v = 0; v < file->counts[b]; v++) {
		last = file->unsure[b][v] ? last : v;
	}
	for (uint32_t v = 0; v < file->counts[b]; v++) {
		if (v == last || file->unsure[b][v]) {
			file->unsure[b][kept] = file->unsure[b][v];
			file->versions[b][kept++] = file->versions[b][v];
		}
	}
	file->counts[b] = kept;
}

static void file_write(struct promises *promises, struct sl_tree *tree, struct promise *file, int b,
		       enum sl_stable stable)
{
	uint64_t cells[PROMISE_BLOCK_BYTES / 8], version = ++promises->last_version;
	int rc;

	if (!file->ino || has_ended(promises)) {
		return;
	}
	for (size_t i = 0; i < sizeof(cells) / 8; i++) {
		cells[i] = version;
	}
	rc = tree->ops->write(tree, file->ino, (uint64_t)b * PROMISE_BLOCK_BYTES, cells, sizeof(cells),
			      stable);
	rc = answer(promises, tree, rc);
	version_add(file, b, version, rc != 0, rc == 0 && stable != SL_UNSTABLE);
	/* Who may rely on the bytes may rely on the file. */
	file->maybe_gone = file->maybe_gone && (rc != 0 || stable == SL_UNSTABLE);
}

static void file_commit(struct promises *promises, struct sl_tree *tree, struct promise *file)
{
	if (!file->ino || has_ended(promises) ||
	    answer(promises, tree, tree->ops->commit(tree, file->ino)) != 0) {
		return;
	}
	for (int b = 0; b < PROMISE_BLOCKS; b++) {
		versions_commit(file, b);
	}
}

static void file_cut(struct promises *promises, struct sl_tree *tree, struct promise *file, int blocks)
{
	struct sl_setattr set = {.mask = SL_SET_SIZE, .size_bytes = (uint64_t)blocks * PROMISE_BLOCK_BYTES};
	int rc;

	if (!file->ino || has_ended(promises)) {
		return;
	}
	rc = answer(promises, tree, tree->ops->setattr(tree, file->ino, &set, NULL));
	for (int b = blocks; b < PROMISE_BLOCKS; b++) {
		version_add(file, b, 0, rc != 0, rc == 0);
	}
}

/* Who has this name loses it to `winner`, or may have lost it. */
static void name_lose(struct promises *promises, const char *name, const struct promise *winner, bool surely)
{
	for (int i = 0; i < PROMISE_FILES; i++) {
		struct promise *file = &promises->files[i];

		if (file != winner && file->known && strcmp(file->name, name) == 0) {
			file->maybe_gone = true;
			file->known = !surely;
			file->ino = 0;
		}
	}
}

static void file_rename(struct promises *promises, struct sl_tree *tree, struct promise *file, char prefix,
			const char *name)
{
	char from[sizeof(file->name)], to[sizeof(file->name)];
	int rc;

	if (!file->ino || has_ended(promises)) {
		return;
	}
	memcpy(from, file->name, sizeof(from));
	(void)snprintf(to, sizeof(to), "%c%s", prefix, name);
	rc = answer(promises, tree, tree->ops->rename(tree, SL_TREE_ROOT, from, SL_TREE_ROOT, to));
	name_lose(promises, to, file, rc == 0);
	memcpy(rc == 0 ? file->name : file->or_name, to, sizeof(to));
	if (rc) {
		file->ino = 0; /* under which name it goes on is not followed */
	}
}

static void file_link(struct promises *promises, struct sl_tree *tree, struct promise *file, char prefix,
		      const char *name)
{
	char to[sizeof(file->name)];

	if (!file->ino || has_ended(promises)) {
		return;
	}
	(void)snprintf(to, sizeof(to), "%c%s", prefix, name);
	memcpy(answer(promises, tree, tree->ops->link(tree, file->ino, SL_TREE_ROOT, to)) == 0
		   ? file->also_name
		   : file->or_name,
	       to, sizeof(to));
}

static void file_remove(struct promises *promises, struct sl_tree *tree, struct promise *file)
{
	int rc;

	if (!file->ino || has_ended(promises)) {
		return;
	}
	rc = answer(promises, tree, tree->ops->remove(tree, SL_TREE_ROOT, file->name, file->type));
	file->maybe_gone = true;
	file->known = rc != 0;
	file->ino = 0;
}

void promises_load(struct promises *promises, struct sl_tree *tree, char prefix)
{
	struct promise *a = file_make(promises, tree, prefix, "a", SL_FT_REG), *b, *c, *d, *e;

	file_write(promises, tree, a, 0, SL_FILE_SYNC);
	file_write(promises, tree, a, 2, SL_DATA_SYNC);
	b = file_make(promises, tree, prefix, "b", SL_FT_REG);
	for (int block = 0; block < PROMISE_BLOCKS; block++) {
		file_write(promises, tree, b, block, SL_UNSTABLE);
	}
	file_write(promises, tree, b, 1, SL_FILE_SYNC);
	file_commit(promises, tree, b);
	file_write(promises, tree, a, 0, SL_FILE_SYNC); /* over what is there */
	c = file_make(promises, tree, prefix, "c", SL_FT_REG);
	file_write(promises, tree, c, 3, SL_FILE_SYNC);
	file_rename(promises, tree, c, prefix, "d");
	file_write(promises, tree, c, 0, SL_FILE_SYNC);
	file_link(promises, tree, c, prefix, "e");
	d = file_make(promises, tree, prefix, "link", SL_FT_LNK);
	e = file_make(promises, tree, prefix, "dir", SL_FT_DIR);
	file_rename(promises, tree, b, prefix, "a"); /* over another file */
	file_write(promises, tree, b, 2, SL_UNSTABLE);
	file_cut(promises, tree, b, 1);
	file_remove(promises, tree, e);
	file_remove(promises, tree, d);
	e = file_make(promises, tree, prefix, "gone", SL_FT_REG);
	file_write(promises, tree, e, 0, SL_FILE_SYNC);
	file_remove(promises, tree, e);
	e = file_make(promises, tree, prefix, "gone", SL_FT_REG);
	file_write(promises, tree, e, 1, SL_UNSTABLE); /* in memory at the end */
	(void)file_make(promises, tree, prefix, "link2", SL_FT_LNK);
}

int promises_probe(struct sl_tree *tree, const char *name)
{
	uint64_t ino;
	int rc = tree->ops->create(tree, SL_TREE_ROOT, name, SL_FT_REG, NULL, &ino);

	rc = rc ? rc : tree->ops->write(tree, ino, 0, "alive", 5, SL_FILE_SYNC);
	return rc || !tree->settles ? rc : tree->ops->settle(tree);
}

/* Is all that the block holds among what it may hold? */
static bool block_fits(const struct promise *file, int b, struct sl_tree *tree, uint64_t ino)
{
	uint64_t cells[PROMISE_BLOCK_BYTES / 8] = {0};
	uint32_t got = 0;
	bool eof;

	if (tree->ops->read(tree, ino, (uint64_t)b * PROMISE_BLOCK_BYTES, cells, sizeof(cells), &got, &eof) <
	    0) {
		return false;
	}
	for (size_t i = 0; i < sizeof(cells) / 8; i++) {
		bool fits = false;

		for (uint32_t v = 0; v < file->counts[b]; v++) {
			fits = fits || cells[i] == file->versions[b][v];
		}
		if (!fits) {
			return false;
		}
	}
	return true;
}

/* 1: it is there under this name, and whole; 0: it is not; -1: another file is, or its bytes are wrong. */
static int file_at(const struct promise *file, const char *name, struct sl_tree *tree)
{
	char target[SL_TREE_TARGET_MAX + 1];
	struct sl_attr attr;
	uint64_t ino;

	if (name[0] == '\0' || tree->ops->lookup(tree, SL_TREE_ROOT, name, &ino) < 0) {
		return 0;
	}
	if (tree->ops->getattr(tree, ino, &attr) < 0 || attr.type != file->type) {
		return -1;
	}
	if (file->type == SL_FT_LNK) {
		return tree->ops->readlink(tree, ino, target) == 0 && strcmp(target, "target") == 0 ? 1 : -1;
	}
	for (int b = 0; b < PROMISE_BLOCKS && file->type == SL_FT_REG; b++) {
		if (!block_fits(file, b, tree, ino)) {
			return -1;
		}
	}
	return 1;
}

struct stray {
	const struct promises *promises;
	char name[16];
};

/* A name that nobody may have is one that came back, or was never asked for. */
static bool name_explain(void *arg, const char *name, uint64_t ino, uint64_t cookie)
{
	struct stray *stray = arg;

	(void)ino;
	(void)cookie;
	if (strncmp(name, "probe", 5) == 0) {
		return true;
	}
	for (int i = 0; i < PROMISE_FILES; i++) {
		const struct promise *file = &stray->promises->files[i];

		if (file->known && (strcmp(name, file->name) == 0 || strcmp(name, file->or_name) == 0 ||
				    strcmp(name, file->also_name) == 0)) {
			return true;
		}
	}
	(void)snprintf(stray->name, sizeof(stray->name), "%s", name);
	return false;
}

bool promises_audit(struct promises *promises, struct sl_tree *tree)
{
	struct stray stray = {.promises = promises};

	for (int i = 0; i < PROMISE_FILES; i++) {
		const struct promise *file = &promises->files[i];
		int here, there;

		if (!file->known) {
			continue;
		}
		here = file_at(file, file->name, tree);
		there = file_at(file, file->or_name, tree);
		if ((here <= 0 && there <= 0 && !file->maybe_gone) ||
		    (file->also_name[0] && file_at(file, file->also_name, tree) <= 0)) {
			(void)snprintf(promises->error, sizeof(promises->error), "\"%s\" %s", file->name,
				       here < 0 || there < 0 ? "has the wrong bytes" : "is lost");
			return false;
		}
	}
	if (tree->ops->readdir(tree, SL_TREE_ROOT, 0, name_explain, &stray) < 0 || stray.name[0]) {
		(void)snprintf(promises->error, sizeof(promises->error), "\"%s\" is there, and should not be",
			       stray.name);
		return false;
	}
	return true;
}
