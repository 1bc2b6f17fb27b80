#include "cli/init_scenario.h"

#include <stdlib.h>
#include <string.h>

void sl_init_defaults(struct sl_init *answers)
{
	static const char *const defaults[SL_INIT_N] = {
	    [SL_INIT_HYPERVISOR] = "proxmox",
	    [SL_INIT_CLIENT] = "linux",
	    [SL_INIT_LINK] = "virtual",
	    [SL_INIT_PROFILE] = "modern-xeon",
	    [SL_INIT_CORES] = "8",
	    [SL_INIT_NAS_VCPUS] = "2",
	    [SL_INIT_NAS_MEMORY] = "8GiB",
	    [SL_INIT_ZIL] = "2.3",
	    [SL_INIT_DISKS] = "hdd-7200-desktop x 4",
	    [SL_INIT_LAYOUT] = "mirror",
	    [SL_INIT_VDEVS] = "2",
	    [SL_INIT_FLUSH] = "honoured",
	    [SL_INIT_SLOG] = "intel-dc-s3500-80",
	    [SL_INIT_GUEST_VCPUS] = "2",
	    [SL_INIT_GUEST_MEMORY] = "2GiB",
	    [SL_INIT_LOAD] = "database",
	    [SL_INIT_THREADS] = "4",
	    [SL_INIT_ROWS] = "1000000",
	    [SL_INIT_SIZE] = "4GiB",
	};

	*answers = (struct sl_init){.wire_delay_ns = 0};
	for (int i = 0; i < SL_INIT_N; i++) {
		snprintf(answers->answer[i], SL_INIT_ANSWER_MAX, "%s", defaults[i]);
	}
}

bool sl_init_separate(const struct sl_init *answers)
{
	return strcmp(answers->answer[SL_INIT_LINK], "virtual") != 0;
}

int sl_init_disks(const struct sl_init *answers)
{
	const char *list = answers->answer[SL_INIT_DISKS];
	int n = 0;

	while (list) {
		const char *times = strstr(list, " x ");
		const char *comma = strchr(list, ',');

		n += times && (!comma || times < comma) ? atoi(times + 3) : 1;
		list = comma ? comma + 1 : NULL;
	}
	return n;
}

int sl_init_least(const char *layout)
{
	return strcmp(layout, "stripe") == 0   ? 1
	       : strcmp(layout, "mirror") == 0 ? 2
					       : layout[strlen(layout) - 1] - '0' + 2;
}

static void answer_set(struct sl_init *a, enum sl_init_at at, const char *text)
{
	snprintf(a->answer[at], SL_INIT_ANSWER_MAX, "%s", text);
}

static void answer_number(struct sl_init *a, enum sl_init_at at, int number)
{
	snprintf(a->answer[at], SL_INIT_ANSWER_MAX, "%d", number);
}

/* Virtual machines do best on pairs; what cannot be paired gets parity. */
static const char *layout_of(int disks)
{
	return disks == 1 ? "stripe" : disks % 2 == 0 ? "mirror" : disks == 3 ? "raidz1" : "raidz2";
}

/* Pairs of a mirror, else one vdev: of all disks, in a stripe. */
static int vdevs_of(const char *layout, int disks)
{
	return strcmp(layout, "mirror") == 0 && disks % 2 == 0 ? disks / 2 : 1;
}

void sl_init_settle(struct sl_init *a)
{
	const char *hypervisor = a->answer[SL_INIT_HYPERVISOR];
	char disks[SL_INIT_ANSWER_MAX];

	if (!a->known[SL_INIT_CLIENT]) {
		answer_set(a, SL_INIT_CLIENT,
			   strcmp(hypervisor, "esxi") == 0   ? "esxi"
			   : strcmp(hypervisor, "qemu") == 0 ? "libnfs"
							     : "linux");
	}
	if (!a->known[SL_INIT_DISKS] && (a->known[SL_INIT_LAYOUT] || a->known[SL_INIT_VDEVS])) {
		int least = sl_init_least(a->answer[SL_INIT_LAYOUT]);
		int vdevs = a->known[SL_INIT_VDEVS] ? atoi(a->answer[SL_INIT_VDEVS]) : 1;

		snprintf(disks, sizeof(disks), "hdd-7200-desktop x %d",
			 least == 2 && vdevs == 1 && !a->known[SL_INIT_VDEVS] ? 4 : least * vdevs);
		answer_set(a, SL_INIT_DISKS, disks);
	}
	if (!a->known[SL_INIT_LAYOUT]) {
		answer_set(a, SL_INIT_LAYOUT, layout_of(sl_init_disks(a)));
	}
	if (!a->known[SL_INIT_VDEVS]) {
		answer_number(a, SL_INIT_VDEVS, vdevs_of(a->answer[SL_INIT_LAYOUT], sl_init_disks(a)));
	}
}

