/* What a device file holds beside plain figures, and what must hold between figures. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/scenario/inner.h"

#define STROKE_MAX 1e9

int sl_device_read_members(const struct sl_reading *r, struct sl_device *device, const yaml_node_t *node)
{
	if (device->spec.kind != SL_DEV_MIRROR && device->spec.kind != SL_DEV_STRIPE &&
	    device->spec.kind != SL_DEV_RAID10) {
		return sl_yaml_fail(r->yaml, node, "disks", r->err,
				    "only a mirror, stripe or raid10 is made of disks; remove it");
	}
	struct sl_disk_words list = {"disks", SL_DEV_MEMBERS_MAX, false, &device->members};

	return sl_scenario_disks(r, node, &list, NULL);
}

static int curve_number(const struct sl_reading *r, const yaml_node_t *node, enum sl_unit unit, double max,
			double *ret)
{
	const struct sl_schema_row row = {
	    .key = "seek_curve", .type = SL_ROW_NUMBER, .unit = unit, .min = 0, .max = max};
	const char *text = sl_yaml_scalar(r->yaml, node, row.key, r->err);

	if (!text) {
		return -EINVAL;
	}
	if (sl_schema_parse(&row, text, ret, r->err)) {
		sl_yaml_wrap(r->yaml, node, row.key, r->err);
		return -EINVAL;
	}
	return 0;
}

/* [DISTANCE, TIME] */
static int curve_point(const struct sl_reading *r, struct sl_dev_spec *spec, const yaml_node_t *node,
		       double stroke)
{
	struct sl_seek_point *point = &spec->seek_points[spec->n_seek_points];
	int rc;

	if (node->type != YAML_SEQUENCE_NODE || sl_yaml_items(node) != 2) {
		return sl_yaml_fail(r->yaml, node, "seek_curve", r->err,
				    "is no point; write [DISTANCE, TIME]");
	}
	if (spec->n_seek_points == SL_SEEK_POINTS_MAX) {
		return sl_yaml_fail(r->yaml, node, "seek_curve", r->err, "more than %d points; use fewer",
				    SL_SEEK_POINTS_MAX);
	}
	rc = curve_number(r, sl_yaml_item(r->yaml, node, 0), SL_UNIT_NONE, stroke, &point->share);
	rc = rc ? rc : curve_number(r, sl_yaml_item(r->yaml, node, 1), SL_UNIT_TIME, 1e9, &point->ns);
	if (rc) {
		return rc;
	}
	point->share /= stroke;
	if (spec->n_seek_points > 0 && (point->share <= point[-1].share || point->ns < point[-1].ns)) {
		return sl_yaml_fail(r->yaml, node, "seek_curve", r->err,
				    "distance and time must rise from point to point; correct them");
	}
	spec->n_seek_points++;
	return 0;
}

static int curve_points(const struct sl_reading *r, struct sl_device *device, const yaml_node_t *list,
			double stroke)
{
	int rc = sl_yaml_want_list(r->yaml, list, "seek_curve", r->err);

	for (int i = 0; rc == 0 && i < sl_yaml_items(list); i++) {
		rc = curve_point(r, &device->spec, sl_yaml_item(r->yaml, list, i), stroke);
	}
	if (rc == 0 && device->spec.n_seek_points < 2) {
		rc = sl_yaml_fail(r->yaml, list, "seek_curve", r->err,
				  "needs at least 2 points [DISTANCE, TIME]; add them");
	}
	return rc;
}

/* The curve among the figures, for reports. */
static int curve_figure(const struct sl_reading *r, struct sl_device *device, const yaml_node_t *node,
			const struct sl_param *from)
{
	struct sl_param *figure = &device->figures[device->n_figures++];
	char key[2 * SL_NAME_MAX], where[SL_YAML_WHERE_MAX], text[SL_SEEK_POINTS_MAX * 32] = "";

	for (int i = 0; i < device->spec.n_seek_points; i++) {
		const struct sl_seek_point *point = &device->spec.seek_points[i];
		char time[32];
		size_t at = strlen(text);

		sl_units_format(point->ns, SL_UNIT_TIME, time, sizeof(time));
		(void)snprintf(text + at, sizeof(text) - at, "%s%.3g%%: %s", i ? ", " : "",
			       point->share * 100, time);
	}
	(void)snprintf(key, sizeof(key), "%s.seek_curve", device->spec.name);
	sl_yaml_where(r->yaml, node, where, sizeof(where));
	*figure = (struct sl_param){
	    .key = sl_arena_strdup(&r->sc->arena, key),
	    .text = sl_arena_strdup(&r->sc->arena, text),
	    .source = sl_arena_strdup(&r->sc->arena, from->source),
	    .where = sl_arena_strdup(&r->sc->arena, where),
	    .kind = from->kind,
	    .value = device->spec.n_seek_points,
	    .min = 2,
	    .max = SL_SEEK_POINTS_MAX,
	    .help = "seek time by share of the stroke",
	};
	return figure->key && figure->text && figure->source && figure->where
		   ? 0
		   : sl_err_set(r->err, -ENOMEM, "out of memory");
}

