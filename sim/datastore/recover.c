#include "sim/datastore/recover.h"

#include <errno.h>
#include <string.h>

#include "sim/datastore/orphans.h"

static struct sl_file *file_of(struct sl_inode *inode)
{
	return sl_container_of(inode, struct sl_file, base);
}

/*
 * Durable on the host: what earlier servers left to the kernel, the names of folder, journal and files, is on
 * the disk before the first answer. A new journal, and not just a sync: the kernel tells of a failure only
 * once, and may have told the server before. A full disk has no room for it.
 */
static int settle(const struct sl_folder *folder, struct sl_names *names, struct sl_err *err)
{
	int rc;

	rc = names->started ? 0 : sl_names_snapshot(names, err);
	if (rc == -ENOSPC || rc == -EDQUOT) {
		names->journal.unsynced = true;
		rc = sl_journal_sync(&names->journal);
		rc = rc ? rc : sl_journal_settle_name(&names->journal, folder->dirfd);
	}
	rc = rc ? rc : names->journal.broken;
	rc = rc ? rc : sl_folder_sync(folder);
	return rc ? sl_err_set(err, rc, "cannot be made durable on the host: %s", strerror(-rc)) : 0;
}

struct loading {
	const struct sl_names *names;
	struct sl_filedata *data;
	uint32_t missing;
};

static int inode_load(void *arg, struct sl_inode *inode)
{
	struct loading *loading = arg;
	struct sl_filedata *data = loading->data;
	int rc = inode->type != SL_FT_DIR ? sl_filedata_load(data, file_of(inode)) : 0;

	if (rc == -ENOENT && loading->names->journal.no_empty_files) {
		return sl_filedata_make(data, file_of(inode));
	}
	loading->missing += rc == -ENOENT;
	return rc == -ENOENT ? 0 : rc;
}

struct missing {
	char path[256];
};

static int missing_find(void *arg, struct sl_entry *entry)
{
	struct missing *missing = arg;

	if (entry->inode->type == SL_FT_DIR || file_of(entry->inode)->named) {
		return 0;
	}
	sl_names_path(entry, missing->path, sizeof(missing->path));
	return 1;
}

static int files_load(struct sl_names *names, struct sl_filedata *data, struct sl_err *err)
{
	struct loading loading = {.names = names, .data = data};
	struct missing missing = {.path = ""};
	int rc = sl_inodes_each(&names->inodes, inode_load, &loading);

	if (rc) {
		return sl_err_set(err, rc, "data: %s", strerror(-rc));
	}
	if (loading.missing > 0) {
		(void)sl_inodes_walk(&names->inodes, missing_find, &missing);
		return sl_err_set(err, -EINVAL,
				  "data: the contents of %u files are missing (%s%s); copy them back, or see "
				  "`sloglab store check'",
				  loading.missing, missing.path, loading.missing > 1 ? ", ..." : "");
	}
	/* From now on a file has its data from the beginning; on a full disk, from the next start on. */
	if (names->journal.no_empty_files) {
		(void)sl_names_snapshot(names, NULL);
	}
	return 0;
}

int sl_recover(struct sl_folder *folder, struct sl_names *names, struct sl_filedata *data, struct sl_err *err)
{
	int rc = sl_orphans_clear(folder->datafd, names, err);

	if (rc) {
		return rc;
	}
	sl_names_forget_removed(names);
	rc = files_load(names, data, err);
	return rc || !data->durable ? rc : settle(folder, names, err);
}
