/*
 * Random operations on an NFS server through libnfs, and the same ones on a model in memory: every result,
 * every byte and every listing must agree. Seeded, so that a failure can be had again. Works with any NFSv3
 * server. With "pause" it prints "half" in the middle and goes on when a line comes in: what was acknowledged
 * until then must be there after whatever was done to the server meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <nfsc/libnfs.h>

#include "sim/base/rng.h"
#include "tests/system/nfs_oracle_tree.h"

#define DEPTH_MAX 4
#define IO_MAX (48u << 10)

struct name {
	struct node *dir;
	unsigned number;
	char path[PATH_BYTES];
};

struct oracle {
	struct nfs_context *nfs;
	struct node *root;
	struct sl_rng rng;
	unsigned step;
	const char *what; /* of the present step */
	bool stable;      /* all writes FILE_SYNC */
};

__attribute__((format(printf, 2, 3))) static void disagree(struct oracle *oracle, const char *format, ...)
{
	va_list args;

	(void)fprintf(stderr, "step %u, %s: ", oracle->step, oracle->what);
	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
	(void)fprintf(stderr, "; libnfs says: %s\n", nfs_get_error(oracle->nfs));
	exit(1);
}

static uint32_t below(struct oracle *oracle, uint32_t end)
{
	return (uint32_t)sl_rng_below(&oracle->rng, end);
}

/* Some name in some folder, there or not. */
static struct name pick(struct oracle *oracle)
{
	struct name name = {.dir = oracle->root};

	for (uint32_t down = below(oracle, DEPTH_MAX); down > 0; down--) {
		struct node *next = name.dir->names[below(oracle, NAMES)];

		name.dir = next && next->kind == DIRECTORY ? next : name.dir;
	}
	name.number = below(oracle, NAMES);
	name_path(name.dir, name.number, name.path);
	return name;
}

static struct node *node_at(const struct name *name)
{
	return name->dir->names[name->number];
}

/* A name that there is: several tries. */
static struct name pick_there(struct oracle *oracle)
{
	struct name name = pick(oracle);

	for (int i = 0; i < 8 && !node_at(&name); i++) {
		name = pick(oracle);
	}
	return name;
}

/* The result is 0 when `want` is, else one of the errors (0 ends nothing: unused ones are 0). */
static void expect(struct oracle *oracle, const char *path, int rc, int want, int other, int third)
{
	if (want == 0 ? rc >= 0 : rc < 0 && (rc == want || rc == other || rc == third)) {
		return;
	}
	disagree(oracle, "%s gave %d instead of %d", path, rc, want);
}

static void do_mkdir(struct oracle *oracle)
{
	struct name name = pick(oracle);
	int rc = nfs_mkdir2(oracle->nfs, name.path, 0750);

	oracle->what = "mkdir";
	expect(oracle, name.path, rc, node_at(&name) ? -EEXIST : 0, 0, 0);
	if (rc == 0) {
		struct node *dir = node_new(DIRECTORY, 0750);

		dir->links = 1;
		dir->parent = name.dir;
		dir->place = name.number;
		name.dir->names[name.number] = dir;
	}
}

static void do_rmdir(struct oracle *oracle)
{
	struct name name = pick_there(oracle);
	struct node *node = node_at(&name);
	int want = !node ? -ENOENT : node->kind != DIRECTORY ? -ENOTDIR : is_empty(node) ? 0 : -ENOTEMPTY;

	oracle->what = "rmdir";
	expect(oracle, name.path, nfs_rmdir(oracle->nfs, name.path), want, want == -ENOTEMPTY ? -EEXIST : 0,
	       0);
	if (want == 0) {
		node_unlink(node);
		name.dir->names[name.number] = NULL;
	}
}

static void do_create(struct oracle *oracle)
{
	struct name name = pick(oracle);
	struct node *node = node_at(&name);
	struct nfsfh *fh = NULL;
	int rc;

	oracle->what = "create";
	if (node && node->kind == SYMLINK) {
		return; /* libnfs would follow it */
	}
	rc = nfs_open2(oracle->nfs, name.path, O_CREAT | O_EXCL | O_RDWR, 0640, &fh);
	expect(oracle, name.path, rc, node ? -EEXIST : 0, node && node->kind == DIRECTORY ? -EISDIR : 0, 0);
	if (rc == 0) {
		(void)nfs_close(oracle->nfs, fh);
		node = node_new(REGULAR, 0640);
		node->links = 1;
		name.dir->names[name.number] = node;
	}
}

