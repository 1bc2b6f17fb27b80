/* What advise tries: copies of the base box with one thing different. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/stack/advise_inner.h"

#define KIB 1024.0

static const char if_cores[] = "if the host has idle cores";
static const char if_bulk[] = "while a copy runs that can be started again, then back";

void sl_advice_note(struct sl_advice *advice, const char *fmt, ...)
{
	va_list args;

	if (advice->n_notes == SL_ADVICE_NOTES_MAX) {
		return;
	}
	va_start(args, fmt);
	(void)vsnprintf(advice->notes[advice->n_notes++], SL_ADVICE_NOTE_MAX, fmt, args);
	va_end(args);
}

const char *sl_advice_changes(const char *key)
{
	static const struct {
		const char *key, *what;
	} changed[] = {
	    {"pool.log", "a SLOG"},
	    {"pool.cache", "an L2ARC"},
	    {"pool.special", "a special vdev"},
	    {"pool.data.layout", "mirrors"},
	    {"pool.sync", "another sync"},
	    {"pool.logbias", "another logbias"},
	    {"pool.recordsize", "another recordsize"},
	    {"nas.nfsd_threads", "more nfsd threads"},
	    {"nas.vcpus", "more storage VM vCPUs"},
	    {"guests.vcpus", "more guest vCPUs"},
	    {"nas.memory", "more storage VM memory"},
	    {"guests.memory", "more guest memory"},
	    {"guests.buffer_pool", "a larger buffer pool"},
	    {"host.nic", "another NIC"},
	};

	for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++) {
		if (strcmp(changed[i].key, key) == 0) {
			return changed[i].what;
		}
	}
	return NULL;
}

struct sl_candidate *sl_advice_add(struct sl_advice *advice, enum sl_change change, const char *fmt, ...)
{
	struct sl_candidate *candidate;
	va_list args;

	if (advice->n_candidates == advice->room) {
		int room = advice->room ? 2 * advice->room : 64;
		struct sl_candidate *all = realloc(advice->candidates, (size_t)room * sizeof(*all));

		if (!all) {
			return NULL;
		}
		advice->candidates = all;
		advice->room = room;
	}
	candidate = &advice->candidates[advice->n_candidates++];
	memset(candidate, 0, sizeof(*candidate));
	candidate->box = *advice->base;
	candidate->change = change;
	candidate->drive = -1;
	candidate->has_price = true;
	candidate->remark = "";
	va_start(args, fmt);
	(void)vsnprintf(candidate->name, sizeof(candidate->name), fmt, args);
	va_end(args);
	return candidate;
}

bool sl_advice_can_log(const struct sl_dev_spec *spec, const char **ret_why)
{
	*ret_why = NULL;
	switch (spec->kind) {
	case SL_DEV_NULL:
		*ret_why = "it is the control of experiments, nobody sells it";
		break;
	case SL_DEV_HDD:
		*ret_why = "a hard disk as log device waits for its platters like the pool";
		break;
	case SL_DEV_MIRROR:
	case SL_DEV_STRIPE:
	case SL_DEV_RAID10:
		*ret_why = "it is made of other drives; name one of them";
		break;
	case SL_DEV_SSD:
	case SL_DEV_NVRAM:
		break;
	}
	return *ret_why == NULL;
}

/* Is this figure one of speed, as opposed to size, price, endurance and the host's link? */
static bool is_speed(const char *figure)
{
	return strstr(figure, "latency") || (strstr(figure, "rate") && strcmp(figure, "link_rate") != 0) ||
	       strstr(figure, "program") || strstr(figure, "iops");
}

/* Where the drive's price comes from, and how much about it is only assumed. */
static void read_provenance(const struct sl_scenario *sc, struct sl_advice_drive *drive)
{
	size_t length = strlen(drive->spec.name);
	bool sourced = false;
	struct sl_param figure;

	for (int i = 0; sl_scenario_figure(sc, i, &figure) == 0; i++) {
		if (strncmp(figure.key, drive->spec.name, length) != 0 || figure.key[length] != '.') {
			continue;
		}
		if (strcmp(figure.key + length, ".price_usd") == 0) {
			(void)snprintf(drive->price_source, sizeof(drive->price_source), "%.159s",
				       figure.source);
		}
		drive->figures_assumed += figure.kind == SL_PROV_ASSUMED;
		sourced |= is_speed(figure.key + length + 1) &&
			   (figure.kind == SL_PROV_SPEC || figure.kind == SL_PROV_MEASURED ||
			    figure.kind == SL_PROV_DERIVED);
	}
	drive->assumed = !sourced;
}

