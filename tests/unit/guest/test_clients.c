/* Whole programs in the guest: when they stop, what they count, what they ask of the server. */
#include "sim/guest/client.h"
#include "tests/unit/guest/lib.h"

struct rig {
	struct guest *guest;
	struct sl_box box;
	struct sl_workload workload;
	struct sl_client *client;
};

static struct rig *rig_new(int client)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	cr_assert_not_null(rig);
	rig->guest = guest_new(client, 1, MIB);
	rig->guest->server.notes = NULL;
	rig->box = (struct sl_box){.guest_tick_ns = (double)TICK,
				   .guest_memory_bytes = 1e9,
				   .guest_cache_share = 0.5,
				   .redo_bytes = 1000,
				   .row_bytes = 225,
				   .log_size_bytes = 1e8,
				   .buffer_pool_bytes = 1e8,
				   .flush_log_at_commit = 1,
				   .io_capacity = 200};
	rig->workload = (struct sl_workload){.threads = 1,
					     .depth = 1,
					     .max_requests = 10000,
					     .rows = 10000,
					     .files = 128,
					     .file_total_bytes = 1e9,
					     .block_bytes = 16384,
					     .fsync_every = 100,
					     .mode = SL_MODE_RNDWR};
	return rig;
}

/* Runs the program to its end. */
static struct sl_client_report run_client(struct rig *rig,
					  struct sl_client *(*make)(const struct sl_client_env *env))
{
	struct sl_client_env env = {.loop = rig->guest->loop,
				    .cpu = &rig->guest->cpu,
				    .hyp = &rig->guest->hyp,
				    .box = &rig->box,
				    .workload = &rig->workload,
				    .seed = 1};

	rig->client = make(&env);
	cr_assert_not_null(rig->client);
	rig->client->ops->start(rig->client);
	run_all(rig->guest->loop);
	return rig->client->report;
}

static void rig_free(struct rig *rig)
{
	sl_client_free(rig->client);
	guest_free(rig->guest);
	free(rig);
}

Test(clients, syncwrite_waits_for_each_file_sync_write)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS);
	struct sl_client_report report;

	rig->workload.max_requests = 50;
	rig->guest->server.notes = &rig->guest->notes;
	report = run_client(rig, sl_syncwrite_client_new);
	cr_assert_eq(report.operations, 50);
	cr_assert_eq(report.elapsed_ns, 50 * MS);
	cr_assert_eq(notes_count(&rig->guest->notes, "WRITE FILE_SYNC 16K"), 50);
	cr_assert_eq(sl_hist_quantile(&report.latency, 1), MS);
	rig_free(rig);
}

Test(clients, syncwrite_as_qemu_does_it_commits_each_write)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS);
	struct sl_client_report report;

	rig->workload.max_requests = 3;
	rig->workload.stable = SL_WRITE_UNSTABLE_COMMIT;
	rig->guest->server.notes = &rig->guest->notes;
	report = run_client(rig, sl_syncwrite_client_new);
	cr_assert_eq(report.elapsed_ns, 6 * MS);
	notes_expect(&rig->guest->notes, "[0ms] WRITE UNSTABLE 16K\n"
					 "[1ms] COMMIT\n"
					 "[2ms] WRITE UNSTABLE 16K\n"
					 "[3ms] COMMIT\n"
					 "[4ms] WRITE UNSTABLE 16K\n"
					 "[5ms] COMMIT\n");
	rig_free(rig);
}

Test(clients, threads_and_depth_multiply_the_requests_in_flight)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS);

	rig->workload.max_requests = 0;
	rig->workload.max_time_ns = (double)(10 * MS);
	rig->workload.threads = 2;
	rig->workload.depth = 4;
	/* The run ends with the first reply that finds the time over: one of the eight of the tenth
	 * millisecond. */
	cr_assert_eq(run_client(rig, sl_syncwrite_client_new).operations, 9 * 8 + 1);
	rig_free(rig);
}

Test(clients, fileio_counts_requests_not_syncs_and_stops_at_the_limit)
{
	struct rig *rig = rig_new(SL_CLIENT_ESXI);
	struct sl_client_report report;

	rig->workload.max_requests = 1000;
	report = run_client(rig, sl_fileio_client_new);
	cr_assert_eq(report.operations, 1000);
	/* Ten rounds; a file written is at least one write, the first of a round two more for the journal. */
	cr_assert(rig->guest->server.calls > 10 * (60 + 2) && rig->guest->server.calls <= 10 * (100 + 2),
		  "%d", rig->guest->server.calls);
	rig_free(rig);
}

