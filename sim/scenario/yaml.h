/*
 * YAML files of the project as libyaml documents, with caps against hostile input: regular files of at most
 * 1 MiB, UTF-8 without control characters, one document, nesting <= 16, <= 20000 nodes, no anchors, aliases
 * or tags, no duplicate keys. After a successful load every map key is a scalar and unique.
 */
#ifndef SL_SCENARIO_YAML_H
#define SL_SCENARIO_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "sim/base/err.h"

#define SL_YAML_BYTES_MAX ((size_t)1024 * 1024)
#define SL_YAML_DEPTH_MAX 16
#define SL_YAML_NODES_MAX 20000
#define SL_YAML_LABEL_MAX 192
#define SL_YAML_WORD_MAX 64
#define SL_YAML_WHERE_MAX (SL_YAML_LABEL_MAX + SL_YAML_WORD_MAX + 48)

/* Filled by a load; release with sl_yaml_free after success only. Nodes live as long as it. */
struct sl_yaml {
	char label[SL_YAML_LABEL_MAX]; /* names the text in messages; the tail of a long path */
	bool positions;                /* messages carry line and column */
	char word[SL_YAML_WORD_MAX];   /* KEY=VALUE as typed, or its beginning; "" = none */
	size_t word_column;            /* of the value in it, from 0 */
	yaml_document_t doc;
};

struct sl_yaml_pair {
	const yaml_node_t *key_node, *value;
	const char *key;
};

/* Reads `path`. Errors: -ENOENT and other errno of open, -EISDIR, -EFBIG, -EINVAL, -ENOMEM. */
int sl_yaml_load_file(struct sl_yaml *yaml, const char *path, struct sl_err *err);
/* The same from memory; `label` stands for the path. Errors: -EFBIG, -EINVAL, -ENOMEM. */
int sl_yaml_load_buffer(struct sl_yaml *yaml, const char *bytes, size_t size, const char *label,
			bool positions, struct sl_err *err);
/* The value of a word KEY=VALUE: messages carry the word and the column in it, sl_yaml_where the label alone.
 */
int sl_yaml_load_value(struct sl_yaml *yaml, const char *key, const char *value, const char *label,
		       struct sl_err *err);
void sl_yaml_free(struct sl_yaml *yaml);

/* Never NULL: an empty document is refused by the loader. */
const yaml_node_t *sl_yaml_root(struct sl_yaml *yaml);
/* Pairs of a map in file order; `index` below sl_yaml_pairs(map). */
int sl_yaml_pairs(const yaml_node_t *map);
struct sl_yaml_pair sl_yaml_pair(struct sl_yaml *yaml, const yaml_node_t *map, int index);
/* Value of `key` in a map, NULL when absent. */
const yaml_node_t *sl_yaml_get(struct sl_yaml *yaml, const yaml_node_t *map, const char *key);
/* Items of a list; `index` below sl_yaml_items(list). */
int sl_yaml_items(const yaml_node_t *list);
const yaml_node_t *sl_yaml_item(struct sl_yaml *yaml, const yaml_node_t *list, int index);

/* Text of a scalar with a value; otherwise NULL and *err says that `key` needs one. */
const char *sl_yaml_scalar(const struct sl_yaml *yaml, const yaml_node_t *node, const char *key,
			   struct sl_err *err);
/* 0, or -EINVAL with a message when `node` is no map / no list. */
int sl_yaml_want_map(const struct sl_yaml *yaml, const yaml_node_t *node, const char *key,
		     struct sl_err *err);
int sl_yaml_want_list(const struct sl_yaml *yaml, const yaml_node_t *node, const char *key,
		      struct sl_err *err);
/* The root must be a map whose `format` is `want`. */
int sl_yaml_want_format(struct sl_yaml *yaml, const char *want, struct sl_err *err);

/* "file:line:column" of a node, or the label alone. */
void sl_yaml_where(const struct sl_yaml *yaml, const yaml_node_t *node, char *buf, size_t size);
/* Sets -EINVAL and "file:line:column: key: text" (`key` may be NULL) and returns -EINVAL. */
int sl_yaml_fail(const struct sl_yaml *yaml, const yaml_node_t *node, const char *key, struct sl_err *err,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Puts place and key before the present message and returns err->code. */
int sl_yaml_wrap(const struct sl_yaml *yaml, const yaml_node_t *node, const char *key, struct sl_err *err);

#endif
