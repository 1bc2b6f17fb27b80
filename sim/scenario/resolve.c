#include "sim/scenario/inner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TRANSFER_MIN 4096 /* bytes */

/* The scenario's word for `key` in `variant`, with or without what is set on top; NULL when only profile,
 * hypervisor and table speak. */
static const struct sl_assign *stated(const struct sl_scenario *sc, int variant, int key, bool with_set)
{
	if (with_set && sc->set.by_key[key]) {
		return sc->set.by_key[key];
	}
	for (int v = variant; v >= 0; v = sc->variants[v].parent) {
		if (sc->variants[v].layer.by_key[key]) {
			return sc->variants[v].layer.by_key[key];
		}
	}
	return sc->base.by_key[key];
}

#define SEGMENT_HEADERS 52 /* IP 20, TCP 20 and its time stamps 12: inside the MTU */
#define FRAME_OVERHEAD 38  /* Ethernet: preamble 8, header 14, check sum 4, gap 12: around it */

/* What a wire carries of NFS: its line rate less the headers of full frames. */
static void derive_link(struct sl_derived *ret, const struct sl_assigned *layer)
{
	const struct sl_assign *link = layer->by_key[SL_AT_host_link_bps];
	double mtu = layer->by_key[SL_AT_nic_mtu_bytes]->value;

	ret->assign = *layer->by_key[SL_AT_link_bps];
	ret->assign.value = link->value * (mtu - SEGMENT_HEADERS) / (mtu + FRAME_OVERHEAD);
	ret->assign.kind = SL_PROV_DERIVED;
	ret->assign.source = "host.link less the headers of Ethernet, IP and TCP: x (MTU - 52) / (MTU + 38)";
	ret->assign.where = link->where;
	ret->assign.text = ret->text;
	sl_units_format(ret->assign.value, SL_UNIT_RATE, ret->text, sizeof(ret->text));
}

/* `ret_wire` gets what a wire carries, for as long as `ret` lives. */
static void resolve_variant(const struct sl_scenario *sc, int variant, bool with_set,
			    struct sl_derived *ret_wire, struct sl_assigned *ret)
{
	const struct sl_assign *profile = stated(sc, variant, SL_ROW_AT_PROFILE, with_set);
	const struct sl_assigned *host =
	    profile && profile->profile >= 0 ? &sc->profiles[profile->profile]->layer : NULL;
	const struct sl_assign *word = stated(sc, variant, SL_AT_hypervisor, with_set);
	const struct sl_assigned *hypervisor =
	    &sc->hypervisors[(int)(word ? word : &sc->defaults[SL_AT_hypervisor])->value];

	for (int key = 0; key < SL_N_ROWS; key++) {
		const struct sl_assign *assign = stated(sc, variant, key, with_set);

		if (!assign && host) {
			assign = host->by_key[key];
		}
		assign = assign ? assign : hypervisor->by_key[key];
		ret->by_key[key] = assign ? assign : &sc->defaults[key];
	}
	if (ret->by_key[SL_AT_host_link_bps]->value > 0 && !stated(sc, variant, SL_AT_link_bps, with_set)) {
		derive_link(ret_wire, ret);
		ret->by_key[SL_AT_link_bps] = &ret_wire->assign;
	}
}

