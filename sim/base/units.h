/* Numbers with units, as users write them: "6GiB", "0.15 ms". A missing or foreign unit is an error. */
#ifndef SL_BASE_UNITS_H
#define SL_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

enum sl_unit {
	SL_UNIT_NONE,  /* plain number: counts, ratios */
	SL_UNIT_TIME,  /* ns, us, ms, s, min, h -> ns */
	SL_UNIT_BYTES, /* B, KiB, MiB, GiB, TiB or K, k, Ki, M ..., KB (1000), MB, GB, TB -> bytes */
	SL_UNIT_LINK,  /* "virtual" -> 0; line rate of a wire, GbE or as SL_UNIT_RATE -> bytes per second */
	SL_UNIT_RATE,  /* bytes unit + "/s", Mbit/s, Gbit/s -> bytes per second */
	SL_UNIT_IOPS,  /* "/s" or "IOPS" -> per second */
	SL_UNIT_DATA   /* what a load writes: "zero" -> 0; "random" -> 1; "2.0x", how far it compresses, -> 2;
			  "auto" -> -1 */
};

/* Parses all of `text`; *ret is in the base unit (ns, bytes, bytes/s, 1/s). "4x", "nan", "inf", "",
 * hexadecimal, "1e999" and trailing text are -EINVAL; the message names the text and what would be right. */
int sl_units_parse(const char *text, enum sl_unit unit, double *ret, struct sl_err *err);

/* The unit that `text` carries behind its number: a static string, and its size in base units; NULL when it
 * is none of `unit`. */
const char *sl_units_suffix(const char *text, enum sl_unit unit, double *ret_size);

/* Writes the shortest usual form ("150us", "6GiB", "100MB/s") into buf, always terminated. */
void sl_units_format(double value, enum sl_unit unit, char *buf, size_t size);

/* "554.8us", "18.34MB/s": `digits` digits, in a form that a scenario takes. */
void sl_units_figure(double value, enum sl_unit unit, int digits, char *buf, size_t size);
/* "1.53ms": three digits of a time in ns. */
void sl_units_time(int64_t ns, char *buf, size_t size);

#endif
