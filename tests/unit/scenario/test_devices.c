/* Device files: figures that contradict each other, disks made of disks, seek curves; mirrors of log devices.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/scenario/lib.h"

#define USE HEAD "variants: {a: {set: {pool.log: d}}}\n"
#define FIGURE(key, value) "  " key ": {value: " value ", kind: spec, source: s}\n"
#define HDD                                                                                               \
	"format: sloglab-device/1\nkind: hdd\nfigures:\n" FIGURE("capacity", "1TB") FIGURE("rpm", "7200") \
	    FIGURE("media_rate", "150MB/s") FIGURE("seek_average", "8ms") FIGURE("seek_full", "16ms")
#define NVRAM                                                                         \
	"format: sloglab-device/1\nkind: nvram\nfigures:\n" FIGURE("capacity", "1GB") \
	    FIGURE("read_rate", "100MB/s") FIGURE("write_rate", "100MB/s") FIGURE("plp", "yes")
#define ARRAY "format: sloglab-device/1\nkind: raid10\n"
#define CURVE "seek_curve: {kind: measured, source: s, stroke: 1000, points: "

struct folder {
	char path[1024];
};

static void write_file(const struct folder *folder, const char *name, const char *text)
{
	char path[2048];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	file = fopen(path, "wb");
	cr_assert_not_null(file, "%s", path);
	cr_assert(fputs(text, file) >= 0);
	cr_assert_eq(fclose(file), 0);
}

static void folder_make(struct folder *folder)
{
	char path[2048];

	(void)snprintf(folder->path, sizeof(folder->path), "%s/devices-XXXXXX", SL_BINARY_DIR);
	cr_assert_not_null(mkdtemp(folder->path));
	(void)snprintf(path, sizeof(path), "%s/catalogue", folder->path);
	cr_assert_eq(mkdir(path, 0700), 0);
}

static void folder_remove(struct folder *folder)
{
	static const char *const names[] = {"x.yaml", "catalogue/d.yaml", "catalogue/e.yaml", "catalogue"};
	char path[2048];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder->path, names[i]);
		(void)remove(path);
	}
	cr_assert_eq(rmdir(folder->path), 0);
}

static int load(const struct folder *folder, struct sl_scenario **sc, struct sl_err *err)
{
	char path[2048];

	(void)snprintf(path, sizeof(path), "%s/x.yaml", folder->path);
	return sl_scenario_load(path, DATA_DIR, sc, err);
}

Test(scenario_devices, impossible_figures_are_named_with_line_and_reason)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	    {HDD FIGURE("media_rate_inner", "151MB/s"),
	     "d.yaml:9:29: media_rate_inner: the innermost zone is faster than the outermost"},
	    {HDD FIGURE("link_rate", "100MB/s"), "d.yaml:6:23: media_rate: is above link_rate"},
	    {HDD FIGURE("seek_track", "9ms"), "d.yaml:7:25: seek_average: seek_track, seek_average and"},
	    {"format: sloglab-device/1\nkind: hdd\nfigures:\n" FIGURE("capacity", "1MB") FIGURE("rpm", "7200")
		 FIGURE("media_rate", "150MB/s") FIGURE("seek_average", "8ms") FIGURE("seek_full", "16ms"),
	     "d.yaml:4:21: capacity: is less than one track"},
	    {HDD FIGURE("price_usd", "100"),
	     "d.yaml:9:22: price_usd: a price means nothing without its year"},
	    {NVRAM FIGURE("write_latency", "0us"),
	     "d.yaml:8:26: write_latency: 0 with a finite rate contradict each other"},
	    {NVRAM FIGURE("write_latency", "1us") FIGURE("read_latency", "0us"),
	     "d.yaml:9:25: read_latency: 0 with a finite rate"},
	    {NVRAM FIGURE("write_latency", "1us") FIGURE("link_rate", "90MB/s"),
	     "d.yaml:5:22: read_rate: is above link_rate"},
	    {NVRAM, "d.yaml:4:3: figure 'write_latency' is missing"},
	    {NVRAM FIGURE("write_latency", "1us") "disks: [d]\n",
	     "d.yaml:9:8: disks: only a mirror, stripe or raid10 is made of disks"},
	    {ARRAY "disks: []\n",
	     "d.yaml:1:1: disks: 0 given; a raid10 is made of at least 2 disks, an even number"},
	    {ARRAY "disks: [null x 3]\n", "d.yaml:1:1: disks: 3 given; a raid10"},
	    {ARRAY "disks: [null x 18]\n", "d.yaml:3:9: disks: more than 16 disks"},
	    {ARRAY "disks: [{mirror: [null, null]}]\n", "d.yaml:3:9: disks: is a map; write a single value"},
	    {ARRAY "disks: [null x 2]\nfigures:\n" FIGURE("chunk", "10000B"),
	     "d.yaml:5:18: chunk: must be a multiple"},
	    {"format: sloglab-device/1\nkind: mirror\ndisks: null\n", "a mirror is made of at least 2 disks"},
	    {HDD CURVE "[[1, 1ms], [1, 2ms]]}\n", "d.yaml:9:74: seek_curve: distance and time must rise"},
	    {HDD CURVE "[[1, 1ms], [2000, 2ms]]}\n", "d.yaml:9:75: seek_curve: '2000': out of range"},
	    {HDD CURVE "[[1, 1ms]]}\n", "seek_curve: needs at least 2 points"},
	    {HDD CURVE "[[1, 1]]}\n", "seek_curve: \"1\" has no unit"},
	    {HDD "seek_curve: {points: []}\n",
	     "d.yaml:9:13: seek_curve: write {kind: ..., source: ..., stroke"},
	    {NVRAM FIGURE("write_latency", "1us") CURVE "[]}\n", "seek_curve: only an hdd seeks"},
	};
	struct folder folder;

	folder_make(&folder);
	write_file(&folder, "x.yaml", USE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc = NULL;
		struct sl_err err = {0};

		write_file(&folder, "catalogue/d.yaml", cases[i].text);
		cr_assert_eq(load(&folder, &sc, &err), -EINVAL, "%zu", i);
		cr_assert_not_null(strstr(err.msg, cases[i].message), "%zu\ngot  %s\nwant %s", i, err.msg,
				   cases[i].message);
		cr_assert_null(sc);
	}
	folder_remove(&folder);
}

Test(scenario_devices, disks_made_of_themselves_end_with_an_error)
{
	struct folder folder;
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	folder_make(&folder);
	write_file(&folder, "x.yaml", USE);
	write_file(&folder, "catalogue/d.yaml", "format: sloglab-device/1\nkind: mirror\ndisks: [e, e]\n");
	write_file(&folder, "catalogue/e.yaml", "format: sloglab-device/1\nkind: mirror\ndisks: [d, d]\n");
	cr_assert_eq(load(&folder, &sc, &err), -EINVAL);
	cr_assert_not_null(strstr(err.msg, "disks made of disks, more than 4 deep or in a circle"), "%s",
			   err.msg);
	folder_remove(&folder);
}

Test(scenario_devices, a_measured_curve_reaches_the_disk)
{
	struct folder folder;
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	struct sl_box *box;

	folder_make(&folder);
	write_file(&folder, "x.yaml", USE);
	write_file(&folder, "catalogue/d.yaml", HDD CURVE "[[1, 1ms], [500, 5ms], [1000, 9ms]]}\n");
	cr_assert_eq(load(&folder, &sc, &err), 0, "%s", err.msg);
	box = box_of(sc, "a");
	cr_assert_eq(box->log[0].n_seek_points, 3);
	cr_assert_eq(box->log[0].seek_points[1].share, 0.5);
	cr_assert_eq(box->log[0].seek_points[2].ns, 9e6);
	free(box);
	sl_scenario_free(sc);
	folder_remove(&folder);
}

/* The link of a drive whose file says none. */
static void default_link(const char *text, double wanted, const char *source)
{
	struct folder folder;
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	struct sl_param figure;
	struct sl_box *box;
	bool found = false;

	folder_make(&folder);
	write_file(&folder, "x.yaml", USE);
	write_file(&folder, "catalogue/d.yaml", text);
	cr_assert_eq(load(&folder, &sc, &err), 0, "%s", err.msg);
	box = box_of(sc, "a");
	cr_assert_eq(box->log[0].link_bps, wanted, "%g", box->log[0].link_bps);
	for (int i = 0; sl_scenario_figure(sc, i, &figure) == 0; i++) {
		found |= strcmp(figure.key, "d.link_rate") == 0 && figure.kind == SL_PROV_DERIVED &&
			 strcmp(figure.source, source) == 0;
	}
	cr_assert(found, "no figure d.link_rate from \"%s\"", source);
	free(box);
	sl_scenario_free(sc);
	folder_remove(&folder);
}

