/* What the hypervisors' NFS clients make of a guest's disk requests. */
#include "sim/hyp/hyp.h"
#include "tests/lib/notes.h"

struct rig {
	struct sl_loop *loop;
	struct notes notes;
	struct fake_store server;
	struct sl_wire wire;
	struct sl_hyp hyp;
};

/* A server that takes 1 ms, 0.1 ms on the way there and back, and a link without limits. */
static struct rig *rig_new(int client, int disk_cache)
{
	struct sl_box box = {.client = client,
			     .disk_cache = disk_cache,
			     .nic = SL_NIC_VIRTIO,
			     .link_bps = 1e15,
			     .nic_mtu_bytes = 1500,
			     .nas_memory_bytes = 8e9,
			     .hyp_max_io_bytes = MIB,
			     .hyp_op_delay_ns = 200e3};
	struct rig *rig = calloc(1, sizeof(*rig));

	cr_assert_not_null(rig);
	rig->loop = sl_loop_new_virtual();
	fake_store_init(&rig->server, rig->loop, &rig->notes, MS);
	sl_wire_init(&rig->wire, &box);
	sl_hyp_init(&rig->hyp, &box, rig->loop, &rig->wire, &rig->server.store, NULL);
	return rig;
}

static void rig_free(struct rig *rig)
{
	sl_hyp_fini(&rig->hyp);
	sl_loop_free(rig->loop);
	free(rig);
}

struct request {
	struct sl_hyp_req req;
	struct notes *notes;
};

static void request_done(struct sl_timer *timer, int64_t now_ns)
{
	static const char *const names[] = {"read", "write", "flush"};
	struct request *request = sl_container_of(timer, struct request, req.done);

	notes_add(request->notes, now_ns, "guest's %s done", names[request->req.op]);
}

static void run_request(struct rig *rig, enum sl_hyp_op op, uint32_t bytes)
{
	struct request request = {.req = {.done.fire = request_done, .op = op, .bytes = bytes},
				  .notes = &rig->notes};

	sl_hyp_submit(&rig->hyp, sl_loop_now(rig->loop), &request.req);
	run_all(rig->loop);
}

Test(hyp, esxi_writes_file_sync_and_offers_no_cache_to_flush)
{
	struct rig *rig = rig_new(SL_CLIENT_ESXI, SL_CACHE_NONE);

	cr_assert(!sl_hyp_has_flush(&rig->hyp));
	run_request(rig, SL_HYP_WRITE, 16384);
	run_request(rig, SL_HYP_READ, 4096);
	notes_expect(&rig->notes, "[0.1ms] WRITE FILE_SYNC 16K\n"
				  "[1.2ms] guest's write done\n"
				  "[1.3ms] READ 4K\n"
				  "[2.4ms] guest's read done\n");
	cr_assert_eq(rig->hyp.n_calls, 2);
	rig_free(rig);
}

Test(hyp, qemu_writes_unstable_and_commits_when_the_guest_flushes)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS, SL_CACHE_NONE);

	cr_assert(sl_hyp_has_flush(&rig->hyp));
	run_request(rig, SL_HYP_WRITE, 16384);
	run_request(rig, SL_HYP_FLUSH, 0);
	notes_expect(&rig->notes, "[0.1ms] WRITE UNSTABLE 16K\n"
				  "[1.2ms] guest's write done\n"
				  "[1.3ms] COMMIT\n"
				  "[2.4ms] guest's flush done\n");
	rig_free(rig);
}

Test(hyp, qemu_with_writethrough_commits_after_each_write)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS, SL_CACHE_WRITETHROUGH);

	run_request(rig, SL_HYP_WRITE, 4096);
	run_request(rig, SL_HYP_READ, 4096);
	notes_expect(&rig->notes, "[0.1ms] WRITE UNSTABLE 4K\n"
				  "[1.3ms] COMMIT\n"
				  "[2.4ms] guest's write done\n"
				  "[2.5ms] READ 4K\n"
				  "[3.6ms] guest's read done\n");
	rig_free(rig);
}

/* fs/nfs/pagelist.c: a write of O_DIRECT that one WRITE takes is FILE_SYNC; nothing is left to commit. */
Test(hyp, linux_writes_file_sync_what_one_write_takes)
{
	struct rig *rig = rig_new(SL_CLIENT_LINUX, SL_CACHE_NONE);

	cr_assert(sl_hyp_has_flush(&rig->hyp), "the guest's disk has a cache to flush, as with libnfs");
	run_request(rig, SL_HYP_WRITE, 16384);
	run_request(rig, SL_HYP_FLUSH, 0);
	notes_expect(&rig->notes, "[0.1ms] WRITE FILE_SYNC 16K\n"
				  "[1.2ms] guest's write done\n"
				  "[1.2ms] guest's flush done\n");
	rig_free(rig);
}

