#include "cli/init_scenario.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void sl_init_defaults(struct sl_init *answers)
{
	*answers = (struct sl_init){
	    .hypervisor = "qemu",
	    .nas_vcpus = "2",
	    .disks = "hdd-7200-desktop x 3",
	    .layout = "raidz1",
	    .flush = "honoured",
	    .slog = "intel-dc-s3500-80",
	    .guest_vcpus = "2",
	    .threads = "4",
	    .rows = "1000000",
	};
}

/* Disks of "a x 2, b": whatever cannot be read counts as one; loading tells what is wrong with it. */
static long count_disks(const char *list)
{
	long n = 0;

	while (list) {
		const char *times = strstr(list, " x ");
		const char *comma = strchr(list, ',');
		long count = times && (!comma || times < comma) ? strtol(times + 3, NULL, 10) : 1;

		n += count > 0 ? count : 1;
		list = comma ? comma + 1 : NULL;
	}
	return n;
}

void sl_init_layout(struct sl_init *answers)
{
	long n = count_disks(answers->disks);

	snprintf(answers->layout, sizeof(answers->layout), "%s",
		 n <= 1   ? "stripe"
		 : n == 2 ? "mirror"
			  : "raidz1");
}

static void render_box(const struct sl_init *a, FILE *out)
{
	bool esxi = strcmp(a->hypervisor, "esxi") == 0;

	fprintf(out,
		"# One host: a storage VM with ZFS exports its pool by NFS back to the hypervisor, and a "
		"second VM with\n"
		"# a database lives on it. sloglab-scenario(5) lists every key; what is not said here has "
		"its default.\n"
		"format: sloglab-scenario/1\n"
		"title: My box, with and without a SLOG\n\n"
		"# The profile says what each software step costs: modern-xeon, xeon-e3-v3, mini-pc-n100,\n"
		"# avoton-c2750, or a file of your own beside this one in profiles/. %s\n"
		"host: {profile: modern-xeon, hypervisor: %s, nic: %s}\n\n"
		"# The storage VM. nfsd_threads caps the NFS calls in service; zil is the generation of the "
		"log:\n"
		"# a release of OpenZFS, or a product such as TrueNAS SCALE 24.04.\n"
		"nas: {vcpus: %s, memory: 8GiB, nfsd_threads: 8, zil: 2.3}\n\n",
		strcmp(a->hypervisor, "qemu") == 0
		    ? "QEMU's nfs:// writes UNSTABLE and then COMMITs."
		    : "The hypervisor writes FILE_SYNC: each write waits for the log.",
		a->hypervisor, esxi ? "vmxnet3" : "virtio", a->nas_vcpus);
	fprintf(out,
		"# The pool. flush: honoured when a cache flush reaches the platters, ignored when something "
		"answers in\n"
		"# between - faster, and a power cut takes what the caches hold. sync: standard, always or "
		"disabled.\n"
		"pool:\n"
		"  data: {layout: %s, disks: [%s], flush: %s}\n"
		"  log: none\n"
		"  sync: standard\n"
		"  logbias: latency\n"
		"  recordsize: 128KiB\n"
		"  compression: lz4\n"
		"  encryption: none\n\n",
		a->layout, a->disks, a->flush);
	fprintf(out,
		"# The database VM.\n"
		"guests:\n"
		"  - {vcpus: %s, memory: 1GiB, fs: ext4, database: mariadb-10.11, disk_cache: none}\n\n",
		a->guest_vcpus);
}

void sl_init_render(const struct sl_init *a, FILE *out)
{
	render_box(a, out);
	fprintf(out,
		"# oltp: %s thread%s that commit%s. commit4k: the bare NFS write of 4 KiB below each of "
		"them; its "
		"data is\n"
		"# random bytes (data: random; zero, or 2.0x for what compresses to a half).\n"
		"workloads:\n"
		"  oltp: {kind: oltp, threads: %s, rows: %s, max_time: 60s, max_requests: 10000}\n"
		"  commit4k: {kind: syncwrite, block: 4KiB, file_total: 256MiB, pattern: sequential, "
		"max_requests: "
		"5000}\n\n",
		a->threads, strcmp(a->threads, "1") == 0 ? "" : "s", strcmp(a->threads, "1") == 0 ? "s" : "",
		a->threads, a->rows);
	fputs("# What is compared: each variant changes keys of the box above.\n"
	      "variants:\n"
	      "  none: {}\n",
	      out);
	if (strcmp(a->slog, "none") == 0) {
		fputs("  # with-slog: {set: {pool.log: intel-dc-s3500-80}}\n", out);
	} else {
		fprintf(out,
			"  with-slog: {set: {pool.log: %s}}\n"
			"  # mirrored: {set: {pool.log: [{mirror: [%s, %s]}]}}\n",
			a->slog, a->slog, a->slog);
	}
	fputs("  # fast-and-unsafe: {set: {pool.sync: disabled}}\n", out);
}
