/*
 * What to buy or to change: every candidate is a copy of the base box with one thing different, run with the
 * same seeds as the base, compared pair by pair, and judged: speed, price, endurance, what a cut loses.
 */
#ifndef SL_STACK_ADVISE_H
#define SL_STACK_ADVISE_H

#include "sim/base/err.h"
#include "sim/scenario/scenario.h"
#include "sim/stack/endurance.h"
#include "sim/stack/explain.h"
#include "sim/stack/paired.h"
#include "sim/stack/result.h"

#define SL_ADVICE_NAME_MAX 96
#define SL_ADVICE_DRIVES_MAX 256
#define SL_ADVICE_NOTES_MAX 80
#define SL_ADVICE_NOTE_MAX 200

/* Rates closer than this share are equal: the runs of published benchmarks differ by as much. */
#define SL_ADVICE_NOISE 0.02

/*
 * The rule of buying. Of the drives that last the asked years at this load, lose no more at a cut than the
 * box as it is and have a known price: the cheapest whose lower bound of rate is at least SL_ADVICE_NEAR_BEST
 * of the best one's. Nothing where the gain's interval touches SL_ADVICE_WORTH. A setting costs nothing and
 * competes as such; what not everybody has (cores, memory, room to rebuild) is named in place of a drive only
 * where no drive comes within SL_ADVICE_NEAR_BEST of it. Where more than SL_ADVICE_MOST of a transaction's
 * time are reads of the database, a log device takes away no more of them than their waiting behind the log:
 * one is bought only for a gain above SL_ADVICE_WORTH_READS, a quarter of the time.
 */
#define SL_ADVICE_WORTH 1.05
#define SL_ADVICE_NEAR_BEST 0.95
#define SL_ADVICE_MOST 0.5
#define SL_ADVICE_WORTH_READS 1.33

enum sl_change {
	SL_CHANGE_NONE,     /* the base itself: buy nothing, change nothing */
	SL_CHANGE_SETTING,  /* costs nothing */
	SL_CHANGE_CORES,    /* costs nothing where the host has idle cores */
	SL_CHANGE_MEMORY,   /* costs nothing where the host has it */
	SL_CHANGE_REBUILD,  /* costs nothing but building the pool anew, and room */
	SL_CHANGE_PURCHASE, /* another log device */
	SL_CHANGE_BOTH      /* a purchase and a change */
};

/* Does what a row buys last the asked years at this load, day and night? */
enum sl_life {
	SL_LIFE_LASTS, /* or nothing wears */
	SL_LIFE_SHORT,
	SL_LIFE_UNKNOWN /* not rated, or not known what is written to it */
};

/* A drive of the catalogue that was asked for and can be a log device. */
struct sl_advice_drive {
	struct sl_dev_spec spec;
	bool assumed;        /* no figure of its speed is spec, measured or derived */
	int figures_assumed; /* how many are only assumed */
	char price_source[160];
};

struct sl_candidate {
	char name[SL_ADVICE_NAME_MAX]; /* "mirror of 2 x intel-dc-s3500-80" */
	enum sl_change change;
	int drive, n_drives; /* position in drives and how many are bought; drive -1 = none */
	bool has_price;      /* true and 0 where nothing is bought */
	double price_usd;
	double added_bytes; /* of memory */
	bool assumed;
	bool bulk_only;     /* gives up safety that only a copy which can be started again does without */
	bool other_use;     /* not a log device: nobody counts what is written to it */
	const char *remark; /* static: "if the host has idle cores"; "" = none */
	struct sl_box box;
};

struct sl_advice_row {
	int candidate;
	int n_samples;
	double samples[SL_SAMPLES_MAX];
	struct sl_measure measure; /* of the first sample */
	struct sl_paired paired;   /* against the base */
	struct sl_endurance endurance;
	enum sl_life life; /* of what is bought; of what is there where only this change wears it out */
	bool helps;        /* the whole interval is above SL_ADVICE_WORTH */
	bool unsafe;       /* loses more at a cut than the base does */
	int dominated_by;  /* position in rows of one that is no worse in anything and better; -1 = none */
	double usd_per_op; /* price / rate; 0 = no price */
	double usd_per_gained; /* price / rate gained over the base; 0 = no price or no gain */
};