Test(scenario_devices, a_link_that_is_not_said_is_that_of_the_interface_or_as_fast_as_the_drive)
{
#define SSD                                                                                             \
	"format: sloglab-device/1\nkind: ssd\nfigures:\n" FIGURE("capacity", "1TB") FIGURE("plp", "no") \
	    FIGURE("write_latency", "20us") FIGURE("flush_latency", "1ms")
	default_link(SSD FIGURE("read_rate", "500MB/s") FIGURE("write_rate", "400MB/s"), 600e6,
		     "not said; SATA 6 Gbit/s");
	default_link(SSD FIGURE("read_rate", "3500MB/s") FIGURE("write_rate", "2000MB/s")
			 FIGURE("interface", "nvme"),
		     3938e6, "not said; PCIe 3.0 x4");
	/* PCIe 4.0: nobody gave link_rate, so no message may name it. */
	default_link(SSD FIGURE("read_rate", "7000MB/s") FIGURE("write_rate", "5000MB/s")
			 FIGURE("interface", "nvme"),
		     7000e6, "not said; the drive's own fastest rate");
	default_link(NVRAM FIGURE("write_latency", "1us"), 600e6, "not said; SATA 6 Gbit/s");
#undef SSD
}

Test(scenario_devices, an_array_of_the_catalogue)
{
	struct sl_scenario *sc =
	    load_text(HEAD "variants: {a: {set: {pool.data.layout: stripe, pool.data.disks: "
			   "raid10-8x-15k-sas}}}\n");
	struct sl_box *box = box_of(sc, "a");
	const struct sl_dev_spec *spec = &box->data[0];

	cr_assert_eq(spec->kind, SL_DEV_RAID10);
	cr_assert_eq(spec->n_members, 8);
	cr_assert_eq(spec->members[7]->rpm, 15000);
	cr_assert_eq(spec->capacity_bytes, 4 * 600e9);
	free(box);
	sl_scenario_free(sc);
}

