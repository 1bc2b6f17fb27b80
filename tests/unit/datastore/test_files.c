/* The durable tree: names across restarts, kills at every byte of the journal, unstable data, bounds. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files_rig.h"
#include "sim/base/rng.h"

Test(files, names_and_attributes_survive_a_restart)
{
	char *dir = scratch_new();
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct sl_setattr set = {.mask = SL_SET_MODE | SL_SET_UID | SL_SET_GID | SL_SET_MTIME,
				 .mode = 0640,
				 .uid = 7,
				 .gid = 8,
				 .mtime_ns = 1400000000123456789};
	struct sl_attr before, after;
	uint8_t key[16], again[16];
	int64_t now_ns = 1700000000000000001;
	uint64_t sub, file, found = 0;

	tree->wall_ns = fixed_clock;
	tree->wall_arg = &now_ns;
	sub = tree_make(tree, SL_TREE_ROOT, "vm", SL_FT_DIR);
	file = tree_make(tree, sub, "disk.img", SL_FT_REG);
	tree_write(tree, file, 0, "hello", SL_FILE_SYNC);
	cr_assert_eq(tree->ops->setattr(tree, file, &set, &before), 0);
	sl_files_key(tree, key);
	tree->ops->free(tree);

	tree = tree_open(dir, DIRTY_MAX);
	sl_files_key(tree, again);
	cr_assert_eq(memcmp(key, again, sizeof(key)), 0);
	cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, "vm", &found), 0);
	cr_assert_eq(found, sub);
	cr_assert_eq(tree->ops->lookup(tree, sub, "disk.img", &found), 0);
	cr_assert_eq(found, file);
	cr_assert_eq(tree->ops->lookup(tree, sub, "..", &found), 0);
	cr_assert_eq(found, SL_TREE_ROOT);
	cr_assert_eq(tree->ops->getattr(tree, file, &after), 0);
	cr_assert_eq(after.mode, 0640u);
	cr_assert_eq(after.uid, 7u);
	cr_assert_eq(after.gid, 8u);
	cr_assert_eq(after.generation, before.generation);
	cr_assert_eq(after.size_bytes, 5u);
	cr_assert_eq(after.mtime_ns, 1400000000123456789);
	cr_assert_eq(after.ctime_ns, now_ns);
	cr_assert_eq(tree->ops->getattr(tree, sub, &after), 0);
	cr_assert_eq(after.mtime_ns, now_ns);
	cr_assert_eq(tree->ops->getattr(tree, SL_TREE_ROOT, &after), 0);
	cr_assert_eq(after.nlink, 3u);
	tree_expect(tree, file, 0, "hello");
	tree->ops->free(tree);
	scratch_remove(dir);
}

Test(files, names_have_their_errors)
{
	char *dir = scratch_new();
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct sl_setattr set = {0};
	char longest[SL_TREE_NAME_MAX + 2];
	uint64_t ino = 0, sub = tree_make(tree, SL_TREE_ROOT, "sub", SL_FT_DIR);
	uint64_t file = tree_make(tree, sub, "file", SL_FT_REG);
	struct sl_attr attr;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	cr_assert_eq(tree->ops->create(tree, SL_TREE_ROOT, longest, SL_FT_REG, &set, &ino), -ENAMETOOLONG);
	longest[SL_TREE_NAME_MAX] = '\0';
	cr_assert_eq(tree->ops->create(tree, SL_TREE_ROOT, longest, SL_FT_REG, &set, &ino), 0);
	cr_assert_eq(tree->ops->create(tree, SL_TREE_ROOT, "", SL_FT_REG, &set, &ino), -EINVAL);
	cr_assert_eq(tree->ops->create(tree, SL_TREE_ROOT, "a/b", SL_FT_REG, &set, &ino), -EINVAL);
	cr_assert_eq(tree->ops->create(tree, SL_TREE_ROOT, ".", SL_FT_DIR, &set, &ino), -EEXIST);
	cr_assert_eq(tree->ops->create(tree, SL_TREE_ROOT, "sub", SL_FT_REG, &set, &ino), -EEXIST);
	cr_assert_eq(tree->ops->create(tree, file, "x", SL_FT_REG, &set, &ino), -ENOTDIR);
	cr_assert_eq(tree->ops->create(tree, 999, "x", SL_FT_REG, &set, &ino), -ESTALE);
	cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, "none", &ino), -ENOENT);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "none", SL_FT_REG), -ENOENT);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "sub", SL_FT_REG), -EISDIR);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "sub", SL_FT_DIR), -ENOTEMPTY);
	cr_assert_eq(tree->ops->remove(tree, sub, "file", SL_FT_DIR), -ENOTDIR);
	cr_assert_eq(tree->ops->remove(tree, sub, "..", SL_FT_DIR), -EINVAL);
	cr_assert_eq(tree->ops->remove(tree, sub, "file", SL_FT_REG), 0);
	cr_assert_eq(tree->ops->getattr(tree, file, &attr), -ESTALE);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "sub", SL_FT_DIR), 0);
	tree->ops->free(tree);
	scratch_remove(dir);
}

static void file_copy(const char *from, const char *to, size_t bytes)
{
	char buf[8192];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t got;

	cr_assert(in && out && bytes <= sizeof(buf));
	got = fread(buf, 1, bytes, in);
	cr_assert_eq(got, bytes);
	cr_assert_eq(fwrite(buf, 1, bytes, out), bytes);
	fclose(in);
	fclose(out);
}

/* What the tree must hold after the first `n` of the steps of the next test. */
static void steps_run(struct sl_tree *tree, int n, uint64_t *ends, const char *journal)
{
	struct sl_setattr set = {.mask = SL_SET_MODE, .mode = 0600};
	struct sl_attr attr;
	uint64_t sub = 0, two = 0, ino;
	int rc = 0;

	for (int i = 0; i < n; i++) {
		switch (i) {
		case 0:
			rc = tree->ops->create(tree, SL_TREE_ROOT, "sub", SL_FT_DIR, &set, &sub);
			break;
		case 1:
			rc = tree->ops->create(tree, sub, "one", SL_FT_REG, &set, &ino);
			break;
		case 2:
			rc = tree->ops->create(tree, SL_TREE_ROOT, "two", SL_FT_REG, &set, &two);
			break;
		case 3:
			rc = tree->ops->setattr(tree, sub, &set, &attr);
			break;
		case 4:
			rc = tree->ops->link(tree, two, SL_TREE_ROOT, "three");
			break;
		case 5:
			rc = tree->ops->rename(tree, SL_TREE_ROOT, "two", SL_TREE_ROOT, "one");
			break;
		case 6: /* in one step: never both, never none */
			rc = tree->ops->rename(tree, SL_TREE_ROOT, "three", sub, "one");
			break;
		case 7:
			rc = tree->ops->symlink(tree, SL_TREE_ROOT, "link", "/a/target", &set, &ino);
			break;
		default:
			rc = tree->ops->remove(tree, sub, "one", SL_FT_REG);
			rc = rc ? rc : tree->ops->remove(tree, SL_TREE_ROOT, "sub", SL_FT_DIR);
			break;
		}
		cr_assert_eq(rc, 0, "step %d: %d", i, rc);
		if (ends) {
			ends[i + 1] = file_bytes(journal);
		}
	}
}

