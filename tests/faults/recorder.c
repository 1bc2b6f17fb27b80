#include "tests/faults/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/faults/trap.h"

#define NODES_MAX 512
#define ROOT 0

/* Inode numbers are used again: the newest node of a number is meant. */
static ino_t nodes[NODES_MAX];
static int node_count;
static struct sl_recorder recorder;
static bool recording;

static int node_of(ino_t ino)
{
	for (int i = node_count - 1; i >= 0; i--) {
		if (nodes[i] == ino) {
			return i;
		}
	}
	return -1;
}

static int node_add(ino_t ino)
{
	if (node_count == NODES_MAX) {
		abort();
	}
	nodes[node_count] = ino;
	return node_count++;
}

static int node_of_fd(int fd)
{
	struct stat st;

	return SL_TRAP_CALL(SYS_fstat, fd, &st, 0, 0) == 0 ? node_of(st.st_ino) : -1;
}

/* The folder that a path of a call is in, and the last part of that path. */
static int folder_of(int dirfd, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	struct stat st;

	*ret_name = slash ? slash + 1 : path;
	(void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	return SL_TRAP_CALL(SYS_newfstatat, dirfd, folder[0] ? folder : "/", &st, 0) == 0 ? node_of(st.st_ino)
											  : -1;
}

static struct sl_record *record_add(enum sl_record_kind kind, int node)
{
	struct sl_record *record;

	if (recorder.count == recorder.room) {
		recorder.room = recorder.room ? 2 * recorder.room : 256;
		recorder.records = realloc(recorder.records, recorder.room * sizeof(*recorder.records));
		if (!recorder.records) {
			abort();
		}
	}
	record = &recorder.records[recorder.count++];
	*record = (struct sl_record){
	    .kind = kind, .node = node, .answered = recorder.counter ? *recorder.counter : 0};
	return record;
}

static void name_set(char name[48], const char *from)
{
	(void)snprintf(name, 48, "%.47s", from);
}

static void on_created(enum sl_record_kind kind, int folder, int dirfd, const char *path, const char *name)
{
	struct sl_record *record;
	struct stat st;

	if (SL_TRAP_CALL(SYS_newfstatat, dirfd, path, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		return;
	}
	record = record_add(kind, folder);
	record->child = node_add(st.st_ino);
	name_set(record->name, name);
}

static long do_open(long nr, const unsigned long args[6])
{
	bool at = nr == SYS_openat;
	int dirfd = at ? (int)args[0] : AT_FDCWD;
	const char *path = (const char *)args[at ? 1 : 0], *name;
	unsigned long flags = args[at ? 2 : 1];
	int folder = folder_of(dirfd, path, &name), node;
	struct stat st;
	bool is_new = (flags & O_CREAT) && SL_TRAP_CALL(SYS_newfstatat, dirfd, path, &st, 0) != 0;
	long fd = sl_trap_call(nr, args);

	if (fd < 0 || folder < 0) {
		return fd;
	}
	if (is_new) {
		on_created(SL_RECORD_CREATE, folder, dirfd, path, name);
	} else if ((flags & O_TRUNC) && (node = node_of_fd((int)fd)) >= 0) {
		(void)record_add(SL_RECORD_SIZE, node);
	}
	return fd;
}

static long do_mkdir(long nr, const unsigned long args[6])
{
	bool at = nr == SYS_mkdirat;
	int dirfd = at ? (int)args[0] : AT_FDCWD;
	const char *path = (const char *)args[at ? 1 : 0], *name;
	int folder = folder_of(dirfd, path, &name);
	long rc = sl_trap_call(nr, args);

	if (rc == 0 && folder >= 0) {
		on_created(SL_RECORD_MKDIR, folder, dirfd, path, name);
	}
	return rc;
}

static long do_rename(long nr, const unsigned long args[6])
{
	bool at = nr != SYS_rename;
	const char *from = (const char *)args[at ? 1 : 0], *to = (const char *)args[at ? 3 : 1], *name,
		   *name_to;
	int folder = folder_of(at ? (int)args[0] : AT_FDCWD, from, &name);
	int folder_to = folder_of(at ? (int)args[2] : AT_FDCWD, to, &name_to);
	long rc = sl_trap_call(nr, args);

	if (rc == 0 && folder >= 0 && folder_to >= 0) {
		struct sl_record *record = record_add(SL_RECORD_RENAME, folder);

		record->to = folder_to;
		name_set(record->name, name);
		name_set(record->name_to, name_to);
	}
	return rc;
}

static long do_unlink(long nr, const unsigned long args[6])
{
	bool at = nr == SYS_unlinkat;
	const char *name;
	int folder = folder_of(at ? (int)args[0] : AT_FDCWD, (const char *)args[at ? 1 : 0], &name);
	long rc = sl_trap_call(nr, args);

	if (rc == 0 && folder >= 0) {
		name_set(record_add(SL_RECORD_UNLINK, folder)->name, name);
	}
	return rc;
}

/* `bytes` of the buffers iov went to `offset`. */
static void on_written(int node, const struct iovec *iov, uint64_t offset, uint64_t bytes)
{
	struct sl_record *record = record_add(SL_RECORD_WRITE, node);
	uint64_t done = 0;

	record->offset = offset;
	record->bytes = bytes;
	record->data = malloc(bytes);
	if (!record->data) {
		abort();
	}
	for (; done < bytes; iov++) {
		uint64_t piece = iov->iov_len < bytes - done ? iov->iov_len : bytes - done;

		memcpy(record->data + done, iov->iov_base, piece);
		done += piece;
	}
}

static long do_write(long nr, const unsigned long args[6])
{
	struct iovec one = {(void *)args[1], args[2]};
	bool vector = nr == SYS_writev || nr == SYS_pwritev, placed = nr == SYS_pwrite64 || nr == SYS_pwritev;
	int node = node_of_fd((int)args[0]);
	long bytes = sl_trap_call(nr, args);

	if (bytes > 0 && node >= 0) {
		long end = placed ? 0 : SL_TRAP_CALL(SYS_lseek, args[0], 0, SEEK_CUR, 0);

		on_written(node, vector ? (const struct iovec *)args[1] : &one,
			   placed ? args[3] : (uint64_t)(end - bytes), (uint64_t)bytes);
	}
	return bytes;
}

static long do_size(long nr, const unsigned long args[6])
{
	int node = node_of_fd((int)args[0]);
	uint64_t size = nr == SYS_ftruncate ? args[1] : args[2] + args[3];
	struct stat st;
	long rc;

	(void)SL_TRAP_CALL(SYS_fstat, args[0], &st, 0, 0);
	rc = sl_trap_call(nr, args);
	if (rc == 0 && node >= 0 && (nr == SYS_ftruncate || (args[1] == 0 && size > (uint64_t)st.st_size))) {
		record_add(SL_RECORD_SIZE, node)->offset = size;
	}
	return rc;
}

static long do_sync(long nr, const unsigned long args[6])
{
	int node = node_of_fd((int)args[0]);
	long rc = sl_trap_call(nr, args);

	if (rc == 0 && node >= 0) {
		(void)record_add(SL_RECORD_SYNC, node);
	}
	return rc;
}

static const struct {
	int nr;
	long (*run)(long nr, const unsigned long args[6]);
} calls[] = {
    {SYS_open, do_open},        {SYS_openat, do_open},    {SYS_mkdir, do_mkdir},
    {SYS_mkdirat, do_mkdir},    {SYS_rename, do_rename},  {SYS_renameat, do_rename},
    {SYS_renameat2, do_rename}, {SYS_unlink, do_unlink},  {SYS_unlinkat, do_unlink},
    {SYS_write, do_write},      {SYS_writev, do_write},   {SYS_pwrite64, do_write},
    {SYS_pwritev, do_write},    {SYS_ftruncate, do_size}, {SYS_fallocate, do_size},
    {SYS_fsync, do_sync},       {SYS_fdatasync, do_sync},
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static long on_call(long nr, const unsigned long args[6])
{
	for (size_t i = 0; i < CALLS && recording; i++) {
		if (calls[i].nr == nr) {
			return calls[i].run(nr, args);
		}
	}
	return sl_trap_call(nr, args);
}

int sl_recorder_start(const char *dir, const uint32_t *counter)
{
	int numbers[CALLS];
	struct stat st;

	if (stat(dir, &st) != 0) {
		return -errno;
	}
	(void)node_add(st.st_ino);
	recorder.counter = counter;
	recording = true;
	for (size_t i = 0; i < CALLS; i++) {
		numbers[i] = calls[i].nr;
	}
	return sl_trap_install(numbers, CALLS, on_call);
}

const struct sl_recorder *sl_recorder_so_far(void)
{
	return &recorder;
}

const struct sl_recorder *sl_recorder_stop(void)
{
	recording = false;
	return &recorder;
}

static bool synced(const struct sl_recorder *all, int node, uint32_t from, uint32_t cut)
{
	for (uint32_t i = from; i < cut; i++) {
		if (all->records[i].kind == SL_RECORD_SYNC && all->records[i].node == node) {
			return true;
		}
	}
	return false;
}

bool sl_record_durable(const struct sl_recorder *all, uint32_t i, uint32_t cut)
{
	const struct sl_record *record = &all->records[i];

	return record->kind == SL_RECORD_SYNC ||
	       (synced(all, record->node, i + 1, cut) &&
		(record->kind != SL_RECORD_RENAME || synced(all, record->to, i + 1, cut)));
}

/* What is being rebuilt: bytes of files and names of folders. */
struct disk {
	struct image {
		uint8_t *bytes;
		uint64_t size;
		bool folder;
	} images[NODES_MAX];
	struct {
		int folder, node; /* node -1: the name is gone */
		char name[48];
	} names[4 * NODES_MAX];
	int name_count;
};

static int name_find(const struct disk *disk, int folder, const char *name)
{
	for (int i = 0; i < disk->name_count; i++) {
		if (disk->names[i].node >= 0 && disk->names[i].folder == folder &&
		    strcmp(disk->names[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

static void name_put(struct disk *disk, int folder, const char *name, int node)
{
	int at = name_find(disk, folder, name);

	if (at < 0) {
		at = disk->name_count++;
		if (disk->name_count == 4 * NODES_MAX) {
			abort();
		}
	}
	disk->names[at].folder = folder;
	disk->names[at].node = node;
	name_set(disk->names[at].name, name);
}

static void image_size(struct image *image, uint64_t size)
{
	uint8_t *bytes = realloc(image->bytes, size + 1);

	if (!bytes) {
		abort();
	}
	if (size > image->size) {
		memset(bytes + image->size, 0, size - image->size);
	}
	image->bytes = bytes;
	image->size = size;
}

static void image_write(struct image *image, uint64_t offset, const uint8_t *data, uint64_t bytes)
{
	if (image->size < offset + bytes) {
		image_size(image, offset + bytes);
	}
	memcpy(image->bytes + offset, data, bytes);
}

static void record_apply(struct disk *disk, const struct sl_record *record, bool half)
{
	int at;

	switch (record->kind) {
	case SL_RECORD_CREATE:
	case SL_RECORD_MKDIR:
		disk->images[record->child].folder = record->kind == SL_RECORD_MKDIR;
		name_put(disk, record->node, record->name, record->child);
		break;
	case SL_RECORD_WRITE:
		image_write(&disk->images[record->node], record->offset, record->data,
			    half ? record->bytes / 2 : record->bytes);
		break;
	case SL_RECORD_SIZE:
		image_size(&disk->images[record->node], record->offset);
		break;
	case SL_RECORD_RENAME:
		at = name_find(disk, record->node, record->name);
		if (at >= 0) {
			int node = disk->names[at].node;

			disk->names[at].node = -1;
			name_put(disk, record->to, record->name_to, node);
		}
		break;
	case SL_RECORD_UNLINK:
		at = name_find(disk, record->node, record->name);
		if (at >= 0) {
			disk->names[at].node = -1;
		}
		break;
	case SL_RECORD_SYNC:
		break;
	}
}

static void disk_write(const struct disk *disk, int folder, const char *path)
{
	if (mkdir(path, 0700) != 0) {
		abort();
	}
	for (int i = 0; i < disk->name_count; i++) {
		const struct image *image = &disk->images[disk->names[i].node >= 0 ? disk->names[i].node : 0];
		char below[PATH_MAX];

		if (disk->names[i].node < 0 || disk->names[i].folder != folder) {
			continue;
		}
		(void)snprintf(below, sizeof(below), "%s/%s", path, disk->names[i].name);
		if (image->folder) {
			disk_write(disk, disk->names[i].node, below);
		} else {
			int fd = open(below, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

			if (fd < 0 || write(fd, image->bytes, image->size) != (ssize_t)image->size ||
			    close(fd) != 0) {
				abort();
			}
		}
	}
}

void sl_recorder_leave(const struct sl_recorder *all, uint32_t cut, enum sl_left left, uint32_t one,
		       const char *dir)
{
	struct disk *disk = calloc(1, sizeof(*disk));

	if (!disk) {
		abort();
	}
	for (uint32_t i = 0; i < cut; i++) {
		bool is_one = i == one && left >= SL_LEFT_ALL_BUT_ONE;
		bool kept = is_one ? left != SL_LEFT_ALL_BUT_ONE
				   : left == SL_LEFT_ALL || left == SL_LEFT_ALL_BUT_ONE ||
					 sl_record_durable(all, i, cut);

		if (kept) {
			record_apply(disk, &all->records[i], is_one && left == SL_LEFT_HALF_OF_ONE);
		}
	}
	disk_write(disk, ROOT, dir);
	for (int i = 0; i < NODES_MAX; i++) {
		free(disk->images[i].bytes);
	}
	free(disk);
}
