/* Years of rated endurance: 100 GB in 100 s are 86.4 TB a day. */
#include "sim/stack/endurance.h"
#include "tests/unit/stack/lib.h"

#define TB 1e12
#define A_DAY (86.4 * TB)
#define YEAR 365.25

static const struct sl_dev_spec ssd = {.name = "ssd", .kind = SL_DEV_SSD, .endurance_bytes = 864 * TB};
static const struct sl_dev_spec weak = {.name = "weak", .kind = SL_DEV_SSD, .endurance_bytes = 86.4 * TB};
static const struct sl_dev_spec unrated = {.name = "unrated", .kind = SL_DEV_SSD};
static const struct sl_dev_spec hdd = {.name = "hdd", .kind = SL_DEV_HDD};

static const struct sl_measure run = {.operations = 1000000,
				      .elapsed_ns = INT64_C(100000000000),
				      .log_bytes = INT64_C(100000000000),
				      .data_bytes = INT64_C(50000000000)};

static struct sl_dev_spec made_of(enum sl_dev_kind kind, const struct sl_dev_spec *a,
				  const struct sl_dev_spec *b)
{
	return (struct sl_dev_spec){.name = "pair", .kind = kind, .n_members = 2, .members = {a, b}};
}

Test(endurance, log_devices_side_by_side_share_the_log_and_a_mirror_does_not)
{
	const struct sl_dev_spec mirror = made_of(SL_DEV_MIRROR, &ssd, &ssd);
	const struct sl_dev_spec stripe = made_of(SL_DEV_STRIPE, &ssd, &ssd);
	const struct sl_dev_spec uneven = made_of(SL_DEV_MIRROR, &ssd, &weak);
	const struct {
		int n_log;
		struct sl_dev_spec log[2];
		double days;
		const char *device;
	} rows[] = {
	    {1, {ssd}, 10, "ssd"},           {2, {ssd, ssd}, 20, "ssd"},   {1, {mirror}, 10, "pair"},
	    {1, {stripe}, 20, "pair"},       {1, {uneven}, 1, "pair"},     {2, {ssd, weak}, 2, "weak"},
	    {2, {unrated, weak}, 2, "weak"}, {1, {unrated}, 0, "unrated"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_box box = {.n_log = rows[i].n_log, .log = {rows[i].log[0], rows[i].log[1]}};
		struct sl_endurance e;

		sl_endurance_of(&box, &run, &e);
		cr_assert_float_eq(e.log_bytes_per_day, A_DAY, 1, "row %zu", i);
		cr_assert_float_eq(e.bytes_per_op, 100000, 1e-6, "row %zu", i);
		cr_assert_float_eq(e.years * YEAR, rows[i].days, 1e-6, "row %zu: %f days", i, e.years * YEAR);
		cr_assert_str_eq(e.device, rows[i].device);
	}
}

Test(endurance, without_a_log_device_flash_among_the_data_disks_wears)
{
	struct sl_box flash = {.n_data = 2, .data = {ssd, ssd}};
	struct sl_box disks = {.n_data = 2, .data = {hdd, hdd}};
	struct sl_endurance e;

	sl_endurance_of(&flash, &run, &e);
	cr_assert_float_eq(e.data_bytes_per_day, A_DAY / 2, 1);
	cr_assert_float_eq(e.device_bytes_per_day, A_DAY / 4, 1);
	cr_assert_float_eq(e.years * YEAR, 40, 1e-6);
	sl_endurance_of(&disks, &run, &e);
	cr_assert_str_eq(e.device, "");
	cr_assert_eq(e.years, 0.0);
	cr_assert_eq(e.device_bytes_per_day, 0.0);
}

Test(endurance, a_run_that_wrote_nothing_wears_nothing)
{
	struct sl_box box = {.n_log = 1, .log = {ssd}};
	struct sl_measure idle = {.elapsed_ns = 1000000000}, none = {0};
	struct sl_endurance e;

	sl_endurance_of(&box, &idle, &e);
	cr_assert_eq(e.years, 0.0);
	cr_assert_eq(e.bytes_per_op, 0.0);
	sl_endurance_of(&box, &none, &e);
	cr_assert_eq(e.log_bytes_per_day, 0.0);
}

/* What the model writes to the log is at least the data, and no more than blocks of 128 KiB for each 16 KiB.
 */
Test(endurance, the_run_measures_what_it_writes)
{
	struct sl_scenario *sc = load("quick");
	struct sl_err err = {0};
	struct sl_measure measure;
	struct sl_workload short_run = *sl_scenario_workload(sc, workload(sc, "rnd16k"));
	struct sl_box box;
	double asked;

	short_run.max_requests = 300;
	cr_assert_eq(sl_scenario_box(sc, variant(sc, "s3700"), &box, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_stack_run(&box, &short_run, &(struct sl_stack_setup){.seed = 1}, &measure, &err), 0,
		     "%s", err.msg);
	asked = (double)measure.operations * short_run.block_bytes;
	cr_assert((double)measure.log_bytes >= asked, "%lld bytes", (long long)measure.log_bytes);
	cr_assert((double)measure.log_bytes <= 8 * asked, "%lld bytes", (long long)measure.log_bytes);
	cr_assert_eq(sl_scenario_box(sc, variant(sc, "none"), &box, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_stack_run(&box, &short_run, &(struct sl_stack_setup){.seed = 1}, &measure, &err), 0,
		     "%s", err.msg);
	cr_assert(measure.data_bytes >= measure.log_bytes, "the log is on the data disks, with its parity");
	sl_scenario_free(sc);
}
