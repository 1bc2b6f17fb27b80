/* The transactions of sysbench OLTP: statements, keys, distributions. */
#include <criterion/criterion.h>
#include <math.h>

#include "sim/workload/oltp.h"

#define DRAWS 400000
#define ROWS 1000000u

static void init(struct sl_oltp *oltp, uint64_t seed, int client, uint32_t rows,
		 enum sl_oltp_distribution distribution)
{
	const struct sl_oltp_config config = {.rows = rows, .distribution = distribution};

	sl_oltp_init(oltp, &config, seed, client);
}

Test(oltp, a_transaction_is_these_20_statements_in_this_order)
{
	static const enum sl_oltp_kind expected[SL_OLTP_STATEMENTS] = {
	    SL_OLTP_BEGIN,        SL_OLTP_POINT,  SL_OLTP_POINT,  SL_OLTP_POINT,  SL_OLTP_POINT,
	    SL_OLTP_POINT,        SL_OLTP_POINT,  SL_OLTP_POINT,  SL_OLTP_POINT,  SL_OLTP_POINT,
	    SL_OLTP_POINT,        SL_OLTP_RANGE,  SL_OLTP_SUM,    SL_OLTP_ORDER,  SL_OLTP_DISTINCT,
	    SL_OLTP_UPDATE_INDEX, SL_OLTP_UPDATE, SL_OLTP_DELETE, SL_OLTP_INSERT, SL_OLTP_COMMIT};
	struct sl_oltp_txn txn;
	struct sl_oltp oltp;

	init(&oltp, 1, 0, ROWS, SL_OLTP_SPECIAL);
	for (int n = 0; n < 100; n++) {
		sl_oltp_next(&oltp, &txn);
		cr_assert_eq(txn.count, SL_OLTP_STATEMENTS);
		for (int i = 0; i < SL_OLTP_STATEMENTS; i++) {
			bool keyless = i == 0 || i == SL_OLTP_STATEMENTS - 1;

			cr_assert_eq(txn.statements[i].kind, expected[i], "statement %d", i);
			cr_assert_eq(txn.statements[i].key == 0, keyless, "statement %d", i);
		}
		/* The row that is deleted comes back. */
		cr_assert_eq(txn.statements[18].key, txn.statements[17].key);
	}
}

/* The statements of a list, a letter each. */
static const char *letters(enum sl_oltp_list list, char buf[SL_OLTP_STATEMENTS + 1])
{
	static const char names[] = "(prsodKUDI)";
	const struct sl_oltp_config config = {.list = list, .rows = ROWS};
	struct sl_oltp_txn txn;
	struct sl_oltp oltp;

	sl_oltp_init(&oltp, &config, 1, 0);
	sl_oltp_next(&oltp, &txn);
	for (int i = 0; i < txn.count; i++) {
		buf[i] = names[txn.statements[i].kind];
	}
	buf[txn.count] = '\0';
	return buf;
}

Test(oltp, the_lists_of_sysbench_1_0_are_parts_of_the_same_transaction)
{
	char buf[SL_OLTP_STATEMENTS + 1];

	cr_assert_str_eq(letters(SL_OLTP_COMPLEX, buf), "(pppppppppprsodKUDI)");
	cr_assert_str_eq(letters(SL_OLTP_READ_WRITE, buf), "(pppppppppprsodKUDI)");
	cr_assert_str_eq(letters(SL_OLTP_READ_ONLY, buf), "(pppppppppprsod)");
	cr_assert_str_eq(letters(SL_OLTP_WRITE_ONLY, buf), "(KUDI)");
	cr_assert_str_eq(letters(SL_OLTP_INDEX_ONLY, buf), "K");
}

Test(oltp, keys_are_rows_of_the_table)
{
	static const uint32_t tables[] = {1, 2, 100, 10007, UINT32_MAX - 1};

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (int d = SL_OLTP_SPECIAL; d <= SL_OLTP_PARETO; d++) {
			struct sl_oltp oltp;

			init(&oltp, 1, 0, tables[t], (enum sl_oltp_distribution)d);
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

	init(&oltp, 3, 0, ROWS, distribution);
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

Test(oltp, zipf_gives_rank_k_the_share_that_the_formula_gives)
{
	static const uint32_t ranks[] = {1, 2, 10, 100};
	uint32_t hits[101] = {0};
	double all = 0;
	struct sl_oltp oltp;

	init(&oltp, 3, 0, 1000, SL_OLTP_ZIPF);
	for (int i = 0; i < DRAWS; i++) {
		uint32_t key = sl_oltp_key(&oltp);

		hits[key <= 100 ? key : 0]++;
	}
	for (uint32_t k = 1; k <= 1000; k++) {
		all += pow(k, -0.8);
	}
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		double share = pow(ranks[i], -0.8) / all;

		/* Four standard deviations. */
		cr_assert_float_eq((double)hits[ranks[i]] / DRAWS, share, 4 * sqrt(share / DRAWS), "rank %u",
				   ranks[i]);
	}
}

Test(oltp, pareto_gives_the_first_fifth_of_the_ids_four_fifths_of_the_keys_and_so_on)
{
	/* h = 0.2: a share h^n of the ids has a share (1 - h)^n of the keys. */
	static const double ids[] = {0.2, 0.04, 0.008}, keys[] = {0.8, 0.64, 0.512};
	struct sl_oltp oltp;
	int below[3] = {0};

	init(&oltp, 3, 0, ROWS, SL_OLTP_PARETO);
	for (int i = 0; i < DRAWS; i++) {
		uint32_t key = sl_oltp_key(&oltp);

		for (int n = 0; n < 3; n++) {
			below[n] += key <= ids[n] * ROWS;
		}
	}
	for (int n = 0; n < 3; n++) {
		cr_assert_float_eq((double)below[n] / DRAWS, keys[n], 0.004, "%g of the ids", ids[n]);
	}
}

Test(oltp, each_client_has_a_stream_of_its_own_that_repeats_with_the_seed)
{
	struct sl_oltp first, again, second, reseeded;
	int same_client = 0, same_seed = 0;

	init(&first, 1, 0, ROWS, SL_OLTP_UNIFORM);
	init(&again, 1, 0, ROWS, SL_OLTP_UNIFORM);
	init(&second, 1, 1, ROWS, SL_OLTP_UNIFORM);
	init(&reseeded, 2, 0, ROWS, SL_OLTP_UNIFORM);
	for (int i = 0; i < 100; i++) {
		uint32_t key = sl_oltp_key(&first);

		cr_assert_eq(sl_oltp_key(&again), key);
		same_client += sl_oltp_key(&second) == key;
		same_seed += sl_oltp_key(&reseeded) == key;
	}
	cr_assert_eq(same_client, 0);
	cr_assert_eq(same_seed, 0);
}