Test(scenario_devices, log_devices_may_be_mirrored)
{
	struct sl_scenario *sc = load_text(
	    HEAD "variants: {one: {set: {pool.log: {mirror: [intel-dc-s3500-80, intel-dc-s3700-100]}}},\n"
		 "  two: {set: {pool.log: [{mirror: [intel-dc-s3700-100 x 2]}, stec-zeusram-8]}}}\n");
	struct sl_box *one = box_of(sc, "one"), *two = box_of(sc, "two");
	int figures = sl_scenario_figures(sc), zeus = 0;

	cr_assert_eq(one->n_log, 1);
	cr_assert_eq(one->log[0].kind, SL_DEV_MIRROR);
	cr_assert_str_eq(one->log[0].name, "mirror:intel-dc-s3500-80+intel-dc-s3700-100");
	cr_assert_eq(one->log[0].capacity_bytes, 80e9, "the smaller side");
	cr_assert_str_eq(one->log[0].members[1]->name, "intel-dc-s3700-100");
	cr_assert_eq(two->n_log, 2);
	cr_assert_eq(two->log[0].n_members, 2);
	cr_assert_eq(two->log[1].kind, SL_DEV_NVRAM);
	/* The members' figures are in the report. */
	for (int i = 0; i < figures; i++) {
		struct sl_param figure;

		cr_assert_eq(sl_scenario_figure(sc, i, &figure), 0);
		zeus += strcmp(figure.key, "intel-dc-s3500-80.write_latency") == 0;
	}
	cr_assert_eq(zeus, 1);
	free(one);
	free(two);
	sl_scenario_free(sc);
}