/* Disks and layout must fit; the message stands where the disks were named. */
static int check_disks(const struct sl_scenario *sc, int variant, struct sl_err *err)
{
	static const int least[] = {[SL_LAYOUT_STRIPE] = 1,
				    [SL_LAYOUT_MIRROR] = 2,
				    [SL_LAYOUT_RAIDZ1] = 3,
				    [SL_LAYOUT_RAIDZ2] = 4,
				    [SL_LAYOUT_RAIDZ3] = 5};
	static const char *const names[] = {"stripe", "mirror", "raidz1", "raidz2", "raidz3"};
	const struct sl_assigned *layer = &sc->resolved[variant];
	const struct sl_assign *data = layer->by_key[SL_ROW_AT_DATA];
	int layout = (int)layer->by_key[SL_AT_data_layout]->value;
	int vdevs = layout == SL_LAYOUT_STRIPE ? 1 : (int)layer->by_key[SL_AT_data_vdevs]->value;

	if (data->disks->n == 0) {
		return sl_err_set(err, -EINVAL,
				  "%s: pool.data.disks: is missing; add pool: {data: {layout: raidz1, disks: "
				  "[hdd-7200-desktop x 3]}}",
				  sc->where);
	}
	if (data->disks->n < least[layout] * vdevs) {
		return sl_err_set(
		    err, -EINVAL,
		    "%s: pool.data.disks: %s needs at least %d disks, not %d (variant %s); add disks "
		    "or change pool.data.layout",
		    data->where, names[layout], least[layout] * vdevs, data->disks->n,
		    sc->variants[variant].name);
	}
	if (data->disks->n % vdevs != 0) {
		return sl_err_set(
		    err, -EINVAL,
		    "%s: pool.data.disks: %d disks cannot be shared evenly by %d vdevs (variant "
		    "%s); change pool.data.vdevs",
		    data->where, data->disks->n, vdevs, sc->variants[variant].name);
	}
	return 0;
}

/* The largest READ and WRITE of the NFS client: none of its own, or a page at least. */
static int check_transfers(const struct sl_scenario *sc, int variant, struct sl_err *err)
{
	static const int rows[] = {SL_AT_hyp_rsize_bytes, SL_AT_hyp_wsize_bytes};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sl_assign *size = sc->resolved[variant].by_key[rows[i]];

		if (size->value > 0 && size->value < TRANSFER_MIN) {
			return sl_err_set(
			    err, -EINVAL,
			    "%s: %s: '%s' is less than a page (variant %s); write 4KiB or more, or "
			    "0B for the client's own",
			    size->where, sl_schema_keys().rows[rows[i]].key, size->text,
			    sc->variants[variant].name);
		}
	}
	return 0;
}

/* What 0.6.3 did not have yet. */
static int check_age(const struct sl_scenario *sc, int variant, struct sl_err *err)
{
	const struct sl_assigned *layer = &sc->resolved[variant];
	const struct sl_assign *special = layer->by_key[SL_ROW_AT_SPECIAL],
			       *crypt = layer->by_key[SL_AT_encryption];

	if ((int)layer->by_key[SL_AT_zil]->value != SL_ZFS_2014) {
		return 0;
	}
	if (special->disks->n > 0) {
		return sl_err_set(
		    err, -EINVAL,
		    "%s: pool.special: ZFS of 2014 has no special vdevs (variant %s); set nas.zil "
		    "to 2.1 or 2.3",
		    special->where, sc->variants[variant].name);
	}
	if ((int)crypt->value == SL_ENCRYPT_ZFS) {
		return sl_err_set(
		    err, -EINVAL,
		    "%s: pool.encryption: ZFS of 2014 has no encryption of its own (variant %s); "
		    "set nas.zil to 2.1 or 2.3, or use geli or luks",
		    crypt->where, sc->variants[variant].name);
	}
	return 0;
}

static bool has_database(const struct sl_scenario *sc)
{
	for (int i = 0; i < sc->n_workloads; i++) {
		if (sc->workloads[i].kind == SL_WL_OLTP) {
			return true;
		}
	}
	return false;
}

/* The database's pages must fit into the guest. */
static int check_memory(const struct sl_scenario *sc, int variant, struct sl_err *err)
{
	const struct sl_assigned *layer = &sc->resolved[variant];
	const struct sl_assign *pool = layer->by_key[SL_AT_buffer_pool_bytes],
			       *memory = layer->by_key[SL_AT_guest_memory_bytes];

	if (!has_database(sc) || pool->value < memory->value) {
		return 0;
	}
	return sl_err_set(
	    err, -EINVAL,
	    "%s: guests.buffer_pool: %s does not fit into guests.memory, %s (variant %s); change one of "
	    "them",
	    pool->where ? pool->where : sc->where, pool->text, memory->text, sc->variants[variant].name);
}

