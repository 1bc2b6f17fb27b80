#include <criterion/criterion.h>

#include "sim/store/ledger.h"

static uint32_t sent(struct sl_ledger *ledger, int64_t at_ns, uint32_t group)
{
	const struct sl_store_req req = {.op = SL_STORE_WRITE, .file = 1, .bytes = 4096};

	return sl_ledger_sent(ledger, at_ns, &req, group);
}

Test(ledger, commit_covers_what_was_answered_before_it_was_sent)
{
	struct sl_ledger ledger;
	uint32_t early, late, stable;

	sl_ledger_init(&ledger, 10);
	early = sent(&ledger, 0, 0);
	late = sent(&ledger, 1, 0);
	stable = sent(&ledger, 2, 0);
	sl_ledger_replied(&ledger, 10, early, SL_UNSTABLE);
	sl_ledger_replied(&ledger, 11, stable, SL_FILE_SYNC);
	sl_ledger_replied(&ledger, 21, late, SL_UNSTABLE);
	sl_ledger_committed(&ledger, 30, 2, 25); /* another file */
	cr_assert_eq(ledger.writes[early - 1].committed_ns, SL_NEVER);
	sl_ledger_committed(&ledger, 31, 1, 20);
	cr_assert_eq(ledger.writes[early - 1].committed_ns, 31);
	cr_assert_eq(ledger.writes[late - 1].committed_ns, SL_NEVER);
	cr_assert_eq(ledger.writes[stable - 1].committed_ns, 11, "by its own answer");
	sl_ledger_committed(&ledger, 50, 1, 40);
	cr_assert_eq(ledger.writes[early - 1].committed_ns, 31, "the first counts");
	cr_assert_eq(ledger.writes[late - 1].committed_ns, 50);
	sl_ledger_fini(&ledger);
}

Test(ledger, promise_covers_the_group_and_counts_once)
{
	struct sl_ledger ledger;
	uint32_t group, other, a, b, c;

	sl_ledger_init(&ledger, 10);
	group = sl_ledger_group(&ledger);
	other = sl_ledger_group(&ledger);
	a = sent(&ledger, 0, group);
	b = sent(&ledger, 0, other);
	c = sent(&ledger, 0, group);
	sl_ledger_promise(&ledger, 5, group);
	sl_ledger_promise(&ledger, 6, group);
	cr_assert_eq(ledger.writes[a - 1].promised_ns, 5);
	cr_assert_eq(ledger.writes[b - 1].promised_ns, SL_NEVER);
	cr_assert_eq(ledger.writes[c - 1].promised_ns, 5);
	sl_ledger_fini(&ledger);
}

Test(ledger, ends_when_it_is_full_and_nobody_need_ask)
{
	struct sl_ledger ledger;

	sl_ledger_init(&ledger, 2);
	cr_assert_eq(sent(&ledger, 1, 0), 1);
	cr_assert_eq(sent(&ledger, 2, 0), 2);
	cr_assert_eq(ledger.full_ns, SL_NEVER);
	cr_assert_eq(sent(&ledger, 3, 0), 0);
	cr_assert_eq(ledger.full_ns, 3);
	cr_assert_eq(sl_ledger_group(&ledger), 0);
	sl_ledger_replied(&ledger, 4, 2, SL_FILE_SYNC);
	cr_assert_eq(ledger.writes[1].replied_ns, 4, "what is known goes on");
	sl_ledger_fini(&ledger);
	cr_assert_eq(sent(NULL, 1, 0), 0);
	sl_ledger_replied(NULL, 1, 1, SL_UNSTABLE);
	sl_ledger_committed(NULL, 1, 1, 1);
	sl_ledger_promise(NULL, 1, 1);
	sl_ledger_promise_write(NULL, 1, 1);
}
