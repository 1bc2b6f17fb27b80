/* Every bad input ends in one line with its place; nothing leaks (the ASan build runs these too). */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/scenario/lib.h"

struct bad {
	const char *text;
	int line, column;
	const char *message; /* how it goes on after the place */
};

static void check(const char *text, size_t size, int line, int column, const char *message)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	char want[640];

	(void)snprintf(want, sizeof(want), "t.yaml:%d:%d: %s", line, column, message);
	cr_assert(sl_scenario_load_buffer(text, size, "t.yaml", DATA_DIR, &sc, &err) < 0, "accepted: %s",
		  text);
	cr_assert_null(sc);
	cr_assert_eq(strncmp(err.msg, want, strlen(want)), 0, "\ngot  %s\nwant %s", err.msg, want);
	cr_assert_null(strpbrk(err.msg, "\n\t\x1b"), "%s", err.msg);
	cr_assert(sl_scenario_load_buffer(text, size, "t.yaml", DATA_DIR, &sc, NULL) < 0);
}

static void check_all(const struct bad *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check(cases[i].text, strlen(cases[i].text), cases[i].line, cases[i].column, cases[i].message);
	}
}

#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof((cases)[0]))

Test(scenario_bad, documents)
{
	static const struct bad cases[] = {
	    {"", 1, 1, "the file is empty"},
	    {"# nothing but a comment\n", 1, 1, "the file is empty"},
	    {"just text", 1, 1, "the file is a value; start with 'format: sloglab-scenario/1'"},
	    {"- a\n- b\n", 1, 1, "the file is a list; start with"},
	    {"title: x\n", 1, 1, "format: is missing; start with 'format: sloglab-scenario/1'"},
	    {"format: sloglab-device/1\n", 1, 9, "format: 'sloglab-device/1' is not known here; write"},
	    {"format: [a]\n", 1, 9, "format: is a list; write a single value"},
	    {"format: sloglab-scenario/1\n", 1, 1, "title: is missing"},
	    {"format: sloglab-scenario/1\ntitle: t\n", 1, 1, "pool: is missing"},
	    {"format: sloglab-scenario/1\ntitle: t\npool: {}\n", 1, 1, "workloads: is missing"},
	    {"format: sloglab-scenario/1\ntitle: t\npool: {}\nworkloads: {}\n", 4, 12, "workloads: is empty"},
	    {"format: sloglab-scenario/1\ntitle: t\npool: {}\nworkloads: {w: {kind: oltp}}\n", 1, 1,
	     "pool.data.disks: is missing; add pool:"},
	    {"format: sloglab-scenario/1\ntitle: \"a\\nb\"\n", 2, 8, "title: must be one line"},
	    {"format: sloglab-scenario/1\ntitel: t\n", 2, 1, "unknown key 'titel'; did you mean 'title'?"},
	    {HEAD "---\nformat: x\n", 5, 1, "a second document"},
	    {HEAD "nas: {vcpus: 2\n", 6, 1, "not valid YAML: did not find expected ',' or '}'"},
	    {HEAD "nas: 'open\n", 6, 1, "not valid YAML: found unexpected end of stream"},
	    {HEAD "nas:\n\tvcpus: 2\n", 6, 1, "a tab is not allowed here; indent with spaces"},
	    {HEAD "nas: {vcpus: @}\n", 5, 14, "not valid YAML: found character that cannot start any token"},
	    {HEAD "nas: {vcpus: \"\\x07\"}\n", 5, 14, "control character 0x07 in a quoted text"},
	    /* C1: a terminal takes U+009B for ESC [. U+202E turns the rest of the line around. */
	    {HEAD "nas: {vcpus: \"\\x9b\"}\n", 5, 14, "control character 0x9b in a quoted text"},
	    {HEAD "nas: {vcpus: \"\\u202e\"}\n", 5, 14, "control character 0x202e in a quoted text"},
	    {HEAD "# \xc2\x9b"
		  "2J\n",
	     5, 3, "control character 0x9b"},
	    {HEAD "# \xe2\x80\xae\n", 5, 3, "control character 0x202e"},
	    {HEAD "# \xc2\x85\n", 5, 3, "control character 0x85"},
	    {HEAD "# \x1b[2J\n", 5, 3, "control character 0x1b; is this a binary file?"},
	    {HEAD "# \xc3\xa4 \xff\n", 5, 5, "byte 0xff is not UTF-8 text; is this a binary file?"},
	    {HEAD "# \xc0\xaf\n", 5, 3, "byte 0xc0 is not UTF-8"},
	    {HEAD "# \xed\xa0\x80\n", 5, 3, "byte 0xed is not UTF-8"},
	    {HEAD "# \xe2\x82", 5, 3, "byte 0xe2 is not UTF-8"},
	};

	CHECK_ALL(cases);
	check("\x7f"
	      "ELF\0\1",
	      6, 1, 1, "control character 0x7f; is this a binary file?");
	check("\xff\xfe"
	      "f\0o\0",
	      6, 1, 1, "byte 0xff is not UTF-8 text");
	check("a: b\0c", 6, 1, 5, "control character 0x00");
}

