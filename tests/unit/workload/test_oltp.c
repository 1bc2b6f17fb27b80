/* The transaction of sysbench 0.4 OLTP: statements, keys, distributions. */
#include <criterion/criterion.h>

#include "sim/workload/oltp.h"

#define DRAWS 400000
#define ROWS 1000000u

Test(oltp, a_transaction_is_these_20_statements_in_this_order)
{
	static const enum sl_oltp_kind expected[SL_OLTP_STATEMENTS] = {
	    SL_OLTP_BEGIN,        SL_OLTP_POINT,  SL_OLTP_POINT,  SL_OLTP_POINT,  SL_OLTP_POINT,
	    SL_OLTP_POINT,        SL_OLTP_POINT,  SL_OLTP_POINT,  SL_OLTP_POINT,  SL_OLTP_POINT,
	    SL_OLTP_POINT,        SL_OLTP_RANGE,  SL_OLTP_SUM,    SL_OLTP_ORDER,  SL_OLTP_DISTINCT,
	    SL_OLTP_UPDATE_INDEX, SL_OLTP_UPDATE, SL_OLTP_DELETE, SL_OLTP_INSERT, SL_OLTP_COMMIT};
	struct sl_oltp_txn txn;
	struct sl_oltp oltp;

	sl_oltp_init(&oltp, 1, 0, ROWS, SL_OLTP_SPECIAL);
	for (int n = 0; n < 100; n++) {
		sl_oltp_next(&oltp, &txn);
		for (int i = 0; i < SL_OLTP_STATEMENTS; i++) {
			bool keyless = i == 0 || i == SL_OLTP_STATEMENTS - 1;

			cr_assert_eq(txn.statements[i].kind, expected[i], "statement %d", i);
			cr_assert_eq(txn.statements[i].key == 0, keyless, "statement %d", i);
		}
		/* The row that is deleted comes back. */
		cr_assert_eq(txn.statements[18].key, txn.statements[17].key);
	}
}

Test(oltp, keys_are_rows_of_the_table)
{
	static const uint32_t tables[] = {1, 2, 100, 10007, UINT32_MAX - 1};

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (int d = SL_OLTP_SPECIAL; d <= SL_OLTP_UNIFORM; d++) {
			struct sl_oltp oltp;

			sl_oltp_init(&oltp, 1, 0, tables[t], (enum sl_oltp_distribution)d);
			for (int i = 0; i < 5000; i++) {
				uint32_t key = sl_oltp_key(&oltp);

				cr_assert(key >= 1 && key <= tables[t], "%u of %u", key, tables[t]);
			}
		}
	}
}

/* Share of DRAWS keys in the middle `share` of the table. */
static double middle(enum sl_oltp_distribution distribution, double share)
{
	struct sl_oltp oltp;
	int inside = 0;

	sl_oltp_init(&oltp, 3, 0, ROWS, distribution);
	for (int i = 0; i < DRAWS; i++) {
		double position = ((double)sl_oltp_key(&oltp) - 0.5) / ROWS;

		inside += position > 0.5 - share / 2 && position < 0.5 + share / 2;
	}
	return (double)inside / DRAWS;
}

Test(oltp, special_puts_three_keys_of_four_into_the_middle_one_percent_and_the_rest_on_a_bell)
{
	/* The bell is the mean of 12 uniforms: standard deviation 1/12 of the table, nearly normal. */
	cr_assert_float_eq(middle(SL_OLTP_SPECIAL, 0.01), 0.75 + 0.25 * 0.0478, 0.003);
	cr_assert_float_eq(middle(SL_OLTP_SPECIAL, 0.005), (0.75 + 0.25 * 0.0478) / 2, 0.003);
	cr_assert_float_eq(middle(SL_OLTP_SPECIAL, 2.0 / 12), 0.75 + 0.25 * 0.681, 0.003);
	cr_assert_float_eq(middle(SL_OLTP_SPECIAL, 4.0 / 12), 0.75 + 0.25 * 0.955, 0.003);
}

Test(oltp, uniform_is_uniform)
{
	cr_assert_float_eq(middle(SL_OLTP_UNIFORM, 0.01), 0.01, 0.002);
	cr_assert_float_eq(middle(SL_OLTP_UNIFORM, 0.5), 0.5, 0.004);
}

Test(oltp, each_client_has_a_stream_of_its_own_that_repeats_with_the_seed)
{
	struct sl_oltp first, again, second, reseeded;
	int same_client = 0, same_seed = 0;

	sl_oltp_init(&first, 1, 0, ROWS, SL_OLTP_UNIFORM);
	sl_oltp_init(&again, 1, 0, ROWS, SL_OLTP_UNIFORM);
	sl_oltp_init(&second, 1, 1, ROWS, SL_OLTP_UNIFORM);
	sl_oltp_init(&reseeded, 2, 0, ROWS, SL_OLTP_UNIFORM);
	for (int i = 0; i < 100; i++) {
		uint32_t key = sl_oltp_key(&first);

		cr_assert_eq(sl_oltp_key(&again), key);
		same_client += sl_oltp_key(&second) == key;
		same_seed += sl_oltp_key(&reseeded) == key;
	}
	cr_assert_eq(same_client, 0);
	cr_assert_eq(same_seed, 0);
}
