/* One item of a list of disks as people write it. */
#ifndef SL_CLI_INIT_LIST_H
#define SL_CLI_INIT_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Splits "NAME x 4", "4x NAME", "4 NAME", "NAME*4" (also with the sign of multiplication) into the name, its
 * words joined by blanks, and the number: 0 where none is said, -1 where two are. A number at the end without
 * an x may be a part of the name and stays there. False when `size` does not hold the name.
 */
bool sl_init_item(const char *text, char *name, size_t size, int *ret_count);

/* Takes a number from 1 to 64 off the end of "NAME 4"; 0 when there is none. */
int sl_init_item_tail(char *name);

#endif
