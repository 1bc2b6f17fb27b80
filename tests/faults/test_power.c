/* What a power cut of the host leaves of a durable folder: all calls are recorded, and what was not synced is
 * dropped. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadgen/audit_log.h"
#include "loadgen/fileio.h"
#include "loadgen/syncwrite.h"
#include "sim/base/outfile.h"
#include "sim/datastore/files.h"
#include "tests/faults/promises.h"
#include "tests/faults/recorder.h"

#define DIRTY_MAX (2 * PROMISE_BLOCK_BYTES)
#define ANSWERS_MAX 128

struct rig {
	char root[40], crash[48], store[48];
	uint8_t key[16]; /* of the folder's handles */
	const struct sl_recorder *recorder;
	struct promises live,
	    then[ANSWERS_MAX]; /* then[k]: k calls were answered, the next one was under way */
	int states, wrong;
};

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

static struct rig *rig_new(void)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	cr_assert(rig != NULL);
	(void)snprintf(rig->root, sizeof(rig->root), "/dev/shm/sloglab-power-XXXXXX");
	cr_assert(mkdtemp(rig->root) != NULL);
	(void)snprintf(rig->crash, sizeof(rig->crash), "%s.cut", rig->root);
	(void)snprintf(rig->store, sizeof(rig->store), "%s/s", rig->root);
	cr_assert_eq(sl_recorder_start(rig->root, &rig->live.answered), 0);
	return rig;
}

static void rig_free(struct rig *rig)
{
	dir_remove(rig->root);
	free(rig);
}

static struct sl_tree *tree_open(const char *dir, bool durable)
{
	struct sl_files_options options = {.dir = dir, .dirty_max_bytes = DIRTY_MAX, .host_durable = durable};
	struct sl_tree *tree = NULL;
	struct sl_err err = {0};
	int rc = sl_files_open(&options, &tree, &err);

	cr_assert_eq(rc, 0, "%s", err.msg);
	return tree;
}

static struct sl_tree *durable_open(const char *dir)
{
	return tree_open(dir, true);
}

/* What is promised when `answered` calls were answered and the next one was under way. */
static struct promises promised(uint32_t answered)
{
	struct promises promises = {.deny = answered + 1};
	struct sl_tree *tree = sl_tree_new_ram(1u << 24);

	cr_assert(tree != NULL);
	promises_load(&promises, tree, 'o');
	promises_load(&promises, tree, 'n');
	tree->ops->free(tree);
	return promises;
}

static const char *const left_words[] = {"nothing of", "all of", "all but", "nothing but", "half of"};

static void state_check(struct rig *rig, uint32_t cut, enum sl_left left, uint32_t one)
{
	const struct sl_record *records = rig->recorder->records;
	uint32_t answered = cut < rig->recorder->count ? records[cut].answered : rig->live.answered;
	struct promises promises = rig->then[answered];
	struct sl_files_options options = {.dirty_max_bytes = DIRTY_MAX};
	struct sl_tree *tree = NULL;
	struct sl_err err = {0};
	char dir[64];
	uint8_t key[16];

	sl_recorder_leave(rig->recorder, cut, left, one, rig->crash);
	(void)snprintf(dir, sizeof(dir), "%s/s", rig->crash);
	options.dir = dir;
	rig->states++;
	if (sl_files_open(&options, &tree, &err) != 0) {
		(void)snprintf(promises.error, sizeof(promises.error), "%.400s", err.msg);
	} else if (promises_audit(&promises, tree) && answered > 0) {
		sl_files_key(tree, key);
		if (memcmp(key, rig->key, sizeof(key)) != 0) {
			(void)snprintf(promises.error, sizeof(promises.error),
				       "the key of the handles is lost");
		}
	}
	if (tree) {
		tree->ops->free(tree);
	}
	dir_remove(rig->crash);
	if (promises.error[0] != '\0') {
		rig->wrong++;
		fprintf(stderr, "cut after call %u, %u answered, with %s call %u (%s): %s\n", cut, answered,
			left_words[left], one, records[one].name, promises.error);
	}
}

