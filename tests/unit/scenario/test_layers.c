/* Which layer wins, and what can be changed after the load. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/scenario/lib.h"

#define COMMIT "params.zil.commit_cpu"

static double commit_of(const struct sl_scenario *sc, const char *variant)
{
	struct sl_box *box = box_of(sc, variant);
	double value = box->zil_commit_cpu_ns;

	free(box);
	return value;
}

Test(scenario_layers, precedence)
{
	struct sl_scenario *plain = load_text(HEAD);
	struct sl_scenario *host = load_text(HEAD "host: {profile: modern-xeon}\n");
	struct sl_scenario *sc = load_text(
	    HEAD
	    "host: {profile: modern-xeon}\n"
	    "params: {zil.commit_cpu: {value: 1ms, kind: assumed, source: me}}\n"
	    "variants:\n"
	    "  base: {}\n"
	    "  child: {extends: middle, set: {nas.vcpus: 3}}\n"
	    "  middle: {extends: base, set: {params.zil.commit_cpu: 2ms, nas.vcpus: 5}}\n"
	    "  other: {extends: child, set: {params.zil.commit_cpu: {value: 3ms, kind: spec, source: x}}}\n");
	struct sl_box *child = box_of(sc, "child");
	struct sl_err err = {0};

	cr_assert_eq(param_of(plain, 0, COMMIT).kind, SL_PROV_DEFAULT);
	cr_assert_eq(commit_of(plain, "base"), param_of(plain, 0, COMMIT).value);
	cr_assert_eq(param_of(host, 0, COMMIT).kind, SL_PROV_MEASURED);
	cr_assert_neq(commit_of(host, "base"), commit_of(plain, "base"));
	cr_assert_eq(commit_of(sc, "base"), 1e6);
	cr_assert_eq(commit_of(sc, "middle"), 2e6);
	cr_assert_eq(commit_of(sc, "child"), 2e6);
	cr_assert_eq(commit_of(sc, "other"), 3e6);
	cr_assert_eq(child->nas_vcpus, 3);
	cr_assert_eq(param_of(sc, 0, COMMIT).kind, SL_PROV_ASSUMED);
	cr_assert_eq(param_of(sc, 1, COMMIT).kind, SL_PROV_GIVEN);
	cr_assert_eq(param_of(sc, 3, COMMIT).kind, SL_PROV_SPEC);
	cr_assert_str_eq(param_of(sc, 3, COMMIT).where, "t.yaml:11:56");
	cr_assert_eq(sl_scenario_set(sc, COMMIT, "4ms", "--set", &err), 0, "%s", err.msg);
	cr_assert_eq(commit_of(sc, "base"), 4e6);
	cr_assert_eq(commit_of(sc, "other"), 4e6);
	cr_assert_str_eq(param_of(sc, 3, COMMIT).where, "--set");
	cr_assert_eq(sl_scenario_set_number(sc, COMMIT, 5e6, &err), 0, "%s", err.msg);
	cr_assert_eq(commit_of(sc, "base"), 5e6);
	cr_assert_str_eq(param_of(sc, 0, COMMIT).text, "5ms");
	cr_assert_eq(sl_scenario_set(sc, COMMIT, "6ms", "--set", &err), 0, "%s", err.msg);
	cr_assert_eq(commit_of(sc, "base"), 6e6, "a later set wins over a number");
	free(child);
	sl_scenario_free(plain);
	sl_scenario_free(host);
	sl_scenario_free(sc);
}

/* The client follows the hypervisor, unless the scenario names one. */
Test(scenario_layers, a_hypervisor_brings_its_nfs_client)
{
	struct sl_scenario *sc = load_text(HEAD "variants:\n"
						"  plain: {}\n"
						"  esxi: {set: {host.hypervisor: esxi}}\n"
						"  qemu: {set: {host.hypervisor: qemu}}\n"
						"  proxmox: {set: {host.hypervisor: proxmox}}\n"
						"  mounted: {extends: qemu, set: {host.client: linux}}\n");
	static const char *const clients[] = {"libnfs", "esxi", "libnfs", "linux", "linux"};
	struct sl_err err = {0};

	for (int v = 0; v < 5; v++) {
		cr_assert_str_eq(param_of(sc, v, "host.client").text, clients[v], "variant %d", v);
	}
	/* PVSCSI has 64 requests of 512 KiB, virtio-blk 256 of Linux's 2560 sectors: nobody's queue is
	 * endless. */
	cr_assert_eq(param_of(sc, 1, "params.hyp.queue").value, 64);
	cr_assert_eq(param_of(sc, 1, "params.hyp.max_io").value, 524288);
	for (int v = 2; v < 4; v++) {
		cr_assert_eq(param_of(sc, v, "params.hyp.queue").value, 256);
		cr_assert_eq(param_of(sc, v, "params.hyp.max_io").value, 2560 * 512);
	}
	cr_assert_eq(param_of(sc, 0, "host.client").kind, SL_PROV_SPEC);
	cr_assert_eq(param_of(sc, 4, "host.client").kind, SL_PROV_GIVEN);
	cr_assert_eq(sl_scenario_set(sc, "host.hypervisor", "esxi", "--set", &err), 0, "%s", err.msg);
	cr_assert_str_eq(param_of(sc, 3, "host.client").text, "esxi");
	cr_assert_str_eq(param_of(sc, 4, "host.client").text, "linux", "its own word");
	sl_scenario_free(sc);
}

