#include "sim/datastore/fsck.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/fdio.h"
#include "sim/datastore/fsck_inner.h"
#include "sim/datastore/orphans.h"
#include "sim/serve/own.h"

#define KEY_BYTES 16
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

void sl_fsck_say(struct sl_fsck *fsck, enum sl_fsck_word word, const char *fmt, ...)
{
	struct sl_err clean = {0};
	char line[sizeof(clean.msg)];
	va_list ap;
	int n;

	fsck->found.damages += word == SL_FSCK_DAMAGE;
	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0 || !fsck->options->say || (word == SL_FSCK_MEND && !fsck->options->repair)) {
		return;
	}
	(void)sl_err_set(&clean, -EIO, "%s", line); /* names are the clients' */
	fsck->options->say(fsck->options->arg, word, clean.msg);
}

/* Calls fn for each name in the folder, which it closes. 0 or negative errno. */
static int dir_each(struct sl_fsck *fsck, int fd, int (*fn)(struct sl_fsck *fsck, int fd, const char *name))
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int rc = 0;

	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	while (rc == 0 && (rc = sl_dir_next(dir, &entry)) > 0) {
		rc = fn(fsck, dirfd(dir), entry->d_name);
	}
	closedir(dir);
	return rc;
}

static bool has(int dirfd, const char *name)
{
	return faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int number_find(struct sl_fsck *fsck, int fd, const char *name)
{
	uint64_t number;

	(void)fsck;
	(void)fd;
	return sl_filedata_number(name, &number) ? -EEXIST : 0;
}

/* Before anything is written into a folder that may be somebody else's. */
static int is_store(struct sl_fsck *fsck, struct sl_err *err)
{
	int dirfd = fsck->folder.dirfd, fd;

	if (has(dirfd, "journal") || has(dirfd, "key")) {
		return 0;
	}
	fd = fsck->folder.datafd < 0 ? -1 : openat(fsck->folder.datafd, ".", DIR_FLAGS);
	if (fd >= 0 && dir_each(fsck, fd, number_find) == -EEXIST) {
		return 0;
	}
	return sl_err_set(err, -EINVAL, "not a datastore: it has no journal, no key and no files in data/");
}

static int folder_open(struct sl_fsck *fsck, struct sl_err *err)
{
	const int lock_flags = fsck->options->write ? O_RDWR | O_CREAT : O_RDONLY;
	struct sl_folder *folder = &fsck->folder;
	struct sl_err mistrust = {0};
	int rc;

	folder->dirfd = open(fsck->options->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->dirfd < 0) {
		return sl_err_set(err, -errno, "cannot open the folder: %s", strerror(errno));
	}
	folder->datafd = openat(folder->dirfd, "data", DIR_FLAGS);
	if (folder->datafd < 0 && errno != ENOENT) {
		return sl_err_set(err, -errno, "data: cannot open: %s", strerror(errno));
	}
	rc = is_store(fsck, err);
	if (rc) {
		return rc;
	}
	rc = sl_own_folder(folder->dirfd, fsck->options->dir, &mistrust);
	if (rc) {
		/* Somebody else may change it meanwhile: to look at it is all that is safe. */
		if (fsck->options->write) {
			*err = mistrust;
			return rc;
		}
		sl_fsck_say(fsck, SL_FSCK_DAMAGE, "folder: %s", mistrust.msg);
	}
	folder->lockfd = openat(folder->dirfd, "lock", lock_flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (folder->lockfd < 0 && (fsck->options->write || errno != ENOENT)) {
		return sl_err_set(err, -errno, "lock: cannot open: %s", strerror(errno));
	}
	if (folder->lockfd >= 0 && flock(folder->lockfd, LOCK_EX | LOCK_NB) < 0) {
		return errno == EWOULDBLOCK ? sl_err_set(err, -EBUSY, "in use by a server; stop it first")
					    : sl_err_set(err, -errno, "lock: %s", strerror(errno));
	}
	return 0;
}

static void key_look(struct sl_fsck *fsck)
{
	struct stat st;
	int rc = fstatat(fsck->folder.dirfd, "key", &st, AT_SYMLINK_NOFOLLOW);

	fsck->key_bad = rc < 0 || !S_ISREG(st.st_mode) || st.st_size != KEY_BYTES;
	if (!fsck->key_bad) {
		return;
	}
	if (rc < 0) {
		sl_fsck_say(fsck, SL_FSCK_DAMAGE, "key: missing: handles that clients hold are stale");
	} else {
		sl_fsck_say(fsck, SL_FSCK_DAMAGE,
			    "key: has %lld bytes, not %d: handles that clients hold are stale",
			    (long long)st.st_size, KEY_BYTES);
	}
	sl_fsck_say(fsck, SL_FSCK_MEND, "draw a new key; clients have to mount again");
}

static int journal_load(struct sl_fsck *fsck, struct sl_err *err)
{
	int fd = openat(fsck->folder.dirfd, "journal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW), rc;

	if (fd < 0 && errno == ENOENT) {
		fsck->records_lost = true;
		sl_fsck_say(fsck, SL_FSCK_DAMAGE, "journal: missing, and with it all names");
		sl_fsck_say(fsck, SL_FSCK_MEND, "write a new journal");
		return 0;
	}
	rc = fd < 0 ? -errno : sl_journal_load(fd, &fsck->bytes, &fsck->size);
	if (fd >= 0) {
		close(fd);
	}
	return rc < 0 ? sl_err_set(err, rc, "journal: cannot read: %s", strerror(-rc)) : 0;
}

/* Where the records begin, or -ENOTSUP. */
static int head_look(struct sl_fsck *fsck, struct sl_err *err)
{
	struct sl_err why = {0};
	struct sl_meta meta;
	int at = sl_journal_head(fsck->bytes, fsck->size, &why, &fsck->no_empty_files);

	if (at >= 0) {
		return at;
	}
	at = SL_JOURNAL_HEAD_BYTES;
	if (why.code == -ENOTSUP &&
	    (fsck->size <= (uint64_t)at ||
	     sl_record_decode(fsck->bytes + at, fsck->size - (uint64_t)at, &meta) == 0)) {
		return sl_err_set(err, why.code, "journal: %s", why.msg);
	}
	fsck->records_lost = true;
	sl_fsck_say(fsck, SL_FSCK_DAMAGE, "journal: its first %d bytes are not those of a journal%s", at,
		    fsck->size < (uint64_t)at ? ": it is cut short" : "");
	sl_fsck_say(fsck, SL_FSCK_MEND, "go by the records behind them");
	return 0;
}

static void gap_look(struct sl_fsck *fsck, uint64_t at, uint64_t next)
{
	if (next == fsck->size && sl_record_torn(fsck->bytes + at, fsck->size - at)) {
		sl_fsck_say(fsck, SL_FSCK_NOTE,
			    "journal: its last %" PRIu64
			    " bytes are a record that a kill cut short; the next "
			    "start drops them",
			    next - at);
		return;
	}
	fsck->records_lost = true;
	sl_fsck_say(fsck, SL_FSCK_DAMAGE, "journal: bytes %" PRIu64 " to %" PRIu64 " are no record%s", at,
		    next - 1, next < fsck->size ? ", whole ones follow" : ", and no kill explains them");
	sl_fsck_say(fsck, SL_FSCK_MEND, "go by the records around them");
}

static int journal_look(struct sl_fsck *fsck, struct sl_err *err)
{
	struct sl_meta meta;
	uint64_t at;
	int rc = journal_load(fsck, err);

	if (rc || !fsck->bytes) {
		return rc;
	}
	rc = head_look(fsck, err);
	if (rc < 0) {
		return rc;
	}
	at = rc > 0 ? (uint64_t)rc : sl_record_next(fsck->bytes, fsck->size, 0);
	for (rc = 0; rc == 0 && at < fsck->size;) {
		uint32_t step = sl_record_decode(fsck->bytes + at, fsck->size - at, &meta);
		uint64_t next = step ? at + step : sl_record_next(fsck->bytes, fsck->size, at);

		if (step) {
			rc = sl_fsck_apply(fsck, &meta, at);
		} else {
			gap_look(fsck, at, next);
		}
		at = next;
	}
	if (fsck->misfits > 0) {
		sl_fsck_say(fsck, SL_FSCK_NOTE, "journal: %" PRIu32 " records do not fit those before them",
			    fsck->misfits);
	}
	return rc ? sl_err_set(err, rc, "journal: %s", strerror(-rc)) : 0;
}

static int stray_add(struct sl_fsck *fsck, const char *name, uint64_t number, bool aside)
{
	if (fsck->stray_count == fsck->stray_size) {
		size_t size = fsck->stray_size ? fsck->stray_size * 2 : 64;
		struct sl_stray *grown = realloc(fsck->strays, size * sizeof(*grown));

		if (!grown) {
			return -ENOMEM;
		}
		fsck->strays = grown;
		fsck->stray_size = size;
	}
	fsck->strays[fsck->stray_count] = (struct sl_stray){.number = number, .aside = aside};
	(void)snprintf(fsck->strays[fsck->stray_count].name, sizeof(fsck->strays[0].name), "%s", name);
	fsck->stray_count++;
	return 0;
}

static int odd_add(struct sl_fsck *fsck, const char *name)
{
	void *grown = realloc(fsck->odd, (fsck->odd_count + 1) * sizeof(*fsck->odd));

	if (!grown) {
		return -ENOMEM;
	}
	fsck->odd = grown;
	(void)snprintf(fsck->odd[fsck->odd_count++], sizeof(*fsck->odd), "%.16s", name);
	sl_fsck_say(fsck, SL_FSCK_DAMAGE, "data: %s is no regular file", name);
	sl_fsck_say(fsck, SL_FSCK_MEND, "move it to data/" SL_LOST_FOUND);
	return 0;
}

static int data_entry_look(struct sl_fsck *fsck, int fd, const char *name)
{
	struct sl_inode *inode;
	struct stat st;
	uint64_t number;

	if (!sl_filedata_number(name, &number)) {
		return 0;
	}
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		return -errno;
	}
	if (!S_ISREG(st.st_mode)) {
		return odd_add(fsck, name);
	}
	inode = sl_inodes_get(&fsck->names.inodes, number);
	if (inode && inode->type != SL_FT_DIR) {
		sl_fsck_file_of(inode)->there = true;
		return 0;
	}
	if (number == UINT64_MAX ||
	    (!fsck->records_lost && (sl_names_removed(&fsck->names, number) ||
				     (st.st_size == 0 && number >= fsck->names.next_number)))) {
		sl_fsck_say(fsck, SL_FSCK_NOTE, "data: %s is left of a kill; the next start removes it",
			    name);
		return 0;
	}
	return stray_add(fsck, name, number, false);
}

/* 0000000000000012, or .1 behind it where two have had that number. */
static int aside_entry_look(struct sl_fsck *fsck, int fd, const char *name)
{
	char number_name[SL_FILEDATA_NAME_BYTES];
	uint64_t number;
	struct stat st;

	(void)snprintf(number_name, sizeof(number_name), "%.16s", name);
	if (!sl_filedata_number(number_name, &number) || (name[16] != '\0' && name[16] != '.') ||
	    strlen(name) >= sizeof(fsck->strays[0].name) || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode)) {
		return 0;
	}
	return stray_add(fsck, name, number, true);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct sl_stray *)a)->name, ((const struct sl_stray *)b)->name);
}

