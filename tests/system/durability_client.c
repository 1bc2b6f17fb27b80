/*
 * A client for restart.sh. "sync": writes numbered blocks FILE_SYNC, one at a time, printing how many were
 * acknowledged, then reads them all back. "unstable": writes 100 blocks UNSTABLE, prints "written", waits
 * until the server is killed, writes one more, commits, and counts the blocks that are lost. "rename": writes
 * numbered files and gives each the same name in turn, until SIGINT: that name is never missing, and never
 * older than what was acknowledged, however often the server is killed meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nfsc/libnfs.h>

#define BLOCK 4096
#define SYNC_BLOCKS 500
#define UNSTABLE_BLOCKS 100

static int fail(struct nfs_context *nfs, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, nfs_get_error(nfs));
	return 1;
}

static void block_fill(char *block, int number)
{
	memset(block, 'a' + number % 26, BLOCK);
	snprintf(block, BLOCK, "block %d", number);
}

/* Blocks that do not hold what was written, or -1. */
static int blocks_lost(struct nfs_context *nfs, struct nfsfh *fh, int count)
{
	char want[BLOCK], got[BLOCK];
	int lost = 0;

	for (int i = 0; i < count; i++) {
		memset(got, 0, sizeof(got));
		if (nfs_pread(nfs, fh, (uint64_t)i * BLOCK, BLOCK, got) < 0) {
			return -1;
		}
		block_fill(want, i);
		lost += memcmp(want, got, BLOCK) != 0;
	}
	return lost;
}

static int run_sync(struct nfs_context *nfs, const char *path)
{
	struct nfsfh *fh = NULL;
	char block[BLOCK];
	int lost;

	if (nfs_open2(nfs, path, O_RDWR | O_CREAT | O_SYNC, 0644, &fh) < 0) {
		return fail(nfs, "open");
	}
	for (int i = 0; i < SYNC_BLOCKS; i++) {
		block_fill(block, i);
		if (nfs_pwrite(nfs, fh, (uint64_t)i * BLOCK, BLOCK, block) != BLOCK) {
			return fail(nfs, "write");
		}
		printf("%d\n", i + 1);
		fflush(stdout);
	}
	lost = blocks_lost(nfs, fh, SYNC_BLOCKS);
	if (lost != 0) {
		fprintf(stderr, "%d acknowledged blocks are lost\n", lost);
		return 1;
	}
	return nfs_close(nfs, fh) < 0 ? fail(nfs, "close") : 0;
}

/* The connection breaks when the server is killed: wait for that, at most 20 s. */
static int wait_for_kill(struct nfs_context *nfs)
{
	struct pollfd pfd = {.fd = nfs_get_fd(nfs), .events = POLLRDHUP};

	return poll(&pfd, 1, 20000) == 1;
}

