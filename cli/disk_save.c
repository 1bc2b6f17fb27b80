#include "cli/disk_save.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/outfile.h"
#include "sim/scenario/schema.h"

#define AT_4KIB 3          /* of sync_ns: 0.5, 1, 2, 4 KiB */
#define HDD_IOPS_MOST 1000 /* whatever the depth: below a turn and a seek for each, in any order */
#define LEAST_NS 100.0     /* the catalogue's times are above 0 */
#define RATE_LEAST 1e6
#define RATE_MOST 1e11

static void path_of(const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "catalogue/%s.yaml", name);
}

int sl_disk_save_check(const char *name, struct sl_err *err)
{
	char path[PATH_MAX];

	if (!sl_scenario_file_name_ok(name)) {
		return sl_err_set(
		    err, -EINVAL,
		    "--save: \"%.60s\": no valid name; use a-z, 0-9, '-' and '.', at most 63 bytes", name);
	}
	path_of(name, path);
	if (access(path, F_OK) == 0) {
		return sl_err_set(err, -EEXIST, "--save: %s exists; remove it, or give another name", path);
	}
	return 0;
}

/* Path names may hold what YAML does not take in quotes. */
static void put_quoted(FILE *out, const char *text)
{
	for (; *text; text++) {
		fputc(*text == '"' || *text == '\\' || (unsigned char)*text < 0x20 ? '_' : *text, out);
	}
}

static void put_time(FILE *out, const char *key, double ns, const char *how)
{
	fprintf(out, "  %s: {value: %.4gus, kind: measured, source: \"sloglab disk test: %s\"}\n", key,
		fmax(ns, LEAST_NS) / 1000, how);
}

static void put_rate(FILE *out, const char *key, double bps, const char *how)
{
	fprintf(out, "  %s: {value: %.0fMB/s, kind: measured, source: \"sloglab disk test: %s\"}\n", key,
		fmin(fmax(bps, RATE_LEAST), RATE_MOST) / 1e6, how);
}

static double most_reads(const struct sl_disk_figures *f)
{
	double most = 0;

	for (int i = 0; i < SL_DISK_DEPTHS; i++) {
		most = fmax(most, f->read_iops[i]);
	}
	return most;
}

static void render(const struct sl_disk_figures *f, FILE *out)
{
	const char *disk = strrchr(f->name, '/');
	bool nvme = disk && strncmp(disk + 1, "nvme", 4) == 0;
	double write_ns = 1e9 / f->write_iops[0];
	fputs("# Written by sloglab disk test --save. Each figure may be corrected; keep its source.\n"
	      "format: sloglab-device/1\nkind: ssd\ndescription: \"",
	      out);
	put_quoted(out, f->name);
	fputs(", as measured on this machine", out);
	put_quoted(out, f->note[0] ? "; " : "");
	put_quoted(out, f->note);
	fprintf(out,
		"\"\nfigures:\n"
		"  capacity: {value: %lldB, kind: measured, source: \"sloglab disk test: of the disk, or of "
		"the file on it: then write the disk's\"}\n"
		"  interface: {value: %s, kind: assumed, source: \"%s\"}\n",
		(long long)f->bytes, nvme ? "nvme" : "sata",
		nvme ? "the name of the device" : "nothing says it; nvme or sas where it is one");
	put_time(out, "read_latency", 1e9 / f->read_iops[0], "random reads of 4 KiB, depth 1");
	put_time(out, "write_latency", write_ns, "random writes of 4 KiB, depth 1");
	put_time(out, "flush_latency", f->sync_ns[AT_4KIB] - write_ns,
		 "a random write of 4 KiB and its flush, less the write");
	fprintf(out,
		"  read_iops: {value: %.0f/s, kind: measured, source: \"sloglab disk test: the most of "
		"depths 1 to 32\"}\n",
		most_reads(f));
	put_rate(out, "read_rate", f->read_bps, "random reads of 1 MiB, depth 4");
	put_rate(out, "write_rate", f->write_bps, "random writes of 1 MiB, depth 4");
	fputs("  plp: {value: no, kind: assumed, source: \"no test but a power cut tells; yes if its data "
	      "sheet "
	      "says that the write buffer is safe\"}\n",
	      out);
}

static int figures_check(const struct sl_disk_figures *f, struct sl_err *err)
{
	if (f->read_iops[0] <= 0 || f->write_iops[0] <= 0 || f->sync_ns[AT_4KIB] <= 0) {
		return sl_err_set(
		    err, -EINVAL,
		    "--save: %.200s has answered no request of 4 KiB in time; give a longer --time", f->name);
	}
	if (most_reads(f) < HDD_IOPS_MOST) {
		return sl_err_set(
		    err, -EINVAL,
		    "--save: %.200s reads %.0f times a second at most: that is a hard disk, whose "
		    "rotation and seeks were not measured; copy hdd-7200-desktop of sloglab's "
		    "catalogue and change its figures",
		    f->name, most_reads(f));
	}
	return 0;
}

int sl_disk_save(const struct sl_disk_figures *figures, const char *name, const char *data_dir,
		 struct sl_err *err)
{
	const struct sl_dev_spec *spec;
	struct sl_outfile file;
	struct sl_scenario *sc = NULL;
	char path[PATH_MAX];
	int rc = figures_check(figures, err);

	path_of(name, path);
	if (rc == 0 && mkdir("catalogue", 0777) < 0 && errno != EEXIST) {
		rc = sl_err_set(err, -errno, "--save: folder catalogue: %s", strerror(errno));
	}
	rc = rc == 0 ? sl_disk_save_check(name, err) : rc;
	rc = rc == 0 ? sl_outfile_open(&file, path, err) : rc;
	if (rc < 0) {
		return rc;
	}
	render(figures, file.file);
	rc = sl_outfile_commit(&file, err);
	rc = rc == 0 ? sl_scenario_load_device(name, data_dir, &sc, &spec, err) : rc;
	if (rc == 0) {
		fprintf(stderr, "%s: written; %s is a drive now, as in run --log %s\n", path, name, name);
	}
	sl_scenario_free(sc);
	return rc;
}
