/* Bad files: scenarios that cannot be read, bad catalogue entries and host profiles. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/scenario/lib.h"

struct folder {
	char path[1024];
};

static void path_in(const struct folder *folder, const char *name, char path[2048])
{
	(void)snprintf(path, 2048, "%s/%s", folder->path, name);
}

static void write_file(const struct folder *folder, const char *name, const char *text)
{
	char path[2048];
	FILE *file;

	path_in(folder, name, path);
	file = fopen(path, "wb");
	cr_assert_not_null(file, "%s", path);
	cr_assert(fputs(text, file) >= 0);
	cr_assert_eq(fclose(file), 0);
}

static void folder_make(struct folder *folder)
{
	char path[2048];

	(void)snprintf(folder->path, sizeof(folder->path), "%s/scenario-XXXXXX", SL_BINARY_DIR);
	cr_assert_not_null(mkdtemp(folder->path));
	path_in(folder, "catalogue", path);
	cr_assert_eq(mkdir(path, 0700), 0);
	path_in(folder, "profiles", path);
	cr_assert_eq(mkdir(path, 0700), 0);
}

static void folder_remove(struct folder *folder)
{
	static const char *const names[] = {"x.yaml", "catalogue/d.yaml", "profiles/p.yaml",
					    "pipe",   "catalogue",        "profiles"};
	char path[2048];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_in(folder, names[i], path);
		(void)remove(path);
	}
	cr_assert_eq(rmdir(folder->path), 0);
}

static void fails(const struct folder *folder, const char *name, int code, const char *message)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	char path[2048];

	path_in(folder, name, path);
	cr_assert_eq(sl_scenario_load(path, DATA_DIR, &sc, &err), code, "%s", err.msg);
	cr_assert_null(sc);
	cr_assert_not_null(strstr(err.msg, message), "\ngot  %s\nwant %s", err.msg, message);
}

Test(scenario_files, unreadable)
{
	struct folder folder;
	char path[2048], *text = malloc(SL_YAML_BYTES_MAX + 2);
	char *deep = calloc(1, 6000);
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	cr_assert(text && deep);
	folder_make(&folder);
	fails(&folder, "missing.yaml", -ENOENT,
	      "missing.yaml: cannot be opened: No such file or directory; check the path");
	fails(&folder, "catalogue", -EISDIR, "catalogue: is a folder; name a YAML file");
	path_in(&folder, "pipe", path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	fails(&folder, "pipe", -EINVAL, "pipe: is not a regular file; name a YAML file");
	write_file(&folder, "x.yaml", "");
	fails(&folder, "x.yaml", -EINVAL, "x.yaml:1:1: the file is empty");
	memset(text, '#', SL_YAML_BYTES_MAX + 1);
	text[SL_YAML_BYTES_MAX + 1] = '\0';
	write_file(&folder, "x.yaml", text);
	fails(&folder, "x.yaml", -EFBIG, "x.yaml: larger than 1 MiB");
	memset(deep, 'a', 5000);
	cr_assert_eq(sl_scenario_load(deep, DATA_DIR, &sc, &err), -ENAMETOOLONG);
	cr_assert(strncmp(err.msg, "...aaa", 6) == 0 && strstr(err.msg, "check the path"), "%s", err.msg);
	folder_remove(&folder);
	free(text);
	free(deep);
}

Test(scenario_files, own_devices_and_profiles_come_first)
{
	struct folder folder;
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	struct sl_box *box;
	struct sl_param figure;
	char path[2048];
	int defaults = 0;

	folder_make(&folder);
	write_file(&folder, "x.yaml", HEAD "host: {profile: p}\nvariants: {a: {set: {pool.log: d}}}\n");
	write_file(&folder, "catalogue/d.yaml",
		   "format: sloglab-device/1\nkind: ssd\ndescription: mine\nfigures:\n"
		   "  capacity: {value: 10GB, kind: spec, source: s}\n"
		   "  write_latency: {value: 0.2ms, kind: measured, source: s}\n"
		   "  read_rate: {value: 100MB/s, kind: spec, source: s}\n"
		   "  write_rate: {value: 90MB/s, kind: derived, source: s}\n"
		   "  plp: {value: no, kind: spec, source: s}\n"
		   "  flush_latency: {value: 5ms, kind: spec, source: s}\n");
	write_file(&folder, "profiles/p.yaml",
		   "format: sloglab-host/1\nparams:\n  zil.commit_cpu: {value: 9us, kind: measured, source: "
		   "here}\n");
	path_in(&folder, "x.yaml", path);
	cr_assert_eq(sl_scenario_load(path, DATA_DIR, &sc, &err), 0, "%s", err.msg);
	box = box_of(sc, "a");
	cr_assert_eq(box->log[0].write_ns, 200000);
	cr_assert_eq(box->log[0].plp, 0);
	cr_assert_eq(box->zil_commit_cpu_ns, 9000);
	cr_assert(!box->log[0].assumed, "its write latency was measured");
	for (int i = 0; sl_scenario_figure(sc, i, &figure) == 0; i++) {
		defaults += figure.kind == SL_PROV_DEFAULT;
		if (strcmp(figure.key, "d.write_rate") == 0) {
			cr_assert_eq(figure.value, 90e6);
			cr_assert_eq(figure.kind, SL_PROV_DERIVED);
			cr_assert_not_null(strstr(figure.where, "catalogue/d.yaml:8:23"), "%s", figure.where);
		}
	}
	/* Five of the drive, the link rate that follows from its interface, and one of the profile. */
	cr_assert_eq(defaults, sl_scenario_figures(sc) - 7);
	free(box);
	sl_scenario_free(sc);
	folder_remove(&folder);
}