static bool has_drive(const struct sl_advice *advice, const char *name)
{
	for (int i = 0; i < advice->n_drives; i++) {
		if (strcmp(advice->drives[i].spec.name, name) == 0) {
			return true;
		}
	}
	return false;
}

/* Loads one drive through the scenario's own reader. */
static void load_drive(struct sl_advice *advice, struct sl_scenario *shelf, const char *name, bool named)
{
	struct sl_advice_drive *drive = &advice->drives[advice->n_drives];
	struct sl_box box;
	struct sl_err err = {0};
	const char *why;

	if (has_drive(advice, name)) {
		return;
	}
	if (sl_scenario_set(shelf, "pool.log", name, "catalogue", &err) < 0 ||
	    sl_scenario_box(shelf, advice->base_variant, &box, &err) < 0) {
		sl_advice_note(advice, "left out: %s", err.msg);
		return;
	}
	if (box.n_log != 1 || strcmp(box.log[0].name, name) != 0) {
		sl_advice_note(advice, "left out: %.60s: is not the name of one drive", name);
		return;
	}
	if (!sl_advice_can_log(&box.log[0], &why)) {
		if (named) {
			sl_advice_note(advice, "left out: %s: %s", name, why);
		}
		return;
	}
	*drive = (struct sl_advice_drive){.spec = box.log[0]};
	read_provenance(shelf, drive);
	advice->n_drives++;
}

int sl_advice_load_drives(struct sl_advice *advice, struct sl_scenario *shelf,
			  const struct sl_advise_options *options)
{
	advice->drives = calloc(SL_ADVICE_DRIVES_MAX, sizeof(*advice->drives));
	if (!advice->drives) {
		return -ENOMEM;
	}
	for (int i = 0; i < options->n_drives; i++) {
		if (advice->n_drives == SL_ADVICE_DRIVES_MAX) {
			sl_advice_note(advice, "left out: %s and later ones: more than %d drives",
				       options->drives[i], SL_ADVICE_DRIVES_MAX);
			break;
		}
		load_drive(advice, shelf, options->drives[i], options->named);
	}
	if (advice->n_drives == 0) {
		sl_advice_note(advice, "no drive to try%s: only changes that cost nothing are compared",
			       options->n_drives == 0 ? ", the list is empty" : "");
	}
	return 0;
}

static int add_zfs(struct sl_advice *advice)
{
	static const char *const sync[] = {"standard", "always", "disabled"};
	static const char *const logbias[] = {"latency", "throughput"};
	static const double records[] = {16 * KIB, 128 * KIB};
	const struct sl_box *base = advice->base;
	struct sl_candidate *c;

	for (int i = SL_SYNC_STANDARD; i <= SL_SYNC_DISABLED; i++) {
		if (i == base->sync) {
			continue;
		}
		c = sl_advice_add(advice, SL_CHANGE_SETTING, "sync=%s", sync[i]);
		if (!c) {
			return -ENOMEM;
		}
		c->box.sync = i;
		c->bulk_only = i == SL_SYNC_DISABLED;
		c->remark = c->bulk_only ? if_bulk : "";
	}
	c = sl_advice_add(advice, SL_CHANGE_SETTING, "logbias=%s", logbias[!base->logbias]);
	if (!c) {
		return -ENOMEM;
	}
	c->box.logbias = !base->logbias;
	for (int i = 0; i < 2; i++) {
		if (records[i] == base->recordsize_bytes) {
			continue;
		}
		c = sl_advice_add(advice, SL_CHANGE_SETTING, "recordsize=%.0fK", records[i] / KIB);
		if (!c) {
			return -ENOMEM;
		}
		c->box.recordsize_bytes = records[i];
		c->remark = "for files written anew";
	}
	return 0;
}

