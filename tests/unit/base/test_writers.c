/* Trace, JSON, CSV, and files that appear whole or not at all. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/csv.h"
#include "sim/base/json.h"
#include "sim/base/outfile.h"
#include "sim/base/trace.h"

/* A folder of its own for each test, under the build folder; and what it holds. */
static char folder[PATH_MAX];

static void folder_make(void)
{
	snprintf(folder, sizeof(folder), "%s/test_writers.XXXXXX", SL_BINARY_DIR);
	cr_assert(mkdtemp(folder) != NULL);
}

static int folder_count(void)
{
	DIR *dir = opendir(folder);
	int count = 0;

	cr_assert(dir != NULL);
	while (readdir(dir) != NULL) {
		count++;
	}
	closedir(dir);
	return count - 2; /* without . and .. */
}

static const char *folder_path(const char *name)
{
	static char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void folder_remove(void)
{
	static const char *const names[] = {"a", "b", "link"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)unlink(folder_path(names[i]));
	}
	cr_assert_eq(rmdir(folder), 0, "something was left in %s", folder);
}

static void file_expect(const char *name, const char *text)
{
	char buf[256] = "";
	FILE *file = fopen(folder_path(name), "r");

	cr_assert(file != NULL);
	buf[fread(buf, 1, sizeof(buf) - 1, file)] = '\0';
	fclose(file);
	cr_assert_str_eq(buf, text);
}

static void file_write(const char *name, const char *text)
{
	struct sl_outfile out;
	struct sl_err err = {0};

	cr_assert_eq(sl_outfile_open(&out, folder_path(name), &err), 0, "%s", err.msg);
	fputs(text, out.file);
	cr_assert_eq(sl_outfile_commit(&out, &err), 0, "%s", err.msg);
}

TestSuite(outfile, .init = folder_make, .fini = folder_remove);

Test(outfile, the_old_file_stays_until_the_new_one_is_whole)
{
	struct sl_outfile out;

	file_write("a", "old");
	cr_assert_eq(sl_outfile_open(&out, folder_path("a"), NULL), 0);
	fputs("new", out.file);
	fflush(out.file);
	file_expect("a", "old");
	cr_assert_eq(sl_outfile_commit(&out, NULL), 0);
	file_expect("a", "new");
	cr_assert_eq(folder_count(), 1);
}

Test(outfile, discarded_output_leaves_nothing_behind)
{
	struct sl_outfile out;

	cr_assert_eq(sl_outfile_open(&out, folder_path("a"), NULL), 0);
	fputs("half", out.file);
	sl_outfile_discard(&out);
	sl_outfile_discard(&out);
	cr_assert_eq(folder_count(), 0);
}

/* A descriptor that was closed behind the stream's back stands for a disk that is full. */
Test(outfile, output_that_cannot_be_written_leaves_the_old_file_and_nothing_else)
{
	struct sl_outfile out;
	struct sl_err err = {0};

	file_write("a", "old");
	cr_assert_eq(sl_outfile_open(&out, folder_path("a"), NULL), 0);
	fputs("new", out.file);
	close(fileno(out.file));
	cr_assert_eq(sl_outfile_commit(&out, &err), -EBADF);
	cr_assert(strstr(err.msg, folder_path("a")) != NULL, "%s", err.msg);
	file_expect("a", "old");
	cr_assert_eq(folder_count(), 1);
}

/* The linker sends the room's fsync and rename here. */
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_fsync(int fd);

static struct {
	int syncs, syncs_before_rename, fail_errno;
} disk;

int __wrap_fsync(int fd)
{
	(void)fd;
	disk.syncs++;
	errno = disk.fail_errno;
	return disk.fail_errno ? -1 : 0;
}

int __wrap_rename(const char *from, const char *to)
{
	disk.syncs_before_rename = disk.syncs;
	return __real_rename(from, to);
}

Test(outfile, a_file_is_on_the_disk_before_it_takes_the_old_ones_place)
{
	file_write("a", "old");
	cr_assert_eq(disk.syncs_before_rename, 1);
	cr_assert_eq(disk.syncs, 1);
}

