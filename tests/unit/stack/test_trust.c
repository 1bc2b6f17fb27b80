/* When timing is trusted: the one rule, with numbers worked out by hand. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim/stack/trust.h"

#define MS 1000000LL
#define S 1000000000LL

/* Ten seconds of one thread each of load and database on a server; replies late by 1 ms where 10 ms are
 * modelled, which is 10 %. Nobody waited. */
static struct sl_trust_input quiet(void)
{
	return (struct sl_trust_input){.lateness_p99_wall_ns = 1 * MS,
				       .modelled_p50_wall_ns = 10 * MS,
				       .measured_wall_ns = 10 * S,
				       .waits = {[SL_TRUST_SERVER] = {.present = true},
						 [SL_TRUST_CLIENT] = {.present = true},
						 [SL_TRUST_DATABASE] = {.present = true}}};
}

static struct sl_trust judged(const struct sl_trust_input *input)
{
	struct sl_trust trust;

	sl_trust_judge(input, &trust);
	return trust;
}

Test(trust, a_quiet_run_is_trusted_without_a_word)
{
	struct sl_trust_input input = quiet();
	struct sl_trust trust = judged(&input);

	cr_expect_eq(trust.verdict, SL_TRUST_YES);
	cr_expect_str_eq(trust.reason, "");
	cr_expect_float_eq(trust.late_share, 0.1, 1e-9);
	cr_expect_float_eq(trust.wait_share, 0, 1e-9);
}

/* 0.5 ms modelled, replies late by 0.72 ms: 144 % without dilation. At dilation 12 the same 0.5 ms are 6 ms
 * on the wall, of which 0.72 ms are 12 %. */
Test(trust, lateness_is_compared_with_the_modelled_time_at_the_dilation_in_force)
{
	struct sl_trust_input input = quiet();
	struct sl_trust trust;

	input.lateness_p99_wall_ns = 720000;
	input.modelled_p50_wall_ns = sl_trust_wall_ns(500000, 1);
	trust = judged(&input);
	cr_expect_eq(trust.verdict, SL_TRUST_LATE);
	cr_expect_float_eq(trust.late_share, 1.44, 1e-9);
	cr_expect_str_eq(trust.reason,
			 "replies were late by 0.72 ms (p99), which is 144 % of the modelled 0.5 ms (p50)");

	input.modelled_p50_wall_ns = sl_trust_wall_ns(500000, 12);
	cr_expect_eq(input.modelled_p50_wall_ns, 6 * MS);
	trust = judged(&input);
	cr_expect_eq(trust.verdict, SL_TRUST_YES);
	cr_expect_float_eq(trust.late_share, 0.12, 1e-9);
}

/* A fifth is allowed, one ns more is not. */
Test(trust, a_fifth_of_the_modelled_time_is_the_most_that_is_allowed)
{
	struct sl_trust_input input = quiet();

	input.lateness_p99_wall_ns = 2 * MS;
	cr_expect_eq(judged(&input).verdict, SL_TRUST_YES);
	input.lateness_p99_wall_ns = 2 * MS + 1;
	cr_expect_eq(judged(&input).verdict, SL_TRUST_LATE);
}

/* The database waited 3 s of 10: 30 %, though no reply of the server was late. */
Test(trust, a_database_that_waited_for_a_cpu_a_third_of_the_time_is_not_trusted)
{
	struct sl_trust_input input = quiet();
	struct sl_trust trust;

	input.waits[SL_TRUST_DATABASE].wait_wall_ns = 3 * S;
	trust = judged(&input);
	cr_expect_eq(trust.verdict, SL_TRUST_STARVED);
	cr_expect_float_eq(trust.wait_share, 0.3, 1e-9);
	cr_expect_str_eq(trust.reason,
			 "waits for a CPU took 30 % of the measured time (server 0 %, load 0 %, "
			 "database 30 %)");
}

/* 4 % + 4 % + 3 % = 11 %: a request waits in one after the other. 4 + 3 + 3 = 10 % is allowed. */
Test(trust, waits_of_server_load_and_database_add_up)
{
	struct sl_trust_input input = quiet();

	input.waits[SL_TRUST_SERVER].wait_wall_ns = 400 * MS;
	input.waits[SL_TRUST_CLIENT].wait_wall_ns = 300 * MS;
	input.waits[SL_TRUST_DATABASE].wait_wall_ns = 300 * MS;
	cr_expect_eq(judged(&input).verdict, SL_TRUST_YES);
	input.waits[SL_TRUST_CLIENT].wait_wall_ns = 400 * MS;
	cr_expect_eq(judged(&input).verdict, SL_TRUST_STARVED);
}

/* Eight threads that waited 3 s in sum over 10 s: each request was held up by 3.75 % of its time. */
Test(trust, the_wait_of_threads_abreast_is_that_of_one_request)
{
	struct sl_trust_input input = quiet();

	input.waits[SL_TRUST_DATABASE].wait_wall_ns = 3 * S;
	input.waits[SL_TRUST_DATABASE].abreast = 8;
	cr_expect_eq(judged(&input).verdict, SL_TRUST_YES);
	cr_expect_float_eq(judged(&input).wait_share, 0.0375, 1e-9);
}

