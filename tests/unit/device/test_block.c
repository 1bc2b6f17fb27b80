/* The block layer: flushes that are merged, and what a disk does while it flushes. */
#include "sim/device/block.h"
#include "tests/unit/device/lib.h"

#define DEPTH_MAX 16

/* An 850 Pro: 4 KiB take 6827 ns on the link and 30 us; a flush takes 2.69 ms. */
static struct sl_dev_spec bare_ssd(enum sl_interface interface)
{
	return (struct sl_dev_spec){.kind = SL_DEV_SSD,
				    .interface = interface,
				    .capacity_bytes = 256e9,
				    .link_bps = 600e6,
				    .read_ns = 50e3,
				    .write_ns = 30e3,
				    .read_bps = 550e6,
				    .ssd_write_bps = 520e6,
				    .flush_ns = 2690e3,
				    .buffer_bytes = 8 << 20};
}

/* Writers that each make their 4 KiB stable before the next. */
struct writers {
	struct bench bench;
	int writes, limit;
	struct writer {
		struct writers *all;
		struct sl_dev_req req;
	} slots[DEPTH_MAX];
};

static void writer_step(struct sl_timer *timer, int64_t now_ns)
{
	struct writer *writer = sl_container_of(timer, struct writer, req.done);
	struct writers *all = writer->all;
	bool wrote = writer->req.op == SL_DEV_WRITE;

	all->writes += !wrote;
	if (all->writes < all->limit) {
		writer->req.op = wrote ? SL_DEV_FLUSH : SL_DEV_WRITE;
		sl_dev_submit(all->bench.disk, now_ns, &writer->req);
	}
}

/* Runs `limit` stable writes; returns how many there are a second. */
static double writers_run(struct writers *all, const struct sl_dev_spec *spec, int depth, int limit)
{
	double rate;

	*all = (struct writers){.bench = bench_new(spec), .limit = limit};
	for (int i = 0; i < depth; i++) {
		all->slots[i].all = all;
		all->slots[i].req = (struct sl_dev_req){
		    .done.fire = writer_step, .op = SL_DEV_WRITE, .offset_bytes = i * 4096, .bytes = 4096};
		sl_dev_submit(all->bench.disk, 0, &all->slots[i].req);
	}
	run_all(all->bench.loop);
	rate = (double)all->writes * 1e9 / (double)sl_loop_now(all->bench.loop);
	return rate;
}

/*
 * By hand. One writer: each write has its flush: 1 / (36.8 us + 2.69 ms) = 366.7 a second. N writers: the
 * first whose write is done sends a flush, which waits on SATA until the other N - 1 writes are done, and
 * covers them; these wait for the next flush together, which finds nothing to do and takes 30 us, and goes
 * before the next write of the first. Then all N write. So two flushes serve N writes, 2 / N of a flush for
 * each, in 36.8 us + (N - 1) x 6.8 us + 2.69 ms + 30 us: N = 4: 4 / 2.7773 ms = 1440.2 a second, N = 16: 16
 * / 2.8592 ms.
 */
Test(block, flushes_are_merged)
{
	static const struct {
		int depth;
		double per_write, rate;
	} cases[] = {
	    {1, 1, 366.7}, {4, 0.5, 1440.2}, {5, 0.4, 1795.9}, {10, 0.2, 3548.4}, {16, 0.125, 5596.0}};
	struct sl_dev_spec spec = bare_ssd(SL_IF_SATA);
	struct writers all;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double rate = writers_run(&all, &spec, cases[i].depth, 4000);
		double share = (double)all.bench.disk->stats.flushes / (double)all.writes;

		cr_assert_float_eq(share, cases[i].per_write, 0.01 * cases[i].per_write, "depth %d: %f",
				   cases[i].depth, share);
		cr_assert_float_eq(rate, cases[i].rate, 0.005 * cases[i].rate, "depth %d: %f", cases[i].depth,
				   rate);
		bench_free(&all.bench);
	}
}

/* On NVMe the flush does not wait for the writes, so that the flushes of the first and of the others take
 * turns without a pause: still two for N. N = 4: 4 / (2 x 2.69 ms) = 743.5 at most. */
Test(block, nvme_merges_them_too)
{
	struct sl_dev_spec spec = bare_ssd(SL_IF_NVME);
	struct writers all;
	double rate = writers_run(&all, &spec, 4, 4000);
	double share = (double)all.bench.disk->stats.flushes / (double)all.writes;

	cr_assert_float_eq(share, 0.5, 0.005, "%f", share);
	cr_assert(rate > 731 && rate < 744, "%f", rate);
	bench_free(&all.bench);
}