static int add_host(struct sl_advice *advice)
{
	const struct sl_box *base = advice->base;
	struct sl_candidate *c;

	for (int times = 2; times <= 4; times *= 2) {
		c = sl_advice_add(advice, SL_CHANGE_SETTING, "nfsd threads %lld -> %lld",
				  (long long)base->nfsd_threads, (long long)base->nfsd_threads * times);
		if (!c) {
			return -ENOMEM;
		}
		c->box.nfsd_threads = base->nfsd_threads * times;
	}
	c = sl_advice_add(advice, SL_CHANGE_CORES, "guest vCPUs %lld -> %lld", (long long)base->guest_vcpus,
			  (long long)base->guest_vcpus * 2);
	if (!c) {
		return -ENOMEM;
	}
	c->box.guest_vcpus = base->guest_vcpus * 2;
	c->remark = if_cores;
	c = sl_advice_add(advice, SL_CHANGE_CORES, "storage VM vCPUs %lld -> %lld",
			  (long long)base->nas_vcpus, (long long)base->nas_vcpus * 2);
	if (!c) {
		return -ENOMEM;
	}
	c->box.nas_vcpus = base->nas_vcpus * 2;
	c->remark = if_cores;
	if (base->nic == SL_NIC_E1000) {
		bool esxi = base->hypervisor == SL_HYP_ESXI;

		c = sl_advice_add(advice, SL_CHANGE_SETTING, "NIC e1000 -> %s", esxi ? "vmxnet3" : "virtio");
		if (!c) {
			return -ENOMEM;
		}
		c->box.nic = esxi ? SL_NIC_VMXNET3 : SL_NIC_VIRTIO;
	}
	return 0;
}

/* Two members of one kind as one log device. */
static struct sl_dev_spec pair_of(const struct sl_dev_spec *one, const struct sl_dev_spec *other)
{
	struct sl_dev_spec pair = *one;

	pair.kind = SL_DEV_MIRROR;
	pair.n_members = 2;
	pair.members[0] = one;
	pair.members[1] = other;
	(void)snprintf(pair.name, sizeof(pair.name), "mirror of %.50s", one->name);
	return pair;
}

/* The same disks as mirrors: up to three as one, more as pairs side by side with an odd one as spare. */
static void rebuild_as_mirrors(struct sl_candidate *c, const struct sl_box *base)
{
	c->box.data_layout = SL_LAYOUT_MIRROR;
	c->box.data_vdevs = base->n_data <= 3 ? 1 : base->n_data / 2;
	c->box.n_data = base->n_data <= 3 ? base->n_data : (int)c->box.data_vdevs * 2;
}

static int add_pool(struct sl_advice *advice)
{
	const struct sl_box *base = advice->base;
	struct sl_candidate *c;

	if (base->n_log > 0) {
		c = sl_advice_add(advice, SL_CHANGE_SETTING, "no SLOG");
		if (!c) {
			return -ENOMEM;
		}
		c->box.n_log = 0;
	}
	if (base->data_layout != SL_LAYOUT_MIRROR && base->data_layout != SL_LAYOUT_STRIPE &&
	    base->n_data >= 2) {
		c = sl_advice_add(advice, SL_CHANGE_REBUILD, "mirrors in place of raidz");
		if (!c) {
			return -ENOMEM;
		}
		c->remark = "the same disks hold less, and the pool is built anew";
		rebuild_as_mirrors(c, base);
	}
	return 0;
}

int sl_advice_add_settings(struct sl_advice *advice)
{
	int rc = sl_advice_add(advice, SL_CHANGE_NONE, "as it is") ? 0 : -ENOMEM;

	rc = rc == 0 ? add_zfs(advice) : rc;
	rc = rc == 0 ? add_host(advice) : rc;
	rc = rc == 0 ? sl_advice_add_memory(advice) : rc;
	return rc == 0 ? add_pool(advice) : rc;
}

enum arrangement {
	ALONE,
	MIRRORED,
	STRIPED,
	N_ARRANGEMENTS
};