/* All that a cut at this place may leave. */
static void cut_check(struct rig *rig, uint32_t cut)
{
	state_check(rig, cut, SL_LEFT_NOTHING, 0);
	state_check(rig, cut, SL_LEFT_ALL, 0);
	for (uint32_t i = 0; i < cut; i++) {
		if (sl_record_durable(rig->recorder, i, cut)) {
			continue;
		}
		state_check(rig, cut, SL_LEFT_ALL_BUT_ONE, i);
		state_check(rig, cut, SL_LEFT_ONE, i);
		if (rig->recorder->records[i].kind == SL_RECORD_WRITE) {
			state_check(rig, cut, SL_LEFT_HALF_OF_ONE, i);
		}
	}
}

static void cuts_check(struct rig *rig, uint32_t from)
{
	rig->recorder = sl_recorder_stop();
	cr_assert_eq(rig->live.failed, 0);
	cr_assert(rig->live.answered > 20 && rig->live.answered < ANSWERS_MAX);
	for (uint32_t k = 0; k <= rig->live.answered; k++) {
		rig->then[k] = promised(k);
	}
	for (uint32_t cut = from; cut <= rig->recorder->count; cut++) {
		cut_check(rig, cut);
	}
	cr_assert_eq(rig->wrong, 0, "%d of %d", rig->wrong, rig->states);
	cr_assert(rig->states > 300, "only %d states", rig->states);
}

Test(power, whatever_a_cut_leaves_of_a_durable_folder_holds_what_was_acknowledged)
{
	struct rig *rig = rig_new();
	struct sl_tree *tree = durable_open(rig->store);

	sl_files_key(tree, rig->key);
	promises_load(&rig->live, tree, 'o');
	tree->ops->free(tree);
	tree = durable_open(rig->store); /* writes a new journal */
	promises_load(&rig->live, tree, 'n');
	cuts_check(rig, 1);
	tree->ops->free(tree);
	rig_free(rig);
}

/* Names whose data is not there would have the folder refused. */
Test(power, what_an_earlier_server_left_to_the_kernel_is_durable_before_the_first_answer)
{
	struct rig *rig = rig_new();
	struct sl_tree *tree = tree_open(rig->store, false);
	uint32_t ready;

	sl_files_key(tree, rig->key);
	cr_assert_eq(promises_probe(tree, "probe-1"), 0);
	cr_assert_eq(promises_probe(tree, "probe-2"), 0);
	tree->ops->free(tree);
	tree = durable_open(rig->store);
	ready = sl_recorder_so_far()->count;
	promises_load(&rig->live, tree, 'o');
	cuts_check(rig, ready);
	tree->ops->free(tree);
	rig_free(rig);
}

static uint32_t syncs(const struct sl_recorder *recorder)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < recorder->count; i++) {
		count += recorder->records[i].kind == SL_RECORD_SYNC;
	}
	return count;
}

static void settle(struct sl_tree *tree)
{
	cr_assert_eq(tree->ops->settle(tree), 0);
}

Test(power, calls_that_come_together_share_their_waits_for_the_disk)
{
	struct rig *rig = rig_new();
	struct sl_tree *tree = durable_open(rig->store);
	/* The recorder goes on; it is looked at, not ended. */
	const struct sl_recorder *recorder = sl_recorder_so_far();
	uint32_t before;
	uint64_t files[2];

	before = syncs(recorder);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(
		    tree->ops->create(tree, SL_TREE_ROOT, i ? "one" : "two", SL_FT_REG, NULL, &files[i]), 0);
	}
	cr_assert_eq(syncs(recorder), before + 2,
		     "a new name in data/ comes before the journal's record of it");
	before += 2;
	for (uint64_t i = 0; i < 16; i++) {
		cr_assert_eq(tree->ops->write(tree, files[i % 2], i * 6, "stable", 6, SL_FILE_SYNC), 0);
	}
	cr_assert_eq(syncs(recorder), before, "each call waited");
	settle(tree);
	cr_assert_eq(syncs(recorder), before + 3, "the journal and two files");
	settle(tree);
	cr_assert_eq(syncs(recorder), before + 3, "nothing came since");
	cr_assert_eq(tree->ops->write(tree, files[0], 0, "unstable", 8, SL_UNSTABLE), 0);
	settle(tree);
	cr_assert_eq(syncs(recorder), before + 3, "nothing became stable");
	cr_assert_eq(tree->ops->commit(tree, files[0]), 0);
	settle(tree);
	cr_assert_eq(syncs(recorder), before + 4);
	cr_assert_eq(sl_files_syncs(tree).count, 2, "what is shown to users: settles that waited");
	tree->ops->free(tree);
	rig_free(rig);
}

