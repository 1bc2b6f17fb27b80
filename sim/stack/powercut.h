/* Cuts of the power over a scenario: every variant x workload is run once, then cut as often as asked. */
#ifndef SL_STACK_POWERCUT_H
#define SL_STACK_POWERCUT_H

#include "sim/stack/audit.h"

#define SL_POWERCUT_NOTES_MAX 64
#define SL_POWERCUT_NOTE_MAX 240
#define SL_POWERCUT_AT_MAX 64

/* When to cut. Events are the instants at which something changed hands: sent, answered, promised, done,
 * safe. */
enum sl_when {
	SL_WHEN_RANDOM, /* at n events, drawn with the seed */
	SL_WHEN_AT,     /* at given times */
	SL_WHEN_EVERY   /* at every event of a window */
};

struct sl_powercut_options {
	const int *variants, *workloads; /* indices; NULL = all */
	int n_variants, n_workloads;
	uint64_t seed;
	enum sl_when when;
	uint64_t n_random;
	int n_at;
	int64_t at_ns[SL_POWERCUT_AT_MAX];
	int64_t from_ns, to_ns; /* the window, both ends included */
	enum sl_radius radius;
	enum sl_fault fault;
	int64_t pulled_ns;
	int client; /* an enum sl_nfs_client; -1 = the box's own */
	enum sl_zil_broken broken;
	/* As in struct sl_run_options. */
	bool (*progress)(void *arg, int done, int total);
	void *progress_arg;
	/* Asked every few milliseconds, true ends the run with the cuts made so far. NULL: never. */
	bool (*stopped)(void);
};

struct sl_verdict {
	int variant, workload;
	enum sl_nfs_client client;
	double rate;                /* of the run, in the workload's unit */
	int64_t end_ns;             /* of the run */
	bool at_least;              /* it was too short for the worst loss: less than two txgs */
	uint32_t followed;          /* one in so many writes, at the worst; 1 = all */
	uint64_t acknowledged;      /* writes, by the end */
	uint64_t n_cuts, lossy;     /* and how many of them lost something */
	double mean_lost;           /* writes per cut */
	struct sl_outcome worst;    /* of the cuts: most writes lost, then oldest, then most to replay */
	int64_t window_ns;          /* the oldest write lost in any */
	uint64_t causes[SL_CAUSES]; /* cuts whose oldest lost write it answers for */
	uint64_t most_resent, most_rolled_back; /* writes; txgs */
	uint64_t most_blocks;                   /* replayed */
	int64_t longest_answer_ns;              /* of a write in the run: what a pulled log device costs */
	char why[200];                          /* who answers, in words */
};

struct sl_powercut {
	const struct sl_scenario *scenario; /* borrowed */
	bool real;                          /* not computed: machines lost their power, once a variant */
	struct sl_powercut_options options; /* copied; what they point to is borrowed */
	int n_verdicts;
	struct sl_verdict *verdicts; /* owned */
	int n_notes;                 /* what was left out, and why */
	char notes[SL_POWERCUT_NOTES_MAX][SL_POWERCUT_NOTE_MAX];
	bool stopped; /* by progress or `stopped` */
};

/* A variant that cannot be cut as asked (after its end, no log device to take) becomes a note and the rest
 * goes on. Release with sl_powercut_fini, also after an error. Errors: those of the boxes, -ENOMEM. */
int sl_powercut_run(const struct sl_scenario *sc, const struct sl_powercut_options *options,
		    struct sl_powercut *ret, struct sl_err *err);
void sl_powercut_fini(struct sl_powercut *powercut);

/* One cell, for those that have no scenario. */
int sl_powercut_cell(const struct sl_box *box, const struct sl_workload *workload,
		     const struct sl_powercut_options *options, struct sl_verdict *ret, struct sl_err *err);

const char *sl_fault_name(enum sl_fault fault);            /* "none", "slog", "slog-side", "slog-pulled" */
const char *sl_zil_broken_name(enum sl_zil_broken broken); /* "none", "flush", "early-ack", "order" */

#endif
