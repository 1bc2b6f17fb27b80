/*
 * Two passes over the text: the event parser enforces the caps before anything is built (an alias is refused
 * where it stands, so a "YAML bomb" is never expanded), then libyaml builds the document whose nodes carry
 * line and column.
 */
#include "sim/scenario/yaml.h"
#include "sim/base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void set_label(struct sl_yaml *yaml, const char *label)
{
	size_t len = strlen(label);

	if (len < sizeof(yaml->label)) {
		memcpy(yaml->label, label, len + 1);
	} else {
		(void)snprintf(yaml->label, sizeof(yaml->label), "...%s",
			       label + len - (sizeof(yaml->label) - 4));
	}
}

static void where_mark(const struct sl_yaml *yaml, yaml_mark_t mark, char *buf, size_t size)
{
	if (yaml->positions) {
		(void)snprintf(buf, size, "%s:%zu:%zu", yaml->label, mark.line + 1, mark.column + 1);
	} else {
		(void)snprintf(buf, size, "%s", yaml->label);
	}
}

/* The beginning of KEY=VALUE that fits and is one line of text. */
static void set_word(struct sl_yaml *yaml, const char *key, const char *value)
{
	size_t n;

	(void)snprintf(yaml->word, sizeof(yaml->word), "%s=%s", key, value);
	for (n = 0; (unsigned char)yaml->word[n] >= ' ' && yaml->word[n] != 0x7f; n++) {
	}
	/* Cut off: not within a character of UTF-8. */
	while (n == sizeof(yaml->word) - 1 && ((unsigned char)yaml->word[n - 1] & 0x80) != 0) {
		yaml->word[--n] = '\0';
	}
	yaml->word[n] = '\0';
	yaml->word_column = strlen(key) + 1;
}

/* Where a mistake is, for a message. */
static void where_mistake(const struct sl_yaml *yaml, yaml_mark_t mark, char *buf, size_t size)
{
	if (yaml->word[0] != '\0') {
		(void)snprintf(buf, size, "%s: %s: column %zu", yaml->label, yaml->word,
			       yaml->word_column + mark.column + 1);
	} else {
		where_mark(yaml, mark, buf, size);
	}
}

__attribute__((format(printf, 4, 5))) static int fail_mark(const struct sl_yaml *yaml, yaml_mark_t mark,
							   struct sl_err *err, const char *fmt, ...)
{
	char where[SL_YAML_WHERE_MAX], text[320];
	va_list ap;

	where_mistake(yaml, mark, where, sizeof(where));
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return sl_err_set(err, -EINVAL, "%s: %s", where, text);
}

