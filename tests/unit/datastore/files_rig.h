/* A durable tree in a folder of its own, and short words for what tests do with it. Everything asserted. */
#ifndef SL_TESTS_UNIT_SERVE_FILES_RIG_H
#define SL_TESTS_UNIT_SERVE_FILES_RIG_H

#include "sim/datastore/files.h"

#define DIRTY_MAX (1u << 20)

struct listing {
	char text[4096];
	uint64_t last_cookie;
	int limit, count;
};

void scratch_remove(char *dir);
char *scratch_new(void);
char *path_in(const char *dir, const char *name);
int files_open(const char *dir, uint64_t dirty_max, struct sl_tree **ret, struct sl_err *err);
struct sl_tree *tree_open(const char *dir, uint64_t dirty_max);
uint64_t tree_make(struct sl_tree *tree, uint64_t dir, const char *name, enum sl_ftype type);
void tree_write(struct sl_tree *tree, uint64_t ino, uint64_t offset, const char *text, enum sl_stable stable);
void tree_expect(struct sl_tree *tree, uint64_t ino, uint64_t offset, const char *text);
uint64_t tree_size(struct sl_tree *tree, uint64_t ino);
/* Adds a name to a struct listing, `limit` of them at most (0: any number). */
bool listing_add(void *arg, const char *name, uint64_t ino, uint64_t cookie);
/* Names of a folder, or NULL-free "" when it is empty. */
void tree_list(struct sl_tree *tree, uint64_t dir, struct listing *ret);
int64_t fixed_clock(void *arg);
uint64_t file_bytes(const char *path);

#endif
