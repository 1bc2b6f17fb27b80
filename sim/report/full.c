#include "sim/report/full.h"

#include "sim/report/report_advise.h"
#include "sim/report/report_explain.h"
#include "sim/report/report_powercut.h"

void sl_full_fini(struct sl_full *full)
{
	sl_advice_fini(&full->advice);
	sl_powercut_fini(&full->powercut);
	sl_explain_fini(&full->explain);
	sl_session_close(&full->shelf);
}

void sl_full_html(const struct sl_full *full, struct sl_page *page)
{
	sl_page_part(page, "Where the time goes");
	sl_explain_html_body(&full->explain, page);
	sl_page_part(page, "What a power cut takes");
	sl_powercut_html_body(&full->powercut, page);
	sl_page_part(page, "What to buy, and what to change");
	sl_advise_html_body(&full->advice, page);
}
