/* A growable run of bytes, filled at the tail and taken from the head; always contiguous. */
#ifndef SL_NFS3_BUF_H
#define SL_NFS3_BUF_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; release with sl_buf_fini. */
struct sl_buf {
	uint8_t *data;
	size_t head, tail, cap;
};

static inline size_t sl_buf_size(const struct sl_buf *buf)
{
	return buf->tail - buf->head;
}

static inline uint8_t *sl_buf_head(const struct sl_buf *buf)
{
	return buf->data ? buf->data + buf->head : NULL;
}

void sl_buf_fini(struct sl_buf *buf);

/* Makes room for `size` more bytes and returns where they go; add what was written to buf->tail. May move the
 * content. NULL when out of memory, content unharmed. */
uint8_t *sl_buf_reserve(struct sl_buf *buf, size_t size);

/* 0 or -ENOMEM. */
int sl_buf_append(struct sl_buf *buf, const void *bytes, size_t size);

/* Gives the memory of an empty buffer back. */
void sl_buf_trim(struct sl_buf *buf);

/* Takes `size` (at most all) bytes from the head. */
void sl_buf_consume(struct sl_buf *buf, size_t size);

#endif