static void mark_used(struct sl_scenario *sc, const struct sl_disk_slots *disks)
{
	for (int i = 0; i < disks->n; i++) {
		sc->devices[disks->device[i]]->used = true;
		mark_used(sc, &sc->devices[disks->device[i]]->members);
	}
}

int sl_scenario_resolve(struct sl_scenario *sc, struct sl_err *err)
{
	for (int i = 0; i < sc->n_devices; i++) {
		sc->devices[i]->used = false;
	}
	for (int v = 0; v < sc->n_variants; v++) {
		int rc;

		resolve_variant(sc, v, true, &sc->links[v], &sc->resolved[v]);
		rc = sl_layout_own_vdevs(sc, v, err);
		rc = rc ? rc : check_disks(sc, v, err);
		rc = rc ? rc : check_age(sc, v, err);
		rc = rc ? rc : check_transfers(sc, v, err);
		rc = rc ? rc : check_memory(sc, v, err);
		if (rc) {
			return rc;
		}
		mark_used(sc, sc->resolved[v].by_key[SL_ROW_AT_DATA]->disks);
		mark_used(sc, sc->resolved[v].by_key[SL_ROW_AT_LOG]->disks);
		mark_used(sc, sc->resolved[v].by_key[SL_ROW_AT_SPECIAL]->disks);
		mark_used(sc, sc->resolved[v].by_key[SL_ROW_AT_CACHE]->disks);
	}
	return 0;
}

static void copy_disks(const struct sl_scenario *sc, const struct sl_assign *assign, struct sl_dev_spec *ret,
		       int *ret_n)
{
	*ret_n = assign->disks->n;
	for (int i = 0; i < assign->disks->n; i++) {
		ret[i] = sc->devices[assign->disks->device[i]]->spec;
	}
}

int sl_scenario_box(const struct sl_scenario *sc, int variant, struct sl_box *ret, struct sl_err *err)
{
	const struct sl_schema_row *rows = sl_schema_keys().rows;
	const struct sl_assigned *layer;

	if (variant < 0 || variant >= sc->n_variants) {
		return sl_err_set(err, -EINVAL, "variant %d does not exist", variant);
	}
	layer = &sc->resolved[variant];
	for (int key = 0; key < SL_N_KEYS; key++) {
		const struct sl_override *number = &sc->numbers[key];

		sl_schema_store(&rows[key], number->on ? number->value : layer->by_key[key]->value, ret);
	}
	copy_disks(sc, layer->by_key[SL_ROW_AT_DATA], ret->data, &ret->n_data);
	copy_disks(sc, layer->by_key[SL_ROW_AT_LOG], ret->log, &ret->n_log);
	copy_disks(sc, layer->by_key[SL_ROW_AT_SPECIAL], ret->special, &ret->n_special);
	copy_disks(sc, layer->by_key[SL_ROW_AT_CACHE], ret->cache, &ret->n_cache);
	return 0;
}

int sl_scenario_params(const struct sl_scenario *sc)
{
	(void)sc;
	return SL_N_ROWS;
}

int sl_scenario_param(const struct sl_scenario *sc, int variant, int index, struct sl_param *ret)
{
	const struct sl_assign *assign;
	const struct sl_schema_row *row;

	if (variant < 0 || variant >= sc->n_variants || index < 0 || index >= SL_N_ROWS) {
		return -EINVAL;
	}
	row = &sl_schema_keys().rows[index];
	assign = sc->resolved[variant].by_key[index];
	*ret = (struct sl_param){
	    .key = row->key,
	    .text = assign->text,
	    .value = assign->value,
	    .unit = row->unit,
	    .kind = assign->kind,
	    .source = assign->source,
	    .where = assign->where,
	    .min = assign->min,
	    .max = assign->max,
	    .help = row->help,
	};
	if (index < SL_N_KEYS && sc->numbers[index].on) {
		ret->value = sc->numbers[index].value;
		ret->text = sc->numbers[index].text;
	}
	return 0;
}