/* Is this what the base has already? */
static bool is_base(const struct sl_box *base, const struct sl_dev_spec *drive, enum arrangement how)
{
	switch (how) {
	case ALONE:
		return base->n_log == 1 && strcmp(base->log[0].name, drive->name) == 0;
	case MIRRORED:
		return base->n_log == 1 && base->log[0].kind == SL_DEV_MIRROR &&
		       base->log[0].n_members == 2 &&
		       strcmp(base->log[0].members[0]->name, drive->name) == 0 &&
		       strcmp(base->log[0].members[1]->name, drive->name) == 0;
	case STRIPED:
	case N_ARRANGEMENTS:
		break;
	}
	return base->n_log == 2 && strcmp(base->log[0].name, drive->name) == 0 &&
	       strcmp(base->log[1].name, drive->name) == 0;
}

/* How many of this drive the box has as log devices: they need not be bought. */
static int owned(const struct sl_box *base, const char *name)
{
	int n = 0;

	for (int i = 0; i < base->n_log; i++) {
		const struct sl_dev_spec *log = &base->log[i];

		n += strcmp(log->name, name) == 0;
		for (int m = 0; m < log->n_members; m++) {
			n += strcmp(log->members[m]->name, name) == 0;
		}
	}
	return n;
}

static int to_buy(const struct sl_box *base, const char *name, enum arrangement how)
{
	int n = (how == ALONE ? 1 : 2) - owned(base, name);

	return n > 0 ? n : 0;
}

static int add_purchase(struct sl_advice *advice, int at, enum arrangement how)
{
	static const char *const forms[] = {"", "mirror of 2 x ", "stripe of 2 x "};
	const struct sl_advice_drive *drive = &advice->drives[at];
	struct sl_candidate *c =
	    sl_advice_add(advice, SL_CHANGE_PURCHASE, "%s%s", forms[how], drive->spec.name);

	if (!c) {
		return -ENOMEM;
	}
	c->drive = at;
	c->n_drives = to_buy(advice->base, drive->spec.name, how);
	c->has_price = drive->spec.price_usd > 0;
	c->price_usd = drive->spec.price_usd * c->n_drives;
	c->assumed = drive->assumed;
	c->box.n_log = how == STRIPED ? 2 : 1;
	c->box.log[0] = how == MIRRORED ? pair_of(&drive->spec, &drive->spec) : drive->spec;
	c->box.log[1] = drive->spec;
	c->remark = how == MIRRORED ? "lives on when one of them dies" : "";
	return 0;
}

/* The cheapest drive that has a price, -1 when none has. */
static int cheapest(const struct sl_advice *advice)
{
	int best = -1;

	for (int i = 0; i < advice->n_drives; i++) {
		double usd = advice->drives[i].spec.price_usd;

		if (usd > 0 && (best < 0 || usd < advice->drives[best].spec.price_usd)) {
			best = i;
		}
	}
	return best;
}

static struct sl_candidate *add_special_row(struct sl_advice *advice, int at, int n, const char *what)
{
	const struct sl_advice_drive *drive = &advice->drives[at];
	struct sl_candidate *c = sl_advice_add(advice, SL_CHANGE_PURCHASE, "%s%s", what, drive->spec.name);

	if (c) {
		c->drive = at;
		c->n_drives = n;
		c->price_usd = drive->spec.price_usd * n;
		c->assumed = drive->assumed;
		c->other_use = true;
	}
	return c;
}

/* What else a drive can be to a pool: one row each, with the cheapest. */
static int add_other_uses(struct sl_advice *advice, double budget_usd)
{
	const struct sl_box *base = advice->base;
	int at = cheapest(advice);
	struct sl_candidate *c;
	double usd;

	if (at < 0) {
		return 0;
	}
	usd = advice->drives[at].spec.price_usd;
	if (base->n_cache == 0 && (budget_usd <= 0 || usd <= budget_usd)) {
		c = add_special_row(advice, at, 1, "L2ARC on ");
		if (!c) {
			return -ENOMEM;
		}
		c->box.n_cache = 1;
		c->box.cache[0] = advice->drives[at].spec;
		c->remark = "a second cache for reads: no write gets faster";
	}
	if (base->n_special == 0 && base->zil != SL_ZFS_2014 && (budget_usd <= 0 || 2 * usd <= budget_usd)) {
		c = add_special_row(advice, at, 2, "special vdev, mirror of 2 x ");
		if (!c) {
			return -ENOMEM;
		}
		c->box.n_special = 1;
		c->box.special[0] = pair_of(&advice->drives[at].spec, &advice->drives[at].spec);
		c->remark = "for metadata; the pool is lost with it";
	}
	return 0;
}

