/* Engine `live` beside the virtual machines of engine `vm`: the same cells, measured first. */
#ifndef SL_ENGINE_BESIDE_H
#define SL_ENGINE_BESIDE_H

#include "engine/live.h"

/* Runs engine live; where it cannot, `missing` of *ret says why: that is no error. *ret as after sl_live_run.
 * -EINTR when the run's stopped() says true. */
int sl_beside_run(const struct sl_scenario *sc, const struct sl_live_options *options, struct sl_live *ret,
		  struct sl_err *err);

/* Copies the measured cells into `result`; those of model(lab) stay: there it is another lab. 0 or -ENOMEM.
 */
int sl_beside_add(const struct sl_live *beside, struct sl_result *result);

#endif
