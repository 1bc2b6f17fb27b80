/* Scenario files: parse (sloglab-scenario(5)), overlay variants, resolve to boxes, with the provenance of
 * each value. */
#ifndef SL_SCENARIO_SCENARIO_H
#define SL_SCENARIO_SCENARIO_H

#include <stdbool.h>

#include "sim/base/err.h"
#include "sim/box/box.h"

enum sl_provenance {
	SL_PROV_DEFAULT, /* nobody said anything: the table's default */
	SL_PROV_GIVEN,   /* the scenario's own statement about the box */
	SL_PROV_SPEC,
	SL_PROV_MEASURED,
	SL_PROV_FITTED,
	SL_PROV_ASSUMED,
	SL_PROV_DERIVED, /* arithmetic on other figures, shown in the source */
	SL_PROV_FUDGE    /* fitted, and no physics says why it has that value: reports name it */
};

enum sl_role {
	SL_ROLE_NONE,
	SL_ROLE_CALIBRATE,
	SL_ROLE_PREDICT
};

struct sl_published {
	double value; /* in the unit that the workload is shown in: sl_metric_of */
	enum sl_role role;
};

/* A question that the report answers with figures of two variants. Strings belong to the scenario. */
struct sl_question {
	const char *ask, *because; /* because: "" = none */
	int workload, variants[2];
	/* What the second variant's figure is as a multiple of the first's; 0, 0 = nothing is expected. */
	double expect_min, expect_max;
};

/* One key with its value as text and where that came from. Strings belong to the scenario. */
struct sl_param {
	const char *key; /* as in keys.def, with "params." */
	const char *text;
	double value; /* base unit; position of the word for enums */
	enum sl_unit unit;
	enum sl_provenance kind;
	const char *source; /* "" when given or default */
	const char *where;  /* "file:line:column", "default" or "--set" */
	double min, max;    /* of fitted values: the range to search */
	const char *help;
};

struct sl_scenario;

/*
 * Loads `path`. data_dir holds "catalogue" and "profiles" (the installed share or the source tree);
 * devices are also looked for beside the scenario, in "catalogue" there, and last in ./catalogue.
 * Errors: -EINVAL and others, message "file:line:column: key: what is wrong; remedy".
 * On success *ret is owned by the caller.
 */
int sl_scenario_load(const char *path, const char *data_dir, struct sl_scenario **ret, struct sl_err *err);
void sl_scenario_free(struct sl_scenario *sc);

/* Loads one device by name from ./catalogue or data_dir. *ret_spec belongs to *ret, which knows nothing else
 * and is only good for sl_scenario_free. Errors: -EINVAL and others with a message. */
int sl_scenario_load_device(const char *name, const char *data_dir, struct sl_scenario **ret,
			    const struct sl_dev_spec **ret_spec, struct sl_err *err);

const char *sl_scenario_name(const struct sl_scenario *sc); /* file name without folder and suffix */
const char *sl_scenario_title(const struct sl_scenario *sc);
/* One paragraph each, "" when not given: what the box is, and what running it teaches. */
const char *sl_scenario_description(const struct sl_scenario *sc);
const char *sl_scenario_teaches(const struct sl_scenario *sc);
int sl_scenario_variants(const struct sl_scenario *sc);
const char *sl_scenario_variant_name(const struct sl_scenario *sc, int variant);
/* One more workload, with no published figures; indices of the others stay. Returns its own, or -E2BIG,
 * -ENOMEM. */
int sl_scenario_workload_add(struct sl_scenario *sc, const struct sl_workload *workload, struct sl_err *err);
int sl_scenario_workloads(const struct sl_scenario *sc);
const struct sl_workload *sl_scenario_workload(const struct sl_scenario *sc, int workload);
/* Index by name, -1 when there is none. */
int sl_scenario_find_variant(const struct sl_scenario *sc, const char *name);
int sl_scenario_find_workload(const struct sl_scenario *sc, const char *name);
/* NULL where nothing was published. */
const struct sl_published *sl_scenario_published(const struct sl_scenario *sc, int variant, int workload);