Test(scenario_bad, bombs)
{
	static const char laughs[] = HEAD "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b]\n";
	size_t size = SL_YAML_BYTES_MAX + 1, at;
	char *text = calloc(1, size + 1);
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	cr_assert_not_null(text);
	check(laughs, strlen(laughs), 5, 4, "anchors and aliases are not allowed; write the value out");
	check(HEAD "nas: *x\n", strlen(HEAD "nas: *x\n"), 5, 6, "anchors and aliases are not allowed");
	memset(text, '[', 100000);
	check(text, 100000, 1, 17, "nested deeper than 16 levels");
	at = (size_t)sprintf(text, "[");
	for (int i = 0; i < 30000; i++) {
		at += (size_t)sprintf(text + at, "1,");
	}
	check(text, at, 1, 39999 + 1, "more than 20000 values");
	memset(text, ' ', size);
	cr_assert_eq(sl_scenario_load_buffer(text, size, "t.yaml", DATA_DIR, &sc, &err), -EFBIG);
	cr_assert_str_eq(err.msg, "t.yaml: larger than 1 MiB; is this the right file?");
	free(text);
}

Test(scenario_bad, keys_and_values)
{
	static const struct bad cases[] = {
	    {HEAD "nas: {vcpu: 2}\n", 5, 7, "unknown key 'nas.vcpu'; did you mean 'nas.vcpus'?"},
	    {HEAD "nas: {color: red}\n", 5, 7, "unknown key 'nas.color'; see sloglab-scenario(5)"},
	    {HEAD "nas: {vcpus: 2, \"vc\\npus\": 1}\n", 5, 17, "unknown key 'nas.vc?pus'"},
	    {HEAD "nas: {vcpus: 2, vcpus: 3}\n", 5, 17, "duplicate key 'vcpus', first at line 5"},
	    {HEAD "title: again\n", 5, 1, "duplicate key 'title', first at line 2"},
	    {HEAD "nas: {[a]: 3}\n", 5, 7, "a key must be a plain word"},
	    {HEAD "nas: [vcpus]\n", 5, 6, "nas: is a list; write a map"},
	    {HEAD "nas: 3\n", 5, 6, "nas: is a value; write a map"},
	    {HEAD "nas: {vcpus: {a: 1}}\n", 5, 14, "nas.vcpus: is a map; write a single value"},
	    {HEAD "nas: {vcpus: }\n", 5, 14, "nas.vcpus: has no value; write one"},
	    {HEAD "nas: {vcpus: !!int 2}\n", 5, 14, "tags are not allowed"},
	    {HEAD "nas: {vcpus: 4x}\n", 5, 14, "nas.vcpus: '4x' is not a whole number"},
	    {HEAD "nas: {vcpus: nan}\n", 5, 14, "nas.vcpus: 'nan' is not a whole number"},
	    {HEAD "nas: {vcpus: 2.5}\n", 5, 14, "nas.vcpus: '2.5' is not a whole number"},
	    {HEAD "nas: {vcpus: 0x2}\n", 5, 14, "nas.vcpus: '0x2' is not a whole number"},
	    {HEAD "nas: {vcpus: -1}\n", 5, 14, "nas.vcpus: '-1': out of range; write a value from 1 to 128"},
	    {HEAD "nas: {vcpus: 99999999999999999999}\n", 5, 14,
	     "nas.vcpus: '99999999999999999999' is not a whole"},
	    {HEAD "nas: {memory: 6}\n", 5, 15, "nas.memory: \"6\" has no unit; write a size"},
	    {HEAD "nas: {memory: 6s}\n", 5, 15, "nas.memory: \"6s\" has a wrong unit; write a size"},
	    {HEAD "nas: {memory: -6GiB}\n", 5, 15, "nas.memory: '-6GiB': out of range"},
	    {HEAD "nas: {memory: 9999TiB}\n", 5, 15, "nas.memory: '9999TiB': out of range"},
	    {HEAD "nas: {memory: 1e999GiB}\n", 5, 15, "nas.memory: \"1e999GiB\" is out of range"},
	    {HEAD "host: {hypervisor: xen}\n", 5, 20,
	     "host.hypervisor: 'xen' is not known; write esxi, qemu or proxmox"},
	    {HEAD "host: {profile: avoton}\n", 5, 17,
	     "host.profile: 'avoton' is not in any profiles folder; did you mean 'avoton-c2750'?"},
	    {HEAD "host: {profile: ../a}\n", 5, 17, "host.profile: '../a' is no valid name"},
	    {HEAD "guests: []\n", 5, 9, "guests: 0 guests given; exactly one guest is supported so far"},
	    {HEAD "guests: [{}, {}]\n", 5, 9, "guests: 2 guests given"},
	    {HEAD "guests: {vcpus: 2}\n", 5, 9, "guests: is a map; write a list"},
	    {HEAD "guests: [2]\n", 5, 10, "guests: is a value; write a map"},
	    {HEAD "description: [x]\n", 5, 14, "description: is a list"},
	};

	CHECK_ALL(cases);
}