/* fs/nfs/direct.c: parts at once, UNSTABLE; the write returns after their COMMIT. Reads need no such thing.
 */
Test(hyp, linux_commits_a_larger_write_before_it_returns)
{
	struct rig *rig = rig_new(SL_CLIENT_LINUX, SL_CACHE_NONE);

	rig->hyp.wsize_bytes = rig->hyp.rsize_bytes = 262144;
	run_request(rig, SL_HYP_WRITE, 600000);
	run_request(rig, SL_HYP_FLUSH, 0);
	run_request(rig, SL_HYP_READ, 524288);
	notes_expect(&rig->notes, "[0.1ms] WRITE UNSTABLE 256K\n"
				  "[0.1ms] WRITE UNSTABLE 256K\n"
				  "[0.1ms] WRITE UNSTABLE 75712B\n"
				  "[1.3ms] COMMIT\n"
				  "[2.4ms] guest's write done\n"
				  "[2.4ms] guest's flush done\n"
				  "[2.5ms] READ 256K\n"
				  "[2.5ms] READ 256K\n"
				  "[3.6ms] guest's read done\n");
	rig_free(rig);
}

Test(hyp, esxi_and_libnfs_send_the_parts_of_a_request_at_once)
{
	struct rig *esxi = rig_new(SL_CLIENT_ESXI, SL_CACHE_NONE);
	struct rig *libnfs = rig_new(SL_CLIENT_LIBNFS, SL_CACHE_NONE);

	run_request(esxi, SL_HYP_WRITE, 131072);
	notes_expect(&esxi->notes, "[0.1ms] WRITE FILE_SYNC 64K\n"
				   "[0.1ms] WRITE FILE_SYNC 64K\n"
				   "[1.2ms] guest's write done\n");
	rig_free(esxi);
	libnfs->hyp.wsize_bytes = 65536;
	run_request(libnfs, SL_HYP_WRITE, 131072);
	run_request(libnfs, SL_HYP_FLUSH, 0);
	notes_expect(&libnfs->notes, "[0.1ms] WRITE UNSTABLE 64K\n"
				     "[0.1ms] WRITE UNSTABLE 64K\n"
				     "[1.2ms] guest's write done\n"
				     "[1.3ms] COMMIT\n"
				     "[2.4ms] guest's flush done\n");
	rig_free(libnfs);
}

static void write_three(struct rig *rig)
{
	struct request requests[3];

	for (int i = 0; i < 3; i++) {
		requests[i] =
		    (struct request){.req = {.done.fire = request_done, .op = SL_HYP_WRITE, .bytes = 4096},
				     .notes = &rig->notes};
		sl_hyp_submit(&rig->hyp, 0, &requests[i].req);
	}
	run_all(rig->loop);
}

/* Through the host's page cache: one fdatasync at a time. The first finds one dirty range: FILE_SYNC. The two
 * that wait for it go out together: more than one WRITE, so UNSTABLE and a COMMIT for both. */
Test(hyp, linux_with_writethrough_syncs_what_has_gathered)
{
	struct rig *rig = rig_new(SL_CLIENT_LINUX, SL_CACHE_WRITETHROUGH);

	cr_assert_not(sl_hyp_has_flush(&rig->hyp), "QEMU flushes after each write, the guest does not");
	write_three(rig);
	notes_expect(&rig->notes, "[0.1ms] WRITE FILE_SYNC 4K\n"
				  "[1.2ms] guest's write done\n"
				  "[1.3ms] WRITE UNSTABLE 4K\n"
				  "[1.3ms] WRITE UNSTABLE 4K\n"
				  "[2.5ms] COMMIT\n"
				  "[3.6ms] guest's write done\n"
				  "[3.6ms] guest's write done\n");
	rig_free(rig);
}

/* libnfs: the WRITEs are side by side; the first COMMIT was sent before the others' replies were counted, the
 * second covers both (QEMU's block/io.c). */
Test(hyp, qemu_with_writethrough_merges_the_flushes_of_writes)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS, SL_CACHE_WRITETHROUGH);

	cr_assert_not(sl_hyp_has_flush(&rig->hyp));
	write_three(rig);
	notes_expect(&rig->notes, "[0.1ms] WRITE UNSTABLE 4K\n"
				  "[0.1ms] WRITE UNSTABLE 4K\n"
				  "[0.1ms] WRITE UNSTABLE 4K\n"
				  "[1.3ms] COMMIT\n"
				  "[2.4ms] guest's write done\n"
				  "[2.5ms] COMMIT\n"
				  "[3.6ms] guest's write done\n"
				  "[3.6ms] guest's write done\n");
	rig_free(rig);
}

