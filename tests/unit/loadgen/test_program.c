/* The commands of sloglab-load, called as functions: options in, text, JSON and exit codes out. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadgen/program.h"

#define MS 1000000

static void redirect(void)
{
	cr_redirect_stdout();
	cr_redirect_stderr();
}

/* What was printed so far; the caller frees. */
static char *printed(FILE *from)
{
	char *text = calloc(1, 8192);

	(void)fflush(stdout);
	(void)fflush(stderr);
	cr_assert_not_null(text);
	(void)!fread(text, 1, 8191, from);
	return text;
}

/* A scratch folder, in which a command gets all its files. */
struct desk {
	char dir[64], file[80], json[80], acks[80];
};

static void desk_open(struct desk *desk)
{
	*desk = (struct desk){.dir = "/tmp/sloglab-unit-program-XXXXXX"};
	cr_assert_not_null(mkdtemp(desk->dir));
	(void)snprintf(desk->file, sizeof(desk->file), "%s/disk", desk->dir);
	(void)snprintf(desk->json, sizeof(desk->json), "%s/json", desk->dir);
	(void)snprintf(desk->acks, sizeof(desk->acks), "%s/acks", desk->dir);
}

static void desk_close(struct desk *desk)
{
	(void)unlink(desk->file);
	(void)unlink(desk->json);
	(void)unlink(desk->acks);
	cr_assert_eq(rmdir(desk->dir), 0, "something is left in %s", desk->dir);
}

/* A command with words of one line; %D, %F, %J and %A are the desk's folder and files. */
static int command(int (*run)(int argc, char **argv), const struct desk *desk, const char *line)
{
	char *words = strdup(line), *argv[24], text[24][100], *rest = words;
	int argc = 0;

	for (char *word; (word = strsep(&rest, " ")) != NULL; argc++) {
		const char *put = strstr(word, "%D")   ? desk->dir
				  : strstr(word, "%F") ? desk->file
				  : strstr(word, "%J") ? desk->json
				  : strstr(word, "%A") ? desk->acks
						       : NULL;

		cr_assert(argc < 23);
		(void)snprintf(text[argc], sizeof(text[argc]), "%.*s%s",
			       put ? (int)(strchr(word, '%') - word) : 90, word, put ? put : "");
		argv[argc] = text[argc];
	}
	argv[argc] = NULL;
	free(words);
	return run(argc, argv);
}

static json_t *json_of(const struct desk *desk)
{
	json_error_t error;
	json_t *doc = json_load_file(desk->json, 0, &error);

	cr_assert_not_null(doc, "%s", error.text);
	return doc;
}

static json_int_t number(const json_t *doc, const char *key)
{
	const json_t *value = json_object_get(doc, key);

	cr_assert(json_is_number(value), "no %s", key);
	return (json_int_t)json_number_value(value);
}

/* Half a second of measurement: 50 transactions of 2 ms, on 2 threads that used 100 ms of CPU together. */
static void oltp_result(struct program *program)
{
	*program = (struct program){.load = "oltp", .threads = 2, .seed = 7};
	cr_assert_eq(sl_load_result_init(&program->result), 0);
	program->result.elapsed_ns = 500 * MS;
	program->result.requests = 50;
	program->result.errors = 3;
	program->result.ops[SL_LOAD_READ] = 700;
	program->result.ops[SL_LOAD_WRITE] = 200;
	program->result.ops[SL_LOAD_OTHER] = 100;
	program->result.cpu_ns = 100 * MS;
	program->result.user_ns = 75 * MS;
	for (int i = 0; i < 50; i++) {
		sl_hist_add(&program->result.latency, 2 * MS);
	}
}

static char *summary_of(struct program *program)
{
	char *text = NULL;
	size_t size = 0;

	program->out = open_memstream(&text, &size);
	cr_assert_not_null(program->out);
	program_summary(program);
	cr_assert_eq(fclose(program->out), 0);
	program->out = NULL;
	return text;
}

/* 50 in 0.5 s are 100 per second, 1000 statements 2000; 100 ms of 2 x 500 ms are 10 %, and 2 ms for each of
 * the 50. */