/* All that was written since `from` is on the disk. */
static void durable_since(uint32_t from, enum sl_record_kind kind)
{
	const struct sl_recorder *recorder = sl_recorder_so_far();

	for (uint32_t i = from; i < recorder->count; i++) {
		cr_assert(recorder->records[i].kind != kind ||
			      sl_record_durable(recorder, i, recorder->count),
			  "call %u of %u", i, recorder->count);
	}
}

/* 256 descriptors are kept open; a file that loses its own waits for the disk first. */
Test(power, more_files_than_stay_open_are_all_on_the_disk_once_they_are_settled)
{
	struct rig *rig = rig_new();
	struct sl_tree *tree = durable_open(rig->store);
	uint32_t from = sl_recorder_so_far()->count;
	char name[16];
	uint64_t ino;

	for (int i = 0; i < 300; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		cr_assert_eq(tree->ops->create(tree, SL_TREE_ROOT, name, SL_FT_REG, NULL, &ino), 0);
		cr_assert_eq(tree->ops->write(tree, ino, 0, "stable", 6, SL_FILE_SYNC), 0, "%s", name);
	}
	settle(tree);
	durable_since(from, SL_RECORD_WRITE);
	tree->ops->free(tree);
	rig_free(rig);
}

/* An orderly end writes what was unstable, and nobody settles that any more. */
Test(power, the_end_of_a_durable_tree_leaves_no_data_to_the_kernel)
{
	struct rig *rig = rig_new();
	struct sl_tree *tree = durable_open(rig->store);
	uint32_t from;
	uint64_t ino;

	cr_assert_eq(tree->ops->create(tree, SL_TREE_ROOT, "f", SL_FT_REG, NULL, &ino), 0);
	settle(tree);
	from = sl_recorder_so_far()->count;
	cr_assert_eq(tree->ops->write(tree, ino, 0, "unstable", 8, SL_UNSTABLE), 0);
	cr_assert_eq(tree->ops->sync_all(tree), 0);
	cr_assert(sl_recorder_so_far()->count > from, "nothing was written");
	tree->ops->free(tree);
	durable_since(from, SL_RECORD_WRITE);
	rig_free(rig);
}

/* One that is not counted, as it gives the file its block, and nine that are. */
Test(power, what_a_sync_costs_is_the_time_of_ten_syncs)
{
	struct rig *rig = rig_new();
	struct sl_tree *tree = durable_open(rig->store);
	uint32_t before = syncs(sl_recorder_so_far());
	int64_t cost_ns;

	cr_assert_eq(sl_files_sync_cost(tree, &cost_ns), 0);
	cr_assert_eq(syncs(sl_recorder_so_far()), before + 10);
	tree->ops->free(tree);
	rig_free(rig);
}

static void result_write(const char *path, const char *text)
{
	struct sl_outfile out;
	struct sl_err err = {0};

	cr_assert_eq(sl_outfile_open(&out, path, &err), 0, "%s", err.msg);
	cr_assert(fputs(text, out.file) != EOF);
	cr_assert_eq(sl_outfile_commit(&out, &err), 0, "%s", err.msg);
}

static void result_check(struct rig *rig, uint32_t cut, enum sl_left left, uint32_t one)
{
	char path[64], text[32] = "";
	FILE *file;

	if (left >= SL_LEFT_ALL_BUT_ONE && sl_record_durable(rig->recorder, one, cut)) {
		return;
	}
	sl_recorder_leave(rig->recorder, cut, left, one, rig->crash);
	(void)snprintf(path, sizeof(path), "%s/s", rig->crash);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file) ||
	    (strcmp(text, "old") != 0 && strcmp(text, "new one") != 0)) {
		rig->wrong++;
		fprintf(stderr, "cut after call %u, with %s call %u: \"%s\"\n", cut, left_words[left], one,
			text);
	}
	if (file) {
		fclose(file);
	}
	rig->states++;
	dir_remove(rig->crash);
}