Test(hyp, qemu_with_unsafe_answers_flushes_and_sends_none)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS, SL_CACHE_UNSAFE);

	cr_assert(sl_hyp_has_flush(&rig->hyp), "the guest sees a cache");
	run_request(rig, SL_HYP_WRITE, 4096);
	run_request(rig, SL_HYP_FLUSH, 0);
	notes_expect(&rig->notes, "[0.1ms] WRITE UNSTABLE 4K\n"
				  "[1.2ms] guest's write done\n"
				  "[1.2ms] guest's flush done\n");
	rig_free(rig);
}

Test(hyp, a_message_carries_its_data_in_one_direction)
{
	struct rig *rig = rig_new(SL_CLIENT_ESXI, SL_CACHE_NONE);

	rig->wire.link_bps = 1e6; /* a byte a microsecond: 200 bytes of header each way */
	run_request(rig, SL_HYP_WRITE, 1000);
	run_request(rig, SL_HYP_READ, 2000);
	notes_expect(&rig->notes, "[1.3ms] WRITE FILE_SYNC 1000B\n"
				  "[2.6ms] guest's write done\n"
				  "[2.9ms] READ 2000B\n"
				  "[6.2ms] guest's read done\n");
	rig_free(rig);
}

struct program {
	struct sl_store_req call;
	struct notes *notes;
};

static void program_done(struct sl_timer *timer, int64_t now_ns)
{
	struct program *program = sl_container_of(timer, struct program, call.done);

	notes_add(program->notes, now_ns, "program's call done, stable %d", (int)program->call.stable);
}

Test(hyp, a_program_that_speaks_nfs_takes_the_same_way_with_its_own_call)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS, SL_CACHE_WRITETHROUGH);
	struct program program = {.call = {.done.fire = program_done,
					   .op = SL_STORE_WRITE,
					   .stable = SL_FILE_SYNC,
					   .bytes = 4096,
					   .file = 2},
				  .notes = &rig->notes};

	sl_hyp_call(&rig->hyp, 0, &program.call, 0);
	run_all(rig->loop);
	notes_expect(&rig->notes, "[0.1ms] WRITE FILE_SYNC 4K\n"
				  "[1.2ms] program's call done, stable 2\n");
	rig_free(rig);
}

/* 4 MiB at 10 GbE of 1.25 GB/s, server and way as above: 1 ms and 0.2 ms. One after the other each MiB takes
 * 0.2 + 0.839 + 1 ms (1048776 bytes are 839.02 us), 8.16 ms in all; at once they share the wire only:
 * 0.2 + 4 x 0.839 + 1 = 4.56 ms: 1.79 times as fast. */
Test(hyp, a_large_block_goes_out_in_parallel_parts_and_is_promised_with_the_last)
{
	struct rig *rig = rig_new(SL_CLIENT_LINUX, SL_CACHE_NONE);
	struct program program = {.call = {.done.fire = program_done,
					   .op = SL_STORE_WRITE,
					   .stable = SL_FILE_SYNC,
					   .bytes = 4 * MIB,
					   .file = 2},
				  .notes = &rig->notes};
	struct sl_ledger ledger;
	uint32_t group;

	sl_ledger_init(&ledger, 100);
	rig->hyp.ledger = &ledger;
	rig->wire.link_bps = 1.25e9;
	group = sl_ledger_group(&ledger);
	sl_hyp_call(&rig->hyp, 0, &program.call, group);
	run_all(rig->loop);
	cr_assert_eq(notes_count(&rig->notes, "WRITE FILE_SYNC 1024K"), 4, "%s", rig->notes.text);
	cr_assert_float_eq((double)sl_loop_now(rig->loop), 4.556e6, 0.01e6);
	cr_assert_eq(ledger.n_sent, 4);
	sl_ledger_promise(&ledger, sl_loop_now(rig->loop), group);
	for (uint32_t i = 0; i < 4; i++) {
		cr_assert_eq(sl_ledger_at(&ledger, i + 1)->bytes, MIB);
		cr_assert_eq(sl_ledger_at(&ledger, i + 1)->promised_ns, sl_loop_now(rig->loop), "part %u", i);
	}
	sl_ledger_fini(&ledger);
	rig_free(rig);
}

