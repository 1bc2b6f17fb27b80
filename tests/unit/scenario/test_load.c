/* The shipped files: the published benchmark, the catalogue and the host profiles. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/scenario/lib.h"

static struct sl_scenario *load_b3n(void)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/b3n-2014.yaml", DATA_DIR, &sc, &err), 0, "%s",
		     err.msg);
	return sc;
}

Test(scenario_load, published_benchmark)
{
	static const char *const variants[] = {"none", "s3500", "s3700", "s3500-e1000", "s3700-enc-off"};
	static const char *const workloads[] = {"oltp2", "oltp4", "rndrw", "rndwr"};
	struct sl_scenario *sc = load_b3n();
	int calibrate = 0, predict = 0;

	cr_assert_str_eq(sl_scenario_name(sc), "b3n-2014");
	cr_assert(strlen(sl_scenario_title(sc)) > 0);
	cr_assert_eq(sl_scenario_variants(sc), 5);
	cr_assert_eq(sl_scenario_workloads(sc), 4);
	for (int v = 0; v < 5; v++) {
		cr_assert_str_eq(sl_scenario_variant_name(sc, v), variants[v]);
		cr_assert_eq(sl_scenario_find_variant(sc, variants[v]), v);
	}
	for (int w = 0; w < 4; w++) {
		cr_assert_str_eq(sl_scenario_workload(sc, w)->name, workloads[w]);
		cr_assert_eq(sl_scenario_find_workload(sc, workloads[w]), w);
	}
	cr_assert_eq(sl_scenario_find_variant(sc, "s4000"), -1);
	cr_assert_eq(sl_scenario_find_workload(sc, ""), -1);
	for (int v = 0; v < 5; v++) {
		for (int w = 0; w < 4; w++) {
			const struct sl_published *cell = sl_scenario_published(sc, v, w);

			cr_assert_not_null(cell);
			calibrate += cell->role == SL_ROLE_CALIBRATE;
			predict += cell->role == SL_ROLE_PREDICT;
		}
	}
	cr_assert_eq(calibrate, 10);
	cr_assert_eq(predict, 10);
	cr_assert_eq(sl_scenario_published(sc, 1, 0)->value, 188);
	cr_assert_eq(sl_scenario_published(sc, 4, 3)->value, 609);
	cr_assert_eq(sl_scenario_published(sc, 4, 3)->role, SL_ROLE_CALIBRATE);
	cr_assert_eq(sl_scenario_published(sc, 3, 2)->role, SL_ROLE_PREDICT);
	sl_scenario_free(sc);
}

Test(scenario_load, boxes_of_the_benchmark)
{
	struct sl_scenario *sc = load_b3n();
	struct sl_box *none = box_of(sc, "none"), *s3500 = box_of(sc, "s3500"),
		      *e1000 = box_of(sc, "s3500-e1000");
	struct sl_box *enc_off = box_of(sc, "s3700-enc-off");

	cr_assert_eq(none->hypervisor, SL_HYP_ESXI);
	cr_assert_eq(none->nic, SL_NIC_VMXNET3);
	cr_assert_eq(none->nas_vcpus, 2);
	cr_assert_eq(none->nas_memory_bytes, 6.0 * 1073741824);
	cr_assert_eq(none->nfsd_threads, 4);
	cr_assert_eq(none->data_layout, SL_LAYOUT_RAIDZ1);
	cr_assert_eq(none->data_flush, SL_FLUSH_IGNORED);
	cr_assert_eq(none->recordsize_bytes, 131072);
	cr_assert_eq(none->compression, SL_COMPRESS_LZ4);
	cr_assert_eq(none->encryption, SL_ENCRYPT_GELI);
	cr_assert_eq(none->n_data, 3);
	cr_assert_eq(none->data[2].kind, SL_DEV_HDD);
	cr_assert_eq(none->data[2].rpm, 7200);
	cr_assert_eq(none->n_log, 0);
	cr_assert_eq(s3500->n_log, 1);
	cr_assert_str_eq(s3500->log[0].name, "intel-dc-s3500-80");
	cr_assert_eq(s3500->log[0].kind, SL_DEV_SSD);
	cr_assert_eq(s3500->log[0].write_ns, 65000);
	cr_assert_eq(s3500->log[0].ssd_write_bps, 100e6);
	cr_assert_eq(s3500->log[0].plp, 1);
	cr_assert(!s3500->log[0].assumed, "its latencies are of the data sheet");
	cr_assert_str_eq(e1000->log[0].name, "intel-dc-s3500-80");
	cr_assert_eq(e1000->nic, SL_NIC_E1000);
	cr_assert_str_eq(enc_off->log[0].name, "intel-dc-s3700-100");
	cr_assert_eq(enc_off->encryption, SL_ENCRYPT_NONE);
	cr_assert_eq(enc_off->nic, SL_NIC_VMXNET3);
	free(none);
	free(s3500);
	free(e1000);
	free(enc_off);
	sl_scenario_free(sc);
}

Test(scenario_load, workloads_of_the_benchmark)
{
	struct sl_scenario *sc = load_b3n();
	const struct sl_workload *oltp4 = sl_scenario_workload(sc, 1), *rndrw = sl_scenario_workload(sc, 2);

	cr_assert_eq(oltp4->kind, SL_WL_OLTP);
	cr_assert_eq(oltp4->threads, 4);
	cr_assert_eq(oltp4->rows, 1000000);
	cr_assert_eq(oltp4->max_time_ns, 60e9);
	cr_assert_eq(oltp4->max_requests, 10000);
	cr_assert_eq(oltp4->distribution, SL_DIST_SPECIAL);
	cr_assert_eq(rndrw->kind, SL_WL_FILEIO);
	cr_assert_eq(rndrw->mode, SL_MODE_RNDRW);
	cr_assert_eq(rndrw->file_total_bytes, 6.0 * 1073741824);
	cr_assert_eq(rndrw->files, 128);
	cr_assert_eq(rndrw->block_bytes, 16384);
	cr_assert_eq(rndrw->fsync_every, 100);
	sl_scenario_free(sc);
}

Test(scenario_load, every_parameter_says_where_it_comes_from)
{
	struct sl_scenario *sc = load_b3n();
	int fitted = 0;

	for (int i = 0; i < sl_scenario_params(sc); i++) {
		struct sl_param param;

		cr_assert_eq(sl_scenario_param(sc, 1, i, &param), 0);
		cr_assert(strlen(param.where) > 0, "%s", param.key);
		cr_assert_eq(param.kind == SL_PROV_DEFAULT, strcmp(param.where, "default") == 0, "%s",
			     param.key);
		cr_assert_eq(param.kind >= SL_PROV_SPEC, strlen(param.source) > 0, "%s", param.key);
		if (param.kind == SL_PROV_FITTED) {
			fitted++;
			cr_assert(param.min < param.max && param.min <= param.value &&
				      param.value <= param.max,
				  "%s", param.key);
		}
	}
	cr_assert(fitted <= 7, "%d fitted parameters: at most 7 may be free", fitted);
	cr_assert_eq(param_of(sc, 1, "host.nic").kind, SL_PROV_GIVEN);
	cr_assert_str_eq(param_of(sc, 1, "host.profile").text, "avoton-c2750");
	cr_assert_str_eq(param_of(sc, 1, "pool.log").text, "intel-dc-s3500-80");
	cr_assert_eq(param_of(sc, 0, "pool.data.disks").value, 3);
	sl_scenario_free(sc);
}

static void load_catalogue_file(const char *name, char *text, size_t size)
{
	struct sl_scenario *sc;
	int n;

	(void)snprintf(text, size, HEAD "variants: {a: {set: {pool.log: %s, pool.data.disks: %s x 3}}}\n",
		       name, name);
	sc = load_text(text);
	n = sl_scenario_figures(sc);
	cr_assert_eq(n == 0, strcmp(name, "null") == 0, "%s", name);
	for (int i = 0; i < n; i++) {
		struct sl_param figure;

		cr_assert_eq(sl_scenario_figure(sc, i, &figure), 0);
		/* A disk made of disks brings the figures of its members. */
		cr_assert((strncmp(figure.key, name, strlen(name)) == 0 && figure.key[strlen(name)] == '.') ||
			      strncmp(name, "raid", 4) == 0,
			  "%s of %s", figure.key, name);
		cr_assert_eq(figure.kind == SL_PROV_DEFAULT, strlen(figure.source) == 0, "%s", figure.key);
		cr_assert(figure.min <= figure.value && figure.value <= figure.max, "%s", figure.key);
	}
	sl_scenario_free(sc);
}