#define POOL_HEAD "format: sloglab-scenario/1\ntitle: t\nworkloads: {w: {kind: oltp}}\n"

Test(scenario_bad, pools)
{
	static const struct bad cases[] = {
	    {POOL_HEAD "pool: {data: {disks: [null x 2]}}\n", 4, 22,
	     "pool.data.disks: raidz1 needs at least 3 disks, not 2 (variant base)"},
	    {POOL_HEAD "pool: {data: {layout: mirror, disks: null}}\n", 4, 38,
	     "pool.data.disks: mirror needs at least 2 disks, not 1"},
	    {POOL_HEAD "pool: {data: {layout: raidz2, disks: null x 7, vdevs: 2}}\n", 4, 38,
	     "pool.data.disks: raidz2 needs at least 8 disks, not 7"},
	    {POOL_HEAD "pool: {data: {layout: mirror, disks: null x 7, vdevs: 3}}\n", 4, 38,
	     "pool.data.disks: 7 disks cannot be shared evenly by 3 vdevs"},
	    {POOL_HEAD "pool: {data: {disks: none}}\n", 4, 22,
	     "pool.data.disks: 'none' is not in any catalogue folder"},
	    {POOL_HEAD "pool: {data: {disks: []}}\n", 4, 22,
	     "pool.data.disks: is an empty list; name a device\0"},
	    {POOL_HEAD "pool: {data: {disks: [null x 33]}}\n", 4, 23, "pool.data.disks: more than 32 disks"},
	    {POOL_HEAD "pool: {data: {disks: [null x 0]}}\n", 4, 23,
	     "pool.data.disks: 'null x 0' is no disk; write"},
	    {POOL_HEAD "pool: {data: {disks: [null x3]}}\n", 4, 23, "pool.data.disks: 'null x3' is no disk"},
	    {POOL_HEAD "pool: {data: {disks: [null x 3 x]}}\n", 4, 23,
	     "pool.data.disks: 'null x 3 x' is no disk"},
	    {POOL_HEAD "pool: {data: {disks: [[null]]}}\n", 4, 23,
	     "pool.data.disks: is a list; write a single value"},
	    {POOL_HEAD "pool: {data: {disks: {null: 3}}}\n", 4, 22,
	     "pool.data.disks: is a map; write a single value"},
	    {POOL_HEAD "pool: {data: {disks: [hdd-7200-dekstop x 3]}}\n", 4, 23,
	     "pool.data.disks: 'hdd-7200-dekstop' is not in any catalogue folder; did you mean "
	     "'hdd-7200-desktop'?"},
	    {POOL_HEAD "pool: {data: {disks: [zzz x 3]}}\n", 4, 23,
	     "pool.data.disks: 'zzz' is not in any catalogue folder; add a file or name a known one (known: "
	     "crucial-m4-128, "},
	    {POOL_HEAD "pool: {data: 3}\n", 4, 14, "pool.data: is a value; write a map"},
	    {POOL_HEAD "pool: {data: {disks: [null x 3]}, data.disks: null x 4}\n", 4, 35,
	     "pool.data.disks: given twice, first at t.yaml:4:22"},
	    {POOL_HEAD "pool: {data: {disks: [null x 3]}, log: [null x 9]}\n", 4, 41,
	     "pool.log: more than 8 disks"},
	    {POOL_HEAD "pool: {data: {disks: [null x 3]}, log: []}\n", 4, 40,
	     "pool.log: is an empty list; name a device, or write none"},
	    {POOL_HEAD "pool: {data: {disks: [null x 3]}, log: [none]}\n", 4, 41,
	     "pool.log: 'none' is not in any"},
	    {POOL_HEAD "pool: {data: {disks: [null x 3]}, cache: nul}\n", 4, 42,
	     "pool.cache: 'nul' is not in any catalogue folder; did you mean 'null'?"},
	    {POOL_HEAD "pool: {data: {disks: [null x 3]}, special: null}\nnas: {zil: 2014}\n", 4, 44,
	     "pool.special: ZFS of 2014 has no special vdevs (variant base); set nas.zil to 2.1 or 2.3"},
	    {POOL_HEAD "pool: {data: {disks: [null x 3]}, encryption: zfs}\nnas: {zil: 0.7}\n", 4, 47,
	     "pool.encryption: ZFS of 2014 has no encryption of its own (variant base)"},
	    {POOL_HEAD "pool: {data: {disks: [null x 3]}, recordsize: 100KiB}\n", 4, 47,
	     "pool.recordsize: '100KiB' is not a power of two"},
	};

	CHECK_ALL(cases);
}