int sl_device_read_curve(const struct sl_reading *r, struct sl_device *device, const yaml_node_t *node)
{
	const yaml_node_t *points, *stroke_node, *kind_node, *source_node;
	const char *kind, *source;
	struct sl_param param = {0};
	double stroke;
	int rc = sl_yaml_want_map(r->yaml, node, "seek_curve", r->err);

	if (rc == 0 && device->spec.kind != SL_DEV_HDD) {
		rc = sl_yaml_fail(r->yaml, node, "seek_curve", r->err, "only an hdd seeks; remove it");
	}
	if (rc) {
		return rc;
	}
	points = sl_yaml_get(r->yaml, node, "points");
	stroke_node = sl_yaml_get(r->yaml, node, "stroke");
	kind_node = sl_yaml_get(r->yaml, node, "kind");
	source_node = sl_yaml_get(r->yaml, node, "source");
	if (!points || !stroke_node || !kind_node || !source_node || sl_yaml_pairs(node) != 4) {
		return sl_yaml_fail(r->yaml, node, "seek_curve", r->err,
				    "write {kind: ..., source: ..., stroke: CYLINDERS, points: [[DISTANCE, "
				    "TIME], ...]}");
	}
	kind = sl_yaml_scalar(r->yaml, kind_node, "kind", r->err);
	source = kind ? sl_yaml_scalar(r->yaml, source_node, "source", r->err) : NULL;
	if (!source) {
		return -EINVAL;
	}
	rc = sl_schema_provenance(kind);
	if (rc < 0 || rc == SL_PROV_FUDGE) {
		return sl_yaml_fail(
		    r->yaml, kind_node, "kind", r->err,
		    "kind '%.40s' is not known; write spec, measured, derived, fitted or assumed", kind);
	}
	param.kind = (enum sl_provenance)rc;
	param.source = source;
	rc = curve_number(r, stroke_node, SL_UNIT_NONE, STROKE_MAX, &stroke);
	if (rc == 0 && stroke <= 0) {
		rc = sl_yaml_fail(r->yaml, stroke_node, "stroke", r->err, "must be above 0");
	}
	rc = rc ? rc : curve_points(r, device, points, stroke);
	return rc ? rc : curve_figure(r, device, node, &param);
}

/* Is no figure that decides the speed public? */
static bool rests_on_assumptions(const struct sl_device *device)
{
	int decisive = 0;

	for (int i = 0; i < device->n_figures; i++) {
		const struct sl_param *figure = &device->figures[i];
		bool speed = figure->unit == SL_UNIT_TIME || figure->unit == SL_UNIT_RATE ||
			     figure->unit == SL_UNIT_IOPS || strstr(figure->key, ".rpm") != NULL;

		if (!speed || strstr(figure->key, ".link_rate") != NULL) {
			continue;
		}
		if (figure->kind != SL_PROV_ASSUMED && figure->kind != SL_PROV_DEFAULT) {
			return false;
		}
		decisive++;
	}
	return decisive > 0;
}

/* Links the members and derives the size. */
static int check_members(const struct sl_reading *r, struct sl_device *device, const yaml_node_t *node)
{
	struct sl_dev_spec *spec = &device->spec;
	int least = spec->kind == SL_DEV_STRIPE ? 1 : 2;
	double smallest = 0;

	if (device->members.n < least || (spec->kind == SL_DEV_RAID10 && device->members.n % 2 != 0)) {
		return sl_yaml_fail(r->yaml, node, "disks", r->err,
				    "%d given; %s is made of at least %d disks%s", device->members.n,
				    spec->kind == SL_DEV_MIRROR   ? "a mirror"
				    : spec->kind == SL_DEV_STRIPE ? "a stripe"
								  : "a raid10",
				    least, spec->kind == SL_DEV_RAID10 ? ", an even number" : "");
	}
	for (int i = 0; i < device->members.n; i++) {
		const struct sl_dev_spec *member = &r->sc->devices[device->members.device[i]]->spec;

		spec->members[spec->n_members++] = member;
		spec->assumed |= member->assumed;
		if (i == 0 || member->capacity_bytes < smallest) {
			smallest = member->capacity_bytes;
		}
	}
	spec->capacity_bytes = smallest * (spec->kind == SL_DEV_MIRROR ? 1 : device->members.n);
	spec->capacity_bytes /= spec->kind == SL_DEV_RAID10 ? 2 : 1;
	return 0;
}

