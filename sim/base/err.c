#include "sim/base/err.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Messages quote users' files: a stray newline or terminal escape must not break the one-line rule. */
static void msg_clean(char *msg)
{
	for (char *c = msg; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f) {
			*c = '?';
		}
	}
}

int sl_err_set(struct sl_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	assert(code < 0);
	if (err == NULL) {
		return code;
	}
	err->code = code;
	va_start(ap, fmt);
	if (vsnprintf(err->msg, sizeof(err->msg), fmt, ap) < 0) {
		err->msg[0] = '\0';
	}
	va_end(ap);
	msg_clean(err->msg);
	return code;
}

int sl_err_wrap(struct sl_err *err, const char *fmt, ...)
{
	char prefix[sizeof(err->msg)];
	size_t used, kept;
	va_list ap;
	int n;

	if (err == NULL) {
		return -EIO;
	}
	assert(err->code < 0);
	va_start(ap, fmt);
	n = vsnprintf(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
	if (n < 0) {
		return err->code;
	}
	msg_clean(prefix);
	used = strlen(prefix);
	if (used + 2 >= sizeof(err->msg)) {
		return err
		    ->code; /* no room for anything behind it: the cause is worth more than the context */
	}
	kept = strlen(err->msg);
	if (kept > sizeof(err->msg) - used - 3) {
		kept = sizeof(err->msg) - used - 3;
	}
	memmove(err->msg + used + 2, err->msg, kept);
	memcpy(err->msg, prefix, used);
	memcpy(err->msg + used, ": ", 2);
	err->msg[used + 2 + kept] = '\0';
	return err->code;
}
