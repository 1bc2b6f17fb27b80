/*
 * What a datastore's client knows after each answer: which files must be there and with what in them, what
 * may be. A call that failed may have been done or not. The audit compares this with a tree, alive or opened
 * again after a kill. Plain data: it lives in memory that a killed process leaves to its parent.
 */
#ifndef SL_TESTS_FAULTS_PROMISES_H
#define SL_TESTS_FAULTS_PROMISES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/store/tree.h"

#define PROMISE_FILES 24
#define PROMISE_BLOCKS 4
#define PROMISE_BLOCK_BYTES 4096u
#define PROMISE_VERSIONS 6

/* One file, folder or symbolic link, whatever it is called. */
struct promise {
	enum sl_ftype type;
	uint64_t ino;       /* 0: not to be used any more in this run */
	bool known;         /* there is such a file, or may be */
	bool maybe_gone;    /* it need not be there */
	char name[16];      /* where it is */
	char or_name[16];   /* or there: a rename failed */
	char also_name[16]; /* and there: a link */
	/* Versions that a block may hold, each 8 bytes over and over; 0 is what was never written. */
	uint64_t versions[PROMISE_BLOCKS][PROMISE_VERSIONS];
	bool unsure[PROMISE_BLOCKS][PROMISE_VERSIONS]; /* the write failed: it may be there, and never must */
	uint32_t counts[PROMISE_BLOCKS];
};

struct promises {
	struct promise files[PROMISE_FILES];
	struct promise nobody; /* what is not made any more */
	uint64_t last_version;
	uint32_t acked, failed; /* calls */
	uint32_t answered;      /* both */
	uint32_t deny; /* number of the call that is taken for failed, and for the last one; 0: none is */
	/* Once *hurry is set the client makes `patience` further calls; NULL: all of them. */
	const uint64_t *hurry;
	uint32_t patience;
	char error[512]; /* what the tree said when it could not be opened; what the audit found */
};

/* Does a little of everything under names that begin with `prefix`, noting what is acknowledged. Each call is
 * settled where the tree wants that, as the datastore does before it answers. */
void promises_load(struct promises *promises, struct sl_tree *tree, char prefix);
/* One file, made and written: after one fault the next call must work. 0 or negative errno. */
int promises_probe(struct sl_tree *tree, const char *name);
/* True when the tree keeps all of it and holds nothing else (but names that begin with "probe"). Else `error`
 * says what is wrong. */
bool promises_audit(struct promises *promises, struct sl_tree *tree);

#endif