static int load_each(const char *folder, void (*load)(const char *name, char *text, size_t size))
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char text[1024];
	int n = 0;

	cr_assert_not_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char *dot = strstr(entry->d_name, ".yaml");

		if (dot) {
			*dot = '\0';
			load(entry->d_name, text, sizeof(text));
			n++;
		}
	}
	closedir(dir);
	return n;
}

static void load_profile_file(const char *name, char *text, size_t size)
{
	struct sl_scenario *sc;

	(void)snprintf(text, size, HEAD "host: {profile: %s}\n", name);
	sc = load_text(text);
	cr_assert(param_of(sc, 0, "params.zil.commit_cpu").kind >= SL_PROV_SPEC);
	sl_scenario_free(sc);
}

Test(scenario_load, every_catalogue_file_and_profile)
{
	cr_assert(load_each(DATA_DIR "/catalogue", load_catalogue_file) >= 5);
	cr_assert(load_each(DATA_DIR "/profiles", load_profile_file) >= 2);
}

Test(scenario_load, least_scenario)
{
	struct sl_scenario *sc = load_text(HEAD);
	struct sl_box *box = box_of(sc, "base");
	struct sl_param param;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_variants(sc), 1);
	cr_assert_str_eq(sl_scenario_name(sc), "t");
	cr_assert_eq(box->n_data, 3);
	cr_assert_eq(box->data[0].kind, SL_DEV_NULL);
	cr_assert_null(sl_scenario_published(sc, 0, 0));
	cr_assert_eq(sl_scenario_box(sc, 1, box, &err), -EINVAL);
	cr_assert_eq(sl_scenario_box(sc, -1, box, &err), -EINVAL);
	cr_assert_eq(sl_scenario_param(sc, 0, sl_scenario_params(sc), &param), -EINVAL);
	cr_assert_eq(sl_scenario_figure(sc, 0, &param), -EINVAL);
	free(box);
	sl_scenario_free(sc);
	sl_scenario_free(NULL);
}