Test(clients, fileio_on_qemu_pays_a_commit_for_every_file_that_was_written)
{
	struct rig *esxi = rig_new(SL_CLIENT_ESXI), *qemu = rig_new(SL_CLIENT_LIBNFS);
	int commits;

	esxi->workload.max_requests = qemu->workload.max_requests = 100;
	run_client(esxi, sl_fileio_client_new);
	run_client(qemu, sl_fileio_client_new);
	/* 100 writes meet about 128 (1 - e^(-100 / 128)) = 69 of the files; QEMU drops the flush of the
	 * others. The first fsync has two, around the journal's record. */
	commits = qemu->guest->server.calls - esxi->guest->server.calls;
	cr_assert(commits > 60 && commits < 80, "%d", commits);
	rig_free(esxi);
	rig_free(qemu);
}

Test(clients, fileio_reads_wait_for_the_server_unless_the_page_cache_has_them)
{
	struct rig *half = rig_new(SL_CLIENT_ESXI), *all = rig_new(SL_CLIENT_ESXI);

	half->workload.mode = all->workload.mode = SL_MODE_RNDRD;
	all->workload.file_total_bytes = 400e6;
	run_client(half, sl_fileio_client_new);
	run_client(all, sl_fileio_client_new);
	cr_assert(abs(half->guest->server.calls - 5000) < 200, "%d", half->guest->server.calls);
	cr_assert_eq(all->guest->server.calls, 0);
	rig_free(half);
	rig_free(all);
}

Test(clients, fileio_looks_at_the_clock_between_requests)
{
	struct rig *rig = rig_new(SL_CLIENT_ESXI);
	struct sl_client_report report;

	rig->workload.max_requests = 0;
	rig->workload.max_time_ns = (double)SEC;
	rig->box.guest_file_cpu_ns = (double)MS;
	report = run_client(rig, sl_fileio_client_new);
	cr_assert(report.elapsed_ns >= SEC && report.elapsed_ns < SEC + 5 * MS, "%lld",
		  (long long)report.elapsed_ns);
	rig_free(rig);
}

Test(clients, oltp_commits_each_transaction_and_stops_at_the_limit)
{
	struct rig *rig = rig_new(SL_CLIENT_ESXI);
	struct sl_client_report report;

	rig->workload.max_requests = 100;
	rig->box.guest_oltp_cpu_ns = (double)(10 * MS);
	report = run_client(rig, sl_oltp_client_new);
	cr_assert_eq(report.operations, 100);
	/* 10 ms of CPU and a log sync of three round trips, each in a new tick of the clock. */
	cr_assert_eq(report.elapsed_ns, 100 * 13 * MS);
	cr_assert_eq(rig->guest->server.calls, 300);
	rig_free(rig);
}

Test(clients, oltp_threads_share_log_syncs)
{
	struct rig *rig = rig_new(SL_CLIENT_ESXI);
	struct sl_client_report report;

	rig->workload.max_requests = 800;
	rig->workload.threads = 8;
	rig->box.guest_cpu_cv = 0.2;
	rig->box.guest_oltp_cpu_ns = (double)MS;
	report = run_client(rig, sl_oltp_client_new);
	cr_assert_eq(report.operations, 800);
	cr_assert(rig->guest->server.calls < 3 * 800 / 2, "%d", rig->guest->server.calls);
	rig_free(rig);
}

Test(clients, fileio_that_costs_nothing_ends_all_the_same)
{
	static const int modes[] = {SL_MODE_RNDWR, SL_MODE_RNDRD, SL_MODE_RNDRW};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct rig *rig = rig_new(SL_HYP_ESXI);
		struct sl_client_report report;

		rig->workload.mode = modes[i];
		rig->workload.file_total_bytes = 100e6; /* all of it in memory, and no CPU either */
		rig->workload.fsync_every = 0;
		rig->workload.max_requests = 0;
		rig->workload.max_time_ns = (double)SEC;
		report = run_client(rig, sl_fileio_client_new);
		cr_assert(report.operations > 0);
		cr_assert_eq(report.elapsed_ns, 0);
		rig_free(rig);
	}
}