/* One workload: rows in order of rank. */
struct sl_advice_table {
	int workload;
	int n_rows;
	struct sl_advice_row *rows; /* owned */
	int base;                   /* position of the row that changes nothing */
	int best_purchase;          /* by the rule; -1 = none */
	int replacement; /* by the rule but for its gain, where what is there wears out; -1 = none */
	int best_free;   /* that helps, is safe and costs nothing, the least change; -1 = none */
	int partner;     /* candidate that costs nothing and brings most beside the purchase; -1 = none */
	int advised;     /* the one of them that the verdict is about; -1 = change nothing */
	/* What each layer at no cost would bring, as it is and with the purchase (`value` 0: not run). */
	struct sl_explain_cell as_it_is, bought;
	char limit[256];   /* what would lift the base most, and the purchase */
	char verdict[800]; /* "Buy ..." or "Buy nothing: ..." */
};

struct sl_advice {
	const struct sl_scenario *scenario; /* borrowed */
	int base_variant;
	uint64_t seed;
	int repeat;
	double years;        /* a purchase must last */
	bool mirrored;       /* only mirrors are bought */
	struct sl_box *base; /* owned */
	int n_drives;
	struct sl_advice_drive *drives; /* owned */
	int n_candidates, room;
	struct sl_candidate *candidates; /* owned */
	int n_tables;
	struct sl_advice_table *tables; /* owned; complete ones only when the run was stopped */
	int n_notes;                    /* what was left out, and why */
	char notes[SL_ADVICE_NOTES_MAX][SL_ADVICE_NOTE_MAX];
	bool stopped;
};

struct sl_advise_options {
	int base_variant;
	const int *workloads; /* NULL = all */
	int n_workloads;
	const char *const *drives; /* names of the catalogue; may be empty */
	int n_drives;
	bool named;        /* the user named them: one that cannot be a log device is worth a note */
	double budget_usd; /* 0 = no limit; with one, drives without a price are left out */
	int repeat;        /* 0 = 3 */
	double years;      /* a purchase must last; 0 = 3 */
	bool mirrored;     /* the log must outlive one of its drives: only mirrors are bought */
	uint64_t seed;
	/* As in struct sl_run_options. */
	bool (*progress)(void *arg, int done, int total);
	void *progress_arg;
	bool (*stopped)(void);
};

/*
 * Runs everything and judges it. The drives are loaded through `shelf`, the same scenario file loaded once
 * more: its pool.log is overridden by that, and it must live as long as the advice. A drive that cannot be
 * loaded or run becomes a note. Release with sl_advice_fini, also after an error. Errors: those of the base
 * box, -ENOMEM.
 */
int sl_advise_run(const struct sl_scenario *sc, struct sl_scenario *shelf,
		  const struct sl_advise_options *options, struct sl_advice *ret, struct sl_err *err);
void sl_advice_fini(struct sl_advice *advice);

/* What rows put in place of this key's value, as in "another SLOG"; NULL when no row changes it. */
const char *sl_advice_changes(const char *key);

/* Can be built and bought as a log device? *ret_why is static, NULL when it can. */
bool sl_advice_can_log(const struct sl_dev_spec *spec, const char **ret_why);

/* The rule of buying in one sentence, with the asked years. */
void sl_advice_rule(const struct sl_advice *advice, char *buf, size_t size);

/* "lasts", "short", "unknown" */
const char *sl_life_name(enum sl_life life);

/* What a table counts, as in "per TPS": "TPS", "request/s", "write/s". */
const char *sl_advice_each(const struct sl_advice *advice, const struct sl_advice_table *table);

/* "setting", "cores", ... */
const char *sl_change_name(enum sl_change change);

/* Position in table->rows by rank ("3") or by the candidate's name; -1 when there is none. */
int sl_advice_find(const struct sl_advice *advice, const struct sl_advice_table *table, const char *row);

#endif