Test(scenario_load, a_workload_may_look_at_the_run_of_another)
{
	struct sl_scenario *sc =
	    load_text("format: sloglab-scenario/1\n"
		      "title: test\n"
		      "pool: {data: {layout: stripe, disks: [null]}}\n"
		      "workloads:\n"
		      "  own: {kind: disk, depth: 4, max_time: 1h, measure_from: 30min}\n"
		      "  look: {of: own, metric: least_mib, measure_from: 0s, measure_to: 1min}\n"
		      "  again: {of: look, measure_to: 2min}\n");
	const struct sl_workload *own = sl_scenario_workload(sc, 0), *look = sl_scenario_workload(sc, 1),
				 *again = sl_scenario_workload(sc, 2);

	cr_assert(own->run == 0 && look->run == 0 && again->run == 0);
	cr_assert_str_eq(look->name, "look");
	cr_assert(look->depth == 4 && look->max_time_ns == 3600e9);
	cr_assert(own->measure_from_ns == 1800e9 && look->measure_from_ns == 0);
	cr_assert(look->measure_to_ns == 60e9 && again->measure_to_ns == 120e9);
	cr_assert_eq(again->disk_metric, SL_DISK_LEAST_MIB);
	sl_scenario_free(sc);
}

Test(scenario_load, provenance_names_are_those_of_the_files)
{
	for (int kind = SL_PROV_DEFAULT; kind <= SL_PROV_DERIVED; kind++) {
		int found = sl_schema_provenance(sl_provenance_name((enum sl_provenance)kind));

		cr_assert_eq(found, kind >= SL_PROV_SPEC ? kind : -1);
	}
}

Test(scenario_load, a_workload_more_leaves_the_published_figures_where_they_are)
{
	struct sl_scenario *sc = load_b3n();
	struct sl_workload update = *sl_scenario_workload(sc, 0);
	struct sl_err err = {0};

	(void)snprintf(update.name, sizeof(update.name), "update_index");
	cr_assert_eq(sl_scenario_workload_add(sc, &update, &err), 4, "%s", err.msg);
	cr_assert_eq(sl_scenario_workloads(sc), 5);
	cr_assert_eq(sl_scenario_find_workload(sc, "update_index"), 4);
	cr_assert_null(sl_scenario_published(sc, 0, 4));
	cr_assert_float_eq(sl_scenario_published(sc, 0, 0)->value, 151, 1e-9);
	cr_assert_float_eq(sl_scenario_published(sc, 4, 3)->value, 609, 1e-9);
	sl_scenario_free(sc);
}
