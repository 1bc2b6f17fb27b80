/* Shingled disks: fast until the media cache is full, then a band for each write; idle time makes room. */
#include "sim/base/rng.h"
#include "tests/unit/device/lib.h"

#define TURN (10 * MS)
#define BAND INT64_C(10000000)
#define FITS 1000

/* The cache in DRAM is off; the media cache holds 1000 writes of 4 KiB. */
static struct sl_dev_spec shingled(void)
{
	struct sl_dev_spec spec = disk_6000rpm(false);

	spec.command_ns = 0.1e6;
	spec.smr_band_bytes = BAND;
	spec.smr_cache_bytes = FITS * 4096;
	return spec;
}

/* Mean time of n writes of 4 KiB at random places, one at a time. */
static int64_t mean_write(struct bench *bench, struct sl_rng *rng, int n)
{
	int64_t start_ns = sl_loop_now(bench->loop);

	for (int i = 0; i < n; i++) {
		io(bench, SL_DEV_WRITE, (int64_t)sl_rng_below(rng, 200000000) * 4096, 4096);
	}
	return (sl_loop_now(bench->loop) - start_ns) / n;
}

/*
 * By hand. While there is room a write is appended to the log, whose next sector has passed in the 0.1 ms of
 * the command: a turn, 10 ms. Full, a band of 10 MB is read and written first, 100 ms each, with a seek there
 * (8 ms on average, 16 at most), a turn's part and a turn between them, and a seek back and a turn's part for
 * the log: 200 + 8 + 5 + 0..10 + 8 + 5 = 226 to 236 ms. After a second of rest bands are cleaned for 213 to
 * 231 ms each: in 61 s some 270, so that 200 writes are appended again.
 */
Test(smr, writes_are_fast_until_the_media_cache_is_full)
{
	struct sl_dev_spec spec = shingled();
	struct bench bench = bench_new(&spec);
	struct sl_rng rng;
	int64_t empty_ns, full_ns, rested_ns;

	sl_rng_init(&rng, 1, "offsets");
	empty_ns = mean_write(&bench, &rng, FITS - 10);
	cr_expect(llabs(empty_ns - TURN) < MS, "%lld", (long long)empty_ns);
	mean_write(&bench, &rng, 20);
	full_ns = mean_write(&bench, &rng, 50);
	cr_expect(full_ns > 205 * MS && full_ns < 250 * MS, "%lld", (long long)full_ns);
	pause_for(&bench, 61 * SEC);
	rested_ns = mean_write(&bench, &rng, 200);
	cr_expect(rested_ns < 13 * MS, "%lld", (long long)rested_ns);
	bench_free(&bench);
}

/* A stream needs no cache: 20 times its size in pieces of 64 KiB, each a turn or less after the one before.
 */
Test(smr, a_stream_goes_where_it_belongs)
{
	struct sl_dev_spec spec = shingled();
	struct bench bench = bench_new(&spec);

	for (int64_t i = 0; i < 1250; i++) {
		cr_assert(io(&bench, SL_DEV_WRITE, 100 * BAND + i * 65536, 65536) <= 16 * MS + TURN + MS);
	}
	bench_free(&bench);
}