/* Kill at every byte: what was acknowledged is there, what was not is gone, and the tree works on. */
Test(files, a_kill_at_every_journal_byte_leaves_a_consistent_tree)
{
	static const char *const root_after[] = {"",
						 "sub ",
						 "sub ",
						 "sub two ",
						 "sub two ",
						 "sub two three ",
						 "sub three one ",
						 "sub one ",
						 "sub one link ",
						 "one link "};
	enum {
		STEPS = 9
	};
	char *dir = scratch_new(), *journal = path_in(dir, "journal"), *saved = path_in(dir, "saved");
	uint64_t ends[STEPS + 1];
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct listing listing;
	int step = 0;

	ends[0] = file_bytes(journal);
	steps_run(tree, STEPS, ends, journal);
	tree->ops->free(tree);
	cr_assert_eq(rename(journal, saved), 0);
	for (uint64_t cut = ends[0]; cut <= ends[STEPS]; cut++) {
		while (step < STEPS && cut >= ends[step + 1]) {
			step++;
		}
		file_copy(saved, journal, cut);
		tree = tree_open(dir, DIRTY_MAX);
		tree_list(tree, SL_TREE_ROOT, &listing);
		cr_assert_str_eq(listing.text, root_after[step], "cut at %lu", (unsigned long)cut);
		/* The torn tail is gone for good: the next record is not lost behind it. */
		tree_make(tree, SL_TREE_ROOT, "next", SL_FT_REG);
		tree->ops->free(tree);
		tree = tree_open(dir, DIRTY_MAX);
		tree_list(tree, SL_TREE_ROOT, &listing);
		cr_assert(strstr(listing.text, "next ") != NULL, "cut at %lu", (unsigned long)cut);
		tree->ops->free(tree);
	}
	cr_assert_eq(step, STEPS);
	free(journal);
	free(saved);
	scratch_remove(dir);
}