int sl_scenario_figures(const struct sl_scenario *sc)
{
	int n = 0;

	for (int i = 0; i < sc->n_devices; i++) {
		n += sc->devices[i]->used ? sc->devices[i]->n_figures : 0;
	}
	return n;
}

int sl_scenario_figure(const struct sl_scenario *sc, int index, struct sl_param *ret)
{
	for (int i = 0; i < sc->n_devices && index >= 0; i++) {
		const struct sl_device *device = sc->devices[i];

		if (!device->used) {
			continue;
		}
		if (index < device->n_figures) {
			*ret = device->figures[index];
			return 0;
		}
		index -= device->n_figures;
	}
	return -EINVAL;
}

int sl_scenario_devices(const struct sl_scenario *sc)
{
	return sc->n_devices;
}

const struct sl_dev_spec *sl_scenario_device_spec(const struct sl_scenario *sc, int index)
{
	return &sc->devices[index]->spec;
}

const char *sl_scenario_device_text(const struct sl_scenario *sc, int index)
{
	return sc->devices[index]->description;
}

/* Parses `value` as YAML and puts it into `layer` for the row `at`. */
static int put_value(struct sl_scenario *sc, struct sl_assigned *layer, int at, const char *value,
		     const char *where, struct sl_err *err)
{
	struct sl_yaml yaml;
	const struct sl_reading r = {.sc = sc, .yaml = &yaml, .err = err};
	int rc = sl_yaml_load_value(&yaml, sl_schema_keys().rows[at].key, value, where, err);

	if (rc == 0) {
		const yaml_node_t *root = sl_yaml_root(&yaml);
		struct sl_yaml_pair pair = {.key_node = root, .value = root, .key = ""};

		rc = sl_scenario_assign(&r, layer, at, pair, SL_SHAPE_EITHER);
		sl_yaml_free(&yaml);
	}
	return rc;
}

static bool same_disks(const struct sl_disk_slots *a, const struct sl_disk_slots *b)
{
	bool same = a->n == b->n;

	for (int i = 0; same && i < a->n; i++) {
		same = a->device[i] == b->device[i];
	}
	return same;
}

static bool same_value(const struct sl_assign *a, const struct sl_assign *b)
{
	return a->disks && b->disks ? same_disks(a->disks, b->disks)
				    : a->value == b->value && a->profile == b->profile;
}

/* Does a variant say something of the key? */
static bool tells_variants_apart(const struct sl_scenario *sc, int key)
{
	bool any = false;

	for (int v = 0; v < sc->n_variants; v++) {
		any |= sc->variants[v].layer.by_key[key] != NULL;
	}
	return any;
}

enum sl_touch sl_scenario_touched(const struct sl_scenario *sc, int variant)
{
	enum sl_touch change = SL_TOUCH_NONE;
	struct sl_derived wire;
	struct sl_assigned own;

	resolve_variant(sc, variant, false, &wire, &own);
	for (int key = 0; key < SL_N_ROWS; key++) {
		const struct sl_assign *set = sc->set.by_key[key];

		if (set && strcmp(set->where, "--set") == 0 && !same_value(set, own.by_key[key])) {
			change = tells_variants_apart(sc, key) || change == SL_TOUCH_NAME ? SL_TOUCH_NAME
											  : SL_TOUCH_BOX;
		}
	}
	return change;
}

/* Room for one variant more, with no published figures. */
static int variant_room(struct sl_scenario *sc)
{
	size_t n = (size_t)sc->n_variants, w = (size_t)sc->n_workloads;
	struct sl_variant *variants = sl_arena_alloc(&sc->arena, (n + 1) * sizeof(*variants));
	struct sl_published *published = sl_arena_alloc(&sc->arena, (n + 1) * w * sizeof(*published));
	struct sl_assigned *resolved = sl_arena_alloc(&sc->arena, (n + 1) * sizeof(*resolved));
	struct sl_derived *links = sl_arena_alloc(&sc->arena, (n + 1) * sizeof(*links));

	if (!variants || !published || !resolved || !links) {
		return -ENOMEM;
	}
	memcpy(variants, sc->variants, n * sizeof(*variants));
	memcpy(published, sc->published, n * w * sizeof(*published));
	memcpy(resolved, sc->resolved, n * sizeof(*resolved));
	sc->variants = variants;
	sc->published = published;
	sc->resolved = resolved;
	sc->links = links; /* filled when all is resolved again */
	return 0;
}

