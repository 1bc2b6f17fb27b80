/*
 * What a process does to the files of a folder, in order, and what a power cut could leave of it. Only what
 * was synced is sure: bytes by an fsync of their file, names by one of their folder. Of the rest a disk may
 * have all, nothing, or any part; tried are all of it, nothing, all but one change, nothing but one, and half
 * of that one (as dm-log-writes does for block devices; ext4 and ZFS promise more, and other file systems
 * need not).
 */
#ifndef SL_TESTS_FAULTS_RECORDER_H
#define SL_TESTS_FAULTS_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sl_record_kind {
	SL_RECORD_CREATE, /* a file gets a name */
	SL_RECORD_MKDIR,
	SL_RECORD_WRITE,
	SL_RECORD_SIZE,
	SL_RECORD_SYNC,
	SL_RECORD_RENAME,
	SL_RECORD_UNLINK
};

struct sl_record {
	enum sl_record_kind kind;
	int node;          /* file or folder; of names: the folder */
	int child;         /* CREATE, MKDIR: what is made */
	int to;            /* RENAME: the folder of name_to */
	uint64_t offset;   /* WRITE; SIZE: the new size */
	uint64_t bytes;    /* WRITE */
	uint8_t *data;     /* WRITE */
	uint32_t answered; /* value of *counter when the call was made */
	char name[48], name_to[48];
};

struct sl_recorder {
	struct sl_record *records;
	uint32_t count, room;
	const uint32_t *counter; /* what the records are marked with */
};

/* What a disk has of the changes that nothing has made durable. */
enum sl_left {
	SL_LEFT_NOTHING,
	SL_LEFT_ALL,
	SL_LEFT_ALL_BUT_ONE,
	SL_LEFT_ONE,
	SL_LEFT_HALF_OF_ONE
};

/* Records this process from now on, below the folder `dir`, which is empty. Once in a process; 0 or negative
 * errno. */
int sl_recorder_start(const char *dir, const uint32_t *counter);
/* What there is so far; it goes on. */
const struct sl_recorder *sl_recorder_so_far(void);
/* What there is so far; nothing is added to it any more. */
const struct sl_recorder *sl_recorder_stop(void);

/* Was the change records[i] durable when the first `cut` calls were made? */
bool sl_record_durable(const struct sl_recorder *recorder, uint32_t i, uint32_t cut);
/* Makes `dir` (which must not be there) what a cut after the first `cut` calls leaves; `one` is the record
 * that `left` is about. */
void sl_recorder_leave(const struct sl_recorder *recorder, uint32_t cut, enum sl_left left, uint32_t one,
		       const char *dir);

#endif
