#include "engine/vm_costs.h"

#include <stdlib.h>
#include <string.h>

#include "engine/vm_cell.h"
#include "sim/stack/result.h"

#define LOAD_NS 15e9
#define ROWS 100000
#define IDLE_S 5
#define IDLE_MS 60000

static struct sl_workload load_make(void)
{
	return (struct sl_workload){
	    .name = "calibration", .kind = SL_WL_OLTP, .threads = 1, .rows = ROWS, .max_time_ns = LOAD_NS};
}

/* Share of the time in which the storage VM works for nobody: its timers, under emulation. */
static int idle_measure(const struct sl_lab_at *lab, double *ret_share, struct sl_err *err)
{
	double busy[2], all[2];
	char *said = NULL;
	const char *second;
	int rc =
	    sl_lab_tell(lab, "storage", IDLE_MS, &said, err,
			"zpool sync; grep '^cpu ' /proc/stat; sleep %d; grep '^cpu ' /proc/stat", IDLE_S);

	if (rc < 0) {
		return rc;
	}
	second = strchr(said, '\n');
	*ret_share = second && sl_vm_cpu_parse(said, &busy[0], &all[0]) &&
			     sl_vm_cpu_parse(second + 1, &busy[1], &all[1]) && all[1] > all[0]
			 ? (busy[1] - busy[0]) / (all[1] - all[0])
			 : 0;
	free(said);
	return 0;
}

int sl_vm_costs_measure(const struct sl_lab_at *lab, const char *variant, const struct sl_box *box,
			struct sl_vm_costs *ret, struct sl_err *err)
{
	const struct sl_workload load = load_make();
	const struct sl_vm_cell cell = {
	    .lab = *lab, .variant = variant, .box = box, .load = &load, .dilate = 1, .seed = 1, .free = true};
	struct sl_vm_sample sample;
	double idle = 0;
	int rc = sl_vm_cell_run(&cell, &sample, err);

	if (rc < 0) {
		return rc;
	}
	rc = idle_measure(lab, &idle, err);
	if (rc == 0) {
		const struct sl_measure *m = &sample.load.measure;
		double n = (double)m->operations,
		       work_ns = sample.storage_cpu_ns - idle * (double)m->elapsed_ns;

		*ret = (struct sl_vm_costs){.oltp_ns = sample.guest_cpu_ns / n, .sync_ns = work_ns / n};
	}
	sl_vm_sample_fini(&sample);
	return rc;
}

/* CPU time of an operation, of the resource of that name. */
static double cpu_ns(const struct sl_measure *m, const char *name, double vcpus)
{
	for (int i = 0; i < m->n_resources; i++) {
		if (strcmp(m->resources[i].name, name) == 0) {
			return m->resources[i].utilisation * vcpus * (double)m->elapsed_ns /
			       (double)m->operations;
		}
	}
	return 0;
}

int sl_vm_costs_model(const struct sl_box *box, bool (*stopped)(void), struct sl_vm_costs *ret,
		      struct sl_err *err)
{
	const struct sl_workload load = load_make();
	struct sl_measure m;
	int rc = sl_stack_run(box, &load, &(struct sl_stack_setup){.seed = 1, .stopped = stopped}, &m, err);

	if (rc == 0) {
		*ret =
		    (struct sl_vm_costs){.oltp_ns = cpu_ns(&m, "guest vCPUs", (double)box->guest_vcpus),
					 .sync_ns = cpu_ns(&m, "storage VM vCPUs", (double)box->nas_vcpus)};
	}
	return rc;
}
