/* What engine vm reads of its machines, keeps of an unfinished run, and puts into the model beside it. */
#include <criterion/criterion.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/live_lab.h"
#include "engine/live_load.h"
#include "engine/measured.h"
#include "engine/vm_cell.h"
#include "engine/vm_costs.h"
#include "engine/vm_kept.h"
#include "engine/vm_run.h"
#include "engine/vm_waits.h"
#include "sim/base/runwait.h"

Test(vm_cell, cpu_times_count_what_is_not_idle)
{
	double busy, all;

	cr_assert(sl_vm_cpu_parse("cpu  100 10 40 800 50 0 0 0 0 0\ncpu0 1 2\n", &busy, &all));
	cr_assert_float_eq(busy, 150e7, 1);
	cr_assert_float_eq(all, 1000e7, 1);
}

Test(vm_cell, cpu_times_of_a_broken_guest_are_refused)
{
	static const char *const bad[] = {"", "cpu 1 2 3", "MemTotal: 5", "cpux 1 2 3 4 5"};
	double busy, all;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect(!sl_vm_cpu_parse(bad[i], &busy, &all), "%s", bad[i]);
	}
	cr_expect(!sl_vm_cpu_parse(NULL, &busy, &all));
}

Test(vm_cell, requests_are_told_apart_by_the_disks_names)
{
	struct sl_vm_requests n;

	sl_vm_requests_parse("latency on dilate 1\n"
			     "disk hdd0 device x reads 1 writes 20 flushes 3 trims 0\n"
			     "disk hdd1 device x reads 1 writes 22 flushes 4 trims 0\n"
			     "disk special0 device x reads 1 writes 3 flushes 1 trims 0\n"
			     "disk cache0 device x reads 1 writes 90 flushes 0 trims 0\n"
			     "disk log0 device x reads 0 writes 700 flushes 9 trims 0\n",
			     &n);
	cr_assert_eq(n.log_writes, 700);
	cr_assert_eq(n.data_writes, 45);
	cr_assert_eq(n.data_flushes, 8);
}

Test(vm_cell, a_line_without_the_word_takes_no_number_from_the_next)
{
	struct sl_vm_requests n;

	sl_vm_requests_parse("disk log0 device x\ndisk hdd0 device x writes 5 flushes 1\n", &n);
	cr_assert_eq(n.log_writes, 0);
	cr_assert_eq(n.data_writes, 5);
}

/* A run's state in a folder of its own. */
static char state[64];

static void state_make(void)
{
	(void)snprintf(state, sizeof(state), "/tmp/sl-kept-XXXXXX");
	cr_assert(mkdtemp(state) != NULL);
	cr_assert_eq(setenv("XDG_STATE_HOME", state, 1), 0);
}

static void state_remove(void)
{
	char path[128];
	static const char *const parts[] = {"/sloglab/runs/box.json", "/sloglab/runs", "/sloglab", ""};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", state, parts[i]);
		(void)remove(path);
	}
}

