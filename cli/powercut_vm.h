/* A power cut of a real box: storage VM and all its disks at one instant, under audited load in the guest. */
#ifndef SL_CLI_POWERCUT_VM_H
#define SL_CLI_POWERCUT_VM_H

#include <stdint.h>
#include <stdio.h>

#include "cli/lab_plan.h"

#define SL_CUT_WRITERS 2

/* One variant's cut. */
struct sl_vm_cut {
	const char *variant;              /* borrowed */
	int64_t acknowledged, lost, torn; /* records of 4 KiB; torn of the lost */
	int64_t unfinished;               /* there without an acknowledgement */
	double down_s;                    /* from the cut until the pool is exported again, wall */
};

struct sl_vm_cut_options {
	const char *scenario;
	const struct sl_words *variants, *sets;
	double load_s; /* of load before the cut */
};

/* Brings a lab of the scenario up (-EPROTO when it is up: its pool is not for this), cuts once a variant,
 * calls `done` after each, and takes the lab down. -EINTR after Ctrl-C. */
int sl_vm_cut_run(const struct sl_vm_cut_options *options, void (*said)(void *arg, const char *what),
		  void (*done)(const struct sl_vm_cut *cut), struct sl_err *err);

/* Who answers for what is lost, one line. */
void sl_vm_cut_blame(const struct sl_vm_cut *cut, char *ret, size_t size);

/* Part, for tests: what `sloglab-load audit verify --json` wrote, from inside a guest. -EPROTO when it makes
 * no sense. */
int sl_vm_cut_parse(const char *json, struct sl_vm_cut *ret, struct sl_err *err);

#endif
