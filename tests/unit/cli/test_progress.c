/* Lines of progress among what others print to the same place. */
#include <criterion/criterion.h>
#include <fcntl.h>
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
