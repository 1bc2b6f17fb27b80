/* A drawing of the box: every layer from the guest down to the disks with what the scenario says of it, and
 * the one layer that matters marked. */
#ifndef SL_REPORT_PAGE_BOX_H
#define SL_REPORT_PAGE_BOX_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/scenario/scenario.h"
#include "sim/stack/explain.h"
#include "sim/stack/result.h"

struct sl_box_drawing {
	const struct sl_scenario *scenario; /* borrowed, as everything here */
	int variant, workload;
	const struct sl_measure *measure; /* how busy its parts are; NULL: not said */
	bool has_hot;
	enum sl_layer hot; /* the layer to mark */
	char mark[48];     /* why it is marked: "busiest: 97 %" */
};

/* The busiest layer of `measure` as the one to mark; none where nothing is busy. */
void sl_box_mark_busiest(struct sl_box_drawing *drawing);

/* An inline SVG element with a title and a description. Nothing when the variant has no box. */
void sl_box_svg(const struct sl_box_drawing *drawing, FILE *out);

/* What the drawing is of, and what is marked: one line. */
void sl_box_caption(const struct sl_box_drawing *drawing, char *buf, size_t size);

#endif
