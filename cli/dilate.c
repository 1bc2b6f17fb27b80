#include "cli/dilate.h"

#include <errno.h>

#include "sim/base/units.h"

#define DILATE_MAX 1e6

int sl_dilate_parse(const char *word, const char *text, double *ret, struct sl_err *err)
{
	int rc;

	*ret = 1;
	if (!text) {
		return 0;
	}
	rc = sl_units_parse(text, SL_UNIT_NONE, ret, err);
	if (rc < 0) {
		return sl_err_wrap(err, "%s", word);
	}
	if (!(*ret >= 1 / DILATE_MAX && *ret <= DILATE_MAX)) {
		return sl_err_set(err, -EINVAL, "%s: must be from 1e-6 to 1e6", word);
	}
	return 0;
}
