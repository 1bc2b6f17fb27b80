#include "sim/datastore/notice.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "sim/base/err.h"

void sl_notice_say(const struct sl_notice *notice, const char *fmt, ...)
{
	char line[sizeof(((struct sl_err *)0)->msg)];
	struct sl_err clean = {0};
	va_list ap;
	int n;

	if (!notice || !notice->say) {
		return;
	}
	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n >= 0) {
		(void)sl_err_set(&clean, -EIO, "%s", line);
		notice->say(notice->arg, clean.msg);
	}
}