/* A file to work on, or NULL. */
static struct node *pick_file(struct oracle *oracle, struct name *ret)
{
	for (int i = 0; i < 8; i++) {
		*ret = pick_there(oracle);
		if (node_at(ret) && node_at(ret)->kind == REGULAR) {
			return node_at(ret);
		}
	}
	return NULL;
}

static struct nfsfh *open_file(struct oracle *oracle, const char *path, int flags)
{
	struct nfsfh *fh = NULL;
	int rc = nfs_open2(oracle->nfs, path, flags, 0, &fh);

	expect(oracle, path, rc, 0, 0, 0);
	return fh;
}

static void do_write(struct oracle *oracle)
{
	static uint8_t bytes[IO_MAX];
	struct name name;
	struct node *node = pick_file(oracle, &name);
	uint32_t offset = below(oracle, FILE_MAX - IO_MAX), size = 1 + below(oracle, IO_MAX);
	bool sync = oracle->stable || below(oracle, 3) == 0;
	struct nfsfh *fh;
	int rc;

	oracle->what = "write";
	if (!node) {
		return;
	}
	for (uint32_t i = 0; i < size; i += 8) {
		uint64_t word = sl_rng_u64(&oracle->rng);

		memcpy(bytes + i, &word, size - i < 8 ? size - i : 8);
	}
	fh = open_file(oracle, name.path, O_RDWR | (sync ? O_SYNC : 0));
	rc = nfs_pwrite(oracle->nfs, fh, offset, size, bytes);
	if (rc != (int)size) {
		disagree(oracle, "%s: %u bytes at %u gave %d", name.path, size, offset, rc);
	}
	if (!sync && below(oracle, 2) == 0) {
		expect(oracle, name.path, nfs_fsync(oracle->nfs, fh), 0, 0, 0);
	}
	(void)nfs_close(oracle->nfs, fh);
	memcpy(node->data + offset, bytes, size);
	node->size = offset + size > node->size ? offset + size : node->size;
}

static void read_compare(struct oracle *oracle, const char *path, const struct node *node, uint32_t offset,
			 uint32_t size)
{
	static char bytes[FILE_MAX];
	struct nfsfh *fh = open_file(oracle, path, O_RDONLY);
	uint32_t left = offset < node->size ? node->size - offset : 0;
	int rc = nfs_pread(oracle->nfs, fh, offset, size, bytes), want = (int)(left < size ? left : size);

	if (rc != want || memcmp(bytes, node->data + offset, (size_t)want) != 0) {
		disagree(oracle, "%s: read of %u bytes at %u gave %d, not %d, or other bytes", path, size,
			 offset, rc, want);
	}
	(void)nfs_close(oracle->nfs, fh);
}

static void do_read(struct oracle *oracle)
{
	struct name name;
	struct node *node = pick_file(oracle, &name);

	oracle->what = "read";
	if (node) {
		read_compare(oracle, name.path, node, below(oracle, FILE_MAX - IO_MAX),
			     1 + below(oracle, IO_MAX));
	}
}

static void do_truncate(struct oracle *oracle)
{
	struct name name;
	struct node *node = pick_file(oracle, &name);
	uint32_t size = below(oracle, FILE_MAX);

	oracle->what = "truncate";
	if (!node) {
		return;
	}
	expect(oracle, name.path, nfs_truncate(oracle->nfs, name.path, size), 0, 0, 0);
	if (size < node->size) {
		memset(node->data + size, 0, node->size - size);
	}
	node->size = size;
}

static void do_unlink(struct oracle *oracle)
{
	struct name name = pick_there(oracle);
	struct node *node = node_at(&name);
	int want = !node ? -ENOENT : node->kind == DIRECTORY ? -EISDIR : 0;

	oracle->what = "unlink";
	expect(oracle, name.path, nfs_unlink(oracle->nfs, name.path), want, want == -EISDIR ? -EPERM : 0, 0);
	if (want == 0) {
		node_unlink(node);
		name.dir->names[name.number] = NULL;
	}
}

