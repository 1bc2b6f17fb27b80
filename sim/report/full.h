/* All that can be said of a scenario beside its figures: where the time goes, what a power cut takes, what to
 * buy. */
#ifndef SL_REPORT_FULL_H
#define SL_REPORT_FULL_H

#include "sim/report/page.h"
#include "sim/scenario/drives.h"
#include "sim/scenario/session.h"
#include "sim/stack/advise.h"
#include "sim/stack/explain.h"
#include "sim/stack/powercut.h"

/* Start with {0}. */
struct sl_full {
	struct sl_explain explain;
	struct sl_powercut powercut;
	struct sl_advice advice; /* for the first of the variants, all drives of the catalogue */
	struct sl_session shelf; /* which the drives of the advice belong to */
	struct sl_drives drives;
};

void sl_full_fini(struct sl_full *full);

/* The three as parts of a page. */
void sl_full_html(const struct sl_full *full, struct sl_page *page);

#endif