Test(files, damage_in_the_middle_is_an_error_not_a_loss)
{
	char *dir = scratch_new(), *journal = path_in(dir, "journal");
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct sl_err err = {0};
	char name[16];
	FILE *file;

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		tree_make(tree, SL_TREE_ROOT, name, SL_FT_REG);
	}
	tree->ops->free(tree);
	file = fopen(journal, "r+b");
	cr_assert(file != NULL);
	fseek(file, 250, SEEK_SET);
	fputc(0x5a, file);
	fclose(file);
	cr_assert_eq(files_open(dir, DIRTY_MAX, &tree, &err), -EINVAL);
	cr_assert(strstr(err.msg, "journal: damaged at byte") != NULL, "%s", err.msg);
	free(journal);
	scratch_remove(dir);
}

Test(files, orphans_go_and_half_written_snapshots_too)
{
	char *dir = scratch_new(), *fresh = path_in(dir, "journal.new");
	char *orphan = path_in(dir, "data/00000000000000ff"), *foreign = path_in(dir, "data/notes.txt");
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	const char *made[] = {fresh, orphan, foreign};

	tree->ops->free(tree);
	for (int i = 0; i < 3; i++) {
		FILE *file = fopen(made[i], "w");

		cr_assert(file != NULL);
		fclose(file);
	}
	tree = tree_open(dir, DIRTY_MAX);
	cr_assert_neq(access(fresh, F_OK), 0);
	cr_assert_neq(access(orphan, F_OK), 0);
	cr_assert_eq(access(foreign, F_OK), 0);
	tree->ops->free(tree);
	free(fresh);
	free(orphan);
	free(foreign);
	scratch_remove(dir);
}

Test(files, the_cost_of_the_hosts_disk_is_measured_and_leaves_nothing)
{
	char *dir = scratch_new();
	char *probe = path_in(dir, "data/ffffffffffffffff");
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	int64_t cost_ns = 0;
	int fd;

	cr_assert_eq(sl_files_sync_cost(tree, &cost_ns), 0);
	cr_assert(cost_ns > 0);
	cr_assert_neq(access(probe, F_OK), 0);
	/* A kill in the middle: the next start clears it away. */
	fd = open(probe, O_CREAT | O_WRONLY, 0600);
	cr_assert(fd >= 0);
	close(fd);
	tree->ops->free(tree);
	tree = tree_open(dir, DIRTY_MAX);
	cr_assert_neq(access(probe, F_OK), 0);
	tree->ops->free(tree);
	free(probe);
	scratch_remove(dir);
}

Test(files, one_owner_and_no_foreign_folder)
{
	char *dir = scratch_new(), *data = path_in(dir, "data");
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX), *other = NULL;
	struct sl_err err = {0};

	cr_assert_eq(files_open(dir, DIRTY_MAX, &other, &err), -EBUSY);
	cr_assert(strstr(err.msg, "already in use") != NULL, "%s", err.msg);
	cr_assert(strchr(err.msg, '\n') == NULL);
	tree->ops->free(tree);
	tree = tree_open(dir, DIRTY_MAX);
	tree_make(tree, SL_TREE_ROOT, "x", SL_FT_REG);
	/* A folder with somebody's files in it is left alone. */
	err = (struct sl_err){0};
	cr_assert_eq(files_open("/usr", DIRTY_MAX, &other, &err), -ENOTEMPTY);
	cr_assert_eq(access("/usr/lock", F_OK), -1);
	cr_assert_eq(files_open("/dev/null", DIRTY_MAX, &other, &err), -ENOTDIR);
	cr_assert_eq(files_open("/nonexistent/a/b", DIRTY_MAX, &other, &err), -ENOENT);
	tree->ops->free(tree);
	free(data);
	scratch_remove(dir);
}

