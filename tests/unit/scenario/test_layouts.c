/* Mirrors that people mean: 2k disks of which nobody says more are k pairs, and so are those of log and
 * special vdevs. What an owner of eight disks expects of "mirror" is zpool's `mirror a b mirror c d ...`. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/scenario/lib.h"

#define BOX "format: sloglab-scenario/1\ntitle: t\nworkloads: {w: {kind: syncwrite}}\nnas: {zil: 2.1}\n"

static void text_of(char *buf, size_t size, const char *data, const char *rest)
{
	(void)snprintf(buf, size, BOX "pool: {data: {%s}%s%s}\nvariants: {a: {}}\n", data,
		       rest[0] ? ", " : "", rest);
}

Test(scenario_layouts, vdevs_of_a_mirror)
{
	static const struct {
		const char *data;
		int vdevs;
		const char *note; /* "" = none */
	} cases[] = {
	    {"layout: mirror, disks: [null x 2]", 1, ""},
	    {"layout: mirror, disks: [null x 3]", 1,
	     "pool.data: 3 disks without vdevs are one mirror of three"},
	    {"layout: mirror, disks: [null x 3], vdevs: 1", 1, ""},
	    {"layout: mirror, disks: [null x 4]", 2, ""},
	    {"layout: mirror, disks: [null x 8]", 4, ""},
	    {"layout: mirror, disks: [null x 8], vdevs: 1", 1, ""}, /* an 8-way mirror, as it is said */
	    {"layout: mirror, disks: [null x 9], vdevs: 3", 3, ""},
	    {"layout: mirror, disks: [null x 32]", 16, ""},
	    {"layout: stripe, disks: [null x 8]", 1, ""},
	    {"layout: raidz2, disks: [null x 12]", 1, ""},
	    {"layout: raidz2, disks: [null x 13]", 1, "pool.data: 13 disks in one raidz vdev; more than 12"},
	    {"layout: raidz2, disks: [null x 26], vdevs: 2", 2, "pool.data: 13 disks in one raidz vdev"},
	    {"layout: raidz2, disks: [null x 24], vdevs: 2", 2, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc;
		struct sl_box *box;
		char text[512], note[512];
		char count[16];

		text_of(text, sizeof(text), cases[i].data, "");
		sc = load_text(text);
		box = box_of(sc, "a");
		cr_assert_eq(box->data_vdevs, cases[i].vdevs, "%s: %d", cases[i].data, (int)box->data_vdevs);
		(void)snprintf(count, sizeof(count), "%d", cases[i].vdevs);
		cr_assert_str_eq(param_of(sc, 0, "pool.data.vdevs").text, count, "the report says the same");
		cr_assert_eq(sl_scenario_note(sc, 0, note, sizeof(note)), cases[i].note[0] != '\0', "%s: %s",
			     cases[i].data, note);
		cr_assert(strncmp(note, cases[i].note, strlen(cases[i].note)) == 0, "%s: %s", cases[i].data,
			  note);
		free(box);
		sl_scenario_free(sc);
	}
}