/* 1448 of 1538 bytes of a full frame are NFS: 125 MB/s x 0.94148 = 117.685 MB/s, 1176.85 at 10 Gbit/s; of
 * jumbo frames 8948 of 9038: 1237.55. */
Test(scenario_layers, a_wire_says_what_it_carries)
{
	static const double rates_bps[] = {1250e6, 117.685e6, 1176.85e6, 1237.55e6, 1e9, 294.213e6};
	struct sl_scenario *sc = load_text(HEAD "variants:\n"
						"  switch: {}\n"
						"  gbe: {set: {host.link: 1GbE}}\n"
						"  ten: {set: {host.link: 10GbE}}\n"
						"  jumbo: {extends: ten, set: {params.nic.mtu: 9000B}}\n"
						"  said: {extends: ten, set: {params.link.rate: 1GB/s}}\n"
						"  rate: {set: {host.link: 2.5Gbit/s}}\n");
	struct sl_err err = {0};

	for (int v = 0; v < 6; v++) {
		struct sl_box *box = box_of(sc, sl_scenario_variant_name(sc, v));

		cr_expect_float_eq(box->link_bps, rates_bps[v], 1e-5 * rates_bps[v], "variant %d: %f", v,
				   box->link_bps);
		cr_expect_eq(param_of(sc, v, "params.link.rate").value, box->link_bps);
		free(box);
	}
	cr_assert_eq(param_of(sc, 2, "params.link.rate").kind, SL_PROV_DERIVED);
	cr_assert_str_eq(param_of(sc, 2, "host.link").text, "10GbE");
	cr_assert_eq(sl_scenario_set(sc, "host.link", "virtual", "--set", &err), 0, "%s", err.msg);
	cr_assert_eq(param_of(sc, 2, "params.link.rate").value, 1250e6);
	cr_assert_eq(sl_scenario_set(sc, "host.link", "fast", "--set", &err), -EINVAL);
	cr_assert(strstr(err.msg, "write virtual, or a line rate such as 10GbE"), "%s", err.msg);
	sl_scenario_free(sc);
}

Test(scenario_layers, profile_may_differ_per_variant)
{
	struct sl_scenario *sc = load_text(HEAD "host: {profile: avoton-c2750}\n"
						"variants:\n"
						"  slow: {}\n"
						"  fast: {set: {host.profile: modern-xeon}}\n"
						"  bare: {extends: fast, set: {host.profile: none}}\n");
	struct sl_err err = {0};

	cr_assert(commit_of(sc, "slow") > 2 * commit_of(sc, "fast"));
	cr_assert_eq(param_of(sc, 2, COMMIT).kind, SL_PROV_DEFAULT);
	cr_assert_eq(sl_scenario_set(sc, "host.profile", "modern-xeon", "--set", &err), 0, "%s", err.msg);
	cr_assert_eq(commit_of(sc, "slow"), commit_of(sc, "fast"));
	cr_assert_eq(commit_of(sc, "bare"), commit_of(sc, "fast"));
	sl_scenario_free(sc);
}

