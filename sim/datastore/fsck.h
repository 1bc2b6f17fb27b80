/*
 * The folder of a durable tree that no server has open: what is damaged, and what can be brought back. A
 * repair writes a new journal with every name that the records still tell, gives files that no name leads to
 * one below /lost+found, and keeps what it replaces in data/lost+found. Nothing is unlinked.
 */
#ifndef SL_DATASTORE_FSCK_H
#define SL_DATASTORE_FSCK_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

enum sl_fsck_word {
	SL_FSCK_NOTE,   /* no damage: a kill explains it, or it is only worth knowing */
	SL_FSCK_DAMAGE, /* what is wrong */
	SL_FSCK_MEND    /* what a repair does about the damage before it */
};

struct sl_fsck_options {
	const char *dir;
	bool repair; /* say SL_FSCK_MEND lines too */
	bool write;  /* and do what they say */
	void (*say)(void *arg, enum sl_fsck_word word,
		    const char *line); /* one line, no control characters */
	void *arg;
};

struct sl_fsck_found {
	uint32_t damages;
	uint32_t names;    /* of the tree as it is, or as it is after the repair */
	uint32_t returned; /* files and folders that a repair names below /lost+found */
	uint32_t dropped;  /* names whose contents are missing */
};

/* 0 or a negative errno: -ENOENT, -ENOTDIR, -EINVAL (not a datastore), -EBUSY (a server has it), -ENOTSUP
 * (another version's), -EIO ... Without `write` nothing in the folder is changed. */
int sl_fsck(const struct sl_fsck_options *options, struct sl_fsck_found *ret, struct sl_err *err);

#endif
