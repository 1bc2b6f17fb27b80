#include "sim/guest/extents.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/base/oom.h"

#define NONE 0u

struct sl_extents_node {
	struct sl_extent range;
	uint32_t left, right;
	uint32_t rank; /* of the heap: the same for the same node, so that a run repeats itself */
};

static struct sl_extents_node *at(const struct sl_extents *set, uint32_t node)
{
	return &set->nodes[node];
}

/* The n-th rank: a bijective mix of n, no two alike. */
static uint32_t rank_of(uint32_t n)
{
	n = (n ^ (n >> 16)) * 0x7feb352du;
	n = (n ^ (n >> 15)) * 0x846ca68bu;
	return n ^ (n >> 16);
}

static uint32_t node_get(struct sl_extents *set, struct sl_extent range)
{
	uint32_t node = set->idle;

	if (node != NONE) {
		set->idle = at(set, node)->left;
	} else {
		if (set->used + 1 >= set->room) {
			uint32_t room = set->room ? 2 * set->room : 8;
			struct sl_extents_node *nodes = realloc(set->nodes, room * sizeof(*nodes));

			if (!nodes) {
				sl_oom();
			}
			set->nodes = nodes;
			set->room = room;
		}
		node = ++set->used;
		at(set, node)->rank = rank_of(node);
	}
	at(set, node)->range = range;
	at(set, node)->left = at(set, node)->right = NONE;
	set->count++;
	set->bytes += range.end - range.start;
	return node;
}

static void node_put(struct sl_extents *set, uint32_t node)
{
	set->count--;
	set->bytes -= at(set, node)->range.end - at(set, node)->range.start;
	at(set, node)->left = set->idle;
	set->idle = node;
}

/* Ranges that start before `key` go left, the others right. */
static void split(struct sl_extents *set, uint32_t root, int64_t key, uint32_t *left, uint32_t *right)
{
	while (root != NONE) {
		struct sl_extents_node *node = at(set, root);

		if (node->range.start < key) {
			*left = root;
			left = &node->right;
			root = node->right;
		} else {
			*right = root;
			right = &node->left;
			root = node->left;
		}
	}
	*left = *right = NONE;
}

/* All of `left` lies before all of `right`. */
static uint32_t merge(struct sl_extents *set, uint32_t left, uint32_t right)
{
	uint32_t root, *hole = &root;

	while (left != NONE && right != NONE) {
		if (at(set, left)->rank > at(set, right)->rank) {
			*hole = left;
			hole = &at(set, left)->right;
			left = *hole;
		} else {
			*hole = right;
			hole = &at(set, right)->left;
			right = *hole;
		}
	}
	*hole = left != NONE ? left : right;
	return root;
}

/* The last range that starts before `key`, and the first that does not; NONE where there is none. */
static void neighbours(const struct sl_extents *set, int64_t key, uint32_t *before, uint32_t *from)
{
	*before = *from = NONE;
	for (uint32_t node = set->root; node != NONE;) {
		if (at(set, node)->range.start < key) {
			*before = node;
			node = at(set, node)->right;
		} else {
			*from = node;
			node = at(set, node)->left;
		}
	}
}

static void insert(struct sl_extents *set, struct sl_extent range)
{
	uint32_t node = node_get(set, range), left, right;

	if (set->root == NONE) { /* a log: what is written is synced before the next write */
		set->root = node;
		return;
	}
	split(set, set->root, range.start, &left, &right);
	set->root = merge(set, merge(set, left, node), right);
}

/* Takes out the one range that starts at `start`. */
static void delete_at(struct sl_extents *set, int64_t start)
{
	uint32_t left, middle, right;

	if (set->count == 1) {
		node_put(set, set->root);
		set->root = NONE;
		return;
	}
	split(set, set->root, start, &left, &right);
	split(set, right, start + 1, &middle, &right);
	assert(middle != NONE && at(set, middle)->left == NONE && at(set, middle)->right == NONE);
	node_put(set, middle);
	set->root = merge(set, left, right);
}

static void set_end(struct sl_extents *set, uint32_t node, int64_t end)
{
	set->bytes += end - at(set, node)->range.end;
	at(set, node)->range.end = end;
}

/* Lets the range swallow those behind it that it has come to touch. */
static void absorb(struct sl_extents *set, int64_t start)
{
	for (;;) {
		struct sl_extent next;
		uint32_t node, from;

		neighbours(set, start + 1, &node, &from);
		if (from == NONE || at(set, from)->range.start > at(set, node)->range.end) {
			return;
		}
		next = at(set, from)->range;
		delete_at(set, next.start);
		if (next.end > at(set, node)->range.end) {
			set_end(set, node, next.end);
		}
	}
}

int64_t sl_extents_add(struct sl_extents *set, int64_t start, int64_t end)
{
	int64_t before_bytes = set->bytes;
	uint32_t before, from;

	assert(start < end);
	neighbours(set, start + 1, &before, &from);
	if (before != NONE && at(set, before)->range.end >= start) {
		start = at(set, before)->range.start;
		if (end > at(set, before)->range.end) {
			set_end(set, before, end);
		}
	} else {
		insert(set, (struct sl_extent){start, end});
	}
	if (from != NONE) {
		absorb(set, start);
	}
	return set->bytes - before_bytes;
}

int64_t sl_extents_remove(struct sl_extents *set, int64_t start, int64_t end)
{
	int64_t before_bytes = set->bytes;
	struct sl_extent range;

	assert(start < end);
	while (sl_extents_find(set, start, &range) && range.start < end) {
		delete_at(set, range.start);
		if (range.start < start) {
			insert(set, (struct sl_extent){range.start, start});
		}
		if (range.end > end) {
			insert(set, (struct sl_extent){end, range.end});
		}
	}
	return before_bytes - set->bytes;
}

bool sl_extents_find(const struct sl_extents *set, int64_t from, struct sl_extent *ret)
{
	uint32_t before, next;

	neighbours(set, from + 1, &before, &next);
	if (before != NONE && at(set, before)->range.end > from) {
		next = before;
	}
	if (next == NONE) {
		return false;
	}
	*ret = at(set, next)->range;
	return true;
}

bool sl_extents_covers(const struct sl_extents *set, int64_t start, int64_t end)
{
	struct sl_extent range;

	return sl_extents_find(set, start, &range) && range.start <= start && range.end >= end;
}

void sl_extents_fini(struct sl_extents *set)
{
	free(set->nodes);
	*set = (struct sl_extents){0};
}