static int check_text(const struct sl_yaml *yaml, const char *bytes, size_t size, struct sl_err *err)
{
	const unsigned char *p = (const unsigned char *)bytes;
	yaml_mark_t mark = {0};
	size_t at = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (at < size) {
		uint32_t code = 0;
		size_t len = sl_utf8_decode(p + at, size - at, &code);

		if (len == 0) {
			return fail_mark(yaml, mark, err,
					 "byte 0x%02x is not UTF-8 text; is this a binary file?", p[at]);
		}
		if (!sl_utf8_is_text(code)) {
			return fail_mark(yaml, mark, err, "control character 0x%02x; is this a binary file?",
					 code);
		}
		at += len;
		mark.column++;
		if (code == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return 0;
}

/* The byte at a mark: libyaml counts characters, not bytes. '\0' past the end. */
static char byte_at(const char *bytes, size_t size, yaml_mark_t mark)
{
	size_t at = 0, column = 0;

	for (size_t line = 0; at < size && line < mark.line; at++) {
		line += bytes[at] == '\n';
	}
	while (at < size && column < mark.column) {
		at++;
		column += at < size && ((unsigned char)bytes[at] & 0xc0) != 0x80;
	}
	return (char)(at < size ? bytes[at] : '\0');
}

static int fail_parser(const struct sl_yaml *yaml, const yaml_parser_t *parser, const char *bytes,
		       size_t size, struct sl_err *err)
{
	yaml_mark_t mark = parser->problem_mark;

	/* libyaml does not always name its want of memory, and everything else. */
	if (parser->error == YAML_MEMORY_ERROR || parser->error == YAML_NO_ERROR) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	if (parser->error == YAML_READER_ERROR) {
		mark = parser->mark;
	}
	if (byte_at(bytes, size, mark) == '\t') {
		return fail_mark(yaml, mark, err, "a tab is not allowed here; indent with spaces");
	}
	if (parser->context) {
		return fail_mark(
		    yaml, mark, err,
		    "not valid YAML: %s %s that starts at line %zu; check indentation, quotes and brackets",
		    parser->problem ? parser->problem : "syntax error", parser->context,
		    parser->context_mark.line + 1);
	}
	return fail_mark(yaml, mark, err, "not valid YAML: %s; check indentation, quotes and brackets",
			 parser->problem ? parser->problem : "syntax error");
}

static int check_scalar(const struct sl_yaml *yaml, const yaml_event_t *event, struct sl_err *err)
{
	const unsigned char *value = event->data.scalar.value;
	size_t length = event->data.scalar.length, len;

	for (size_t at = 0; at < length; at += len) {
		uint32_t code = value[at];

		len = sl_utf8_decode(value + at, length - at, &code);
		if (len == 0 || !sl_utf8_is_text(code) || code == '\r') {
			return fail_mark(yaml, event->start_mark, err,
					 "control character 0x%02x in a quoted text; remove it", code);
		}
	}
	return 0;
}

struct walk {
	int depth, nodes, documents;
};

static int check_event(const struct sl_yaml *yaml, const yaml_event_t *event, struct walk *walk,
		       struct sl_err *err)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;
	int opened = 0;

	if (event->type == YAML_ALIAS_EVENT) {
		anchor = event->data.alias.anchor;
	} else if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		opened = 1;
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		opened = 1;
	} else {
		walk->documents += event->type == YAML_DOCUMENT_START_EVENT;
		walk->depth -=
		    event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;
		return walk->documents <= 1 ? 0
					    : fail_mark(yaml, event->start_mark, err,
							"a second document; keep one document in a file");
	}
	walk->depth += opened;
	walk->nodes++;
	if (anchor) {
		return fail_mark(
		    yaml, event->start_mark, err,
		    "anchors and aliases are not allowed; write the value out, or use 'extends'");
	}
	if (tag) {
		return fail_mark(yaml, event->start_mark, err, "tags are not allowed; remove '%.40s'", tag);
	}
	if (walk->depth > SL_YAML_DEPTH_MAX) {
		return fail_mark(yaml, event->start_mark, err, "nested deeper than %d levels; flatten it",
				 SL_YAML_DEPTH_MAX);
	}
	if (walk->nodes > SL_YAML_NODES_MAX) {
		return fail_mark(yaml, event->start_mark, err, "more than %d values; split the file",
				 SL_YAML_NODES_MAX);
	}
	return event->type == YAML_SCALAR_EVENT ? check_scalar(yaml, event, err) : 0;
}

static void parser_open(yaml_parser_t *parser, const char *bytes, size_t size)
{
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(parser, (const unsigned char *)bytes, size);
}

/* First pass: caps. */
static int check_events(const struct sl_yaml *yaml, const char *bytes, size_t size, struct sl_err *err)
{
	struct walk walk = {0};
	yaml_parser_t parser;
	bool end = false;
	int rc = 0;

	if (!yaml_parser_initialize(&parser)) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	parser_open(&parser, bytes, size);
	while (!end && rc == 0) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			rc = fail_parser(yaml, &parser, bytes, size, err);
			break;
		}
		rc = check_event(yaml, &event, &walk, err);
		end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	if (rc == 0 && walk.documents == 0) {
		rc = fail_mark(yaml, (yaml_mark_t){0}, err,
			       yaml->positions ? "the file is empty; see sloglab-scenario(5) for its content"
					       : "no value given; write one");
	}
	return rc;
}

/* Second pass: the document. */
static int build(struct sl_yaml *yaml, const char *bytes, size_t size, struct sl_err *err)
{
	yaml_parser_t parser;
	int rc = 0;

	if (!yaml_parser_initialize(&parser)) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	parser_open(&parser, bytes, size);
	if (!yaml_parser_load(&parser, &yaml->doc)) {
		rc = fail_parser(yaml, &parser, bytes, size, err);
	}
	yaml_parser_delete(&parser);
	return rc;
}

static int pair_compare(const void *a, const void *b)
{
	const struct sl_yaml_pair *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (order == 0) {
		order = (x->key_node->start_mark.index > y->key_node->start_mark.index) -
			(x->key_node->start_mark.index < y->key_node->start_mark.index);
	}
	return order;
}

static int check_map(struct sl_yaml *yaml, const yaml_node_t *map, struct sl_err *err)
{
	int n = sl_yaml_pairs(map), rc = 0;
	struct sl_yaml_pair *pairs;

	if (n == 0) {
		return 0;
	}
	pairs = malloc((size_t)n * sizeof(*pairs));
	if (!pairs) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	for (int i = 0; i < n && rc == 0; i++) {
		pairs[i] = sl_yaml_pair(yaml, map, i);
		if (!pairs[i].key || !pairs[i].key[0]) {
			rc = sl_yaml_fail(yaml, pairs[i].key_node, NULL, err, "a key must be a plain word");
		}
	}
	if (rc == 0) {
		qsort(pairs, (size_t)n, sizeof(*pairs), pair_compare);
	}
	for (int i = 1; i < n && rc == 0; i++) {
		if (strcmp(pairs[i - 1].key, pairs[i].key) == 0) {
			rc = sl_yaml_fail(yaml, pairs[i].key_node, NULL, err,
					  "duplicate key '%.63s', first at line %zu; remove one of them",
					  pairs[i].key, pairs[i - 1].key_node->start_mark.line + 1);
		}
	}
	free(pairs);
	return rc;
}