Test(files, unstable_data_is_read_back_and_lost_by_a_kill)
{
	char *dir = scratch_new();
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	uint64_t kept = tree_make(tree, SL_TREE_ROOT, "kept", SL_FT_REG);
	uint64_t lost = tree_make(tree, SL_TREE_ROOT, "lost", SL_FT_REG);

	tree_write(tree, kept, 4090, "across a page", SL_UNSTABLE);
	tree_expect(tree, kept, 4090, "across a page");
	cr_assert_eq(tree->ops->commit(tree, kept), 0);
	tree_write(tree, lost, 0, "0123456789", SL_FILE_SYNC);
	tree_write(tree, lost, 3, "abc", SL_UNSTABLE);
	tree_expect(tree, lost, 0, "012abc6789");
	/* Stable data over unstable data is seen, and neither the other bytes nor a later commit undo it. */
	tree_write(tree, lost, 4, "X", SL_FILE_SYNC);
	tree_expect(tree, lost, 0, "012aXc6789");
	tree_write(tree, lost, 10, "tail", SL_UNSTABLE);
	cr_assert_eq(tree_size(tree, lost), 14u);
	tree->ops->free(tree);

	tree = tree_open(dir, DIRTY_MAX);
	tree_expect(tree, kept, 4090, "across a page");
	cr_assert_eq(tree_size(tree, lost), 10u);
	tree_expect(tree, lost, 0, "0123X56789");
	tree_write(tree, lost, 3, "abc", SL_UNSTABLE);
	cr_assert_eq(tree->ops->sync_all(tree), 0);
	tree->ops->free(tree);
	tree = tree_open(dir, DIRTY_MAX);
	tree_expect(tree, lost, 0, "012abc6789");
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* Random writes of both kinds, truncations and commits against a plain array, at several bounds. */
Test(files, overlay_agrees_with_an_array)
{
	enum {
		SPACE = 40000,
		ROUNDS = 2000
	};
	static const uint64_t bounds[] = {0, 4096, 3 * 4096, DIRTY_MAX};
	uint8_t *model = malloc(SPACE), *buf = malloc(SPACE);
	char *dir = scratch_new();

	for (size_t b = 0; b < sizeof(bounds) / sizeof(bounds[0]); b++) {
		struct sl_tree *tree = tree_open(dir, bounds[b]);
		uint64_t ino = tree_make(tree, SL_TREE_ROOT,
					 b == 0   ? "a"
					 : b == 1 ? "b"
					 : b == 2 ? "c"
						  : "d",
					 SL_FT_REG);
		struct sl_rng rng;
		uint64_t size = 0;

		memset(model, 0, SPACE);
		sl_rng_init(&rng, b, "overlay");
		for (int i = 0; i < ROUNDS; i++) {
			uint32_t at = (uint32_t)sl_rng_below(&rng, SPACE - 9000),
				 n = (uint32_t)sl_rng_below(&rng, 9000) + 1;
			struct sl_setattr set = {.mask = SL_SET_SIZE, .size_bytes = at};
			struct sl_attr attr;
			uint32_t got = 0;
			bool eof = false;

			switch (sl_rng_below(&rng, 12)) {
			case 0:
				cr_assert_eq(tree->ops->setattr(tree, ino, &set, &attr), 0);
				memset(model + at, 0, SPACE - at);
				size = at;
				break;
			case 1:
				cr_assert_eq(tree->ops->commit(tree, ino), 0);
				break;
			case 2:
			case 3:
			case 4:
				cr_assert_eq(tree->ops->read(tree, ino, at, buf, n, &got, &eof), 0);
				cr_assert_eq(got, at >= size ? 0 : n < size - at ? n : size - at);
				cr_assert_eq(eof, at + (uint64_t)got >= size);
				cr_assert_eq(memcmp(buf, model + at, got), 0, "bound %zu round %d", b, i);
				break;
			default:
				memset(buf, i, n);
				cr_assert_eq(tree->ops->write(tree, ino, at, buf, n,
							      i % 3 ? SL_UNSTABLE : SL_FILE_SYNC),
					     0);
				memcpy(model + at, buf, n);
				size = at + n > size ? at + n : size;
				break;
			}
			cr_assert_eq(tree_size(tree, ino), size);
		}
		cr_assert_eq(tree->ops->sync_all(tree), 0);
		tree->ops->free(tree);
		tree = tree_open(dir, bounds[b]);
		cr_assert_eq(tree_size(tree, ino), size);
		if (size > 0) {
			uint32_t got = 0;
			bool eof = false;

			cr_assert_eq(tree->ops->read(tree, ino, 0, buf, SPACE, &got, &eof), 0);
			cr_assert_eq(got, size);
			cr_assert_eq(memcmp(buf, model, got), 0);
		}
		tree->ops->free(tree);
	}
	free(model);
	free(buf);
	scratch_remove(dir);
}

Test(files, files_are_sparse_and_bounded)
{
	char *dir = scratch_new();
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	uint64_t ino = tree_make(tree, SL_TREE_ROOT, "big", SL_FT_REG);
	struct sl_fsstat stat;
	struct sl_attr attr;

	tree_write(tree, ino, 1ull << 33, "end", SL_FILE_SYNC);
	cr_assert_eq(tree->ops->getattr(tree, ino, &attr), 0);
	cr_assert_eq(attr.size_bytes, (1ull << 33) + 3);
	cr_assert(attr.used_bytes < 1u << 20);
	tree_expect(tree, ino, 1ull << 33, "end");
	cr_assert_eq(tree->ops->write(tree, ino, INT64_MAX - 1, "abc", 3, SL_FILE_SYNC), -EFBIG);
	cr_assert_eq(tree->ops->write(tree, ino, UINT64_MAX, "abc", 3, SL_UNSTABLE), -EFBIG);
	cr_assert_eq(tree->ops->fsstat(tree, &stat), 0);
	cr_assert(stat.total_bytes >= stat.free_bytes && stat.total_bytes > 0);
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* More files than descriptors are kept open. */
Test(files, many_files)
{
	enum {
		COUNT = 700
	};
	char *dir = scratch_new();
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	uint64_t inos[COUNT];
	char name[16];

	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		inos[i] = tree_make(tree, SL_TREE_ROOT, name, SL_FT_REG);
		tree_write(tree, inos[i], 0, name, i % 2 ? SL_UNSTABLE : SL_FILE_SYNC);
	}
	cr_assert_eq(tree->ops->sync_all(tree), 0);
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		tree_expect(tree, inos[i], 0, name);
	}
	tree->ops->free(tree);
	scratch_remove(dir);
}