Test(outfile, a_disk_that_does_not_take_it_leaves_the_old_file_and_nothing_else)
{
	struct sl_outfile out;
	struct sl_err err = {0};

	file_write("a", "old");
	cr_assert_eq(sl_outfile_open(&out, folder_path("a"), NULL), 0);
	fputs("new", out.file);
	disk.fail_errno = EIO;
	cr_assert_eq(sl_outfile_commit(&out, &err), -EIO);
	cr_assert(strstr(err.msg, folder_path("a")) != NULL, "%s", err.msg);
	file_expect("a", "old");
	cr_assert_eq(folder_count(), 1);
}

Test(outfile, what_is_replaced_again_soon_waits_for_no_disk)
{
	struct sl_outfile out;

	cr_assert_eq(sl_outfile_open(&out, folder_path("a"), NULL), 0);
	fputs("new", out.file);
	out.passing = true;
	cr_assert_eq(sl_outfile_commit(&out, NULL), 0);
	file_expect("a", "new");
	cr_assert_eq(disk.syncs, 0);
}

Test(outfile, places_that_cannot_be_written_are_named)
{
	struct sl_outfile out;
	struct sl_err err = {0};

	cr_assert_eq(sl_outfile_open(&out, folder, &err), -EISDIR);
	cr_assert(strstr(err.msg, folder) != NULL, "%s", err.msg);
	cr_assert_eq(sl_outfile_open(&out, folder_path("no/such"), &err), -ENOENT);
	cr_assert(strstr(err.msg, "no/such: cannot write") != NULL, "%s", err.msg);
	cr_assert_eq(folder_count(), 0);
}

Test(outfile, a_symbolic_link_stays_a_link)
{
	struct stat st;

	file_write("b", "old");
	cr_assert_eq(symlink("b", folder_path("link")), 0);
	file_write("link", "new");
	cr_assert_eq(lstat(folder_path("link"), &st), 0);
	cr_assert(S_ISLNK(st.st_mode));
	file_expect("b", "new");
}

Test(outfile, a_device_is_written_in_place)
{
	struct sl_outfile out;
	struct stat st;

	cr_assert_eq(sl_outfile_open(&out, "/dev/null", NULL), 0);
	fputs("x", out.file);
	cr_assert_eq(sl_outfile_commit(&out, NULL), 0);
	cr_assert_eq(stat("/dev/null", &st), 0);
	cr_assert(S_ISCHR(st.st_mode));
}

Test(outfile, a_full_disk_is_reported)
{
	struct sl_outfile out;
	struct sl_err err = {0};

	cr_assert_eq(sl_outfile_open(&out, "/dev/full", &err), 0, "%s", err.msg);
	fputs("x", out.file);
	cr_assert_eq(sl_outfile_commit(&out, &err), -ENOSPC);
	cr_assert(strstr(err.msg, "/dev/full") != NULL, "%s", err.msg);
}

