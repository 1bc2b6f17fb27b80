#include "tests/system/nfs_oracle_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node *node_new(enum kind kind, unsigned mode)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node || (kind == REGULAR && !(node->data = calloc(1, FILE_MAX)))) {
		abort();
	}
	node->kind = kind;
	node->mode = mode;
	return node;
}

void node_unlink(struct node *node)
{
	if (--node->links == 0) {
		free(node->data);
		free(node);
	}
}

unsigned depth_of(const struct node *dir)
{
	unsigned depth = 0;

	for (; dir->parent; dir = dir->parent) {
		depth++;
	}
	return depth;
}

bool is_empty(const struct node *dir)
{
	for (unsigned i = 0; i < NAMES; i++) {
		if (dir->names[i]) {
			return false;
		}
	}
	return true;
}

bool is_above(const struct node *node, const struct node *dir)
{
	while (dir && dir != node) {
		dir = dir->parent;
	}
	return dir == node;
}

unsigned links_of(const struct node *node)
{
	unsigned links = node->links;

	if (node->kind != DIRECTORY) {
		return links;
	}
	for (unsigned i = 0; i < NAMES; i++) {
		links += node->names[i] && node->names[i]->kind == DIRECTORY;
	}
	return links + 1;
}

static void name_add(char path[PATH_BYTES], unsigned number)
{
	size_t used = strlen(path);

	(void)snprintf(path + used, PATH_BYTES - used, "/n%u", number);
}

void path_of(const struct node *dir, char ret[PATH_BYTES])
{
	if (!dir->parent) {
		ret[0] = '\0';
		return;
	}
	path_of(dir->parent, ret);
	name_add(ret, dir->place);
}

void name_path(const struct node *dir, unsigned number, char ret[PATH_BYTES])
{
	path_of(dir, ret);
	name_add(ret, number);
}

int rename_want(const struct node *node, const struct node *victim, const struct node *to_dir)
{
	if (!node) {
		return -ENOENT;
	}
	if (is_above(node, to_dir)) {
		return -EINVAL;
	}
	if (!victim || victim == node) {
		return 0;
	}
	if (victim->kind == DIRECTORY) {
		return node->kind != DIRECTORY ? -EISDIR : is_empty(victim) ? 0 : -ENOTEMPTY;
	}
	return node->kind == DIRECTORY ? -ENOTDIR : 0;
}