Test(scenario_devices, bad_mirrors)
{
	static const struct {
		const char *log, *message;
	} cases[] = {
	    {"{mirror: [null]}", "a mirror needs at least 2 disks"},
	    {"{mirror: null}", "a mirror needs at least 2 disks"},
	    {"{mirror: [null x 17]}", "more than 16 disks"},
	    {"{miror: [null, null]}", "write NAME, NAME x COUNT or {mirror: [NAME, NAME]}"},
	    {"{mirror: [null x 2], stripe: null}", "write NAME, NAME x COUNT or {mirror"},
	    {"{mirror: [{mirror: [null x 2]}, null]}", "column 20: is a map; write a single value"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc = load_text(HEAD);
		struct sl_err err = {0};

		cr_assert_eq(sl_scenario_set(sc, "pool.log", cases[i].log, "--set", &err), -EINVAL, "%zu", i);
		cr_assert_not_null(strstr(err.msg, cases[i].message), "%zu\ngot  %s\nwant %s", i, err.msg,
				   cases[i].message);
		sl_scenario_free(sc);
	}
}

Test(scenario_devices, only_a_drive_without_any_public_speed_is_assumed)
{
	struct sl_scenario *sc = load_text(
	    HEAD
	    "variants: {a: {set: {pool.log: [ramdisk-8, crucial-m4-128, {mirror: [ramdisk-8, null]}]}}}\n");
	struct sl_box *box = box_of(sc, "a");

	cr_assert(box->log[0].assumed);
	cr_assert(!box->log[1].assumed);
	cr_assert(box->log[2].assumed, "so is what is made of it");
	free(box);
	sl_scenario_free(sc);
}

/* 512 bytes (ashift 9) on a disk whose sectors are 4 KiB (2^12). */
Test(scenario_devices, a_vdev_with_smaller_sectors_than_its_disks_is_noted)
{
	static const struct {
		int ashift;
		bool note;
	} cases[] = {{9, true}, {12, false}, {13, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct folder folder;
		struct sl_scenario *sc = NULL;
		struct sl_err err = {0};
		char text[512], note[512];

		folder_make(&folder);
		(void)snprintf(
		    text, sizeof(text),
		    "format: sloglab-scenario/1\ntitle: t\npool: {data: {layout: stripe, disks: [d]}, "
		    "ashift: %d}\nworkloads: {w: {kind: syncwrite}}\n",
		    cases[i].ashift);
		write_file(&folder, "x.yaml", text);
		write_file(&folder, "catalogue/d.yaml", HDD FIGURE("sector", "4KiB"));
		cr_assert_eq(load(&folder, &sc, &err), 0, "%s", err.msg);
		cr_expect_eq(sl_scenario_note(sc, 0, note, sizeof(note)), cases[i].note, "%s", note);
		cr_expect_eq(strstr(note, "pool.ashift: 9 on d, whose sectors are 4096 bytes") != NULL,
			     cases[i].note, "%s", note);
		sl_scenario_free(sc);
		folder_remove(&folder);
	}
}