Test(hyp, a_virtual_disk_with_a_queue_of_one_takes_one_request_after_the_other)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS, SL_CACHE_NONE);
	struct request requests[3];

	rig->hyp.queue = 1;
	for (int i = 0; i < 3; i++) {
		requests[i] =
		    (struct request){.req = {.done.fire = request_done, .op = SL_HYP_WRITE, .bytes = 4096},
				     .notes = &rig->notes};
		sl_hyp_submit(&rig->hyp, 0, &requests[i].req);
	}
	run_all(rig->loop);
	notes_expect(&rig->notes, "[0.1ms] WRITE UNSTABLE 4K\n"
				  "[1.2ms] guest's write done\n"
				  "[1.3ms] WRITE UNSTABLE 4K\n"
				  "[2.4ms] guest's write done\n"
				  "[2.5ms] WRITE UNSTABLE 4K\n"
				  "[3.6ms] guest's write done\n");
	cr_assert_eq(rig->hyp.in_service, 0);
	rig_free(rig);
}

Test(hyp, qemu_skips_a_flush_when_nothing_was_written_since_the_last_one)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS, SL_CACHE_NONE);

	run_request(rig, SL_HYP_FLUSH, 0);
	run_request(rig, SL_HYP_WRITE, 4096);
	run_request(rig, SL_HYP_FLUSH, 0);
	run_request(rig, SL_HYP_FLUSH, 0);
	notes_expect(&rig->notes, "[0ms] guest's flush done\n"
				  "[0.1ms] WRITE UNSTABLE 4K\n"
				  "[1.2ms] guest's write done\n"
				  "[1.3ms] COMMIT\n"
				  "[2.4ms] guest's flush done\n"
				  "[2.4ms] guest's flush done\n");
	rig_free(rig);
}

Test(hyp, qemu_flushes_one_at_a_time_and_the_second_finds_the_work_done)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS, SL_CACHE_NONE);
	struct request requests[2];

	run_request(rig, SL_HYP_WRITE, 4096);
	for (int i = 0; i < 2; i++) {
		requests[i] = (struct request){.req = {.done.fire = request_done, .op = SL_HYP_FLUSH},
					       .notes = &rig->notes};
		sl_hyp_submit(&rig->hyp, sl_loop_now(rig->loop), &requests[i].req);
	}
	run_all(rig->loop);
	notes_expect(&rig->notes, "[0.1ms] WRITE UNSTABLE 4K\n"
				  "[1.2ms] guest's write done\n"
				  "[1.3ms] COMMIT\n"
				  "[2.4ms] guest's flush done\n"
				  "[2.4ms] guest's flush done\n");
	rig_free(rig);
}

/* A guest that writes and flushes when the write is done. */
struct writer {
	struct rig *rig;
	struct request write, flush;
	struct event start;
};

static void writer_flush(struct sl_timer *timer, int64_t now_ns)
{
	struct writer *writer = sl_container_of(timer, struct writer, write.req.done);

	notes_add(&writer->rig->notes, now_ns, "guest's write done");
	sl_hyp_submit(&writer->rig->hyp, now_ns, &writer->flush.req);
}

static void writer_start(void *arg, int64_t now_ns)
{
	struct writer *writer = arg;

	writer->write.req.done.fire = writer_flush;
	writer->flush.req.done.fire = request_done;
	sl_hyp_submit(&writer->rig->hyp, now_ns, &writer->write.req);
}

/* block/io.c, bdrv_co_flush: a flush covers what was written before it began (write_gen). The first COMMIT is
 * under way from 1.2 ms to 2.4 ms; the second write is done at 1.35 ms: its flush waits, and sends another.
 */
Test(hyp, qemu_flush_does_not_cover_what_is_written_while_it_is_under_way)
{
	struct rig *rig = rig_new(SL_CLIENT_LIBNFS, SL_CACHE_NONE);
	struct writer writers[2];

	for (int i = 0; i < 2; i++) {
		writers[i] = (struct writer){.rig = rig,
					     .write = {.req = {.op = SL_HYP_WRITE, .bytes = 4096}},
					     .flush = {.req = {.op = SL_HYP_FLUSH}, .notes = &rig->notes}};
		event_at(&writers[i].start, rig->loop, i * 150 * US, writer_start, &writers[i]);
	}
	run_all(rig->loop);
	notes_expect(&rig->notes, "[0.1ms] WRITE UNSTABLE 4K\n"
				  "[0.25ms] WRITE UNSTABLE 4K\n"
				  "[1.2ms] guest's write done\n"
				  "[1.3ms] COMMIT\n"
				  "[1.35ms] guest's write done\n"
				  "[2.4ms] guest's flush done\n"
				  "[2.5ms] COMMIT\n"
				  "[3.6ms] guest's flush done\n");
	rig_free(rig);
}