Test(program, the_summary_of_oltp_counts_transactions_and_statements)
{
	struct program program;
	char *text;

	oltp_result(&program);
	text = summary_of(&program);
	cr_assert_str_eq(text,
			 "Transactions:          50 (100.00 per sec.)\n"
			 "Statements:            1000 (2000.00 per sec.): 700 read, 200 write, 100 other\n"
			 "Ignored errors:        3\n"
			 "Time measured:         0.5000 s\n"
			 "Latency (ms):          min 2.000  avg 2.000  p50 2.000  p95 2.000  p99 2.000  "
			 "p99.9 2.000  max 2.000\n"
			 "Own CPU:               10.0 %; 2000.0 us per request, 1500.0 us of it user\n");
	free(text);
	sl_load_result_fini(&program.result);
}

/* 25 reads and 25 writes of 1 MiB in half a second: 100 requests and 100 MiB per second. */
Test(program, the_summary_of_fileio_has_the_throughput)
{
	struct program program;
	char *text;

	oltp_result(&program);
	program.load = "fileio";
	program.result.ops[SL_LOAD_READ] = program.result.ops[SL_LOAD_WRITE] = 25;
	program.result.bytes[SL_LOAD_READ] = program.result.bytes[SL_LOAD_WRITE] = 25 << 20;
	program.result.ops[SL_LOAD_OTHER] = 4;
	program.result.null_ns = 123;
	program.result.interrupted = true;
	text = summary_of(&program);
	cr_assert_not_null(strstr(text, "Operations performed:  25 Read, 25 Write, 4 Fsync\n"), "%s", text);
	cr_assert_not_null(strstr(text, "Throughput:            100.00 requests/s, 100.000 MiB/s\n"), "%s",
			   text);
	cr_assert_not_null(strstr(text, "Time measured:         0.5000 s (interrupted)\n"), "%s", text);
	cr_assert_not_null(strstr(text, "NULL call round trip:  123 ns\n"), "%s", text);
	/* One thread serves all: 100 ms of 500. */
	cr_assert_not_null(strstr(text, "Own CPU:               20.0 %;"), "%s", text);
	free(text);
	program.load = "syncwrite";
	text = summary_of(&program);
	cr_assert_not_null(strstr(text, " 4 Other\n"), "%s", text);
	free(text);
	sl_load_result_fini(&program.result);
}

Test(program, what_spoils_the_figures_is_a_warning)
{
	struct program program;
	char *text;

	oltp_result(&program);
	program.result.cpu_ns = 950 * MS; /* 95 % of 2 x 500 ms: not yet */
	program.result.machine_busy = 0.95;
	program.result.queued = 3;
	text = summary_of(&program);
	cr_assert_null(strstr(text, "Warning"), "%s", text);
	free(text);
	program.result.cpu_ns = 951 * MS;
	text = summary_of(&program);
	cr_assert_not_null(strstr(text, "Warning: the generator was saturated"), "%s", text);
	free(text);
	program.result.cpu_ns = 0;
	program.result.machine_busy = 0.951;
	text = summary_of(&program);
	cr_assert_not_null(strstr(text, "Warning: all CPUs of this machine were busy"), "%s", text);
	free(text);
	program.result.machine_busy = 0;
	/* An open loop: as many as there are threads may wait. */
	sl_hist_add(&program.result.queue, MS);
	program.result.queued = 2;
	text = summary_of(&program);
	cr_assert_null(strstr(text, "Warning"), "%s", text);
	cr_assert_not_null(strstr(text, "  of it queueing (ms): min 1.000"), "%s", text);
	free(text);
	program.result.queued = 3;
	text = summary_of(&program);
	cr_assert_not_null(strstr(text, "Warning: the server did not keep up"), "%s", text);
	free(text);
	sl_load_result_fini(&program.result);
}

/* A sample of half a second: all its counts double. */
Test(program, the_ticker_has_sysbench_s_line)
{
	const struct sl_load_sample sample = {.end_ns = 2000LL * MS,
					      .interval_ns = 500 * MS,
					      .requests = 10,
					      .errors = 1,
					      .ops = {140, 40, 20},
					      .p95_ns = 3 * MS};
	struct program program = {.load = "oltp", .threads = 4};
	char *text = NULL;
	size_t size;

	program.out = open_memstream(&text, &size);
	program_ticker(&program, &sample);
	cr_assert_str_eq(text, "[ 2s ] thds: 4 tps: 20.00 qps: 400.00 (r/w/o: 280.00/80.00/40.00) "
			       "lat (ms,95%): 3.00 err/s: 2.00 reconn/s: 0.00\n");
	cr_assert_eq(fclose(program.out), 0);
	free(text);
	program.load = "fileio";
	program.out = open_memstream(&text, &size);
	program_ticker(&program, &sample);
	cr_assert_str_eq(text, "[ 2s ] thds: 4 tps: 20.00 lat (ms,95%): 3.00\n");
	cr_assert_eq(fclose(program.out), 0);
	free(text);
}

