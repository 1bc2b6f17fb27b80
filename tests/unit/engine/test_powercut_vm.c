/* What the machines of a lab say about a power cut, and who answers for what it took. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "engine/powercut_vm.h"

Test(powercut_vm, audit)
{
	struct sl_vm_audit audit;
	struct sl_err err = {0};

	cr_assert_eq(
	    sl_vm_audit_parse("{\"schema\": \"sloglab-audit/1\", \"acknowledged\": 700, \"lost\": 2, "
			      "\"torn\": 1, \"extra\": 0, \"unfinished\": 3, \"first_lost\": 688}",
			      &audit, &err),
	    0, "%s", err.msg);
	cr_assert_eq(audit.acknowledged, 700);
	cr_assert_eq(audit.lost, 2);
	cr_assert_eq(audit.first_lost, 688);
	cr_assert_eq(
	    sl_vm_audit_parse("{\"acknowledged\": 700, \"lost\": 0, \"first_lost\": null}", &audit, &err), 0,
	    "%s", err.msg);
	cr_assert_eq(audit.lost, 0);
	cr_assert_eq(audit.first_lost, 0);
}

Test(powercut_vm, nonsense_is_no_audit)
{
	static const char *const bad[] = {
	    "",
	    "null",
	    "[]",
	    "{}",
	    "{\"acknowledged\": 700}",
	    "{\"acknowledged\": 700, \"lost\": -1}",
	    "{\"acknowledged\": 700, \"lost\": \"0\"}",
	    "{\"acknowledged\": 700, \"lost\": 1, \"first_lost\": null}",
	    "{\"acknowledged\": 700, \"lost\": 701, \"first_lost\": 0}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sl_vm_audit audit;
		struct sl_err err = {0};

		cr_assert_eq(sl_vm_audit_parse(bad[i], &audit, &err), -EPROTO, "%s", bad[i]);
		cr_assert(strncmp(err.msg, "guest VM: ", 10) == 0, "%s", err.msg);
	}
}

Test(powercut_vm, txgs)
{
	static const char txgs[] =
	    "19 0 0x01 4 448 1290387 68001\n"
	    "txg      birth            state ndirty       nread        nwritten     reads    writes   otime\n"
	    "58       29000            C     8192         0            16384        0        4        5000\n"
	    "59       34000            C     8192         0            16384        0        4        5000\n"
	    "60       39000            S     0            0            0            0        0        5000\n"
	    "61       44000            O     0            0            0            0        0        0\n";
	static const char messages[] =
	    "1790 spa.c:1:spa_load(): spa_load($import, config trusted): using uberblock with txg=57\n"
	    "1791 spa.c:1:spa_load(): spa_load(tank, config trusted): using uberblock with txg=59\n"
	    "1792 spa.c:1:spa_load(): spa_load(tank, config trusted): LOADED\n";

	cr_assert_eq(sl_vm_txg_committed(txgs), 59);
	cr_assert_eq(sl_vm_txg_committed(""), 0);
	cr_assert_eq(sl_vm_txg_committed("C C C\n60 C\n61\n"), 0);
	cr_assert_eq(sl_vm_txg_imported(messages), 59);
	cr_assert_eq(sl_vm_txg_imported("nothing of the kind\n"), 0);
	cr_assert_eq(sl_vm_txg_imported("using uberblock with txg="), 0);
}

/* 20 s of load at 10 records a second. */
static struct sl_vm_cut cut_losing(int64_t before, int64_t after)
{
	return (struct sl_vm_cut){.load_s = 20,
				  .silent_s = 50,
				  .end_s = 75,
				  .committed_txg = 60,
				  .imported_txg = 60,
				  .before = {.acknowledged = 200, .lost = before, .first_lost = 200 - before},
				  .all = {.acknowledged = 230, .lost = before + after}};
}

/* A mirror of two disks with a cache, and a log device that keeps what it has. */
static void box_make(struct sl_box *box)
{
	*box = (struct sl_box){.sync = SL_SYNC_STANDARD,
			       .data_flush = SL_FLUSH_HONOURED,
			       .log_flush = SL_FLUSH_HONOURED,
			       .n_data = 2,
			       .n_log = 1};
	for (int i = 0; i < 2; i++) {
		box->data[i] = (struct sl_dev_spec){.kind = SL_DEV_HDD,
						    .name = "hdd",
						    .write_cache = 1,
						    .cache_bytes = 1 << 20,
						    .flush_honoured = 1};
	}
	box->log[0] =
	    (struct sl_dev_spec){.kind = SL_DEV_SSD, .name = "ssd", .plp = 1, .buffer_bytes = 1 << 20};
}

static void expect(const struct sl_vm_cut *cut, const struct sl_box *box, enum sl_cause cause,
		   const char *why)
{
	struct sl_verdict verdict = {0};

	sl_vm_cut_judge(cut, box, &verdict);
	cr_assert_eq(verdict.worst.cause, cause, "%s, not %s", sl_cause_name(verdict.worst.cause),
		     sl_cause_name(cause));
	cr_assert(strstr(verdict.why, why), "%s", verdict.why);
	cr_assert_eq(verdict.causes[cause], cause != SL_CAUSE_NONE);
	cr_assert_eq(verdict.lossy, cause != SL_CAUSE_NONE);
}

