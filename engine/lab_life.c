#include "engine/lab_life.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/lab_control.h"
#include "engine/lab_host.h"
#include "engine/tempdir.h"

#define KILLED_MS 30000
#define NOT_UP_MS 1000

/* A lab that is up already, and may have lost a machine. `err` says that it is busy. */
static int lab_again(const struct sl_lab_plan *plan, void (*said)(void *arg, const char *what),
		     bool (*stopped)(void), struct sl_err *err)
{
	char reply[256], *rest;
	struct sl_err answer = {0};
	const struct sl_lab_at lab = {plan->dir, stopped};
	int rc = sl_lab_ask(&lab, reply, sizeof(reply), &answer, "up");

	if (rc == -ENOENT || rc == -ECONNREFUSED) {
		return err->code;
	}
	if (rc < 0) {
		return sl_err_set(err, rc, "%s", answer.msg);
	}
	*err = (struct sl_err){0};
	for (char *line = strtok_r(reply, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		said(NULL, line);
	}
	return 0;
}

int sl_lab_bring_up(const struct sl_lab_plan *plan, void (*said)(void *arg, const char *what),
		    bool (*stopped)(void), struct sl_err *err)
{
	struct sl_lab_host host;
	int lock = -1;
	int rc = sl_lab_lock(plan->dir, &lock, err);

	if (rc == -EBUSY) {
		return lab_again(plan, said, stopped, err);
	}
	if (rc == 0) {
		rc = sl_lab_host_start(plan, lock, &host, err);
	}
	if (rc == 0) {
		rc = sl_lab_host_wait(&host, said, NULL, stopped, err);
	}
	if (rc == 0) {
		rc = sl_lab_ask_disks(plan->dir, "latency on", NULL, 0, err);
	}
	if (rc == -EINTR) {
		struct sl_err ignored = {0};

		(void)sl_lab_remove(plan->dir, SL_LAB_DOWN_MS, &ignored);
	}
	return rc;
}

int sl_lab_find(const char *name, char ret_dir[SL_LAB_DIR_MAX], struct sl_err *err)
{
	char parent[SL_LAB_PATH_MAX], only[256] = "";
	const struct dirent *entry;
	int n = 0, rc;
	DIR *dir;

	rc = sl_lab_dir(name ? name : "x", ret_dir, err);
	if (rc < 0 || name) {
		return rc < 0 || access(ret_dir, F_OK) == 0
			   ? rc
			   : sl_err_set(err, -ENOENT, "there is no lab %.60s; see sloglab vm status", name);
	}
	(void)snprintf(parent, sizeof(parent), "%s", ret_dir);
	*strrchr(parent, '/') = '\0';
	dir = opendir(parent);
	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.') {
			(void)snprintf(only, sizeof(only), "%s", entry->d_name);
			n++;
		}
	}
	if (dir) {
		(void)closedir(dir);
	}
	if (n == 0) {
		return sl_err_set(err, -ENOENT, "there is no lab; run sloglab vm up SCENARIO");
	}
	return n > 1 ? sl_err_set(err, -EINVAL, "there are %d labs; choose one with --name", n)
		     : sl_lab_dir(only, ret_dir, err);
}

/* Process 1 of a lab that is up, 0 = unknown. */
static pid_t host_pid(const char *dir)
{
	char path[SL_LAB_PATH_MAX], line[32] = "";
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/host.pid", dir);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(line, sizeof(line), file)) {
			line[0] = '\0';
		}
		(void)fclose(file);
	}
	return (pid_t)strtol(line, NULL, 10);
}

/* -EBUSY while somebody holds the lock. Else it is ours, *ret_fd. */
static int lock_wait(const char *dir, int timeout_ms, int *ret_fd)
{
	struct sl_err ignored = {0};
	int rc = sl_lab_lock(dir, ret_fd, &ignored);

	for (int waited = 0; rc == -EBUSY && waited < timeout_ms; waited += 100) {
		(void)poll(NULL, 0, 100);
		rc = sl_lab_lock(dir, ret_fd, &ignored);
	}
	return rc;
}

int sl_lab_remove(const char *dir, int timeout_ms, struct sl_err *err)
{
	struct sl_err ignored = {0};
	int lock = -1;
	int rc = sl_lab_lock(dir, &lock, &ignored);

	if (rc == -EBUSY) {
		/* One that is not up yet has nothing worth an orderly end. */
		bool told = timeout_ms > 0 && sl_lab_tell_down(dir, &ignored) == 0;

		rc = lock_wait(dir, told ? timeout_ms : NOT_UP_MS, &lock);
		if (rc == -EBUSY && host_pid(dir) > 1) {
			/* The lock is held by it alone, so the number is still its. */
			kill(host_pid(dir), SIGKILL);
			rc = lock_wait(dir, KILLED_MS, &lock);
		}
	}
	if (rc < 0) {
		return sl_err_set(err, rc, "lab %s: does not end; see %s", strrchr(dir, '/') + 1, dir);
	}
	sl_tree_remove(dir);
	close(lock);
	return 0;
}