Test(scenario_bad, params)
{
#define P(text) HEAD "params: {zil.commit_cpu: " text "}\n"
	static const struct bad cases[] = {
	    {P("1ms"), 5, 26,
	     "params.zil.commit_cpu: needs its origin; write {value: ..., kind: ..., source: ...}"},
	    {P("{value: 1ms, source: x}"), 5, 26, "params.zil.commit_cpu: 'kind' is missing"},
	    {P("{value: 1ms, kind: spec}"), 5, 26, "params.zil.commit_cpu: 'source' is missing"},
	    {P("{kind: spec, source: x}"), 5, 26, "params.zil.commit_cpu: 'value' is missing"},
	    {P("{value: 1ms, kind: spec, source: }"), 5, 59, "params.zil.commit_cpu: has no value"},
	    {P("{value: 1ms, kind: guess, source: x}"), 5, 45,
	     "params.zil.commit_cpu: kind 'guess' is not known"},
	    {P("{value: 1ms, kind: default, source: x}"), 5, 45,
	     "params.zil.commit_cpu: kind 'default' is not known"},
	    {P("{value: 1, kind: spec, source: x}"), 5, 34, "params.zil.commit_cpu: \"1\" has no unit"},
	    {P("{value: 1ms, kind: spec, source: x, by: me}"), 5, 62,
	     "params.zil.commit_cpu: unknown key 'by'; write value, kind, source, min or max"},
	    {P("{value: 1ms, kind: fitted, source: x}"), 5, 26,
	     "params.zil.commit_cpu: a fitted value needs its range"},
	    {P("{value: 1ms, kind: spec, source: x, min: 1us}"), 5, 26,
	     "params.zil.commit_cpu: min and max belong together"},
	    {P("{value: 1ms, kind: fitted, source: x, min: 2ms, max: 3ms}"), 5, 26,
	     "params.zil.commit_cpu: the value is outside of its own min and max"},
	    {P("{value: 1ms, kind: fitted, source: x, min: 0us, max: 90s}"), 5, 79,
	     "params.zil.commit_cpu: '90s': out of range"},
	    {P("{value: 1ms, kind: spec, source: \"a\\nb\"}"), 5, 59,
	     "params.zil.commit_cpu: source must be one line of text"},
	    {HEAD "params: {zil.comit_cpu: 1}\n", 5, 10,
	     "unknown key 'params.zil.comit_cpu'; did you mean 'params.zil.commit_cpu'?"},
	    {HEAD "params: {zil: {commit_cpu: 1}}\n", 5, 10, "unknown key 'params.zil'"},
	};
#undef P

	CHECK_ALL(cases);
}