int sl_scenario_variant_add(struct sl_scenario *sc, const char *name, int parent, const char *key,
			    const char *value, const char *where, struct sl_err *err)
{
	int at = sl_schema_find(sl_schema_keys(), key, SL_ANY_KIND), rc;
	struct sl_variant *variant;

	if (at < 0 || !sl_scenario_name_ok(name) || sl_scenario_find_variant(sc, name) >= 0) {
		return sl_err_set(err, -EINVAL, "%s: '%.63s' is no name of a new variant", where, name);
	}
	if (sc->n_variants >= SL_VARIANTS_MAX) {
		return sl_err_set(err, -E2BIG, "%s: more than %d variants", where, SL_VARIANTS_MAX);
	}
	if (variant_room(sc) < 0) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	variant = &sc->variants[sc->n_variants];
	*variant = (struct sl_variant){.parent = parent};
	(void)snprintf(variant->name, sizeof(variant->name), "%s", name);
	sc->n_variants++;
	rc = put_value(sc, &variant->layer, at, value, where, err);
	rc = rc == 0 ? sl_scenario_resolve(sc, err) : rc;
	if (rc < 0) {
		struct sl_err ignored = {0};

		sc->n_variants--;
		(void)sl_scenario_resolve(sc, &ignored);
	}
	return rc < 0 ? rc : sc->n_variants - 1;
}

int sl_scenario_set(struct sl_scenario *sc, const char *key, const char *value, const char *where,
		    struct sl_err *err)
{
	int at = sl_schema_find(sl_schema_keys(), key, SL_ANY_KIND);
	const struct sl_assign *before;
	struct sl_err local = {0};
	int rc;

	err = err ? err : &local;
	if (at < 0) {
		char hint[160];

		return sl_err_set(err, -EINVAL, "%s: unknown key '%.63s'; %s", where, key,
				  sl_schema_hint(sl_schema_keys(), key,
						 "see sloglab-scenario(5) for the keys", hint, sizeof(hint)));
	}
	before = sc->set.by_key[at];
	sc->set.by_key[at] = NULL;
	rc = put_value(sc, &sc->set, at, value, where, err);
	if (rc == 0) {
		rc = sl_scenario_resolve(sc, err);
	}
	if (rc) {
		struct sl_err ignored = {0};

		sc->set.by_key[at] = before;
		(void)sl_scenario_resolve(sc, &ignored); /* was valid before */
		return rc;
	}
	if (at < SL_N_KEYS) {
		sc->numbers[at].on = false;
	}
	return 0;
}

int sl_scenario_set_number(struct sl_scenario *sc, const char *key, double value, struct sl_err *err)
{
	int at = sl_schema_find(sl_schema_keys(), key, SL_ANY_KIND), rc;
	const struct sl_schema_row *row = at >= 0 ? &sl_schema_keys().rows[at] : NULL;
	struct sl_override *number;

	if (!row || (row->type != SL_ROW_NUMBER && row->type != SL_ROW_INT)) {
		return sl_err_set(err, -EINVAL, "'%.63s' is no key with a number", key);
	}
	rc = sl_schema_check(row, value, err);
	if (rc) {
		return err ? sl_err_wrap(err, "%s", key) : rc;
	}
	if (row->type == SL_ROW_INT && (double)(int64_t)value != value) {
		return sl_err_set(err, -EINVAL, "%s: %g is not a whole number", key, value);
	}
	number = &sc->numbers[at];
	number->value = value;
	number->on = true;
	sl_units_format(number->value, row->unit, number->text, sizeof(number->text));
	return 0;
}
