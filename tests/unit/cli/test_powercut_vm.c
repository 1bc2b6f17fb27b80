/* The verdict of an audit, from inside a guest; and who answers for it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "cli/powercut_vm.h"

Test(powercut_vm, verdict)
{
	struct sl_vm_cut cut = {0};
	struct sl_err err = {0};

	cr_assert_eq(sl_vm_cut_parse(
			 "{\"schema\": \"sloglab-audit/1\", \"acknowledged\": 700, \"lost\": 2, \"torn\": 1, "
			 "\"extra\": 0, \"unfinished\": 3, \"first_lost\": \"7\"}",
			 &cut, &err),
		     0, "%s", err.msg);
	cr_assert_eq(cut.acknowledged, 700);
	cr_assert_eq(cut.lost, 2);
	cr_assert_eq(cut.torn, 1);
	cr_assert_eq(cut.unfinished, 3);
}

Test(powercut_vm, nonsense_is_no_verdict)
{
	static const char *const bad[] = {
	    "",
	    "null",
	    "[]",
	    "{}",
	    "{\"acknowledged\": 700, \"lost\": 0, \"torn\": 0}",
	    "{\"acknowledged\": 700, \"lost\": -1, \"torn\": 0, \"unfinished\": 0}",
	    "{\"acknowledged\": 700, \"lost\": \"0\", \"torn\": 0, \"unfinished\": 0}"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sl_vm_cut cut = {0};
		struct sl_err err = {0};

		cr_assert_eq(sl_vm_cut_parse(bad[i], &cut, &err), -EPROTO, "%s", bad[i]);
		cr_assert(strncmp(err.msg, "guest: ", 7) == 0, "%s", err.msg);
	}
}

static void expect_blame(int64_t lost, const char *words)
{
	const struct sl_vm_cut cut = {.acknowledged = 1000, .lost = lost};
	char blame[256];

	sl_vm_cut_blame(&cut, blame, sizeof(blame));
	cr_assert(strstr(blame, words), "%s", blame);
}

Test(powercut_vm, who_answers)
{
	expect_blame(0, "nothing is lost");
	expect_blame(SL_CUT_WRITERS, "QEMU's NFS client");
	expect_blame(SL_CUT_WRITERS + 1, "the pool");
}