static const char *client_sends(const char *client)
{
	return strcmp(client, "esxi") == 0 ? "ESXi's client writes FILE_SYNC: each write waits for the log."
	       : strcmp(client, "linux") == 0
		   ? "The kernel's client sends what QEMU writes with O_DIRECT (cache none) FILE_SYNC: each "
		     "write waits for\n# the log; larger ones go in parts and a COMMIT."
		   : "QEMU's driver nfs:// writes UNSTABLE and then COMMITs.";
}

static void render_host(const struct sl_init *a, FILE *out)
{
	bool esxi = strcmp(a->answer[SL_INIT_HYPERVISOR], "esxi") == 0;

	fprintf(out,
		"# %s.\n"
		"# sloglab-scenario(5) lists every key; what is not said here has its default.\n"
		"format: sloglab-scenario/1\n"
		"title: My box, with and without a SLOG\n\n"
		"# The profile says what each software step costs: modern-xeon, xeon-e3-v3, mini-pc-n100,\n"
		"# avoton-c2750, or a file of your own beside this one in profiles/.\n"
		"# %s\n"
		"host: {profile: %s, hypervisor: %s, client: %s, link: %s, nic: %s",
		sl_init_separate(a)
		    ? "A NAS of its own with ZFS exports its pool by NFS to a hypervisor; the guest is on it"
		    : "One host: a storage VM with ZFS exports its pool by NFS back to the hypervisor, and "
		      "the guest is on it",
		client_sends(a->answer[SL_INIT_CLIENT]), a->answer[SL_INIT_PROFILE],
		a->answer[SL_INIT_HYPERVISOR], a->answer[SL_INIT_CLIENT], a->answer[SL_INIT_LINK],
		esxi ? "vmxnet3" : "virtio");
	if (!sl_init_separate(a)) {
		fprintf(out, ", cores: %s", a->answer[SL_INIT_CORES]);
	}
	fprintf(out,
		"}\n\n"
		"# The storage%s. nfsd_threads caps the NFS calls in service; zil is the generation of the "
		"log:\n"
		"# a release of OpenZFS, or a product such as TrueNAS SCALE 24.04.\n"
		"nas: {vcpus: %s, memory: %s, nfsd_threads: 8, zil: %s}\n\n",
		sl_init_separate(a) ? ", a machine of its own" : " VM", a->answer[SL_INIT_NAS_VCPUS],
		a->answer[SL_INIT_NAS_MEMORY], a->answer[SL_INIT_ZIL]);
	if (a->wire_delay_ns > 0) {
		fprintf(
		    out,
		    "# A wire costs each call two cards and a switch.\n"
		    "params:\n"
		    "  hyp.op_delay: {value: %lldus, kind: assumed, source: \"the profile's, and 50 us for "
		    "the wire, as in the\n"
		    "    ready scenario separate-nas-10gbe; ping -A to the NAS tells yours\"}\n\n",
		    (long long)(a->wire_delay_ns / 1000));
	}
}

/* "2 mirrors of 2 disks" */
static void vdevs_text(const struct sl_init *a, FILE *out)
{
	const char *layout = a->answer[SL_INIT_LAYOUT];
	int n = sl_init_disks(a), vdevs = atoi(a->answer[SL_INIT_VDEVS]);

	if (strcmp(layout, "stripe") == 0) {
		fprintf(out, "a stripe of %d disk%s: what one loses, all lose", n, n == 1 ? "" : "s");
	} else {
		fprintf(out, "%d x %s of %d disks", vdevs, layout, n / vdevs);
	}
}

