/* What is worth a word about a box before anything runs: nothing here is wrong enough to be refused. */
#include <stdio.h>
#include <string.h>

#include "sim/scenario/inner.h"

#define WIDE_RAIDZ 12 /* disks of one raidz vdev; zpoolconcepts(7): "between 3 and 9" is recommended */
#define NEARLY_FULL 0.96
#define GIB 1073741824.0

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

static void note_layouts(const struct sl_scenario *sc, int variant, char *buf, size_t size)
{
	static const char three[] = "without vdevs are one mirror of three; pairs need two or four";
	static const char wide[] = "in one raidz vdev; more than 12 read and rebuild slowly, share them "
				   "among more vdevs";
	static const struct {
		const char *key;
		int at;
	} lists[] = {{"pool.log", SL_ROW_AT_LOG}, {"pool.special", SL_ROW_AT_SPECIAL}};
	const struct sl_assigned *layer = &sc->resolved[variant];
	int layout = (int)layer->by_key[SL_AT_data_layout]->value;
	int n = layer->by_key[SL_ROW_AT_DATA]->disks->n;
	int per = n / (int)layer->by_key[SL_AT_data_vdevs]->value;

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
}

static double smallest_disk(const struct sl_scenario *sc, const struct sl_disk_slots *disks)
{
	double least = 0;

	for (int i = 0; i < disks->n; i++) {
		double bytes = sc->devices[disks->device[i]]->spec.capacity_bytes;

		least = i == 0 || bytes < least ? bytes : least;
	}
	return least;
}

/* What the data vdevs hold of records: each disk counts as the smallest, parity and copies off. */
static double pool_bytes(const struct sl_scenario *sc, const struct sl_assigned *layer)
{
	const struct sl_disk_slots *disks = layer->by_key[SL_ROW_AT_DATA]->disks;
	int layout = (int)layer->by_key[SL_AT_data_layout]->value;
	int vdevs = (int)layer->by_key[SL_AT_data_vdevs]->value, data = disks->n;

	if (layout == SL_LAYOUT_MIRROR) {
		data = vdevs;
	} else if (layout >= SL_LAYOUT_RAIDZ1) {
		data -= vdevs * (layout - SL_LAYOUT_RAIDZ1 + 1);
	}
	return data * smallest_disk(sc, disks);
}

/* How many times smaller lz4 makes what is written; 0: there is nothing left of it. */
static double compression(const struct sl_workload *workload)
{
	return sl_workload_writes_zeros(workload) ? 0 : workload->data < 0 ? 1 : workload->data;
}

/* Files that the pool cannot hold, however well its compression does on what is written. */
static void note_files(const struct sl_scenario *sc, int variant, char *buf, size_t size)
{
	const struct sl_assigned *layer = &sc->resolved[variant];
	bool compressed = (int)layer->by_key[SL_AT_compression]->value != SL_COMPRESS_OFF;
	double room = pool_bytes(sc, layer);

	for (int i = 0; i < sc->n_workloads; i++) {
		const struct sl_workload *w = &sc->workloads[i];
		bool files = w->kind == SL_WL_FILEIO || w->kind == SL_WL_SYNCWRITE;
		double holds = compressed ? room * compression(w) : room;
		char text[256];

		if (!files || holds <= 0 || w->file_total_bytes <= holds) {
			continue;
		}
		(void)snprintf(
		    text, sizeof(text),
		    "workload %s: its files of %.4g GiB do not fit into the pool, which holds %.4g "
		    "GiB; make file_total smaller or the disks larger",
		    w->name, w->file_total_bytes / GIB, holds / GIB);
		add_text(buf, size, text);
	}
}

/* A vdev whose sectors are smaller than those of its disks writes parts of them. */
static void note_sectors(const struct sl_scenario *sc, const struct sl_assigned *layer, char *buf,
			 size_t size)
{
	const struct sl_disk_slots *disks = layer->by_key[SL_ROW_AT_DATA]->disks;
	int ashift = (int)layer->by_key[SL_AT_ashift]->value;

	for (int i = 0; i < disks->n; i++) {
		const struct sl_dev_spec *spec = &sc->devices[disks->device[i]]->spec;
		char text[256];

		if (spec->sector_bytes > (double)(1 << ashift)) {
			(void)snprintf(
			    text, sizeof(text),
			    "pool.ashift: %d on %s, whose sectors are %.0f bytes: a write of a part "
			    "of one costs a turn of the platter",
			    ashift, spec->name, spec->sector_bytes);
			add_text(buf, size, text);
			return;
		}
	}
}

/* Not modelled: VMs that take cores away from each other. */
static void note_cores(const struct sl_assigned *layer, char *buf, size_t size)
{
	int cores = (int)layer->by_key[SL_AT_host_cores]->value;
	int vcpus = (int)(layer->by_key[SL_AT_nas_vcpus]->value + layer->by_key[SL_AT_guest_vcpus]->value);
	char text[256];

	if (cores > 0 && vcpus > cores) {
		(void)snprintf(text, sizeof(text),
			       "host.cores: %d vCPUs on %d cores; that they wait for each other is not "
			       "modelled, so CPU-bound figures are too good",
			       vcpus, cores);
		add_text(buf, size, text);
	}
}

bool sl_scenario_note(const struct sl_scenario *sc, int variant, char *buf, size_t size)
{
	const struct sl_assigned *layer = &sc->resolved[variant];
	const struct sl_assign *cache = layer->by_key[SL_AT_disk_cache];

	buf[0] = '\0';
	note_layouts(sc, variant, buf, size);
	if (layer->by_key[SL_ROW_AT_CACHE]->disks->n > 0 && layer->by_key[SL_AT_l2arc_filled]->value > 0) {
		add_text(
		    buf, size,
		    "pool.cache: warm from the start, the best case; params.l2arc.filled: 0 starts cold");
	}
	if (cache->value != SL_CACHE_NONE && (int)layer->by_key[SL_AT_client]->value == SL_CLIENT_ESXI) {
		add_text(
		    buf, size,
		    "guests.disk_cache: has no effect with ESXi, whose virtual disks have no cache mode");
	}
	note_cores(layer, buf, size);
	note_sectors(sc, layer, buf, size);
	if (layer->by_key[SL_AT_pool_filled]->value > NEARLY_FULL) {
		add_text(buf, size,
			 "pool.filled: less than 4 % is free, so that each block goes wherever it fits "
			 "(metaslab_df_free_pct)");
	}
	note_files(sc, variant, buf, size);
	return buf[0] != '\0';
}