#define DEVICE "format: sloglab-device/1\nkind: hdd\nfigures:\n"
#define FIGURE(key, value) "  " key ": {value: " value ", kind: spec, source: s}\n"
#define DISK                                                                                   \
	DEVICE FIGURE("capacity", "1TB") FIGURE("rpm", "7200") FIGURE("media_rate", "150MB/s") \
	    FIGURE("seek_average", "8ms")

Test(scenario_files, bad_devices)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	    {"", "d.yaml:1:1: the file is empty"},
	    {"format: sloglab-host/1\n", "d.yaml:1:9: format: 'sloglab-host/1' is not known here"},
	    {"format: sloglab-device/1\n", "d.yaml:1:1: kind: is missing"},
	    {"format: sloglab-device/1\nkind: tape\n",
	     "d.yaml:2:7: kind: 'tape' is not known; write null, hdd, ssd, nvram, mirror, stripe or raid10"},
	    {"format: sloglab-device/1\nkind: hdd\n",
	     "d.yaml:1:1: figure 'capacity' is missing; add capacity: {value"},
	    {"format: sloglab-device/1\nkind: hdd\nprice: 3\n",
	     "d.yaml:3:1: unknown key 'price'; a device has"},
	    {"format: sloglab-device/1\nkind: hdd\ndescription:\n", "d.yaml:3:13: description: has no value"},
	    {DEVICE "  rpm: 7200\n", "d.yaml:4:8: rpm: needs its origin; write {value"},
	    {DEVICE "  rpm: {value: 7200, kind: spec}\n", "d.yaml:4:8: rpm: 'source' is missing"},
	    {DEVICE "  rpm: {value: 7200, kind: fudge, source: x}\n",
	     "d.yaml:4:8: rpm: a device has no fudge"},
	    {DEVICE "  rpm: {value: 7200, min: 1, kind: spec, source: x}\n",
	     "d.yaml:4:22: rpm: unknown key 'min'"},
	    {DEVICE FIGURE("rpm", "1"),
	     "d.yaml:4:16: rpm: '1': out of range; write a value from 1000 to 30000"},
	    {DEVICE FIGURE("capacity", "1"), "d.yaml:4:21: capacity: \"1\" has no unit"},
	    {DEVICE FIGURE("rmp", "7200"), "d.yaml:4:3: unknown key 'rmp'; did you mean 'rpm'?"},
	    {DEVICE FIGURE("plp", "yes"), "d.yaml:4:3: figure 'plp' does not belong to this kind of device"},
	    {DEVICE FIGURE("write_cache", "maybe"), "d.yaml:4:24: write_cache: \"maybe\" is not a number"},
	    {DISK, "d.yaml:4:3: figure 'seek_full' is missing"},
	    {DISK FIGURE("seek_full", "2ms"),
	     "d.yaml:7:25: seek_average: seek_track, seek_average and seek_full must rise"},
	    {"format: sloglab-device/1\nkind: null\nfigures: {rpm: {value: 1, kind: spec, source: s}}\n",
	     "d.yaml:3:11: figure 'rpm' does not belong"},
	};
	struct folder folder;

	folder_make(&folder);
	write_file(&folder, "x.yaml", HEAD "variants: {a: {set: {pool.log: d}}}\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file(&folder, "catalogue/d.yaml", cases[i].text);
		fails(&folder, "x.yaml", -EINVAL, cases[i].message);
	}
	write_file(&folder, "catalogue/d.yaml", DISK FIGURE("seek_full", "16ms"));
	fails(&folder, "catalogue/d.yaml", -EINVAL, "format: 'sloglab-device/1' is not known here");
	folder_remove(&folder);
}

Test(scenario_files, bad_profiles)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	    {"format: sloglab-device/1\n", "p.yaml:1:9: format: 'sloglab-device/1' is not known here"},
	    {"format: sloglab-host/1\nparams: [1]\n", "p.yaml:2:9: params: is a list; write a map"},
	    {"format: sloglab-host/1\nhost: 1\n", "p.yaml:2:1: unknown key 'host'; a host profile has"},
	    {"format: sloglab-host/1\ndescription: [1]\n", "p.yaml:2:14: description: is a list"},
	    {"format: sloglab-host/1\nparams: {zil.commit_cpu: 1ms}\n",
	     "p.yaml:2:26: params.zil.commit_cpu: needs its origin"},
	    {"format: sloglab-host/1\nparams: {nas.vcpus: 3}\n",
	     "p.yaml:2:10: unknown key 'params.nas.vcpus'"},
	};
	struct folder folder;

	folder_make(&folder);
	write_file(&folder, "x.yaml", HEAD "host: {profile: p}\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file(&folder, "profiles/p.yaml", cases[i].text);
		fails(&folder, "x.yaml", -EINVAL, cases[i].message);
	}
	folder_remove(&folder);
}
