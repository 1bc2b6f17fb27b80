#include "sim/base/oom.h"

#include <unistd.h>

_Noreturn void sl_oom(void)
{
	static const char text[] = "sloglab: out of memory; free some, or run less at once\n";

	/* No stdio: it may want memory, or hold a lock. */
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(1);
}