Test(scenario_layers, ways_to_write_disks)
{
	struct sl_scenario *sc =
	    load_text(HEAD "variants:\n"
			   "  a: {set: {pool.log: null}}\n"
			   "  b: {set: {pool.log: null x 2}}\n"
			   "  c: {set: {pool.log: [null, intel-dc-s3700-100  x  2, 'null x 1']}}\n"
			   "  d: {extends: c, set: {pool.log: none}}\n"
			   "  e: {set: {pool.data.disks: hdd-7200-desktop x 32, pool.log: [null x 8]}}\n");
	static const int want[] = {1, 2, 4, 0, 8};
	static const char *const names[] = {"a", "b", "c", "d", "e"};

	for (int i = 0; i < 5; i++) {
		struct sl_box *box = box_of(sc, names[i]);

		cr_assert_eq(box->n_log, want[i], "%s: %d", names[i], box->n_log);
		cr_assert_eq(box->n_data, i == 4 ? 32 : 3);
		if (i == 2) {
			cr_assert_str_eq(box->log[0].name, "null");
			cr_assert_str_eq(box->log[1].name, "intel-dc-s3700-100");
			cr_assert_str_eq(box->log[2].name, "intel-dc-s3700-100");
			cr_assert_str_eq(box->log[3].name, "null");
		}
		free(box);
	}
	cr_assert_str_eq(param_of(sc, 2, "pool.log").text, "null, intel-dc-s3700-100  x  2, null x 1");
	sl_scenario_free(sc);
}

Test(scenario_layers, set_takes_disks_and_counts_their_figures)
{
	struct sl_scenario *sc = load_text(HEAD);
	struct sl_err err = {0};
	struct sl_param figure;
	int one;

	cr_assert_eq(sl_scenario_figures(sc), 0);
	cr_assert_eq(sl_scenario_set(sc, "pool.log", "intel-dc-s3500-80", "--set", &err), 0, "%s", err.msg);
	one = sl_scenario_figures(sc);
	cr_assert(one >= 8);
	cr_assert_eq(sl_scenario_figure(sc, 0, &figure), 0);
	cr_assert(strncmp(figure.key, "intel-dc-s3500-80.", 18) == 0);
	cr_assert_eq(
	    sl_scenario_set(sc, "pool.log", "[intel-dc-s3500-80, intel-dc-s3700-100]", "--set", &err), 0,
	    "%s", err.msg);
	cr_assert_eq(sl_scenario_figures(sc), 2 * one);
	cr_assert_eq(sl_scenario_set(sc, "pool.log", "null", "--set", &err), 0, "%s", err.msg);
	cr_assert_eq(sl_scenario_figures(sc), 0);
	cr_assert_eq(sl_scenario_set(sc, "pool.log", "none", "--set", &err), 0, "%s", err.msg);
	cr_assert_eq(param_of(sc, 0, "pool.log").value, 0);
	sl_scenario_free(sc);
}

