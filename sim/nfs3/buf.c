#include "sim/nfs3/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUF_MIN 4096u
/* An empty buffer larger than this gives its memory back, so that one burst does not pin it. */
#define BUF_KEEP (8u << 20)

void sl_buf_fini(struct sl_buf *buf)
{
	free(buf->data);
	memset(buf, 0, sizeof(*buf));
}

uint8_t *sl_buf_reserve(struct sl_buf *buf, size_t size)
{
	size_t used = sl_buf_size(buf);
	size_t cap = buf->cap ? buf->cap : BUF_MIN;
	uint8_t *grown;

	if (buf->cap - buf->tail >= size && buf->data) {
		return buf->data + buf->tail;
	}
	/* Moving at most as much as is free keeps the cost per byte constant. */
	if (buf->data && buf->cap - used >= size && buf->head >= used) {
		memcpy(buf->data, buf->data + buf->head, used);
		buf->head = 0;
		buf->tail = used;
		return buf->data + buf->tail;
	}
	while (cap - used < size) {
		cap *= 2;
	}
	grown = malloc(cap);
	if (!grown) {
		return NULL;
	}
	if (buf->data) {
		memcpy(grown, buf->data + buf->head, used);
	}
	free(buf->data);
	buf->data = grown;
	buf->cap = cap;
	buf->head = 0;
	buf->tail = used;
	return buf->data + buf->tail;
}

int sl_buf_append(struct sl_buf *buf, const void *bytes, size_t size)
{
	uint8_t *to;

	if (size == 0) {
		return 0;
	}
	to = sl_buf_reserve(buf, size);
	if (!to) {
		return -ENOMEM;
	}
	memcpy(to, bytes, size);
	buf->tail += size;
	return 0;
}

void sl_buf_trim(struct sl_buf *buf)
{
	if (sl_buf_size(buf) == 0) {
		sl_buf_fini(buf);
	}
}

void sl_buf_consume(struct sl_buf *buf, size_t size)
{
	size_t used = sl_buf_size(buf);

	buf->head += size < used ? size : used;
	if (buf->head == buf->tail) {
		buf->head = 0;
		buf->tail = 0;
		if (buf->cap > BUF_KEEP) {
			sl_buf_fini(buf);
		}
	}
}
