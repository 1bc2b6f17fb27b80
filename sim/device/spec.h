/* What the catalogue says of a disk: plain figures, filled from YAML through figures.def. */
#ifndef SL_DEVICE_SPEC_H
#define SL_DEVICE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

enum sl_dev_kind {
	SL_DEV_NULL, /* completes at once: the control of every experiment */
	SL_DEV_HDD,
	SL_DEV_SSD
};

#define SL_DEV_NAME_MAX 64

struct sl_dev_spec {
	char name[SL_DEV_NAME_MAX];
	enum sl_dev_kind kind;
	bool assumed; /* some figure is only assumed */
#define SL_FIGURE(kinds, key, unit, field, dflt, min, max, help) double field;
#include "sim/device/figures.def"
#undef SL_FIGURE
};

#endif
