/* Lines of progress among what others print to the same place. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"

Test(progress, a_line_is_written_in_one_piece)
{
	struct sl_progress p;
	char got[256];
	int ends[2];
	ssize_t n;
	FILE *out;

	/* Each write to a pipe like this is read by itself. */
	cr_assert_eq(pipe2(ends, O_DIRECT), 0);
	out = fdopen(ends[1], "w");
	setvbuf(out, NULL, _IONBF, 0); /* as stderr is */
	sl_progress_start(&p, out, "runs");
	/* Ten seconds for one run of four: thirty are left. */
	p.start_ns -= 10000000000;
	p.shown_ns = p.start_ns;
	cr_assert(sl_progress_step(&p, 1, 4));
	n = read(ends[0], got, sizeof(got) - 1);
	cr_assert(n > 0);
	got[n] = '\0';
	cr_assert_str_eq(got, "1 of 4 runs, about 30 s left\n");
	fclose(out);
	close(ends[0]);
}

static char *work_line(int64_t ago_ns, int done_s, int total_s)
{
	struct sl_progress p;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	sl_progress_start(&p, out, "runs");
	p.start_ns -= ago_ns;
	p.shown_ns = p.start_ns;
	sl_progress_work(&p, "s3700: measuring", done_s, total_s);
	fclose(out);
	return text;
}

/* A quarter of 40 s took ten: thirty are left. */
Test(progress, work_of_a_known_length_has_its_share_and_the_rest)
{
	char *text = work_line(10000000000, 10, 40);

	cr_assert_str_eq(text, "s3700: measuring, 25 %, about 30 s left\n");
	free(text);
	text = work_line(10000000000, 10, 0);
	cr_assert_eq(strncmp(text, "s3700: measuring, 0 %", 21), 0, "%s", text);
	free(text);
	text = work_line(0, 0, 40);
	cr_assert_str_eq(text, "", "it has just begun");
	free(text);
}