static int check_maps(struct sl_yaml *yaml, struct sl_err *err)
{
	const yaml_node_t *node;
	int rc = 0;

	for (int i = 1; rc == 0 && (node = yaml_document_get_node(&yaml->doc, i)) != NULL; i++) {
		rc = node->type == YAML_MAPPING_NODE ? check_map(yaml, node, err) : 0;
	}
	return rc;
}

static int load(struct sl_yaml *yaml, const char *bytes, size_t size, struct sl_err *err)
{
	int rc;

	if (size > SL_YAML_BYTES_MAX) {
		return sl_err_set(err, -EFBIG, "%s: larger than 1 MiB; is this the right file?", yaml->label);
	}
	rc = check_text(yaml, bytes, size, err);
	if (rc == 0) {
		rc = check_events(yaml, bytes, size, err);
	}
	if (rc == 0) {
		rc = build(yaml, bytes, size, err);
	}
	if (rc) {
		return rc;
	}
	rc = check_maps(yaml, err);
	if (rc) {
		sl_yaml_free(yaml);
	}
	return rc;
}

int sl_yaml_load_buffer(struct sl_yaml *yaml, const char *bytes, size_t size, const char *label,
			bool positions, struct sl_err *err)
{
	set_label(yaml, label);
	yaml->positions = positions;
	yaml->word[0] = '\0';
	return load(yaml, bytes, size, err);
}

int sl_yaml_load_value(struct sl_yaml *yaml, const char *key, const char *value, const char *label,
		       struct sl_err *err)
{
	set_label(yaml, label);
	yaml->positions = false;
	set_word(yaml, key, value);
	return load(yaml, value, strlen(value), err);
}

/* Reads at most one byte more than allowed, so that a file that grows meanwhile is noticed too. */
static int read_all(int fd, char *buf, size_t *ret_size)
{
	size_t size = 0;

	while (size <= SL_YAML_BYTES_MAX) {
		ssize_t n = read(fd, buf + size, SL_YAML_BYTES_MAX + 1 - size);

		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		if (n == 0) {
			break;
		}
		size += n > 0 ? (size_t)n : 0;
	}
	*ret_size = size;
	return 0;
}

/* 0 and an open descriptor of a regular file. */
static int open_regular(const struct sl_yaml *yaml, const char *path, int *ret_fd, struct sl_err *err)
{
	struct stat st;
	/* O_NONBLOCK: opening a pipe that nobody writes to must not hang. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		int code = -errno;

		return sl_err_set(err, code, "%s: cannot be opened: %s; check the path", yaml->label,
				  strerror(-code));
	}
	if (fstat(fd, &st) != 0) {
		int code = -errno;

		close(fd);
		return sl_err_set(err, code, "%s: cannot be read: %s", yaml->label, strerror(-code));
	}
	if (!S_ISREG(st.st_mode)) {
		bool folder = S_ISDIR(st.st_mode);

		close(fd);
		return sl_err_set(err, folder ? -EISDIR : -EINVAL, "%s: is %s; name a YAML file", yaml->label,
				  folder ? "a folder" : "not a regular file");
	}
	*ret_fd = fd;
	return 0;
}

int sl_yaml_load_file(struct sl_yaml *yaml, const char *path, struct sl_err *err)
{
	size_t size = 0;
	char *buf;
	int fd = -1, rc;

	set_label(yaml, path);
	rc = open_regular(yaml, path, &fd, err);
	if (rc) {
		return rc;
	}
	buf = malloc(SL_YAML_BYTES_MAX + 1);
	if (!buf) {
		close(fd);
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = read_all(fd, buf, &size);
	close(fd);
	if (rc) {
		sl_err_set(err, rc, "%s: cannot be read: %s", yaml->label, strerror(-rc));
	} else {
		rc = sl_yaml_load_buffer(yaml, buf, size, path, true, err);
	}
	free(buf);
	return rc;
}

void sl_yaml_free(struct sl_yaml *yaml)
{
	yaml_document_delete(&yaml->doc);
}

const yaml_node_t *sl_yaml_root(struct sl_yaml *yaml)
{
	return yaml_document_get_root_node(&yaml->doc);
}

int sl_yaml_pairs(const yaml_node_t *map)
{
	assert(map->type == YAML_MAPPING_NODE);
	return (int)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
}

static const char *scalar_text(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

struct sl_yaml_pair sl_yaml_pair(struct sl_yaml *yaml, const yaml_node_t *map, int index)
{
	const yaml_node_pair_t *pair = map->data.mapping.pairs.start + index;
	struct sl_yaml_pair ret = {
	    .key_node = yaml_document_get_node(&yaml->doc, pair->key),
	    .value = yaml_document_get_node(&yaml->doc, pair->value),
	};

	ret.key = scalar_text(ret.key_node);
	return ret;
}

const yaml_node_t *sl_yaml_get(struct sl_yaml *yaml, const yaml_node_t *map, const char *key)
{
	for (int i = 0; i < sl_yaml_pairs(map); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(yaml, map, i);

		assert(pair.key); /* the loader lets no other keys pass */
		if (strcmp(pair.key, key) == 0) {
			return pair.value;
		}
	}
	return NULL;
}

