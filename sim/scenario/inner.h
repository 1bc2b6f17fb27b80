/*
 * Inside sim/scenario. A scenario is a pile of layers, each a table key -> assignment: the table's defaults,
 * what the hypervisor brings along, a host profile, the scenario's own sections, one layer per variant (with
 * its parent) and the overrides of sl_scenario_set on top. Resolving is a look-up from the top; everything a
 * look-up can need (profiles, devices) is loaded when it is first named, so that resolving does no input or
 * output.
 */
#ifndef SL_SCENARIO_INNER_H
#define SL_SCENARIO_INNER_H

#include "sim/scenario/arena.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/schema.h"
#include "sim/scenario/yaml.h"

#define SL_VARIANTS_MAX 64
#define SL_WORKLOADS_MAX 64
#define SL_DEVICES_MAX 256
#define SL_PROFILES_MAX 64

struct sl_disk_slots {
	int n;
	int device[SL_BOX_DATA_MAX]; /* positions in sc->devices */
	bool three_by_default;       /* has a mirror of three that nobody counted */
};

/* All strings belong to the scenario's arena or are static. */
struct sl_assign {
	double value;
	const char *text, *source, *where;
	enum sl_provenance kind;
	double min, max;                   /* the table's range, or the file's for fitted values */
	const struct sl_disk_slots *disks; /* SL_ROW_DISKS only */
	int profile;                       /* SL_ROW_PROFILE only: position in sc->profiles, -1 = none */
};

/* A value that follows from others. */
struct sl_derived {
	struct sl_assign assign;
	char text[32];
};

struct sl_assigned {
	const struct sl_assign *by_key[SL_N_ROWS];
};

struct sl_profile {
	char name[SL_NAME_MAX];
	struct sl_assigned layer;
};

struct sl_device {
	struct sl_dev_spec spec;
	struct sl_param figures[SL_N_FIGURES + 1]; /* and the seek curve */
	int n_figures;
	struct sl_disk_slots members; /* of a disk made of disks */
	const char *description;      /* "" = none */
	const char *where;            /* of the file */
	bool used;                    /* by some variant as resolved now, itself or in another */
};

struct sl_variant {
	char name[SL_NAME_MAX];
	int parent; /* -1 = the scenario itself */
	struct sl_assigned layer;
};

/* A number set without parsing; stands above everything. */
struct sl_override {
	bool on;
	double value;
	char text[32];
};

struct sl_scenario {
	struct sl_arena arena;
	const char *name, *title;
	const char *description, *teaches; /* NULL when not given */
	const char *dir, *data_dir;        /* data_dir may be NULL */
	const char *where;                 /* of the file as a whole */
	struct sl_assign defaults[SL_N_ROWS];
	struct sl_assign pairs[SL_BOX_DATA_MAX / 2 + 1]; /* pool.data.vdevs of mirrors where nobody says it */
	struct sl_assigned hypervisors[SL_HYPERVISORS];
	struct sl_assigned base, set;
	struct sl_override numbers[SL_N_KEYS];
	struct sl_variant *variants;
	int n_variants, n_workloads, n_devices, n_profiles;
	struct sl_workload workloads[SL_WORKLOADS_MAX];
	struct sl_device *devices[SL_DEVICES_MAX];
	struct sl_profile *profiles[SL_PROFILES_MAX];
	struct sl_question *questions;
	int n_questions;
	struct sl_published *published; /* [variant * n_workloads + workload]; value 0 = nothing */
	struct sl_assigned *resolved;   /* one per variant */
	struct sl_derived *links;       /* params.link.rate of each one's wire */
	int nesting;                    /* of device files being read */
};

/* What every reading function works on: the file being read, the scenario it goes into, the error. */
struct sl_reading {
	struct sl_scenario *sc;
	struct sl_yaml *yaml;
	struct sl_err *err; /* never NULL */
};

/* How a value may be written. */
enum sl_shape {
	SL_SHAPE_PLAIN, /* the box's own sections: a value */
	SL_SHAPE_PARAM, /* params: a map with value, kind and source */
	SL_SHAPE_EITHER /* overlays: a value, or for params a map */
};

/* {value, kind, source} as a catalogue file or `params:` states it; min and max only with `ranges`. */
struct sl_stated {
	const yaml_node_t *value_node, *min_node, *max_node;
	const char *value, *source; /* live as long as the document */
	enum sl_provenance kind;
};

/* From memory; `label` stands for the path (its folder is searched for devices). See sl_scenario_load. */
int sl_scenario_load_buffer(const char *bytes, size_t size, const char *label, const char *data_dir,
			    struct sl_scenario **ret, struct sl_err *err);