Test(trust, late_and_starved_says_both)
{
	struct sl_trust_input input = quiet();
	struct sl_trust trust;

	input.lateness_p99_wall_ns = 5 * MS;
	input.waits[SL_TRUST_CLIENT].wait_wall_ns = 2 * S;
	trust = judged(&input);
	cr_expect_eq(trust.verdict, SL_TRUST_LATE);
	cr_expect_not_null(strstr(trust.reason, "50 % of the modelled 10 ms"), "%s", trust.reason);
	cr_expect_not_null(strstr(trust.reason, "; waits for a CPU took 20 %"), "%s", trust.reason);
}

Test(trust, a_wait_that_cannot_be_measured_is_said_and_not_trusted)
{
	struct sl_trust_input input = quiet();
	struct sl_trust trust;

	input.waits[SL_TRUST_CLIENT].unknown = true;
	trust = judged(&input);
	cr_expect_eq(trust.verdict, SL_TRUST_UNKNOWN);
	cr_expect_str_eq(trust.reason, "how long the load waited for a CPU is not known here: "
				       "/proc/PID/schedstat is missing or empty");
}

Test(trust, who_takes_no_part_is_not_asked_for)
{
	struct sl_trust_input input = quiet();

	input.waits[SL_TRUST_DATABASE] = (struct sl_trust_wait){.unknown = true, .wait_wall_ns = 9 * S};
	cr_expect_eq(judged(&input).verdict, SL_TRUST_YES);
}

Test(trust, lateness_without_a_modelled_time_cannot_be_judged)
{
	struct sl_trust_input input = quiet();

	input.modelled_p50_wall_ns = 0;
	cr_expect_eq(judged(&input).verdict, SL_TRUST_UNKNOWN);
	input.lateness_p99_wall_ns = 0;
	cr_expect_eq(judged(&input).verdict, SL_TRUST_YES, "a server that nobody asked anything");
}

/* Of several samples of a cell: any that is not trusted; then 20 % + 8 % over their limits of 20 % and 10 %
 * (1.0 + 0.8) against 10 % + 9 % (0.5 + 0.9). */
Test(trust, the_worst_sample_is_the_one_to_judge_by)
{
	struct sl_trust good = {.verdict = SL_TRUST_YES, .late_share = 0.1, .wait_share = 0.09},
			worse = {.verdict = SL_TRUST_YES, .late_share = 0.2, .wait_share = 0.08},
			unknown = {.verdict = SL_TRUST_UNKNOWN};

	cr_expect(sl_trust_worse(&worse, &good));
	cr_expect(!sl_trust_worse(&good, &worse));
	cr_expect(sl_trust_worse(&unknown, &worse));
	cr_expect(!sl_trust_worse(&worse, &unknown));
}

/* Recorded: syncwrite of 4 KiB through libnfs, 3 s, SLOG s3700, --dilate 12, server and load with real-time
 * priority. 108.8 us of 2402.304 us are 4.53 %; 3.12 ms + 4.18 ms of 3 s are 0.243 %. It was 0.8 % off its
 * model(lab). */
Test(trust, a_recorded_quiet_cell_is_trusted)
{
	const struct sl_trust_input input = {
	    .lateness_p99_wall_ns = 108800,
	    .modelled_p50_wall_ns = 2402304,
	    .measured_wall_ns = 3 * S,
	    .waits = {[SL_TRUST_SERVER] = {.present = true, .wait_wall_ns = 3120000},
		      [SL_TRUST_CLIENT] = {.present = true, .wait_wall_ns = 4180000}}};
	struct sl_trust trust = judged(&input);

	cr_expect_eq(trust.verdict, SL_TRUST_YES, "%s", trust.reason);
	cr_expect_float_eq(trust.late_share, 0.0453, 1e-4);
	cr_expect_float_eq(trust.wait_share, 0.00243, 1e-5);
}

/* Recorded: OLTP with two threads, 5 s, --dilate 4, at load 9: replies in time (99.072 us of 755.712 us
 * are 13.1 %), which was all that counted before, and 58 % off. Two threads that waited 1.22881 s and 2.1171
 * s in sum over 5 s: 12.3 % and 21.2 %. */
Test(trust, a_recorded_cell_whose_server_alone_was_in_time_is_not_trusted)
{
	const struct sl_trust_input input = {
	    .lateness_p99_wall_ns = 99072,
	    .modelled_p50_wall_ns = 755712,
	    .measured_wall_ns = 5 * S,
	    .waits = {[SL_TRUST_SERVER] = {.present = true, .wait_wall_ns = 6239000},
		      [SL_TRUST_CLIENT] = {.present = true, .wait_wall_ns = 1228810000, .abreast = 2},
		      [SL_TRUST_DATABASE] = {.present = true, .wait_wall_ns = 2117100000, .abreast = 2}}};
	struct sl_trust trust = judged(&input);

	cr_expect_eq(trust.verdict, SL_TRUST_STARVED);
	cr_expect_float_eq(trust.late_share, 0.131, 1e-3);
	cr_expect_str_eq(trust.reason,
			 "waits for a CPU took 34 % of the measured time (server 0 %, load 12 %, "
			 "database 21 %)");
}