static char *filling_line(struct program_filling *filling, int64_t now_s, uint64_t rows)
{
	char *text = NULL;
	size_t size;

	filling->out = open_memstream(&text, &size);
	program_filling_print(filling, now_s, rows, 1000);
	cr_assert_eq(fclose(filling->out), 0);
	return text;
}

/* Begun at 100 s. 200 of 1000 rows in 10 s: 800 more take 40 s. */
Test(program, filling_a_table_has_a_line_every_ten_seconds_and_one_at_the_end)
{
	static const struct {
		int64_t now_s;
		uint64_t rows;
		const char *line;
	} cases[] = {
	    {109, 100, ""},
	    {110, 200, "prepare: 200 of 1000 rows, 20 %, 40 s left\n"},
	    {111, 250, ""}, /* one second after the last line, 11 after the beginning */
	    {119, 400, ""},
	    {120, 500, "prepare: 500 of 1000 rows, 50 %, 20 s left\n"},
	    {121, 1000, "prepare: 1000 of 1000 rows, 100 %; making the index\n"},
	};
	struct program_filling filling = {.begin_s = 100, .last_s = 100};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = filling_line(&filling, cases[i].now_s, cases[i].rows);

		cr_assert_str_eq(text, cases[i].line, "at %d s: %s", (int)cases[i].now_s, text);
		free(text);
	}
}

Test(program, on_a_terminal_the_line_is_written_over_every_second)
{
	struct program_filling filling = {.begin_s = 100, .last_s = 100, .terminal = true};
	char *text = filling_line(&filling, 100, 0);

	cr_assert_str_eq(text, "");
	free(text);
	text = filling_line(&filling, 101, 0);
	cr_assert_str_eq(text, "\r\033[Kprepare: 0 of 1000 rows, 0 %", "nothing says how long it takes");
	free(text);
	text = filling_line(&filling, 102, 500);
	cr_assert_str_eq(text, "\r\033[Kprepare: 500 of 1000 rows, 50 %, 2 s left");
	free(text);
}

Test(program, without_a_limit_a_load_ends_after_ten_seconds_or_its_own_number)
{
	static const struct {
		int64_t time_ns;
		uint64_t given, usual;
		int64_t ret_time_ns;
		uint64_t ret_requests;
	} cases[] = {
	    {0, PROGRAM_UNSET, 0, 10000LL * MS, 0},
	    {0, PROGRAM_UNSET, 10000, 0, 10000},
	    {5 * MS, PROGRAM_UNSET, 10000, 5 * MS, 0},
	    {0, 0, 10000, 10000LL * MS, 0},
	    {5 * MS, 7, 10000, 5 * MS, 7},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct program program = {.time_ns = cases[i].time_ns,
					  .max_requests = cases[i].given,
					  .warmup_ns = 1,
					  .interval_ns = 2,
					  .stall_ns = 3};
		struct sl_load_limits limits = program_limits(&program, cases[i].usual);

		cr_assert_eq(limits.time_ns, cases[i].ret_time_ns, "case %zu", i);
		cr_assert_eq(limits.max_requests, cases[i].ret_requests, "case %zu", i);
		cr_assert(limits.warmup_ns == 1 && limits.interval_ns == 2 && limits.stall_ns == 3);
		cr_assert(limits.report == program_ticker && limits.report_arg == &program);
		cr_assert_not(limits.stopped());
	}
}

