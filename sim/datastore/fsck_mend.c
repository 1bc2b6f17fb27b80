/* The repair: what was said, done in an order that a kill may cut anywhere. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/datastore/fsck_inner.h"
#include "sim/datastore/orphans.h"

#define SAME_NAME_MAX 10000u

static int data_make(struct sl_folder *folder)
{
	if (folder->datafd >= 0) {
		return 0;
	}
	if (mkdirat(folder->dirfd, "data", 0700) < 0) {
		return -errno;
	}
	folder->datafd = openat(folder->dirfd, "data", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return folder->datafd < 0 ? -errno : 0;
}

/* Gives strays the name of their number. */
static int strays_move(const struct sl_fsck *fsck, int asidefd)
{
	for (size_t i = 0; i < fsck->stray_count; i++) {
		const struct sl_stray *stray = &fsck->strays[i];
		char name[SL_FILEDATA_NAME_BYTES];

		sl_filedata_name(stray->number, name);
		if ((stray->aside || strcmp(stray->name, name) != 0) &&
		    renameat2(stray->aside ? asidefd : fsck->folder.datafd, stray->name, fsck->folder.datafd,
			      name, RENAME_NOREPLACE) < 0) {
			return -errno;
		}
	}
	return 0;
}

static int empty_make(void *arg, struct sl_inode *inode)
{
	const struct sl_fsck *fsck = arg;
	char name[SL_FILEDATA_NAME_BYTES];
	int fd;

	if (inode->type == SL_FT_DIR || sl_fsck_file_of(inode)->there) {
		return 0;
	}
	sl_filedata_name(inode->ino, name);
	fd = openat(fsck->folder.datafd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return -errno;
	}
	close(fd);
	return 0;
}

/* A second name for the old journal, before the new one takes its first. */
static int journal_keep(const struct sl_fsck *fsck, int asidefd, char ret[32])
{
	int rc = -EEXIST;

	for (unsigned i = 0; rc == -EEXIST && i < SAME_NAME_MAX; i++) {
		(void)snprintf(ret, 32, i == 0 ? "journal" : "journal.%u", i);
		rc = linkat(fsck->folder.dirfd, "journal", asidefd, ret, 0) < 0 ? -errno : 0;
	}
	return rc;
}

static int journal_write(struct sl_fsck *fsck, int asidefd, struct sl_err *err)
{
	char kept[32];
	int rc = fsck->bytes ? journal_keep(fsck, asidefd, kept) : 0;

	if (rc) {
		return sl_err_set(err, rc, "journal: cannot be kept in data/" SL_LOST_FOUND ": %s",
				  strerror(-rc));
	}
	if (fsck->bytes) {
		sl_fsck_say(fsck, SL_FSCK_MEND, "keep the old journal as data/" SL_LOST_FOUND "/%s", kept);
	}
	rc = sl_names_snapshot(&fsck->names, err);
	rc = rc ? rc : fsck->names.journal.broken;
	return rc ? sl_err_set(err, rc, "journal: cannot be made durable: %s", strerror(-rc)) : 0;
}

static int folder_mend(struct sl_fsck *fsck, int asidefd, struct sl_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < fsck->odd_count; i++) {
		rc = sl_quarantine(fsck->folder.datafd, fsck->folder.datafd, fsck->odd[i]);
	}
	rc = rc ? rc : strays_move(fsck, asidefd);
	if (rc == 0 && fsck->no_empty_files) {
		rc = sl_inodes_each(&fsck->names.inodes, empty_make, fsck);
	}
	if (rc) {
		return sl_err_set(err, rc, "data: cannot be mended: %s", strerror(-rc));
	}
	rc = journal_write(fsck, asidefd, err);
	if (rc == 0 && fsck->key_bad) {
		rc = sl_folder_key(&fsck->folder, true, true, NULL, err);
	}
	if (rc == 0 && sl_folder_sync(&fsck->folder) < 0) {
		rc = sl_err_set(err, -errno, "cannot be made durable: %s", strerror(errno));
	}
	return rc;
}

int sl_fsck_write(struct sl_fsck *fsck, struct sl_err *err)
{
	int rc = data_make(&fsck->folder);
	int asidefd = rc ? rc : sl_lost_found_open(fsck->folder.datafd);

	if (asidefd < 0) {
		return sl_err_set(err, asidefd, "data/" SL_LOST_FOUND ": cannot be made: %s",
				  strerror(-asidefd));
	}
	rc = folder_mend(fsck, asidefd, err);
	close(asidefd);
	return rc;
}