Test(power, a_result_file_is_the_old_one_or_the_new_one)
{
	struct rig *rig = rig_new();
	int folder = open(rig->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t old;

	result_write(rig->store, "old");
	cr_assert_eq(fsync(folder), 0);
	old = sl_recorder_so_far()->count;
	result_write(rig->store, "new one");
	rig->recorder = sl_recorder_stop();
	for (uint32_t cut = old; cut <= rig->recorder->count; cut++) {
		for (int left = SL_LEFT_NOTHING; left <= SL_LEFT_HALF_OF_ONE; left++) {
			for (uint32_t one = old; one < (left < SL_LEFT_ALL_BUT_ONE ? old + 1 : cut); one++) {
				result_check(rig, cut, (enum sl_left)left, one);
			}
		}
	}
	cr_assert_eq(rig->wrong, 0);
	cr_assert(rig->states > 10);
	close(folder);
	rig_free(rig);
}

/* What the audit after a cut of this machine may rely on: each line that came back is on the disk. */
Test(power, a_list_of_acknowledgements_that_is_synced_is_so_line_by_line)
{
	struct rig *rig = rig_new();
	struct sl_audit_log log;
	struct sl_err err = {0};
	uint32_t last;

	cr_assert_eq(sl_audit_log_create(rig->store, 1, 512, true, &log, &err), 0, "%s", err.msg);
	for (uint64_t i = 0; i < 5; i++) {
		cr_assert_eq(sl_audit_log_add(&log, i, &err), 0);
		last = sl_recorder_so_far()->count;
		for (uint32_t r = 1; r < last; r++) { /* the file's name is 0 */
			cr_assert(sl_record_durable(sl_recorder_so_far(), r, last), "call %u after line %lu",
				  r, (unsigned long)i);
		}
		cr_assert(last >= 2 * (i + 2), "a write and a sync each");
	}
	sl_audit_log_close(&log);
	rig_free(rig);
}

/* A load that leaves a sync out measures another disk than it says. */
Test(power, syncwrite_waits_for_the_disk_after_each_write)
{
	struct rig *rig = rig_new();
	struct sl_syncwrite_config config = {.path = rig->store,
					     .block_bytes = 4096,
					     .file_bytes = 65536,
					     .unstable = true,
					     .depth = 1,
					     .limits = {.max_requests = 10}};
	struct sl_load_result result;
	struct sl_err err = {0};

	cr_assert_eq(sl_load_result_init(&result), 0);
	cr_assert_eq(sl_syncwrite_run(&config, &result, &err), 0, "%s", err.msg);
	cr_assert_eq(result.requests, 10);
	cr_assert(syncs(sl_recorder_so_far()) >= 10, "%u", syncs(sl_recorder_so_far()));
	sl_load_result_fini(&result);
	rig_free(rig);
}

Test(power, fileio_syncs_as_often_as_it_counts)
{
	struct rig *rig = rig_new();
	struct sl_fileio_load load = {.path = rig->root,
				      .stages = SL_LOAD_PREPARE | SL_LOAD_RUN,
				      .source = {.mode = SL_FILEIO_RNDWR,
						 .files = 2,
						 .file_bytes = 65536,
						 .block_bytes = 16384,
						 .fsync_every = 10,
						 .max_requests = 40},
				      .threads = 1,
				      .depth = 1,
				      .unstable = true,
				      .fsync_end = true};
	struct sl_load_result result;
	struct sl_err err = {0};

	cr_assert_eq(sl_load_result_init(&result), 0);
	cr_assert_eq(sl_fileio_load_run(&load, &result, &err), 0, "%s", err.msg);
	/* Both files after each tenth request; before it each once, when it was filled. */
	cr_assert(result.ops[SL_LOAD_OTHER] >= 8, "%lu", (unsigned long)result.ops[SL_LOAD_OTHER]);
	cr_assert_eq(syncs(sl_recorder_so_far()), result.ops[SL_LOAD_OTHER] + 2);
	sl_load_result_fini(&result);
	rig_free(rig);
}