/* A writer that finds out by itself, and one that fails for another reason. */
Test(outfile, only_a_failed_stream_changes_the_message)
{
	static const struct {
		const char *path, *message;
	} cases[] = {{"/dev/full", "/dev/full: cannot write: No space left on device"},
		     {"/dev/null", "out of memory"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_outfile out;
		struct sl_err err = {0};

		cr_assert_eq(sl_outfile_open(&out, cases[i].path, &err), 0, "%s", err.msg);
		fputs("x", out.file);
		(void)fflush(out.file);
		(void)sl_err_set(&err, -ENOSPC, "out of memory");
		cr_assert_eq(sl_outfile_abort(&out, -ENOSPC, &err), -ENOSPC);
		cr_assert_str_eq(err.msg, cases[i].message);
	}
}

Test(outfile, a_json_file_is_written_whole)
{
	json_t *doc = json_pack("{s:o, s:i}", "tps", sl_json_figure(187.6543219), "threads", 2);

	cr_assert_eq(sl_json_write_file(doc, folder_path("a"), NULL), 0);
	file_expect("a", "{\n  \"tps\": 187.654,\n  \"threads\": 2\n}\n");
	cr_assert_eq(folder_count(), 1);
	json_decref(doc);
}

Test(outfile, a_json_file_that_cannot_be_written_is_an_error_with_its_path)
{
	json_t *doc = json_pack("[i]", 1);
	struct sl_err err = {0};

	cr_assert_eq(sl_json_write_file(doc, "/dev/full", &err), -ENOSPC);
	cr_assert(strstr(err.msg, "/dev/full") != NULL, "%s", err.msg);
	json_decref(doc);
}

/* What `write` printed, as one string; free it. */
struct memory {
	char *text;
	size_t size;
	FILE *file;
};

static void memory_open(struct memory *memory)
{
	memory->file = open_memstream(&memory->text, &memory->size);
	cr_assert(memory->file != NULL);
}

static void memory_close(struct memory *memory)
{
	fclose(memory->file);
	free(memory->text);
}

Test(json, figures_have_six_digits_and_no_nan)
{
	static const struct {
		double value;
		const char *text;
	} figures[] = {{0.1, "0.1"},         {1.0 / 3, "0.333333"}, {1234567.0, "1.23457e6"}, {188, "188.0"},
		       {-2.5000001, "-2.5"}, {(double)NAN, "null"}, {HUGE_VAL, "null"}};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		json_t *figure = sl_json_figure(figures[i].value);
		struct memory memory;

		memory_open(&memory);
		cr_assert_eq(json_dumpf(figure, memory.file, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)), 0);
		fflush(memory.file);
		cr_assert_str_eq(memory.text, figures[i].text);
		memory_close(&memory);
		json_decref(figure);
	}
	cr_assert_eq(sl_round6(123456.7), 123457.0);
	cr_assert_eq(sl_round6(0.0), 0.0);
}

Test(csv, cells_are_quoted_when_they_must_be)
{
	struct memory memory;
	struct sl_csv csv;

	memory_open(&memory);
	sl_csv_init(&csv, memory.file);
	sl_csv_text(&csv, "plain");
	sl_csv_text(&csv, "with, comma");
	sl_csv_text(&csv, "a \"quoted\" word");
	sl_csv_text(&csv, "two\nlines");
	sl_csv_end_row(&csv);
	sl_csv_int(&csv, -42);
	sl_csv_figure(&csv, 2.0 / 3);
	sl_csv_figure(&csv, (double)NAN);
	sl_csv_text(&csv, NULL);
	sl_csv_text(&csv, "");
	sl_csv_end_row(&csv);
	cr_assert_eq(sl_csv_finish(&csv, NULL), 0);
	cr_assert_str_eq(memory.text, "plain,\"with, comma\",\"a \"\"quoted\"\" word\",\"two\nlines\"\n"
				      "-42,0.666667,,,\n");
	memory_close(&memory);
}

Test(csv, the_first_error_sticks)
{
	FILE *full = fopen("/dev/full", "w");
	struct sl_err err = {0};
	struct sl_csv csv;

	cr_assert(full != NULL);
	setvbuf(full, NULL, _IONBF, 0);
	sl_csv_init(&csv, full);
	sl_csv_text(&csv, "x");
	cr_assert_eq(csv.error, -ENOSPC);
	sl_csv_end_row(&csv);
	cr_assert_eq(sl_csv_finish(&csv, &err), -ENOSPC);
	cr_assert(strstr(err.msg, "CSV") != NULL, "%s", err.msg);
	fclose(full);
}

static json_t *trace_json(const struct sl_trace *trace, const char *label)
{
	struct memory memory;
	struct sl_err err = {0};
	json_error_t error;
	json_t *doc;

	memory_open(&memory);
	cr_assert_eq(sl_trace_write(trace, label, memory.file, &err), 0, "%s", err.msg);
	doc = json_loads(memory.text, 0, &error);
	cr_assert(doc != NULL, "%s in %s", error.text, memory.text);
	memory_close(&memory);
	return doc;
}

/* The i-th event of kind `ph`, NULL when there are fewer. */
static json_t *trace_event(json_t *doc, const char *ph, int i)
{
	json_t *event;
	size_t k;

	json_array_foreach(json_object_get(doc, "traceEvents"), k, event)
	{
		if (strcmp(json_string_value(json_object_get(event, "ph")), ph) == 0 && i-- == 0) {
			return event;
		}
	}
	return NULL;
}

