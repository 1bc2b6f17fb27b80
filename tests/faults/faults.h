/*
 * One call of this process fails, once: the n-th of those that a kind of fault can hit. Who counts n up until
 * a run meets no fault has tried every place (docs/decisions/0019). Calls on files, folders and sockets fail
 * through trap.h, memory through malloc and its kin, which this file defines: link it only where that is
 * wanted.
 */
#ifndef SL_TESTS_FAULTS_FAULTS_H
#define SL_TESTS_FAULTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

enum sl_fault {
	SL_FAULT_NONE,
	SL_FAULT_ENOSPC, /* what makes a file or folder grow, and fsync */
	SL_FAULT_EIO,    /* any call on a file or folder; close() closes and fails all the same */
	SL_FAULT_SHORT,  /* half of the bytes, of a file or a socket; no error */
	SL_FAULT_EINTR,  /* read, write, send, receive, accept: a signal came first */
	SL_FAULT_EMFILE, /* what makes a descriptor */
	SL_FAULT_RESET,  /* the peer of a socket is gone: ECONNRESET, ECONNABORTED of accept */
	SL_FAULT_NOMEM,  /* malloc, calloc, realloc, ...: NULL */
	SL_FAULT_KINDS
};

/* Shared with whoever watches; survives a kill of the process. */
struct sl_faults_state {
	uint64_t calls;    /* that the kind could have hit so far */
	uint64_t injected; /* 1: it has failed */
	char what[400];    /* the call that failed, and who called: "module+offset" each, for addr2line */
};

struct sl_faults_plan {
	enum sl_fault kind;
	uint64_t at;       /* 1: the first call; 0: none, calls are counted only */
	bool lasting;      /* not once: from then on the same call fails (ENOMEM: any) */
	const char *only;  /* only this call, by its name ("fsync"); NULL: each that the kind can hit */
	const char *under; /* only files at or below this path, and no sockets; NULL: everything but stderr */
};

const char *sl_fault_name(enum sl_fault kind);
/* SL_FAULT_NONE when there is no such kind. */
enum sl_fault sl_fault_from_name(const char *name);

/* Counts from now on. `plan` is copied, its texts are not; `state` is borrowed. 0 or negative errno. */
int sl_faults_start(const struct sl_faults_plan *plan, struct sl_faults_state *state);
/* No call fails or is counted any more. */
void sl_faults_stop(void);

#endif
