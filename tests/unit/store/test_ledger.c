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
	cr_assert_eq(sl_ledger_at(&ledger, early)->committed_ns, SL_NEVER);
	sl_ledger_committed(&ledger, 31, 1, 20);
	cr_assert_eq(sl_ledger_at(&ledger, early)->committed_ns, 31);
	cr_assert_eq(sl_ledger_at(&ledger, late)->committed_ns, SL_NEVER);
	cr_assert_eq(sl_ledger_at(&ledger, stable)->committed_ns, 11, "by its own answer");
	sl_ledger_committed(&ledger, 50, 1, 40);
	cr_assert_eq(sl_ledger_at(&ledger, early)->committed_ns, 31, "the first counts");
	cr_assert_eq(sl_ledger_at(&ledger, late)->committed_ns, 50);
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
	cr_assert_eq(sl_ledger_at(&ledger, a)->promised_ns, 5);
	cr_assert_eq(sl_ledger_at(&ledger, b)->promised_ns, SL_NEVER);
	cr_assert_eq(sl_ledger_at(&ledger, c)->promised_ns, 5);
	sl_ledger_fini(&ledger);
}

/* Room for 8: four are followed one by one, then two of every second, then one of every fourth, and so on: 4
 * + 4 + 4 + 8 (the last place is for one of eight). */
Test(ledger, full_ones_follow_one_for_many)
{
	struct sl_ledger ledger;
	uint32_t followed = 0, stand_for = 0;

	sl_ledger_init(&ledger, 8);
	for (int i = 1; i <= 4; i++) {
		cr_assert_eq(sent(&ledger, i, 0), (uint32_t)i);
	}
	cr_assert_eq(ledger.max_weight, 1);
	for (int i = 0; i < 1000; i++) {
		followed += sent(&ledger, 5, 0) > 0;
	}
	cr_assert_eq(followed, 4);
	for (uint32_t i = 5; i <= 8; i++) {
		stand_for += sl_ledger_at(&ledger, i)->weight;
	}
	cr_assert_eq(stand_for, 2 + 2 + 4 + 8);
	cr_assert_eq(ledger.n_sent, 1004, "all are counted");
	for (uint32_t i = 1; i <= 8; i++) {
		sl_ledger_forget(&ledger, i);
	}
	cr_assert_null(sl_ledger_at(&ledger, 8));
	cr_assert_eq(sl_ledger_at(&ledger, sent(&ledger, 6, 0))->bytes, 4096);
	sl_ledger_fini(&ledger);
}

/* Half a million writes, each forgotten a little later: neither ring grows. */
Test(ledger, keeps_no_more_than_what_is_not_forgotten)
{
	struct sl_ledger ledger;

	sl_ledger_init(&ledger, 1 << 20);
	for (uint32_t i = 1; i <= 500000; i++) {
		uint32_t group = sl_ledger_group(&ledger);

		cr_assert_eq(sent(&ledger, i, group), i);
		sl_ledger_replied(&ledger, i, i, SL_UNSTABLE);
		sl_ledger_promise(&ledger, i, i % 2 ? group : 0);
		sl_ledger_forget(&ledger, i - 100);
	}
	cr_assert(ledger.writes.room <= 256 && ledger.unstable.room <= 512 && ledger.groups.room <= 8192);
	cr_assert_eq(ledger.n_promised, 250000);
	sl_ledger_fini(&ledger);
}

static void note_due(void *arg, int64_t now_ns)
{
	struct sl_ledger *ledger = arg;

	cr_assert_eq(now_ns, 21);
	cr_assert_eq(ledger->n_replied, 1, "before anything is entered");
	ledger->due_ns = SL_NEVER;
}

Test(ledger, says_when_it_is_due)
{
	struct sl_ledger ledger;
	uint32_t write, group;

	sl_ledger_init(&ledger, 10);
	group = sl_ledger_group(&ledger);
	ledger.arg = &ledger;
	ledger.on_due = note_due;
	ledger.due_ns = 20;
	write = sent(&ledger, 1, group);
	sl_ledger_replied(&ledger, 20, write, SL_FILE_SYNC);
	cr_assert_eq(ledger.due_ns, 20, "what happens at that instant has happened");
	sl_ledger_promise(&ledger, 21, group);
	cr_assert_eq(ledger.due_ns, SL_NEVER);
	cr_assert_eq(sl_ledger_longest_answer_ns(&ledger, 30), 19);
	(void)sent(&ledger, 22, 0);
	cr_assert_eq(sl_ledger_longest_answer_ns(&ledger, 62), 40, "one that waits");
	sl_ledger_fini(&ledger);
}

Test(ledger, nobody_need_ask)
{
	cr_assert_eq(sent(NULL, 1, 0), 0);
	cr_assert_eq(sl_ledger_group(NULL), 0);
	sl_ledger_replied(NULL, 1, 1, SL_UNSTABLE);
	sl_ledger_committed(NULL, 1, 1, 1);
	sl_ledger_promise(NULL, 1, 1);
}