static const struct sl_param *figure_of(const struct sl_device *device, const char *key)
{
	size_t prefix = strlen(device->spec.name) + 1;

	for (int i = 0; i < device->n_figures; i++) {
		if (strcmp(device->figures[i].key + prefix, key) == 0) {
			return &device->figures[i];
		}
	}
	return NULL;
}

/* Sets "file:line:column: key: ..." at the figure. Returns -EINVAL. */
static int fail_figure(const struct sl_reading *r, const struct sl_device *device, const yaml_node_t *node,
		       const char *key, const char *text)
{
	const struct sl_param *figure = figure_of(device, key);

	if (figure && figure->kind != SL_PROV_DEFAULT) {
		return sl_err_set(r->err, -EINVAL, "%s: %s: %s", figure->where, key, text);
	}
	return sl_yaml_fail(r->yaml, node, key, r->err, "%s", text);
}

static int check_hdd(const struct sl_reading *r, const struct sl_device *device, const yaml_node_t *node)
{
	const struct sl_dev_spec *spec = &device->spec;

	if (!(spec->seek_track_ns <= spec->seek_avg_ns && spec->seek_avg_ns <= spec->seek_full_ns)) {
		return fail_figure(
		    r, device, node, "seek_average",
		    "seek_track, seek_average and seek_full must rise in this order; correct them");
	}
	if (spec->media_inner_bps > spec->media_bps) {
		return fail_figure(r, device, node, "media_rate_inner",
				   "the innermost zone is faster than the outermost (media_rate); swap them");
	}
	if (spec->media_bps * 60 / spec->rpm > spec->capacity_bytes) {
		return fail_figure(r, device, node, "capacity",
				   "is less than one track (media_rate x 60 / rpm); correct one of them");
	}
	if (spec->media_bps > spec->link_bps) {
		return fail_figure(r, device, node, "media_rate",
				   "is above link_rate, which no transfer can be; correct one of them");
	}
	return 0;
}

/* SSD and NVRAM. */
static int check_solid(const struct sl_reading *r, const struct sl_device *device, const yaml_node_t *node)
{
	static const char rate[] = "is above link_rate, which no transfer can be; correct one of them";
	static const char none[] =
	    "0 with a finite rate contradict each other; write the latency, or use kind: null";
	const struct sl_dev_spec *spec = &device->spec;

	if (spec->read_ns <= 0) {
		return fail_figure(r, device, node, "read_latency", none);
	}
	if (spec->write_ns <= 0) {
		return fail_figure(r, device, node, "write_latency", none);
	}
	if (spec->read_bps > spec->link_bps) {
		return fail_figure(r, device, node, "read_rate", rate);
	}
	if (spec->ssd_write_bps > spec->link_bps) {
		return fail_figure(r, device, node, "write_rate", rate);
	}
	return 0;
}

static int check_price(const struct sl_reading *r, const struct sl_device *device, const yaml_node_t *node)
{
	if (device->spec.price_usd > 0 && device->spec.price_year <= 0) {
		return fail_figure(r, device, node, "price_usd",
				   "a price means nothing without its year; add price_year");
	}
	return 0;
}

int sl_device_check(const struct sl_reading *r, struct sl_device *device, const yaml_node_t *node)
{
	int rc = 0;

	device->spec.assumed = rests_on_assumptions(device);
	switch (device->spec.kind) {
	case SL_DEV_NULL:
		break;
	case SL_DEV_HDD:
		rc = check_hdd(r, device, node);
		break;
	case SL_DEV_SSD:
	case SL_DEV_NVRAM:
		rc = check_solid(r, device, node);
		break;
	case SL_DEV_RAID10:
	case SL_DEV_STRIPE:
		if ((int64_t)device->spec.chunk_bytes % 4096 != 0) {
			return fail_figure(r, device, node, "chunk", "must be a multiple of 4 KiB");
		}
		rc = check_members(r, device, node);
		break;
	case SL_DEV_MIRROR:
		rc = check_members(r, device, node);
		break;
	}
	return rc ? rc : check_price(r, device, node);
}