Test(powercut_vm, nothing_lost)
{
	const struct sl_vm_cut cut = cut_losing(0, 0);
	struct sl_verdict verdict = {0};
	struct sl_box box;

	box_make(&box);
	expect(&cut, &box, SL_CAUSE_NONE, "nobody lied");
	sl_vm_cut_judge(&cut, &box, &verdict);
	cr_assert_eq(verdict.client, SL_CLIENT_LIBNFS);
	cr_assert_eq(verdict.n_cuts, 1);
	cr_assert_eq(verdict.acknowledged, 230);
	cr_assert_eq(verdict.worst.acknowledged, 200);
	cr_assert_eq(verdict.rate, 10);
	cr_assert_eq(verdict.worst.at_ns, 20000000000);
	cr_assert_eq(verdict.longest_answer_ns, 50000000000);
}

Test(powercut_vm, lost_of_the_promised)
{
	struct sl_vm_cut cut = cut_losing(40, 0);
	struct sl_verdict verdict = {0};
	struct sl_box box;

	cut.imported_txg = 58;
	box_make(&box);
	box.sync = SL_SYNC_DISABLED;
	sl_vm_cut_judge(&cut, &box, &verdict);
	cr_assert_eq(verdict.worst.lost, 40);
	cr_assert_eq(verdict.worst.lost_bytes, 40 * 4096);
	cr_assert_eq(verdict.window_ns, 4000000000);
	cr_assert_eq(verdict.worst.imported.believed - verdict.worst.imported.txg, 2);
}

/* Acknowledged before the cut: the box had promised it. */
Test(powercut_vm, the_pool_answers)
{
	const struct sl_vm_cut cut = cut_losing(40, 0);
	struct sl_box box;

	box_make(&box);
	expect(&cut, &box, SL_CAUSE_UNEXPLAINED, "unexplained");
	box.data[1].flush_honoured = 0;
	expect(&cut, &box, SL_CAUSE_LIAR, "hdd acknowledged a flush that it did not do");
	box.log[0] = (struct sl_dev_spec){.kind = SL_DEV_NVRAM, .name = "ramdisk"};
	expect(&cut, &box, SL_CAUSE_MEMORY, "ramdisk is volatile memory");
	box.sync = SL_SYNC_DISABLED;
	expect(&cut, &box, SL_CAUSE_DISABLED, "sync=disabled");
	box.disk_cache = SL_CACHE_UNSAFE;
	expect(&cut, &box, SL_CAUSE_DISK_CACHE, "guests.disk_cache: unsafe");
}

/* The lab's ZFS flushes all disks or none. */
Test(powercut_vm, flushes_that_end_before_the_disks)
{
	const struct sl_vm_cut cut = cut_losing(40, 0);
	struct sl_box box;

	box_make(&box);
	box.data_flush = SL_FLUSH_IGNORED;
	expect(&cut, &box, SL_CAUSE_UNEXPLAINED, "unexplained");
	box.log_flush = SL_FLUSH_IGNORED;
	expect(&cut, &box, SL_CAUSE_UNREACHED, "hdd kept it in its volatile cache");
	box.log[0].plp = 0;
	expect(&cut, &box, SL_CAUSE_UNREACHED, "ssd kept it in its volatile cache");
}

/* Acknowledged after the return: the new server's COMMIT, for what the old one had in memory. */
Test(powercut_vm, the_client_answers)
{
	struct sl_vm_cut cut = cut_losing(0, 1);
	struct sl_verdict verdict = {0};
	struct sl_box box;

	box_make(&box);
	expect(&cut, &box, SL_CAUSE_CLIENT, "libnfs does not compare the write verifier");
	sl_vm_cut_judge(&cut, &box, &verdict);
	cr_assert_eq(verdict.window_ns, 0);
	cut = cut_losing(40, 2);
	box.sync = SL_SYNC_DISABLED;
	expect(&cut, &box, SL_CAUSE_DISABLED, "2 of them by QEMU's NFS client");
}

Test(powercut_vm, a_pool_that_does_not_come_back)
{
	struct sl_vm_cut cut = cut_losing(200, 0);
	struct sl_verdict verdict = {0};
	struct sl_box box;

	cut.silent_s = -1;
	cut.imported_txg = 0;
	cut.all = cut.before;
	box_make(&box);
	box.data[0].flush_honoured = 0;
	expect(&cut, &box, SL_CAUSE_LIAR, "hdd acknowledged a flush");
	sl_vm_cut_judge(&cut, &box, &verdict);
	cr_assert_eq(verdict.longest_answer_ns, SL_NEVER);
	cr_assert_eq(verdict.worst.lost, 200);
	cr_assert_eq(verdict.acknowledged, 200);
}
