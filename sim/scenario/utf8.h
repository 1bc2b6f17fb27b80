/* UTF-8 of files from anywhere: what is a character, and which of them stand in a text. */
#ifndef SL_SCENARIO_UTF8_H
#define SL_SCENARIO_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the sequence at `p`, of which `left` > 0 bytes are there, and its code point in *ret; 0 when it is
 * not valid. */
size_t sl_utf8_decode(const unsigned char *p, size_t left, uint32_t *ret);

/* No control character but tab and line ends, and nothing that YAML forbids. */
bool sl_utf8_is_text(uint32_t code);

#endif
