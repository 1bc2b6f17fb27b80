/* What a real MariaDB is told of the scenario's database. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "guests/mariadb.h"

static void settings_of(const struct sl_box *box, char *buf, size_t room)
{
	const struct sl_mariadb_limits limits = {.box = box,
						 .flush_at_commit = (int)box->flush_log_at_commit};
	FILE *out = fmemopen(buf, room, "w");

	cr_assert_not_null(out);
	sl_mariadb_settings(&limits, "", "\n", out);
	cr_assert_eq(fclose(out), 0);
}

Test(mariadb, pool_log_and_flushing_are_those_of_the_scenario)
{
	struct sl_box box = {.buffer_pool_bytes = 268435456,
			     .log_size_bytes = 104857600,
			     .io_capacity = 200,
			     .flush_log_at_commit = 2,
			     .doublewrite = SL_DOUBLEWRITE_OFF,
			     .flush_method = SL_FLUSH_METHOD_O_DIRECT};
	static const char *const lines[] = {"innodb_buffer_pool_size=268435456\n",
					    "innodb_log_file_size=104857600\n",
					    "innodb_flush_log_at_trx_commit=2\n",
					    "innodb_io_capacity=200\n",
					    "innodb_doublewrite=0\n",
					    "innodb_flush_method=O_DIRECT\n"};
	char text[1024];

	settings_of(&box, text, sizeof(text));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		cr_assert(strstr(text, lines[i]), "no %s in:\n%s", lines[i], text);
	}
}

Test(mariadb, auto_leaves_the_flush_method_to_the_server)
{
	const struct sl_box box = {.doublewrite = SL_DOUBLEWRITE_ON, .flush_log_at_commit = 1};
	char text[1024];

	settings_of(&box, text, sizeof(text));
	cr_assert(!strstr(text, "innodb_flush_method"), "%s", text);
	cr_assert(strstr(text, "innodb_doublewrite=1\n"), "%s", text);
}
