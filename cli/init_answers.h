/* The questions of init, and what each makes of what somebody typed. */
#ifndef SL_CLI_INIT_ANSWERS_H
#define SL_CLI_INIT_ANSWERS_H

#include "cli/init_scenario.h"
#include "sim/base/err.h"

enum sl_init_kind {
	SL_INIT_WORD,  /* one of `words` */
	SL_INIT_NAME,  /* of a host profile */
	SL_INIT_COUNT, /* whole, from min to max; "100k", "1M" */
	SL_INIT_BYTES, /* memory or files, at least min bytes; K, M, G are powers of 1024 whoever writes them
			*/
	SL_INIT_WIRE,  /* "virtual" or a line rate */
	SL_INIT_RELEASE, /* of OpenZFS, or a product */
	SL_INIT_POOL,    /* "NAME x COUNT, NAME" */
	SL_INIT_VDEV,    /* a layout, perhaps with the number of vdevs */
	SL_INIT_VDEVS_N, /* how many vdevs */
	SL_INIT_LOGS     /* "NAME, mirror NAME", or none */
};

struct sl_init_question {
	const char *flag, *arg; /* --flag ARG */
	const char *text;
	const char *help; /* shown at "?" */
	enum sl_init_kind kind;
	const char *words; /* "a|b|c" of a word; also other names for them, "b=d" */
	uint64_t min, max;
};

const struct sl_init_question *sl_init_question(enum sl_init_at at);

/* Does it matter, given what is known? */
bool sl_init_asked(const struct sl_init *answers, enum sl_init_at at);

#define SL_INIT_NAMES_MAX 512

/* What an answer may name. */
struct sl_init_names {
	int n_disks, n_logs, n_profiles;
	const char *disk[SL_INIT_NAMES_MAX]; /* of the catalogue */
	const char *log[SL_INIT_NAMES_MAX];  /* those that are fit to be a log device, and "none" */
	const char *profile[SL_INIT_NAMES_MAX];
};

/*
 * Understands `text` and stores it in its canonical form, known. -EINVAL with a message that begins with the
 * flag and says why not; then `suggestion` (of SL_INIT_ANSWER_MAX) is what was probably meant, or "".
 */
int sl_init_take(struct sl_init *answers, enum sl_init_at at, const char *text,
		 const struct sl_init_names *names, char *suggestion, struct sl_err *err);

/* The names that Tab completes in this answer, and how many. */
int sl_init_choices(enum sl_init_at at, const struct sl_init_names *names, const char *const **ret);

#endif