/* Three flushes at once: the first goes, the other two become one. */
Test(block, who_waits_for_the_same_flush_wakes_together)
{
	struct sl_dev_spec spec = bare_ssd(SL_IF_SATA);
	struct bench bench = bench_new(&spec);
	struct request a, b, c;

	request_submit(&bench, &a, SL_DEV_FLUSH, 0, 0);
	request_submit(&bench, &b, SL_DEV_FLUSH, 0, 0);
	request_submit(&bench, &c, SL_DEV_FLUSH, 0, 0);
	run_all(bench.loop);
	cr_assert_eq(bench.disk->stats.flushes, 2);
	cr_assert(b.done_ns > a.done_ns);
	cr_assert_eq(b.done_ns, c.done_ns);
	bench_free(&bench);
}

/* A write, and before it is done (36827 ns) a flush, then another write. SATA: the flush begins when the
 * first write is done, the second write when the flush is. SAS and NVMe: the second write goes on beside the
 * flush. */
Test(block, the_flush_of_sata_runs_alone)
{
	for (int interface = SL_IF_SATA; interface <= SL_IF_NVME; interface++) {
		struct sl_dev_spec spec = bare_ssd((enum sl_interface)interface);
		struct bench bench = bench_new(&spec);
		struct request first, flush, second;

		request_submit(&bench, &first, SL_DEV_WRITE, 0, 4096);
		request_submit(&bench, &flush, SL_DEV_FLUSH, 0, 0);
		request_submit(&bench, &second, SL_DEV_WRITE, 4096, 4096);
		run_all(bench.loop);
		cr_assert_eq(first.done_ns, 36827);
		if (interface == SL_IF_SATA) {
			cr_assert_eq(flush.done_ns, 36827 + 2690000);
			cr_assert_eq(second.done_ns, flush.done_ns + 36827);
		} else {
			cr_assert(flush.done_ns < 36827 + 2690000);
			cr_assert_eq(second.done_ns, 36827 + 6827);
		}
		bench_free(&bench);
	}
}

/* blk_mq_insert_request puts a flush at the front: a write that came during the first flush of SATA (2.69 ms
 * after the write before it) is held, and the second, which finds nothing to do (30 us), goes before it. */
Test(block, the_next_flush_of_sata_goes_before_what_was_held)
{
	struct sl_dev_spec spec = bare_ssd(SL_IF_SATA);
	struct bench bench = bench_new(&spec);
	struct request first, flush, held, next;

	request_submit(&bench, &first, SL_DEV_WRITE, 0, 4096);
	request_submit(&bench, &flush, SL_DEV_FLUSH, 0, 0);
	request_submit(&bench, &held, SL_DEV_WRITE, 4096, 4096);
	request_submit(&bench, &next, SL_DEV_FLUSH, 0, 0);
	run_all(bench.loop);
	cr_assert_eq(flush.done_ns, 36827 + 2690000);
	cr_assert_eq(next.done_ns, flush.done_ns + 30000);
	cr_assert_eq(held.done_ns, next.done_ns + 36827);
	bench_free(&bench);
}

/* Where the disk says that there is nothing to flush, nothing is sent and nothing costs time. */
Test(block, no_flush_goes_to_a_disk_without_a_volatile_cache)
{
	struct sl_dev_spec nvme = bare_ssd(SL_IF_NVME), off = bare_ssd(SL_IF_SATA),
			   sata = bare_ssd(SL_IF_SATA);
	struct sl_dev_spec *none[] = {&nvme, &off};
	struct bench bench;

	nvme.plp = 1;
	off.cache_off = true;
	sata.plp = 1;
	for (int i = 0; i < 2; i++) {
		bench = bench_new(none[i]);
		cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), 0);
		cr_assert_eq(bench.disk->stats.flushes, 0);
		bench_free(&bench);
	}
	/* With capacitors, but on SATA: it is sent. */
	bench = bench_new(&sata);
	cr_assert_eq(io(&bench, SL_DEV_FLUSH, 0, 0), 2690000);
	bench_free(&bench);
}

/* Two writes with FUA at once on SATA: written (36827 ns, the second 6827 later), then one flush for both. */
Test(block, fua_on_sata_is_a_write_and_a_flush)
{
	struct sl_dev_spec spec = bare_ssd(SL_IF_SATA);
	struct bench bench = bench_new(&spec);
	struct request requests[2];

	for (int i = 0; i < 2; i++) {
		requests[i] = (struct request){.req = {.done.fire = request_done,
						       .op = SL_DEV_WRITE,
						       .fua = true,
						       .offset_bytes = i * 4096,
						       .bytes = 4096}};
		sl_dev_submit(bench.disk, 0, &requests[i].req);
	}
	run_all(bench.loop);
	cr_assert_eq(bench.disk->stats.flushes, 1);
	cr_assert_eq(requests[0].done_ns, 36827 + 6827 + 2690000);
	cr_assert_eq(requests[1].done_ns, requests[0].done_ns);
	bench_free(&bench);
}

static struct sl_dev_spec hdd(enum sl_interface interface)
{
	struct sl_dev_spec spec = disk_6000rpm(true);

	spec.interface = interface;
	spec.cache_bytes = 1 << 20;
	return spec;
}

