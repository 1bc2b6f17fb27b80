/* libFuzzer target: any bytes as a scenario file, and every query on what was accepted. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/inner.h"

/* libFuzzer chose the name. NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An accepted scenario must answer every query, and a refusal must have a message. */
static void query(struct sl_scenario *sc)
{
	struct sl_box *box = calloc(1, sizeof(*box));
	struct sl_err err = {0};

	for (int v = 0; box && v < sl_scenario_variants(sc); v++) {
		struct sl_param param;

		if (sl_scenario_box(sc, v, box, &err) || box->n_data < 1) {
			abort();
		}
		for (int i = 0; i < sl_scenario_params(sc); i++) {
			if (sl_scenario_param(sc, v, i, &param) || !param.text || !param.where) {
				abort();
			}
		}
	}
	if (sl_scenario_set(sc, "pool.log", "null", "--set", &err) && err.msg[0] == '\0') {
		abort();
	}
	free(box);
}

/* NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	if (sl_scenario_load_buffer((const char *)data, size, "fuzz.yaml", SL_SOURCE_DIR "/sim/scenario", &sc,
				    &err) == 0) {
		query(sc);
		sl_scenario_free(sc);
	} else if (err.msg[0] == '\0' || strchr(err.msg, '\n')) {
		abort();
	}
	return 0;
}