static void kept_one(uint64_t key)
{
	char status[] = "pool: tank\xff", empty[] = "";
	struct sl_vm_sample sample = {.load = {.measure = {.rate = 76.5,
							   .operations = 1000,
							   .elapsed_ns = 13000000000,
							   .mean_ns = 2,
							   .p99_ns = 5,
							   .p999_ns = 6,
							   .max_ns = 7},
					       .warning = "saturated"},
				      .evidence = {.zpool_status = status,
						   .zpool_iostat = empty,
						   .zil = empty,
						   .disks = empty,
						   .log_writes = 1234,
						   .guest_busy = 0.5}};
	struct sl_vm_costs costs = {.oltp_ns = 2e7, .sync_ns = 3e6};
	struct sl_vm_kept kept;
	struct sl_err err = {0};

	cr_assert_eq(sl_vm_kept_open("box", key, false, &kept, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_vm_kept_costs_set(&kept, &costs, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_vm_kept_add(&kept, "slog", "oltp2", 1, &sample, &err), 0, "%s", err.msg);
	sl_vm_kept_close(&kept);
}

static bool kept_has(uint64_t key, bool fresh, int repeat, struct sl_vm_sample *ret)
{
	struct sl_vm_kept kept;
	struct sl_err err = {0};
	bool found;

	cr_assert_eq(sl_vm_kept_open("box", key, fresh, &kept, &err), 0, "%s", err.msg);
	found = sl_vm_kept_find(&kept, "slog", "oltp2", repeat, ret);
	sl_vm_kept_close(&kept);
	return found;
}

Test(vm_kept, an_unfinished_run_goes_on_behind_what_it_measured, .init = state_make, .fini = state_remove)
{
	struct sl_vm_sample sample;

	kept_one(7);
	cr_assert(kept_has(7, false, 1, &sample));
	cr_assert_float_eq(sample.load.measure.rate, 76.5, 1e-6);
	cr_assert_eq(sample.load.measure.operations, 1000);
	cr_assert_eq(sample.load.measure.mean_ns, 2);
	cr_assert_eq(sample.load.measure.p99_ns, 5);
	cr_assert_eq(sample.load.measure.p999_ns, 6);
	cr_assert_eq(sample.load.measure.max_ns, 7);
	cr_assert_str_eq(sample.load.warning, "saturated");
	cr_assert_str_eq(sample.evidence.zpool_status, "pool: tank?");
	cr_assert_eq(sample.evidence.log_writes, 1234);
	sl_vm_sample_fini(&sample);
	cr_assert(!kept_has(7, false, 0, &sample), "another repeat was never measured");
}

Test(vm_kept, other_settings_and_fresh_forget_it, .init = state_make, .fini = state_remove)
{
	struct sl_vm_sample sample;

	kept_one(7);
	cr_assert(!kept_has(8, false, 1, &sample));
	cr_assert(!kept_has(7, true, 1, &sample));
}

Test(vm_kept, a_broken_file_counts_as_nothing, .init = state_make, .fini = state_remove)
{
	struct sl_vm_sample sample;
	char path[128];
	FILE *file;

	kept_one(7);
	(void)snprintf(path, sizeof(path), "%s/sloglab/runs/box.json", state);
	file = fopen(path, "we");
	cr_assert(file != NULL);
	cr_assert_geq(fputs("{\"key\": \"0000000000000007\", \"cells\": 3", file), 0);
	cr_assert_eq(fclose(file), 0);
	cr_assert(!kept_has(7, false, 1, &sample));
}

static void b3n_box(struct sl_box *box)
{
	struct sl_scenario *sc;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/b3n-2014.yaml", SL_SOURCE_DIR "/sim/scenario",
				      &sc, &err),
		     0, "%s", err.msg);
	cr_assert_eq(sl_scenario_box(sc, 0, box, &err), 0);
	sl_scenario_free(sc);
}

static bool says(const struct sl_result *result, const char *words)
{
	for (int i = 0; i < result->n_substitutions; i++) {
		if (strstr(result->substitutions[i], words)) {
			return true;
		}
	}
	return false;
}

Test(vm_lab, the_model_beside_it_has_the_labs_software_and_cpus)
{
	struct sl_result result = {0};
	struct sl_box box, before;
	struct sl_vm_lab lab = {.zfs = "2.1.11-1+deb12u1", .dilate = 4};

	b3n_box(&box);
	before = box;
	lab.guest_factor = 8;
	lab.storage_factor = 12;
	sl_vm_lab_box(&lab, &box, &result);
	cr_expect_eq(box.hypervisor, SL_HYP_QEMU);
	cr_expect_eq(box.client, SL_CLIENT_LIBNFS);
	cr_expect_eq(box.zil, SL_ZFS_21);
	cr_expect_eq(box.encryption, SL_ENCRYPT_NONE);
	cr_expect_eq(box.guest_vcpus, 1);
	/* 8 and 12 times as slow on the wall are 2 and 3 times where a second takes four. */
	cr_expect_float_eq(box.guest_oltp_cpu_ns, 2 * before.guest_oltp_cpu_ns, 1);
	cr_expect_float_eq(box.zil_commit_cpu_ns, 3 * before.zil_commit_cpu_ns, 1);
	cr_expect_float_eq(box.nfsd_byte_bps, before.nfsd_byte_bps / 3, 1);
	cr_expect_eq(box.txg_timeout_ns, before.txg_timeout_ns);
	cr_assert(result.n_substitutions >= 6, "%d", result.n_substitutions);
}