Test(scenario_layers, a_refused_set_changes_nothing)
{
	static const struct {
		const char *key, *value, *message;
	} cases[] = {
	    {"pol.log", "null", "--set: unknown key 'pol.log'; did you mean 'pool.log'?"},
	    {"zil.commit_cpu", "1ms",
	     "--set: unknown key 'zil.commit_cpu'; did you mean 'params.zil.commit_cpu'?"},
	    {"qqqqq", "1", "--set: unknown key 'qqqqq'; see sloglab-scenario(5) for the keys"},
	    {"nas.vcpus", "0",
	     "--set: nas.vcpus=0: column 11: '0': out of range; write a value from 1 to 128"},
	    {"nas.vcpus", "", "--set: nas.vcpus=: column 11: no value given; write one"},
	    {"nas.vcpus", "[1]", "--set: nas.vcpus=[1]: column 11: is a list; write a single value"},
	    {"nas.vcpus", "{", "--set: nas.vcpus={: column 11: not valid YAML: "},
	    {"pool.recordsize", "100KiB",
	     "--set: pool.recordsize=100KiB: column 17: '100KiB' is not a power of two"},
	    {"pool.log", "nul",
	     "--set: pool.log=nul: column 10: 'nul' is not in any catalogue folder; did you mean 'null'?"},
	    {"pool.data.disks", "null x 2", "--set: pool.data.disks: raidz1 needs at least 3 disks, not 2"},
	    {"pool.log", "[null, nul]", "--set: pool.log=[null, nul]: column 17: 'nul' is not in any"},
	    {"nas.vcpus", "1\a\n", "--set: nas.vcpus=1: column 12: control character 0x07"},
	    {"pool.cache", "[null x 9]", "--set: pool.cache=[null x 9]: column 13: more than 8 disks"},
	};
	struct sl_scenario *sc = load_text(HEAD);
	struct sl_box *box;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_err err = {0};

		cr_assert(sl_scenario_set(sc, cases[i].key, cases[i].value, "--set", &err) < 0, "%s",
			  cases[i].value);
		cr_assert_eq(strncmp(err.msg, cases[i].message, strlen(cases[i].message)), 0, "%s\n%s",
			     err.msg, cases[i].message);
		cr_assert(sl_scenario_set(sc, cases[i].key, cases[i].value, "--set", NULL) < 0);
	}
	box = box_of(sc, "base");
	cr_assert_eq(box->n_data, 3);
	cr_assert_eq(box->n_log, 0);
	cr_assert_eq(box->recordsize_bytes, 131072);
	cr_assert_eq(param_of(sc, 0, "nas.vcpus").kind, SL_PROV_DEFAULT);
	free(box);
	sl_scenario_free(sc);
}

Test(scenario_layers, numbers_keep_their_origin_and_range)
{
	struct sl_scenario *sc = load_text(
	    HEAD
	    "params: {zil.commit_cpu: {value: 1ms, min: 0.5ms, max: 2ms, kind: fitted, source: rows}}\n");
	struct sl_err err = {0};
	struct sl_param param;

	cr_assert_eq(sl_scenario_set_number(sc, COMMIT, 1.5e6, &err), 0, "%s", err.msg);
	param = param_of(sc, 0, COMMIT);
	cr_assert_eq(param.value, 1.5e6);
	cr_assert_eq(param.kind, SL_PROV_FITTED);
	cr_assert_eq(param.min, 0.5e6);
	cr_assert_eq(param.max, 2e6);
	cr_assert_str_eq(param.source, "rows");
	cr_assert_eq(sl_scenario_set_number(sc, COMMIT, -1, &err), -ERANGE);
	cr_assert_eq(sl_scenario_set_number(sc, COMMIT, (double)NAN, &err), -ERANGE);
	cr_assert_eq(sl_scenario_set_number(sc, COMMIT, (double)INFINITY, NULL), -ERANGE);
	cr_assert_eq(sl_scenario_set_number(sc, "nas.vcpus", 1.5, &err), -EINVAL);
	cr_assert_eq(sl_scenario_set_number(sc, "host.nic", 1, &err), -EINVAL);
	cr_assert_eq(sl_scenario_set_number(sc, "pool.log", 1, &err), -EINVAL);
	cr_assert_eq(sl_scenario_set_number(sc, "no.such", 1, &err), -EINVAL);
	cr_assert_eq(param_of(sc, 0, COMMIT).value, 1.5e6);
	cr_assert_eq(sl_scenario_set_number(sc, "nas.vcpus", 4, &err), 0, "%s", err.msg);
	cr_assert_eq(param_of(sc, 0, "nas.vcpus").value, 4);
	sl_scenario_free(sc);
}

#define VARIED                                                                     \
	HEAD "variants: {none: {}, s3500: {set: {pool.log: intel-dc-s3500-80}}}\n" \
	     "published: {none: {w: {value: 148}}, s3500: {w: {value: 188}}}\n"

