/* What this machine must have for a guest without a VM (vdisk.h, mariadb.h), and how to get it. */
#ifndef SL_GUESTS_NEEDS_H
#define SL_GUESTS_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

struct sl_need {
	const char *name, *purpose;
	const char
	    *path; /* a file (access mode `mode`), also a pattern of one, or a program looked up in PATH */
	const char *fix; /* a command */
	int mode;        /* R_OK, W_OK, X_OK; 0 of root */
	bool database;   /* only the database needs it */
};

/* All of them; *ret_n says how many. */
const struct sl_need *sl_needs(size_t *ret_n);
/* Is it there? `where`: what was found, or why not. */
bool sl_need_met(const struct sl_need *need, char *where, size_t size);
/* The first that is missing, NULL = none. */
const struct sl_need *sl_needs_missing(bool database);

#endif