/* What nobody measures in the lab is not passed over in silence. */
Test(vm_lab, the_way_between_the_machines_is_said_to_be_the_scenarios)
{
	const struct sl_vm_lab lab = {.zfs = "2.1.11", .dilate = 1};
	struct sl_result result = {0};
	struct sl_box box, before;

	b3n_box(&box);
	box.hyp_op_delay_ns = 60e3;
	box.link_bps = 1250e6;
	before = box;
	sl_vm_lab_box(&lab, &box, &result);
	cr_expect_eq(box.hyp_op_delay_ns, before.hyp_op_delay_ns);
	cr_expect_eq(box.link_bps, before.link_bps);
	cr_expect(says(&result, "assumed: the lab's NFS client and link are as the scenario's; "
				"params.hyp.op_delay = 60us, params.link.rate = 1250MB/s"));
}

Test(measured, a_busy_cpu_is_one_line_for_all_repeats)
{
	static const double shares[] = {0.95, 0.4, 0.991};
	struct sl_measured_busy busy = {0};
	struct sl_cell cell = {.n_samples = 3}, one = {.n_samples = 1}, idle = {.n_samples = 3};

	sl_measured_warn_busy(&idle, "the guest's", &busy);
	cr_expect_str_eq(idle.warning, "");
	sl_measured_busy_add(&busy, shares[0]);
	sl_measured_warn_busy(&one, "the guest's", &busy);
	cr_expect_str_eq(one.warning,
			 "the guest's CPU was busy for 95 % of the time: it set the rate, not the "
			 "modelled disks");
	sl_measured_busy_add(&busy, shares[1]);
	sl_measured_busy_add(&busy, shares[2]);
	sl_measured_warn_busy(&cell, "the guest's", &busy);
	cr_expect_str_eq(cell.warning,
			 "the guest's CPU was busy in 2 of 3 runs, at worst for 99 % of the time: "
			 "it set the rate, not the modelled disks");
}

static bool always(void)
{
	return true;
}

/* What was measured is kept then, without a model beside it. */
Test(measured, after_ctrl_c_the_model_runs_no_more)
{
	const struct sl_workload load = {.name = "w",
					 .kind = SL_WL_SYNCWRITE,
					 .threads = 1,
					 .depth = 1,
					 .block_bytes = 4096,
					 .max_time_ns = 60e9};
	struct sl_cell cell = {0};
	struct sl_err err = {0};
	struct sl_box box;

	b3n_box(&box);
	cr_assert_eq(sl_measured_model(&(struct sl_measured_load){&box, &load, 1, always}, 3, &cell, &err), 0,
		     "%s", err.msg);
	cr_assert_eq(cell.n_samples, 0);
}

/* A calibrated lab's factor is against what the model itself spends on the same load. */
Test(vm_costs, are_those_of_the_profile_in_the_model)
{
	const struct sl_vm_lab lab = {.zfs = "2.1.11", .dilate = 1};
	struct sl_result result = {0};
	struct sl_vm_costs once, twice;
	struct sl_err err = {0};
	struct sl_box box;

	b3n_box(&box);
	sl_vm_lab_box(&lab, &box, &result);
	cr_assert_eq(sl_vm_costs_model(&box, NULL, &once, &err), 0, "%s", err.msg);
	cr_expect(once.oltp_ns > box.guest_oltp_cpu_ns && once.oltp_ns < 1.5 * box.guest_oltp_cpu_ns, "%g",
		  once.oltp_ns);
	cr_expect(once.sync_ns > 2 * box.nfsd_op_cpu_ns + box.zil_commit_cpu_ns, "%g", once.sync_ns);
	box.guest_oltp_cpu_ns *= 2;
	cr_assert_eq(sl_vm_costs_model(&box, NULL, &twice, &err), 0, "%s", err.msg);
	cr_expect(twice.oltp_ns > 1.7 * once.oltp_ns && twice.oltp_ns < 2.1 * once.oltp_ns, "%g",
		  twice.oltp_ns);
}