int sl_scenario_questions(const struct sl_scenario *sc);
const struct sl_question *sl_scenario_question(const struct sl_scenario *sc, int index);
/* Is `second` the multiple of `first` that the question expects? True where it expects nothing. */
bool sl_question_holds(const struct sl_question *question, double first, double second);

/* Overrides `key` in every variant (after all overlays): command line --set, ablation tests. `value` as in
 * YAML; pool.log and pool.data.disks take disk lists. `where` names the origin in messages ("--set"). */
int sl_scenario_set(struct sl_scenario *sc, const char *key, const char *value, const char *where,
		    struct sl_err *err);

/* The same for a number in base units, without parsing or allocation: the fit's inner loop. Replaces the
 * value only; kind, source and range stay those of the file. -EINVAL (no such number), -ERANGE. */
int sl_scenario_set_number(struct sl_scenario *sc, const char *key, double value, struct sl_err *err);

/* What `--set` (sl_scenario_set with that origin) made of a variant's box. */
enum sl_touch {
	SL_TOUCH_NONE, /* it is as the scenario says */
	SL_TOUCH_BOX,  /* another box than the one with the published figures */
	SL_TOUCH_NAME  /* and in a key in which the variants differ: it is not what its name says */
};
enum sl_touch sl_scenario_touched(const struct sl_scenario *sc, int variant);

/* One more variant: `parent` with `key` set to `value`, without published figures; indices of the others
 * stay. Its name must be new. Returns its index, or -EINVAL, -E2BIG, -ENOMEM; `where` as for sl_scenario_set.
 */
int sl_scenario_variant_add(struct sl_scenario *sc, const char *name, int parent, const char *key,
			    const char *value, const char *where, struct sl_err *err);

/* Puts the parameters of the host profile in the file `path` on top of everything, in every variant: what was
 * measured of this host, where this host does the work. Errors as sl_scenario_load. */
int sl_scenario_overlay(struct sl_scenario *sc, const char *path, struct sl_err *err);

/* Fills *ret for `variant`: defaults, host profile, scenario, params, overlays of the chain of `extends`,
 * --set. */
int sl_scenario_box(const struct sl_scenario *sc, int variant, struct sl_box *ret, struct sl_err *err);

/* What is worth a word about how the disks of `variant` are laid out: a mirror of three that nobody counted,
 * a wide raidz, an L2ARC that is warm from the start. False and "" when nothing is. */
bool sl_scenario_note(const struct sl_scenario *sc, int variant, char *buf, size_t size);

/* Parameters as resolved for `variant`: in the order of keys.def, then host.profile, pool.data.disks,
 * pool.log, pool.special and pool.cache (unit none, value = number of disks or 0). sl_scenario_param: 0 or
 * -EINVAL (index). The strings of *ret live until the next change of that key by sl_scenario_set*. */
int sl_scenario_params(const struct sl_scenario *sc);
int sl_scenario_param(const struct sl_scenario *sc, int variant, int index, struct sl_param *ret);

/* Figures of the devices used by any variant, with provenance: key "intel-dc-s3500-80.write_latency".
 * sl_scenario_figure: 0 or -EINVAL (index). */
int sl_scenario_figures(const struct sl_scenario *sc);
int sl_scenario_figure(const struct sl_scenario *sc, int index, struct sl_param *ret);

/* Names of the devices of ./catalogue and data_dir/catalogue in order, each once, at most `max`; returns how
 * many.
 */
int sl_scenario_device_names(const char *data_dir, char (*ret)[SL_DEV_NAME_MAX], int max);

/* Devices loaded so far, whether a variant uses them now or not; the specs belong to the scenario. */
int sl_scenario_devices(const struct sl_scenario *sc);
const struct sl_dev_spec *sl_scenario_device_spec(const struct sl_scenario *sc, int index);
/* What the device's file says of it, "" = nothing. */
const char *sl_scenario_device_text(const struct sl_scenario *sc, int index);

/* "spec", "measured", ... */
const char *sl_provenance_name(enum sl_provenance kind);

#endif