/* Two ranges far apart in the cache of a hard disk, a flush, and a read that comes after it. SATA: the read
 * begins when both are on the platters. SAS: it goes between them and is done first. */
Test(block, a_read_behind_the_flush_of_a_hard_disk)
{
	for (int interface = SL_IF_SATA; interface <= SL_IF_SAS; interface++) {
		struct sl_dev_spec spec = hdd((enum sl_interface)interface);
		struct bench bench = bench_new(&spec);
		struct request flush, read;

		for (int64_t i = 1; i <= 2; i++) {
			io(&bench, SL_DEV_WRITE, i * 300000000000, 4096);
		}
		request_submit(&bench, &flush, SL_DEV_FLUSH, 0, 0);
		request_submit(&bench, &read, SL_DEV_READ, 0, 4096);
		run_all(bench.loop);
		cr_assert_eq(read.done_ns > flush.done_ns, interface == SL_IF_SATA);
		bench_free(&bench);
	}
}

/* A read that came before the flush is done before it on SATA. */
Test(block, a_flush_of_a_hard_disk_waits_for_the_commands_before_it)
{
	struct sl_dev_spec spec = hdd(SL_IF_SATA);
	struct bench bench = bench_new(&spec);
	struct request flush, read, write;

	request_submit(&bench, &read, SL_DEV_READ, 500000000000, 4096);
	request_submit(&bench, &flush, SL_DEV_FLUSH, 0, 0);
	request_submit(&bench, &write, SL_DEV_WRITE, 0, 4096);
	run_all(bench.loop);
	cr_assert_eq(flush.done_ns, read.done_ns);
	cr_assert_eq(write.done_ns, flush.done_ns + 232 * US); /* 200 us and 4 KiB at 128 MB/s */
	bench_free(&bench);
}

static int64_t done_at(struct bench *bench, int n, int64_t apart)
{
	struct request requests[DEPTH_MAX];
	int64_t latest_ns = 0;

	for (int i = 0; i < n; i++) {
		request_submit(bench, &requests[i], SL_DEV_WRITE, i * apart, 4096);
	}
	run_all(bench->loop);
	for (int i = 0; i < n; i++) {
		latest_ns = requests[i].done_ns > latest_ns ? requests[i].done_ns : latest_ns;
	}
	return latest_ns;
}

/*
 * Cache off, by hand: a write takes what it and its flush took: 6827 ns + 30 us + 2.69 ms. Without capacitors
 * the first of two writes has a commit of its own; the second is in the buffer 6827 ns later and waits for
 * the next, 2.69 ms more. Fifteen that come meanwhile, to whatever page, share that one. With capacitors
 * (65 us, flush 50 us, 18.5 us a command) the second of two writes is done 18.5 + 50 us after the first.
 */
Test(block, a_write_with_the_cache_off)
{
	struct sl_dev_spec spec = bare_ssd(SL_IF_SATA);
	struct bench bench;
	int64_t one_ns = 6827 + 30000 + 2690000;

	spec.cache_off = true;
	bench = bench_new(&spec);
	cr_assert_eq(done_at(&bench, 1, 0), one_ns);
	bench_free(&bench);
	bench = bench_new(&spec);
	cr_assert_eq(done_at(&bench, 2, 0), one_ns + 2690000);
	bench_free(&bench);
	bench = bench_new(&spec);
	cr_assert_eq(done_at(&bench, 16, 4096), one_ns + 2690000);
	bench_free(&bench);
	spec.plp = 1;
	spec.write_ns = 65e3;
	spec.flush_ns = 50e3;
	spec.ssd_command_ns = 18.5e3;
	bench = bench_new(&spec);
	cr_assert_eq(done_at(&bench, 1, 0), 6827 + 65000 + 50000);
	cr_assert_eq(done_at(&bench, 2, 4096), 2 * (6827 + 65000 + 50000) + 68500);
	cr_assert_eq(bench.disk->stats.flushes, 0);
	bench_free(&bench);
}

/* What is done is safe, though no flush was sent. */
Test(block, a_cut_takes_nothing_with_the_cache_off)
{
	const struct sl_cut whole = {0};
	struct sl_dev_spec specs[] = {bare_ssd(SL_IF_SATA), hdd(SL_IF_SATA)};

	for (int i = 0; i < 2; i++) {
		struct bench bench;
		struct sl_slab pool;
		struct request request = {
		    .req = {.done.fire = request_done, .op = SL_DEV_WRITE, .bytes = 4096}};

		specs[i].cache_off = true;
		bench = bench_new(&specs[i]);
		sl_slab_init(&pool, sizeof(struct sl_mark));
		request.req.mark = sl_mark_new(&pool);
		sl_dev_submit(bench.disk, 0, &request.req);
		run_all(bench.loop);
		cr_assert_eq(sl_mark_kept_ns(request.req.mark, &whole), request.done_ns);
		sl_slab_fini(&pool);
		bench_free(&bench);
	}
}