Test(program, syncwrite_writes_its_json_and_its_summary, .init = redirect)
{
	struct desk desk;
	json_t *doc;
	char *text;

	desk_open(&desk);
	cr_assert_eq(command(program_syncwrite, &desk,
			     "syncwrite --path=%F --file-total=64KiB --block=4KiB --max-requests=20 "
			     "--threads=2 --depth=2 --stable=unstable_commit --seed=9 --json=%J"),
		     PROGRAM_OK);
	text = printed(cr_get_redirected_stdout());
	cr_assert_not_null(strstr(text, "Operations performed:  0 Read, 20 Write, 0 Other\n"), "%s", text);
	free(text);
	doc = json_of(&desk);
	cr_assert_str_eq(json_string_value(json_object_get(doc, "schema")), "sloglab-load/1");
	cr_assert_str_eq(json_string_value(json_object_get(doc, "load")), "syncwrite");
	cr_assert_str_eq(json_string_value(json_object_get(doc, "stable")), "unstable_commit");
	cr_assert_eq(number(doc, "block_bytes"), 4096);
	cr_assert_eq(number(doc, "operations"), 20);
	cr_assert_eq(number(doc, "threads"), 2);
	cr_assert_eq(number(doc, "seed"), 9);
	cr_assert_eq(number(json_object_get(doc, "bytes"), "write"), 20 * 4096);
	cr_assert_eq(number(json_object_get(doc, "by_kind"), "write"), 20);
	cr_assert(json_is_null(json_object_get(doc, "error")));
	cr_assert_eq(json_array_size(json_object_get(doc, "samples")), 0u);
	json_decref(doc);
	desk_close(&desk);
}

/* 512 B, 1 KiB ... 1 MiB: twelve sizes. */
Test(program, syncwrite_of_all_sizes_has_a_row_for_each, .init = redirect)
{
	json_int_t bytes = 512;
	struct desk desk;
	json_t *doc, *row;
	size_t i;

	desk_open(&desk);
	cr_assert_eq(command(program_syncwrite, &desk,
			     "syncwrite --path=%F --file-total=1MiB --sizes --time=5ms --json=%J"),
		     PROGRAM_OK);
	doc = json_of(&desk);
	cr_assert_eq(json_array_size(json_object_get(doc, "sizes")), 12u);
	json_array_foreach(json_object_get(doc, "sizes"), i, row)
	{
		cr_assert_eq(number(row, "block_bytes"), bytes);
		cr_assert(number(row, "mean_ns") > 0 && number(row, "operations") > 0);
		bytes *= 2;
	}
	cr_assert_null(json_object_get(doc, "block_bytes"));
	json_decref(doc);
	desk_close(&desk);
}

Test(program, fileio_runs_its_stages_and_says_which_file_is_missing, .init = redirect)
{
	struct desk desk;
	json_t *doc;
	char *text;

	desk_open(&desk);
	cr_assert_eq(command(program_fileio, &desk,
			     "fileio --path=%D --files=2 --file-total=64KiB --block=4KiB --mode=seqwr "
			     "--fsync-every=8 --json=%J"),
		     PROGRAM_OK);
	doc = json_of(&desk);
	/* 16 blocks; two rounds of two files. */
	cr_assert_eq(number(json_object_get(doc, "by_kind"), "write"), 16);
	cr_assert_eq(number(json_object_get(doc, "by_kind"), "fsync"), 4);
	cr_assert_str_eq(json_string_value(json_object_get(doc, "stable")), "unstable_commit", "on a path");
	json_decref(doc);
	cr_assert_eq(unlink(desk.json), 0);
	cr_assert_eq(
	    command(program_fileio, &desk, "fileio run --path=%D --files=2 --file-total=64KiB --json=%J"),
	    PROGRAM_FAILED);
	cr_assert_eq(access(desk.json, F_OK), -1, "nothing was measured");
	text = printed(cr_get_redirected_stderr());
	cr_assert_not_null(strstr(text, "sloglab-load: "), "%s", text);
	cr_assert_not_null(strstr(text, "run \"prepare\" first"), "%s", text);
	free(text);
	desk_close(&desk);
}

Test(program, audit_notes_and_verifies, .init = redirect)
{
	struct desk desk;
	json_t *doc;
	FILE *file;

	desk_open(&desk);
	cr_assert_eq(command(program_audit, &desk,
			     "audit run --path=%F --acks=%A --acks-sync=off --block=512B --max-requests=9"),
		     PROGRAM_OK);
	cr_assert_eq(command(program_audit, &desk, "audit verify --path=%F --acks=%A --json=%J"), PROGRAM_OK);
	doc = json_of(&desk);
	cr_assert_eq(number(doc, "acknowledged"), 9);
	cr_assert_eq(number(doc, "lost"), 0);
	cr_assert(json_is_null(json_object_get(doc, "first_lost")));
	json_decref(doc);
	/* Record 4 is gone. */
	file = fopen(desk.file, "r+");
	cr_assert_eq(fseek(file, 4 * 512, SEEK_SET), 0);
	for (int i = 0; i < 512; i++) {
		cr_assert_eq(fputc(0, file), 0);
	}
	cr_assert_eq(fclose(file), 0);
	cr_assert_eq(command(program_audit, &desk, "audit verify --path=%F --acks=%A --json=%J"),
		     PROGRAM_FAILED);
	doc = json_of(&desk);
	cr_assert_eq(number(doc, "lost"), 1);
	cr_assert_eq(number(doc, "torn"), 0);
	cr_assert_eq(number(doc, "first_lost"), 4);
	json_decref(doc);
	desk_close(&desk);
}