static void render_pool(const struct sl_init *a, FILE *out)
{
	bool stripe = strcmp(a->answer[SL_INIT_LAYOUT], "stripe") == 0;

	fputs("# The pool: ", out);
	vdevs_text(a, out);
	fprintf(out,
		".\n# flush: honoured when a cache flush reaches the platters, ignored when something "
		"answers in\n"
		"# between - faster, and a power cut takes what the caches hold. sync: standard, always or "
		"disabled.\n"
		"pool:\n"
		"  data: {layout: %s, disks: [%s], %s%s%sflush: %s}\n"
		"  log: none\n"
		"  sync: standard\n"
		"  logbias: latency\n"
		"  recordsize: 128KiB\n"
		"  compression: lz4\n"
		"  encryption: none\n\n",
		a->answer[SL_INIT_LAYOUT], a->answer[SL_INIT_DISKS],
		stripe ? "" : "vdevs: ", stripe ? "" : a->answer[SL_INIT_VDEVS], stripe ? "" : ", ",
		a->answer[SL_INIT_FLUSH]);
	fprintf(out,
		"# The guest. The model runs one: where several VMs write at the same time, its threads are "
		"those of all.\n"
		"# disk_cache: the cache mode of its virtual disk (QEMU, Proxmox): none, writethrough or "
		"unsafe.\n"
		"guests:\n"
		"  - {vcpus: %s, memory: %s, fs: ext4, database: mariadb-10.11, disk_cache: none}\n\n",
		a->answer[SL_INIT_GUEST_VCPUS], a->answer[SL_INIT_GUEST_MEMORY]);
}

static void render_load(const struct sl_init *a, FILE *out)
{
	const char *load = a->answer[SL_INIT_LOAD], *threads = a->answer[SL_INIT_THREADS];
	const char *size = a->answer[SL_INIT_SIZE];

	fputs("workloads:\n", out);
	if (strcmp(load, "database") == 0) {
		fprintf(out,
			"  # A database: its threads commit transactions, each of which waits for its log.\n"
			"  oltp: {kind: oltp, threads: %s, rows: %s, max_time: 60s, max_requests: 10000}\n",
			threads, a->answer[SL_INIT_ROWS]);
	} else if (strcmp(load, "files") == 0) {
		fprintf(
		    out,
		    "  # Files that are written in random places, with an fsync after every 100 requests.\n"
		    "  files: {kind: fileio, mode: rndwr, threads: %s, file_total: %s, max_time: 60s, "
		    "max_requests: 10000}\n",
		    threads, size);
	} else if (strcmp(load, "copy") == 0) {
		fprintf(out,
			"  # A copy or a backup, which is started again after a crash.\n"
			"  copy: {kind: fileio, mode: seqwr, threads: %s, file_total: %s, max_time: 60s, "
			"max_requests: 10000,\n"
			"    restartable: yes}\n",
			threads, size);
	} else {
		fprintf(out,
			"  # Many small VMs: random synchronous writes of 4 KiB, %s in flight.\n"
			"  vms: {kind: syncwrite, block: 4KiB, file_total: %s, pattern: random, depth: %s, "
			"max_time: 60s,\n"
			"    max_requests: 10000}\n",
			threads, size, threads);
	}
	fputs("  # The bare NFS write of 4 KiB below each commit; its data is random bytes (data: random; "
	      "zero, or 2.0x\n"
	      "  # for what compresses to a half).\n"
	      "  commit4k: {kind: syncwrite, block: 4KiB, file_total: 256MiB, pattern: sequential, "
	      "max_requests: 5000}\n\n",
	      out);
}

/* One variant for each item of "a, mirror b". */
static void render_logs(const struct sl_init *a, FILE *out)
{
	char list[SL_INIT_ANSWER_MAX];
	char *rest = list, *item;

	snprintf(list, sizeof(list), "%s", a->answer[SL_INIT_SLOG]);
	while ((item = strsep(&rest, ",")) != NULL) {
		bool mirror;

		item += strspn(item, " ");
		mirror = strncmp(item, "mirror ", 7) == 0;
		if (mirror) {
			item += 7;
			fprintf(out, "  mirror-%s: {set: {pool.log: [{mirror: [%s, %s]}]}}\n", item, item,
				item);
		} else {
			fprintf(out, "  %s: {set: {pool.log: %s}}\n", item, item);
		}
	}
}

void sl_init_render(const struct sl_init *a, FILE *out)
{
	render_host(a, out);
	render_pool(a, out);
	render_load(a, out);
	fputs("# What is compared: each variant changes keys of the box above. A log in a mirror:\n"
	      "# {set: {pool.log: [{mirror: [NAME, NAME]}]}}; sloglab disk list has the names.\n"
	      "variants:\n"
	      "  none: {}\n",
	      out);
	if (strcmp(a->answer[SL_INIT_SLOG], "none") == 0) {
		fputs("  # slog: {set: {pool.log: intel-dc-s3500-80}}\n", out);
	} else {
		render_logs(a, out);
	}
	fputs("  # fast-and-unsafe: {set: {pool.sync: disabled}}\n", out);
}