static int data_look(struct sl_fsck *fsck, struct sl_err *err)
{
	int fd, rc;

	if (fsck->folder.datafd < 0) {
		sl_fsck_say(fsck, SL_FSCK_DAMAGE, "data: missing, and with it all contents");
		sl_fsck_say(fsck, SL_FSCK_MEND, "make an empty one");
		return 0;
	}
	fd = openat(fsck->folder.datafd, ".", DIR_FLAGS);
	rc = fd < 0 ? -errno : dir_each(fsck, fd, data_entry_look);
	if (rc == 0) {
		fd = openat(fsck->folder.datafd, SL_LOST_FOUND, DIR_FLAGS);
		rc = fd >= 0 ? dir_each(fsck, fd, aside_entry_look) : errno == ENOENT ? 0 : -errno;
	}
	if (fsck->stray_count > 0) {
		qsort(fsck->strays, fsck->stray_count, sizeof(*fsck->strays), by_name);
	}
	return rc < 0 ? sl_err_set(err, rc, "data: cannot list: %s", strerror(-rc)) : 0;
}

static int examine(struct sl_fsck *fsck, struct sl_err *err)
{
	int rc = folder_open(fsck, err);

	if (rc) {
		return rc;
	}
	fsck->names.dirfd = fsck->folder.dirfd;
	key_look(fsck);
	rc = journal_look(fsck, err);
	rc = rc ? rc : data_look(fsck, err);
	if (rc == 0) {
		rc = sl_fsck_tree_mend(fsck);
		if (rc) {
			(void)sl_err_set(err, rc, "too many names, or out of memory: %s", strerror(-rc));
		}
	}
	fsck->found.names = fsck->names.inodes.entry_count;
	if (rc == 0 && fsck->options->write && (fsck->found.damages > 0 || fsck->found.returned > 0)) {
		rc = sl_fsck_write(fsck, err);
	}
	return rc;
}

int sl_fsck(const struct sl_fsck_options *options, struct sl_fsck_found *ret, struct sl_err *err)
{
	struct sl_fsck fsck = {.options = options, .names = {.journal = {.fd = -1}}};
	int rc = sl_inodes_init(&fsck.names.inodes, sizeof(struct sl_fsck_file));

	if (rc) {
		return sl_err_set(err, rc, "%s: out of memory", options->dir);
	}
	fsck.folder.dirfd = fsck.folder.datafd = fsck.folder.lockfd = -1;
	rc = examine(&fsck, err);
	*ret = fsck.found;
	sl_names_close(&fsck.names);
	sl_folder_close(&fsck.folder);
	free(fsck.bytes);
	free(fsck.strays);
	free(fsck.odd);
	return rc ? sl_err_wrap(err, "%s", options->dir) : 0;
}