Test(vm_lab, openzfs_is_the_labs_version)
{
	const struct sl_vm_lab old = {.zfs = "2.1.11-1+deb12u1", .dilate = 1};
	const struct sl_vm_lab new = {.zfs = "2.3.2-2~bpo12+2", .dilate = 1};
	struct sl_result of_old = {0}, of_new = {0}, same = {0};
	struct sl_box box;

	b3n_box(&box); /* nas.zil: 2014 */
	sl_vm_lab_box(&old, &box, &of_old);
	cr_expect(says(&of_old, "OpenZFS 2.1.11-1+deb12u1; nas.zil = 2.1"));
	cr_expect_eq(box.zil, SL_ZFS_21);
	sl_vm_lab_box(&old, &box, &same);
	cr_expect(!says(&same, "OpenZFS"), "nothing differs");
	sl_vm_lab_box(&new, &box, &of_new);
	cr_expect(says(&of_new, "OpenZFS 2.3.2-2~bpo12+2; nas.zil = 2.3"));
	cr_expect_eq(box.zil, SL_ZFS_23);
}

Test(vm_lab, native_encryption_is_real_and_geli_has_no_counterpart)
{
	const struct sl_vm_lab lab = {.zfs = "2.1.11", .dilate = 1};
	struct sl_result native = {0}, below = {0};
	struct sl_box box;

	b3n_box(&box); /* geli */
	sl_vm_lab_box(&lab, &box, &below);
	cr_expect(says(&below, "GELI has no counterpart on Linux: pool without encryption; "
			       "pool.encryption = none"));
	cr_expect_eq(box.encryption, SL_ENCRYPT_NONE);
	box.encryption = SL_ENCRYPT_ZFS;
	sl_vm_lab_box(&lab, &box, &native);
	cr_expect(!says(&native, "encryption"));
	cr_expect_eq(box.encryption, SL_ENCRYPT_ZFS);
}

/* It runs on the same CPU. */
Test(vm_lab, encryption_is_as_many_times_as_slow_as_the_rest)
{
	const struct sl_vm_lab lab = {.zfs = "2.1.11", .dilate = 1, .guest_factor = 1, .storage_factor = 5};
	struct sl_result result = {0};
	struct sl_box box, before;

	b3n_box(&box);
	before = box;
	sl_vm_lab_box(&lab, &box, &result);
	cr_expect_float_eq(box.zfs_crypt_bps, before.zfs_crypt_bps / 5, 1);
}

Test(vm_lab, the_l2arc_begins_empty)
{
	const struct sl_vm_lab lab = {.zfs = "2.1.11", .dilate = 1};
	struct sl_result without = {0}, with = {0};
	struct sl_box box;

	b3n_box(&box);
	sl_vm_lab_box(&lab, &box, &without);
	cr_expect(!says(&without, "L2ARC"));
	box.n_cache = 1;
	sl_vm_lab_box(&lab, &box, &with);
	cr_expect(says(&with, "params.l2arc.filled = 0"));
	cr_expect_eq(box.l2arc_filled, 0);
}

/* zfs_nocacheflush is for all disks. */
Test(vm_lab, flushes_reach_all_disks_or_none)
{
	const struct sl_vm_lab lab = {.zfs = "2.1.11", .dilate = 1};
	struct sl_result none = {0}, all = {0};
	struct sl_box box;

	b3n_box(&box); /* pool.data.flush, pool.log_flush: ignored */
	cr_assert(!sl_vm_pool_flushes(&box));
	sl_vm_lab_box(&lab, &box, &none);
	cr_assert(!says(&none, "pool.data.flush"));
	cr_assert_eq(box.data_flush, SL_FLUSH_IGNORED);

	box.n_log = 1;
	box.log_flush = SL_FLUSH_HONOURED;
	cr_assert(sl_vm_pool_flushes(&box));
	sl_vm_lab_box(&lab, &box, &all);
	cr_assert(says(&all, "pool.data.flush, pool.log_flush = honoured"));
	cr_assert_eq(box.data_flush, SL_FLUSH_HONOURED);
}