#define WORK_HEAD "format: sloglab-scenario/1\ntitle: t\npool: {data: {disks: [null x 3]}}\n"

Test(scenario_bad, workloads)
{
#define W(text) WORK_HEAD "workloads: {w: {" text "}}\n"
	static const struct bad cases[] = {
	    {W("threads: 2"), 4, 16, "w: 'kind' is missing; write kind: oltp, fileio, syncwrite or disk"},
	    {W("kind: iops"), 4, 23, "kind: 'iops' is not known; write oltp, fileio, syncwrite or disk"},
	    {W("kind: oltp, treads: 2"), 4, 29, "unknown key 'treads'; did you mean 'threads'?"},
	    {W("kind: fileio, rows: 2"), 4, 31, "key 'rows' does not belong to this kind of workload"},
	    {W("kind: oltp, threads: 0"), 4, 38, "threads: '0': out of range"},
	    {W("kind: oltp, max_time: 60"), 4, 39, "max_time: \"60\" has no unit"},
	    {W("kind: oltp, max_time: [1s]"), 4, 39, "max_time: is a list"},
	    {W("kind: oltp, max_time: 0s, max_requests: 0"), 4, 16, "w: never ends"},
	    {W("kind: fileio, file_total: 1MiB, files: 128"), 4, 16, "w: a file is smaller than one block"},
	    {W("kind: syncwrite, file_total: 4KiB, block: 8KiB"), 4, 16,
	     "w: the file is smaller than one block"},
	    {W("kind: fileio, mode: write"), 4, 37,
	     "mode: 'write' is not known; write seqwr, seqrd, rndrd, rndwr or"},
	    {W("kind: disk, max_time: 60s, measure_from: 60s"), 4, 16, "w: measures nothing; give max_time"},
	    {W("kind: disk, measure_from: 9s, measure_to: 8s"), 4, 16,
	     "w: measures nothing; give measure_to"},
	    {W("kind: disk, measure_to: 61s"), 4, 16, "w: measures nothing; give measure_to"},
	    {W("kind: disk, interval: 10ms"), 4, 16, "w: interval must be from 1/1500 of max_time"},
	    {W("kind: disk, interval: 61s"), 4, 16, "w: interval must be from 1/1500 of max_time"},
	    {W("kind: disk, metric: steady_minutes, max_time: 19min"), 4, 16, "w: steady is said of windows"},
	    {W("kind: disk, block: 1KiB"), 4, 16, "w: block must be a multiple of 4 KiB"},
	    {W("kind: disk, flush: each, block: 1000B"), 4, 16, "w: block must be a multiple of 4 KiB"},
	    {W("of: x"), 4, 21, "of: unknown workload 'x'; name one"},
	    {W("of: w"), 4, 21, "of: unknown workload 'w'; name one"},
	    {WORK_HEAD "workloads: {w: {kind: disk}, v: {of: w, depth: 2}}\n", 4, 41,
	     "key 'depth' would be another run than that of 'w'; write metric,"},
	    {WORK_HEAD "workloads: {w: {kind: disk}, v: {of: w, metric: rate}}\n", 4, 49,
	     "metric: 'rate' is not known; write iops"},
	    {WORK_HEAD "workloads: {w: {kind: oltp}, v: {of: w, metric: throughput}}\n", 4, 33,
	     "v: this metric is not of its kind: a transaction has no size in bytes"},
	    {WORK_HEAD "workloads: [w]\n", 4, 12, "workloads: is a list"},
	    {WORK_HEAD "workloads: {w: oltp}\n", 4, 16, "w: is a value; write a map"},
	    {WORK_HEAD "workloads: {'a b': {kind: oltp}}\n", 4, 13, "'a b' is no valid name"},
	    {WORK_HEAD "workloads: {a/b: {kind: oltp}}\n", 4, 13, "'a/b' is no valid name"},
	    {WORK_HEAD "workloads: {\"a\\tb\": {kind: oltp}}\n", 4, 13, "'a?b' is no valid name"},
	    {WORK_HEAD
	     "workloads: {x234567890123456789012345678901234567890123456789012345678901234: {kind: oltp}}\n",
	     4, 13, "'x234567890123456789012345678901234567890'"},
	};
#undef W

	CHECK_ALL(cases);
}

