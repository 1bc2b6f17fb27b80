/* The NFS server's threads: a cap on calls in service, order of arrival, CPU per call and byte. */
#include "sim/zfs/nfsd.h"
#include "tests/unit/zfs/lib.h"

struct call {
	struct sl_store_req req;
	struct notes *notes;
	char name;
	int64_t at_ns;
};

static void call_done(struct sl_timer *timer, int64_t now_ns)
{
	struct call *call = sl_container_of(timer, struct call, req.done);

	call->at_ns = now_ns;
	notes_add(call->notes, now_ns, "%c done", call->name);
}

static struct call call_make(struct notes *notes, char name, enum sl_store_op op, uint32_t bytes)
{
	return (struct call){
	    .req = {.done.fire = call_done, .op = op, .stable = SL_FILE_SYNC, .bytes = bytes},
	    .notes = notes,
	    .name = name};
}

Test(nfsd, more_calls_than_threads_wait_in_order_of_arrival)
{
	struct fake_store below;
	struct nas nas;
	struct sl_nfsd_config config = {
	    .below = &below.store, .cpu = &nas.cpu, .threads = 2, .byte_bps = 1e9};
	struct sl_store *server;
	struct call calls[5];

	nas_init(&nas);
	fake_store_init(&below, nas.loop, NULL, MS);
	server = sl_nfsd_new(&config);
	for (int i = 0; i < 5; i++) {
		calls[i] = call_make(&nas.notes, (char)('a' + i), SL_STORE_COMMIT, 0);
		sl_store_submit(server, 0, &calls[i].req);
	}
	run_all(nas.loop);
	notes_expect(&nas.notes, "[1ms] a done\n"
				 "[1ms] b done\n"
				 "[2ms] c done\n"
				 "[2ms] d done\n"
				 "[3ms] e done\n");
	sl_store_free(server);
	nas_fini(&nas);
}

/* 100 us per 16 KiB, as they are sent: a small READ does not overtake the large one before it on the way to
 * the store, which would take the two for no stream. */
Test(nfsd, reads_reach_the_store_in_order_and_pay_for_their_bytes_when_they_are_sent)
{
	struct fake_store below;
	struct nas nas;
	struct sl_nfsd_config config = {
	    .below = &below.store, .cpu = &nas.cpu, .threads = 4, .op_cpu_ns = 30 * US, .byte_bps = 163.84e6};
	struct sl_store *server;
	struct call large, small;

	nas_init(&nas);
	fake_store_init(&below, nas.loop, &nas.notes, 0);
	server = sl_nfsd_new(&config);
	large = call_make(&nas.notes, 'l', SL_STORE_READ, 32768);
	small = call_make(&nas.notes, 's', SL_STORE_READ, 16384);
	sl_store_submit(server, 0, &large.req);
	sl_store_submit(server, 0, &small.req);
	run_all(nas.loop);
	notes_expect(&nas.notes, "[0.03ms] READ 32K\n"
				 "[0.03ms] READ 16K\n"
				 "[0.13ms] s done\n"
				 "[0.23ms] l done\n");
	sl_store_free(server);
	nas_fini(&nas);
}

Test(nfsd, a_call_costs_cpu_and_so_do_its_bytes)
{
	struct fake_store below;
	struct nas nas;
	struct sl_nfsd_config config = {
	    .below = &below.store, .cpu = &nas.cpu, .threads = 4, .op_cpu_ns = 30 * US, .byte_bps = 163.84e6};
	struct sl_store *server;
	struct call commit, write;

	nas_init(&nas);
	fake_store_init(&below, nas.loop, &nas.notes, 0);
	server = sl_nfsd_new(&config);
	commit = call_make(&nas.notes, 'c', SL_STORE_COMMIT, 0);
	write = call_make(&nas.notes, 'w', SL_STORE_WRITE, 16384);
	sl_store_submit(server, 0, &commit.req);
	sl_store_submit(server, 0, &write.req);
	run_all(nas.loop);
	notes_expect(&nas.notes, "[0.03ms] COMMIT\n"
				 "[0.03ms] c done\n"
				 "[0.13ms] WRITE FILE_SYNC 16K\n"
				 "[0.13ms] w done\n");
	cr_assert_eq(write.req.stable, SL_FILE_SYNC);
	sl_store_free(server);
	nas_fini(&nas);
}

static void synced(void *arg, int64_t as_of_ns)
{
	*(int64_t *)arg = as_of_ns;
}

Test(nfsd, passes_on_what_the_store_says_of_its_txgs)
{
	struct fake_store below;
	struct nas nas;
	struct sl_nfsd_config config = {
	    .below = &below.store, .cpu = &nas.cpu, .threads = 1, .byte_bps = 1e9};
	struct sl_store *server;
	int64_t heard_ns = 0;

	nas_init(&nas);
	fake_store_init(&below, nas.loop, NULL, 0);
	server = sl_nfsd_new(&config);
	below.store.on_synced(below.store.on_synced_arg, 1); /* nobody listens yet */
	server->on_synced = synced;
	server->on_synced_arg = &heard_ns;
	below.store.on_synced(below.store.on_synced_arg, 42);
	cr_assert_eq(heard_ns, 42);
	sl_store_free(server);
	nas_fini(&nas);
}
