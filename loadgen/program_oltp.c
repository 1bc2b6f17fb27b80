/* sloglab-load oltp. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "loadgen/oltp.h"
#include "loadgen/program.h"
#include "sim/base/clock.h"

#define LISTS "read_write|read_only|write_only|update_index|complex"
#define DISTRIBUTIONS "special|uniform|zipf|pareto" /* in the order of enum sl_oltp_distribution */
#define OLD_REQUESTS 10000                          /* sysbench 0.4's --max-requests */

static const enum sl_oltp_list lists[] = {SL_OLTP_READ_WRITE, SL_OLTP_READ_ONLY, SL_OLTP_WRITE_ONLY,
					  SL_OLTP_INDEX_ONLY, SL_OLTP_COMPLEX};
static const char *const list_names[] = {"read_write", "read_only", "write_only", "update_index", "complex"};
static const char *const distribution_names[] = {"special", "uniform", "zipf", "pareto"};

struct oltp {
	struct program program;
	struct sl_db_config db;
	uint64_t port, rows, rate;
	unsigned list, distribution, arrivals;
	struct program_filling filling;
};

void program_filling_print(struct program_filling *filling, int64_t now_s, uint64_t rows, uint64_t of)
{
	int64_t spent_s = now_s - filling->begin_s;
	bool end = rows == of;

	if (!end && now_s - filling->last_s < (filling->terminal ? 1 : 10)) {
		return;
	}
	filling->last_s = now_s;
	(void)fprintf(filling->out, "%sprepare: %llu of %llu rows, %.0f %%",
		      filling->terminal ? "\r\033[K" : "", (unsigned long long)rows, (unsigned long long)of,
		      100.0 * (double)rows / (double)of);
	if (!end && rows > 0 && spent_s > 0) {
		(void)fprintf(filling->out, ", %.0f s left",
			      (double)spent_s * (double)(of - rows) / (double)rows);
	}
	(void)fprintf(filling->out, "%s", end ? "; making the index\n" : filling->terminal ? "" : "\n");
}

static void progress(void *arg, uint64_t rows, uint64_t of)
{
	program_filling_print(arg, sl_clock_ms() / 1000, rows, of);
}

static json_t *about_json(const struct oltp *oltp)
{
	json_t *about = json_pack("{s:s, s:s, s:I}", "list", list_names[oltp->list], "distribution",
				  distribution_names[oltp->distribution], "rows", (json_int_t)oltp->rows);

	if (oltp->rate > 0) {
		(void)json_object_set_new(about, "arrival_rate", json_integer((json_int_t)oltp->rate));
		(void)json_object_set_new(about, "arrivals",
					  json_string(oltp->arrivals ? "constant" : "poisson"));
	}
	return about;
}

static int oltp_run(struct oltp *oltp, unsigned stages)
{
	struct program *program = &oltp->program;
	struct sl_oltp_load load = {
	    .db = oltp->db,
	    .stages = stages,
	    .source = {.list = lists[oltp->list],
		       .distribution = (enum sl_oltp_distribution)oltp->distribution,
		       .rows = (uint32_t)oltp->rows},
	    .rate = (double)oltp->rate,
	    .constant = oltp->arrivals == 1,
	    .progress = progress,
	    .progress_arg = &oltp->filling,
	};
	int rc;

	load.limits = program_limits(program, load.source.list == SL_OLTP_COMPLEX ? OLD_REQUESTS : 0);
	load.threads = (uint32_t)program->threads;
	load.seed = program->seed;
	load.db.port = (uint16_t)oltp->port;
	load.db.timeout_ns = program->stall_ns;
	oltp->filling = (struct program_filling){
	    .begin_s = sl_clock_ms() / 1000, .terminal = isatty(STDERR_FILENO) == 1, .out = stderr};
	oltp->filling.last_s = oltp->filling.begin_s;
	rc = sl_oltp_load_run(&load, &program->result, &program->err);
	return program_end(program, rc, stages & SL_LOAD_RUN, about_json(oltp));
}

int program_oltp(int argc, char **argv)
{
	struct oltp oltp = {
	    .db = {.host = "127.0.0.1", .user = "sbtest", .database = "sbtest"}, .port = 3306, .rows = 10000};
	const struct sl_option options[] = {
	    PROGRAM_DB_OPTIONS(&oltp.db, &oltp.port),
	    {"list", LISTS, "statements (read_write); complex: sysbench 0.4's", SL_OPT_CHOICE, &oltp.list, 0,
	     0},
	    {"rows", "N", "of the table (10000)", SL_OPT_NUMBER, &oltp.rows, 1, INT32_MAX},
	    {"distribution", DISTRIBUTIONS, "of the keys (special)", SL_OPT_CHOICE, &oltp.distribution, 0, 0},
	    {"rate", "N", "open loop: N transactions per second are due (0 = closed loop)", SL_OPT_NUMBER,
	     &oltp.rate, 0, 10000000},
	    {"arrivals", "poisson|constant", "of the open loop (poisson)", SL_OPT_CHOICE, &oltp.arrivals, 0,
	     0},
	    PROGRAM_OPTIONS(&oltp.program),
	    PROGRAM_OPTIONS_END};
	const struct program_command command = {
	    .load = "oltp",
	    .usage = "oltp [prepare|run|cleanup] [OPTION...]",
	    .about = "sysbench's OLTP against MariaDB: prepared statements, one connection per thread.\n"
		     "Without a stage all are done one after the other.",
	    .options = options,
	};
	struct sl_words operands;
	unsigned stages;
	int exit_code;

	if (!program_begin(&oltp.program, &command, argc, argv, &operands, &exit_code)) {
		return exit_code;
	}
	if (!program_stages(&oltp.program, &operands, &stages)) {
		sl_load_result_fini(&oltp.program.result);
		return PROGRAM_USAGE;
	}
	return oltp_run(&oltp, stages);
}
