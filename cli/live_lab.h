/* The box of model(lab): what is real on this host in the place of what was modelled. */
#ifndef SL_CLI_LIVE_LAB_H
#define SL_CLI_LIVE_LAB_H

#include "cli/live_rig.h"
#include "sim/scenario/box.h"
#include "sim/stack/result.h"

struct sl_live_lab {
	enum sl_live_guest guest;
	int64_t null_ns; /* through libnfs: round trip of a NULL call here */
	double dilate;   /* of the modelled times; what is real is so many times as fast beside them */
};

/* Changes `box` and says in result->substitutions what was changed. With a guest the box comes with this
 * host's profile on it. */
void sl_live_lab_box(const struct sl_live_lab *lab, struct sl_box *box, struct sl_result *result);

#endif
