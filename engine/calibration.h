/*
 * What this host costs on the way from a program to the datastore, measured beside disks that take no time
 * and beside modelled ones: a host profile for the model beside the live engine. No figure of a disk is in it
 * (docs/decisions/0011).
 */
#ifndef SL_ENGINE_CALIBRATION_H
#define SL_ENGINE_CALIBRATION_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/err.h"
#include "sim/box/box.h"

struct sl_calibration {
	double op_delay_ns;  /* of a disk request from the guest's block layer to the NFS server and back,
			      * the waking of what slept in between included, without its CPU time in
			      * block_cpu */
	double link_bps;     /* bytes per second that larger requests add */
	double block_cpu_ns; /* CPU on the way of a disk request, WRITE or COMMIT: QEMU's block layer, NFS
				client and server */
	double file_cpu_ns;  /* buffered write of 16 KiB */
	double fsync_cpu_ns; /* fsync with nothing to do */
	double oltp_cpu_ns;  /* database and generator, a transaction of sysbench 0.4 */
	double redo_bytes;   /* of such a transaction */
	char cpu[96], date[16];
};

/* Of a disk request on its way to the pool and back. */
struct sl_calibration_times {
	double cpu_ns;    /* of all that it passes */
	double trip_ns;   /* on disks that take no time: nobody sleeps */
	double beyond_ns; /* on disks that do, beyond their time: all have slept, and are woken one after the
			     other */
};

/*
 * Splits it into the CPU time on its way and the delay beside. Who has woken the next part finishes beside
 * it, on another CPU: what its CPU time exceeds its time by is not on the way. False where that is so much
 * that other work must have been in between.
 */
bool sl_calibration_request(const struct sl_calibration_times *times, double *ret_cpu_ns,
			    double *ret_delay_ns);

/* -EAGAIN, with what to do, where a figure is nothing: such a profile must not be written. */
int sl_calibration_check(const struct sl_calibration *found, struct sl_err *err);

/* Where it is measured. */
struct sl_calibration_site {
	const struct sl_box *box; /* of the datastore */
	const char *bin, *dir;    /* of sloglab-load; a folder of ours */
	bool (*stopped)(void);    /* -EINTR when it says true */
};

/* Builds the guest of LAB section 4 on a datastore whose latencies are off, and
 * measures; takes about 20 s. -EAGAIN where a figure cannot be told from noise in SL_NOISE_MOST measurements.
 * Needs a sandbox; sl_needs_missing(true) must be NULL. */
int sl_calibration_measure(const struct sl_calibration_site *site, struct sl_calibration *ret,
			   struct sl_err *err);

/* Median round trip of an NFS NULL call through libnfs to such a datastore; takes about a
 * second, needs nothing. */
int sl_calibration_call(const struct sl_calibration_site *site, double *ret_ns, struct sl_err *err);

/* As a host profile (sloglab-host/1); the file appears whole or not at all. */
int sl_calibration_write(const struct sl_calibration *found, const char *path, struct sl_err *err);

/* The figures as JSON, for sl_out_write; `arg` is a const struct sl_calibration. */
int sl_calibration_json(void *arg, FILE *out, struct sl_err *err);

#endif
