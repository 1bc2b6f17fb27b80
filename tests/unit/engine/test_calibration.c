/* What calibrate takes for a figure, and what for noise: synthetic measurements in the place of a machine. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/calibration.h"
#include "engine/noise.h"

#define SAME 1e-9

/* By hand: of n values in order, n / 4 go at each end; what stays is above 0 and its ends are nearer than the
 * median. */
Test(noise, a_figure_is_told_when_it_stands_out_of_its_own_scatter)
{
	static const struct {
		double seen[SL_NOISE_MOST];
		int n;
		bool told;
		double median;
	} cases[] = {
	    {{60, 62}, 2, false, 0},                              /* two say nothing about scatter */
	    {{60, 62, 61}, 3, true, 61},                          /* quiet */
	    {{40, 90, 60}, 3, true, 60},                          /* 50 apart, median 60 */
	    {{30, 90, 60}, 3, false, 60},                         /* 60 apart is no less than 60 */
	    {{0, 0, 0}, 3, false, 0},                             /* never nothing */
	    {{-3, 1, 1}, 3, false, 1},                            /* what may be below 0 may be nothing */
	    {{60, 61, 62, 900}, 4, true, 61.5},                   /* one interruption is an extreme */
	    {{60, -40, 62, 61}, 4, true, 60.5},                   /* wherever it lies */
	    {{-34, 31, -20, 5, -1, 2, 9, -9, 12}, 9, false, 2},   /* as seen at load 8 */
	    {{50, -34, 55, 52, 200, 51, 0, 53, 54}, 9, true, 52}, /* -34, 0 and 55, 200 go */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_noisy noisy = {0};
		double median = 0;

		for (int k = 0; k < cases[i].n; k++) {
			sl_noisy_add(&noisy, cases[i].seen[k]);
		}
		cr_expect_eq(sl_noisy_told(&noisy, &median), cases[i].told, "case %zu", i);
		cr_expect_float_eq(median, cases[i].median, SAME, "case %zu: %g", i, median);
	}
}

Test(noise, a_refusal_says_what_was_seen_and_what_to_do)
{
	struct sl_noisy noisy = {.seen = {4e3, -33.3e3, 8.6e3}, .n = 3};
	struct sl_err err = {0};

	cr_assert_eq(sl_noisy_refuse(&noisy, "hyp.op_delay", 1e3, "us", &err), -EAGAIN);
	cr_assert_str_eq(
	    err.msg, "calibrate: hyp.op_delay: 3 measurements gave -33.3 to 8.6 us, which is noise: other "
		     "work disturbed them; nothing was written; run it again on a quieter machine");
}

Test(calibration, a_request_is_cpu_on_its_way_and_delay)
{
	static const struct {
		struct sl_calibration_times times;
		double cpu_ns, delay_ns;
		bool apart;
	} cases[] = {
	    {{60e3, 100e3, 180e3}, 60e3, 120e3, true},  /* 180 us in all where it sleeps, 60 of them CPU */
	    {{60e3, 100e3, 90e3}, 60e3, 40e3, true},    /* no time shorter than that of who never sleeps */
	    {{115e3, 86e3, 115e3}, 86e3, 29e3, true},   /* 29 us of the CPU time are beside the way */
	    {{115e3, 86e3, 80e3}, 86e3, -6e3, true},    /* nothing to be told: noise, and judged as such */
	    {{150e3, 86e3, 300e3}, 86e3, 214e3, false}, /* 1.7 times its time: other work was in between */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double cpu_ns, delay_ns;

		cr_expect_eq(sl_calibration_request(&cases[i].times, &cpu_ns, &delay_ns), cases[i].apart,
			     "case %zu", i);
		cr_expect_float_eq(cpu_ns, cases[i].cpu_ns, SAME, "case %zu: %g", i, cpu_ns);
		cr_expect_float_eq(delay_ns, cases[i].delay_ns, SAME, "case %zu: %g", i, delay_ns);
	}
}

/* Every figure of a profile in turn: a zero, a negative one, no number. */
Test(calibration, no_profile_has_a_figure_of_nothing)
{
	static const struct sl_calibration good = {120e3, 900e6, 40e3, 6e3, 500, 13e6, 2000, "", ""};
	static const double wrong[] = {0, -1, (double)NAN, (double)INFINITY};
	static const char *const keys[] = {"hyp.op_delay",       "link.rate",       "guest.block_cpu",
					   "guest.file_cpu",     "guest.fsync_cpu", "guest.oltp_cpu",
					   "innodb.redo_per_txn"};
	struct sl_err err = {0};

	cr_assert_eq(sl_calibration_check(&good, &err), 0, "%s", err.msg);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
			struct sl_calibration found = good;
			double *const figures[] = {
			    &found.op_delay_ns,  &found.link_bps,    &found.block_cpu_ns, &found.file_cpu_ns,
			    &found.fsync_cpu_ns, &found.oltp_cpu_ns, &found.redo_bytes};

			err = (struct sl_err){0};
			*figures[i] = wrong[k];
			cr_expect_eq(sl_calibration_check(&found, &err), -EAGAIN, "%s %g", keys[i], wrong[k]);
			cr_expect(strstr(err.msg, keys[i]) && strstr(err.msg, "on a quieter machine"), "%s",
				  err.msg);
		}
	}
}
