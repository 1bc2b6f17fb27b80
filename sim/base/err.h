/* The error object: functions return 0 or a negative errno and describe the failure here, once. */
#ifndef SL_BASE_ERR_H
#define SL_BASE_ERR_H

/* Caller-owned; zero-initialise. `msg` is one line without a trailing newline. */
struct sl_err {
	int code; /* negative errno of the first failure, 0 when none */
	char msg[512];
};

/* Sets code and message and returns `code` (a negative errno), so that `return sl_err_set(...)` is one
 * statement. Too long messages are cut, control characters become '?'. `err` may be NULL. */
int sl_err_set(struct sl_err *err, int code, const char *fmt, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* Puts "prefix: " before the present message and returns err->code (-EIO when `err` is NULL). */
int sl_err_wrap(struct sl_err *err, const char *fmt, ...) __attribute__((cold, format(printf, 2, 3)));

#endif
