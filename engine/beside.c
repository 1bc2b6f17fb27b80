#include "engine/beside.h"

#include <errno.h>
#include <stdio.h>

int sl_beside_run(const struct sl_scenario *sc, const struct sl_live_options *options, struct sl_live *ret,
		  struct sl_err *err)
{
	struct sl_err why = {0};
	int rc = sl_live_run(sc, options, ret, &why);

	if (options->run->stopped && options->run->stopped()) {
		return sl_err_set(err, -EINTR, "interrupted");
	}
	if (rc < 0 && ret->missing[0] == '\0') {
		(void)snprintf(ret->missing, sizeof(ret->missing), "%.250s", why.msg);
	}
	return 0;
}

int sl_beside_add(const struct sl_live *beside, struct sl_result *result)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < beside->result.n_cells; i++) {
		if (beside->result.cells[i].engine == SL_ENGINE_LIVE) {
			rc = sl_result_add(result, &beside->result.cells[i]);
		}
	}
	return rc;
}
