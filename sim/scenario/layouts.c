/* What people mean by a mirror: pairs. And what is worth a word about a layout. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/scenario/inner.h"

#define WIDE_RAIDZ 12 /* disks of one raidz vdev; zpoolconcepts(7): "between 3 and 9" is recommended */

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
	struct sl_layer *layer = &sc->resolved[variant];
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

static void add_text(char *buf, size_t size, const char *text)
{
	size_t used = strlen(buf);

	(void)snprintf(buf + used, size - used, "%s%s", used ? "; " : "", text);
}

static void add_note(char *buf, size_t size, const char *key, int n, const char *what)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "%s: %d disks %s", key, n, what);
	add_text(buf, size, text);
}

bool sl_scenario_note(const struct sl_scenario *sc, int variant, char *buf, size_t size)
{
	static const char three[] = "without vdevs are one mirror of three; pairs need two or four";
	static const char wide[] = "in one raidz vdev; more than 12 read and rebuild slowly, share them "
				   "among more vdevs";
	static const struct {
		const char *key;
		int at;
	} lists[] = {{"pool.log", SL_ROW_AT_LOG}, {"pool.special", SL_ROW_AT_SPECIAL}};
	const struct sl_layer *layer = &sc->resolved[variant];
	int layout = (int)layer->by_key[SL_AT_data_layout]->value;
	int n = layer->by_key[SL_ROW_AT_DATA]->disks->n;
	int per = n / (int)layer->by_key[SL_AT_data_vdevs]->value;

	buf[0] = '\0';
	if (layer->by_key[SL_AT_data_vdevs] == &sc->pairs[1] && n == 3) {
		add_note(buf, size, "pool.data", n, three);
	}
	if (layout >= SL_LAYOUT_RAIDZ1 && per > WIDE_RAIDZ) {
		add_note(buf, size, "pool.data", per, wide);
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (layer->by_key[lists[i].at]->disks->three_by_default) {
			add_note(buf, size, lists[i].key, 3, three);
		}
	}
	if (layer->by_key[SL_ROW_AT_CACHE]->disks->n > 0 && layer->by_key[SL_AT_l2arc_filled]->value > 0) {
		add_text(
		    buf, size,
		    "pool.cache: warm from the start, the best case; params.l2arc.filled: 0 starts cold");
	}
	return buf[0] != '\0';
}
