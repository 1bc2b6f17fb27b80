/* Making, filling and dropping sysbench's table. Internal to loadgen. */
#ifndef SL_LOADGEN_OLTP_TABLE_H
#define SL_LOADGEN_OLTP_TABLE_H

#include "loadgen/oltp.h"

/* Makes and fills it, `load->threads` connections at a time. The rows are those of the seed, whatever the
 * number of threads. -EEXIST: there is one already. -EINTR: stopped. A table half full is dropped. */
int sl_oltp_table_make(const struct sl_oltp_load *load, struct sl_err *err);
int sl_oltp_table_drop(const struct sl_oltp_load *load, struct sl_err *err);
/* -ENOENT: there is no table of at least load->source.rows rows; the message says what to do. */
int sl_oltp_table_check(const struct sl_oltp_load *load, struct sl_err *err);

#endif