Test(program, usage_errors_say_what_to_write_and_run_nothing, .init = redirect)
{
	static const struct {
		int (*run)(int argc, char **argv);
		const char *line, *says;
	} cases[] = {
	    {program_syncwrite, "syncwrite", "--url is missing"},
	    {program_syncwrite, "syncwrite --path=%F --url=nfs://x/y", "not both"},
	    {program_syncwrite, "syncwrite --path=%F run", "\"run\" is one word too many"},
	    {program_syncwrite, "syncwrite --url=nfs://x/y --direct", "--direct: only with --path"},
	    {program_syncwrite, "syncwrite --path=%F --data=3y", "write zero, random or 2.0x"},
	    {program_syncwrite, "syncwrite --path=%F --threads=2 --depth=513", "is above 1024"},
	    {program_syncwrite, "syncwrite --path=%F --block=4KiB --file-total=4095B", "less than one block"},
	    {program_syncwrite, "syncwrite --path=%F --sizes --file-total=1048575B", "less than one block"},
	    {program_syncwrite, "syncwrite --path=%F --report-interval=9ms", "at least 10ms"},
	    {program_syncwrite, "syncwrite --path=%F --json=/nowhere/j", "cannot write there"},
	    {program_fileio, "fileio", "--url is missing"},
	    {program_fileio, "fileio --path=%D --url=nfs://x/y", "not both"},
	    {program_fileio, "fileio --url=nfs://x/y --direct", "--direct: only with --path"},
	    {program_fileio, "fileio --path=%D --files=3 --file-total=3KiB --block=1025B", "less than one"},
	    {program_fileio, "fileio --path=%D --threads=32 --depth=33", "is above 1024"},
	    {program_fileio, "fileio --path=%D --data=0x", "--data: write zero"},
	    {program_fileio, "fileio prepar --path=%D", "\"prepar\" is none of prepare, run, cleanup"},
	    {program_fileio, "fileio run run --path=%D", "one word too many"},
	    {program_audit, "audit --path=%F --acks=%A", "say \"audit run\" or \"audit verify\""},
	    {program_audit, "audit look --path=%F --acks=%A", "say \"audit run\""},
	    {program_audit, "audit run --acks=%A", "give one place for the records"},
	    {program_audit, "audit run --path=%F --host=h --acks=%A", "give one place for the records"},
	    {program_audit, "audit run --path=%F", "--acks is missing"},
	    {program_audit, "audit run --path=%F --acks=%A --block=68B", "not a multiple of 8"},
	    {program_oltp, "oltp fill", "none of prepare, run, cleanup"},
	    {program_oltp, "oltp --rows=0", "--rows"},
	};
	struct desk desk;

	desk_open(&desk);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *err = cr_get_redirected_stderr();
		char *text;

		cr_assert_eq(command(cases[i].run, &desk, cases[i].line), PROGRAM_USAGE, "%s", cases[i].line);
		text = printed(err);
		cr_assert_not_null(strstr(text, cases[i].says), "%s: %s", cases[i].line, text);
		free(text);
	}
	desk_close(&desk); /* which is empty */
}

Test(program, oltp_without_a_server_fails_in_one_line, .init = redirect)
{
	struct desk desk;
	char *text;

	desk_open(&desk);
	cr_assert_eq(command(program_oltp, &desk, "oltp --port=1"), PROGRAM_FAILED);
	text = printed(cr_get_redirected_stderr());
	cr_assert_eq(strncmp(text, "sloglab-load: cannot connect to MariaDB at 127.0.0.1:1 as sbtest: ", 66),
		     0, "%s", text);
	free(text);
	desk_close(&desk);
}