Test(vm_run, quick_adds_single_updates_to_a_scenario_without)
{
	struct sl_scenario *sc;
	struct sl_run_options run = {0};
	struct sl_err err = {0};
	int variants[2], workloads[3];

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/b3n-2014.yaml", SL_SOURCE_DIR "/sim/scenario",
				      &sc, &err),
		     0, "%s", err.msg);
	cr_assert_eq(sl_vm_quick(sc, &run, variants, workloads, &err), 0, "%s", err.msg);
	cr_assert_eq(run.n_variants, 2);
	cr_assert_eq(run.n_workloads, 3);
	cr_assert_str_eq(sl_scenario_workload(sc, workloads[0])->name, "oltp2");
	cr_assert_str_eq(sl_scenario_workload(sc, workloads[1])->name, "rndwr");
	cr_assert_str_eq(sl_scenario_workload(sc, workloads[2])->name, "update_index");
	cr_assert_eq(sl_scenario_workload(sc, workloads[2])->oltp_list, SL_LIST_UPDATE_INDEX);
	sl_scenario_free(sc);
}

/* Real load writes the kind of data that the model takes it to write. */
Test(vm_load, writes_the_data_that_the_workload_says)
{
	static const struct {
		enum sl_workload_kind kind;
		int dialect;
		double data;
		const char *word;
	} rows[] = {{SL_WL_FILEIO, SL_DIALECT_SYSBENCH_04, -1, "--data=zero"},
		    {SL_WL_FILEIO, SL_DIALECT_PLAIN, -1, "--data=random"},
		    {SL_WL_FILEIO, SL_DIALECT_SYSBENCH_04, 1, "--data=random"},
		    {SL_WL_SYNCWRITE, SL_DIALECT_PLAIN, 0, "--data=zero"},
		    {SL_WL_SYNCWRITE, SL_DIALECT_PLAIN, -1, "--data=random"},
		    {SL_WL_SYNCWRITE, SL_DIALECT_PLAIN, 2.5, "--data=2.5x"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sl_workload workload = {.kind = rows[i].kind,
						     .dialect = rows[i].dialect,
						     .data = rows[i].data,
						     .threads = 1,
						     .depth = 1,
						     .files = 1,
						     .block_bytes = 4096,
						     .file_total_bytes = 1e6};
		const struct sl_live_load load = {.bin = "/bin", .url = "nfs://x/y", .workload = &workload};
		char command[8192];

		cr_assert_eq(sl_live_load_shell(&load, "out", command, sizeof(command)), 0);
		cr_expect(strstr(command, rows[i].word), "row %zu: %s", i, command);
	}
}

/* A process of ours and one below it that is called as a machine: both are found, and what a process has
 * waited only grows. */
Test(waits, of_a_lab_are_those_of_its_machines_and_of_the_rest)
{
	struct sl_vm_waits first, then;
	int64_t own_ns;
	pid_t child;
	int hold[2];

	if (sl_runwait_ns(0, &own_ns) < 0 || access("/proc/thread-self/children", R_OK) < 0) {
		cr_skip("this kernel does not count it");
	}
	cr_assert_eq(pipe(hold), 0);
	child = fork();
	if (child == 0) {
		char byte;

		(void)prctl(PR_SET_NAME, "qemu-system-x86");
		close(hold[1]);
		_exit((int)read(hold[0], &byte, 1));
	}
	do {
		(void)poll(NULL, 0, 10);
		sl_vm_waits_below(getpid(), "qemu-system", &first);
	} while (!first.known && kill(child, 0) == 0);
	sl_vm_waits_below(getpid(), "qemu-system", &then);
	cr_expect(then.known);
	cr_expect(then.machines_wall_ns >= first.machines_wall_ns);
	cr_expect(then.server_wall_ns >= own_ns);
	sl_vm_waits_below(getpid(), "no-such-machine", &then);
	cr_expect(!then.known, "a lab without machines");
	close(hold[1]);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	close(hold[0]);
	sl_vm_waits_read("/nonexistent", &then);
	cr_expect(!then.known, "a lab that is not there");
}