static void do_rename(struct oracle *oracle)
{
	struct name from = pick_there(oracle), to = pick(oracle);
	struct node *node = node_at(&from), *victim = node_at(&to);
	int want = rename_want(node, victim, to.dir);

	oracle->what = "rename";
	if (node && node->kind == DIRECTORY && depth_of(to.dir) >= DEPTH_MAX) {
		return;
	}
	expect(oracle, from.path, nfs_rename(oracle->nfs, from.path, to.path), want, want ? -EEXIST : 0,
	       want == -EINVAL || (want == -EISDIR && !is_empty(victim)) ? -ENOTEMPTY : 0);
	if (want != 0 || !node || victim == node) {
		return;
	}
	if (victim) {
		node_unlink(victim);
	}
	from.dir->names[from.number] = NULL;
	to.dir->names[to.number] = node;
	if (node->kind == DIRECTORY) {
		node->parent = to.dir;
		node->place = to.number;
	}
}

static void do_link(struct oracle *oracle)
{
	struct name from, to = pick(oracle);
	struct node *node = pick_file(oracle, &from);
	int want = node_at(&to) ? -EEXIST : 0;

	oracle->what = "link";
	if (!node) {
		return;
	}
	expect(oracle, to.path, nfs_link(oracle->nfs, from.path, to.path), want, 0, 0);
	if (want == 0) {
		node->links++;
		to.dir->names[to.number] = node;
	}
}

static void do_symlink(struct oracle *oracle)
{
	struct name name = pick(oracle);
	char target[TARGET_BYTES];
	int want = node_at(&name) ? -EEXIST : 0;

	oracle->what = "symlink";
	(void)snprintf(target, sizeof(target), "../nowhere/%u", below(oracle, 100000));
	expect(oracle, name.path, nfs_symlink(oracle->nfs, target, name.path), want, 0, 0);
	if (want == 0) {
		struct node *node = node_new(SYMLINK, 0777);

		node->links = 1;
		memcpy(node->target, target, sizeof(target));
		name.dir->names[name.number] = node;
	}
}

static void do_readlink(struct oracle *oracle)
{
	struct name name = pick_there(oracle);
	struct node *node = node_at(&name);
	char target[TARGET_BYTES] = "";
	int rc = nfs_readlink(oracle->nfs, name.path, target, sizeof(target) - 1);
	int want = !node ? -ENOENT : node->kind == SYMLINK ? 0 : -EINVAL;

	oracle->what = "readlink";
	expect(oracle, name.path, rc, want, 0, 0);
	if (want == 0 && strcmp(target, node->target) != 0) {
		disagree(oracle, "%s -> \"%s\" instead of \"%s\"", name.path, target, node->target);
	}
}

static void do_chmod(struct oracle *oracle)
{
	struct name name = pick_there(oracle);
	struct node *node = node_at(&name);
	unsigned mode = 0700 | below(oracle, 0100);

	oracle->what = "chmod";
	if (node && node->kind == SYMLINK) {
		return;
	}
	expect(oracle, name.path, nfs_chmod(oracle->nfs, name.path, (int)mode), node ? 0 : -ENOENT, 0, 0);
	if (node) {
		node->mode = mode;
	}
}

static void stat_compare(struct oracle *oracle, const char *path, const struct node *node)
{
	static const unsigned types[] = {[DIRECTORY] = S_IFDIR, [REGULAR] = S_IFREG, [SYMLINK] = S_IFLNK};
	struct nfs_stat_64 st = {0};
	int rc = nfs_lstat64(oracle->nfs, path, &st);

	expect(oracle, path, rc, node ? 0 : -ENOENT, 0, 0);
	if (!node) {
		return;
	}
	if ((st.nfs_mode & S_IFMT) != types[node->kind] ||
	    (node->kind != SYMLINK && (st.nfs_mode & 07777) != node->mode) ||
	    st.nfs_nlink != links_of(node)) {
		disagree(oracle, "%s: mode %llo, %llu links instead of %o|%o, %u", path,
			 (unsigned long long)st.nfs_mode, (unsigned long long)st.nfs_nlink, types[node->kind],
			 node->mode, links_of(node));
	}
	if (node->kind == REGULAR && st.nfs_size != node->size) {
		disagree(oracle, "%s: %llu bytes instead of %u", path, (unsigned long long)st.nfs_size,
			 node->size);
	}
}