Test(layers, what_set_changes_is_known_of_each_variant)
{
	static const struct {
		const char *key, *value;
		enum sl_touch none, s3500;
	} cases[] = {
	    /* the variants differ in it: what has it already is as it was */
	    {"pool.log", "intel-dc-s3500-80", SL_TOUCH_NAME, SL_TOUCH_NONE},
	    {"pool.log", "none", SL_TOUCH_NONE, SL_TOUCH_NAME},
	    {"guests.vcpus", "4", SL_TOUCH_BOX, SL_TOUCH_BOX},
	    {"guests.vcpus", "2", SL_TOUCH_NONE, SL_TOUCH_NONE}, /* the default */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_scenario *sc = load_text(VARIED);

		cr_assert_eq(sl_scenario_touched(sc, 0), SL_TOUCH_NONE);
		cr_assert_eq(sl_scenario_set(sc, cases[i].key, cases[i].value, "--set", NULL), 0);
		cr_assert_eq(sl_scenario_touched(sc, 0), cases[i].none, "case %zu", i);
		cr_assert_eq(sl_scenario_touched(sc, 1), cases[i].s3500, "case %zu", i);
		sl_scenario_free(sc);
	}
}

Test(layers, a_variant_more_leaves_the_others_and_their_figures)
{
	struct sl_scenario *sc = load_text(VARIED);
	struct sl_err err = {0};
	struct sl_box *control, *added;

	cr_assert_eq(sl_scenario_variant_add(sc, "mine", 0, "pool.log", "intel-dc-s3700-100", "--log", &err),
		     2, "%s", err.msg);
	cr_assert_eq(sl_scenario_variants(sc), 3);
	cr_assert_str_eq(sl_scenario_variant_name(sc, 2), "mine");
	control = box_of(sc, "none");
	added = box_of(sc, "mine");
	cr_assert_eq(control->n_log, 0);
	cr_assert_eq(added->n_log, 1);
	cr_assert_str_eq(added->log[0].name, "intel-dc-s3700-100");
	cr_assert_eq(sl_scenario_published(sc, 0, 0)->value, 148);
	cr_assert_eq(sl_scenario_published(sc, 1, 0)->value, 188);
	cr_assert_null(sl_scenario_published(sc, 2, 0));
	cr_assert_eq(sl_scenario_touched(sc, 2), SL_TOUCH_NONE);
	cr_assert_eq(sl_scenario_variant_add(sc, "mine", 0, "pool.log", "null", "--log", &err), -EINVAL);
	cr_assert_eq(sl_scenario_variant_add(sc, "x", 0, "pool.log", "intel-dc-s3701-100", "--log", &err),
		     -EINVAL);
	cr_assert_not_null(strstr(err.msg, "did you mean 'intel-dc-s3700-100'?"), "%s", err.msg);
	cr_assert_eq(sl_scenario_variants(sc), 3);
	free(control);
	free(added);
	sl_scenario_free(sc);
}

/* A core of the Xeon E3 v3 and of the N100 takes 3.5 / 2.69 = 1.3 times as long as that of modern-xeon, and
 * moves bytes at 1 / 1.3 of its rate: each cost that a profile gives, so that none was forgotten. */
Test(scenario_layers, profiles_of_other_cores_are_scaled_as_a_whole)
{
	static const char *const names[] = {"xeon-e3-v3", "mini-pc-n100"};
	struct sl_scenario *modern = load_text(HEAD "host: {profile: modern-xeon}\n");

	for (size_t i = 0; i < 2; i++) {
		struct sl_scenario *sc;
		struct sl_box *fast = box_of(modern, "base"), *slow;
		char text[1024];

		(void)snprintf(text, sizeof(text), HEAD "host: {profile: %s}\n", names[i]);
		sc = load_text(text);
		slow = box_of(sc, "base");
		cr_expect_float_eq(slow->guest_oltp_cpu_ns / fast->guest_oltp_cpu_ns, 1.3, 0.01);
		cr_expect_float_eq(slow->zil_commit_delay_ns / fast->zil_commit_delay_ns, 1.3, 0.01);
		cr_expect_float_eq(slow->zfs_sync_cpu_ns / fast->zfs_sync_cpu_ns, 1.3, 0.01);
		cr_expect_float_eq(slow->zfs_record_cpu_ns / fast->zfs_record_cpu_ns, 1.3, 0.01);
		cr_expect_float_eq(fast->nfsd_byte_bps / slow->nfsd_byte_bps, 1.3, 0.01);
		cr_expect_float_eq(fast->zfs_lz4_bps / slow->zfs_lz4_bps, 1.3, 0.01);
		free(fast);
		free(slow);
		sl_scenario_free(sc);
	}
	sl_scenario_free(modern);
}
