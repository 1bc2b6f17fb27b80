/* What people mean by a mirror: pairs. */
#include <errno.h>

#include "sim/scenario/inner.h"

bool sl_layout_mirrors(int n, int *ret_mirrors)
{
	*ret_mirrors = n >= 4 ? n / 2 : 1;
	return n < 4 || n % 2 == 0;
}

/* Assignments that say "as many vdevs as the layout makes of the disks". */
static void fill_pairs(struct sl_scenario *sc)
{
	static const char *const texts[] = {"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
					    "9", "10", "11", "12", "13", "14", "15", "16"};

	_Static_assert(sizeof(texts) / sizeof(texts[0]) == SL_BOX_DATA_MAX / 2 + 1, "a text for each count");
	for (int n = 0; n <= SL_BOX_DATA_MAX / 2; n++) {
		sc->pairs[n] = sc->defaults[SL_AT_data_vdevs];
		sc->pairs[n].text = texts[n];
		sc->pairs[n].value = n;
	}
}

int sl_layout_own_vdevs(struct sl_scenario *sc, int variant, struct sl_err *err)
{
	struct sl_assigned *layer = &sc->resolved[variant];
	const struct sl_assign *data = layer->by_key[SL_ROW_AT_DATA];
	int n = data->disks->n, mirrors;

	if (layer->by_key[SL_AT_data_vdevs] != &sc->defaults[SL_AT_data_vdevs] ||
	    (int)layer->by_key[SL_AT_data_layout]->value != SL_LAYOUT_MIRROR) {
		return 0;
	}
	if (!sl_layout_mirrors(n, &mirrors)) {
		return sl_err_set(err, -EINVAL,
				  "%s: pool.data.disks: %d disks in mirrors (variant %s): write vdevs: 1 for "
				  "one %d-way mirror, or name %d or %d disks for pairs",
				  data->where, n, sc->variants[variant].name, n, n - 1, n + 1);
	}
	fill_pairs(sc);
	layer->by_key[SL_AT_data_vdevs] = &sc->pairs[mirrors];
	return 0;
}