Test(trace, a_thread_becomes_events_in_microseconds_on_a_track_of_its_own)
{
	struct sl_trace *trace = sl_trace_new(10);
	const char *name, *cat;
	double ts, dur;
	json_t *doc;
	int tid, op;

	sl_trace_thread(trace, "zil", "commit", 7, 12345, 20000);
	sl_trace_thread(trace, "nfsd", "call", 7, 10000, 25000);
	cr_assert_eq(sl_trace_count(trace), 2);
	cr_assert_eq(sl_trace_get(trace, 1)->end_ns, 25000);
	doc = trace_json(trace, "s3500/\"oltp2\"");
	cr_assert_eq(json_unpack(trace_event(doc, "X", 1), "{s:s, s:s, s:F, s:F, s:i, s:{s:i}}", "name",
				 &name, "cat", &cat, "ts", &ts, "dur", &dur, "tid", &tid, "args", "op", &op),
		     0);
	cr_assert_str_eq(name, "commit");
	cr_assert_str_eq(cat, "zil");
	cr_assert_float_eq(ts, 12.345, 1e-9);
	cr_assert_float_eq(dur, 7.655, 1e-9);
	cr_assert_eq(tid, 2);
	cr_assert_eq(op, 7);
	cr_assert_eq(json_unpack(trace_event(doc, "M", 0), "{s:{s:s}}", "args", "name", &name), 0);
	cr_assert_str_eq(name, "s3500/\"oltp2\"");
	cr_assert_eq(
	    json_unpack(trace_event(doc, "M", 2), "{s:i, s:{s:s}}", "tid", &tid, "args", "name", &name), 0);
	cr_assert_str_eq(name, "zil 1");
	cr_assert_eq(tid, 2);
	cr_assert(trace_event(doc, "M", 3) == NULL);
	json_decref(doc);
	sl_trace_free(trace);
}

Test(trace, threads_at_work_at_the_same_time_have_a_track_each)
{
	struct sl_trace *trace = sl_trace_new(10);
	static const int expected[] = {1, 2, 1};
	json_t *doc;

	sl_trace_thread(trace, "nfsd", "first", 1, 0, 100);
	sl_trace_thread(trace, "nfsd", "overlaps", 2, 50, 150);
	sl_trace_thread(trace, "nfsd", "after the first", 3, 100, 120);
	doc = trace_json(trace, "x");
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(json_integer_value(json_object_get(trace_event(doc, "X", i), "tid")),
			     expected[i]);
	}
	json_decref(doc);
	sl_trace_free(trace);
}

Test(trace, what_may_overlap_is_a_pair_of_asynchronous_events_with_an_id_of_its_own)
{
	struct sl_trace *trace = sl_trace_new(10);
	const char *first, *second, *end;
	double ts;
	json_t *doc;

	sl_trace_span(trace, "hypervisor", "NFS call", 1, 1000, 5000);
	sl_trace_span(trace, "hypervisor", "NFS call", 1, 2000, 9000);
	doc = trace_json(trace, "x");
	cr_assert(trace_event(doc, "X", 0) == NULL);
	cr_assert_eq(json_unpack(trace_event(doc, "b", 0), "{s:s}", "id", &first), 0);
	cr_assert_eq(json_unpack(trace_event(doc, "b", 1), "{s:s}", "id", &second), 0);
	cr_assert_str_neq(first, second, "one operation may have two calls in flight");
	cr_assert_eq(json_unpack(trace_event(doc, "e", 0), "{s:s, s:F}", "id", &end, "ts", &ts), 0);
	cr_assert_str_eq(end, first);
	cr_assert_float_eq(ts, 5, 1e-9);
	json_decref(doc);
	sl_trace_free(trace);
}