Test(scenario_bad, variants)
{
	static const struct bad cases[] = {
	    {HEAD "variants: {}\n", 5, 11, "variants: is empty; add at least one"},
	    {HEAD "variants: {a: {extends: b}, b: {extends: a}}\n", 5, 25,
	     "extends: variant 'a' extends itself in a circle"},
	    {HEAD "variants: {x: {extends: a}, a: {extends: a}}\n", 5, 42,
	     "extends: variant 'a' extends itself in a circle"},
	    {HEAD "variants: {s3500: {}, b: {extends: s3600}}\n", 5, 36,
	     "extends: unknown variant 's3600'; did you mean 's3500'?"},
	    {HEAD "variants: {a: {extends: zzz}}\n", 5, 25,
	     "extends: unknown variant 'zzz'; name one of variants"},
	    {HEAD "variants: {a: {extends: [a]}}\n", 5, 25, "extends: is a list"},
	    {HEAD "variants: {a: {set: {pol.log: x}}}\n", 5, 22,
	     "unknown key 'pol.log'; did you mean 'pool.log'?"},
	    {HEAD "variants: {a: {set: {pool.log: s3701}}}\n", 5, 32,
	     "pool.log: 's3701' is not in any catalogue"},
	    {HEAD "variants: {a: {set: {pool.log: intel-dc-s3701-100}}}\n", 5, 32,
	     "pool.log: 'intel-dc-s3701-100' is not in any catalogue folder; did you mean "
	     "'intel-dc-s3700-100'?"},
	    {HEAD "variants: {a: {set: {pool: {log: null}}}}\n", 5, 22, "unknown key 'pool'"},
	    {HEAD "variants: {a: {set: pool.log}}\n", 5, 21, "set: is a value; write a map"},
	    {HEAD "variants: {a: {sett: {}}}\n", 5, 16, "unknown key 'sett'; a variant has extends and set"},
	    {HEAD "variants: {a: null}\n", 5, 15, "a: is a value; write a map"},
	    {HEAD "variants: {\"\": {}}\n", 5, 12, "a key must be a plain word"},
	    {HEAD "variants: {'a,b': {}}\n", 5, 12, "'a,b' is no valid name"},
	    {HEAD "variants:\n  a: {}\n  b: {set: {pool.data.layout: raidz1, pool.data.disks: null x 2}}\n",
	     7, 56, "pool.data.disks: raidz1 needs at least 3 disks, not 2 (variant b)"},
	    {HEAD "published: {base: {w: 188}}\n", 5, 23, "w: is a value; write a map"},
	    {HEAD "published: {base: {w: {}}}\n", 5, 23, "w: 'value' is missing"},
	    {HEAD "published: {base: {w: {value: 0}}}\n", 5, 31, "value: '0': out of range"},
	    {HEAD "published: {base: {w: {value: 5mm}}}\n", 5, 31,
	     "value: '5mm' is no figure; write a number"},
	    {HEAD "published: {base: {w: {value: 5, role: c}}}\n", 5, 40,
	     "role: 'c' is not known; write calibrate or"},
	    {HEAD "published: {base: {w: {value: 5, rule: c}}}\n", 5, 34,
	     "unknown key 'rule'; a published figure has"},
	    {HEAD "published: {bsae: {w: {value: 5}}}\n", 5, 13,
	     "published: unknown variant 'bsae'; did you mean 'base'?"},
	    {HEAD "published: {base: {nope: {value: 5}}}\n", 5, 20,
	     "published: unknown workload 'nope'; name one of workloads"},
	    {HEAD "published: [1]\n", 5, 12, "published: is a list"},
	};

	CHECK_ALL(cases);
}