/* What a budget leaves out, in drives. */
struct beyond {
	int unpriced, dear, dear_pairs; /* dear_pairs: one of them could be bought */
};

static void note_beyond(struct sl_advice *advice, double budget_usd, const struct beyond *beyond)
{
	if (beyond->unpriced + beyond->dear + beyond->dear_pairs > 0) {
		sl_advice_note(
		    advice,
		    "left out by the budget of $%.0f: %d drive%s above it, pairs of %d more, and %d "
		    "without a price in the catalogue",
		    budget_usd, beyond->dear, beyond->dear == 1 ? "" : "s", beyond->dear_pairs,
		    beyond->unpriced);
	}
}

/* Is it within the budget (0: anything is)? Else counted as what it is beyond it for. */
static bool can_pay(const struct sl_advice *advice, const struct sl_dev_spec *spec, double budget_usd,
		    struct beyond *beyond)
{
	if (budget_usd <= 0) {
		return true;
	}
	if (spec->price_usd <= 0) {
		beyond->unpriced++;
		return false;
	}
	if (to_buy(advice->base, spec->name, ALONE) * spec->price_usd > budget_usd) {
		beyond->dear++;
		return false;
	}
	beyond->dear_pairs += to_buy(advice->base, spec->name, MIRRORED) * spec->price_usd > budget_usd;
	return true;
}

int sl_advice_add_purchases(struct sl_advice *advice, double budget_usd)
{
	struct beyond beyond = {0};

	for (int i = 0; i < advice->n_drives; i++) {
		const struct sl_dev_spec *spec = &advice->drives[i].spec;

		if (!can_pay(advice, spec, budget_usd, &beyond)) {
			continue;
		}
		for (int how = ALONE; how < N_ARRANGEMENTS; how++) {
			int n = to_buy(advice->base, spec->name, (enum arrangement)how);

			if (is_base(advice->base, spec, (enum arrangement)how) ||
			    (budget_usd > 0 && n * spec->price_usd > budget_usd)) {
				continue;
			}
			if (add_purchase(advice, i, (enum arrangement)how) < 0) {
				return -ENOMEM;
			}
		}
	}
	note_beyond(advice, budget_usd, &beyond);
	return add_other_uses(advice, budget_usd);
}

void sl_advice_both_box(const struct sl_candidate *bought, const struct sl_candidate *changed,
			struct sl_box *ret)
{
	*ret = changed->box;
	ret->n_log = bought->box.n_log;
	ret->n_special = bought->box.n_special;
	ret->n_cache = bought->box.n_cache;
	memcpy(ret->log, bought->box.log, sizeof(ret->log));
	memcpy(ret->special, bought->box.special, sizeof(ret->special));
	memcpy(ret->cache, bought->box.cache, sizeof(ret->cache));
}

int sl_advice_add_both(struct sl_advice *advice, int purchase, int free)
{
	/* Copies: adding moves the candidates. */
	char bought_name[SL_ADVICE_NAME_MAX], changed_name[SL_ADVICE_NAME_MAX];
	const struct sl_candidate *bought, *changed;
	struct sl_candidate *c;

	memcpy(bought_name, advice->candidates[purchase].name, sizeof(bought_name));
	memcpy(changed_name, advice->candidates[free].name, sizeof(changed_name));
	c = sl_advice_add(advice, SL_CHANGE_BOTH, "%.50s + %.40s", bought_name, changed_name);
	if (!c) {
		return -ENOMEM;
	}
	bought = &advice->candidates[purchase];
	changed = &advice->candidates[free];
	sl_advice_both_box(bought, changed, &c->box);
	c->drive = bought->drive;
	c->n_drives = bought->n_drives;
	c->has_price = bought->has_price;
	c->price_usd = bought->price_usd;
	c->assumed = bought->assumed;
	c->other_use = bought->other_use;
	c->bulk_only = changed->bulk_only;
	c->remark = changed->remark;
	return 0;
}
