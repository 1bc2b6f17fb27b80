/* The datastore's tree, each of its calls failing once. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/datastore/files.h"
#include "tests/faults/faults.h"
#include "tests/faults/promises.h"

#define DIRTY_MAX (2 * PROMISE_BLOCK_BYTES) /* so that unstable data is written early, too */
#define OPS_BEFORE 9980                     /* records that bring the journal close to its compaction */
#define NAMES_BEFORE 2600                   /* as many names as need a journal of that size */
#define NAMES_MANY 4100                     /* more than are written anew while the client waits */
#define CALLS_MAX 5000                      /* no run makes more; more would mean that none is counted */

/* What parent and children share. */
struct cycle {
	struct sl_faults_state state;
	struct promises promises;
	int opened, probed;
	bool intact; /* the audit of the living tree */
	int waits;   /* milliseconds for a compaction by a thread; 0: there is none */
};

static struct cycle *cycle; /* the run that is going on */
static int wrong;           /* what was wrong so far */

static int entry_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void dir_remove(const char *dir)
{
	(void)nftw(dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static int tree_open(const char *dir, bool durable, struct sl_tree **ret, struct sl_err *err)
{
	struct sl_files_options options = {.dir = dir, .dirty_max_bytes = DIRTY_MAX, .host_durable = durable};

	return sl_files_open(&options, ret, err);
}

/* Runs fn in a child that ends as a kill would end it. */
static void in_child(void (*fn)(const char *dir, bool durable, const struct sl_faults_plan *plan),
		     const char *dir, bool durable, const struct sl_faults_plan *plan)
{
	pid_t pid = fork();
	int status = 0;

	cr_assert(pid >= 0);
	if (pid == 0) {
		fn(dir, durable, plan);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(!WIFEXITED(status) || WEXITSTATUS(status) == 0, "could not begin");
	if (WIFSIGNALED(status)) {
		cycle->opened = 0;
		(void)snprintf(cycle->promises.error, sizeof(cycle->promises.error), "died of signal %d",
			       WTERMSIG(status));
	}
}

/* The record that is one too many, and where a thread is at it (`waits`) as many as it needs to see that
 * thread end, or fail. */
static void compact(struct sl_tree *tree)
{
	struct sl_setattr set = {.mask = SL_SET_MODE, .mode = 0777};

	for (int i = 0; i < 1 + cycle->waits && !(i > 1 && cycle->state.injected); i++) {
		(void)tree->ops->setattr(tree, SL_TREE_ROOT, &set, NULL);
		if (cycle->waits) {
			(void)usleep(1000);
		}
	}
}

static void serve(const char *dir, bool durable, const struct sl_faults_plan *plan)
{
	struct sl_tree *tree = NULL;
	struct sl_err err = {0};

	if (plan && sl_faults_start(plan, &cycle->state) != 0) {
		_exit(99);
	}
	cycle->opened = tree_open(dir, durable, &tree, &err);
	if (cycle->opened == 0 && plan && plan->only) {
		compact(tree);
	}
	if (cycle->opened == 0) {
		promises_load(&cycle->promises, tree, plan ? 'n' : 'o');
		sl_faults_stop();
		cycle->probed = promises_probe(tree, plan ? "probe2" : "probe1");
		cycle->intact = promises_audit(&cycle->promises, tree);
	} else {
		sl_faults_stop();
		(void)snprintf(cycle->promises.error, sizeof(cycle->promises.error), "%s", err.msg);
	}
}

static void audit(const char *dir, bool durable, const struct sl_faults_plan *plan)
{
	struct sl_tree *tree = NULL;
	struct sl_err err = {0};

	(void)plan;
	cycle->opened = tree_open(dir, durable, &tree, &err);
	if (cycle->opened != 0) {
		(void)snprintf(cycle->promises.error, sizeof(cycle->promises.error), "%s", err.msg);
		return;
	}
	cycle->intact = promises_audit(&cycle->promises, tree);
}

static void records_add(const char *dir, int names, int records)
{
	struct sl_tree *tree = NULL;
	struct sl_err err = {0};
	struct sl_setattr set = {.mask = SL_SET_MODE};
	char name[32];
	uint64_t ino;
	int rc = tree_open(dir, false, &tree, &err);

	for (int i = 0; i < records && rc == 0; i++) {
		(void)snprintf(name, sizeof(name), "probe-%d", i);
		set.mode = (uint32_t)i & 07777;
		rc = i < names ? tree->ops->create(tree, SL_TREE_ROOT, name, SL_FT_REG, NULL, &ino)
			       : tree->ops->setattr(tree, SL_TREE_ROOT, &set, NULL);
	}
	_exit(rc ? 1 : 0);
}

/* Many records and few names: every further record would have the journal compacted. */
static void journal_lengthen(const char *dir, bool durable, const struct sl_faults_plan *plan)
{
	(void)durable;
	(void)plan;
	records_add(dir, 0, OPS_BEFORE);
}

/* As many records as just do not pay for a compaction: four a name, and the two that every journal begins
 * with. */
static void journal_balance(const char *dir, bool durable, const struct sl_faults_plan *plan)
{
	(void)durable;
	(void)plan;
	records_add(dir, NAMES_BEFORE, 4 * NAMES_BEFORE - 2);
}

static void journal_balance_many(const char *dir, bool durable, const struct sl_faults_plan *plan)
{
	(void)durable;
	(void)plan;
	records_add(dir, NAMES_MANY, 4 * NAMES_MANY - 2);
}

static void dir_copy(const char *from, const char *to)
{
	char command[300];

	dir_remove(to);
	(void)snprintf(command, sizeof(command), "cp -a '%s' '%s'", from, to);
	cr_assert_eq(system(command), 0);
}

/* All that is wrong is told before the test fails: one cause may hide another. */
static void expect(bool holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "%s: %s: %s\n", cycle->state.what, what, cycle->promises.error);
		wrong++;
	}
}

/* One run with this fault, then the audit. False when the run met none. */
static bool cycle_run(const struct sl_faults_plan *plan, const char *golden, const struct promises *before,
		      const char *dir, bool durable)
{
	bool may_break = durable && (plan->kind == SL_FAULT_EIO || plan->kind == SL_FAULT_ENOSPC);
	bool harmless = plan->kind == SL_FAULT_SHORT || plan->kind == SL_FAULT_EINTR;

	*cycle = (struct cycle){.promises = *before, .waits = cycle->waits};
	if (plan->only) {
		cycle->promises.hurry = &cycle->state.injected;
		cycle->promises.patience = (uint32_t)(plan->at % 5);
	}
	if (golden) {
		dir_copy(golden, dir);
	} else {
		dir_remove(dir);
	}
	in_child(serve, dir, durable, plan);
	if (cycle->opened != 0) {
		expect(cycle->promises.error[0] != '\0', "no word of why it was not opened");
	} else {
		expect(cycle->intact, "the living tree");
		/* A disk that has lost a page may be given up (sl_journal_sync says so), nothing else. */
		expect(cycle->probed == 0 || may_break || plan->lasting, "the next call fails");
	}
	expect((cycle->state.injected && !harmless) || (cycle->opened == 0 && cycle->promises.failed == 0),
	       "fails without an error of the host");
	cycle->opened = -1;
	in_child(audit, dir, durable, NULL);
	expect(cycle->opened == 0, "not opened again");
	expect(cycle->opened != 0 || cycle->intact, "after the kill");
	return cycle->state.injected != 0;
}

/* `./check --long` asks for all of it. */
static bool is_long(void)
{
	const char *faults = getenv("SL_FAULTS");

	return faults && strcmp(faults, "long") == 0;
}

/* Each call of a run fails once, in each way that it can. Returns the cycles. */
static int every_call(const char *scratch, bool old, bool durable)
{
	struct promises before = {0};
	char golden[64], dir[64];
	int cycles = 0;

	(void)snprintf(golden, sizeof(golden), "%s/golden", scratch);
	(void)snprintf(dir, sizeof(dir), "%s/run", scratch);
	if (old) {
		*cycle = (struct cycle){0};
		if (is_long()) {
			in_child(journal_lengthen, golden, durable, NULL);
		}
		in_child(serve, golden, durable, NULL);
		before = cycle->promises;
		before.failed = before.acked = 0;
	}
	for (int kind = SL_FAULT_NONE + 1; kind < SL_FAULT_KINDS; kind++) {
		struct sl_faults_plan plan = {.kind = (enum sl_fault)kind, .under = dir};
		bool lasts = kind != SL_FAULT_SHORT && kind != SL_FAULT_EINTR;

		if (kind == SL_FAULT_RESET) {
			continue; /* there are no sockets */
		}
		for (plan.at = 1; cycle_run(&plan, old ? golden : NULL, &before, dir, durable); plan.at++) {
			plan.lasting = lasts;
			if (lasts) {
				(void)cycle_run(&plan, old ? golden : NULL, &before, dir, durable);
			}
			plan.lasting = false;
			cycles += 1 + lasts;
			cr_assert(plan.at < CALLS_MAX);
		}
		cr_assert(plan.at > 1, "%s hit nothing", sl_fault_name(plan.kind));
	}
	return cycles;
}

static void cycle_begin(char *scratch)
{
	cycle = mmap(NULL, sizeof(*cycle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(cycle != MAP_FAILED);
	cr_assert(mkdtemp(scratch) != NULL);
}

static void with_scratch(bool old, bool durable, int least)
{
	char scratch[] = "/dev/shm/sloglab-faults-XXXXXX";
	int cycles;

	cycle_begin(scratch);
	cycles = every_call(scratch, old, durable);
	dir_remove(scratch);
	cr_assert_eq(wrong, 0, "%d of %d cycles went wrong", wrong, cycles);
	cr_assert(cycles > least, "only %d faults", cycles);
}

Test(store_faults, a_new_folder_keeps_what_it_acknowledged_whatever_call_fails)
{
	with_scratch(false, false, 200);
}

Test(store_faults, a_new_folder_that_is_durable_on_the_host_does_so_too)
{
	with_scratch(false, true, 200);
}

Test(store_faults, so_does_an_old_folder_that_is_recovered)
{
	with_scratch(true, false, 200);
}

Test(store_faults, and_an_old_one_that_is_durable)
{
	with_scratch(true, true, 200);
}

Test(store_faults, a_folder_that_cannot_be_listed_is_not_taken_for_an_empty_one)
{
	char scratch[] = "/dev/shm/sloglab-faults-XXXXXX", dir[64], path[80];
	struct sl_faults_plan plan = {
	    .kind = SL_FAULT_EIO, .at = 1, .only = "getdents", .under = dir, .lasting = true};
	FILE *thesis;

	cycle_begin(scratch);
	(void)snprintf(dir, sizeof(dir), "%s/home", scratch);
	(void)snprintf(path, sizeof(path), "%s/thesis", dir);
	cr_assert_eq(mkdir(dir, 0700), 0);
	cr_assert((thesis = fopen(path, "w")) != NULL);
	cr_assert_eq(fclose(thesis), 0);
	in_child(serve, dir, false, &plan);
	cr_assert_eq(cycle->opened, -EIO, "%s", cycle->promises.error);
	dir_remove(scratch);
}

/*
 * A compaction of which one step fails, for once or for good. The client is gone some calls later, before the
 * next compaction could heal what went wrong: the records that a folder's balance of names and records lets
 * pass.
 */
static void every_step(void (*balance)(const char *dir, bool durable, const struct sl_faults_plan *plan),
		       int waits, bool durable)
{
	static const char *const calls[] = {"openat", "pwritev", "fdatasync", "renameat", "fsync", "close"};
	char scratch[] = "/dev/shm/sloglab-faults-XXXXXX", golden[64], dir[64];
	struct promises none = {0};

	cycle_begin(scratch);
	cycle->waits = waits;
	(void)snprintf(golden, sizeof(golden), "%s/golden", scratch);
	(void)snprintf(dir, sizeof(dir), "%s/run", scratch);
	in_child(balance, golden, true, NULL);
	for (size_t i = 0; i < 2 * sizeof(calls) / sizeof(calls[0]); i++) {
		struct sl_faults_plan plan = {
		    .kind = SL_FAULT_EIO, .only = calls[i / 2], .lasting = i % 2, .under = dir, .at = 1};

		/* Of the records that a compaction writes the first ones will do. */
		while (plan.at < 6 && cycle_run(&plan, golden, &none, dir, durable)) {
			plan.at++;
		}
		cr_assert(plan.at > 1, "no %s", calls[i / 2]);
	}
	dir_remove(scratch);
	cr_assert_eq(wrong, 0);
}

Test(store_faults, a_compaction_that_fails_at_any_step_takes_nothing_with_it)
{
	every_step(journal_balance, 0, false);
}

Test(store_faults, nor_does_one_by_a_thread)
{
	every_step(journal_balance_many, 500, true);
}
