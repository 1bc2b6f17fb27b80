/* Parts that stand on one another. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "guests/chain.h"

/* What happened, one word each. */
struct diary {
	char text[256];
	int fails_at; /* the up() that fails; 0 = none */
	const char *sick;
};

struct member {
	struct diary *diary;
	const char *name;
	int number;
};

static void note(struct diary *diary, const char *sign, const char *name)
{
	size_t used = strlen(diary->text);

	(void)snprintf(diary->text + used, sizeof(diary->text) - used, "%s%s ", sign, name);
}

static int member_up(void *self, struct sl_err *err)
{
	struct member *member = self;

	if (member->number == member->diary->fails_at) {
		return sl_err_set(err, -EIO, "%s: broken", member->name);
	}
	note(member->diary, "+", member->name);
	return 0;
}

static void member_down(void *self)
{
	struct member *member = self;

	note(member->diary, "-", member->name);
}

static int member_check(void *self, struct sl_err *err)
{
	struct member *member = self;

	return member->diary->sick && strcmp(member->diary->sick, member->name) == 0
		   ? sl_err_set(err, -EPIPE, "%s: died", member->name)
		   : 0;
}

static void chain_of_three(struct sl_chain *chain, struct member members[3], struct diary *diary)
{
	static const char *const names[] = {"server", "disk", "database"};

	*chain = (struct sl_chain){.n = 0};
	for (int i = 0; i < 3; i++) {
		members[i] = (struct member){diary, names[i], i + 1};
		sl_chain_add(chain, &(struct sl_part){member_up, member_down, i == 1 ? NULL : member_check,
						      &members[i]});
	}
}

Test(chain, up_in_order_and_down_in_reverse)
{
	struct diary diary = {.text = ""};
	struct sl_chain chain;
	struct member members[3];
	struct sl_err err = {0};

	chain_of_three(&chain, members, &diary);
	cr_assert_eq(sl_chain_up(&chain, &err), 0);
	cr_assert_eq(sl_chain_up(&chain, &err), 0, "what is up stays");
	sl_chain_drop(&chain);
	sl_chain_down(&chain);
	sl_chain_down(&chain);
	cr_assert_str_eq(diary.text, "+server +disk +database -database -disk -server ");
}

Test(chain, a_part_that_fails_takes_those_below_down)
{
	for (int fails_at = 1; fails_at <= 3; fails_at++) {
		static const char *const expected[] = {"", "+server -server ",
						       "+server +disk -disk -server "};
		struct diary diary = {.fails_at = fails_at};
		struct sl_chain chain;
		struct member members[3];
		struct sl_err err = {0};

		chain_of_three(&chain, members, &diary);
		cr_assert_eq(sl_chain_up(&chain, &err), -EIO);
		cr_assert_str_eq(diary.text, expected[fails_at - 1]);
	}
}

Test(chain, the_lowest_part_that_is_not_well_is_named_if_it_is_up)
{
	struct diary diary = {.sick = "server"};
	struct sl_chain chain;
	struct member members[3];
	struct sl_err err = {0};

	chain_of_three(&chain, members, &diary);
	cr_assert_eq(sl_chain_check(&chain, &err), 0);
	cr_assert_eq(sl_chain_up(&chain, &err), 0);
	cr_assert_eq(sl_chain_check(&chain, &err), -EPIPE);
	cr_assert_str_eq(err.msg, "server: died");
	diary.sick = NULL;
	cr_assert_eq(sl_chain_check(&chain, &err), 0);
}
