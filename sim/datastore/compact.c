#include "sim/datastore/compact.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/fdio.h"
#include "sim/datastore/names.h"

#define PIECE_BYTES (1u << 20)      /* read at a time */
#define LAST_PIECE_BYTES (1u << 20) /* what clients may wait for: a millisecond of copying */
#define ROUNDS_MAX 16               /* of copying: each has less to do than the one before, or it is no use */

struct sl_compaction {
	pthread_t thread;
	int dirfd;  /* borrowed */
	int source; /* the old file: only its bytes below `to_bytes` are read */
	uint64_t from_bytes, to_bytes;
	uint64_t records; /* of the old journal when it began */
	struct sl_journal fresh;
	int rounds;
	int rc; /* of the thread's round */
	atomic_bool done, cancelled;
};

static bool is_cancelled(void *arg)
{
	struct sl_compaction *compaction = arg;

	return atomic_load(&compaction->cancelled);
}

/* Calls fn for each record of the source's range, in order. */
static int source_replay(struct sl_compaction *compaction, uint8_t *piece, struct sl_names *names)
{
	uint64_t at = compaction->from_bytes;
	struct sl_meta meta = {0};

	while (at < compaction->to_bytes) {
		uint64_t left = compaction->to_bytes - at, done = 0;
		int64_t got = sl_fd_pread(compaction->source, piece,
					  (int64_t)(left < PIECE_BYTES ? left : PIECE_BYTES), (int64_t)at);
		int rc = got < 0 ? (int)got : 0;

		for (uint32_t step; rc == 0 && done < (uint64_t)got; done += step) {
			step = sl_record_decode(piece + done, (uint64_t)got - done, &meta);
			if (step == 0) {
				break; /* cut off by the end of the piece */
			}
			rc = sl_names_replay(names, &meta);
		}
		rc = rc == 0 && is_cancelled(compaction) ? -ECANCELED : rc;
		if (rc || done == 0) {
			return rc ? rc : -EIO; /* it has been a whole record before */
		}
		at += done;
	}
	return 0;
}

/* The first round: the tree of the old journal, written out. */
static int tree_write(struct sl_compaction *compaction)
{
	struct sl_names names = {.dirfd = -1, .journal = {.fd = -1}};
	uint8_t *piece = malloc(PIECE_BYTES);
	int rc = piece ? sl_inodes_init(&names.inodes, sizeof(struct sl_inode)) : -ENOMEM;

	rc = rc ? rc : source_replay(compaction, piece, &names);
	free(piece);
	rc = rc ? rc : sl_names_write(&names, &compaction->fresh, is_cancelled, compaction);
	sl_names_close(&names);
	return rc;
}

/* What the old journal has more than the new one, as it is. */
static int tail_copy(struct sl_compaction *compaction)
{
	uint8_t *piece = malloc(PIECE_BYTES);
	int rc = piece ? 0 : -ENOMEM;

	while (rc == 0 && compaction->from_bytes < compaction->to_bytes) {
		uint64_t left = compaction->to_bytes - compaction->from_bytes;
		int64_t want = (int64_t)(left < PIECE_BYTES ? left : PIECE_BYTES);
		int64_t got = sl_fd_pread(compaction->source, piece, want, (int64_t)compaction->from_bytes);

		rc = got < 0 ? (int)got : got < want ? -EIO : 0;
		rc = rc ? rc : sl_journal_append_bytes(&compaction->fresh, piece, (uint32_t)want, 0);
		rc = rc == 0 && is_cancelled(compaction) ? -ECANCELED : rc;
		compaction->from_bytes += rc == 0 ? (uint64_t)want : 0;
	}
	free(piece);
	return rc;
}

static void *thread_run(void *arg)
{
	struct sl_compaction *compaction = arg;
	int rc;

	if (compaction->rounds == 1) {
		rc = tree_write(compaction);
		compaction->from_bytes = compaction->to_bytes;
	} else {
		rc = tail_copy(compaction);
	}
	compaction->rc = rc ? rc : sl_journal_sync(&compaction->fresh);
	atomic_store(&compaction->done, true);
	return NULL;
}

/* Another round of the thread. Signals are for the server's own. */
static int round_start(struct sl_compaction *compaction)
{
	sigset_t all, before;
	int rc;

	compaction->rounds++;
	atomic_store(&compaction->done, false);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = -pthread_create(&compaction->thread, NULL, thread_run, compaction);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* Without its thread. */
static void compaction_drop(struct sl_compaction *compaction)
{
	if (compaction->fresh.fd >= 0) {
		sl_journal_close(&compaction->fresh);
		(void)unlinkat(compaction->dirfd, SL_COMPACT_NEW, 0);
	}
	if (compaction->source >= 0) {
		close(compaction->source);
	}
	free(compaction);
}

int sl_compaction_start(int dirfd, const struct sl_journal *journal, struct sl_compaction **ret)
{
	struct sl_compaction *compaction = calloc(1, sizeof(*compaction));
	int rc;

	if (!compaction) {
		return -ENOMEM;
	}
	compaction->dirfd = dirfd;
	compaction->fresh.fd = -1;
	compaction->from_bytes = SL_JOURNAL_HEAD_BYTES;
	compaction->to_bytes = journal->end_bytes;
	compaction->records = journal->records;
	compaction->source = fcntl(journal->fd, F_DUPFD_CLOEXEC, 0);
	rc = compaction->source < 0 ? -errno
				    : sl_journal_create(&compaction->fresh, dirfd, SL_COMPACT_NEW, NULL);
	rc = rc ? rc : round_start(compaction);
	if (rc) {
		compaction_drop(compaction);
		return rc;
	}
	*ret = compaction;
	return 0;
}

int sl_compaction_poll(struct sl_compaction *compaction, const struct sl_journal *journal,
		       struct sl_journal *ret)
{
	int rc;

	if (!atomic_load(&compaction->done)) {
		return 0;
	}
	pthread_join(compaction->thread, NULL);
	rc = compaction->rc;
	compaction->to_bytes = journal->end_bytes;
	assert(compaction->to_bytes >= compaction->from_bytes);
	if (rc == 0 && compaction->to_bytes - compaction->from_bytes > LAST_PIECE_BYTES) {
		rc = compaction->rounds < ROUNDS_MAX ? round_start(compaction) : -EAGAIN;
		if (rc == 0) {
			return 0;
		}
	}
	rc = rc ? rc : tail_copy(compaction);
	if (rc) {
		compaction_drop(compaction);
		return rc;
	}
	*ret = compaction->fresh;
	ret->records += journal->records - compaction->records;
	compaction->fresh.fd = -1;
	compaction_drop(compaction);
	return 1;
}

void sl_compaction_free(struct sl_compaction *compaction)
{
	if (!compaction) {
		return;
	}
	atomic_store(&compaction->cancelled, true);
	pthread_join(compaction->thread, NULL);
	compaction_drop(compaction);
}
