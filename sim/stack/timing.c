#include "sim/stack/timing.h"

#include <stdlib.h>

void sl_evidence_fini(struct sl_evidence *evidence)
{
	free(evidence->zpool_status);
	free(evidence->zpool_iostat);
	free(evidence->zil);
	free(evidence->disks);
	*evidence = (struct sl_evidence){0};
}
