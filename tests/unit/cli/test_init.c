/* What is understood of names and lists of disks as people write them. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/init_list.h"
#include "cli/init_scenario.h"
#include "sim/base/fuzzy.h"

static const char *const names[] = {"hdd-10k-sas-300",   "hdd-7200-desktop",   "intel-dc-s3500-480",
				    "intel-dc-s3500-80", "intel-dc-s3700-100", "intel-dc-s3700-200",
				    "optane-900p-280",   "raid10-8x-15k-sas",  "optane-p4800x-375"};

/* The name that is meant alone, or NULL. */
static const char *one(const char *typed)
{
	struct sl_fuzzy found;

	sl_fuzzy_find(typed, names, 9, &found);
	return found.kind == SL_FUZZY_ONE ? names[found.hit[0]] : NULL;
}

static int hits(const char *typed, enum sl_fuzzy_kind kind)
{
	struct sl_fuzzy found;

	sl_fuzzy_find(typed, names, 9, &found);
	cr_assert_eq(found.kind, kind, "%s: %d", typed, found.kind);
	return found.n;
}

Test(init, a_part_of_a_name_is_enough_where_it_fits_only_one)
{
	cr_assert_str_eq(one("900p"), "optane-900p-280");
	cr_assert_str_eq(one("7200-d"), "hdd-7200-desktop");
	cr_assert_str_eq(one("S3700 200GB"), "intel-dc-s3700-200");
	cr_assert_str_eq(one("200 s3700"), "intel-dc-s3700-200", "the order of the words does not matter");
	/* 80 is a word of the one and only a part of a word of the other, 480. */
	cr_assert_str_eq(one("s3500 80"), "intel-dc-s3500-80");
	cr_assert_str_eq(one("intel_dc_s3500_80"), "intel-dc-s3500-80");
}

Test(init, what_fits_several_is_no_answer)
{
	cr_assert_eq(hits("s3700", SL_FUZZY_SEVERAL), 2);
	cr_assert_eq(hits("intel", SL_FUZZY_SEVERAL), 4);
	cr_assert_eq(hits("", SL_FUZZY_NONE), 0);
	cr_assert_eq(hits("seagate", SL_FUZZY_NONE), 0);
}

Test(init, what_is_misspelt_is_only_a_guess)
{
	cr_assert_eq(hits("hdd-7200-deskop", SL_FUZZY_NEAR), 1);
	cr_assert_eq(hits("optnae 900p", SL_FUZZY_NEAR), 1);
	cr_assert_eq(hits("s3701", SL_FUZZY_NEAR), 2, "the words s3700 of two names");
}

static void item(const char *text, const char *name, int count)
{
	char got[128];
	int n = 77;

	cr_assert(sl_init_item(text, got, sizeof(got), &n), "%s", text);
	cr_assert_str_eq(got, name, "%s: %s", text, got);
	cr_assert_eq(n, count, "%s: %d", text, n);
}

Test(init, disks_are_counted_before_or_behind_their_name)
{
	item("hdd-7200-desktop x 4", "hdd-7200-desktop", 4);
	item("6x hdd-7200-desktop", "hdd-7200-desktop", 6);
	item("6 x hdd", "hdd", 6);
	item("6xhdd", "hdd", 6);
	item("6 hdd 7200 desktop", "hdd 7200 desktop", 6);
	item(" hdd*4 ", "hdd", 4);
	item("hdd \xc3\x97 12", "hdd", 12);
	item("hdd X4", "hdd", 4);
	item("raid10-8x-15k-sas", "raid10-8x-15k-sas", 0);
	item("hdd", "hdd", 0);
	item("2 x hdd x 3", "hdd 3", -1);
	item("hdd x 0", "hdd", -1);
	item("hdd x", "hdd", -1);
}

Test(init, a_number_at_the_end_may_be_a_count)
{
	char name[] = "hdd 7200 desktop 4", size[] = "intel 7200", alone[] = "hdd";

	cr_assert_eq(sl_init_item_tail(name), 4);
	cr_assert_str_eq(name, "hdd 7200 desktop");
	cr_assert_eq(sl_init_item_tail(size), 0, "nobody has 7200 disks");
	cr_assert_eq(sl_init_item_tail(alone), 0);
}

Test(init, what_nobody_said_goes_with_what_was_said)
{
	static struct sl_init a;

	sl_init_defaults(&a);
	strcpy(a.answer[SL_INIT_HYPERVISOR], "qemu");
	strcpy(a.answer[SL_INIT_DISKS], "a x 5, b");
	a.known[SL_INIT_DISKS] = true;
	sl_init_settle(&a);
	cr_assert_eq(sl_init_disks(&a), 6);
	cr_assert_str_eq(a.answer[SL_INIT_CLIENT], "libnfs");
	cr_assert_str_eq(a.answer[SL_INIT_LAYOUT], "mirror");
	cr_assert_str_eq(a.answer[SL_INIT_VDEVS], "3", "mirrors are pairs");

	sl_init_defaults(&a);
	strcpy(a.answer[SL_INIT_LAYOUT], "raidz2");
	strcpy(a.answer[SL_INIT_VDEVS], "2");
	a.known[SL_INIT_LAYOUT] = a.known[SL_INIT_VDEVS] = true;
	sl_init_settle(&a);
	cr_assert_eq(sl_init_disks(&a), 8, "two raidz2 of four disks, their least");
}
