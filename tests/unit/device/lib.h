/* One disk driven by requests one after the other. */
#ifndef SL_TESTS_DEVICE_LIB_H
#define SL_TESTS_DEVICE_LIB_H

#include "tests/lib/notes.h"

struct bench {
	struct sl_loop *loop;
	struct sl_dev *disk;
};

static inline struct bench bench_new(const struct sl_dev_spec *spec)
{
	struct bench bench = {.loop = sl_loop_new_virtual()};
	struct sl_err err = {0};

	cr_assert_eq(sl_dev_new(spec, bench.loop, 1, "disk", &bench.disk, &err), 0, "%s", err.msg);
	return bench;
}

static inline void bench_free(struct bench *bench)
{
	sl_dev_free(bench->disk);
	sl_loop_free(bench->loop);
}

struct request {
	struct sl_dev_req req;
	int64_t done_ns; /* -1 = not yet */
};

static inline void request_done(struct sl_timer *timer, int64_t now_ns)
{
	sl_container_of(timer, struct request, req.done)->done_ns = now_ns;
}

static inline void request_submit(struct bench *bench, struct request *request, enum sl_dev_op op,
				  int64_t offset, int64_t bytes)
{
	*request = (struct request){
	    .req = {.done.fire = request_done, .op = op, .offset_bytes = offset, .bytes = bytes},
	    .done_ns = -1};
	sl_dev_submit(bench->disk, sl_loop_now(bench->loop), &request->req);
}

/* Time until a request submitted now is done; the loop's time is then its end. */
static inline int64_t io(struct bench *bench, enum sl_dev_op op, int64_t offset, int64_t bytes)
{
	int64_t start_ns = sl_loop_now(bench->loop);
	struct request request;

	request_submit(bench, &request, op, offset, bytes);
	cr_assert_eq(request.done_ns, -1, "done inside submit");
	run_all(bench->loop);
	cr_assert(request.done_ns >= 0);
	return request.done_ns - start_ns;
}

/* Lets `ns` pass. */
static inline void pause_for(struct bench *bench, int64_t ns)
{
	cr_assert_eq(sl_loop_run_until(bench->loop, sl_loop_now(bench->loop) + ns, NULL), 0);
}

/* Round figures: 6000 rpm, 100 MB/s, seeks of 1, 8 and 16 ms. */
static inline struct sl_dev_spec disk_6000rpm(bool cache)
{
	return (struct sl_dev_spec){
	    .kind = SL_DEV_HDD,
	    .capacity_bytes = 1e12,
	    .rpm = 6000,
	    .seek_track_ns = 1e6,
	    .seek_avg_ns = 8e6,
	    .seek_full_ns = 16e6,
	    .media_bps = 100e6,
	    .write_cache = cache,
	    .cache_bytes = 64 << 10,
	    .write_ack_ns = 0.2e6,
	    .write_bps = 128e6,
	    .ncq_depth = 32,
	    .flush_honoured = 1,
	};
}

#endif