static void do_stat(struct oracle *oracle)
{
	struct name name = pick_there(oracle);

	oracle->what = "stat";
	stat_compare(oracle, name.path, node_at(&name));
}

static void list_compare(struct oracle *oracle, const struct node *dir)
{
	char path[PATH_BYTES];
	bool seen[NAMES] = {false};
	struct nfsdir *listing = NULL;
	struct nfsdirent *entry;

	path_of(dir, path);
	expect(oracle, path, nfs_opendir(oracle->nfs, path[0] ? path : "/", &listing), 0, 0, 0);
	while ((entry = nfs_readdir(oracle->nfs, listing))) {
		unsigned long number;
		char *end;

		if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0) {
			continue;
		}
		number = entry->name[0] == 'n' ? strtoul(entry->name + 1, &end, 10) : NAMES;
		if (number >= NAMES || *end != '\0' || seen[number] || !dir->names[number]) {
			disagree(oracle, "%s: \"%s\" listed", path, entry->name);
		}
		seen[number] = true;
	}
	nfs_closedir(oracle->nfs, listing);
	for (unsigned i = 0; i < NAMES; i++) {
		if (dir->names[i] && !seen[i]) {
			disagree(oracle, "%s: \"n%u\" not listed", path, i);
		}
	}
}

static void do_list(struct oracle *oracle)
{
	oracle->what = "list";
	list_compare(oracle, pick(oracle).dir);
}

/* Everything below `dir`, to the last byte. */
static void tree_compare(struct oracle *oracle, const struct node *dir)
{
	oracle->what = "comparison";
	list_compare(oracle, dir);
	for (unsigned i = 0; i < NAMES; i++) {
		const struct node *node = dir->names[i];
		char path[PATH_BYTES];

		if (!node) {
			continue;
		}
		name_path(dir, i, path);
		stat_compare(oracle, path, node);
		if (node->kind == REGULAR) {
			read_compare(oracle, path, node, 0, FILE_MAX);
		} else if (node->kind == DIRECTORY) {
			tree_compare(oracle, node);
		}
	}
}

/* Bytes beyond 4 GiB, across the boundary, in a file that is a hole otherwise. */
static void big_file(struct oracle *oracle)
{
	const uint64_t edge = UINT64_C(1) << 32;
	char bytes[64], back[128] = {0};
	struct nfs_stat_64 st = {0};
	struct nfsfh *fh = NULL;

	oracle->what = "file beyond 4 GiB";
	memset(bytes, 'b', sizeof(bytes));
	expect(oracle, "/big", nfs_open2(oracle->nfs, "/big", O_CREAT | O_RDWR, 0644, &fh), 0, 0, 0);
	if (nfs_pwrite(oracle->nfs, fh, edge - 32, sizeof(bytes), bytes) != (int)sizeof(bytes) ||
	    nfs_fsync(oracle->nfs, fh) < 0 || nfs_ftruncate(oracle->nfs, fh, 2 * edge + 7) < 0 ||
	    nfs_pread(oracle->nfs, fh, edge - 64, sizeof(back), back) != (int)sizeof(back)) {
		disagree(oracle, "an operation failed");
	}
	for (int i = 0; i < 128; i++) {
		if (back[i] != (i >= 32 && i < 96 ? 'b' : 0)) {
			disagree(oracle, "byte %d is %d", i, back[i]);
		}
	}
	if (nfs_fstat64(oracle->nfs, fh, &st) < 0 || st.nfs_size != 2 * edge + 7 || st.nfs_used > 1 << 20) {
		disagree(oracle, "%llu bytes, %llu used", (unsigned long long)st.nfs_size,
			 (unsigned long long)st.nfs_used);
	}
	(void)nfs_close(oracle->nfs, fh);
	expect(oracle, "/big", nfs_unlink(oracle->nfs, "/big"), 0, 0, 0);
}