Test(files, readdir_goes_on_where_it_was_while_entries_come_and_go)
{
	char *dir = scratch_new();
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct listing listing = {.limit = 3};
	char name[16];

	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "e%d", i);
		tree_make(tree, SL_TREE_ROOT, name, SL_FT_REG);
	}
	cr_assert_eq(tree->ops->readdir(tree, SL_TREE_ROOT, 0, listing_add, &listing), 0);
	cr_assert_str_eq(listing.text, "e0 e1 e2 ");
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "e0", SL_FT_REG), 0);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "e2", SL_FT_REG), 0); /* the cookie's own entry */
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "e3", SL_FT_REG), 0);
	tree_make(tree, SL_TREE_ROOT, "e0", SL_FT_REG);
	tree->ops->free(tree);

	tree = tree_open(dir, DIRTY_MAX); /* across a restart */
	listing = (struct listing){.last_cookie = listing.last_cookie};
	cr_assert_eq(tree->ops->readdir(tree, SL_TREE_ROOT, listing.last_cookie, listing_add, &listing), 0);
	cr_assert_str_eq(listing.text, "e4 e5 e0 ");
	tree->ops->free(tree);
	scratch_remove(dir);
}

Test(files, the_journal_is_compacted_and_numbers_are_not_reused)
{
	char *dir = scratch_new(), *journal = path_in(dir, "journal");
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct listing listing;
	uint64_t last = 0, ino;

	tree_make(tree, SL_TREE_ROOT, "stays", SL_FT_DIR);
	for (int i = 0; i < 6000; i++) {
		ino = tree_make(tree, SL_TREE_ROOT, "comes-and-goes", SL_FT_REG);
		cr_assert(ino > last);
		last = ino;
		cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "comes-and-goes", SL_FT_REG), 0);
	}
	cr_assert(file_bytes(journal) < 12000u * 64 / 2);
	tree->ops->free(tree);
	tree = tree_open(dir, DIRTY_MAX);
	tree_list(tree, SL_TREE_ROOT, &listing);
	cr_assert_str_eq(listing.text, "stays ");
	cr_assert(tree_make(tree, SL_TREE_ROOT, "new", SL_FT_REG) > last);
	tree->ops->free(tree);
	free(journal);
	scratch_remove(dir);
}