static int run_unstable(struct nfs_context *nfs, const char *path)
{
	struct nfsfh *fh = NULL;
	char block[BLOCK];
	int lost;

	if (nfs_open2(nfs, path, O_RDWR | O_CREAT, 0644, &fh) < 0) {
		return fail(nfs, "open");
	}
	for (int i = 0; i < UNSTABLE_BLOCKS; i++) {
		block_fill(block, i);
		if (nfs_pwrite(nfs, fh, (uint64_t)i * BLOCK, BLOCK, block) != BLOCK) {
			return fail(nfs, "write");
		}
	}
	printf("written\n");
	fflush(stdout);
	if (!wait_for_kill(nfs)) {
		fprintf(stderr, "nobody killed the server\n");
		return 1;
	}
	block_fill(block, UNSTABLE_BLOCKS);
	if (nfs_pwrite(nfs, fh, (uint64_t)UNSTABLE_BLOCKS * BLOCK, BLOCK, block) != BLOCK ||
	    nfs_fsync(nfs, fh) < 0) {
		return fail(nfs, "write after the restart");
	}
	lost = blocks_lost(nfs, fh, UNSTABLE_BLOCKS + 1);
	printf("lost %d of %d\n", lost, UNSTABLE_BLOCKS + 1);
	return nfs_close(nfs, fh) < 0 ? fail(nfs, "close") : 0;
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

/* The number in the file, or -1. */
static int number_read(struct nfs_context *nfs, const char *path)
{
	struct nfsfh *fh = NULL;
	char text[16] = "";

	if (nfs_open2(nfs, path, O_RDONLY, 0, &fh) < 0 || nfs_pread(nfs, fh, 0, sizeof(text) - 1, text) < 0) {
		return -1;
	}
	(void)nfs_close(nfs, fh);
	return (int)strtol(text, NULL, 10);
}

static int number_write(struct nfs_context *nfs, const char *path, int number)
{
	struct nfsfh *fh = NULL;
	char text[16] = "";

	(void)snprintf(text, sizeof(text), "%d", number);
	if (nfs_open2(nfs, path, O_RDWR | O_CREAT | O_SYNC, 0644, &fh) < 0 ||
	    nfs_pwrite(nfs, fh, 0, sizeof(text), text) != (int)sizeof(text)) {
		return -1;
	}
	return nfs_close(nfs, fh);
}

/* libnfs gives up now and then when it is refused while the server is down: mounts anew, for 20 s at most. */
static struct nfs_context *mount_again(struct nfs_context *nfs, const char *text)
{
	for (time_t end = time(NULL) + 20; time(NULL) < end; (void)poll(NULL, 0, 50)) {
		struct nfs_url *url;
		int rc;

		nfs_destroy_context(nfs);
		nfs = nfs_init_context();
		url = nfs_parse_url_full(nfs, text);
		nfs_set_autoreconnect(nfs, -1);
		rc = nfs_mount(nfs, url->server, url->path[0] ? url->path : "/");
		nfs_destroy_url(url);
		if (rc == 0) {
			break;
		}
	}
	return nfs;
}

/* One number: written, and given the name. 1: acknowledged, 0: the connection was lost, -1: something else.
 */
static int rename_step(struct nfs_context *nfs, int number)
{
	int rc;

	if (number_write(nfs, "/next", number) < 0) {
		return 0;
	}
	rc = nfs_rename(nfs, "/next", "/current");
	/* The answer of a rename that was done may be lost with the server, which then finds no "next". */
	return rc == 0 || rc == -ENOENT ? 1 : rc == -EIO ? 0 : -1;
}

static int run_rename(struct nfs_context **nfs, const char *text)
{
	int number = 0, acknowledged = 0;

	(void)signal(SIGINT, interrupt);
	while (!interrupted) {
		int rc = rename_step(*nfs, ++number), found = number_read(*nfs, "/current");

		if (rc == 0 || found < 0) {
			*nfs = mount_again(*nfs, text);
			found = number_read(*nfs, "/current");
		}
		acknowledged = rc == 1 ? number : acknowledged;
		if (rc < 0 || found < acknowledged || found > number) {
			fprintf(stderr, "rename %d gave %d, \"current\" is %d\n", number, rc, found);
			return 1;
		}
		printf("%d\n", number);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct nfs_context *nfs = nfs_init_context();
	struct nfs_url *url = argc == 3 ? nfs_parse_url_full(nfs, argv[1]) : NULL;
	int rc;

	if (!url) {
		fprintf(stderr, "usage: %s nfs://SERVER/FILE?... sync|unstable|rename|remove\n", argv[0]);
		return 2;
	}
	nfs_set_autoreconnect(nfs, -1);
	if (nfs_mount(nfs, url->server, url->path[0] ? url->path : "/") < 0) {
		return fail(nfs, "mount");
	}
	rc = strcmp(argv[2], "rename") == 0   ? run_rename(&nfs, argv[1])
	     : strcmp(argv[2], "remove") == 0 ? nfs_unlink(nfs, url->file)
	     : strcmp(argv[2], "sync") == 0   ? run_sync(nfs, url->file)
					      : run_unstable(nfs, url->file);
	nfs_destroy_url(url);
	nfs_destroy_context(nfs);
	return rc < 0 ? 1 : rc;
}