/* Takes everything away again, here and there. */
static void tree_remove(struct oracle *oracle, struct node *dir)
{
	oracle->what = "removal";
	for (unsigned i = 0; i < NAMES; i++) {
		struct node *node = dir->names[i];
		char path[PATH_BYTES];

		if (!node) {
			continue;
		}
		name_path(dir, i, path);
		if (node->kind == DIRECTORY) {
			tree_remove(oracle, node);
			expect(oracle, path, nfs_rmdir(oracle->nfs, path), 0, 0, 0);
		} else {
			expect(oracle, path, nfs_unlink(oracle->nfs, path), 0, 0, 0);
		}
		node_unlink(node);
		dir->names[i] = NULL;
	}
}

static void steps_run(struct oracle *oracle, unsigned end)
{
	static void (*const operations[])(struct oracle *) = {
	    do_mkdir, do_create,   do_create, do_write,  do_write,  do_write, do_write,   do_read,
	    do_read,  do_read,     do_unlink, do_rename, do_rename, do_link,  do_symlink, do_readlink,
	    do_chmod, do_truncate, do_stat,   do_stat,   do_list,   do_rmdir,
	};

	for (; oracle->step < end; oracle->step++) {
		operations[below(oracle, sizeof(operations) / sizeof(operations[0]))](oracle);
	}
}

static int usage(const char *program)
{
	(void)fprintf(stderr, "usage: %s nfs://SERVER/EXPORT?... SEED STEPS [pause] [in=FOLDER]\n", program);
	return 2;
}

/* NULL: not a URL. Ports in it are the context's. */
static struct nfs_context *mount_at(struct oracle *oracle, const char *text, const char *folder)
{
	struct nfs_context *nfs = nfs_init_context();
	struct nfs_url *url = nfs_parse_url_dir(nfs, text);
	char path[PATH_BYTES];

	if (!url) {
		nfs_destroy_context(nfs);
		return NULL;
	}

	oracle->nfs = nfs;
	oracle->what = "mount";
	nfs_set_autoreconnect(nfs, -1);
	nfs_set_dircache(nfs, 0);
	(void)snprintf(path, sizeof(path), "%s%s%s", url->path, folder[0] ? "/" : "", folder);
	expect(oracle, path, nfs_mount(nfs, url->server, path), 0, 0, 0);
	nfs_destroy_url(url);
	return nfs;
}

static int run(struct oracle *oracle, unsigned steps)
{
	char line[16];

	big_file(oracle);
	steps_run(oracle, steps / 2);
	if (oracle->stable) {
		(void)printf("half\n");
		(void)fflush(stdout);
		if (!fgets(line, sizeof(line), stdin)) {
			return 2;
		}
		tree_compare(oracle, oracle->root);
	}
	steps_run(oracle, steps);
	tree_compare(oracle, oracle->root);
	tree_remove(oracle, oracle->root);
	list_compare(oracle, oracle->root);
	(void)printf("%u operations agree\n", steps);
	return 0;
}

int main(int argc, char **argv)
{
	struct nfs_context *outer = NULL;
	unsigned steps = argc >= 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	struct oracle oracle = {.what = "start"};
	const char *folder = "";
	int rc;

	if (steps == 0) {
		return usage(argv[0]);
	}
	for (int i = 4; i < argc; i++) {
		oracle.stable = oracle.stable || strcmp(argv[i], "pause") == 0;
		folder = strncmp(argv[i], "in=", 3) == 0 ? argv[i] + 3 : folder;
	}
	sl_rng_init(&oracle.rng, strtoull(argv[2], NULL, 10), "oracle");
	outer = mount_at(&oracle, argv[1], "");
	if (!outer) {
		return usage(argv[0]);
	}
	oracle.root = node_new(DIRECTORY, 0777);
	oracle.root->links = 1;
	if (folder[0]) {
		expect(&oracle, folder, nfs_mkdir(outer, folder), 0, 0, 0);
	}
	oracle.nfs = mount_at(&oracle, argv[1], folder);
	rc = run(&oracle, steps);
	node_unlink(oracle.root);
	nfs_destroy_context(oracle.nfs);
	oracle.nfs = outer;
	if (folder[0]) {
		expect(&oracle, folder, nfs_rmdir(outer, folder), 0, 0, 0);
	}
	nfs_destroy_context(outer);
	return rc;
}
