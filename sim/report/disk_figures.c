#include "sim/report/disk_figures.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "sim/base/csv.h"
#include "sim/base/json.h"

void sl_disk_figures_print(const struct sl_disk_figures *figures, FILE *out)
{
	fprintf(out, "%s (%s)\n", figures->name, figures->real ? "measured" : "model");
	if (figures->note[0] != '\0') {
		fprintf(out, "%s\n", figures->note);
	}
	fputs("Synchronous random writes:\n", out);
	for (int i = 0; i < SL_DISK_SIZES; i++) {
		double us = figures->sync_ns[i] / 1000, kib = (double)sl_disk_size(i) / 1024;

		if (us > 0) {
			fprintf(out, "\t%4.*f kbytes: %8.1f usec/IO = %8.1f Mbytes/s\n", kib < 1 ? 1 : 0, kib,
				us, kib / 1024 / us * 1e6);
		} else {
			fprintf(out, "\t%4.*f kbytes:        - not possible on this disk\n", kib < 1 ? 1 : 0,
				kib);
		}
	}
	fputs("Random 4 KiB requests:\n\t depth      reads/s     writes/s\n", out);
	for (int i = 0; i < SL_DISK_DEPTHS; i++) {
		fprintf(out, "\t%6d %12.0f %12.0f\n", sl_disk_depth(i), figures->read_iops[i],
			figures->write_iops[i]);
	}
}

static void csv_row(struct sl_csv *csv, const struct sl_disk_figures *figures, const char *test, int64_t at,
		    double value, const char *unit)
{
	sl_csv_text(csv, figures->name);
	sl_csv_text(csv, figures->real ? "measured" : "model");
	sl_csv_text(csv, test);
	sl_csv_int(csv, at);
	sl_csv_figure(csv, value);
	sl_csv_text(csv, unit);
	sl_csv_end_row(csv);
}

int sl_disk_figures_csv(void *arg, FILE *out, struct sl_err *err)
{
	static const char *const headings[] = {"disk", "engine", "test", "bytes_or_depth", "value", "unit"};
	const struct sl_disk_list *list = arg;
	struct sl_csv csv;

	sl_csv_init(&csv, out);
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
		sl_csv_text(&csv, headings[i]);
	}
	sl_csv_end_row(&csv);
	for (int d = 0; d < list->n; d++) {
		const struct sl_disk_figures *figures = &list->disks[d];

		for (int i = 0; i < SL_DISK_SIZES; i++) {
			if (figures->sync_ns[i] > 0) {
				csv_row(&csv, figures, "sync_write", sl_disk_size(i), figures->sync_ns[i],
					"ns");
			}
		}
		for (int i = 0; i < SL_DISK_DEPTHS; i++) {
			csv_row(&csv, figures, "random_read", sl_disk_depth(i), figures->read_iops[i], "1/s");
			csv_row(&csv, figures, "random_write", sl_disk_depth(i), figures->write_iops[i],
				"1/s");
		}
	}
	return sl_csv_finish(&csv, err);
}

static json_t *json_disk(const struct sl_disk_figures *figures)
{
	json_t *sync = json_array(), *iops = json_array();

	for (int i = 0; i < SL_DISK_SIZES; i++) {
		if (figures->sync_ns[i] > 0) {
			json_array_append_new(sync,
					      json_pack("{s:I, s:o}", "bytes", (json_int_t)sl_disk_size(i),
							"ns", sl_json_figure(figures->sync_ns[i])));
		}
	}
	for (int i = 0; i < SL_DISK_DEPTHS; i++) {
		json_array_append_new(iops, json_pack("{s:i, s:o, s:o}", "depth", sl_disk_depth(i), "reads",
						      sl_json_figure(figures->read_iops[i]), "writes",
						      sl_json_figure(figures->write_iops[i])));
	}
	return json_pack("{s:s, s:s, s:s, s:o, s:o}", "disk", figures->name, "engine",
			 figures->real ? "measured" : "model", "note", figures->note, "sync_write", sync,
			 "random_4k", iops);
}

int sl_disk_figures_json(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_disk_list *list = arg;
	json_t *disks = json_array(), *root;
	int rc;

	for (int d = 0; d < list->n; d++) {
		json_array_append_new(disks, json_disk(&list->disks[d]));
	}
	root = json_pack("{s:s, s:o}", "schema", "sloglab-disk-test/1", "disks", disks);
	if (!root) {
		return sl_err_set(err, -ENOMEM, "JSON: out of memory");
	}
	rc = sl_json_write(root, out, err);
	json_decref(root);
	return rc;
}
