/* What the oracle's server should hold: a tree in memory. */
#ifndef SL_TESTS_NFS_ORACLE_TREE_H
#define SL_TESTS_NFS_ORACLE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define NAMES 12 /* n0 to n11, in each folder */
#define FILE_MAX (192u << 10)
#define PATH_BYTES 256
#define TARGET_BYTES 64

enum kind {
	DIRECTORY,
	REGULAR,
	SYMLINK
};

struct node {
	enum kind kind;
	unsigned links; /* names */
	unsigned mode;
	uint32_t size;
	uint8_t *data; /* FILE_MAX bytes of a file, zero beyond its size */
	char target[TARGET_BYTES];
	struct node *parent, *names[NAMES]; /* of a folder */
	unsigned place;                     /* of a folder: its name in the parent */
};

/* Without a name; node_unlink frees it. */
struct node *node_new(enum kind kind, unsigned mode);
/* A name goes; the node with its last one. */
void node_unlink(struct node *node);

unsigned depth_of(const struct node *dir);
bool is_empty(const struct node *dir);
/* Is `node` the folder `dir` or above it? */
bool is_above(const struct node *node, const struct node *dir);
/* As the server counts them: a folder's own "." and its subfolders' ".." too. */
unsigned links_of(const struct node *node);

/* Path of a folder, "" = the root; of a name in it. */
void path_of(const struct node *dir, char ret[PATH_BYTES]);
void name_path(const struct node *dir, unsigned number, char ret[PATH_BYTES]);

/* What a rename of `node` over `victim` (NULL: nothing there) in `to_dir` gives. */
int rename_want(const struct node *node, const struct node *victim, const struct node *to_dir);

#endif