int sl_yaml_items(const yaml_node_t *list)
{
	assert(list->type == YAML_SEQUENCE_NODE);
	return (int)(list->data.sequence.items.top - list->data.sequence.items.start);
}

const yaml_node_t *sl_yaml_item(struct sl_yaml *yaml, const yaml_node_t *list, int index)
{
	return yaml_document_get_node(&yaml->doc, list->data.sequence.items.start[index]);
}

static const char *type_name(const yaml_node_t *node)
{
	return node->type == YAML_MAPPING_NODE    ? "a map"
	       : node->type == YAML_SEQUENCE_NODE ? "a list"
						  : "a value";
}

const char *sl_yaml_scalar(const struct sl_yaml *yaml, const yaml_node_t *node, const char *key,
			   struct sl_err *err)
{
	const char *text = scalar_text(node);

	if (!text) {
		sl_yaml_fail(yaml, node, key, err, "is %s; write a single value", type_name(node));
	} else if (!text[0]) {
		sl_yaml_fail(yaml, node, key, err, "has no value; write one or remove the key");
		text = NULL;
	}
	return text;
}

int sl_yaml_want_map(const struct sl_yaml *yaml, const yaml_node_t *node, const char *key, struct sl_err *err)
{
	if (node->type == YAML_MAPPING_NODE) {
		return 0;
	}
	return sl_yaml_fail(yaml, node, key, err, "is %s; write a map, 'key: value' pairs", type_name(node));
}

int sl_yaml_want_list(const struct sl_yaml *yaml, const yaml_node_t *node, const char *key,
		      struct sl_err *err)
{
	if (node->type == YAML_SEQUENCE_NODE) {
		return 0;
	}
	return sl_yaml_fail(yaml, node, key, err, "is %s; write a list, '[...]' or lines with '- '",
			    type_name(node));
}

int sl_yaml_want_format(struct sl_yaml *yaml, const char *want, struct sl_err *err)
{
	const yaml_node_t *root = sl_yaml_root(yaml), *node;
	const char *text;

	if (root->type != YAML_MAPPING_NODE) {
		return sl_yaml_fail(yaml, root, NULL, err, "the file is %s; start with 'format: %s'",
				    type_name(root), want);
	}
	node = sl_yaml_get(yaml, root, "format");
	if (!node) {
		return sl_yaml_fail(yaml, root, "format", err, "is missing; start with 'format: %s'", want);
	}
	text = sl_yaml_scalar(yaml, node, "format", err);
	if (!text) {
		return -EINVAL;
	}
	if (strcmp(text, want) != 0) {
		return sl_yaml_fail(yaml, node, "format", err, "'%.63s' is not known here; write '%s'", text,
				    want);
	}
	return 0;
}

void sl_yaml_where(const struct sl_yaml *yaml, const yaml_node_t *node, char *buf, size_t size)
{
	where_mark(yaml, node->start_mark, buf, size);
}

int sl_yaml_wrap(const struct sl_yaml *yaml, const yaml_node_t *node, const char *key, struct sl_err *err)
{
	char where[SL_YAML_WHERE_MAX];

	size_t len = key ? strlen(key) : 0;

	where_mistake(yaml, node->start_mark, where, sizeof(where));
	if (len > 0 && strncmp(yaml->word, key, len) == 0 && yaml->word[len] == '=') {
		key = NULL; /* the word says it */
	}
	return key ? sl_err_wrap(err, "%s: %.63s", where, key) : sl_err_wrap(err, "%s", where);
}

int sl_yaml_fail(const struct sl_yaml *yaml, const yaml_node_t *node, const char *key, struct sl_err *err,
		 const char *fmt, ...)
{
	char text[320];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sl_err_set(err, -EINVAL, "%s", text);
	sl_yaml_wrap(yaml, node, key, err);
	return -EINVAL;
}