/* n names in a map, to meet the limits. */
static char *many(const char *head, const char *section, const char *value, int n)
{
	char *text = malloc(strlen(head) + 64 + (size_t)n * (strlen(value) + 16));
	size_t at;

	cr_assert_not_null(text);
	at = (size_t)sprintf(text, "%s%s:\n", head, section);
	for (int i = 0; i < n; i++) {
		at += (size_t)sprintf(text + at, "  n%d: %s\n", i, value);
	}
	return text;
}

Test(scenario_bad, limits)
{
	char *variants = many(HEAD, "variants", "{}", 64), *too_many = many(HEAD, "variants", "{}", 65);
	char *workloads = many(WORK_HEAD, "workloads", "{kind: oltp}", 65);
	struct sl_scenario *sc = load_text(variants);

	cr_assert_eq(sl_scenario_variants(sc), 64);
	sl_scenario_free(sc);
	check(too_many, strlen(too_many), 6, 3, "variants: more than 64; split the scenario");
	check(workloads, strlen(workloads), 5, 3, "workloads: more than 64; split the scenario");
	free(variants);
	free(too_many);
	free(workloads);
}

/* Cut the shipped scenario after every byte: never a crash, never a leak. */
Test(scenario_bad, every_prefix_of_a_good_file)
{
	FILE *file = fopen(SL_SOURCE_DIR "/scenarios/b3n-2014.yaml", "rb");
	static char text[65536];
	size_t size;
	int refused = 0;

	cr_assert_not_null(file);
	size = fread(text, 1, sizeof(text), file);
	fclose(file);
	cr_assert(size > 1000 && size < sizeof(text));
	for (size_t n = 0; n < size; n += 7) {
		struct sl_scenario *sc = NULL;
		struct sl_err err = {0};

		if (sl_scenario_load_buffer(text, n, "t.yaml", DATA_DIR, &sc, &err) < 0) {
			cr_assert(strlen(err.msg) > 0 && err.code < 0);
			refused++;
		}
		sl_scenario_free(sc);
	}
	cr_assert(refused > 100);
}