/* assign.c */
int sl_scenario_stated(struct sl_yaml *yaml, const yaml_node_t *node, const char *key, bool ranges,
		       struct sl_stated *ret, struct sl_err *err);
/* Puts the value of `pair` for the row `at` of sl_schema_keys into `layer`; a second value is an error. */
int sl_scenario_assign(const struct sl_reading *r, struct sl_assigned *layer, int at,
		       struct sl_yaml_pair pair, enum sl_shape shape);
/* Fills sc->defaults and sc->hypervisors. */
int sl_scenario_assign_defaults(struct sl_scenario *sc, struct sl_err *err);
/* Sets "unknown key '...'; did you mean ...?" at the key. Returns -EINVAL. */
int sl_scenario_unknown(const struct sl_reading *r, const yaml_node_t *node, struct sl_schema table,
			const char *key, const char *otherwise);

/* Where a list of disks is written and what it may hold. */
struct sl_disk_words {
	const char *key;
	int max;                     /* disks at most */
	bool mirrors;                /* {mirror: [NAME, NAME]} is a disk too */
	struct sl_disk_slots *disks; /* gets them */
};

/* Reads "NAME", "NAME x COUNT" or a mirror at `node`, or a list of these, and appends them to list->disks.
 * *ret_text is what was written, for reports; may be NULL. */
int sl_scenario_disks(const struct sl_reading *r, const yaml_node_t *node, const struct sl_disk_words *list,
		      const char **ret_text);

/* library.c: files that are found by name, FOLDER/NAME.yaml beside the scenario, then in the data folder.
 * `node` is where the name was written, for messages. On success *ret is loaded. */
int sl_scenario_library(const struct sl_reading *r, const yaml_node_t *node, const char *key,
			const char *folder, const char *name, struct sl_yaml *ret);

/* device.c, profile.c: position in sc->devices / sc->profiles, loaded on first use; negative errno. */
int sl_scenario_device(const struct sl_reading *r, const yaml_node_t *node, const char *key,
		       const char *name);
/* A mirror of these devices, without a file: position in sc->devices; negative errno. */
int sl_scenario_mirror(const struct sl_reading *r, const yaml_node_t *node, const char *key,
		       const struct sl_disk_slots *sides);
int sl_scenario_profile(const struct sl_reading *r, const yaml_node_t *node, const char *name);

/* device_parts.c: `disks` and `seek_curve` of a device file, and what must hold between its figures (reported
 * at `node`); sl_device_check also fills what follows from the members. */
int sl_device_read_members(const struct sl_reading *r, struct sl_device *device, const yaml_node_t *node);
int sl_device_read_curve(const struct sl_reading *r, struct sl_device *device, const yaml_node_t *node);
int sl_device_check(const struct sl_reading *r, struct sl_device *device, const yaml_node_t *node);

/* parts.c: workloads and variants of a scenario. */
int sl_scenario_read_workloads(const struct sl_reading *r, const yaml_node_t *map);
int sl_scenario_read_variants(const struct sl_reading *r, const yaml_node_t *map);
/* "unknown workload 'NAME'; did you mean ...?" and the like at `node`. Return -EINVAL. */
int sl_scenario_fail_workload(const struct sl_reading *r, const yaml_node_t *node, const char *key,
			      const char *name);
int sl_scenario_fail_variant(const struct sl_reading *r, const yaml_node_t *node, const char *key,
			     const char *name);
/* releases.c: the word of nas.zil for a release of OpenZFS ("0.8", "2.2.3") or a product ("TrueNAS
 * SCALE 24.04"), NULL when it is neither. */
const char *sl_zfs_generation(const char *text);

/* published.c: variants and workloads are known. */
int sl_scenario_read_published(const struct sl_reading *r, const yaml_node_t *map);
/* questions.c: variants and workloads are known. */
int sl_scenario_read_questions(const struct sl_reading *r, const yaml_node_t *list);

/* layouts.c: mirrors that n disks make where nobody says how many: pairs from four on. False: an odd number
 * of more than three, which can mean two things. */
bool sl_layout_mirrors(int n, int *ret_mirrors);
/* Puts that number in place of the default of pool.data.vdevs. -EINVAL: it can mean two things. */
int sl_layout_own_vdevs(struct sl_scenario *sc, int variant, struct sl_err *err);

/* resolve.c: fills sc->resolved and checks every variant; no input or output. */
int sl_scenario_resolve(struct sl_scenario *sc, struct sl_err *err);

#endif
