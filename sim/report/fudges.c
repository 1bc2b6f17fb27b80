#include "sim/report/fudges.h"

#include "sim/report/prose.h"

#define WIDTH 100

bool sl_fudge_next(const struct sl_scenario *sc, int *at, struct sl_param *ret)
{
	while (*at < sl_scenario_params(sc)) {
		int index = (*at)++;

		for (int v = 0; v < sl_scenario_variants(sc); v++) {
			if (sl_scenario_param(sc, v, index, ret) == 0 && ret->kind == SL_PROV_FUDGE) {
				return true;
			}
		}
	}
	return false;
}

void sl_fudges_text(const struct sl_scenario *sc, FILE *out)
{
	struct sl_param param;
	char text[640];
	int at = 0;

	while (sl_fudge_next(sc, &at, &param)) {
		(void)snprintf(text, sizeof(text),
			       "fudge: %s is %s because it fits, not because physics says so: %s", param.key,
			       param.text, param.source);
		sl_prose(text, 0, WIDTH, out);
	}
}
