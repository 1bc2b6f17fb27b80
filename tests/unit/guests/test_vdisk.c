/* What a virtual disk leaves behind when one of its parts does not come up. Needs root for mounts. */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guests/vdisk.h"

static char dir[] = "/tmp/sloglab-vdisk-XXXXXX";

static bool is_mounted(const char *name)
{
	FILE *mounts = fopen("/proc/self/mounts", "r");
	char line[4096], path[sizeof(dir) + 32];
	bool found = false;

	cr_assert_not_null(mounts);
	(void)snprintf(path, sizeof(path), " %s/%s ", dir, name);
	while (!found && fgets(line, sizeof(line), mounts)) {
		found = strstr(line, path) != NULL;
	}
	(void)fclose(mounts);
	return found;
}

/* Ctrl-C in the moment between the daemon's mount and its word that it is ready. */
static bool the_disk_is_mounted(void)
{
	return is_mounted("disk");
}

/* Stands for qemu-storage-daemon: mounts something over the file, as its FUSE export does, and is never
 * ready. */
static void daemon_that_is_never_ready(void)
{
	char path[sizeof(dir) + 32];
	FILE *script;

	(void)snprintf(path, sizeof(path), "%s/qemu-storage-daemon", dir);
	script = fopen(path, "w");
	cr_assert_not_null(script);
	(void)fprintf(script,
		      "#!/bin/sh\nPATH=/usr/bin:/bin:/usr/sbin:/sbin\nmount --bind /proc/version %s/disk\n"
		      "exec sleep 60\n",
		      dir);
	cr_assert_eq(fclose(script), 0);
	cr_assert_eq(chmod(path, 0700), 0);
	cr_assert_eq(setenv("PATH", dir, 1), 0);
}

Test(vdisk, a_daemon_killed_before_it_is_ready_leaves_no_mount)
{
	struct sl_vdisk disk = {.dir = dir, .host = "127.0.0.1", .path = "/export/disk"};
	struct sl_chain chain = {0};
	struct sl_err err = {0};
	char file[sizeof(dir) + 32];

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		cr_skip_test("mounts need root");
	}
	cr_assert_not_null(mkdtemp(dir));
	daemon_that_is_never_ready();
	disk.patience.stopped = the_disk_is_mounted;
	sl_vdisk_parts(&disk, &chain);
	cr_assert(sl_chain_up(&chain, &err) < 0);
	cr_assert_str_eq(err.msg, "interrupted");
	cr_assert(!is_mounted("disk"), "the next that removes the folder could not");
	(void)snprintf(file, sizeof(file), "%s/disk", dir);
	cr_assert_eq(unlink(file), 0);
	(void)snprintf(file, sizeof(file), "%s/qemu-storage-daemon", dir);
	cr_assert_eq(unlink(file), 0);
	(void)snprintf(file, sizeof(file), "%s/qemu-storage-daemon.log", dir);
	cr_assert_eq(unlink(file), 0);
	cr_assert_eq(rmdir(dir), 0);
}
