/* What a result costs beside time: acknowledged writes at a cut of the power, and the life of the log device.
 */
#ifndef SL_REPORT_REPORT_COSTS_H
#define SL_REPORT_REPORT_COSTS_H

#include <jansson.h>
#include <stdio.h>

#include "sim/report/page.h"
#include "sim/report/report.h"
#include "sim/stack/endurance.h"

/* "nothing", "up to 10ms". */
void sl_costs_loss(const struct sl_loss *loss, char *buf, size_t size);
/* "2.0 TB": bytes with a unit of 1000. */
void sl_costs_bytes(double bytes, char *buf, size_t size);

/* New references. null where nothing is known. */
json_t *sl_costs_json_loss(const struct sl_loss *loss);
json_t *sl_costs_json_endurance(const struct sl_endurance *endurance);
json_t *sl_costs_json_log_space(const struct sl_measure *measure);

/* Endurance of one cell; false where nothing was written that the model knows of (live cells, bare disks). */
bool sl_costs_endurance(const struct sl_scenario *sc, const struct sl_cell *cell, struct sl_endurance *ret);

/* The cell of a variant that loses the longest, or wears its device the soonest: *ret says how. NULL: none is
 * known. */
const struct sl_cell *sl_costs_worst_loss(const struct sl_report *report, int variant);
const struct sl_cell *sl_costs_worst_wear(const struct sl_report *report, int variant,
					  struct sl_endurance *ret);

/* Lines on cuts, on wear and on the room of the log for the terminal; a section of the page. Nothing where
 * nothing is known. */
void sl_costs_text(const struct sl_report *report, FILE *out);
void sl_costs_html(const struct sl_report *report, struct sl_page *page);

#endif
