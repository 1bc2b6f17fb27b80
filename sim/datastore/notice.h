/* What a server tells its operator while it goes on: one line each. */
#ifndef SL_DATASTORE_NOTICE_H
#define SL_DATASTORE_NOTICE_H

struct sl_notice {
	void (*say)(void *arg, const char *line); /* NULL: nobody listens */
	void *arg;
};

/* A line without a newline; control characters become '?', and what is too long is cut. `notice` may be NULL.
 */
void sl_notice_say(const struct sl_notice *notice, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