Test(trace, a_disk_has_a_track_for_its_work_and_its_queue_beside_it)
{
	struct sl_trace *trace = sl_trace_new(10);
	const char *name;
	double ts, dur;
	json_t *doc;

	/* The second waits for the first: of its 8 us it is served for 3. */
	sl_trace_unit(trace, "data vdev", 2, &(struct sl_span){"disk", "write", 1, 0, 5000, 5000});
	sl_trace_unit(trace, "data vdev", 2, &(struct sl_span){"disk", "write", 2, 0, 8000, 3000});
	doc = trace_json(trace, "x");
	cr_assert_eq(json_unpack(trace_event(doc, "X", 1), "{s:F, s:F}", "ts", &ts, "dur", &dur), 0);
	cr_assert_float_eq(ts, 5, 1e-9);
	cr_assert_float_eq(dur, 3, 1e-9);
	cr_assert_eq(json_unpack(trace_event(doc, "b", 0), "{s:s}", "name", &name), 0);
	cr_assert_str_eq(name, "queued");
	cr_assert_eq(json_unpack(trace_event(doc, "M", 1), "{s:{s:s}}", "args", "name", &name), 0);
	cr_assert_str_eq(name, "disk: data vdev 2");
	cr_assert(trace_event(doc, "M", 2) == NULL, "one lane");
	json_decref(doc);
	sl_trace_free(trace);
}

Test(trace, the_first_part_of_a_run_is_complete_and_says_where_it_ends)
{
	struct sl_trace *trace = sl_trace_new(100);
	double until, ts;
	json_t *doc;

	sl_trace_first(trace, 1000);
	/* Spans are told of when they end: one that began early comes late. */
	for (int64_t i = 0; i < 10; i++) {
		sl_trace_span(trace, "a", "b", 1, i * 200, i * 200 + 50);
	}
	sl_trace_span(trace, "a", "long", 1, 100, 5000);
	/* 0, 200, ... 800 and the long one; what begins at 1000 is outside. */
	cr_assert_eq(sl_trace_count(trace), 6);
	cr_assert_eq(sl_trace_dropped(trace), 0);
	cr_assert_eq(sl_trace_until(trace), 1000);
	doc = trace_json(trace, "x");
	cr_assert_eq(json_unpack(json_object_get(doc, "otherData"), "{s:F}", "complete_until_us", &until), 0);
	cr_assert_float_eq(until, 1, 1e-9);
	cr_assert_eq(json_unpack(trace_event(doc, "i", 0), "{s:F}", "ts", &ts), 0);
	cr_assert_float_eq(ts, 1, 1e-9);
	json_decref(doc);
	sl_trace_free(trace);
}

Test(trace, a_trace_that_is_full_gets_shorter_and_has_no_holes)
{
	struct sl_trace *trace = sl_trace_new(10);

	sl_trace_first(trace, 1600);
	for (int64_t i = 0; i < 16; i++) {
		sl_trace_span(trace, "a", "b", 1, i * 100, i * 100 + 10);
	}
	/* Ten fill it at 900; halved to 800, eight are left: 0, 100, ... 700. */
	cr_assert_eq(sl_trace_until(trace), 800);
	cr_assert_eq(sl_trace_count(trace), 8);
	for (uint32_t i = 0; i < 8; i++) {
		cr_assert_eq(sl_trace_get(trace, i)->start_ns, 100 * (int64_t)i);
	}
	cr_assert_eq(sl_trace_dropped(trace), 0);
	sl_trace_free(trace);
}

Test(trace, spans_above_the_limit_are_counted_not_kept)
{
	struct sl_trace *trace = sl_trace_new(2000);
	json_t *doc;

	for (int64_t i = 0; i < 2005; i++) {
		sl_trace_span(trace, "a", "b", 1, i, i + 1);
	}
	sl_trace_span(NULL, "a", "b", 1, 0, 1);
	cr_assert_eq(sl_trace_count(trace), 2000);
	cr_assert_eq(sl_trace_dropped(trace), 5);
	doc = trace_json(trace, "x");
	cr_assert_eq(json_integer_value(json_object_get(json_object_get(doc, "otherData"), "dropped")), 5);
	cr_assert(trace_event(doc, "b", 1999) != NULL);
	json_decref(doc);
	sl_trace_free(trace);
}

Test(trace, a_full_disk_is_an_error)
{
	struct sl_trace *trace = sl_trace_new(1);
	FILE *full = fopen("/dev/full", "w");
	struct sl_err err = {0};

	cr_assert(full != NULL);
	cr_assert_eq(sl_trace_write(trace, "x", full, &err), -ENOSPC);
	cr_assert(strstr(err.msg, "trace") != NULL, "%s", err.msg);
	fclose(full);
	sl_trace_free(trace);
}
