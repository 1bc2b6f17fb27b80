/* UTF-8 of files from anywhere: what is a character, and which of them stand in a text. */
#ifndef SL_BASE_UTF8_H
#define SL_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the sequence at `p`, of which `left` > 0 bytes are there, and its code point in *ret; 0 when it is
 * not valid. */
size_t sl_utf8_decode(const unsigned char *p, size_t left, uint32_t *ret);

/* No control character but tab and line ends - none of C1 (0x80..0x9f) either, which terminals obey -,
 * nothing that turns the direction of a line around (bidirectional embeddings, overrides and isolates), and
 * nothing that YAML forbids. */
bool sl_utf8_is_text(uint32_t code);

/* Puts '?' in the place of whatever is no text (bytes that are not UTF-8, too), so that `text`, wherever it
 * comes from, does nothing to a terminal. */
void sl_utf8_clean(char *text);

#endif