Test(scenario_layouts, an_odd_number_above_three_can_mean_two_things)
{
	static const struct {
		const char *data, *rest, *message;
	} cases[] = {
	    {"layout: mirror, disks: [null x 5]", "",
	     "pool.data.disks: 5 disks in mirrors (variant a): write vdevs: 1 for one 5-way mirror, or name "
	     "4 or "
	     "6 disks for pairs"},
	    {"layout: mirror, disks: [null x 31]", "", "or name 30 or 32 disks for pairs"},
	    {"disks: [null x 3]", "log: {mirror: [null x 7]}",
	     "pool.log: 7 disks in mirrors: write vdevs: 1 beside mirror for one 7-way mirror, or name 6 or "
	     "8 "
	     "disks for pairs"},
	    {"disks: [null x 3]", "special: {mirror: [null x 4], vdevs: 3}",
	     "pool.special: 4 disks do not make 3 mirrors alike; change vdevs"},
	    {"disks: [null x 3]", "log: {mirror: [null x 4], vdevs: 4}",
	     "4 disks do not make 4 mirrors alike"},
	    {"disks: [null x 3]", "log: [null x 7, {mirror: [null x 4]}]", "pool.log: more than 8 disks"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc = NULL;
		struct sl_err err = {0};
		char text[512];

		text_of(text, sizeof(text), cases[i].data, cases[i].rest);
		cr_assert(sl_scenario_load_buffer(text, strlen(text), "t.yaml", DATA_DIR, &sc, &err) < 0,
			  "%s", cases[i].data);
		cr_assert_not_null(strstr(err.msg, cases[i].message), "got %s\nwant %s", err.msg,
				   cases[i].message);
	}
}

Test(scenario_layouts, log_and_special_mirrors_are_pairs_too)
{
	static const struct {
		const char *mirror;
		int n, sides;
		bool note;
	} cases[] = {
	    {"{mirror: [null x 2]}", 1, 2, false},
	    {"{mirror: [null x 3]}", 1, 3, true},
	    {"{mirror: [null x 3], vdevs: 1}", 1, 3, false},
	    {"{mirror: [null x 4]}", 2, 2, false},
	    {"[{mirror: [null, null, null x 2]}, {mirror: [null x 2]}]", 3, 2, false},
	    {"{mirror: [null x 4], vdevs: 1}", 1, 4, false},
	    {"{vdevs: 2, mirror: [null x 6]}", 2, 3, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc;
		struct sl_box *box;
		char text[512], rest[256], note[512];

		(void)snprintf(rest, sizeof(rest), "log: %s, special: %s", cases[i].mirror, cases[i].mirror);
		text_of(text, sizeof(text), "disks: [null x 3]", rest);
		sc = load_text(text);
		box = box_of(sc, "a");
		cr_assert_eq(box->n_log, cases[i].n, "%s: %d", cases[i].mirror, box->n_log);
		cr_assert_eq(box->n_special, cases[i].n);
		for (int k = 0; k < box->n_log; k++) {
			cr_assert_eq(box->log[k].kind, SL_DEV_MIRROR);
			cr_assert_eq(box->log[k].n_members, cases[i].sides, "%s", cases[i].mirror);
			cr_assert_eq(box->special[k].n_members, cases[i].sides);
		}
		cr_assert_eq(sl_scenario_note(sc, 0, note, sizeof(note)), cases[i].note, "%s", note);
		if (cases[i].note) {
			cr_assert_not_null(strstr(note, "pool.log: 3 disks without vdevs"), "%s", note);
			cr_assert_not_null(strstr(note, "pool.special: 3 disks without vdevs"), "%s", note);
		}
		free(box);
		sl_scenario_free(sc);
	}
}

/* Nobody's L2ARC is full in the first second: where a run has it so, the report says so. */
Test(scenario_layouts, an_l2arc_that_is_warm_from_the_start_is_noted)
{
	static const struct {
		const char *rest;
		bool note;
	} cases[] = {{"compression: off", false}, {"cache: null", true}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc;
		struct sl_err err = {0};
		char text[512], note[512];

		text_of(text, sizeof(text), "disks: [null x 3]", cases[i].rest);
		sc = load_text(text);
		cr_assert_eq(sl_scenario_note(sc, 0, note, sizeof(note)), cases[i].note, "%s", note);
		cr_assert_eq(strstr(note, "pool.cache: warm from the start, the best case") != NULL,
			     cases[i].note, "%s", note);
		cr_assert_eq(sl_scenario_set(sc, "params.l2arc.filled", "0", "test", &err), 0, "%s", err.msg);
		cr_assert(!sl_scenario_note(sc, 0, note, sizeof(note)), "%s", note);
		sl_scenario_free(sc);
	}
}

/* Which disks a variant or --set has changes the count with it; a count that is said stays. */
Test(scenario_layouts, variants_and_overrides_count_again)
{
	struct sl_scenario *sc = load_text(BOX "pool: {data: {layout: mirror, disks: [null x 8]}}\n"
					       "variants: {a: {}, six: {set: {pool.data.disks: null x 6}}, "
					       "z: {set: {pool.data.layout: raidz1}},\n"
					       "  wide: {set: {pool.data.vdevs: 1}}}\n");
	static const char *const names[] = {"a", "six", "z", "wide"};
	static const int want[] = {4, 3, 1, 1};
	struct sl_err err = {0};

	for (int v = 0; v < 4; v++) {
		struct sl_box *box = box_of(sc, names[v]);

		cr_assert_eq(box->data_vdevs, want[v], "%s: %d", names[v], (int)box->data_vdevs);
		free(box);
	}
	cr_assert_eq(sl_scenario_set(sc, "pool.data.disks", "null x 5", "--set", &err), -EINVAL);
	cr_assert_eq(sl_scenario_set(sc, "pool.data.disks", "null x 12", "--set", &err), 0);
	cr_assert_str_eq(param_of(sc, 0, "pool.data.vdevs").text, "6");
	sl_scenario_free(sc);
}

/* Two mirrored disks of 8 GB hold 8 GB = 7.451 GiB: 7 GiB fit, 9 GiB do not, nor do they where they compress
 * to half in a pool without compression; with lz4 they take 4.5 GiB, and zeros take nothing. */
Test(scenario_layouts, files_that_do_not_fit_into_the_pool_are_noted)
{
	static const struct {
		const char *compression, *workload;
		bool note;
	} cases[] = {{"off", "file_total: 7GiB", false},
		     {"off", "file_total: 9GiB", true},
		     {"off", "file_total: 9GiB, data: 2.0x", true},
		     {"lz4", "file_total: 9GiB, data: 2.0x", false},
		     {"lz4", "file_total: 9GiB, data: random", true},
		     {"lz4", "file_total: 9GiB, data: zero", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc;
		char text[1024], note[512];

		(void)snprintf(text, sizeof(text),
			       "format: sloglab-scenario/1\ntitle: t\npool: {data: {layout: mirror, disks: "
			       "[ramdisk-8 x 2]}, compression: %s}\nworkloads: {w: {kind: fileio, %s}}\n",
			       cases[i].compression, cases[i].workload);
		sc = load_text(text);
		cr_expect_eq(sl_scenario_note(sc, 0, note, sizeof(note)), cases[i].note, "%zu: %s", i, note);
		cr_expect_eq(strstr(note,
				    "workload w: its files of 9 GiB do not fit into the pool, which holds "
				    "7.451 GiB; make file_total smaller") != NULL,
			     cases[i].note, "%zu: %s", i, note);
		sl_scenario_free(sc);
	}
}

/* ESXi's virtual disks have no cache mode: one that is asked for there would change nothing in silence. */
Test(scenario_layouts, a_disk_cache_with_esxi_is_noted)
{
	static const char *const hypervisors[] = {"esxi", "qemu"};

	for (size_t i = 0; i < 2; i++) {
		struct sl_scenario *sc;
		char text[512], note[512];

		(void)snprintf(
		    text, sizeof(text),
		    "format: sloglab-scenario/1\ntitle: t\nhost: {hypervisor: %s}\nguests: [{disk_cache: "
		    "writethrough}]\npool: {data: {layout: mirror, disks: [null x 2]}}\n"
		    "workloads: {w: {kind: fileio}}\n",
		    hypervisors[i]);
		sc = load_text(text);
		cr_expect_eq(sl_scenario_note(sc, 0, note, sizeof(note)), i == 0, "%s", note);
		cr_expect_eq(strstr(note, "guests.disk_cache: has no effect with ESXi") != NULL, i == 0, "%s",
			     note);
		sl_scenario_free(sc);
	}
}

/* 64 + 64 vCPUs do not run side by side on 8 cores. */
Test(scenario_layouts, more_vcpus_than_cores_are_noted)
{
	static const struct {
		const char *host;
		int nas, guest;
		bool note;
	} cases[] = {{"cores: 8", 64, 64, true}, {"cores: 8", 4, 4, false}, {"nic: virtio", 64, 64, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc;
		char text[512], note[512];

		(void)snprintf(
		    text, sizeof(text),
		    "format: sloglab-scenario/1\ntitle: t\nhost: {%s}\nnas: {vcpus: %d}\nguests: "
		    "[{vcpus: %d}]\npool: {data: {layout: mirror, disks: [null x 2]}}\nworkloads: {w: "
		    "{kind: syncwrite}}\n",
		    cases[i].host, cases[i].nas, cases[i].guest);
		sc = load_text(text);
		cr_expect_eq(sl_scenario_note(sc, 0, note, sizeof(note)), cases[i].note, "%zu: %s", i, note);
		cr_expect_eq(strstr(note, "host.cores: 128 vCPUs on 8 cores") != NULL, cases[i].note, "%s",
			     note);
		sl_scenario_free(sc);
	}
}
